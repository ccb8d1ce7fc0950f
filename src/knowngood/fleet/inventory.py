"""Inventories: pyinfra's own files, groups, host data and connectors, as hosts of our glossary.

pyinfra's command-line program reads them, so what a file means here is what it means there:
https://docs.pyinfra.com/en/3.x/inventory-data.html
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from logging import WARNING, Handler, LogRecord, getLogger
from pathlib import Path
from traceback import walk_tb
from types import TracebackType
from typing import Any

from knowngood.fleet.limit import NoMatchError, choose
from knowngood.model import Host


class InventoryError(ValueError):
    """An inventory that can't be used; the text names the file, the line where there is one, and why."""


@dataclass(frozen=True, slots=True)
class Inventory:
    """The hosts of an inventory, in the file's order, and what pyinfra made of them."""

    source: str
    hosts: tuple[Host, ...]
    warnings: tuple[str, ...] = ()  # what pyinfra ignored in the file, a sentence each
    pyinfra: Any = field(default=None, repr=False, compare=False)  # pyinfra.api.Inventory
    config: Any = field(default=None, repr=False, compare=False)  # pyinfra.api.Config, from config.py


def load_inventory(source: str | Path, *, cwd: Path | None = None) -> Inventory:
    """Read an inventory file, or hosts separated by commas (`web1,@local,@docker/debian:12`).

    `cwd` is the directory whose `config.py` and `group_data/` count, as the one that pyinfra is started in;
    the process's own by default. A `group_data/` beside the file counts too. The file is Python and is run.
    InventoryError: there is no such file, it raises, pyinfra can't use it, or it defines no hosts.
    """
    directory = (cwd or Path.cwd()).resolve()
    given = str(source)
    if looks_like_path(given):
        path = Path(given).expanduser()
        if path.is_dir():
            raise InventoryError(f"{given}: is a directory, not an inventory file")
        if not path.is_file():
            raise InventoryError(f"{given}: no such inventory file")
        given = str(path)
    else:
        given = ",".join(_hosts_of(given))
    return _load(given, directory)


def limit(inventory: Inventory, patterns: Sequence[str]) -> Inventory:
    """The inventory with those hosts only that a pattern chooses: a host, a group or a glob, or several
    of them separated by commas. InventoryError when a pattern chooses nothing."""
    try:
        return replace(inventory, hosts=choose(inventory.hosts, patterns))
    except NoMatchError as error:
        raise InventoryError(f"{inventory.source}: {error}") from None


def looks_like_path(source: str) -> bool:
    """Whether an inventory is meant as a file: it is there, or it could be nothing else."""
    if Path(source).expanduser().exists():
        return True
    return not source.startswith("@") and "," not in source and ("/" in source or source.endswith(".py"))


def _hosts_of(source: str) -> list[str]:
    names = [name.strip() for name in source.split(",")]
    if not all(names):
        raise InventoryError(f"{source!r}: a host's name is missing")
    for name in names:
        user, at, host = name.partition("@")
        if user and at:
            raise InventoryError(
                f"{name}: pyinfra knows no user@host; write {host} and set its user in ~/.ssh/config, "
                "or ssh_user in an inventory file"
            )
    return names


def _load(source: str, directory: Path) -> Inventory:
    from knowngood.fleet import engine

    engine.start()
    from pyinfra.api.config import Config
    from pyinfra.api.state import State

    state, config = State(), Config()  # type: ignore[no-untyped-call]
    state.cwd = str(directory)
    with engine.contexts(state, config=config), _warnings() as warnings, _importable(directory):
        found = _run(source, directory)
    hosts = tuple(
        Host(name=host.name, groups=tuple(dict.fromkeys(host.groups)), data=host.data.dict())
        for host in found
    )
    if not hosts:
        raise InventoryError(f"{source}: defines no hosts{_ignored(warnings)}")
    return Inventory(source, hosts, tuple(warnings), found, config)


def _run(source: str, directory: Path) -> Any:
    """pyinfra's inventory, read as its command-line program does; its troubles as InventoryError."""
    from pyinfra.api.exceptions import PyinfraError
    from pyinfra_cli.exceptions import UnexpectedExternalError  # type: ignore[import-untyped]
    from pyinfra_cli.inventory import make_inventory_from_files  # type: ignore[import-untyped]
    from pyinfra_cli.util import PYTHON_CODES, exec_file  # type: ignore[import-untyped]

    PYTHON_CODES.clear()  # it keeps a file's code for the life of the process, edited or not
    try:
        settings = directory / "config.py"
        if settings.is_file():
            exec_file(str(settings))
        return make_inventory_from_files(source, cwd=str(directory))
    except UnexpectedExternalError as error:
        raise InventoryError(_place(error.exception, error.filename)) from error.exception
    except PyinfraError as error:
        raise InventoryError(f"{source}: {error}") from error
    except SyntaxError as error:
        raise InventoryError(
            f"{error.filename or source}:{error.lineno or 0}: {type(error).__name__}: {error.msg}"
        ) from error
    except SystemExit as error:
        raise InventoryError(_place(error, source)) from error
    except UnicodeDecodeError as error:
        raise InventoryError(f"{source}: is not UTF-8 (byte {error.start})") from error
    except OSError as error:
        raise InventoryError(f"{error.filename or source}: {error.strerror or error}") from error
    except Exception as error:  # a host or group of a shape that pyinfra did not foresee
        raise InventoryError(
            f"{source}: pyinfra can't make hosts of it: {type(error).__name__}: {error}"
        ) from error


def _place(error: BaseException, filename: str) -> str:
    """`FILE:LINE: TYPE: MESSAGE`, by the last line of the user's file that took part."""
    line = _last_line(error.__traceback__, filename)
    return f"{filename}:{line}: {type(error).__name__}: {error}" if line else f"{filename}: {error}"


def _last_line(traceback: TracebackType | None, filename: str) -> int:
    lines = [line for frame, line in walk_tb(traceback) if frame.f_code.co_filename == filename]
    return lines[-1] if lines else 0


def _ignored(warnings: Sequence[str]) -> str:
    return f" ({'; '.join(warnings)})" if warnings else ""


@contextmanager
def _warnings() -> Iterator[list[str]]:
    """What pyinfra warns of meanwhile: of groups it leaves out, which would be missing from every audit."""
    heard: list[str] = []

    class Listener(Handler):
        def emit(self, record: LogRecord) -> None:
            heard.append(record.getMessage())

    logger, listener = getLogger("pyinfra"), Listener(WARNING)
    level = logger.level
    logger.addHandler(listener)
    logger.setLevel(WARNING)
    try:
        yield heard
    finally:
        logger.removeHandler(listener)
        logger.setLevel(level)


@contextmanager
def _importable(directory: Path) -> Iterator[None]:
    """Let the file import its neighbours, as pyinfra's program does; sys.path is put back."""
    path = list(sys.path)
    if str(directory) not in sys.path:
        sys.path.append(str(directory))
    try:
        yield
    finally:
        sys.path[:] = path

"""An inventory file, read by pyinfra's own command-line program, and its troubles told by file and line.

The module loads pyinfra: see `engine`.
"""

from __future__ import annotations

import difflib
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from logging import WARNING, Handler, LogRecord, getLogger
from pathlib import Path
from traceback import walk_tb
from typing import Any

import pyinfra_cli.inventory as reader  # type: ignore[import-untyped]
from pyinfra.api.config import Config
from pyinfra.api.connectors import get_all_connectors
from pyinfra.api.exceptions import NoConnectorError
from pyinfra.api.state import State
from pyinfra_cli.exceptions import UnexpectedExternalError  # type: ignore[import-untyped]
from pyinfra_cli.util import PYTHON_CODES, exec_file  # type: ignore[import-untyped]

from knowngood.fleet import engine, shapes
from knowngood.fleet.inventory import InventoryError


def read(source: str, directory: Path) -> tuple[Any, Any, list[str]]:
    """pyinfra's inventory and config of a file or of names, and what pyinfra warned of meanwhile.

    InventoryError for whatever goes wrong, in the user's files or with what pyinfra makes of them.
    """
    state, config = State(), Config()  # type: ignore[no-untyped-call]
    state.cwd = str(directory)
    PYTHON_CODES.clear()  # it keeps a file's code for the life of the process, edited or not
    try:
        with (
            engine.contexts(state, config=config),
            _warnings() as warnings,
            _importable(directory),
            _shapes_checked(),
        ):
            settings = directory / "config.py"
            if settings.is_file():
                exec_file(str(settings))
            return reader.make_inventory_from_files(source, cwd=str(directory)), config, warnings
    except InventoryError:
        raise
    except (Exception, SystemExit) as error:
        raise InventoryError(_explain(error, source)) from error


def _explain(error: BaseException, source: str) -> str:
    match error:
        case UnexpectedExternalError():
            return _in_file(error.exception, error.filename)
        case SystemExit():
            return _in_file(error, source)
        case SyntaxError():
            return f"{_near(error.filename or source)}:{error.lineno or 0}: SyntaxError: {error.msg}"
        case UnicodeDecodeError():
            return f"{source}: is not UTF-8 (byte {error.start})"
        case OSError():
            return f"{_near(str(error.filename or source))}: {error.strerror or error}"
        case NoConnectorError():
            return _no_connector(str(error), source)
    return f"{source}: pyinfra can't make hosts of it: {error}"


def _in_file(error: BaseException, filename: str) -> str:
    """`FILE:LINE: TYPE: MESSAGE`, by the last line of the user's file that took part."""
    lines = [line for frame, line in walk_tb(error.__traceback__) if frame.f_code.co_filename == filename]
    return f"{_near(filename)}:{lines[-1] if lines else 0}: {type(error).__name__}: {error}"


def _no_connector(said: str, source: str) -> str:
    name = said.rpartition(" ")[2]
    known = sorted(get_all_connectors())  # type: ignore[no-untyped-call]
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean @{close[0]}?" if close else f"there are {', '.join('@' + each for each in known)}"
    line = ""
    with suppress(OSError):
        text = Path(source).read_text(encoding="utf-8")
        found = re.search(rf"@{re.escape(name)}\b", text)
        line = f":{text.count(chr(10), 0, found.start()) + 1}" if found else ""
    return f"{source}{line}: pyinfra has no connector @{name}; {hint}"


def _near(filename: str) -> str:
    """The path as people know it: from where they are, if it is below."""
    with suppress(ValueError):
        return str(Path(filename).resolve().relative_to(os.getcwd()))  # noqa: PTH109
    return filename


@contextmanager
def _shapes_checked() -> Iterator[None]:
    """Look at the groups of the file between its run and what pyinfra makes of them."""
    read_groups = reader._get_groups_from_filename

    def checked(filename: str) -> dict[str, Any]:
        groups: dict[str, Any] = read_groups(filename)
        for name, group in groups.items():
            if told := shapes.mistake(group):
                line = shapes.line_of(Path(filename).read_text(encoding="utf-8"), name)
                raise InventoryError(f"{filename}:{line}: {name}: {told}")
        return groups

    reader._get_groups_from_filename = checked
    try:
        yield
    finally:
        reader._get_groups_from_filename = read_groups


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

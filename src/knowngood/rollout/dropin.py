"""Our drop-in: its place, its text, and what in the one on the node is no longer wanted.

The text is made from the manifest alone, so writing it twice changes nothing. Its last lines are the receipt
hook, which is no setting: `-` lets no failure of it stop a start, and `+` gives it root (systemd.service(5)).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from knowngood.model import Absent, Desired, Known, Observation, Secret, Text
from knowngood.syntax.systemd import (
    CannotCarry,
    order_dropins,
    read_unit,
    write_dropin,
    write_environment_file,
)

FOLDER = "/etc/systemd/system"
SECRETS_FOLDER = "/var/lib/knowngood/secrets"
PROGRAM = "/var/lib/knowngood/bin/node.pyz"
HEADER = "Written by knowngood"

_HOOK = "Service.ExecStartPre"
_PLAIN_UNIT = re.compile(r"[A-Za-z0-9@._:-]+")  # stands in a command line as it is


def dropin_path(desired: Desired) -> str:
    """Where our drop-in of this unit lies on the node."""
    return f"{FOLDER}/{desired.unit}.d/{desired.dropin}"


def secrets_path(desired: Desired) -> str:
    """The role's file of secrets, an environment file of root's alone."""
    return f"{SECRETS_FOLDER}/{desired.manifest}.env"


def secret_variables(desired: Desired) -> dict[str, str]:
    """The secrets that the unit delivers: variable → text. An unset one is left out."""
    wants = desired.unit_env.items()
    return {name: want.text for name, want in wants if isinstance(want, Secret) and want.text is not None}


def secrets_text(secrets: Mapping[str, str]) -> bytes:
    """The file of secrets. CannotCarry where systemd would read something else."""
    return write_environment_file(secrets)


def dropin_text(desired: Desired, python: str) -> bytes | None:
    """The whole text; None where there is nothing to say. CannotCarry where systemd can't be told so.

    `python` is the node's interpreter, which writes the receipts.
    """
    directives = dict(_directives(desired))
    knobs = {name: str(want.value) for name, want in desired.unit_env.items() if isinstance(want, Known)}
    secret = any(isinstance(want, Secret) for want in desired.unit_env.values())
    header = f"{HEADER} from the manifest {desired.manifest}: the next apply undoes edits here."
    hook = _hook(desired, python)
    if not directives and not knobs and not secret:
        return f"# {header}\n{hook}".encode() if hook else None
    secrets = secrets_path(desired) if secret else None
    return write_dropin(directives, knobs, environment_file=secrets, header=header) + hook.encode()


def _directives(desired: Desired) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each directive's lines; none for one that is unset. What can't be unset here is left to its place."""
    for name, lines in desired.directives.items():
        if not isinstance(lines, Absent):
            yield name, lines
        elif _can_unset(name):
            yield name, ()


def _can_unset(directive: str) -> bool:
    try:
        write_dropin({directive: ()}, {})
    except CannotCarry:
        return False
    return True


def _hook(desired: Desired, python: str) -> str:
    # Where the manifest rules ExecStartPre= itself, a line of ours would be drift.
    if _HOOK in desired.directives or not _PLAIN_UNIT.fullmatch(desired.unit):
        return ""
    return f"\n[Service]\nExecStartPre=-+{python} -I -S {PROGRAM} record {desired.unit}\n"


def present(desired: Desired, observation: Observation) -> Text | None:
    """Our drop-in as the node has it; None where there is none."""
    path = dropin_path(desired)
    return next((text for text in observation.unit.dropins if text.path == path), None)


def leftovers(desired: Desired, text: Text | None) -> tuple[str, ...]:
    """Settings that our drop-in still states, and the manifest no longer does: their addresses."""
    if text is None or text.data is None or not text.data.startswith(f"# {HEADER}".encode()):
        return ()
    ours = read_unit(desired.unit, (text.path, text.data), ())
    plumbing = ("Service.Environment", "Service.EnvironmentFile", _HOOK)
    stated = [name for name in ours.all_values() if name not in plumbing and name not in desired.directives]
    knobs = [name for name in ours.environment({}) if name not in desired.unit_env]
    return (*(f"systemd:{name}" for name in stated), *(f"env:{name}" for name in knobs))


def with_dropin(dropins: tuple[Text, ...], ours: Text, unit: str) -> tuple[Text, ...]:
    """The drop-ins with ours among them, in systemd's order; without it where it has no text."""
    texts = {text.path: text for text in dropins if text.path != ours.path}
    if ours.data is not None:
        texts[ours.path] = ours
    known = order_dropins(texts, unit)
    # A place that is not on systemd's search path was found by the manager itself: it stays.
    others = (path for path in texts if path not in known and path != ours.path)
    return tuple(texts[path] for path in (*others, *known))

"""What happens during a run, as it happens. Screens, records and JSON take the same events."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TypeAlias

from knowngood.model import ExitCode
from knowngood.rollout.crew import Outcome
from knowngood.rollout.waves import Wave


class End(enum.StrEnum):
    """How a run leaves a node."""

    DESIRED = "desired"  # confirmed as the manifest wants it
    FORMER = "former"  # as it was before; the change was taken back
    UNTOUCHED = "untouched"  # got no command that changes anything
    LEFT = "left"  # nobody followed it to its end; it confirms nothing, and restores itself
    PERSON = "person"  # not known, or not as either: someone must look


@dataclass(frozen=True, slots=True)
class WaveBegan:
    number: int  # from 1
    total: int
    wave: Wave


@dataclass(frozen=True, slots=True)
class StepBegan:
    step: str  # the crew's command
    hosts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StepEnded:
    """A step's outcome on one node."""

    step: str
    host: str
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class NodeEnded:
    host: str
    manifest: str
    end: End
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Stopped:
    """No node gets a further command, but for what ends what was begun."""

    reason: str


@dataclass(frozen=True, slots=True)
class Finished:
    """The last event. `drained` nodes got before_restart, and after_healthy did not succeed since."""

    exit_code: ExitCode
    ends: tuple[NodeEnded, ...]
    drained: tuple[str, ...] = ()


Event: TypeAlias = WaveBegan | StepBegan | StepEnded | NodeEnded | Stopped | Finished

"""The dead man's switch: a transient timer that undoes a transaction which nobody confirms in time.

The timer is armed once; heartbeats move the deadline in the journal alone. When it fires early for that
reason, its service waits for the rest (recovery.py). It is gone after a reboot; the boot unit arms it anew.
"""

import sys
import time

from knowngood.node.command import Command
from knowngood.node.ground import Problem
from knowngood.node.transaction.unit import is_active, stop_units

_SECONDS = 30.0


def program_call(program: str, *words: str) -> "list[str]":
    """The argv that runs this program with a command."""
    return [sys.executable or "/usr/bin/python3", "-I", "-S", program, *words]


def activation_unit(number: int) -> str:
    """The service in which transaction `number` runs."""
    return "knowngood-activate-%d.service" % number


def restoring_unit(number: int) -> str:
    """The service in which transaction `number` is undone on somebody's word."""
    return "knowngood-restore-%d.service" % number


def _timer(number: int) -> str:
    return "knowngood-revert-%d.timer" % number


def _service(number: int) -> str:
    return "knowngood-revert-%d.service" % number


def launch(number: int, program: str, back: bool = False) -> None:
    """Run a transaction in a unit of its own: no dropped connection ends it, and killed it starts again."""
    name = restoring_unit(number) if back else activation_unit(number)
    told = "--description=knowngood: %s generation %d" % ("away from" if back else "activation of", number)
    call = program_call(program, "run", str(number))
    _systemd_run(["--unit=" + name, told, "--no-block", *_SURVIVES], call)


def arm(number: int, seconds: float, program: str) -> None:
    """Start the timer, where it does not tick yet."""
    if is_armed(number):
        return
    _systemd_run(
        [
            "--unit=" + _service(number),
            "--description=knowngood: generation %d goes unless it is confirmed" % number,
            "--on-active=%d" % max(1, round(seconds)),
            "--on-unit-inactive=15",
            "--timer-property=AccuracySec=1s",
            *_SURVIVES,
        ],
        program_call(program, "revert-if-unconfirmed", str(number)),
    )


_SURVIVES = ("--property=Restart=on-failure", "--property=RestartSec=1", "--property=OOMScoreAdjust=-900")


def is_armed(number: int) -> bool:
    """Whether the timer ticks, or what it fires is at work."""
    return is_active(_timer(number), _service(number))


def disarm(number: int, from_within: bool) -> None:
    """Stop the timer, and its service, unless we are that."""
    stop_units(*([_timer(number)] if from_within else [_timer(number), _service(number)]))


def is_running(number: int) -> bool:
    """Whether a unit of the transaction is at work now."""
    return is_active(activation_unit(number), restoring_unit(number), _service(number))


def stop_activation(number: int) -> None:
    """End the transaction's own unit: it hangs, or is not wanted any more."""
    stop_units(activation_unit(number))


def _systemd_run(options: "list[str]", call: "list[str]") -> None:
    argv = ["systemd-run", "--quiet", "--collect", *options, "--", *call]
    for patience in (0.1, 0.3, 1.0, 0.0):
        try:
            Command(argv, _SECONDS).output()
            return
        except Problem:
            if not patience:
                raise
            time.sleep(patience)  # systemd forgets a unit that has just ended a moment later

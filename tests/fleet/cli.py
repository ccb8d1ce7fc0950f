"""The command line: one small function a command."""

from __future__ import annotations

import argparse
import difflib
import os
import signal
import sys
import time
from pathlib import Path

from . import machine
from .errors import FleetError
from .faults import FAULTS, description
from .fleet import Fleet, default_state
from .mend import mend, wrong_with


def main(argv: list[str] | None = None) -> None:
    """Run one command. Exits with 0, with 2 on a mistake in the words, or with 1 and a sentence."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `break --list | head` ends quietly
    words = _parser().parse_args(argv)
    try:
        reason = machine.why_not()
        if reason and words.run is not _inventory:
            raise FleetError(reason)
        fleet = Fleet(words.state, say=_say)
        sys.exit(words.run(fleet, words))
    except FleetError as error:
        sys.exit(f"fleet: {error}")
    except KeyboardInterrupt:
        sys.exit(130)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python3 -m tests.fleet", description="Real systemd nodes on this machine."
    )
    parser.add_argument(
        "--state",
        type=Path,
        default=default_state(),
        help="the fleet's folder (default: $KNOWNGOOD_FLEET, or .fleet in the checkout)",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    up = commands.add_parser("up", help="boot a fleet and wait until it is healthy")
    up.add_argument("count", type=int, metavar="N")
    up.set_defaults(run=_up)

    down = commands.add_parser("down", help="take the fleet away without a trace")
    down.set_defaults(run=_down)

    ssh = commands.add_parser("ssh", help="log in to a node, or run a command there")
    ssh.add_argument("--user", default="root", help="root (the default), ops, or opspw")
    ssh.add_argument("node", metavar="NODE")
    ssh.add_argument("command", metavar="CMD", nargs=argparse.REMAINDER)
    ssh.set_defaults(run=_ssh)

    broken = commands.add_parser("break", help="break a node in one of the ways that --list tells")
    broken.add_argument("--list", action=_ListFaults, help="name all faults, with what each leaves behind")
    broken.add_argument("fault", metavar="FAULT")
    broken.add_argument("nodes", nargs="+", metavar="NODE")
    broken.set_defaults(run=_break)

    mended = commands.add_parser("mend", help="bring nodes back to known-good")
    mended.add_argument("nodes", nargs="+", metavar="NODE")
    mended.set_defaults(run=_mend)

    status = commands.add_parser("status", help="the nodes, and how each one is")
    status.set_defaults(run=_status)

    inventory = commands.add_parser("inventory", help="print the path of the nodes file")
    inventory.set_defaults(run=_inventory)
    return parser


class _ListFaults(argparse.Action):
    """Print all faults, and end there, as --help does."""

    def __init__(self, option_strings: list[str], dest: str, help: str) -> None:
        super().__init__(option_strings, dest, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        width = max(map(len, FAULTS))
        for name in FAULTS:
            print(f"{name:{width}}  {description(name)}")
        parser.exit()


def _up(fleet: Fleet, words: argparse.Namespace) -> int:
    began = time.monotonic()
    fleet.up(words.count)
    _say(f"{len(fleet.nodes)} nodes are up and healthy, in {time.monotonic() - began:.1f} s")
    return 0


def _down(fleet: Fleet, words: argparse.Namespace) -> int:
    fleet.down()
    return 0


def _ssh(fleet: Fleet, words: argparse.Namespace) -> int:
    command = words.command[1:] if words.command[:1] == ["--"] else words.command
    argv = fleet[words.node].ssh_command(*command, user=words.user)
    os.execvp(argv[0], argv)


def _break(fleet: Fleet, words: argparse.Namespace) -> int:
    if words.fault not in FAULTS:
        close = difflib.get_close_matches(words.fault, FAULTS, n=1)
        hint = f", did you mean {close[0]}?" if close else "; see break --list"
        raise FleetError(f"no fault is called {words.fault}{hint}")
    for node in [fleet[name] for name in words.nodes]:
        FAULTS[words.fault](node)
    _say(description(words.fault))
    return 0


def _mend(fleet: Fleet, words: argparse.Namespace) -> int:
    for node in [fleet[name] for name in words.nodes]:
        mend(node)
    return 0


def _status(fleet: Fleet, words: argparse.Namespace) -> int:
    if not fleet.nodes:
        _say(f"no fleet is up in {fleet.state}")
        return 1
    for node in fleet.nodes.values():
        print(f"{node.name}  {node.address}  {'; '.join(wrong_with(node)) or 'known good'}")
    return 0


def _inventory(fleet: Fleet, words: argparse.Namespace) -> int:
    print(fleet.nodes_file)
    return 0 if fleet.nodes else 1


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)

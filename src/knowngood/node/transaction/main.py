"""The program's entrance: `python3 -I -S node.pyz COMMAND`.

Commands of people and controllers read one JSON object from stdin and write one framed JSON object
(written.py; the request's "run" is the frame's). Those that systemd calls read nothing and answer to the
journal: `run N`, `revert-if-unconfirmed N`, `boot`, `record UNIT`.
"""

import json
import os
import sys

from knowngood.node.ground import Problem, raw
from knowngood.node.transaction.places import Home
from knowngood.node.transaction.reasons import why
from knowngood.node.written import frame, write

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_LIMIT = 32 << 20
_TURN = 3600.0


def main(words: "list[str]", home: Home) -> int:
    """Do what the words say; the exit status, which is 0 for every answer."""
    os.umask(0o077)
    if words and words[0] in _BY_SYSTEMD:
        return _BY_SYSTEMD[words[0]](home, words[1:])
    run, answer = "0", {}  # type: str, dict[str, Any]
    try:
        asked = _request()
        run = str(asked.get("run", "0"))
        answer = _answer(home, words, asked)
    except (OSError, Problem) as error:
        answer = {"ok": False, "reason": why(error)}
    write(frame(run, json.dumps(answer)))
    _be_faster_next_time(home)
    return 0


def _be_faster_next_time(home: Home) -> None:
    program = os.path.realpath(sys.argv[0])
    beside = "%s.%s" % (program, sys.implementation.cache_tag)
    if os.path.dirname(raw(program)) == home.programs and not os.path.exists(beside):
        from knowngood.node.transaction.compiled import keep_compiled

        try:
            keep_compiled(program, beside)
        except OSError:
            pass  # it is slower, and no worse


def _request() -> "dict[str, Any]":
    data = sys.stdin.buffer.read(_LIMIT + 1)
    if len(data) > _LIMIT:
        raise Problem("the request is too large")
    try:
        asked = json.loads(data.decode("utf-8")) if data.strip() else {}
    except (ValueError, RecursionError):
        raise Problem("the request is no JSON")
    if not isinstance(asked, dict):
        raise Problem("the request is no JSON object")
    return asked


def _answer(home: Home, words: "list[str]", asked: "dict[str, Any]") -> "dict[str, Any]":
    from knowngood.node.transaction.commands import COMMANDS, READING, refusal

    if len(words) != 1 or words[0] not in COMMANDS:
        raise Problem("no such command; there are: " + ", ".join(COMMANDS))
    if words[0] not in READING:
        home.make()
    try:
        return COMMANDS[words[0]](home, asked)
    except Problem as error:
        return refusal(error)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Problem("the request makes no sense: %s: %s" % (type(error).__name__, error))


def _run(home: Home, words: "list[str]") -> int:
    from knowngood.node.transaction.durable import Mutex
    from knowngood.node.transaction.transaction import Transaction

    with Mutex(home.transaction_mutex, _TURN):
        Transaction(home, int(words[0])).run()
    return 0


def _revert(home: Home, words: "list[str]") -> int:
    from knowngood.node.transaction.recovery import revert_if_unconfirmed

    revert_if_unconfirmed(home, int(words[0]))
    return 0


def _boot(home: Home, words: "list[str]") -> int:
    from knowngood.node.transaction.recovery import recover_after_boot

    recover_after_boot(home)
    return 0


def _record(home: Home, words: "list[str]") -> int:
    from knowngood.node.transaction.receipts import record

    record(home, words[0], os.environ.get("INVOCATION_ID", ""))
    return 0


_BY_SYSTEMD = {"run": _run, "revert-if-unconfirmed": _revert, "boot": _boot, "record": _record}

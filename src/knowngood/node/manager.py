"""What systemd's manager holds: `systemctl show` of each unit, and its own environment."""

from knowngood.node.command import Command
from knowngood.node.ground import Problem, Round, reason, word

_SECONDS = 10.0


class Manager:
    """The questions to systemctl. They are asked at once, and the answers read when they are needed."""

    def __init__(self, units: "list[str]", environment: bool, turn: Round) -> None:
        seconds = min(_SECONDS, turn.left())
        self._units = {
            unit: _start(["systemctl", "show", "--no-pager", "--", unit], seconds) for unit in units
        }
        self._show_environment = _start(["systemctl", "show-environment"], seconds) if environment else None
        self._environment = None  # type: dict[str, str] | None

    def properties(self, unit: str) -> "dict[str, str]":
        """All properties of a unit, each as the text that systemctl prints; Problem where there is no answer.

        A property that is told several times (ExecStart, EnvironmentFiles) has a line for each.
        """
        return read_properties(word(_output(self._units[unit])))

    def environment(self) -> "dict[str, str]":
        """The environment that the manager gives to every service; Problem where there is no answer."""
        if self._environment is None:
            if self._show_environment is None:
                raise Problem("the manager's environment was not asked for")
            self._environment = read_environment(word(_output(self._show_environment)))
        return self._environment


def _start(argv: "list[str]", seconds: float) -> "Command | str":
    try:
        return Command(argv, seconds)
    except OSError as error:
        return reason(error)


def _output(command: "Command | str") -> bytes:
    if isinstance(command, str):
        raise Problem("systemctl: " + command)
    return command.output()


def read_properties(text: str) -> "dict[str, str]":
    """The lines `Name=value`; a line of another shape goes on with the value before it."""
    told = {}  # type: dict[str, str]
    last = ""
    for line in text.rstrip("\n").split("\n"):
        name, equals, value = line.partition("=")
        new = name.isalnum() and name[:1].isupper() and (name == last or name not in told)
        if equals and new and not _is_open(told.get(last, "")):
            told[name] = told[name] + "\n" + value if name in told else value
            last = name
        elif last:
            told[last] += "\n" + line
    return told


def _is_open(value: str) -> bool:
    """Whether a command, told as `{ path=… ; argv[]=… }`, goes on: its words may hold line ends."""
    return value.startswith("{ ") and not value.endswith(" }")


def read_environment(text: str) -> "dict[str, str]":
    """`systemctl show-environment`: NAME=value, where need be as $'…' with the escapes of C."""
    told = {}
    for line in text.split("\n"):
        name, equals, value = line.partition("=")
        if equals:
            quoted = value.startswith("$'") and value.endswith("'") and len(value) > 2
            told[name] = _unescaped(value[2:-1]) if quoted else value
    return told


_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}


def _unescaped(text: str) -> str:
    """Undo the escapes in $'…': \\n and the like, \\xHH, \\OOO, and \\ before any other letter."""
    out = bytearray()
    at = 0
    data = text.encode("utf-8", "surrogateescape")
    while at < len(data):
        if data[at : at + 1] != b"\\" or at + 1 == len(data):
            out += data[at : at + 1]
            at += 1
            continue
        after = data[at + 1 : at + 2].decode("latin-1")
        digits, base = (data[at + 2 : at + 4], 16) if after == "x" else (data[at + 1 : at + 4], 8)
        try:
            if after != "x" and not after.isdigit():
                raise ValueError
            out.append(int(digits, base))
            at += 4
        except ValueError:
            out += _ESCAPES.get(after, after).encode("latin-1")
            at += 2
    return bytes(out).decode("utf-8", "surrogateescape")

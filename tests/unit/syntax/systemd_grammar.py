"""Random units: sections, directives and values as people write them, and then as they mistype them."""

from __future__ import annotations

import random


def _samples(text: str) -> list[str]:
    return text.split("|")


_SPANS = _samples(
    r"5|1min 30s|infinity|0|1.5h|3x|-1||2 days|90s|1w 2d|.5min|5.|1M|1m|1h30|1h 30|99999999999y"
    r"|5 s|5sec 3|1..2|10ms|1y|+5|0x10|s|1 month"
)
_NUMBERS = _samples(
    r"0|1|5|-5|19|-20|20|0x10|010|abc||1 2|+3|-0|999999999999|1000|0b11|0o17|-1000|1001|2e3| 7"
)
_SIZES = _samples(
    r"64G|1.5M|infinity|50%|0||1G 512M|512M 1G|100|1K|12.5%|101%|64g|1E|17E|1.M|10B|1 G|1.25G|5000"
    r"|-1|1G1|0.5K|33‰|5‱"
)
_LIMITS = _samples(
    r"65536|1024:524288|infinity|16K|2:1||1:2:3|infinity:5|5:infinity|:5|5:|0x10|1G|1G:2G|10s"
    r"|1min:1h|+5|-5|40|41|1.5G|-20:+0|100us|7:infinity"
)
_WORDS = _samples(
    r"""a|b c|'x y'|"p q"|\x41|\t|\101|\q|$X|${X}|$$|%i|%n|%%|%p-%N|%j|'|"|\|;|\;|é|ü€|a=b|--flag=1"""
    r"""|%|%!|-|\u00e9|\u20ac|\xff|\000|a'b'c|d"e f"g|#x|${X:-y}|x${X}y|\s|\\|\'|''|""|%Q|%h|%t"""
    r"|\U0001F600"
)
_PAIRS = _samples(
    r"""A=1|B=x y|"C=p q"|'D=r s'|E=\x41|F=$A|G=%i|H=|=I|J|K=\n|A=2|"L=a\"b"|M=é|1N=x|O-P=x|Q=%%"""
    r"""|R="s t"|S='u v'|T=%H|U=\q|%p=1|"V=1" W=2|X=\xff|Y=a;b"""
)
_PATHS = _samples(r"/x|/x/y/|x|~|-~|-/x|/x/../y|//a//b|/x y|/%i||/x/./y|/a\x20b|-x|/%h")
_CPUS = _samples(r"0-3|0,2,4|1 3|numa||5-2|x|0-3,8 9|1-|'1 2'|0x3")
_TRUTH = _samples(r"yes|no|1|0|true|FALSE|On|off|y|t|maybe||YES ")
_USERS = _samples(r"alice|0|1000||a b|root|_x|%i|u.v|x$|a:b")
_EXECUTABLES = _samples(
    r"/bin/true|-/bin/true|@/bin/true argv0|+/bin/true|!!/bin/true|:/bin/true|true|/bin/"
    r'|-@/bin/true zero|bin/true|/bin/%p|"/bin/true"|/bin//true|@-:/bin/true x|!/bin/true|-'
)
_VALUES: dict[str, list[str]] = {
    **dict.fromkeys(
        "RestartSec TimeoutStartSec TimeoutStopSec TimeoutSec WatchdogSec RuntimeMaxSec".split(), _SPANS
    ),
    **dict.fromkeys(
        "LimitNOFILE LimitMEMLOCK LimitCPU LimitNICE LimitRTTIME LimitCORE LimitSTACK".split(), _LIMITS
    ),
    **dict.fromkeys("MemoryMax MemoryHigh".split(), _SIZES),
    "TasksMax": [*_SIZES, *_NUMBERS],
    "CPUQuota": _samples("150%|0%|33.3%||200|1.234%|5%|infinity|99.99%|50 %|20‰"),
    **dict.fromkeys("Nice OOMScoreAdjust".split(), _NUMBERS),
    "UMask": _samples("022|0077|7|8||0o22|10000|07777|+22|u=rwx"),
    "CPUAffinity": _CPUS,
    "WorkingDirectory": _PATHS,
    **dict.fromkeys("User Group".split(), _USERS),
    "Type": _samples("simple|exec|notify|oneshot|idle|Simple||foo"),
    "Restart": _samples("no|always|on-failure|on_failure||yes|on-abnormal"),
    "KillMode": _samples("process|mixed|none|bogus||control-group"),
    "KillSignal": _samples("SIGINT|TERM|9|sigkill||RTMIN+1|SIGRTMAX-2|99|0|SIGUSR1"),
    **dict.fromkeys(
        "RemainAfterExit GuessMainPID SendSIGKILL SendSIGHUP PrivateTmp NonBlocking".split(), _TRUTH
    ),
    "DynamicUser": _TRUTH,
    "OOMPolicy": _samples("stop|kill|continue|none|"),
    "NotifyAccess": _samples("all|main|exec|none|some|"),
    "NoSuchThing": _samples("1|"),
    "Description": ["misplaced"],
    "X-Own": ["1"],
}
_SERVICE = list(_VALUES.items())
_UNIT: list[tuple[str, list[str]]] = [
    ("Description", _samples(r"hello %i|x||a \x41 b|100%%|%Z|a;b # c")),
    ("StopWhenUnneeded", _TRUTH),
    ("RefuseManualStart", _TRUTH),
    ("DefaultDependencies", ["yes", "no"]),
    ("After", _samples("a.service|a.service b.service|")),
    ("LimitNOFILE", ["5"]),
]


class Grammar:
    """Texts of units, from one seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def unit(self) -> bytes:
        """A fragment that mostly can be loaded."""
        lines = [
            "[Service]",
            f"ExecStart={self._command(plain=True)}",
            *self.lines(self._random.randint(1, 8)),
        ]
        return self._spoiled("\n".join(lines) + self._random.choice(["\n", "", "\n\n"]))

    def dropin(self) -> bytes:
        """A drop-in."""
        header = self._random.choice(["[Service]", "[Service]", "[Unit]", "", "[Bad"])
        return self._spoiled("\n".join([header, *self.lines(self._random.randint(1, 4))]) + "\n")

    def lines(self, count: int) -> list[str]:
        """Lines of a section and its like."""
        found: list[str] = []
        for _ in range(count):
            found += self._line()
        return found

    def _line(self) -> list[str]:
        pick = self._random.random()
        if pick < 0.5:
            name, values = self._random.choice(_SERVICE)
            return [self._assignment(name, self._random.choice(values))]
        if pick < 0.7:
            words = self._words(_PAIRS) if self._random.random() < 0.9 else ""
            return [self._assignment("Environment", words)]
        if pick < 0.8:
            name = self._random.choice(["ExecStartPre", "ExecReload", "ExecStart"])
            return [self._assignment(name, self._command() if self._random.random() < 0.9 else "")]
        if pick < 0.86:
            name, values = self._random.choice(_UNIT)
            return ["[Unit]", self._assignment(name, self._random.choice(values)), "[Service]"]
        return [self._random.choice(_ODD)]

    def _command(self, *, plain: bool = False) -> str:
        program = "/bin/true" if plain else self._random.choice(_EXECUTABLES)
        words = [
            word for word in self._words(_WORDS).split("\0") if not plain or self._random.random() < 0.95
        ]
        return " ".join([program, *words])

    def _words(self, among: list[str]) -> str:
        count = self._random.randint(0, 4)
        glue = self._random.choice([" ", " ", "  ", "\t", " \\\n  ", " \\\n# comment\n ", " \\\n; c \\\n"])
        return glue.join(self._random.choice(among) for _ in range(count))

    def _assignment(self, name: str, value: str) -> str:
        equals = self._random.choice(["=", "=", "=", " = ", "= ", " ="])
        return (
            self._random.choice(["", "", "", " ", "\t"])
            + name
            + equals
            + value
            + self._random.choice(["", "", " "])
        )

    def _spoiled(self, text: str) -> bytes:
        """Now and then as Windows ends lines, with a mark at the start, or with odd bytes in it."""
        data = text.encode()
        pick = self._random.random()
        if pick < 0.04:
            data = data.replace(b"\n", b"\r\n")
        elif pick < 0.06:
            data = b"\xef\xbb\xbf" + data
        elif pick < 0.12:
            data = self.mutated(data)
        return data

    def mutated(self, data: bytes) -> bytes:
        """The data with a few bytes put in, taken out, doubled or exchanged."""
        out = bytearray(data)
        for _ in range(self._random.randint(1, 3)):
            at = self._random.randrange(len(out) + 1)
            pick = self._random.randrange(4)
            if pick == 0:
                out[at:at] = self._random.choice(_BYTES)
            elif pick == 1:
                del out[at : at + self._random.randint(1, 4)]
            elif pick == 2:
                out[at:at] = out[at : at + self._random.randint(1, 20)]
            else:
                out[at : at + 1] = self._random.choice(_BYTES)
        return bytes(out)


_ODD = _samples(
    r"|# comment|; comment \|NoEquals|=x|[Unit]|[Service]|[Nonsense]|[X-Own]|\|a\|[Install]"
    r"|WantedBy=multi-user.target|[Service]x| [Service]|[ Service ]|  # indented|Environment"
)
_BYTES = [
    text.encode()
    for text in _samples(
        "\\|'|\"|=|%|$|[|]|;|#|{|}|:|-|1|x|\\x|\n|\r|\0| |\t|é|\x01|\x7f|\\\n|\ufeff|\ufffe|\n\r"
    )
]
_BYTES.append(b"\xff")


_ENV_PIECES = [
    *_samples(
        r"""a|two words|"|'|\|\"|\$|$A|`x`|#|;| |=|é|\n|\\|"q r"|'s t'|"u\"v"|'w\x'|0|/p:/q|  |\x41|\ |%i|$"""
    ),
    "\n",
    "\t",
    "\r",
]
_ENV_NAMES = _samples("A|B|C|D1|_E|export F|1G|H-I|J |A|| K|#L|;M|N.O")


class EnvironmentFiles:
    """Texts of environment files, from one seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def text(self) -> bytes:
        """A file with a few lines, some of them odd."""
        return "".join(self._line() for _ in range(self._random.randint(1, 6))).encode()

    def _line(self) -> str:
        pick = self._random.random()
        if pick < 0.1:
            return self._random.choice(
                ["# a comment\n", "; a comment\\\n", "no equals sign\n", "\n", "\\\n", "  \n", "#"]
            )
        name = self._random.choice(_ENV_NAMES)
        value = "".join(self._random.choice(_ENV_PIECES) for _ in range(self._random.randint(0, 4)))
        return f"{name}={value}" + self._random.choice(["\n", "\n", "\n", "\r\n", "\\\n", " \n"])

"""A case of tests/cases/serve_script: a script, and in `#:` comments what it is run with.

`#: args …` and `#: caller NAME=value …` say how it is called, `#: file NAME text` puts a file into `@DIR@`
(with \\n escapes), `#: unknown …` lists all that a reader may leave open. Everything else it must resolve.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from pathlib import Path

CASES = Path(__file__).parents[2] / "cases" / "serve_script"


@dataclass
class Case:
    name: str
    text: bytes
    args: tuple[str, ...] = ()
    caller: dict[str, str] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    unknown: frozenset[str] = frozenset()
    seconds: float = 10

    @classmethod
    def load(cls, path: Path, directory: Path) -> Case:
        """`directory` is where the case's own files will lie."""
        text = path.read_bytes().replace(b"@DIR@", str(directory).encode())
        case = cls(path.stem, text)
        for line in text.decode("utf-8", "surrogateescape").splitlines():
            if not line.startswith("#: "):
                continue
            word, _, rest = line[3:].partition(" ")
            if word == "args":
                case.args = tuple(shlex.split(rest))
            elif word == "caller":
                case.caller = dict(pair.partition("=")[::2] for pair in shlex.split(rest))
            elif word == "file":
                name, _, body = rest.partition(" ")
                case.files[str(directory / name)] = body.replace("\\n", "\n").encode()
            elif word == "unknown":
                case.unknown = frozenset(rest.split())
            elif word == "seconds":
                case.seconds = float(rest)
            else:
                raise ValueError(f"{path}: {word!r} is no directive")
        return case


def all_cases() -> list[Path]:
    return sorted(CASES.glob("*.sh"))

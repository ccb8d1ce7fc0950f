"""What a captured manifest would say, while it is worked out: settings, remarks, and what was left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from knowngood.model import Desired, Reading, Secret, Setting


@dataclass(frozen=True, slots=True)
class Proposal:
    """Settings that a node's texts state, to be confirmed by what its processes and systemd say.

    `comments` stand beside settings. `left_out` tells why one that the node has is none of the manifest's.
    `remarks` concern no single setting. `secrets` are by the controller's variable that is to hold them.
    """

    desired: Desired
    comments: Mapping[Setting, str] = field(default_factory=dict)
    left_out: Mapping[Setting, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)

    def without(self, setting: Setting, reason: str) -> Proposal:
        """The proposal with one setting left out, for a reason."""
        return replace(
            self,
            desired=without(self.desired, setting),
            left_out={**self.left_out, setting: reason},
            comments={key: text for key, text in self.comments.items() if key != setting},
        )

    def not_loaded(self, path: str, reason: str) -> Proposal:
        """The proposal with a file that the server is not known to have loaded as it is."""
        files = tuple(
            replace(file, loaded=False) if file.path == path else file for file in self.desired.files
        )
        comments = {**self.comments, Setting("file", path): reason}
        return replace(self, desired=replace(self.desired, files=files), comments=comments)


def without(desired: Desired, setting: Setting) -> Desired:
    """What is desired, less one setting; a whole file for its content."""
    kind, name = setting
    if kind == "env":
        env = {key: want for key, want in desired.env.items() if key != name}
        unit_env = {key: want for key, want in desired.unit_env.items() if key != name}
        return replace(desired, env=env, unit_env=unit_env)
    if kind == "arg":
        return replace(desired, args={key: want for key, want in desired.args.items() if key != name})
    if kind == "systemd":
        directives = {key: lines for key, lines in desired.directives.items() if key != name}
        return replace(desired, directives=directives)
    if kind == "file":
        return replace(desired, files=tuple(file for file in desired.files if file.path != name))
    if kind in ("mode", "owner", "group"):
        return _without_attribute(desired, setting)
    if setting == Setting("unit", "enabled"):
        return replace(desired, enabled=None)
    raise ValueError(f"a manifest can't leave out {setting}")


def _without_attribute(desired: Desired, setting: Setting) -> Desired:
    kind, path = setting
    nothing: dict[str, None] = {kind: None}
    files = tuple(replace(f, **nothing) if f.path == path else f for f in desired.files)  # type: ignore[arg-type]
    script = desired.script
    if script is not None and script.path == path:
        script = replace(script, **nothing)  # type: ignore[arg-type]
    return replace(desired, files=files, script=script)


class Sheet:
    """The notes of a proposal, while it is being filled in."""

    def __init__(self, script: str | None) -> None:
        self._script = script
        self.comments: dict[Setting, str] = {}
        self.left_out: dict[Setting, str] = {}
        self.remarks: list[str] = []
        self.secrets: dict[str, str] = {}

    def note(self, setting: Setting, reading: Reading) -> None:
        """Say beside a setting where it was read."""
        told = self.place(reading) + (" (a default)" if reading.default else "")
        if told:
            self.comments[setting] = told.strip()

    def place(self, reading: Reading) -> str:
        """Where a reading stands: a line of the serve script, or path:line; "" where nothing says it."""
        if not reading.line or not reading.path:
            return ""
        return f"line {reading.line}" if reading.path == self._script else f"{reading.path}:{reading.line}"

    def secret(self, wish: str, text: str) -> Secret:
        """A secret's place in the controller's environment: the wished name, numbered where it is taken."""
        name, number = wish, 2
        while self.secrets.get(name, text) != text:
            name, number = f"{wish}_{number}", number + 1
        self.secrets[name] = text
        return Secret(name, text)

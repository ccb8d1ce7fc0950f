"""The glossary: every word of knowngood as a frozen dataclass. The first file to read.

Data flows one way: text → Desired, node → Observation, both → Findings, Findings → report.
Nothing here reads files, opens sockets or prints; this module imports nothing of ours.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

# --- Values -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Occurrences:
    """How a command-line flag occurs: one tuple of words for each time it is given.

    `--tp 4` is (("4",),); a bare flag is ((),); `--bs 1 2` is (("1", "2"),); a flag given twice has two.
    `listed` marks a value that was written as a list, so that all words after the flag belong to it even
    where there is but one; it is no part of the value.
    """

    words: tuple[tuple[str, ...], ...]
    listed: bool = field(default=False, compare=False)


Plain: TypeAlias = str | Occurrences


@dataclass(frozen=True, slots=True)
class Known:
    """The value was seen. `value` is text, or Occurrences for a flag."""

    value: Plain


@dataclass(frozen=True, slots=True)
class Absent:
    """It was looked for, and it is not there."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """It could not be read or worked out; `reason` says why, for people.

    `not_value` carries the one thing that may still be known of an unknown value: that it is *not* this.
    (A process older than its source file runs some other content, though nobody can say which.)
    """

    reason: str
    not_value: Plain | None = None


Value: TypeAlias = Known | Absent | Unknown
ABSENT = Absent()


@dataclass(frozen=True, slots=True)
class Reading:
    """A value read from a text, and where: `line` counts from 1, 0 where no line says it.

    `default` marks a caller default: `${X:-512}` when nothing gives X.
    """

    value: Value
    line: int = 0
    path: str = ""
    default: bool = False


# --- Settings ---------------------------------------------------------------------------------------


class Setting(NamedTuple):
    """One thing that can be right or wrong, by its address, as `env:NCCL_DEBUG` or `file:/path`."""

    kind: str  # file, mode, owner, group, env, arg, systemd, unit
    name: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"

    @classmethod
    def parse(cls, address: str) -> Setting:
        """Split `kind:name`; ValueError when there is no known kind before the colon."""
        kind, colon, name = address.partition(":")
        if not colon or kind not in SETTING_KINDS or not name:
            raise ValueError(f"not a setting's address: {address!r}")
        return cls(kind, name)


SETTING_KINDS = ("unit", "file", "mode", "owner", "group", "env", "arg", "systemd")


# --- Hosts ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Host:
    """A host of the inventory: its name, the groups, and its pyinfra host data (groups merged in)."""

    name: str
    groups: tuple[str, ...] = ()
    data: Mapping[str, object] = field(default_factory=dict, repr=False)


# --- Desired: what the manifest wants of one host ----------------------------------------------------


@dataclass(frozen=True, slots=True)
class Secret:
    """A desired value that is never shown. `text` is None where its source variable is not set."""

    source: str  # the controller's environment variable it comes from
    text: str | None = field(repr=False)


Want: TypeAlias = Known | Absent | Secret


@dataclass(frozen=True, slots=True)
class Place:
    """Where a manifest says something: path relative to the project; line and column count from 1."""

    path: str
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class DesiredFile:
    path: str  # on the node
    sha256: str  # lower-case hex
    source: str  # absolute path on the controller
    mode: str | None = None  # "0644"
    owner: str | None = None
    group: str | None = None
    loaded: bool = True  # the server reads it when it starts


@dataclass(frozen=True, slots=True)
class DesiredScript:
    path: str  # on the node
    source: str | None = None  # absolute path on the controller, when the manifest owns the whole file
    source_text: bytes | None = field(default=None, repr=False)
    # the source with the declared knobs and flags edited into it; None with the reason beside it
    text: bytes | None = field(default=None, repr=False)
    why_no_text: str = ""
    mode: str | None = None
    owner: str | None = None
    group: str | None = None


@dataclass(frozen=True, slots=True)
class Desired:
    """One manifest, with overrides and host data applied, for one host."""

    manifest: str  # the manifest's name
    host: str  # the inventory's name
    unit: str  # sglang-dsv4-decode.service
    active: bool = True
    enabled: bool | None = None  # a setting only when declared
    server: str | None = None  # text in the argv of the process that serves
    files: tuple[DesiredFile, ...] = ()
    script: DesiredScript | None = None
    env: Mapping[str, Want] = field(default_factory=dict)  # serve_script.env
    args: Mapping[str, Want] = field(default_factory=dict)  # Known holds Occurrences
    aliases: tuple[tuple[str, ...], ...] = ()
    # "Service.LimitNOFILE" → one text a line of the directive (a list in the manifest gives several)
    directives: Mapping[str, tuple[str, ...] | Absent] = field(default_factory=dict)
    unit_env: Mapping[str, Want] = field(default_factory=dict)  # systemd: Environment
    dropin: str = "zz-knowngood.conf"
    cache_dirs: tuple[str, ...] = ()
    health: Mapping[str, object] | None = None
    places: Mapping[Setting, Place] = field(default_factory=dict)

    def script_knobs(self) -> dict[str, str | None]:
        """The knobs to edit into the serve script, None to remove one; never a secret."""
        wants = {name: want for name, want in self.env.items() if not isinstance(want, Secret)}
        return {name: str(want.value) if isinstance(want, Known) else None for name, want in wants.items()}

    def script_flags(self) -> dict[tuple[str, ...], Occurrences | None]:
        """The flags to edit into the serve script, by all their spellings; never a secret."""
        return {
            self.spellings(flag): want.value
            if isinstance(want, Known) and isinstance(want.value, Occurrences)
            else None
            for flag, want in self.args.items()
            if not isinstance(want, Secret)
        }

    def spellings(self, flag: str) -> tuple[str, ...]:
        """The flag, and the other names that the manifest says it has."""
        for group in self.aliases:
            if flag in group:
                return (flag, *(name for name in group if name != flag))
        return (flag,)


# --- Observation: all that one node said of one role, in one round trip -------------------------------


@dataclass(frozen=True, slots=True)
class Pyc:
    """A compiled file beside a .py: the source mtime (s) and size (bytes) it records, and its own age."""

    path: str
    tag: str  # cpython-311
    source_mtime: int
    source_size: int
    mtime_ns: int
    ctime_ns: int
    # True/False: the bytecode was compared with the source by recompiling it; None: could not be
    matches_source: bool | None = None


@dataclass(frozen=True, slots=True)
class FileState:
    """A file as the node's disk has it. `kind`: regular, missing, directory, other, unreadable."""

    path: str
    kind: str
    error: str | None = None  # why it is unreadable
    sha256: str | None = None
    size: int = 0  # bytes
    mode: str | None = None  # "0644"
    owner: str | None = None
    group: str | None = None
    mtime_ns: int = 0  # wall clock
    ctime_ns: int = 0
    symlink: str | None = None  # target, where the path is a symbolic link (the rest is of what it leads to)
    pycs: tuple[Pyc, ...] = ()


@dataclass(frozen=True, slots=True)
class Text:
    """A text file of the node: a script, a unit, a drop-in, an environment file. None: see `error`."""

    path: str
    data: bytes | None = field(repr=False)
    error: str | None = None  # why it could not be read; "missing" when there is none


@dataclass(frozen=True, slots=True)
class Process:
    """One process of the unit's cgroup. `environ` holds declared names only.

    A declared secret's value is `hmac:HEX`, keyed with the run's nonce.
    """

    pid: int
    ppid: int
    start_ticks: int
    started_ns: int  # wall clock, worked out from start_ticks on the boot clock
    exe: str | None
    argv: tuple[str, ...] | Unknown
    environ: Mapping[str, Value] | Unknown
    # of /proc/PID: "LimitNOFILE" → "1024:524288" or "infinity", "User", "Group", "Nice", "UMask",
    # "OOMScoreAdjust", "CPUAffinity", "WorkingDirectory"; each absent from the map where it could not be read
    traits: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class UnitState:
    """What systemd's manager says (`systemctl show`), and the unit's texts on disk."""

    name: str
    load_state: str  # loaded, not-found, masked, error, …
    active_state: str
    sub_state: str
    unit_file_state: str  # enabled, disabled, static, …; "" where there is none
    main_pid: int
    n_restarts: int
    need_daemon_reload: bool
    invocation_id: str
    properties: Mapping[str, str] = field(default_factory=dict, repr=False)  # the raw text of every property
    fragment: Text | None = None
    dropins: tuple[Text, ...] = ()  # in the order systemd merges them
    environment_files: tuple[Text, ...] = ()
    cgroup: Mapping[str, str] = field(default_factory=dict)  # MemoryMax, MemoryHigh, CPUQuota, TasksMax
    error: str | None = None  # why systemd did not answer


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a start had loaded, recorded on the node: path → (sha256, ctime_ns), bound to an invocation."""

    invocation_id: str
    files: Mapping[str, tuple[str, int]]


@dataclass(frozen=True, slots=True)
class Observation:
    """All that one node said of one role."""

    host: str
    unit: UnitState
    processes: tuple[Process, ...] | Unknown
    files: Mapping[str, FileState] = field(default_factory=dict)
    script: Text | None = None
    sourced: Mapping[str, Text] = field(default_factory=dict)  # files the script sources, by path
    receipt: Receipt | None = None
    activated: Mapping[str, str] = field(default_factory=dict)  # setting address → value last activated here
    nonce: bytes = field(default=b"", repr=False)
    manager_environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    # whether the manager's environment may hold names that the manifest does not declare
    manager_open: bool = True
    now_ns: int = 0  # the node's wall clock when it answered
    boot_id: str = ""


@dataclass(frozen=True, slots=True)
class Seen:
    """An observation, interpreted for one Desired: each setting's value at each layer that it has.

    A setting missing from a map has no such layer. `notes` holds evidence for people: which pid, which
    file and line, which times. Values are comparable with the manifest's by `==`, secrets as `hmac:HEX`.
    """

    disk: Mapping[Setting, Value] = field(default_factory=dict)
    loaded: Mapping[Setting, Value] = field(default_factory=dict)
    running: Mapping[Setting, Value] = field(default_factory=dict)
    notes: Mapping[Setting, tuple[str, ...]] = field(default_factory=dict)
    server: Process | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a node could not be observed. `kind`: unreachable (no answer) or incomplete (a useless one)."""

    kind: Literal["unreachable", "incomplete"]
    reason: str


# --- Findings ---------------------------------------------------------------------------------------


class Verdict(enum.StrEnum):
    IN_SYNC = "in_sync"
    RESTART_PENDING = "restart_pending"
    RELOAD_PENDING = "reload_pending"
    EDITED_ON_DISK = "edited_on_disk"
    EDITED_AND_LIVE = "edited_and_live"
    SPLIT = "split"
    LIVE_DIFFERS = "live_differs"
    STOPPED = "stopped"
    UNKNOWN = "unknown"


class Status(enum.StrEnum):
    IN_SYNC = "in_sync"
    DRIFTED = "drifted"
    INCOMPLETE = "incomplete"
    UNREACHABLE = "unreachable"


@dataclass(frozen=True, slots=True)
class Layers:
    """A setting's value at the four places; None where the setting has no such layer.

    Values are as shown: secrets are already replaced by marks.
    """

    manifest: Value
    disk: Value | None = None
    loaded: Value | None = None
    running: Value | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    setting: Setting
    verdict: Verdict
    layers: Layers
    evidence: tuple[str, ...] = ()
    mend: tuple[str, ...] = ()  # of write, daemon-reload, restart, start, stop, enable, disable
    cause: str | None = None  # not_applied_yet, stale_bytecode
    accepted: bool = False


@dataclass(frozen=True, slots=True)
class Server:
    """The process that serves. `argv` is masked; `started_at` is ISO 8601 in UTC."""

    pid: int
    argv: tuple[str, ...] | None
    started_at: str


@dataclass(frozen=True, slots=True)
class HostResult:
    host: str
    manifest: str
    status: Status
    error: str | None = None
    server: Server | None = None
    findings: tuple[Finding, ...] = ()  # only what is not in_sync


@dataclass(frozen=True, slots=True)
class ManifestInfo:
    """A manifest as a report names it; `commit` is None outside git."""

    name: str
    path: str  # relative to the project
    commit: str | None = None
    dirty: bool = False


class ExitCode(enum.IntEnum):
    OK = 0  # every node was observed and is in sync; or done
    DRIFT = 1  # drift found (or changes due, for plan)
    USAGE = 2  # usage error, no project, bad manifest or inventory: nothing was contacted
    INCOMPLETE = 3  # no drift seen, but at least one node could not be fully observed
    ROLLED_BACK = 4  # a gate failed and the change was rolled back
    NEEDS_PERSON = 5  # a node was left in need of a person (wins over all)
    NOT_STARTED = 6  # stopped before anything was changed
    INTERRUPTED = 130  # interrupted; the next run picks up


@dataclass(frozen=True, slots=True)
class DriftReport:
    """The one value that exit code, screen and JSON come from. Hosts in inventory order."""

    manifests: tuple[ManifestInfo, ...]
    started_at: str  # ISO 8601, UTC
    duration_s: float
    hosts: tuple[HostResult, ...]

    def count(self, status: Status) -> int:
        """How many host results have this status."""
        return sum(1 for host in self.hosts if host.status is status)

    @property
    def exit_code(self) -> ExitCode:
        """Drift wins over incompleteness; nothing seen at all is never 0."""
        if self.count(Status.DRIFTED):
            return ExitCode.DRIFT
        if not self.hosts or self.count(Status.IN_SYNC) < len(self.hosts):
            return ExitCode.INCOMPLETE
        return ExitCode.OK

"""What a change would do, as values: to one node, and to a fleet.

A plan holds hashes, masked diffs and reasons. The contents themselves go with it only in memory: they can
hold what people wrote into them, and a saved plan must not.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from knowngood.model import ExitCode
from knowngood.rollout.policy import Health, Policy
from knowngood.rollout.waves import Wave

FileKind = Literal["file", "script", "dropin"]


class NodeState(enum.StrEnum):
    IN_SYNC = "in_sync"  # nothing to do
    DUE = "due"
    BLOCKED = "blocked"  # something to do, and something in the way
    INCOMPLETE = "incomplete"  # nothing to do as far as one can tell
    UNREACHABLE = "unreachable"


@dataclass(frozen=True, slots=True)
class Because:
    """A setting, or a path, and a sentence on what is with it."""

    what: str
    reason: str


@dataclass(frozen=True, slots=True)
class Blocker:
    """Why a node can't be brought to its manifest as it is, and what a person can do about it."""

    what: str
    reason: str
    advice: str


@dataclass(frozen=True, slots=True)
class Attribute:
    """A file's mode, owner or group that changes."""

    kind: Literal["mode", "owner", "group"]
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file that gets other content or other attributes, or loses bytecode that is not of its content.

    Hashes are sha256, None for no file. `mode`, `owner` and `group` are what the manifest wants, None where
    it does not say. `diff` is a unified diff of texts, masked. `source` is the content's path on the
    controller; where the content was made for this node, it is in `data`.
    """

    path: str
    kind: FileKind
    old: str | None
    new: str | None
    mode: str | None = None
    owner: str | None = None
    group: str | None = None
    attributes: tuple[Attribute, ...] = ()
    loaded: bool = False  # the server reads it when it starts
    stale_bytecode: bool = False
    diff: tuple[str, ...] = ()
    source: str | None = field(default=None, compare=False)
    data: bytes | None = field(default=None, repr=False, compare=False)

    @property
    def writes(self) -> bool:
        """Whether the content changes."""
        return self.old != self.new


@dataclass(frozen=True, slots=True)
class NodePlan:
    """What one node lacks for one manifest. The whole of it is done, or nothing.

    `start` waits for a person's word: someone may have stopped the unit on purpose. `vouched` holds files
    whose content the running process is known to have, by evidence that writing them ends: (path, sha256), to
    go into the start's receipt. `wants` and `state` are fingerprints: of the manifest's wishes, and of what
    was seen.
    """

    host: str
    manifest: str
    unit: str
    status: NodeState
    error: str | None = None
    differs: tuple[Because, ...] = ()
    changes: tuple[FileChange, ...] = ()
    secrets: tuple[str, ...] = ()  # names of the variables in the file of secrets, where that is written
    empties: tuple[str, ...] = ()  # cache directories
    reload: tuple[Because, ...] = ()
    restart: tuple[Because, ...] = ()
    start: tuple[Because, ...] = ()
    enable: bool | None = None
    blockers: tuple[Blocker, ...] = ()
    unproved: tuple[Because, ...] = ()
    vouched: tuple[tuple[str, str], ...] = ()
    health: Health | None = None
    wants: str = ""
    state: Mapping[str, str] = field(default_factory=dict)
    secret_texts: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)

    @property
    def has_work(self) -> bool:
        """Whether anything would be done to the node."""
        steps = (self.changes, self.secrets, self.reload, self.restart, self.start)
        return any(steps) or self.enable is not None


@dataclass(frozen=True, slots=True)
class PlannedManifest:
    """A manifest as it was when the plan was made. `content`: a sha256 of it and of the files it names."""

    name: str
    path: str
    commit: str | None
    dirty: bool
    content: str
    policy: Policy = field(default_factory=Policy)


@dataclass(frozen=True, slots=True)
class Plan:
    """A whole fleet's plan. Nodes are in inventory order, one entry for each manifest of a host."""

    manifests: tuple[PlannedManifest, ...]
    nodes: tuple[NodePlan, ...]
    waves: tuple[Wave, ...]
    made_at: str = ""  # ISO 8601, UTC

    def of(self, *states: NodeState) -> Iterator[NodePlan]:
        """The nodes in any of these states."""
        return (node for node in self.nodes if node.status in states)

    def node(self, host: str, manifest: str) -> NodePlan:
        """One node's plan; KeyError where there is none."""
        for node in self.nodes:
            if (node.host, node.manifest) == (host, manifest):
                return node
        raise KeyError(f"{host} of {manifest}")

    @property
    def exit_code(self) -> ExitCode:
        """1 where anything is due, blocked or not; 3 where nothing is, and a node could not be observed."""
        if any(self.of(NodeState.DUE, NodeState.BLOCKED)):
            return ExitCode.DRIFT
        if not self.nodes or any(self.of(NodeState.INCOMPLETE, NodeState.UNREACHABLE)):
            return ExitCode.INCOMPLETE
        return ExitCode.OK

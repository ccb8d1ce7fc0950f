"""All that a capture needs to know of its node, asked in as many questions as it takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from knowngood.cli.capture_node import CapturedNode, check_files
from knowngood.cli.capture_wish import Wish
from knowngood.cli.common import stop
from knowngood.model import Desired, DesiredFile, DesiredScript, ExitCode, Observation, Secret, Unknown
from knowngood.observe.captured import asked_with, propose
from knowngood.observe.captured_script import is_shell_script, script_candidates, server_text
from knowngood.observe.proposal import Proposal

_MOST_QUESTIONS = 3  # with names; each shows what the one before could not


def look(wish: Wish, node: CapturedNode) -> tuple[Proposal, Observation]:
    """Ask until all is known: the script that the unit starts, the names it sets, what the process has."""
    role, observation = _with_serve_script(wish, node)
    server = wish.server or server_text(role, observation)
    role = replace(role, server=server if isinstance(server, str) else None)
    for _ in range(_MOST_QUESTIONS):
        asked = asked_with(role, propose(role, observation))
        observation = node.observe(asked)
        proposal = _with_doubt(propose(asked, observation), server)
        if _alike(asked_with(role, proposal), asked):
            check_files(wish.host.name, observation, wish.paths)
            return _owning_script(wish, proposal, observation), observation
        role = replace(role, env=asked.env)
    return stop(f"{wish.host.name}: its texts change while they are read; try again", ExitCode.INCOMPLETE)


def _with_serve_script(wish: Wish, node: CapturedNode) -> tuple[Desired, Observation]:
    """The role with the serve script that the unit starts, where it starts one."""
    files = tuple(DesiredFile(path, sha256="", source="") for path in wish.paths)
    role = Desired(wish.name, wish.host.name, wish.unit, files=files)
    observation = node.observe(role)
    check_files(wish.host.name, observation, wish.paths)
    for path in script_candidates(role, observation):
        with_script = replace(role, script=DesiredScript(path))
        seen = node.observe(with_script)
        if is_shell_script(seen.script):
            return with_script, seen
    if wish.own_script:
        stop(f"{wish.host.name}: {wish.unit} starts no serve script that --own-script could fetch")
    return role, observation


def _with_doubt(proposal: Proposal, server: str | Unknown | None) -> Proposal:
    """The proposal with a remark where nobody can tell which process serves."""
    if not isinstance(server, Unknown):
        return proposal
    reason = server.reason.partition(": name it with")[0]
    remark = f"which process serves can't be told: {reason}; capture with --server TEXT, which names it"
    return replace(proposal, remarks=(*proposal.remarks, remark))


def _alike(one: Desired, other: Desired) -> bool:
    """Whether two roles ask a node the same: the same names, the same of them sealed."""

    def names(wants: Mapping[str, object]) -> Mapping[str, bool]:
        return {name: isinstance(want, Secret) for name, want in wants.items()}

    return (names(one.env), names(one.args)) == (names(other.env), names(other.args))


def _owning_script(wish: Wish, proposal: Proposal, observation: Observation) -> Proposal:
    """The proposal with the serve script's own attributes, where the whole of it is wanted."""
    script = proposal.desired.script
    if script is None or not wish.own_script:
        return proposal
    state = observation.files[script.path]
    script = DesiredScript(script.path, source="", mode=state.mode, owner=state.owner, group=state.group)
    return replace(proposal, desired=replace(proposal.desired, script=script))

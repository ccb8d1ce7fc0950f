"""Observation → Seen: every declared setting's value at the layers that it has, with the evidence."""

from __future__ import annotations

from knowngood.model import Desired, Observation, Process, Seen, Unknown
from knowngood.observe.directive_layers import add_directives
from knowngood.observe.draft import Draft
from knowngood.observe.file_layers import add_files, add_script
from knowngood.observe.flag_layers import add_flags
from knowngood.observe.knob_layers import add_knobs
from knowngood.observe.next_start import next_start
from knowngood.observe.server import find_server
from knowngood.observe.unit_layers import add_unit


def see(desired: Desired, observation: Observation) -> Seen:
    """Interpret what a node said, for one manifest. Never raises for what a node says."""
    server = _server(desired, observation)
    draft = Draft(server)
    start = next_start(desired, observation)
    add_unit(draft, desired, observation)
    add_files(draft, desired, observation)
    add_script(draft, desired, observation)
    add_knobs(draft, desired, observation, start)
    add_flags(draft, desired, observation, start)
    add_directives(draft, desired, observation, start)
    return draft.seen()


def _server(desired: Desired, observation: Observation) -> Process | Unknown | None:
    processes = observation.processes
    if isinstance(processes, Unknown):
        return processes
    if not processes:
        unit = observation.unit
        if unit.active_state in ("active", "reloading") or unit.main_pid:
            # A server that was moved to another control group still runs.
            return Unknown("systemd calls the unit active, and no process of it was found")
        return None
    return find_server(processes, desired.server, observation.unit.main_pid)

"""Real systemd nodes on one machine, for tests, demo and benchmarks: `python3 -m tests.fleet --help`."""

from .errors import FleetError
from .fleet import Fleet, default_state
from .node import Node

__all__ = ["Fleet", "FleetError", "Node", "default_state"]

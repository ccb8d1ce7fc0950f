"""Units as systemd reads them: what fragment and drop-ins come to, values that compare, drop-ins written."""

from knowngood.syntax.systemd.canonical import canonical, canonical_lines
from knowngood.syntax.systemd.command import ExecCommand
from knowngood.syntax.systemd.defaults import default_of
from knowngood.syntax.systemd.differences import EnvDifference, env_file_differences
from knowngood.syntax.systemd.envfile import parse_environment_file
from knowngood.syntax.systemd.lint import Lint
from knowngood.syntax.systemd.loaded import loaded_environment, loaded_value, properties_for
from knowngood.syntax.systemd.order import order_dropins
from knowngood.syntax.systemd.reading import read_unit
from knowngood.syntax.systemd.running import TRACES, running_value
from knowngood.syntax.systemd.unit import Unit
from knowngood.syntax.systemd.variables import Environment
from knowngood.syntax.systemd.write import CannotCarry, write_dropin, write_environment_file

__all__ = [
    "TRACES",
    "CannotCarry",
    "EnvDifference",
    "Environment",
    "ExecCommand",
    "Lint",
    "Unit",
    "canonical",
    "canonical_lines",
    "default_of",
    "env_file_differences",
    "loaded_environment",
    "loaded_value",
    "order_dropins",
    "parse_environment_file",
    "properties_for",
    "read_unit",
    "running_value",
    "write_dropin",
    "write_environment_file",
]

"""Serve scripts as bash reads them: what they launch, with which words and environment; and their editing."""

from knowngood.syntax.bash.edit_flag import set_flag
from knowngood.syntax.bash.edit_knob import set_knob
from knowngood.syntax.bash.launch import CannotEdit, Launch, Lint, Script, pick_launch
from knowngood.syntax.bash.read import read_script

__all__ = ["CannotEdit", "Launch", "Lint", "Script", "pick_launch", "read_script", "set_flag", "set_knob"]

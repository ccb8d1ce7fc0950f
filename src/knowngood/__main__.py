"""`python -m knowngood`: the same as the installed command."""

from knowngood.cli import entry

entry()

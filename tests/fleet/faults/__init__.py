"""Ways to break a node, each as it happens in the field. `mend` undoes every one of them.

A fault is a public function of these modules: it takes a node, and its docstring says what is then wrong.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable

from ..node import Node
from . import connection, kernel, knobs, processes, python, server, units

Fault = Callable[[Node], None]
FAULTS: dict[str, Fault] = {
    name.replace("_", "-"): function
    for module in (knobs, kernel, units, processes, server, connection, python)
    for name, function in vars(module).items()
    if inspect.isfunction(function) and function.__module__ == module.__name__ and not name.startswith("_")
}


def description(name: str) -> str:
    """What is wrong after the fault, on one line."""
    return " ".join((FAULTS[name].__doc__ or "").split())

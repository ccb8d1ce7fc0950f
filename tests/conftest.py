"""Where tests may run, and how random they are, said once."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

# CI judges a change, and not the luck of a draw; elsewhere each run looks at other examples.
settings.register_profile("ci", derandomize=True, deadline=None)
if os.environ.get("CI"):
    settings.load_profile("ci")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything under tests/fleet needs real nodes or real sshds, and says so by its marker."""
    for item in items:
        if "/tests/fleet/" in str(item.path):
            item.add_marker("fleet")

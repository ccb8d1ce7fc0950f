"""Where tests may run, said once."""

from __future__ import annotations

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything under tests/fleet needs real nodes or real sshds, and says so by its marker."""
    for item in items:
        if "/tests/fleet/" in str(item.path):
            item.add_marker("fleet")

"""What can go wrong with the fleet, as a sentence for people."""

from __future__ import annotations


class FleetError(Exception):
    """A sentence that says what is missing or wrong, and what to do about it."""

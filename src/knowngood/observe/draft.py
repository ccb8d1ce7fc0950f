"""A Seen while it is being filled, one setting at a time."""

from __future__ import annotations

from collections.abc import Iterable

from knowngood.model import Process, Seen, Setting, Unknown, Value


class Draft:
    """Collects each setting's layers and evidence.

    `server` is the process that serves, Unknown with the reason where it can't be told, and None where the
    unit has no process: then no setting has a running layer.
    """

    def __init__(self, server: Process | Unknown | None) -> None:
        self.server = server
        self._disk: dict[Setting, Value] = {}
        self._loaded: dict[Setting, Value] = {}
        self._running: dict[Setting, Value] = {}
        self._notes: dict[Setting, tuple[str, ...]] = {}

    def add(
        self,
        setting: Setting,
        *,
        disk: Value | None = None,
        loaded: Value | None = None,
        running: Value | None = None,
        notes: Iterable[str] = (),
    ) -> None:
        """Enter a setting; a layer left None does not exist for it."""
        for layer, value in ((self._disk, disk), (self._loaded, loaded), (self._running, running)):
            if value is not None:
                layer[setting] = value
        told = tuple(note for note in notes if note)
        if told:
            self._notes[setting] = told

    def seen(self) -> Seen:
        """The finished value."""
        server = None if isinstance(self.server, Unknown) else self.server
        return Seen(self._disk, self._loaded, self._running, self._notes, server)

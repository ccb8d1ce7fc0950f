"""The table of findings: like nodes together, a star where a layer differs from the manifest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from knowngood.report.cells import cut, pad, squeeze, squeeze_alike, width, wrap
from knowngood.report.layout import AFTER_SETTING, INDENT, STAR, TITLES, Columns, columns, gap
from knowngood.report.names import all_hosts, every_host, host_list
from knowngood.report.paint import Span
from knowngood.report.rows import Row

NOTE_INDENT = 6


@dataclass(frozen=True, slots=True)
class Block:
    """Nodes with the same rows."""

    hosts: tuple[str, ...]
    rows: tuple[Row, ...]
    remark: str = ""  # at the right of the names
    server: str = ""  # the process that serves, below the name of a node by itself


class Table:
    """Blocks under one set of columns, for a screen of so many cells."""

    def __init__(self, blocks: Sequence[Block], screen: int, *, verbose: int = 0) -> None:
        rows = [row for block in blocks for row in block.rows]
        self._blocks = blocks
        self._screen = screen
        self._verbose = verbose
        self.columns = columns(rows, screen) if rows else None
        self._names = _squeezed({row.name for row in rows}, self.columns.setting) if self.columns else {}

    def lines(self) -> Iterator[list[Span]]:
        """The table's lines; none for no blocks."""
        if self.columns is not None:
            yield _titles(self.columns)
        for block in self._blocks:
            yield from self._hosts(block)
            if block.server:
                yield from self._note(block.server, "quiet")
            for row in block.rows:
                yield from self._row(row)

    def _hosts(self, block: Block) -> Iterator[list[Span]]:
        remark = (block.remark, "quiet")
        at = self.columns.meaning_at if self.columns is not None and self.columns.meaning else 0
        room = self._screen - (width(block.remark) + 2 if block.remark else 0)
        if at and at + width(block.remark) <= self._screen:
            names = all_hosts(block.hosts, at - AFTER_SETTING, ranges=not self._verbose)
            if names is not None:
                yield [(pad(names, at), "strong"), remark]
                return
        if self._verbose and width(every_host(block.hosts)) > room:
            yield from _paragraph(every_host(block.hosts), 0, self._screen, "strong")
            yield [(" " * INDENT, ""), remark]
            return
        yield [(cut(host_list(block.hosts, room), room), "strong"), ("  ", ""), remark]

    def _row(self, row: Row) -> Iterator[list[Span]]:
        if self.columns is None:
            yield from self._stacked(row)
        else:
            yield from self._in_columns(row, self.columns)
        for note in row.notes:
            if note.whole:
                yield from self._note(note.text, "quiet")
            else:
                yield [(" " * NOTE_INDENT + cut(note.text, self._screen - NOTE_INDENT), "quiet")]

    def _in_columns(self, row: Row, at: Columns) -> Iterator[list[Span]]:
        if row.name not in self._names:
            # Shortened it would look like another setting.
            yield from _paragraph(row.name, INDENT, self._screen)
        name = pad(self._names.get(row.name, ""), at.setting + AFTER_SETTING)
        values, in_full, told_apart = _values(row, at)
        meaning = wrap(row.meaning, at.meaning) if at.meaning else [""]
        yield [(" " * INDENT + name, ""), *values, (meaning[0], "")]
        for line in meaning[1:]:
            yield [(" " * at.meaning_at + line, "")]
        if not at.meaning:
            yield from self._note(row.meaning, "")
        if not told_apart or (self._verbose and not in_full):
            for layer, title in TITLES.items():
                if row.values[layer]:
                    style = "changed" if layer in row.starred else ""
                    yield from self._note(f"{title.lower()}: {row.values[layer]}", style)

    def _note(self, text: str, style: str) -> Iterator[list[Span]]:
        yield from _paragraph(text, NOTE_INDENT, self._screen, style)

    def _stacked(self, row: Row) -> Iterator[list[Span]]:
        """No room for columns: one line a value."""
        yield from _paragraph(row.name, INDENT, self._screen)
        for layer, title in TITLES.items():
            star = layer in row.starred
            if row.values[layer] and (star or layer != "loaded"):
                text = f"{title.lower()} {row.values[layer]}{STAR if star else ''}"
                yield from _paragraph(text, NOTE_INDENT, self._screen, "changed" if star else "")
        yield from _paragraph(row.meaning, NOTE_INDENT, self._screen)


def _paragraph(text: str, indent: int, screen: int, style: str = "") -> Iterator[list[Span]]:
    for line in wrap(text, screen - indent):
        yield [(" " * indent + line, style)]


def _titles(at: Columns) -> list[Span]:
    titles = [pad(TITLES[layer], cells + gap(layer)) for layer, cells in at.values.items()]
    setting = " " * INDENT + pad("SETTING", at.setting + AFTER_SETTING)
    return [(setting + "".join(titles) + ("MEANING" if at.meaning else ""), "quiet")]


def _values(row: Row, at: Columns) -> tuple[list[Span], bool, bool]:
    """The cells of a row's values; whether they hold them in full, and tell unlike ones apart."""
    layers = [*at.values]
    full = [row.values[layer] for layer in layers]
    short, told_apart = squeeze_alike(full, [at.room(layer) for layer in layers])
    spans = []
    for layer, text in zip(layers, short, strict=True):
        star = layer in row.starred and bool(text)
        cell = pad(text + STAR if star else text, at.values[layer] + gap(layer))
        spans.append((cell, "changed" if star else ""))
    return spans, short == full, told_apart


def _squeezed(names: Iterable[str], cells: int) -> dict[str, str]:
    """Each name shortened to its column; without those that would look like another's."""
    short = {name: squeeze(name, cells) for name in names}
    count = Counter(short.values())
    return {name: form for name, form in short.items() if count[form] == 1}

"""Tables and lines of facts that fit any width without cutting a figure."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

Cell = str | Text

_LEAST_NAME = 8  # columns to which the first one may shrink


class Grid:
    """A table without lines. Where it is too wide, columns give way: figures are never cut.

    Parameters
    ----------
    heads : str
        Column headings.
    left : sequence of int
        Columns whose text stands to the left; numbers stand to the right.
    drop : sequence of int
        Columns that may be left out, the first to go first.
    gap : int
        Blanks between columns.
    """

    def __init__(
        self, *heads: str, left: Sequence[int] = (0,), drop: Sequence[int] = (), gap: int = 2
    ) -> None:
        self._heads = heads
        self._left = left
        self._drop = drop
        self._gap = gap
        self._rows: list[tuple[tuple[Text, ...], str]] = []

    def add(self, *cells: Cell, style: str = "") -> None:
        """Add a row; cells that are left out at its end are empty."""
        texts = [cell if isinstance(cell, Text) else Text(cell) for cell in cells]
        texts += [Text()] * (len(self._heads) - len(texts))
        self._rows.append((tuple(texts), style))

    def fit(self, width: int) -> Table:
        """Return the table, at most `width` wide as far as figures allow."""
        kept = list(range(len(self._heads)))
        widths, gap = self._widths(kept), self._gap
        if _total(widths, gap) > width:
            gap = 1
        going = iter(self._drop)
        while _total(widths, gap) > width:
            column = next(going, None)
            if column is None:
                break
            kept.remove(column)
            widths = self._widths(kept)
        over = _total(widths, gap) - width
        if over > 0:
            widths[0] = max(min(widths[0], _LEAST_NAME), widths[0] - over)
        return self._table(kept, widths, gap)

    def width(self) -> int:
        """Columns the whole table takes."""
        return _total(self._widths(range(len(self._heads))), self._gap)

    def _widths(self, kept: Sequence[int]) -> list[int]:
        return [
            max([len(self._heads[column]), *(cells[column].cell_len for cells, _ in self._rows)])
            for column in kept
        ]

    def _table(self, kept: Sequence[int], widths: Sequence[int], gap: int) -> Table:
        headed = any(self._heads)
        table = Table(
            box=None, padding=(0, gap, 0, 0), header_style="bright_black", pad_edge=False, show_header=headed
        )
        for column, width in zip(kept, widths, strict=True):
            table.add_column(
                self._heads[column],
                justify="left" if column in self._left else "right",
                no_wrap=True,
                width=width,
            )
        for cells, style in self._rows:
            table.add_row(*(cells[column] for column in kept), style=style)
        return table


def _total(widths: Sequence[int], gap: int) -> int:
    return sum(widths) + gap * (len(widths) - 1)


def facts(width: int, *pairs: tuple[str, Cell]) -> Text:
    """`name value` pairs, as many a line as fit."""
    lines = [Text()]
    for name, value in pairs:
        pair = Text.assemble((name + " ", "bright_black") if name else "", value)
        if len(lines[-1]) and lines[-1].cell_len + 3 + pair.cell_len > width:
            lines.append(Text())
        if len(lines[-1]):
            lines[-1].append("   ")
        lines[-1].append_text(pair)
    return Text("\n").join(lines)


def title(name: str, what: str) -> RenderableType:
    """The heading of a section."""
    text = Text.assemble((name, "bold"), ("  " + what, "bright_black"))
    return Padding(Rule(text, align="left", style="bright_black"), (1, 0, 0, 0))


def indented(part: RenderableType) -> RenderableType:
    """The part, two columns to the right."""
    return Padding(part, (0, 0, 0, 2))


def share_cells(parts: Sequence[int], width: int) -> list[int]:
    """Share out the cells of a bar by size; what is there at all gets one."""
    if sum(parts) == 0:
        return [0] * len(parts)
    cells = [max(1, round(width * part / sum(parts))) if part else 0 for part in parts]
    largest = cells.index(max(cells))
    cells[largest] = max(1, cells[largest] + width - sum(cells))
    return cells

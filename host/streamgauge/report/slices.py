"""The slices: all time as one bar, the result matrix, categories by label."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from streamgauge import formats
from streamgauge.outcome import Outcome
from streamgauge.slices import COLUMNS, Slices

from .grid import Cell, Grid, facts, indented, share_cells

CATEGORIES = {  # in the order of the bar: letter, word, style
    "correct": ("C", "correct", "black on green"),
    "S": ("S", "substitution", "black on magenta"),
    "D": ("D", "deletion", "white on red"),
    "U": ("U", "underfill", "black on bright_red"),
    "F": ("F", "fragmentation", "black on yellow"),
    "I": ("I", "insertion", "white on blue"),
    "O": ("O", "overfill", "black on bright_blue"),
    "M": ("M", "merge", "black on cyan"),
}
_ROWS = {"ground": "ground truth", "inferred": "inferred", "average": "average"}


def slices_section(outcome: Outcome, width: int, brief: bool) -> Iterator[RenderableType]:
    """The section's parts."""
    slices = outcome.assessment.slices
    task = outcome.assessment.recording.task
    means = "means" if slices.weights is None else "weighted means"
    null = "included" if slices.include_null else "left out"
    yield facts(
        width,
        ("accuracy", Text(formats.score(slices.accuracy), "bold")),
        ("precision", formats.score(slices.precision)),
        ("recall", formats.score(slices.recall)),
        ("F1", Text(formats.score(slices.f1), "bold")),
        ("", Text(f"({means} over labels, {task.labels[0]} {null})", "bright_black")),
    )
    yield Text()
    if slices.known:
        yield indented(_bar(slices, width - 4))
        yield Text()
        yield indented(_legend(slices, task.tick_seconds, width - 2))
        yield Text()
    yield indented(_matrix(slices, width - 2))
    if not brief:
        yield Text()
        yield indented(_by_label(slices, task.labels, task.tick_seconds, width - 2))


def _bar(slices: Slices, width: int) -> Text:
    """All known time; every category that there is has a cell."""
    totals = slices.totals
    bar = Text()
    for name, cells in zip(
        CATEGORIES, share_cells([totals[name] for name in CATEGORIES], width), strict=True
    ):
        letter, _, style = CATEGORIES[name]
        bar.append(letter * cells, style)
    return bar


def _legend(slices: Slices, tick: float | None, width: int) -> Table:
    grid = Grid(*[""] * 8, left=(0, 1, 4, 5), drop=(7, 3))
    entries = [_entry(slices, name, tick) for name in CATEGORIES]
    for left, right in zip(entries[:4], entries[4:], strict=True):
        grid.add(*left, *right)
    return grid.fit(width)


def _entry(slices: Slices, name: str, tick: float | None) -> list[Cell]:
    letter, word, style = CATEGORIES[name]
    ticks = slices.totals[name]
    share = f"{formats.percent(ticks / slices.known)} %" if ticks else "0 %"
    return [Text(f" {letter} ", style), word, Text(share, "bold"), formats.duration(ticks, tick)]


def _matrix(slices: Slices, width: int) -> Table:
    grid = Grid("per cent of", *(name.capitalize() for name in COLUMNS))
    for row, values in slices.matrix.items():
        shares = (formats.percent(values[name]) for name in COLUMNS)
        grid.add(_ROWS[row], *shares, style="bold" if row == "average" else "")
    return grid.fit(width)


def _by_label(slices: Slices, names: tuple[str, ...], tick: float | None, width: int) -> Table:
    """Time in the truth and of it S, D, U, F; predicted time and of it S, I, O, M; in per cent."""
    grid = Grid(
        *("label", "true", "S", "D", "U", "F", "inferred", "S", "I", "O", "M", "prec.", "recall", "F1"),
        drop=(12, 11, 6, 1, 13),
    )
    for name, row in zip(names, slices.per_label, strict=True):
        ground, inferred = row["ground"] or 0, row["inferred"] or 0
        grid.add(
            name,
            formats.duration(ground, tick) if ground else "-",
            *(_part(row[key], ground) for key in ("S_ground", "D", "U", "F")),
            formats.duration(inferred, tick) if inferred else "-",
            *(_part(row[key], inferred) for key in ("S_inferred", "I", "O", "M")),
            *(formats.score(row[key]) for key in ("precision", "recall", "f1")),
        )
    return grid.fit(width)


def _part(ticks: float | None, whole: float) -> str:
    return formats.percent((ticks or 0) / whole) if whole else "-"

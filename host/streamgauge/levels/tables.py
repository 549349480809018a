"""The figures of two hierarchies as tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rich.console import RenderableType
from rich.text import Text

from .. import formats
from ..report.grid import Grid, facts, indented, title
from .figures import LevelFigures


def time_text(ticks: float | None, found: LevelFigures) -> str:
    """A length of time as people write it."""
    tick = found.levels.tick
    if tick is None and ticks is not None:
        return f"{formats.number(ticks)} ticks"
    return formats.duration(ticks, None if tick is None else float(tick))


def heading(found: LevelFigures) -> tuple[str, str]:
    """The section's name, and what it is about."""
    window = found.settings.window
    around = "the whole span" if window is None else f"± {time_text(window, found)}"
    return "Hierarchy", f"which frames belong together, GAUC, {around}"


def hierarchy_section(found: LevelFigures, width: int, brief: bool) -> Iterator[RenderableType]:
    """The section of a report that has others too.

    Parameters
    ----------
    found : LevelFigures
    width : int
        Columns there are.
    brief : bool
        Without the tables by level.
    """
    yield title(*heading(found))
    levels = found.levels
    files = (("truth", levels.truth_files), ("prediction", levels.prediction_files))
    yield facts(
        width,
        *((side, " / ".join(Path(file).name for file in named)) for side, named in files),
        ("frame", time_text(found.settings.frame, found)),
        ("frames", formats.count(found.full.frames)),
        ("gaps", "yes" if levels.gaps else "no"),
    )
    yield Text()
    yield from measures(found, width)
    if not brief:
        yield Text()
        yield from boundaries(found, width)


def measures(found: LevelFigures, width: int) -> Iterator[RenderableType]:
    """T-measures and L-measure."""
    grid = Grid("", "precision", "recall", "F", "frames scored", "pairs", left=(0,), drop=(5, 4))
    for name, measure in (
        ("T-measure, reduced", found.reduced),
        ("T-measure, full", found.full),
        ("T-measure, own gain", found.gained),
        ("L-measure (no window)", found.labels),
    ):
        if measure is not None:
            grid.add(
                name,
                f"{measure.precision:.4f}",
                f"{measure.recall:.4f}",
                Text(f"{measure.f:.4f}", "bold"),
                formats.count(measure.of_truth.queries),
                formats.count(measure.of_truth.pairs),
            )
    yield indented(grid.fit(width - 2))


def boundaries(found: LevelFigures, width: int) -> Iterator[RenderableType]:
    """Boundaries, deviations and flat AUC, level by level."""
    grid = Grid("levels", "within", "precision", "recall", "F", "hits", "true", "predicted", left=(0,))
    for pair in found.pairs:
        for hit in pair.detections:
            grid.add(
                f"{pair.truth} and {pair.prediction}",
                time_text(hit.tolerance, found),
                f"{hit.precision:.4f}",
                f"{hit.recall:.4f}",
                Text(f"{hit.f:.4f}", "bold"),
                *map(formats.count, (hit.hits, hit.truth, hit.prediction)),
            )
    yield indented(grid.fit(width - 2))
    yield Text()
    grid = Grid("levels", "flat AUC F", "median to prediction", "median to truth", left=(0,))
    for pair in found.pairs:
        grid.add(
            f"{pair.truth} and {pair.prediction}",
            f"{pair.auc.f:.4f}",
            time_text(pair.deviation.truth_to_prediction, found),
            time_text(pair.deviation.prediction_to_truth, found),
        )
    yield indented(grid.fit(width - 2))

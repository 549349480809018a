"""The report of snapshots: whose they are, then the figures as `streamgauge assess` prints them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from .. import formats, jsonreport
from ..assess import Assessment
from ..outcome import Outcome
from ..profile import Profile
from ..report import figures as figure_sections
from ..report.grid import Cell, Grid, facts, indented
from .figures import TIME, Figures, latest
from .file import Snapshot


def outcome_of(assessment: Assessment, notes: Sequence[str]) -> Outcome:
    """Return what the report's sections take."""
    return Outcome(
        truth="",
        prediction="",
        profile=Profile({"name": "snapshot"}),
        assessment=assessment,
        notes=tuple(notes),
    )


def sections(
    outcome: Outcome, snapshots: Sequence[Snapshot], figures: Figures, width: int, brief: bool
) -> Iterator[RenderableType]:
    """The whole report."""
    yield from _heading(outcome, snapshots, figures, width)
    yield from figure_sections(outcome, width, brief)


def document(outcome: Outcome, snapshots: Sequence[Snapshot], figures: Figures) -> dict[str, Any]:
    """Return the report as `jsonreport` has it, with the snapshots and the whole numbers behind it."""
    return {
        **jsonreport.document(outcome),
        "snapshots": [
            {
                "source": snapshot.source,
                "layout": f"{snapshot.layout:08X}",
                "sequence": snapshot.sequence,
                "boots": snapshot.boots,
                "epoch": snapshot.epoch,
                "now": snapshot.now,
            }
            for snapshot in snapshots
        ],
        "raw": figures.raw,
    }


def _heading(
    outcome: Outcome, snapshots: Sequence[Snapshot], figures: Figures, width: int
) -> Iterator[RenderableType]:
    task, times = outcome.assessment.recording.task, figures.raw["join"]
    tick = task.tick_seconds
    many = len(snapshots) > 1
    yield Text.assemble(
        ("streamgauge  ", "bold cyan"),
        (f"{len(snapshots)} nodes together" if many else snapshots[0].source, "bold"),
    )
    named = len(task.labels) - 1
    clock: list[tuple[str, Cell]] = [("", f"{named} label{'s' * (named != 1)} and {task.labels[0]}")]
    if tick is not None:
        clock += [("tick", formats.duration(1, tick)), ("slice", formats.duration(task.slice_ticks, tick))]
    else:
        clock += [("slice", f"{formats.count(task.slice_ticks)} ticks")]
    clock += [(name, formats.duration(times[name], tick)) for name in ("assessed", "unknown", "unassessed")]
    yield facts(width, *clock)
    rejected = ", ".join(f"{name} {formats.count(n)}" for name, n in figures.raw["counters"].items() if n)
    yield facts(width, ("rejected input", Text(rejected, "yellow") if rejected else "none"))
    for note in outcome.notes:
        yield Text(f"note: {note}", "yellow")
    yield Text()
    yield indented(_nodes(snapshots, figures, tick, width - 2))


def _nodes(snapshots: Sequence[Snapshot], figures: Figures, tick: float | None, width: int) -> RenderableType:
    grid = Grid("snapshot", "save", "boots", "recording", "config", "behind", drop=(4, 2))
    terms = [term for part in figures.faded.values() for term in part]
    end = latest(terms)
    for snapshot in snapshots:
        behind = "-"
        if snapshot.now is not None and end >= 0:
            behind = formats.duration((end - snapshot.now) % TIME, tick)
        grid.add(
            snapshot.source,
            formats.count(snapshot.sequence),
            formats.count(snapshot.boots),
            str(snapshot.epoch),
            f"{snapshot.layout:08X}",
            behind,
        )
    return grid.fit(width)

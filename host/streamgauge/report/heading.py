"""What was assessed: the recording's facts, and what happened while it was read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rich.text import Text

from streamgauge import formats
from streamgauge.outcome import Outcome

from .grid import Cell, facts

_SKIPPED_SHOWN = 3


def heading(outcome: Outcome, width: int) -> Iterator[Text]:
    """The heading's lines."""
    recording = outcome.assessment.recording
    notes = recording.notes
    yield Text.assemble(
        ("streamgauge  ", "bold cyan"),
        (Path(outcome.prediction).name, "bold"),
        " against the truth ",
        (Path(outcome.truth).name, "bold"),
    )
    yield facts(width, *_clock(outcome))
    yield facts(
        width,
        *_time(outcome),
        ("flattened rows", f"{notes.flattened_truth:,} / {notes.flattened_prediction:,}"),
        ("skipped", formats.count(notes.skipped)),
        ("rounded times", formats.count(notes.rounded_times)),
    )
    for line in notes.skipped_rows[:_SKIPPED_SHOWN]:
        yield Text(f"skipped: {line}", "yellow")
    if len(notes.skipped_rows) > _SKIPPED_SHOWN:
        yield Text(f"and {formats.count(notes.skipped - _SKIPPED_SHOWN)} more", "yellow")
    for line in (*notes.warnings, *outcome.notes):
        yield Text(f"note: {line}", "yellow")


def _clock(outcome: Outcome) -> Iterator[tuple[str, Cell]]:
    recording = outcome.assessment.recording
    task = recording.task
    ticks = recording.span[1] - recording.span[0]
    if task.tick_seconds is not None:
        yield "", formats.long_time(ticks * task.tick_seconds)
        yield "tick", formats.duration(1, task.tick_seconds)
        yield "slice", formats.duration(task.slice_ticks, task.tick_seconds)
        yield "ticks", formats.count(ticks)
    else:
        yield "", f"{formats.count(ticks)} ticks"
        if task.slice_ticks > 1:
            yield "slice", f"{formats.count(task.slice_ticks)} ticks"
    named = len(task.labels) - 1
    yield "", f"{named} label{'s' * (named != 1)} and {task.labels[0]}"
    if task.origin:
        yield "from", task.origin.replace("T", " ")
    if task.closed:
        yield "", "closed segments"


def _time(outcome: Outcome) -> Iterator[tuple[str, Cell]]:
    slices = outcome.assessment.slices
    total = slices.known + slices.unknown
    yield "known", _share(slices.known, total)
    yield "unknown", _share(slices.unknown, total)
    if outcome.node is not None:
        yield "unassessed", _share(outcome.node.raw["join"]["unassessed"], total)


def _share(part: int, whole: int) -> str:
    return f"{formats.percent(part / whole)} %" if part else "0"

"""Two sides of one recording: one set of labels, one clock, one span."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from streamgauge.reading.options import Notes, ReadOptions
from streamgauge.reading.times import Clock
from streamgauge.segments import (
    NULL,
    UNKNOWN,
    Segments,
    clip,
    fill_gaps,
    flatten,
    flatten_nested,
    own_time,
    settle_unknown,
)
from streamgauge.task import Task


@dataclass(frozen=True)
class Timeline:
    """What ticks mean, for files that are to be read on the clock of others.

    Attributes
    ----------
    clock : Clock or None
        How the files write times; None where they write none (one label a row).
    tick : Fraction or None
        Length of a tick in seconds, where it is known.
    origin : int
        The time of tick 0, in units of the clock.
    """

    clock: Clock | None
    tick: Fraction | None
    origin: int = 0


@dataclass(frozen=True)
class Recording:
    """A truth and a prediction over one span.

    Attributes
    ----------
    task : Task
    truth, prediction : Segments
        Without overlaps, gaps filled over the span; time of the truth that nobody labelled is 255 (UNKNOWN).
        Touching segments of one label stay apart as the rows were. Slices and the prequential record read
        these.
    truth_raw, prediction_raw : Segments
        What the alignment reads: legal sequences, gaps filled. They differ from the above where partial
        overlaps are kept, and where closed rows share an instant.
    span : (int, int)
        First tick and end of the assessed time.
    notes : Notes
    timeline : Timeline or None
        None where it comes from no files.
    """

    task: Task
    truth: Segments
    prediction: Segments
    truth_raw: Segments
    prediction_raw: Segments
    span: tuple[int, int]
    notes: Notes
    timeline: Timeline | None = None


def assemble(
    task: Task,
    truth: Segments,
    prediction: Segments,
    span: tuple[int, int] | None,
    options: ReadOptions,
    notes: Notes,
    timeline: Timeline | None = None,
) -> Recording:
    """Flatten both sides, clip them to the span and fill their gaps.

    Parameters
    ----------
    task : Task
    truth, prediction : Segments
        Ordered by start; the prediction may be empty.
    span : (int, int) or None
        None: from the earliest start to the latest end.
    options : ReadOptions
        What becomes of overlaps.
    notes : Notes
        Is told what was flattened.
    timeline : Timeline, optional
    """
    own = [(int(side.start[0]), int(side.end.max())) for side in (truth, prediction) if len(side)]
    if len(own) == 2 and (own[0][1] <= own[1][0] or own[1][1] <= own[0][0]):
        notes.warnings.append(
            "truth and prediction share no time: "
            f"ticks {own[0][0]} to {own[0][1]} and {own[1][0]} to {own[1][1]}; "
            "do both count from the same moment?"
        )
    whole = (min(a for a, _ in own), max(b for _, b in own))
    if span is None:
        span = whole
    elif span[0] >= whole[1] or span[1] <= whole[0]:
        notes.warnings.append(f"the span, ticks {span[0]} to {span[1]}, holds no segment of either file")
    gap = UNKNOWN if task.gaps_unknown else NULL
    filled, counts = [], []
    for side, label in ((truth, gap), (prediction, NULL)):
        flat, count = flatten(side)
        raw = flat
        if options.overlaps == "keep" or task.closed:
            raw, count = flatten_nested(side) if options.overlaps == "keep" else flatten(side, touch=1)
            raw = settle_unknown(raw)
            # Not what the rows alone say: both have to tell the same story where segments start together.
            flat = own_time(raw)
        counts.append(count)
        filled += [fill_gaps(clip(part, *span), span, label) for part in (flat, raw)]
    notes.flattened_truth, notes.flattened_prediction = counts
    return Recording(task, filled[0], filled[2], filled[1], filled[3], span, notes, timeline)

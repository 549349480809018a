"""A recording as records, one a slice: what the estimators of single records read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..reading.recording import Recording
from ..segments import NULL, UNKNOWN, Segments

Labels = npt.NDArray[np.uint8]

# A byte a record and side; beyond, the figures of single records are left out rather than the memory filled.
MOST_RECORDS = 50_000_000


@dataclass(frozen=True, eq=False)
class Records:
    """Labels at the first tick of every slice.

    Attributes
    ----------
    truth, prediction : ndarray of uint8, shape (n,)
        Label ids; 255 in the truth is UNKNOWN.
    begin, ticks : int
        Tick of the first record, and from one to the next.
    """

    truth: Labels
    prediction: Labels
    begin: int
    ticks: int

    @property
    def known(self) -> npt.NDArray[np.bool_]:
        """Which records have truth."""
        return np.asarray(self.truth != UNKNOWN)

    def tick(self, record: int) -> int:
        """The first tick of the `record`-th record with truth, from 0."""
        return self.begin + int(np.flatnonzero(self.known)[record]) * self.ticks


def labels_at(segments: Segments, begin: int, count: int, ticks: int) -> Labels:
    """Return the label at ticks ``begin, begin + ticks, ...``; NULL where no segment is.

    Parameters
    ----------
    segments : Segments
        In order, without overlaps.
    begin, count, ticks : int
        First tick, number of slices, ticks of a slice.
    """
    if len(segments) == 0:
        return np.full(count, NULL, dtype=np.uint8)
    times = begin + ticks * np.arange(count, dtype=np.int64)
    at = np.searchsorted(segments.start, times, side="right") - 1
    held = (at >= 0) & (times < segments.end[at])
    return np.where(held, segments.label[at], NULL).astype(np.uint8)


def records_of(recording: Recording) -> Records | None:
    """Return the records of a recording; None where there are more than `MOST_RECORDS`.

    A last slice that is cut short counts, as in the prequential error.
    """
    begin, end = recording.span
    ticks = recording.task.slice_ticks
    count = -(-(end - begin) // ticks)
    if count > MOST_RECORDS:
        return None
    sides = (recording.truth, recording.prediction)
    truth, prediction = (labels_at(side, begin, count, ticks) for side in sides)
    return Records(truth, prediction, begin, ticks)

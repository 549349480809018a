"""What a node can still assess when truth comes late: the host's model of the node's two rings.

A node keeps what one side was told beyond the other side's in a ring of so many segments. The time before
both sides' ends is *joined*: assessed, once, in order. One segment more than the ring holds drives out the
oldest of its side, and the time from the join up to that segment's end is *unassessed*, because nobody can
compare it any more. A gap before a segment is a segment of its own.

So the figures of a node told late are those of a truth that is UNKNOWN where time was unassessed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from .segments import NULL, UNKNOWN, Row, Segments, fill_gaps

TRUTH, PREDICTION = 0, 1


@dataclass(frozen=True)
class Late:
    """A recording as a node could assess it.

    Attributes
    ----------
    truth, prediction : Segments
        Without gaps over the span; the truth is UNKNOWN where nothing could be assessed.
    span : (int, int)
        From the first to the last tick that was told of.
    unassessed : list of (int, int)
        The times lost, in order.
    rejected : int
        Segments that begin before the end of the one before them, or before the recording does.
    """

    truth: Segments
    prediction: Segments
    span: tuple[int, int]
    unassessed: list[tuple[int, int]]
    rejected: int

    @property
    def unassessed_ticks(self) -> int:
        """Ticks lost."""
        return sum(end - start for start, end in self.unassessed)


def arrivals(truth: Segments, prediction: Segments, delay: int | None) -> list[tuple[int, int]]:
    """Return the order in which segments are told when each is told at its end and truth `delay` ticks later.

    Parameters
    ----------
    delay : int or None
        None: the truth never comes.

    Returns
    -------
    list of (side, index)
        Side 0 truth, 1 prediction. What comes at one time: truth first.
    """
    events = [(int(end), PREDICTION, index) for index, end in enumerate(prediction.end)]
    if delay is not None:
        events += [(int(end) + delay, TRUTH, index) for index, end in enumerate(truth.end)]
    return [(side, index) for _, side, index in sorted(events)]


def apply_ring(
    truth: Segments,
    prediction: Segments,
    order: Iterable[tuple[int, int]],
    capacity: int,
    *,
    gap: int = NULL,
) -> Late:
    """Return what a node with rings of `capacity` segments a side can assess, told in this order.

    Parameters
    ----------
    truth, prediction : Segments
        Without overlaps, ordered by time.
    order : iterable of (side, index)
        What is told and when, each side in the order of time; what is missing is never told. The recording
        ends after the last. Of a side first heard of after a loss, what begins before the recording is
        rejected.
    capacity : int
        The node's `runs`.
    gap : int
        What the truth is where it is not told: NULL, or UNKNOWN for `gaps_unknown`.
    """
    rings = _Rings(capacity)
    sources = (truth, prediction)
    for which, index in order:
        source = sources[which]
        rings.tell(which, (int(source.label[index]), int(source.start[index]), int(source.end[index])))
    if rings.begun is None:
        return Late(Segments.empty(), Segments.empty(), (0, 0), [], 0)
    span = (rings.begun, max(end for rows in rings.rows for _, _, end in rows))
    told = fill_gaps(Segments.from_rows(rings.rows[TRUTH]), span, gap)
    return Late(
        _without(told, rings.lost),
        fill_gaps(Segments.from_rows(rings.rows[PREDICTION]), span),
        span,
        rings.lost,
        rings.rejected,
    )


class _Rings:
    """Both sides' segments on their way into the join.

    rows: what each side was told; lost: times that cannot be assessed, joined where they touch.
    """

    def __init__(self, capacity: int) -> None:
        self.rows: tuple[list[Row], list[Row]] = ([], [])
        self.lost: list[tuple[int, int]] = []
        self.rejected = 0
        self.begun: int | None = None
        self._capacity = capacity
        self._joined = 0
        self._told: list[int | None] = [None, None]
        self._waiting: tuple[deque[int], deque[int]] = (deque(), deque())  # ends

    def tell(self, which: int, row: Row) -> None:
        """One segment more."""
        _, start, end = row
        told = self._told[which]
        if told is None:
            told = self._begin(start)
        if start < told:
            self.rejected += 1
            return
        self.rows[which].append(row)
        for edge in [start, end] if start > told else [end]:
            if len(self._waiting[which]) == self._capacity:
                self._lose(self._waiting[which].popleft())
            self._waiting[which].append(edge)
        self._told[which] = end
        self._join()

    def _begin(self, start: int) -> int:
        # The recording begins with whichever side begins first, as long as nothing of it is settled.
        if self.begun is None or (start < self.begun and not self.lost):
            self.begun = self._joined = start
        return self.begun if self.lost else start

    def _lose(self, until: int) -> None:
        if self.lost and self.lost[-1][1] == self._joined:
            self.lost[-1] = (self.lost[-1][0], until)
        else:
            self.lost.append((self._joined, until))
        self._joined = until

    def _join(self) -> None:
        first, second = self._told
        if first is not None and second is not None:
            self._joined = max(self._joined, min(first, second))
        for waiting in self._waiting:
            while waiting and waiting[0] <= self._joined:
                waiting.popleft()


def _without(segs: Segments, lost: list[tuple[int, int]]) -> Segments:
    """Make the given times UNKNOWN, cutting the segments that reach into them."""
    edges = np.unique(np.array([edge for pair in lost for edge in pair], dtype=np.int64))
    rows: list[Row] = []
    for label, start, end in segs:
        inside = edges[(edges > start) & (edges < end)].tolist()
        bounds = [start, *inside, end]
        rows += [(label, a, b) for a, b in pairwise(bounds)]
    cut = Segments.from_rows(rows)
    starts = np.array([start for start, _ in lost], dtype=np.int64)
    ends = np.array([end for _, end in lost], dtype=np.int64)
    at = np.searchsorted(starts, cut.start, side="right") - 1
    gone = (at >= 0) & (cut.start < ends[np.maximum(at, 0)]) if len(lost) else np.zeros(len(cut), bool)
    return Segments(np.where(gone, UNKNOWN, cut.label), cut.start, cut.end)

"""Sequences of labelled segments in integer ticks, and the operations everything else is built on.

A segment is ``(label, start, end)``, half-open ``[start, end)`` with ``end > start``. A *legal* sequence has
non-decreasing starts and non-decreasing ends; its segments may touch, leave gaps, or partially overlap. Label
0 is NULL; 255 is UNKNOWN, time for which nobody gave a truth.

`flatten` makes any sequence ordered by start one that has at most one label a tick, `own_time` does so as a
stream must; `fill_gaps` makes it cover its span; `runs` joins what only a file's rows keep apart;
`clip_to_known` cuts two sequences at UNKNOWN time.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

NULL = 0
UNKNOWN = 255

Row = tuple[int, int, int]


@dataclass(frozen=True, eq=False)
class Segments:
    """A sequence of segments, as three arrays of one length.

    Attributes
    ----------
    label : np.ndarray, shape=(n,), int16
        Label ids.
    start, end : np.ndarray, shape=(n,), int64
        Half-open bounds in ticks.
    """

    label: npt.NDArray[np.int16]
    start: npt.NDArray[np.int64]
    end: npt.NDArray[np.int64]

    def __post_init__(self) -> None:
        for name, dtype in (("label", np.int16), ("start", np.int64), ("end", np.int64)):
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=dtype))
        if not len(self.label) == len(self.start) == len(self.end):
            raise ValueError("label, start and end differ in length")

    def __len__(self) -> int:
        return len(self.label)

    def __iter__(self) -> Iterator[Row]:
        return iter(zip(self.label.tolist(), self.start.tolist(), self.end.tolist(), strict=True))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Segments):
            return NotImplemented
        return (
            np.array_equal(self.label, other.label)
            and np.array_equal(self.start, other.start)
            and np.array_equal(self.end, other.end)
        )

    __hash__ = None  # type: ignore[assignment]  # equal by content, and the arrays are mutable

    def __repr__(self) -> str:
        shown = ", ".join(str(row) for _, row in zip(range(8), self, strict=False))
        return f"Segments({len(self)}: {shown}{', ...' if len(self) > 8 else ''})"

    def take(self, index: npt.NDArray[np.intp] | npt.NDArray[np.bool_] | slice) -> Segments:
        """Return the segments that a numpy index selects."""
        return Segments(self.label[index], self.start[index], self.end[index])

    @classmethod
    def empty(cls) -> Segments:
        """Return a sequence without segments."""
        return cls(np.empty(0, np.int16), np.empty(0, np.int64), np.empty(0, np.int64))

    @classmethod
    def from_rows(cls, rows: Iterable[Row]) -> Segments:
        """Return the segments given as ``(label, start, end)`` tuples, in that order."""
        table = np.array(list(rows), dtype=np.int64).reshape(-1, 3)
        return cls(table[:, 0].astype(np.int16), table[:, 1], table[:, 2])

    @classmethod
    def from_labels(cls, labels: npt.ArrayLike, slice_ticks: int = 1, start: int = 0) -> Segments:
        """Return the runs of equal label in a series with one label a slice.

        Parameters
        ----------
        labels : array-like, shape=(n,)
            Label id of each slice.
        slice_ticks : int
            Length of a slice in ticks.
        start : int
            Tick at which the first slice begins.
        """
        series = np.asarray(labels)
        if len(series) == 0:
            return cls.empty()
        first = np.flatnonzero(np.concatenate(([True], series[1:] != series[:-1])))
        bounds = np.append(first, len(series)).astype(np.int64) * slice_ticks + start
        return cls(series[first], bounds[:-1], bounds[1:])


def concatenate(parts: Iterable[Segments]) -> Segments:
    """Return the segments of all parts, one part after the other."""
    listed = list(parts)
    if not listed:
        return Segments.empty()
    return Segments(
        np.concatenate([part.label for part in listed]),
        np.concatenate([part.start for part in listed]),
        np.concatenate([part.end for part in listed]),
    )


def order(segs: Segments) -> Segments:
    """Return the segments sorted by start, then end; rows equal in both keep their order."""
    return segs.take(np.lexsort((segs.end, segs.start)))


def fill_gaps(segs: Segments, span: tuple[int, int], label: int = NULL) -> Segments:
    """Return the sequence with segments of `label` wherever nothing covers the span.

    Parameters
    ----------
    segs : Segments
        Ordered by start; overlaps are allowed.
    span : (int, int)
        First tick and end of the assessed time. Segments outside it are left as they are (see `clip`).
    label : int
        NULL, or UNKNOWN for a truth whose gaps nobody labelled.
    """
    begin, stop = span
    covered = np.maximum.accumulate(
        np.concatenate(([begin], segs.end))
    )  # covered up to here before segment i
    until = np.append(segs.start, stop)
    gap = np.flatnonzero(until > covered)
    return Segments(
        np.insert(segs.label, gap, np.full(len(gap), label, dtype=np.int16)),
        np.insert(segs.start, gap, covered[gap]),
        np.insert(segs.end, gap, until[gap]),
    )


def clip(segs: Segments, begin: int, stop: int) -> Segments:
    """Return the parts of a legal sequence that lie inside ``[begin, stop)``."""
    first = int(np.searchsorted(segs.end, begin, side="right"))
    last = int(np.searchsorted(segs.start, stop, side="left"))
    part = slice(first, max(first, last))
    return Segments(segs.label[part], np.maximum(segs.start[part], begin), np.minimum(segs.end[part], stop))


def clip_to_known(truth: Segments, other: Segments) -> list[tuple[Segments, Segments]]:
    """Cut two legal sequences at UNKNOWN time, which is a hard edge like the start or end of the recording.

    Parameters
    ----------
    truth : Segments
        Covers the span (see `fill_gaps`); label 255 is UNKNOWN.
    other : Segments
        The prediction, over the same span.

    Returns
    -------
    blocks : list of (Segments, Segments)
        For each stretch of known time, in order: truth and prediction inside it. Segments reaching out of a
        block are clipped, and each part stands as a segment of its own. Without UNKNOWN time there is one
        block.
    """
    if len(truth) == 0:
        return []
    begin, stop = int(truth.start[0]), int(truth.end[-1])
    unknown = truth.label == UNKNOWN
    if not unknown.any():
        return [(truth, clip(other, begin, stop))]
    known = truth.take(~unknown)
    holes = truth.take(unknown)
    edges_in = np.maximum.accumulate(np.concatenate(([begin], holes.end)))
    edges_out = np.append(holes.start, stop)
    blocks = []
    for a, b in zip(edges_in.tolist(), edges_out.tolist(), strict=True):
        if a < b:
            blocks.append((clip(known, a, b), clip(other, a, b)))
    return blocks


def runs(segs: Segments) -> Segments:
    """Join touching segments of one label; what is left are maximal runs of equal label, as slices see them.

    The sequence may not overlap (see `flatten`).
    """
    if len(segs) == 0:
        return segs
    new = np.concatenate(([True], (segs.label[1:] != segs.label[:-1]) | (segs.start[1:] != segs.end[:-1])))
    first = np.flatnonzero(new)
    last = np.append(first[1:], len(segs)) - 1
    return Segments(segs.label[first], segs.start[first], segs.end[last])


def flatten(segs: Segments, *, touch: int = 0) -> tuple[Segments, int]:
    """Return a sequence with at most one label a tick, and how many segments began inside an earlier one.

    Where segments overlap, the one that starts later has the time; the earlier one resumes after a nested
    one. Of two that start together the shorter lies inside the longer; of two with equal bounds the later row
    has the time.

    Parameters
    ----------
    segs : Segments
        Ordered by start.
    touch : int
        Overlaps of up to this many ticks are left alone: 1 keeps closed segments that share one instant.

    Returns
    -------
    flat : Segments
    flattened : int
        Segments that began while an earlier one still ran (by more than `touch`).
    """
    return _resolve(segs, touch, _flat_rows)


def flatten_nested(segs: Segments) -> tuple[Segments, int]:
    """Return a legal sequence that keeps partial overlaps, and how many segments were nested.

    A segment strictly inside an earlier one interrupts all that run; what it interrupted resumes as in
    `flatten`: where nothing that started later runs. A sequence without nested segments is returned as it is,
    sorted.
    """
    segs = order(segs)
    if len(segs) == 0:
        return segs, 0
    nested = segs.end < np.maximum.accumulate(segs.end)
    if not nested.any():
        return segs, 0
    flat, _ = _resolve(segs, 0, _legal_rows)
    return flat, int(nested.sum())


def own_time(segs: Segments) -> Segments:
    """Return the time that each segment of a legal sequence has to itself: until the next one starts.

    What a stream can know of overlaps, and what `flatten` returns, except for segments that start together:
    here the later one has the time. A segment without time of its own is left out.
    """
    end = segs.end.copy()
    end[:-1] = np.minimum(end[:-1], segs.start[1:])
    return Segments(segs.label, segs.start, end).take(end > segs.start)


def settle_unknown(segs: Segments) -> Segments:
    """Return a legal sequence in which nothing overlaps UNKNOWN time, which is only where nothing later runs.

    A segment that runs into an UNKNOWN one ends where that begins, an UNKNOWN one where the next starts.
    """
    unknown = segs.label == UNKNOWN
    if not unknown.any():
        return segs
    own = segs.end.copy()
    own[:-1] = np.minimum(own[:-1], segs.start[1:])
    edge = np.where(unknown & (own > segs.start), segs.start, np.iinfo(np.int64).max)
    edge = np.append(np.minimum.accumulate(edge[::-1])[::-1][1:], np.iinfo(np.int64).max)
    end = np.minimum(np.where(unknown, own, segs.end), edge)
    return Segments(segs.label, segs.start, end).take(end > segs.start)


def _resolve(segs: Segments, touch: int, rows_of: Callable[[list[Row]], list[Row]]) -> tuple[Segments, int]:
    """Apply `rows_of` to each group of overlapping segments; all others pass through untouched."""
    segs = order(segs)
    if len(segs) < 2:
        return segs, 0
    reach = np.maximum.accumulate(segs.end)[:-1]
    inside = np.concatenate(([False], segs.start[1:] < reach - touch))
    if not inside.any():
        return segs, 0
    member = inside.copy()
    member[:-1] |= inside[1:]
    index = np.flatnonzero(member)
    listed = list(segs.take(index))
    bounds = np.append(np.flatnonzero(~inside[index]), len(index)).tolist()
    rows = [row for a, b in pairwise(bounds) for row in rows_of(listed[a:b])]
    return order(concatenate([segs.take(~member), Segments.from_rows(rows)])), int(inside.sum())


def _pieces(group: list[Row]) -> tuple[list[Row], list[tuple[int, int, int]]]:
    """Give each tick of an overlapping group to the segment that starts last there.

    Returns
    -------
    ranked : list of Row
        The group from the segment that yields first to the one that yields to none.
    pieces : list of (index into ranked, start, end), ordered by start
    """
    ranked = sorted(group, key=lambda row: (row[1], -row[2]))  # stable: of two equal rows the later one wins
    pieces: list[tuple[int, int, int]] = []
    running: list[int] = []
    now = ranked[0][1]
    for index, (_, start, _) in enumerate([*ranked, (NULL, max(row[2] for row in ranked), 0)]):
        while running and now < start:
            until = min(ranked[running[-1]][2], start)
            if until > now:
                pieces.append((running[-1], now, until))
                now = until
            if now >= ranked[running[-1]][2]:
                running.pop()
        now = start
        running.append(index)
    return ranked, pieces


def _flat_rows(group: list[Row]) -> list[Row]:
    ranked, pieces = _pieces(group)
    return [(ranked[index][0], start, end) for index, start, end in pieces]


def _legal_rows(group: list[Row]) -> list[Row]:
    reach = 0
    interruptions = []  # starts of nested segments, ascending
    for _, start, end in group:
        if end < reach:
            interruptions.append(start)
        reach = max(reach, end)
    ranked, pieces = _pieces(group)
    cuts = []
    rows = []
    for label, start, end in ranked:
        following = bisect_right(interruptions, start)
        cut = min(end, interruptions[following]) if following < len(interruptions) else end
        cuts.append(cut)
        rows.append((label, start, cut))
    rows += [(ranked[index][0], start, end) for index, start, end in pieces if start >= cuts[index]]
    return rows

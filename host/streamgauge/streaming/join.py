"""Two sides of a stream that come at different times become time that both know.

A side is told as segments or as labels, one a slice, in order; gaps are filled as in a recording. What one
side tells waits until the other has told as much. A side that is told too far ahead fills its queue: then its
oldest time is given up, counts as unassessed, and is treated like time without truth.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ..segments import NULL, UNKNOWN, Segments, clip, concatenate, fill_gaps
from ..slices import Pieces

_NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class Joined:
    """Time that both sides know by now.

    Attributes
    ----------
    begin, until : int
        Its ticks, ``[begin, until)``.
    pieces : Pieces
        Its pieces, in which both labels are constant.
    truth, prediction : Segments
        Segments that ended in it, whole. An UNKNOWN one ends at `until` at the latest and goes on in what is
        joined next.
    going_on : Segments
        The predicted segment, if any, that goes on beyond `until`, as far as that.
    given_up : bool
        One side was told of it too late: all of its truth is UNKNOWN.
    """

    begin: int
    until: int
    pieces: Pieces
    truth: Segments
    prediction: Segments
    going_on: Segments
    given_up: bool = False


class Side:
    """What one side told and the other has not caught up with.

    Attributes
    ----------
    closed : Segments
        Segments without gap; the first may have begun before the joined time.
    begin, known : int or None
        Ticks the side was told from and up to; None before it was told anything.
    """

    def __init__(self, name: str, gap: int, slice_ticks: int) -> None:
        self.name, self._gap, self._slice = name, gap, slice_ticks
        self.closed = Segments.empty()
        self._open = Segments.empty()  # the run that the last labels began
        self.begin: int | None = None
        self.known: int | None = None
        self._lost: int | None = None

    def segments(self, segs: Segments) -> None:
        """Take segments; they close a run of labels that is open."""
        segs = self._check(segs)
        if len(segs):
            self._begin_at(int(segs.start[0]))
            self._close()
            self._append(segs)

    def labels(self, labels: npt.ArrayLike, start: int | None) -> None:
        """Take labels, one a slice, from tick `start` on (by default from where the side ends)."""
        if start is None:
            start = self.known or 0
        runs = self._check(Segments.from_labels(labels, self._slice, start))
        if len(runs) == 0:
            return
        self._begin_at(int(runs.start[0]))
        goes_on = len(self._open) > 0 and self._open.label[0] == runs.label[0]
        if goes_on and runs.start[0] == self.known:
            runs.start[0] = self._open.start[0]
            self.known = int(self._open.start[0])
            self._open = Segments.empty()
        self._close()
        self._append(runs.take(slice(None, -1)))
        self._fill_gap(int(runs.start[-1]))
        self._open = runs.take(slice(-1, None))
        self.known = int(runs.end[-1])

    def fill(self, end: int) -> None:
        """Close what is open, and fill up to `end`."""
        self._close()
        self._fill_gap(end)

    def lead(self, begin: int) -> None:
        """Fill from `begin` to where the side begins."""
        if self.begin is None:
            self.begin = self.known = begin
        elif begin < self.begin:
            self.closed = concatenate([Segments.from_rows([(self._gap, begin, self.begin)]), self.closed])
            self.begin = begin

    def all(self) -> Segments:
        """Everything that is here, the open run too."""
        return concatenate([self.closed, self._open])

    def end_unknown(self, at: int) -> None:
        """Let UNKNOWN time that goes on at `at` end there and begin anew: no figure changes by that."""
        if len(self._open) and self._open.label[0] == UNKNOWN and self._open.end[0] == at:
            self._close()
        self.closed = _cut_unknown(self.closed, at)
        parts = _cut_unknown(self._open, at)
        self.closed = concatenate([self.closed, parts.take(slice(None, -1))])
        self._open = parts.take(slice(-1, None))

    def release(self, until: int) -> Segments:
        """Return the closed segments that end at or before `until`, and forget them."""
        count = int(np.searchsorted(self.closed.end, until, side="right"))
        out = self.closed.take(slice(count))
        rest = self.closed.take(slice(count, None))
        # A copy: a view would keep all that was ever told.
        self.closed = Segments(rest.label.copy(), rest.start.copy(), rest.end.copy())
        return out

    def give_up(self, until: int) -> None:
        """Whatever comes for the time before `until` comes too late."""
        self.fill(until)
        self._lost = until

    def _close(self) -> None:
        self.closed = concatenate([self.closed, self._open])
        self._open = Segments.empty()

    def _fill_gap(self, end: int) -> None:
        assert self.known is not None
        if end > self.known:
            self.closed = concatenate([self.closed, Segments.from_rows([(self._gap, self.known, end)])])
            self.known = end

    def _append(self, segs: Segments) -> None:
        if len(segs):
            assert self.known is not None
            end = int(segs.end[-1])
            self.closed = concatenate([self.closed, fill_gaps(segs, (self.known, end), self._gap)])
            self.known = end

    def _begin_at(self, start: int) -> None:
        if self.begin is None:
            self.begin = self.known = start

    def _check(self, segs: Segments) -> Segments:
        """Return the segments less what comes too late; refuse what is in no order."""
        if self._lost is not None:
            segs = clip(segs, self._lost, _NEVER)
        if len(segs) == 0:
            return segs
        empty = segs.end <= segs.start
        overlap = np.concatenate(([False], segs.start[1:] < segs.end[:-1]))
        if empty.any():
            index, what = int(np.argmax(empty)), "is empty (expected end > start)"
        elif overlap.any():
            index, what = int(np.argmax(overlap)), "begins before the one before it ends"
        elif self.known is not None and int(segs.start[0]) < self.known:
            index, what = 0, f"begins before tick {self.known}, up to which was told already"
        else:
            return segs
        row = (int(segs.label[index]), int(segs.start[index]), int(segs.end[index]))
        raise InputError(
            f"{self.name} segment {row} of a stream {what}",
            remedy="Tell a stream in order of time, and flatten overlaps first",
        )


def _cut_unknown(segs: Segments, at: int) -> Segments:
    inside = (segs.label == UNKNOWN) & (segs.start < at) & (segs.end > at)
    if not inside.any():
        return segs
    label, start, end = next(iter(segs.take(inside)))
    halves = Segments.from_rows([(label, start, at), (label, at, end)])
    return concatenate([segs.take(segs.end <= at), halves, segs.take(segs.start > at)])


class Join:
    """Joins two sides.

    Parameters
    ----------
    slice_ticks : int
    gaps_unknown : bool
        Gaps of the truth are UNKNOWN, not NULL.
    late : int
        Segments of a side that may wait for the other.
    """

    def __init__(self, slice_ticks: int, gaps_unknown: bool, late: int) -> None:
        self.truth = Side("truth", UNKNOWN if gaps_unknown else NULL, slice_ticks)
        self.prediction = Side("prediction", NULL, slice_ticks)
        self.begin: int | None = None
        self._late = late
        self._position = 0

    def take(self) -> list[Joined]:
        """Return what both sides know by now and was not returned before, in order of time."""
        out = []
        if self._heard_of_both():
            out += self._step()
        longest = max((self.truth, self.prediction), key=lambda side: len(side.closed))
        if len(longest.closed) > self._late:
            out.append(self._give_up(longest))
        return out

    def finish(self) -> list[Joined]:
        """The recording ends: both sides are filled up to the later one's end, and nothing is kept."""
        ends = [side.known for side in (self.truth, self.prediction) if side.known is not None]
        if not ends:
            return []
        self._start()
        for side in (self.truth, self.prediction):
            side.fill(max(ends))
        # Even where no time is left to join: what was open may have ended.
        return self._step(even_empty=True)

    def _heard_of_both(self) -> bool:
        if self.truth.begin is None or self.prediction.begin is None:
            return False
        self._start()
        return True

    def _start(self) -> None:
        """The recording begins where the earlier side does; a side not heard of begins there too."""
        if self.begin is None:
            begins = [side.begin for side in (self.truth, self.prediction) if side.begin is not None]
            self.begin = self._position = min(begins)
            for side in (self.truth, self.prediction):
                side.lead(self.begin)

    def _step(self, even_empty: bool = False) -> list[Joined]:
        assert self.truth.known is not None and self.prediction.known is not None
        until = min(self.truth.known, self.prediction.known)
        begin = self._position
        if until <= begin and not even_empty:
            return []
        self._position = until
        truth, prediction = (clip(side.all(), begin, until) for side in (self.truth, self.prediction))
        self.truth.end_unknown(until)
        ended = self.truth.release(until), self.prediction.release(until)
        going_on = clip(self.prediction.all().take(slice(1)), -_NEVER, until)
        return [Joined(begin, until, Pieces.of(truth, prediction), *ended, going_on)]

    def _give_up(self, ahead: Side) -> Joined:
        """Let go of the oldest time of a side that is told too far ahead: up to the end of a segment of it.

        The other side was told up to where everything is joined.
        """
        self._start()
        begin = self._position
        until = int(ahead.closed.end[len(ahead.closed) - self._late - 1])
        behind = self.truth if ahead is self.prediction else self.prediction
        behind.give_up(until)
        self._position = until
        before = clip(self.truth.release(until), -_NEVER, begin)
        pieces = Pieces(
            np.array([UNKNOWN], dtype=np.int16),
            np.array([NULL], dtype=np.int16),
            np.array([begin]),
            np.array([until - begin]),
        )
        return Joined(
            begin,
            until,
            pieces,
            concatenate([before, Segments.from_rows([(UNKNOWN, begin, until)])]),
            self.prediction.release(until),
            Segments.empty(),
            given_up=True,
        )

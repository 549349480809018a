"""Alignment of a stream: `streamgauge.align` for segments that come part by part.

The rows of the matrix are swept as they become known. After each part the paths back from both ends of the
newest row are followed: whatever comes later enters that row between them, and where they meet all paths are
one. What lies before is committed: counted, measured, and forgotten as soon as no repetition can hang on it.
Figures over all that is committed are those of the whole sequences, whatever the parts were.

Where more segments than there is room for stay undecided, the oldest are decided along the best path so far.
Such a forced commit is counted; without one the alignment is exact.

Sums are whole numbers, of IoU in 60 bits, so that they too have the same bits for any cut.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ..align import check_c0, check_segments, repeated
from ..band import LEFT, MATCH, UP, Sweep, common_ticks, overlapping, pair_codes, pairs
from ..scores import Stat
from ..segments import NULL, Segments, concatenate

IntArray = npt.NDArray[np.int64]

_BITS = 60
_ROWS_AT_ONCE = 4096


@dataclass(frozen=True, eq=False)
class StreamedAlignment:
    """Figures over the committed part of a stream. L labels, label 0 is NULL; times in ticks.

    Attributes are those of `streamgauge.align.Alignment`, and

    undecided_truth, undecided_prediction : int
        Segments that wait; none after the stream has ended.
    """

    labels: int
    c0: float
    distance: float
    forced: int
    confusion: IntArray
    substitutions: int
    true_segments: int
    pred_segments: int
    unmatched_truth: int
    unmatched_prediction: int
    repetitions_split: IntArray
    repetitions_merge: IntArray
    cost_sum: float
    latency: Stat
    onset_latency: Stat
    offset_latency: Stat
    early: Stat
    late: Stat
    overlap: Stat
    prediction_duration: Stat
    iou: Stat
    undecided_truth: int
    undecided_prediction: int


class _Sums:
    """Count, sum, sum of squares and range of whole numbers; `scale` of them are one unit."""

    def __init__(self, scale: int = 1) -> None:
        self._scale = scale
        self.count = self.total = self._squares = 0
        self._least: int | None = None
        self._most: int | None = None

    def add(self, values: list[int]) -> None:
        if values:
            self.count += len(values)
            self.total += sum(values)
            self._squares += sum(value * value for value in values)
            least, most = min(values), max(values)
            self._least = least if self._least is None else min(self._least, least)
            self._most = most if self._most is None else max(self._most, most)

    def stat(self) -> Stat:
        if self._least is None or self._most is None:
            return Stat(0)
        n = self.count
        # n^2 times the variance is a whole number.
        spread = math.sqrt(n * self._squares - self.total**2)
        return Stat(
            n,
            self.total / (n * self._scale),
            spread / (n * self._scale),
            self._least / self._scale,
            self._most / self._scale,
        )


@dataclass(eq=False)
class _Kept:
    """Segments of one side that are still needed, numbered from the stream's start; `first` is the first one.

    Those before `done` are committed, those before `judged` were looked at for repetition.
    """

    segs: Segments = field(default_factory=Segments.empty)
    matched: npt.NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool))
    first: int = 0
    judged: int = 0
    done: int = 0
    until: int = -(1 << 62)  # where the next one to come starts

    @property
    def stop(self) -> int:
        """The number of the next one to come."""
        return self.first + len(self.segs)

    def part(self, begin: int, stop: int) -> Segments:
        return self.segs.take(slice(begin - self.first, stop - self.first))

    def start(self, number: int) -> int:
        """Return where the segment with that number starts, or will."""
        return int(self.segs.start[number - self.first]) if number < self.stop else self.until

    def add(self, segs: Segments) -> None:
        if len(segs):
            self.until = int(segs.end[-1])
        self.segs = concatenate([self.segs, segs])
        self.matched = np.concatenate([self.matched, np.zeros(len(segs), dtype=bool)])

    def forget(self, upto: int) -> None:
        rest = self.part(upto, self.stop)
        self.segs = Segments(rest.label.copy(), rest.start.copy(), rest.end.copy())
        self.matched = self.matched[upto - self.first :].copy()
        self.first = upto


class StreamingAlignment:
    """Aligns two sequences without overlaps or gaps, told part by part.

    Parameters
    ----------
    labels : int
        L, NULL included.
    pending : int
        Segments a side that may stay undecided.
    c0 : float
        Cost of an unmatched segment and of a substitution.
    """

    def __init__(self, labels: int, pending: int, c0: float = 2.0) -> None:
        check_c0(c0)
        self._labels, self._pending, self._c0 = labels, pending, c0
        self._truth, self._prediction = _Kept(), _Kept()
        self._sweep = Sweep(c0)
        self._rows = 0  # true segments whose row is swept
        # Of the rows that are not committed: their bands, and the ways through them.
        self._low: list[int] = []
        self._high: list[int] = []
        self._moves = bytearray()
        self._falls = bytearray()
        self._forced = 0
        self._unmatched = [0, 0]
        self._confusion = np.zeros((labels, labels), dtype=np.int64)
        self._repeated = np.zeros((2, labels), dtype=np.int64)
        self._same_iou = 0
        # Of twice the latency, so that a half tick is whole.
        self._stats = {name: _Sums(2) for name in ("latency", "early", "late")}
        self._stats |= {name: _Sums() for name in ("onset", "offset", "overlap", "duration")}
        self._stats["iou"] = _Sums(1 << _BITS)

    def feed(self, truth: Segments, prediction: Segments) -> None:
        """Take the next segments of both sides.

        A true segment is aligned once predictions reach to its end.

        Raises
        ------
        InputError
            A label is not below L, or a segment empty or in no order.
        """
        check_segments(truth, self._labels, "truth")
        check_segments(prediction, self._labels, "prediction")
        self._truth.add(truth)
        self._prediction.add(prediction)
        ends = self._truth.part(self._rows, self._truth.stop).end
        known = self._rows + int(np.searchsorted(ends, self._prediction.until, side="right"))
        while self._rows < known:
            self._sweep_rows(min(known - self._rows, _ROWS_AT_ONCE))
            self._commit(*self._meeting())
            if self._rows - self._truth.done > self._pending:
                self._force_rows(self._rows - self._pending // 2)
        self._force()
        self._tidy(ended=False)

    def cut(self) -> None:
        """A hard edge: nothing of what follows overlaps what came before."""
        while self._rows < self._truth.stop:
            self._sweep_rows(min(self._truth.stop - self._rows, _ROWS_AT_ONCE))
        self._commit(self._truth.stop, self._prediction.stop)
        self._tidy(ended=True)
        self._sweep = Sweep(self._c0)

    def result(self) -> StreamedAlignment:
        """Return the figures over what is committed."""
        unit = 1 << _BITS
        same = int(np.trace(self._confusion))
        substitutions = int(self._confusion[1:, 1:].sum() - np.trace(self._confusion[1:, 1:]))
        cost_sum = (same * unit - self._same_iou) / unit
        stats = {name: sums.stat() for name, sums in self._stats.items()}
        return StreamedAlignment(
            labels=self._labels,
            c0=self._c0,
            distance=self._c0 * (sum(self._unmatched) + substitutions) + cost_sum,
            forced=self._forced,
            confusion=self._confusion.copy(),
            substitutions=substitutions,
            true_segments=self._truth.done,
            pred_segments=self._prediction.done,
            unmatched_truth=self._unmatched[0],
            unmatched_prediction=self._unmatched[1],
            repetitions_split=self._repeated[0].copy(),
            repetitions_merge=self._repeated[1].copy(),
            cost_sum=cost_sum,
            latency=stats["latency"],
            onset_latency=stats["onset"],
            offset_latency=stats["offset"],
            early=stats["early"],
            late=stats["late"],
            overlap=stats["overlap"],
            prediction_duration=stats["duration"],
            iou=stats["iou"],
            undecided_truth=self._truth.stop - self._truth.done,
            undecided_prediction=self._prediction.stop - self._prediction.done,
        )

    def _sweep_rows(self, count: int) -> None:
        truth = self._truth.part(self._rows, self._rows + count)
        first = self._prediction.done
        prediction = self._prediction.part(first, self._prediction.stop)
        low, high = overlapping(truth, prediction)
        for rows, at_truth, at_prediction in pairs(low, high):
            codes = pair_codes(truth.take(at_truth), prediction.take(at_prediction), 0)
            begin, stop = (low[rows] + first).tolist(), (high[rows] + first).tolist()
            self._sweep.rows(begin, stop, codes, self._moves, self._falls)
            self._low += begin
            self._high += stop
        self._rows += count

    def _meeting(self) -> tuple[int, int]:
        """Return row and column before which every path from beyond the newest row is the same."""
        corner = self._truth.done, self._prediction.done
        if not self._low:
            return corner
        newest = int(self._truth.segs.end[self._rows - 1 - self._truth.first])
        # Later rows overlap no prediction that ended by now.
        left = self._prediction.first + int(np.searchsorted(self._prediction.segs.end, newest, side="right"))
        right = self._prediction.stop + 1
        position = len(self._moves)
        for row in range(len(self._low) - 1, -1, -1):
            position -= self._high[row] - self._low[row]
            left = self._through(row, position, left)
            right = self._through(row, position, right)
            if left == right:
                return self._truth.done + row, left
        return corner

    def _through(self, row: int, position: int, column: int) -> int:
        """Return the column at which the path back from `column` leaves a row upwards."""
        return self._step(row, position, column)[0]

    def _step(self, row: int, position: int, column: int) -> tuple[int, int | None]:
        """Return that column, and the column of the row's match, if the path has one."""
        low, high = self._low[row], self._high[row]
        # What was forced lies behind its corner, whatever the way.
        low = max(low, self._prediction.done)
        if column > high:
            if self._falls[row]:
                return column, None
            column = max(high, low)
        while column > low:
            move = self._moves[position + column - 1 - self._low[row]]
            if move == UP:
                break
            column -= 1
            if move == MATCH:
                return column, column
            assert move == LEFT
        return column, None

    def _commit(self, row: int, column: int) -> None:
        """Commit the path that ends before `row` and `column`."""
        count = row - self._truth.done
        position = sum(self._high[:count]) - sum(self._low[:count])
        cells = position
        at = column
        matches = []
        for index in range(count - 1, -1, -1):
            position -= self._high[index] - self._low[index]
            at, match = self._step(index, position, at)
            if match is not None:
                matches.append((self._truth.done + index, match))
        self._count(matches[::-1], row, column)
        del self._low[:count], self._high[:count], self._falls[:count], self._moves[:cells]
        self._truth.done, self._prediction.done = row, column

    def _count(self, matches: list[tuple[int, int]], row: int, column: int) -> None:
        """Count and measure what lies between the last commit and this one."""
        truth = self._truth.part(self._truth.done, row)
        prediction = self._prediction.part(self._prediction.done, column)
        pairs_at = np.array(matches, dtype=np.int64).reshape(-1, 2)
        at_truth, at_prediction = pairs_at[:, 0] - self._truth.done, pairs_at[:, 1] - self._prediction.done
        self._truth.matched[pairs_at[:, 0] - self._truth.first] = True
        self._prediction.matched[pairs_at[:, 1] - self._prediction.first] = True
        a, b = truth.take(at_truth), prediction.take(at_prediction)
        np.add.at(self._confusion, (a.label, b.label), 1)
        for side, segs, at in ((0, truth, at_truth), (1, prediction, at_prediction)):
            rest = np.ones(len(segs), dtype=bool)
            rest[at] = False
            self._unmatched[side] += int(rest.sum())
            missed = np.bincount(segs.label[rest & (segs.label != NULL)], minlength=self._labels)
            if side == 0:
                self._confusion[:, NULL] += missed
            else:
                self._confusion[NULL, :] += missed
        self._measure(a.take(a.label == b.label), b.take(a.label == b.label))

    def _measure(self, a: Segments, b: Segments) -> None:
        """Add what is measured along matches of one label."""
        iou = pair_codes(a, b, 0)
        self._same_iou += sum(iou)
        real = a.label != NULL
        a, b = a.take(real), b.take(real)
        onset, offset = b.start - a.start, b.end - a.end
        twice = onset + offset
        measured = {
            "latency": twice,
            "early": twice[twice < 0],
            "late": twice[twice > 0],
            "onset": onset,
            "offset": offset,
            "overlap": common_ticks(a, b, 0),
            "duration": b.end - b.start,
        }
        for name, values in measured.items():
            self._stats[name].add(values.tolist())
        self._stats["iou"].add([value for value, counts in zip(iou, real.tolist(), strict=True) if counts])

    def _force(self) -> None:
        """Decide the oldest segments where too many are undecided."""
        if self._truth.stop - self._truth.done > self._pending:
            # Their rows wait for a prediction that goes on: it cannot match what is decided now.
            self._force_rows(self._truth.stop - self._pending // 2)
        while self._prediction.stop - self._prediction.done > self._pending:
            if self._rows > self._truth.done:
                self._force_rows(self._rows - (self._rows - self._truth.done) // 2)
            else:
                # No true segment has ended: the oldest predictions are left unmatched.
                self._commit(self._rows, self._prediction.stop - self._pending // 2)
                self._forced += 1

    def _force_rows(self, upto: int) -> None:
        """Commit the rows before `upto` along the best path so far."""
        if upto > self._rows:
            self._sweep_rows(upto - self._rows)
        column, position = self._prediction.stop + 1, len(self._moves)
        for row in range(len(self._low) - 1, upto - self._truth.done - 1, -1):
            position -= self._high[row] - self._low[row]
            column = self._through(row, position, column)
        self._commit(upto, min(column, self._prediction.stop))
        self._forced += 1

    def _tidy(self, ended: bool) -> None:
        """Look for repetitions among committed segments once all that overlap them are committed."""
        sides = (self._truth, self._prediction)
        for side, (own, other) in enumerate((sides, sides[::-1])):
            stop = own.done
            if not ended:
                border = other.start(other.done)
                ends = own.part(own.judged, own.done).end
                stop = own.judged + int(np.searchsorted(ends, border, side="right"))
            unmatched = ~own.matched[own.judged - own.first : stop - own.first]
            judged = own.part(own.judged, stop).take(unmatched)
            committed = slice(other.done - other.first)
            found = repeated(judged, other.segs.take(committed), other.matched[committed], self._labels)
            self._repeated[1 - side] += found
            own.judged = stop
        for own, other in (sides, sides[::-1]):
            upto = own.judged
            if not ended:
                border = other.start(other.judged)
                upto = min(upto, own.first + int(np.searchsorted(own.segs.end, border, side="right")))
            own.forget(upto)

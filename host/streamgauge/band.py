"""The matched pairs of an alignment: its dynamic programme, confined to segments that overlap.

*Gain instead of cost.* With nothing matched the distance is ``c0 (n + m)``; a match saves ``2 c0`` less its
cost. The matrix then holds the best gain ``V`` of two prefixes, and ``V`` grows along rows and columns.

*Band.* Only overlapping pairs can match, and because starts and ends are ordered, the predictions that
overlap truth i are a contiguous range, moving right with i. Left of its range row i equals the row above (so
the full matrix's tie rule goes up there); right of it ``V`` is constant along the row, and one bit says
whether the row above has the same value (go up) or not (go left). So the band gives the full matrix's
back-trace at every cell, in time and memory proportional to the number of overlapping pairs, which is below
``n + m`` for sequences that do not overlap themselves.

*Arithmetic.* Exact ties are common (regular schedules, repeated durations), and floats lose them: 0.1 + 0.2
!= 0.3. Gains are integers with 60 fraction bits. Rounding moves each by less than one unit, so two paths that
tie exactly differ by less than the number of matches by which they differ; `_TIE` = 2^10 units tolerates a
thousand. Two different sums of two IoU differ by at least the reciprocal of the product of the unions, so
they are told apart up to unions of 2^25 ticks; beyond, a near-tie may be taken for a tie, which moves the
distance by less than 2^-50. The distance itself is summed from the chosen pairs with `math.fsum`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from .errors import InputError
from .segments import NULL, Segments

IntArray = npt.NDArray[np.int64]

_BITS = 60
_TIE = 1 << 10
LEFT, UP, MATCH = 0, 1, 2  # ways into a cell
_SUBSTITUTION, _FORBIDDEN = -1, -2  # codes among IoU, which are not negative
_CHUNK = 1 << 17  # pairs expanded at a time
_MOST_PAIRS = 1 << 31  # one byte each is kept for the back-trace


def common_ticks(a: Segments, b: Segments, touch: int) -> IntArray:
    """Return each pair's overlap, 0 or more where it may match; `touch` is 1 in closed mode, else 0."""
    return np.minimum(a.end, b.end) - np.maximum(a.start, b.start) - touch


def spanned_ticks(a: Segments, b: Segments, touch: int) -> IntArray:
    """Return the length of each pair's hull."""
    return np.maximum(a.end, b.end) - np.minimum(a.start, b.start) - touch


def overlapping(a: Segments, b: Segments) -> tuple[IntArray, IntArray]:
    """For each segment of `a`, the range [low, high) of segments of `b` that share a tick with it.

    In memory closed segments are one tick longer, so that two which share an instant share a tick: the same
    test.
    """
    return np.searchsorted(b.end, a.start, side="right"), np.searchsorted(b.start, a.end, side="left")


def pairs(low: IntArray, high: IntArray) -> Iterator[tuple[slice, IntArray, IntArray]]:
    """Expand ranges into index pairs, some rows at a time: the rows, then each pair's row and column."""
    until = np.cumsum(high - low)
    row = 0
    while row < len(low):
        done = int(until[row - 1]) if row else 0
        stop = max(row + 1, int(np.searchsorted(until, done + _CHUNK, side="right")))
        width = (high - low)[row:stop]
        index = np.repeat(np.arange(row, stop), width)
        yield slice(row, stop), index, np.arange(len(index)) + (low - until + high - low)[index] + done
        row = stop


def _fixed_point(numerator: IntArray, denominator: IntArray) -> IntArray:
    """Return floor(2^60 numerator / denominator), 0 <= numerator <= denominator, by long division."""
    quotient = np.zeros(len(numerator), dtype=np.int64)
    if len(numerator) == 0:
        return quotient
    room = 63 - int(denominator.max()).bit_length()
    rest, bits = numerator, _BITS
    while bits:
        step = min(bits, room)
        digit, rest = np.divmod(rest << step, denominator)
        quotient = (quotient << step) + digit
        bits -= step
    return quotient


def pair_codes(truth: Segments, prediction: Segments, touch: int) -> list[int]:
    """What each overlapping pair could give: its IoU in fixed point, or a code below 0."""
    same = truth.label == prediction.label
    null = (truth.label == NULL) | (prediction.label == NULL)
    codes = np.where(null, _FORBIDDEN, _SUBSTITUTION).astype(np.int64)
    a, b = truth.take(same), prediction.take(same)
    common, union = common_ticks(a, b, touch), spanned_ticks(a, b, touch)
    point = union == 0  # two closed segments on the same instant: nothing to pay
    codes[same] = _fixed_point(np.where(point, 1, common), np.where(point, 1, union))
    return codes.tolist()


class Sweep:
    """The rows of the matrix, one after the other; of the last one the values are kept.

    Parameters
    ----------
    c0 : float
        Cost of an unmatched segment and of a substitution.
    """

    def __init__(self, c0: float) -> None:
        unit = 1 << _BITS
        # Exact for a float from 2^-7 up. That 0.3 itself is off by 13 units of 2^-60 is within the tolerance.
        self._substitution_gain = round(c0 * unit)
        self._same_gain = 2 * self._substitution_gain - unit  # and IoU on top
        # _values[k] is the best gain at column _base + k of the last row; right of that it is _top.
        self._values, self._base, self._top = [0], 0, 0

    def rows(
        self, low: list[int], high: list[int], codes: list[int], moves: bytearray, falls: bytearray
    ) -> None:
        """Compute the next rows.

        Parameters
        ----------
        low, high : list of int
            Range of columns of each row's band.
        codes : list of int
            Of all pairs in these bands (`pair_codes`).
        moves, falls : bytearray
            Are extended: by the way into each pair's cell, and by whether the path right of each row's band
            goes up (1) or left (0).
        """
        substitution_gain, same_gain = self._substitution_gain, self._same_gain
        values, base, top = self._values, self._base, self._top
        found = bytearray(len(codes))
        position = 0
        for begin, stop in zip(low, high, strict=True):
            width = stop - begin
            if width == 0:
                falls.append(1)
                continue
            if begin - base >= len(values):
                values = [top] * (width + 1)
            else:
                del values[: begin - base]
                values.extend([top] * (width + 1 - len(values)))
            base = begin
            diagonal = left = values[0]
            column = 1
            for code in codes[position : position + width]:
                up = values[column]
                best = up if up > left else left
                move = UP if up + _TIE >= best else LEFT
                if code != _FORBIDDEN:
                    gain = diagonal + (same_gain + code if code >= 0 else substitution_gain)
                    if gain + _TIE >= best:
                        move = MATCH
                        if gain > best:
                            best = gain
                found[position] = move
                position += 1
                values[column] = left = best
                diagonal = up
                column += 1
            falls.append(top + _TIE >= left)
            top = left
        self._values, self._base, self._top = values, base, top
        moves += found


def matched_pairs(
    truth: Segments, prediction: Segments, corners: dict[int, int], closed: bool, c0: float
) -> IntArray:
    """Return the pairs on the chosen path, shape=(k, 2).

    Parameters
    ----------
    truth, prediction : Segments
        One block of known time after the other; segments of different blocks do not overlap.
    corners : dict
        Where each block's matrix ends: index of its last true segment, and index past its last predicted one.
        Gains differ by a constant from block to block: one sweep serves all, the path starts anew in each.
    closed : bool
        Whether lengths are one tick less than in memory.
    c0 : float
        Cost of an unmatched segment and of a substitution.
    """
    low, high = overlapping(truth, prediction)
    cells = int((high - low).sum())
    if cells > _MOST_PAIRS:
        raise InputError(
            f"{cells} pairs of segments overlap (expected at most {_MOST_PAIRS})",
            remedy="Flatten the sequences, or assess the recording in parts",
        )
    sweep = Sweep(c0)
    moves, falls = bytearray(), bytearray()
    for rows, at_truth, at_prediction in pairs(low, high):
        codes = pair_codes(truth.take(at_truth), prediction.take(at_prediction), int(closed))
        sweep.rows(low[rows].tolist(), high[rows].tolist(), codes, moves, falls)
    return _back_trace(low, high, moves, falls, corners)


def _back_trace(
    low: IntArray, high: IntArray, moves: bytearray, falls: bytearray, corners: dict[int, int]
) -> IntArray:
    matched_truth: list[int] = []
    matched_prediction: list[int] = []
    position = len(moves)
    column = 0
    for row, begin, stop in zip(
        range(len(low) - 1, -1, -1), low[::-1].tolist(), high[::-1].tolist(), strict=True
    ):
        column = corners.get(row, column)
        position -= stop - begin
        if column > stop:
            if falls[row]:
                continue
            column = stop
        while column > begin:
            column -= 1
            move = moves[position + column - begin]
            if move == MATCH:
                matched_truth.append(row)
                matched_prediction.append(column)
                break
            if move == UP:
                column += 1
                break
    return np.array([matched_truth[::-1], matched_prediction[::-1]], dtype=np.int64).T.reshape(-1, 2)

"""ADWIN in a fixed number of buckets: has an older part of the window another mean than the newer part?

The window is kept as an exponential histogram: row r holds at most `per_row` buckets of ``2^r`` records
each; where one more would come, the two oldest of the row become one bucket of the next row, and the last
row forgets its oldest. So the window is bounded: at most ``per_row (2^rows - 1)`` records, in ``rows *
per_row`` sums.

At a boundary between buckets the window of n records is split into n0 older and n1 newer ones with means
mean0, mean1. With ``m = n0 n1 / n``, p the mean over the window and ``L = ln(2 bits(n) / confidence)``,
where bits(n) is the length of n in binary (the paper's ln n up to a factor), the part older than the
boundary is dropped when

    ``|mean1 - mean0| > sqrt(2 p (1 - p) L / m) + 2 L / (3 m)``.

p (1 - p) is the variance of 0-1 values and bounds that of any values in [0, 1], so no second sum is kept.
To bound the work per record, row r's boundaries are tested only at records whose number is r modulo
`clock`; the newest boundary that fails is where the window is cut. Testing a row every `clock` records
delays an alarm by ``clock / 2`` records in the mean and by ``clock - 1`` at most.

Reference: Bifet, Gavaldà, *Learning from time-changing data with adaptive windowing*, SDM 2007 (ADWIN2).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from .alarms import DOWN, UP, Detector, check_unit_range


class ADWIN(Detector):
    """ADWIN; an alarm's value is ``mean1 - mean0``, and what is newer than the cut is kept.

    Parameters
    ----------
    confidence : float
        The paper's delta, in (0, 1).
    rows, per_row : int
        The bucket budget: `rows` of 1 to 24, `per_row` of at least 2. Fewer rows shorten the window, and
        small changes that need longer to show are missed; fewer buckets a row make cuts coarser.
    clock : int
        Every how many records a row is tested.
    shortest : int
        Neither part of a split may have fewer records.

    Raises
    ------
    InputError
        For parameters outside their range.
    """

    # Only one record in `clock` is tested, and a row's tests are a few numpy calls a block.
    _last_block = 1 << 17

    def __init__(
        self, confidence: float = 0.002, rows: int = 12, per_row: int = 5, clock: int = 32, shortest: int = 8
    ) -> None:
        if not 0.0 < confidence < 1.0:
            raise InputError(f"confidence is {confidence!r} (expected between 0 and 1)")
        if not 1 <= rows <= 24:
            raise InputError(f"rows is {rows!r} (expected 1 to 24)")
        if per_row < 2:
            raise InputError(f"per_row is {per_row!r} (expected 2 or more)")
        if clock < 1 or shortest < 1:
            raise InputError(f"clock is {clock!r} and shortest {shortest!r} (expected 1 or more)")
        self.confidence, self.rows, self.per_row = confidence, rows, per_row
        self.clock, self.shortest = clock, shortest
        # L by the number of binary digits of n; there is no n of 0 digits.
        self._log = np.array([0.0] + [math.log(2 * bits / confidence) for bits in range(1, 64)])
        super().__init__()

    @property
    def width(self) -> int:
        """Records in the window."""
        return len(self._sums) - 1

    @property
    def mean(self) -> float | None:
        """Mean of the window; None where it is empty."""
        return float(self._sums[-1] - self._sums[0]) / self.width if self.width else None

    def _start(self) -> None:
        self._filled = np.zeros(self.rows, dtype=np.int64)
        self._sums = np.zeros(1)

    def _after_alarm(self) -> None:
        """The window keeps what is newer than the cut; nothing starts anew."""

    def _checked(self, values: ArrayLike) -> NDArray[np.float64]:
        x = super()._checked(values)
        check_unit_range(x)
        return x

    def _scan(self, block: NDArray[np.float64]) -> tuple[int, tuple[str, float] | None]:
        sums = np.concatenate((self._sums, self._sums[-1] + np.cumsum(block)))
        cut = self._first_cut(sums, len(block))
        taken = len(block) if cut is None else cut[0]
        filled = np.array([self._buckets(row, np.array([taken]))[0] for row in range(self.rows)])
        oldest = max(0, int(filled[-1]) - self.per_row) << (self.rows - 1)
        self._filled = np.minimum(filled, self.per_row)
        end = self.width + taken
        if cut is None:
            self._rebase(sums[oldest : end + 1])
            return taken, None
        _, row, bucket, age = cut
        self._filled[row] = bucket
        self._filled[row + 1 :] = 0
        newer = (sums[end] - sums[end - age]) / age
        older = (sums[end - age] - sums[oldest]) / (end - age - oldest)
        self._rebase(sums[end - age : end + 1])
        return taken, (UP if newer > older else DOWN, float(newer - older))

    def _rebase(self, sums: NDArray[np.float64]) -> None:
        self._sums = sums - sums[0]

    def _arrivals(self, row: int, taken: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many buckets have come into `row` once so many more records are taken.

        A row that holds c buckets passes ``max(0, (c + k - per_row + 1) // 2)`` on when k come in; nested
        floors of halves are one floor, which leaves a shift. One past the last row, this is what the last
        row would pass on.
        """
        lead = int(((self._filled[:row] - self.per_row + 1) << np.arange(row)).sum())
        arrived: NDArray[np.int64] = np.maximum(0, (taken + lead) >> row)
        return arrived

    def _buckets(self, row: int, taken: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many buckets `row` holds then; more than `per_row` in the last: those it forgot."""
        held: NDArray[np.int64] = self._filled[row] + self._arrivals(row, taken)
        if row < self.rows - 1:
            held -= 2 * self._arrivals(row + 1, taken)
        return held

    def _first_cut(self, sums: NDArray[np.float64], size: int) -> tuple[int, int, int, int] | None:
        """Return (records taken, row, buckets of the row that stay, records that stay) of the first cut."""
        best: tuple[int, int, int, int] | None = None
        for row in range(self.rows):
            first = (row - self.count) % self.clock + 1
            taken = np.arange(first, size + 1, self.clock)
            found = self._cut_in_row(sums, row, taken) if len(taken) else None
            if found is not None and (best is None or found[0] < best[0]):
                best = found
                size = found[0]
        return best

    def _cut_in_row(
        self, sums: NDArray[np.float64], row: int, taken: NDArray[np.int64]
    ) -> tuple[int, int, int, int] | None:
        last = self._buckets(self.rows - 1, taken)
        oldest = np.maximum(0, last - self.per_row) << (self.rows - 1)
        filled = np.minimum(last, self.per_row) if row == self.rows - 1 else self._buckets(row, taken)
        if not filled.any():
            return None
        end = self.width + taken
        n = end - oldest
        now = sums[end]
        p = (now - sums[oldest]) / n
        below = int(self._filled[:row] @ (1 << np.arange(row))) + taken - (self._arrivals(row, taken) << row)
        variance = np.maximum(0.0, p * (1.0 - p))
        log = self._log[np.frexp(n.astype(np.float64))[1]]
        least = self._least_bound(row, below, int(n.min()), float((variance * log).min()), float(log.min()))
        steepest = float(max(p.max(), 1.0 - p.min()))
        best: tuple[int, int, int, int] | None = None
        for bucket in range(1, self.per_row + 1):
            if least[bucket - 1] >= steepest * (int(below.max()) + (bucket << row)):
                continue
            n1 = below + (bucket << row)
            rise = now - np.take(sums, end - n1, mode="clip") - n1 * p
            if max(rise.max(), -rise.min()) <= least[bucket - 1]:
                continue
            n0 = n - n1
            usable = (bucket <= filled) & (n1 >= self.shortest) & (n0 >= self.shortest)
            bound = np.sqrt(np.maximum(0.0, 2.0 * variance * log * n0 * n1 / n)) + 2.0 / 3.0 * log
            failed = np.flatnonzero(usable & (np.abs(rise) > bound))
            if len(failed) and (best is None or taken[failed[0]] < best[0]):
                best = (int(taken[failed[0]]), row, bucket, int(n1[failed[0]]))
        return best

    def _least_bound(
        self, row: int, below: NDArray[np.int64], n: int, variance_log: float, log: float
    ) -> NDArray[np.float64]:
        """For each bucket of the row, return what the bound is never below: most boundaries stay far off.

        m is n1 (1 - n1 / n): it grows with n, and in n1 it is smallest at one of the ends.
        """
        reach = np.arange(1, self.per_row + 1) << row
        ends = np.stack((int(below.min()) + reach, int(below.max()) + reach)).astype(np.float64)
        m = np.maximum(0.0, ends * (1.0 - ends / n)).min(axis=0)
        least: NDArray[np.float64] = (np.sqrt(2.0 * variance_log * m) + 2.0 / 3.0 * log) * (1.0 - 1e-9)
        return least

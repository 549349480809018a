"""ADWIN in a fixed number of buckets: has an older part of the window another mean than the newer part?

The window is kept as an exponential histogram: `grain` records make a bucket, and row r holds at most
`per_row` buckets of ``grain 2^r`` records each; where one more would come, the two oldest of the row become
one bucket of the next row, and the last row forgets its oldest. So the window is bounded: at most ``grain
per_row (2^rows - 1)`` records, in ``rows per_row`` sums, and it moves with every whole bucket.

At a boundary between buckets the window of n records is split into n0 older and n1 newer ones with means
mean0, mean1. With ``m = n0 n1 / n``, p the mean over the window and ``L = ln(2 bits(n) / confidence)``,
where bits(n) is the length of n in binary (the paper's ln n up to a factor), the part older than the
boundary is dropped when

    ``|mean1 - mean0| > sqrt(2 p (1 - p) L / m) + 2 L / (3 m)``.

p (1 - p) is the variance of 0-1 values and bounds that of any values in [0, 1], so no second sum is kept.
(A part of fewer than 2 L / 3 records, 5 or 6, can never be cut off, so that no least length need be asked
for.) To bound the work per record, the boundaries of row r >= 1 are tested at every 2^r-th bucket of the
first row, rows in the order of a ruler's marks (1, 2, 1, 3, 1, 2, 1, 4, ...): one row a bucket, and each as
often as it changes. The first row's own boundaries lie in the last ``grain per_row`` records and are not
tested. The newest boundary that fails is where the window is cut.

Reference: Bifet, Gavaldà, *Learning from time-changing data with adaptive windowing*, SDM 2007 (ADWIN2).
"""

from __future__ import annotations

import math
from typing import Any

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
        The bucket budget: `rows` of 2 to 24, `per_row` of at least 2. Fewer rows shorten the window, and
        small changes that need longer to show are missed; fewer buckets a row make cuts coarser.
    grain : int
        Records that make a bucket of the first row.

    Raises
    ------
    InputError
        For parameters outside their range.
    """

    # Few records are tested, and a row's tests are a few numpy calls a block.
    _last_block = 1 << 17

    def __init__(self, confidence: float = 0.002, rows: int = 9, per_row: int = 5, grain: int = 8) -> None:
        if not 0.0 < confidence < 1.0:
            raise InputError(f"confidence is {confidence!r} (expected between 0 and 1)")
        if not 2 <= rows <= 24:
            raise InputError(f"rows is {rows!r} (expected 2 to 24)")
        if per_row < 2:
            raise InputError(f"per_row is {per_row!r} (expected 2 or more)")
        if grain < 1:
            raise InputError(f"grain is {grain!r} (expected 1 or more)")
        self.confidence, self.rows, self.per_row = confidence, rows, per_row
        self.grain = grain
        # L by the number of binary digits of n; there is no n of 0 digits.
        self._log = np.array([0.0] + [math.log(2 * bits / confidence) for bits in range(1, 64)])
        super().__init__()

    @property
    def width(self) -> int:
        """Records in the window."""
        return (len(self._sums) - 1) * self.grain

    @property
    def mean(self) -> float | None:
        """Mean of the window; None where it is empty."""
        return float(self._sums[-1]) / self.width if self.width else None

    def _start(self) -> None:
        self._filled = np.zeros(self.rows, dtype=np.int64)
        # Sums of the window's first 0, 1, 2, ... whole buckets of the first row.
        self._sums = np.zeros(1)
        self._number = 0
        self._loose = np.zeros(0)

    def _after_alarm(self) -> None:
        """The window keeps what is newer than the cut; nothing starts anew."""

    def _checked(self, values: ArrayLike) -> NDArray[np.float64]:
        x = super()._checked(values)
        check_unit_range(x)
        return x

    def _scan(self, block: NDArray[np.float64]) -> tuple[int, tuple[str, float] | None]:
        before = len(self._loose)
        records = np.concatenate((self._loose, block))
        size = len(records) // self.grain
        grains = sum(records[i : size * self.grain : self.grain] for i in range(self.grain))
        sums = np.concatenate((self._sums, self._sums[-1] + np.cumsum(grains)))
        cut = self._first_cut(sums, size)
        taken = size if cut is None else cut[0]
        filled = np.array([self._buckets(row, np.array([taken]))[0] for row in range(self.rows)])
        oldest = max(0, int(filled[-1]) - self.per_row) << (self.rows - 1)
        self._filled = np.minimum(filled, self.per_row)
        end = len(self._sums) - 1 + taken
        self._number += taken
        if cut is None:
            self._rebase(sums[oldest : end + 1])
            self._loose = records[size * self.grain :]
            return len(block), None
        _, row, bucket, age = cut
        self._filled[row] = bucket
        self._filled[row + 1 :] = 0
        newer = (sums[end] - sums[end - age]) / (age * self.grain)
        older = (sums[end - age] - sums[oldest]) / ((end - age - oldest) * self.grain)
        self._rebase(sums[end - age : end + 1])
        self._loose = records[:0]
        return taken * self.grain - before, (UP if newer > older else DOWN, float(newer - older))

    def _rebase(self, sums: NDArray[np.float64]) -> None:
        self._sums = sums - sums[0]

    def _lead(self, row: int) -> int:
        """Return k: once `taken` more are taken, ``max(0, (taken + k) >> row)`` buckets have come into `row`.

        A row that holds c buckets passes ``max(0, (c + k - per_row + 1) // 2)`` on when k come in; nested
        floors of halves are one floor, which leaves a shift. One past the last row, this is what the last
        row would pass on.
        """
        return int(((self._filled[:row] - self.per_row + 1) << np.arange(row)).sum())

    def _buckets(self, row: int, taken: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many buckets `row` holds then; more than `per_row` in the last: those it forgot."""
        held: NDArray[np.int64] = self._filled[row] + np.maximum(0, (taken + self._lead(row)) >> row)
        if row < self.rows - 1:
            held -= 2 * np.maximum(0, (taken + self._lead(row + 1)) >> (row + 1))
        return held

    def _first_cut(self, sums: NDArray[np.float64], size: int) -> tuple[int, int, int, int] | None:
        """Return the first cut: (buckets taken, row, its buckets that stay, first-row buckets that stay)."""
        best: tuple[int, int, int, int] | None = None
        for row in range(1, self.rows):
            every = 1 << row
            first = (every // 2 - self._number - 1) % every + 1
            # Once buckets come into a row, its boundaries are equally far back at every test.
            arriving = max(0, -(-(-self._lead(row) - first) // every)) * every + first
            for begin, end in ((first, min(arriving, size + 1)), (arriving, size + 1)):
                taken = np.arange(begin, end, every)
                found = self._cut_in_row(sums, row, taken) if len(taken) else None
                if found is not None:
                    best = found
                    # Another row's cut counts if it comes earlier, and no row has its turn at the same
                    # bucket.
                    size = found[0] - 1
                    break
        return best

    def _cut_in_row(
        self, sums: NDArray[np.float64], row: int, taken: NDArray[np.int64]
    ) -> tuple[int, int, int, int] | None:
        step = 1 << row
        span = int(taken[-1] - taken[0])
        end = len(self._sums) - 1 + taken
        first = int(end[0])
        now = sums[first : first + span + 1 : step]
        last = self._buckets(self.rows - 1, taken[-1:])
        if last[0] <= self.per_row:
            n = np.arange(first, first + span + 1, step, dtype=np.float64)
            p = now - sums[0]
        else:
            dropped = np.maximum(0, self._buckets(self.rows - 1, taken) - self.per_row)
            oldest = dropped << (self.rows - 1)
            n = (end - oldest).astype(np.float64)
            p = now - sums[oldest]
        n *= self.grain
        p /= n
        variance = 1.0 - p
        variance *= p
        np.maximum(variance, 0.0, out=variance)
        # Neither n nor its digits fall from one test to the next.
        least_log, most_log = (self._log[int(x).bit_length()] for x in (n[0], n[-1]))
        below = int(self._filled[:row] @ (1 << np.arange(row)))
        lead = int(taken[0]) + self._lead(row)
        ages = (below + int(taken[0]), below + int(taken[-1]))
        if lead >= 0:
            ages = (ages[0] - (lead >> row << row),) * 2
        least = self._least_bound(row, ages, float(n[0]), float(variance.min()) * least_log, least_log)
        steepest = float(max(p.max(), 1.0 - p.min())) * self.grain
        best: tuple[int, int, int, int] | None = None
        for bucket in range(1, self.per_row + 1):
            reach = bucket << row
            if least[bucket - 1] >= steepest * (ages[1] + reach):
                continue
            start = first - ages[0] - reach
            if ages[0] == ages[1] and start >= 0:
                age: Any = ages[0] + reach
                rise = now - sums[start : start + span + 1 : step]
            else:
                age = np.arange(ages[0], ages[0] + span + 1, step) if ages[0] != ages[1] else ages[0]
                age = age + reach
                rise = now - np.take(sums, end - age, mode="clip")
            rise -= p * (age * self.grain)
            if max(rise.max(), -rise.min()) <= least[bucket - 1]:
                continue
            log = least_log if least_log == most_log else self._log[np.frexp(n)[1]]
            m = age * self.grain * (1.0 - age * self.grain / n)
            bound = np.sqrt(np.maximum(0.0, 2.0 * variance * log * m)) + 2.0 / 3.0 * log
            held = np.minimum(self._buckets(row, taken), self.per_row)
            failed = np.flatnonzero((bucket <= held) & (age * self.grain < n) & (np.abs(rise) > bound))
            if len(failed) and (best is None or taken[failed[0]] < best[0]):
                at = failed[0]
                best = (int(taken[at]), row, bucket, int(age if np.ndim(age) == 0 else age[at]))
        return best

    def _least_bound(
        self, row: int, ages: tuple[int, int], n: float, variance_log: float, log: float
    ) -> NDArray[np.float64]:
        """For each bucket of the row, return what the bound is never below: most boundaries stay far off.

        m is n1 (1 - n1 / n): it grows with n, and in n1 it is smallest at one of the ends.
        """
        reach = np.arange(1, self.per_row + 1) << row
        ends = np.stack([age + reach for age in ages]) * float(self.grain)
        m = np.maximum(0.0, ends * (1.0 - ends / n)).min(axis=0)
        least: NDArray[np.float64] = (np.sqrt(2.0 * variance_log * m) + 2.0 / 3.0 * log) * (1.0 - 1e-9)
        return least

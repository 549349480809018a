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
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from .alarms import DOWN, UP, Detector, check_unit_range

_Floats = NDArray[np.float64]
# Buckets of a row whose boundaries are tested at once.
_TOGETHER = 8


# Rows up to this one have the most tests by far; where they cannot fail is seen without computing each.
_LOW_ROWS = 3


class _Cut(NamedTuple):
    """Where the window is cut: after `taken` buckets, before the `age` newest of the first row."""

    taken: int
    row: int
    bucket: int
    age: int


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

    # A bucket is many records, and a scan so many numpy calls however few: blocks are larger.
    _first_block, _growth = 1 << 12, 8
    # In blocks of fewer buckets a look at the low rows costs more than it saves.
    _screened = 1024

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
        self._filled = [0] * self.rows
        # Sums of the window's first 0, 1, 2, ... whole buckets of the first row.
        self._sums = np.zeros(1)
        self._number = 0
        self._loose = np.zeros(0)

    def _after_alarm(self) -> None:
        """The window keeps what is newer than the cut; nothing starts anew."""

    def _checked(self, values: ArrayLike) -> NDArray[np.float64]:
        return check_unit_range(values)

    def _scan(self, block: NDArray[np.float64]) -> tuple[int, tuple[str, float] | None]:
        before = len(self._loose)
        records = np.concatenate((self._loose, block)) if before else block
        size = len(records) // self.grain
        grains = np.einsum("ij->i", records[: size * self.grain].reshape(size, self.grain))
        sums = np.concatenate((self._sums, grains))
        np.cumsum(sums[len(self._sums) - 1 :], out=sums[len(self._sums) - 1 :])
        # One past the last: what the last row would pass on.
        self._leads = [0]
        for row, held in enumerate(self._filled):
            self._leads.append(self._leads[-1] + ((held - self.per_row + 1) << row))
        cut = self._first_cut(sums, size)
        taken = size if cut is None else cut.taken
        filled = [self._held(row, taken) for row in range(self.rows)]
        oldest = max(0, filled[-1] - self.per_row) << (self.rows - 1)
        self._filled = [min(held, self.per_row) for held in filled]
        end = len(self._sums) - 1 + taken
        self._number += taken
        if cut is None:
            self._rebase(sums[oldest : end + 1])
            self._loose = records[size * self.grain :].copy()
            return len(block), None
        self._filled[cut.row] = cut.bucket
        self._filled[cut.row + 1 :] = [0] * (self.rows - cut.row - 1)
        border = end - cut.age
        newer = (sums[end] - sums[border]) / (cut.age * self.grain)
        older = (sums[border] - sums[oldest]) / ((border - oldest) * self.grain)
        self._rebase(sums[border : end + 1])
        self._loose = records[:0]
        return taken * self.grain - before, (UP if newer > older else DOWN, float(newer - older))

    def _rebase(self, sums: NDArray[np.float64]) -> None:
        self._sums = sums - sums[0]

    def _held(self, row: int, taken: int) -> int:
        """Return how many buckets `row` holds once `taken` more of the first row are taken.

        In the last row that is more than `per_row` by those it forgot. A row that holds c buckets passes
        ``max(0, (c + k - per_row + 1) // 2)`` on when k come in; nested floors of halves are one floor, so
        that ``max(0, (taken + lead) >> row)`` buckets have come into `row`.
        """
        held = self._filled[row] + max(0, (taken + self._leads[row]) >> row)
        if row < self.rows - 1:
            held -= 2 * max(0, (taken + self._leads[row + 1]) >> (row + 1))
        return held

    def _windows(self, sums: _Floats, size: int) -> tuple[_Floats, _Floats]:
        """Return records and mean of the window after each bucket."""
        first = len(self._sums)
        n = np.arange(first, first + size, dtype=np.float64)
        total = sums[first : first + size]
        last = self.rows - 1
        if self._held(last, size) <= self.per_row:
            total = total - sums[0]
        else:
            # Every 2^last buckets the last row forgets one.
            forgets = self._leads[last] + ((self._filled[last] - self.per_row) << last)
            oldest = np.arange(1 + forgets, 1 + forgets + size)
            oldest >>= last
            oldest <<= last
            np.maximum(oldest, 0, out=oldest)
            n -= oldest
            total = total - sums[oldest]
        n *= self.grain
        total /= n
        return n, total

    def _first_cut(self, sums: _Floats, size: int) -> _Cut | None:
        """Return the first cut among the first `size` buckets."""
        if size == 0:
            return None
        n, mean = self._windows(sums, size)
        if size < self._screened:
            return self._tested(sums, n, mean, np.arange(1, size + 1))
        # From here on buckets come into the low rows, so that their boundaries are equally far back at every
        # test, and inside the window.
        steady = min(size, (2 * self.per_row + 1) << min(_LOW_ROWS, self.rows - 1))
        every = 1 << _LOW_ROWS
        first = steady + (-self._number - steady - 1) % every + 1
        found = [
            self._tested(
                sums, n, mean, np.concatenate((np.arange(1, steady + 1), np.arange(first, size + 1, every)))
            )
        ]
        for row in range(1, min(_LOW_ROWS, self.rows - 1) + 1):
            every = 1 << row
            first = steady + (every // 2 - self._number - steady - 1) % every + 1
            if first <= size and self._may_fail(
                sums, n[first - 1 :: every], mean[first - 1 :: every], row, first
            ):
                found.append(self._tested(sums, n, mean, np.arange(first, size + 1, every)))
        return min((cut for cut in found if cut is not None), default=None)

    def _may_fail(self, sums: _Floats, n: _Floats, mean: _Floats, row: int, begin: int) -> bool:
        """Whether one of a row's tests, after `begin` buckets and every 2^row from there, may fail."""
        step, count = 1 << row, len(n)
        end = len(self._sums) - 1 + begin
        now = sums[end : end + (count - 1) * step + 1 : step]
        # First-row buckets newer than the row's own.
        newer = sum(held << k for k, held in enumerate(self._filled[:row])) + begin
        newer -= (begin + self._leads[row]) >> row << row
        least_n = float(n.min())
        log = float(self._log[int(least_n).bit_length()])
        low, high = float(mean.min()), float(mean.max())
        # p (1 - p) is smallest at an end.
        variance = max(0.0, min(low * (1.0 - low), high * (1.0 - high)))
        for some in range(1, self.per_row + 1, _TOGETHER):
            buckets = range(some, min(some + _TOGETHER, self.per_row + 1))
            ages = [newer + (bucket << row) for bucket in buckets]
            # One bucket more is the same sums a test earlier.
            older = as_strided(sums[end - ages[0] :], (len(ages), count), (-8 * step, 8 * step))
            rise = now - older
            rise -= mean * (np.array(ages)[:, np.newaxis] * float(self.grain))
            for age, most, least in zip(
                ages, rise.max(axis=1).tolist(), rise.min(axis=1).tolist(), strict=True
            ):
                n1 = age * self.grain
                # m grows with n.
                m = max(0.0, n1 * (1.0 - n1 / least_n))
                bound = (math.sqrt(2.0 * variance * log * m) + 2.0 / 3.0 * log) * (1.0 - 1e-9)
                if max(most, -least) > bound:
                    return True
        return False

    def _tested(self, sums: _Floats, n: _Floats, mean: _Floats, taken: NDArray[np.int64]) -> _Cut | None:
        """Return the first cut among the tests after so many buckets each, every boundary computed."""
        number = taken + self._number
        row = np.frexp((number & -number).astype(np.float64))[1].astype(np.int64)
        taken, row = taken[row < self.rows], row[row < self.rows]
        if len(taken) == 0:
            return None
        leads, filled = np.array([*self._leads[:-1], -(1 << 62)]), np.array(self._filled)
        below = np.concatenate(([0], np.cumsum(filled << np.arange(self.rows))))
        come = np.maximum(0, (taken + leads[row]) >> row)
        held = filled[row] + come - 2 * np.maximum(0, (taken + leads[row + 1]) >> (row + 1))
        newer = below[row] + taken - (come << row)
        n, mean = n[taken - 1], mean[taken - 1]
        log = self._log[np.frexp(n)[1]]
        spread = 2.0 * log * np.maximum(0.0, mean * (1.0 - mean))
        end = len(self._sums) - 1 + taken
        now = sums[end]
        best: _Cut | None = None
        for some in range(1, self.per_row + 1, _TOGETHER):
            bucket = np.arange(some, min(some + _TOGETHER, self.per_row + 1))[:, np.newaxis]
            age = newer + (bucket << row)
            n1 = age * float(self.grain)
            rise = now - np.take(sums, end - age, mode="clip")
            rise -= mean * n1
            bound = np.sqrt(np.maximum(0.0, spread * n1 * (1.0 - n1 / n))) + 2.0 / 3.0 * log
            failed = (np.abs(rise) > bound) & (n1 < n) & (bucket <= held)
            tests = failed.any(axis=0)
            if tests.any():
                at = int(np.argmax(tests))
                k = int(np.argmax(failed[:, at]))
                cut = _Cut(int(taken[at]), int(row[at]), some + k, int(age[k, at]))
                best = cut if best is None else min(best, cut)
        return best

"""DDM: has the error rate left its best level by more than its own standard deviation allows?

With p the error rate over the n records since the start and ``s = sqrt(p (1 - p) / n)``, the record with
the smallest ``p + s`` is remembered as (p_min, s_min); warning when ``p + s > p_min + 2 s_min``, alarm at
`level` s_min.

Reference: Gama, Medas, Castillo, Rodrigues, *Learning with drift detection*, SBIA 2004.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from .alarms import UP, check_positive, check_unit_range
from .columns import COLUMN, ColumnDetector

# Bounds are taken that much wider: the walk, which decides, rounds in another order.
_ROUNDING = 1e-9


class DDM(ColumnDetector):
    """DDM; an alarm's value is the rise ``p - p_min`` of the error rate, its direction always ``"up"``.

    p is a mean over everything since the start, so the longer a stream was stationary the later DDM
    notices; and once it has seen no error at all for the whole warm-up, the first error is an alarm (s_min
    is 0).

    Parameters
    ----------
    level : float
        Standard deviations above the best level that raise an alarm. The paper's 3, after its warm-up of 30
        records, gave a false alarm on 14 of 40 stationary streams of 100,000 records with error rate 0.2;
        the defaults 1.
    warning : float
        Standard deviations above the best level that count as a warning; at most `level`.
    warmup : int
        Neither alarm nor minimum before more than this many records.
    """

    def __init__(self, level: float = 4.0, warning: float = 2.0, warmup: int = 200) -> None:
        if not level > 1.0:
            raise InputError(f"level is {level!r} (expected more than 1 standard deviation)")
        self.level = float(level)
        self.warning = check_positive("warning", warning)
        if warning > level:
            raise InputError(f"warning level {warning} is above the alarm level {level}")
        self.warmup = int(check_positive("warmup", warmup, zero=True))
        super().__init__()

    @property
    def warned(self) -> bool:
        """Whether the present level is in the warning zone."""
        if self._n <= self.warmup:
            return False
        p = self._sum / self._n
        p_min, s_min = self._best
        return p + math.sqrt(max(0.0, p * (1.0 - p)) / self._n) > p_min + self.warning * s_min

    def _start(self) -> None:
        self._n = 0
        self._sum = 0.0
        self._best = (math.inf, math.inf)

    def _walked(self) -> bool:
        return self._n < self.warmup

    def _checked(self, values: ArrayLike) -> NDArray[np.float64]:
        return check_unit_range(values)

    def _enter(self, states: tuple[NDArray[np.float64], ...], at: int) -> None:
        p_min, s_min = states
        self._best = (float(p_min[at]), float(s_min[at]))

    def _walk(self, records: NDArray[np.float64]) -> tuple[int, tuple[str, float] | None]:
        p_min, s_min = self._best
        for taken, x in enumerate(records.tolist(), 1):
            self._n += 1
            self._sum += x
            if self._n <= self.warmup:
                continue
            p = self._sum / self._n
            s = math.sqrt(max(0.0, p * (1.0 - p)) / self._n)
            if p + s < p_min + s_min:
                p_min, s_min = p, s
                self._best = (p, s)
            if p + s > p_min + self.level * s_min:
                return taken, (UP, max(0.0, p - p_min))
        return len(records), None

    def _columns(
        self,
        x: NDArray[np.float64],
        own: NDArray[np.float64],
        numbers: NDArray[np.float64],
        sums: NDArray[np.float64],
    ) -> tuple[NDArray[np.intp], tuple[NDArray[np.float64], ...], NDArray[np.intp]]:
        if self._n and len(own) >= self._screened:
            looked = self._screen(own, numbers, sums)
        else:
            looked = np.arange(len(own))
        rows = np.ascontiguousarray(x[looked].T)
        return (looked, *self._follow(rows, numbers[looked], sums[looked]))

    def _screen(
        self, own: NDArray[np.float64], numbers: NDArray[np.float64], sums: NDArray[np.float64]
    ) -> NDArray[np.intp]:
        """Return the columns that may better the best level or hold an alarm.

        Of values in [0, 1] that sum up to S, the first j sum up to j at most, and to S - (16 - j) at least.
        So p is highest if S ones come first, and lowest after 16 - S zeros. p (1 - p) lies below its tangent
        and above the lower of two ends.
        """
        zeros = COLUMN - own
        least = sums / (zeros + numbers)
        most = sums + own
        most /= numbers + own
        square = least * (1.0 - least)
        ends = np.minimum(square, most * (1.0 - most))
        ends /= numbers + COLUMN
        s_least = np.sqrt(np.maximum(ends, 0.0, out=ends), out=ends)
        square += np.maximum(0.0, 1.0 - 2.0 * least) * (most - least)
        square /= numbers + 1.0
        most += np.sqrt(np.maximum(square, 0.0, out=square), out=square)
        least += s_least
        p_min, s_min = self._best
        # The best level there can be and the best there is at least after each column.
        best = np.concatenate(([p_min + s_min], least))
        np.minimum.accumulate(best, out=best)
        reached = np.concatenate(([p_min + s_min], most[:-1]))
        np.minimum.accumulate(reached, out=reached)
        looked = least * (1.0 - _ROUNDING) < reached
        # s_min changes where a column betters the best only.
        s_after = np.concatenate(([s_min], np.where(looked, s_least, math.inf)))
        np.minimum.accumulate(s_after, out=s_after)
        looked |= most * (1.0 + _ROUNDING) > best[1:] + (self.level - 1.0) * s_after[1:]
        return np.flatnonzero(looked)

    def _follow(
        self, x: NDArray[np.float64], first: NDArray[np.float64], before: NDArray[np.float64]
    ) -> tuple[tuple[NDArray[np.float64], ...], NDArray[np.intp]]:
        """Return the best level at the start of these columns and at the end, and those that may alarm."""
        columns = x.shape[1]
        numbers, sums = first.copy(), before.copy()
        p, s = np.empty(columns), np.empty(columns)
        one = np.ones(columns)
        low, high = np.full(columns, math.inf), np.zeros(columns)
        for row in x:
            numbers += one
            sums += row
            np.divide(sums, numbers, out=p)
            np.subtract(one, p, out=s)
            s *= p
            s /= numbers
            np.sqrt(s, out=s)
            p += s
            np.minimum(low, p, out=low)
            np.maximum(high, p, out=high)
        best_p, best_s = self._best
        best = np.minimum.accumulate(np.concatenate(([best_p + best_s], low)))
        # The few columns that better the best level are computed again, for where they do.
        new = np.flatnonzero(low < best[:-1])
        p, s = self._levels(x[:, new], before[new], first[new])
        at = np.argmin(p + s, axis=0), np.arange(len(new))
        which = np.zeros(columns + 1, dtype=np.intp)
        which[new + 1] = np.arange(1, len(new) + 1)
        which = np.maximum.accumulate(which)
        p_min = np.concatenate(([best_p], p[at]))[which]
        s_min = np.concatenate(([best_s], s[at]))[which]
        # While a column betters the best, its limit is somewhere above this.
        least = s_min[:-1].copy()
        least[new] = np.minimum(least[new], s.min(axis=0))
        limit = best[1:] + (self.level - 1.0) * least
        return (p_min, s_min), np.flatnonzero(high > limit * (1.0 - _ROUNDING))

    @staticmethod
    def _levels(
        x: NDArray[np.float64], before: NDArray[np.float64], first: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return p and s after each record of some columns."""
        n = first + np.arange(1.0, COLUMN + 1)[:, np.newaxis]
        p = (before + np.cumsum(x, axis=0)) / n
        return p, np.sqrt(np.maximum(0.0, p * (1.0 - p)) / n)

"""The Page-Hinkley test: has the mean of a stream moved by more than `delta`?

``m_t = a m_{t-1} + (x_t - mean_t - delta)``, ``M_t = min(a M_{t-1}, m_t)``, alarm when ``m_t - M_t >
threshold``: the minimum is kept, and fades with the sum when a < 1. Only the difference ``g = m - M``
matters, and

    ``g_t = m_t - min(a M_{t-1}, m_t) = max(0, m_t - a M_{t-1}) = max(0, a g_{t-1} + x_t - mean_t - delta)``,

so one number that stays between 0 and the threshold is kept instead of two that drift to minus infinity.
Downwards: the same with ``mean_t - x_t - delta``.

Reference: Page, *Continuous inspection schemes*, Biometrika 41 (1954); Gama, Sebastião, Rodrigues, *On
evaluating stream learning algorithms*, Machine Learning 90 (2013), section 6.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..fading import block_length, check_alpha, powers
from .alarms import DOWN, UP, check_positive
from .columns import COLUMN, ColumnDetector

_LEAST_DECAY = 1e-80


class PageHinkley(ColumnDetector):
    """Page-Hinkley; an alarm's value is ``g``, the rise (or fall) summed up since the extreme.

    Parameters
    ----------
    delta : float
        Change of the mean that is tolerated, in units of the values.
    threshold : float
        Lambda: alarm above it. After a rise of the mean by r, an alarm comes after about ``threshold / (r -
        delta)`` records. The defaults suit 0-1 losses: of 300 stationary streams of 100,000 records with
        error rate 0.2 one raised an alarm, and a rise to 0.4 is found within 144 records in the median (at
        the threshold of 20 that is often used: 11 of 300, and 127 records).
    fading : float
        a in (0, 1]; with a < 1 the test forgets, and changes that are slower than its memory go unseen.
    direction : str
        ``"up"`` (errors grew), ``"down"``, or ``"both"``.
    warmup : int
        No alarm before this many records since the start or the last alarm; they do count into mean and sum.

    Raises
    ------
    InputError
        For parameters outside their range.
    """

    def __init__(
        self,
        delta: float = 0.05,
        threshold: float = 22.0,
        fading: float = 1.0,
        direction: str = UP,
        warmup: int = 30,
    ) -> None:
        self.delta = check_positive("delta", delta, zero=True)
        self.threshold = check_positive("threshold", threshold)
        self.fading = check_alpha(fading)
        if direction not in (UP, DOWN, "both"):
            raise InputError(f"direction is {direction!r} (expected 'up', 'down' or 'both')")
        self.directions = (UP, DOWN) if direction == "both" else (direction,)
        self.warmup = int(check_positive("warmup", warmup, zero=True))
        super().__init__()

    @property
    def statistic(self) -> dict[str, float]:
        """The present ``g`` of each direction."""
        return dict(self._g)

    def _start(self) -> None:
        self._n = 0
        self._sum = 0.0
        self._g = dict.fromkeys(self.directions, 0.0)

    def _enter(self, states: dict[str, NDArray[np.float64]], at: int) -> None:
        self._g = {direction: float(g[at]) for direction, g in states.items()}

    def _walk(self, records: NDArray[np.float64]) -> tuple[int, tuple[str, float] | None]:
        for taken, x in enumerate(records.tolist(), 1):
            self._n += 1
            self._sum += x
            deviation = x - self._sum / self._n
            for direction in self.directions:
                step = deviation if direction == UP else -deviation
                g = max(0.0, self.fading * self._g[direction] + step - self.delta)
                self._g[direction] = g
                if g > self.threshold and self._n >= self.warmup:
                    return taken, (direction, g)
        return len(records), None

    def _columns(
        self,
        x: NDArray[np.float64],
        own: NDArray[np.float64],
        numbers: NDArray[np.float64],
        sums: NDArray[np.float64],
    ) -> tuple[NDArray[np.intp], dict[str, NDArray[np.float64]], NDArray[np.intp]]:
        low, high = float(x.min()), float(x.max())
        if self._n:
            # Means then lie between the two as well.
            low, high = min(low, self._sum / self._n), max(high, self._sum / self._n)
        # Wider than what the sums of a block are rounded by; the walk decides.
        slack = 1e-9 * self.threshold + 1e-10 * max(abs(low), abs(high))
        limit = self.threshold - slack
        if len(own) < self._screened:
            looked, most = np.arange(len(own)), dict.fromkeys(self.directions, 0.0)
        else:
            looked, most = self._screen(own, numbers, sums, (low, high), limit, slack)
        starts, highest = self._follow(x[looked], looked, numbers[looked], sums[looked], most)
        return looked, starts, np.flatnonzero(highest > limit)

    def _screen(
        self,
        own: NDArray[np.float64],
        numbers: NDArray[np.float64],
        sums: NDArray[np.float64],
        span: tuple[float, float],
        limit: float,
        slack: float,
    ) -> tuple[NDArray[np.intp], dict[str, float]]:
        """Return the columns to be looked at, and what g is nowhere above, for each direction."""
        most = {}
        # A target is a column whose g at the start is asked for; one past the last: the end.
        near, anew = np.zeros(len(own) + 1, dtype=bool), []
        near[-1] = True
        decay = self.fading**COLUMN
        for name in self.directions:
            rise, total = self._bounds(name, own, numbers, sums, span)
            g = reflected(self._g[name], rise, total, decay)
            most[name] = float(g.max())
            near[:-1] |= g[:-1] + rise > limit
            anew.append(np.flatnonzero(decay * g[:-1] + total < -slack))
        return _stretches(np.flatnonzero(near), anew), most

    def _bounds(
        self,
        name: str,
        own: NDArray[np.float64],
        numbers: NDArray[np.float64],
        sums: NDArray[np.float64],
        span: tuple[float, float],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return what g can at most rise by within each column, and what is added to it over a whole column.

        Let y be how far a record lies above the lowest (downwards: below the highest) value, W the largest y,
        and S the sum of a column's. Over j records g rises by at most their y less j c, c being delta plus
        the least that the mean of y can be in the column. A sum of y takes y / W records at least: hence S (1
        - c / W), reached when the largest come first. To a g that has not been at 0 since the column's start,
        16 steps add at most S - 16 c, and with a < 1 at most S less c for each weight. Without fading g would
        nowhere be smaller, so the first bound holds then, too.
        """
        low, high = span
        if name == UP:
            above, before = own - COLUMN * low, sums - low * numbers
        else:
            above, before = COLUMN * high - own, high * numbers - sums
        before /= numbers + COLUMN
        np.maximum(before, 0.0, out=before)
        before += self.delta
        weight = COLUMN if self.fading == 1.0 else -np.expm1(COLUMN * np.log(self.fading)) / (1 - self.fading)
        fall = above - weight * before
        if high == low:
            return np.zeros(len(own)), fall
        before *= -1.0 / (high - low)
        before += 1.0
        above *= before
        return np.maximum(above, 0.0, out=above), fall

    def _follow(
        self,
        x: NDArray[np.float64],
        looked: NDArray[np.intp],
        numbers: NDArray[np.float64],
        sums: NDArray[np.float64],
        most: dict[str, float],
    ) -> tuple[dict[str, NDArray[np.float64]], NDArray[np.float64]]:
        """Return g at the start of the columns that are looked at, and at the end; and the highest in each.

        From g at a column's start, ``g_j = max(h_j, a^(j+1) g + A_j)`` with h the same recurrence from 0
        and A the faded sum of the steps. So h and A of all columns are had at once, row by row, and g from
        column to column after it. Where columns were left out, g starts with 0 (see `_stretches`). With a < 1
        the highest may be less than what is returned.
        """
        shape = len(self.directions), len(looked)
        deviation, step = np.empty(len(looked)), np.empty(shape)
        one, delta, zero = np.ones(len(looked)), np.full(shape, self.delta), np.zeros(shape)
        h, total, highest_h, highest_total = np.zeros((4, *shape))
        for row in np.ascontiguousarray(x.T):
            numbers += one
            sums += row
            np.divide(sums, numbers, out=deviation)
            np.subtract(row, deviation, out=deviation)
            for way, name in zip(step, self.directions, strict=True):
                if name == UP:
                    way[:] = deviation
                else:
                    np.negative(deviation, out=way)
            step -= delta
            if self.fading != 1.0:
                h *= self.fading
                total *= self.fading
            h += step
            total += step
            np.maximum(h, zero, out=h)
            np.maximum(highest_h, h, out=highest_h)
            np.maximum(highest_total, total, out=highest_total)
        starts, after_gap = {}, np.flatnonzero(looked[1:] - looked[:-1] > 1) + 1
        for k, name in enumerate(self.directions):
            total[k, after_gap] = -most[name]
            g = self._g[name] if looked[0] == 0 else 0.0
            starts[name] = reflected(g, h[k], total[k], self.fading**COLUMN)
            starts[name][after_gap] = 0.0
            highest_total[k] += starts[name][:-1]
        return starts, np.maximum(highest_h, highest_total).max(axis=0)


def _stretches(targets: NDArray[np.intp], anew: list[NDArray[np.intp]]) -> NDArray[np.intp]:
    """Return the columns from which g at the start of every target follows, and the targets.

    In a column that is in `anew` even the largest g that is possible comes to 0 at some record. So what g is
    after it does not depend on what it was before: start with 0 there, or anywhere before.

    Parameters
    ----------
    targets : ndarray
        Ascending; the last is one past the last column.
    anew : list of ndarray
        Such columns for each direction, ascending.
    """
    begin = targets.copy()
    for columns in anew:
        found = np.searchsorted(columns, targets)
        known = np.concatenate(([0], columns))[found]
        begin = np.minimum(begin, known)
    end = int(targets[-1])
    change = np.bincount(begin, minlength=end + 2)
    change[1:] -= np.bincount(targets, minlength=end + 1)
    return np.flatnonzero(np.cumsum(change[:end]) > 0)


def reflected(
    g: float, low: NDArray[np.float64], total: NDArray[np.float64], decay: float
) -> NDArray[np.float64]:
    """Return g and what becomes of it by ``g' = max(low, decay g + total)``, element by element.

    Scaled by the decay so far, that is a sum less a running minimum. In pieces, so that the scale stays
    representable.

    Parameters
    ----------
    g : float
    low, total : ndarray, shape (n,)
    decay : float
        From 0 to 1.

    Returns
    -------
    numpy.ndarray, shape (n + 1,)
    """
    count = len(low)
    result = np.empty(count + 1)
    result[0] = g
    if decay == 1.0:
        path = np.cumsum(total)
        least = low - path
        np.maximum.accumulate(least, out=least)
        np.maximum(least, g, out=least)
        np.add(path, least, out=result[1:])
        return result
    # Less than this share of g is lost in the rounding of what is added.
    decay = max(decay, _LEAST_DECAY)
    piece = block_length(decay)
    up, down = powers(decay, piece)
    if count <= piece:
        up, down, piece = up[:count], down[:count], count
    pieces = -(-count // piece)
    missing = pieces * piece - count
    if missing:
        low, total = (np.concatenate((part, np.zeros(missing))) for part in (low, total))
    path = total.reshape(pieces, piece) * down
    np.cumsum(path, axis=1, out=path)
    least = low.reshape(pieces, piece) * down
    least -= path
    np.maximum.accumulate(least, axis=1, out=least)
    starts = []
    for sum_, most in zip(path[:, -1].tolist(), least[:, -1].tolist(), strict=True):
        starts.append(g)
        g = (sum_ + max(g, most)) * float(up[-1])
    np.maximum(least, np.array(starts)[:, np.newaxis], out=least)
    path += least
    path *= up
    result[1:] = path.ravel()[:count]
    return result

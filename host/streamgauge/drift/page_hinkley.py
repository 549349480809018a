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

    def _longest(self) -> int:
        return block_length(self.fading)

    def _enter(self, states: dict[str, NDArray[np.float64]], column: int) -> None:
        self._g = {direction: float(g[column]) for direction, g in states.items()}

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
        self, x: NDArray[np.float64], sums: NDArray[np.float64]
    ) -> tuple[dict[str, NDArray[np.float64]], NDArray[np.intp]]:
        """Return ``g`` at the start of every column and at the end, and the columns that may hold an alarm.

        From g at a column's start, ``g_j = max(h_j, a^(j+1) g + A_j)`` with h the same recurrence from 0
        and A the faded sum of the steps. So h and A of all columns are had at once, row by row, and g from
        column to column after it. In a column g stays below its value at the end plus what it can fall in
        15 steps; few columns come near the threshold by that.
        """
        columns = x.shape[1]
        numbers = np.arange(self._n, self._n + x.size, COLUMN, dtype=np.float64)
        zero, delta = np.zeros(columns), np.full(columns, self.delta)
        deviation, step = np.empty(columns), np.empty(columns)
        walks = [(name, np.zeros(columns), np.zeros(columns)) for name in self.directions]
        low, high = float(x.min()), float(x.max())
        steepest = {}
        if UP in self.directions:
            steepest[UP] = self._mean_at_most(high, numbers, sums) - low
        if DOWN in self.directions:
            steepest[DOWN] = self._mean_at_most(-low, numbers, -sums) + high
        for row in x:
            numbers += 1.0
            sums += row
            np.divide(sums, numbers, out=deviation)
            np.subtract(row, deviation, out=deviation)
            for name, h, total in walks:
                if name == UP:
                    np.subtract(deviation, delta, out=step)
                else:
                    np.add(deviation, delta, out=step)
                    np.negative(step, out=step)
                if self.fading != 1.0:
                    h *= self.fading
                    total *= self.fading
                h += step
                total += step
                np.maximum(h, zero, out=h)
        starts = {}
        risky = np.zeros(columns, dtype=bool)
        for name, h, total in walks:
            g = self._at_columns(self._g[name], h, total)
            starts[name] = g
            fall = np.maximum(0.0, steepest[name] + self.delta) * (COLUMN - 1)
            # With fading, a step also loses a share of what g was.
            most = (g[1:] + fall) / self.fading ** (COLUMN - 1)
            # A hair below the threshold: the walk, which decides, rounds in another order.
            risky |= most > self.threshold * (1.0 - 1e-9)
        return starts, np.flatnonzero(risky)

    @staticmethod
    def _mean_at_most(
        high: float, numbers: NDArray[np.float64], sums: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return what the mean does not exceed in each column, from number and sum before it."""
        mean = (sums + COLUMN * high) / (numbers + COLUMN)
        return np.maximum(mean, np.divide(sums, numbers, out=mean.copy(), where=numbers > 0))

    def _at_columns(
        self, g: float, low: NDArray[np.float64], total: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return g at every column's start and at the end: ``g' = max(low, a^16 g + total)`` each time.

        Scaled by the decay so far, that is a sum less a running minimum.
        """
        up, down = powers(self.fading**COLUMN, len(low))
        path = np.cumsum(total * down)
        scaled = path + np.maximum(g, np.maximum.accumulate(low * down - path))
        return np.concatenate(([g], scaled * up))

"""Detectors over the running mean, scanned column-wise.

numpy's running sums and minima take one record at a time, and slowly. So a block of records is laid out in
columns of 16, in stream order down each column and then on to the next, and three looks are taken, each at
less than the one before:

1. From its sum alone it follows, for every column at once, how far the statistic can have gone in it at
   most. Most columns neither come near an alarm nor leave a trace in the state: they are passed over.
2. In the columns that are left the recurrences go on together, row by row, as additions of whole rows. What a
   column does to the state that it starts with is then known from a few figures, which gives the state at
   every column's start, and shows which columns could hold an alarm.
3. Only those are walked record by record, as the formula reads; the walk decides.

The bounds of the first two looks are wider than their rounding, so they never pass over what the walk would
find. The walk itself starts with a state that was summed up in another order than record by record: in its
last bits (a share of about 1e-12) it may differ, and where a statistic equals its limit to within that, the
alarm may come one record earlier or later, or not at all. Counts and sums of 0-1 losses are exact.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .alarms import Detector

COLUMN = 16


class ColumnDetector(Detector):
    """A detector whose state is number and sum of the records since the start, and something of its own."""

    # With fewer columns the first look costs more than it saves.
    _screened = 192

    _n: int
    _sum: float

    @property
    def mean(self) -> float | None:
        """Mean of the values since the start or the last alarm; None before the first."""
        return self._sum / self._n if self._n else None

    def _walked(self) -> bool:
        """Whether the next records are walked in any case."""
        return False

    @abstractmethod
    def _columns(
        self,
        x: NDArray[np.float64],
        own: NDArray[np.float64],
        numbers: NDArray[np.float64],
        sums: NDArray[np.float64],
    ) -> tuple[NDArray[np.intp], Any, NDArray[np.intp]]:
        """Return the columns looked at, their states, and which of them may hold an alarm.

        States are the own state at the start of each column that was looked at, and at last at the block's
        end.

        Parameters
        ----------
        x : ndarray, shape (columns, 16)
            The records.
        own : ndarray, shape (columns,)
            Sum of each column.
        numbers, sums : ndarray, shape (columns,)
            Number and sum of all records before each column.
        """

    @abstractmethod
    def _enter(self, states: Any, at: int) -> None:
        """Set the own state to number `at` of the states."""

    @abstractmethod
    def _walk(self, records: NDArray[np.float64]) -> tuple[int, tuple[str, float] | None]:
        """Take a few records one by one, as the formula reads."""

    def _scan(self, block: NDArray[np.float64]) -> tuple[int, tuple[str, float] | None]:
        columns = len(block) // COLUMN
        if columns == 0 or self._walked():
            return self._walk(block[:COLUMN])
        size = columns * COLUMN
        x = block[:size].reshape(columns, COLUMN)
        own = np.einsum("ij->i", x)
        sums = np.concatenate(([self._sum], own))
        np.cumsum(sums, out=sums)
        numbers = np.arange(self._n, self._n + size, COLUMN, dtype=np.float64)
        looked, states, risky = self._columns(x, own, numbers, sums[:-1])
        first = self._n
        for at in risky.tolist():
            column = int(looked[at])
            self._n = first + column * COLUMN
            self._sum = float(sums[column])
            self._enter(states, at)
            _, found = self._walk(x[column])
            if found is not None:
                return self._n - first, found
        self._n = first + size
        self._sum = float(sums[-1])
        self._enter(states, len(looked))
        return size, None

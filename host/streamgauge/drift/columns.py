"""Detectors over the running mean, scanned column-wise.

numpy's running sums and minima take one record at a time. So a block of records is laid out in columns of
16, in stream order down each column and then on to the next: the recurrences of all columns go on together,
row by row, as additions of whole rows. What a column does to the state that it starts with is then known
from a few figures of the column, which gives every column's start, and shows which columns could hold an
alarm at all. Only those are walked record by record.
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

    _n: int
    _sum: float

    @property
    def mean(self) -> float | None:
        """Mean of the values since the start or the last alarm; None before the first."""
        return self._sum / self._n if self._n else None

    def _longest(self) -> int:
        """Return how many records a block may have; below one column all are walked."""
        return 1 << 30

    @abstractmethod
    def _columns(self, x: NDArray[np.float64], sums: NDArray[np.float64]) -> tuple[Any, NDArray[np.intp]]:
        """Return the own state at each column's start and at the end, and the columns that may hold an alarm.

        Parameters
        ----------
        x : ndarray, shape (16, columns)
            The records.
        sums : ndarray, shape (columns,)
            Sum of all records before each column; may be overwritten.
        """

    @abstractmethod
    def _enter(self, states: Any, column: int) -> None:
        """Set the own state to that at the start of `column` (one past the last: the end)."""

    @abstractmethod
    def _walk(self, records: NDArray[np.float64]) -> tuple[int, tuple[str, float] | None]:
        """Take a few records one by one, as the formula reads."""

    def _scan(self, block: NDArray[np.float64]) -> tuple[int, tuple[str, float] | None]:
        columns = min(len(block), self._longest()) // COLUMN
        if columns == 0:
            return self._walk(block[:COLUMN])
        size = columns * COLUMN
        x = np.ascontiguousarray(block[:size].reshape(columns, COLUMN).T)
        sums = np.concatenate(([self._sum], self._sum + np.cumsum(x.sum(axis=0))))
        states, risky = self._columns(x, sums[:-1].copy())
        first = self._n
        for column in risky.tolist():
            self._n = first + column * COLUMN
            self._sum = float(sums[column])
            self._enter(states, column)
            _, found = self._walk(x[:, column])
            if found is not None:
                return self._n - first, found
        self._n = first + size
        self._sum = float(sums[-1])
        self._enter(states, columns)
        return size, None

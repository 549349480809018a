"""What every drift detector shares: alarms, the walk over blocks of records, the restart after an alarm."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError

UP = "up"
DOWN = "down"


@dataclass(frozen=True)
class Alarm:
    """The stream has changed.

    Attributes
    ----------
    index : int
        The record that raised it, counted from 0 since the detector was made or reset.
    direction : str
        ``"up"`` when the values grew (losses: things got worse), ``"down"`` when they fell.
    value : float
        The statistic that passed the limit; what it is, the detector says.
    """

    index: int
    direction: str
    value: float


class Detector(ABC):
    """A drift detector fed with arrays of any length; how a stream is cut into arrays changes nothing.

    After an alarm the detector starts anew with the next record.

    Attributes
    ----------
    count : int
        Records seen.
    alarms : list of Alarm
        All alarms so far.
    """

    # A scan starts with a small block after each alarm, so that a stream full of alarms is not scanned over
    # and over. It grows: the larger a block, the less the calls of numpy count.
    _first_block = 1024
    _last_block = 1 << 18
    _growth = 4

    def __init__(self) -> None:
        self.count = 0
        self.alarms: list[Alarm] = []
        self._start()

    @abstractmethod
    def _start(self) -> None:
        """Forget everything that the next alarm could depend on."""

    @abstractmethod
    def _scan(self, block: NDArray[np.float64]) -> tuple[int, tuple[str, float] | None]:
        """Take records up to and including the first alarm; return how many, and its (direction, value)."""

    def _after_alarm(self) -> None:
        """What an alarm does to the state; most detectors start anew."""
        self._start()

    def reset(self) -> None:
        """Forget all records and all alarms."""
        self.count = 0
        self.alarms = []
        self._start()

    def update(self, values: ArrayLike) -> list[Alarm]:
        """Feed records in stream order.

        Parameters
        ----------
        values : array_like, shape (n,)
            Losses, or an error figure per record (see `Signal`).

        Returns
        -------
        list of Alarm
            Those raised by these records, oldest first.

        Raises
        ------
        InputError
            Where a value is not a finite number of the range that the detector takes.
        """
        x = self._checked(values)
        new: list[Alarm] = []
        at, size = 0, self._first_block
        while at < len(x):
            taken, found = self._scan(x[at : at + size])
            at += taken
            self.count += taken
            size = min(self._growth * size, self._last_block)
            if found is not None:
                new.append(Alarm(self.count - 1, *found))
                self._after_alarm()
                size = self._first_block
        self.alarms += new
        return new

    def _checked(self, values: ArrayLike) -> NDArray[np.float64]:
        x = one_dimension(values)
        # The sum is finite unless a value is not, or unless values are absurdly large: then look closer.
        if not np.isfinite(x.sum()):
            check_finite(x)
        return x


def one_dimension(values: ArrayLike) -> NDArray[np.float64]:
    """Return losses as numbers, a value per record, or refuse them."""
    x = np.asarray(values, dtype=np.float64)
    if x.ndim != 1:
        raise InputError(f"losses have {x.ndim} dimensions (expected one, a value per record)")
    return x


def check_finite(x: NDArray[np.float64]) -> None:
    """Refuse what is not a finite number."""
    finite = np.isfinite(x)
    if not finite.all():
        bad = int(np.argmin(finite))
        raise InputError(f"loss of record {bad} is {x[bad]} (expected a finite number)")


def check_unit_range(values: ArrayLike) -> NDArray[np.float64]:
    """Return losses as numbers; refuse values outside [0, 1]."""
    x = one_dimension(values)
    # Not so either where one is no number.
    if len(x) and not (x.min() >= 0.0 and x.max() <= 1.0):
        check_finite(x)
        bad = int(np.argmax((x < 0.0) | (x > 1.0)))
        raise InputError(
            f"loss of record {bad} is {x[bad]} (expected 0 to 1)",
            remedy="Divide losses by their largest value R",
        )
    return x


def check_positive(name: str, value: float, zero: bool = False) -> float:
    """Return `value`, or refuse it: a finite number above 0 (or from 0 on)."""
    if not np.isfinite(value) or value < 0 or (value == 0 and not zero):
        raise InputError(f"{name} is {value!r} (expected a number {'from 0 on' if zero else 'above 0'})")
    return value

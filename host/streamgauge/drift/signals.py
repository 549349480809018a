"""What a drift detector watches: the raw loss, the faded error or the windowed error."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from ..fading import check_alpha, faded_sums

SOURCES = ("loss", "fading", "window")


class Signal:
    """Turn losses into the error figure that a detector is to watch, record by record.

    A smoothed figure lets a detector overlook single bursts, and delays it by about the memory of the figure.

    Parameters
    ----------
    source : str
        ``"loss"``: the losses as they are. ``"fading"``: ``S_t / B_t`` with ``S_t = x_t + alpha S_{t-1}``
        and ``B_t = 1 + alpha B_{t-1}``. ``"window"``: the mean of the last `window` losses (of all, before
        there are so many).
    alpha : float
        Fading factor in (0, 1].
    window : int
        Records.
    """

    def __init__(self, source: str = "loss", *, alpha: float = 0.999, window: int = 1000) -> None:
        if source not in SOURCES:
            raise InputError(f"signal is {source!r} (expected {', '.join(SOURCES)})")
        if window < 1:
            raise InputError(f"window is {window!r} (expected 1 or more)")
        self.source, self.alpha, self.window = source, check_alpha(alpha), int(window)
        self.reset()

    def reset(self) -> None:
        """Forget all records."""
        self._count = 0
        self._sum = 0.0
        self._kept = np.zeros(0)

    def update(self, losses: ArrayLike) -> NDArray[np.float64]:
        """Return the figure after each of these records; shape (n,) to shape (n,)."""
        x = np.asarray(losses, dtype=np.float64)
        if self.source == "loss" or len(x) == 0:
            return x
        counts = np.arange(self._count + 1, self._count + len(x) + 1, dtype=np.float64)
        self._count += len(x)
        if self.source == "fading":
            sums = faded_sums(x, self.alpha, self._sum)
            self._sum = float(sums[-1])
            if self.alpha == 1.0:
                return sums / counts
            return sums * ((1.0 - self.alpha) / -np.expm1(counts * np.log(self.alpha)))
        known = np.concatenate((self._kept, x))
        total = np.concatenate(([0.0], np.cumsum(known)))
        end = np.arange(len(self._kept) + 1, len(known) + 1)
        sums = total[end] - total[np.maximum(0, end - self.window)]
        self._kept = known[-self.window :]
        return sums / np.minimum(counts, self.window)

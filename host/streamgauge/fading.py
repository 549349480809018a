"""Exponentially faded sums of whole arrays: ``S_t = x_t + alpha * S_{t-1}`` without a loop over records."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import InputError

# A weight below 2^-64 cannot change a float64 sum that holds a weight of 1.
_NEGLIGIBLE = 64 * math.log(2)
# Within a block records are weighted by alpha^-j; this many natural logarithms keep that far from overflow.
_BLOCK_RANGE = 200.0
_BLOCK_LIMIT = 32768


def check_alpha(alpha: float) -> float:
    """Return `alpha` as a float, or refuse it: it must lie in (0, 1], 1 meaning that nothing fades."""
    if not 0.0 < alpha <= 1.0:
        raise InputError(
            f"fading factor alpha is {alpha!r} (expected more than 0 and at most 1)",
            remedy="Use 1 for no fading, 0.999 for a memory of about a thousand records",
        )
    return float(alpha)


def tail_weights(alpha: float, count: int) -> NDArray[np.float64]:
    """Return the weights of the newest records, oldest of them first, without those below 2^-64.

    Parameters
    ----------
    alpha : float
        Fading factor in (0, 1].
    count : int
        Records there are.

    Returns
    -------
    numpy.ndarray, shape (k,), k <= count
        ``alpha^(k-1), ..., alpha, 1``.
    """
    if alpha < 1.0:
        count = min(count, math.ceil(_NEGLIGIBLE / -math.log(alpha)) + 1)
    return alpha ** np.arange(count - 1, -1, -1, dtype=np.float64)


def block_length(alpha: float) -> int:
    """Return how many records one block may hold so that ``alpha^-j`` stays representable in it."""
    if alpha == 1.0:
        return _BLOCK_LIMIT
    return max(1, min(_BLOCK_LIMIT, int(_BLOCK_RANGE / -math.log(alpha))))


@lru_cache(maxsize=32)
def powers(alpha: float, length: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return ``alpha^(j+1)`` and ``alpha^-(j+1)`` for j in 0 .. length-1; shared, so not to be written to."""
    up = alpha ** np.arange(1, length + 1, dtype=np.float64)
    down = 1.0 / up
    up.flags.writeable = down.flags.writeable = False
    return up, down


def faded_sums(values: ArrayLike, alpha: float, start: float = 0.0) -> NDArray[np.float64]:
    """Return every ``S_t = x_t + alpha * S_{t-1}``.

    Parameters
    ----------
    values : array_like, shape (n,)
        The records x.
    alpha : float
        Fading factor in (0, 1].
    start : float
        S before the first record.

    Returns
    -------
    numpy.ndarray, shape (n,)
        Relative error below 2^-40: within a block of limited length the terms are scaled to a common
        weight, summed, and scaled back; the blocks follow one after the other.
    """
    x = np.asarray(values, dtype=np.float64)
    n = len(x)
    if n == 0:
        return np.empty(0)
    length = min(block_length(alpha), n)
    up, down = powers(alpha, length)
    whole = n // length * length
    sums = np.empty(n)
    blocks = sums[:whole].reshape(-1, length)
    np.multiply(x[:whole].reshape(-1, length), down, out=blocks)
    np.cumsum(blocks, axis=1, out=blocks)
    blocks *= up
    before = start
    for block in blocks:  # as few as 250 for a million records: no need to sum them by blocks again
        block += before * up
        before = block[-1]
    if whole < n:
        rest = n - whole
        sums[whole:] = (np.cumsum(x[whole:] * down[:rest]) + before) * up[:rest]
    return sums

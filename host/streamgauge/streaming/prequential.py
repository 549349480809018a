"""Prequential error of a stream: `streamgauge.prequential` for losses that come part by part.

Equal neighbours are merged into runs whatever parts they came in, and runs are summed in blocks that are
counted from the stream's start. So every figure has the same bits for any way the stream is cut.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..prequential import (
    LossRuns,
    Prequential,
    check_losses,
    check_parameters,
    faded_weights,
    figures_of,
)
from ..segments import UNKNOWN
from ..slices import Pieces

FloatArray = npt.NDArray[np.float64]

_BLOCK = 4096  # runs


class StreamingPrequential:
    """Mean, sliding window and fading factor of a stream of losses.

    Parameters
    ----------
    window : int
        Labelled records of the sliding window, eight bytes each.
    alpha : float
        Fading factor in (0, 1].
    R : float
        Largest possible loss.
    delta : float
        Probability that a bound fails.

    Raises
    ------
    InputError
        A parameter is out of range.
    """

    def __init__(self, window: int, alpha: float, R: float = 1.0, delta: float = 0.05) -> None:
        self._alpha = check_parameters(window, alpha, R, delta)
        self._largest, self._delta = R, delta
        self._ring = np.full(window, 0.0)  # written to, so that the memory is taken now
        self._at = 0  # where the next record goes
        self._count = self._unlabelled = 0
        self._sum = self._faded = 0.0  # over the blocks that are full
        # Runs of the block that is not: losses and lengths, the last run maybe not at its end.
        self._losses: list[float] = []
        self._lengths: list[int] = []

    def feed(self, runs: LossRuns) -> None:
        """Take the next losses; nan is a record without truth.

        Raises
        ------
        InputError
            A loss is out of range; nothing is taken then.
        """
        check_losses(runs, self._largest)
        known = ~np.isnan(runs.loss)
        loss, length = runs.loss[known], runs.length[known]
        count = int(length.sum())
        self._unlabelled += int(runs.length.sum()) - count
        if count == 0:
            return
        self._count += count
        self._into_window(loss, length)
        first = np.flatnonzero(np.concatenate(([True], loss[1:] != loss[:-1])))
        merged = np.add.reduceat(length, first).tolist()
        losses = loss[first].tolist()
        if self._losses and self._losses[-1] == losses[0]:
            self._lengths[-1] += merged[0]
            del merged[0], losses[0]
        self._losses += losses
        self._lengths += merged
        # The last run may go on: it waits.
        while len(self._losses) > _BLOCK:
            self._sum, self._faded = self._with_block(_BLOCK)
            del self._losses[:_BLOCK], self._lengths[:_BLOCK]

    def result(self) -> Prequential:
        """Return the figures after the last record."""
        loss_sum, faded = self._with_block(len(self._losses))
        in_window = min(self._count, len(self._ring))
        newest_first = np.roll(self._ring, -self._at)[len(self._ring) - in_window :]
        return figures_of(
            count=self._count,
            unlabelled=self._unlabelled,
            loss_sum=loss_sum,
            window_count=in_window,
            window_sum=math.fsum(newest_first.tolist()),
            fading_sum=faded,
            window=len(self._ring),
            alpha=self._alpha,
            R=self._largest,
            delta=self._delta,
        )

    def _with_block(self, runs: int) -> tuple[float, float]:
        """Return both sums with the next `runs` runs added."""
        loss = np.array(self._losses[:runs])
        length = np.array(self._lengths[:runs], dtype=np.int64)
        records = int(length.sum())
        after = records - np.cumsum(length)
        weights = faded_weights(self._alpha, length) * np.power(self._alpha, after.astype(np.float64))
        total = math.fsum((self._sum, *_products(loss, length)))
        faded = math.fsum((self._faded * self._alpha**records, *_products(loss, weights)))
        return total, faded

    def _into_window(self, loss: FloatArray, length: npt.NDArray[np.int64]) -> None:
        """Write the newest records into the ring."""
        size = len(self._ring)
        after = int(length.sum()) - np.cumsum(length)
        inside = np.clip(size - after, 0, length)
        records = np.repeat(loss, inside)
        # Records that pass through between two feeds move the place all the same.
        begin = (self._at + int(length.sum()) - len(records)) % size
        upto = min(len(records), size - begin)
        self._ring[begin : begin + upto] = records[:upto]
        self._ring[: len(records) - upto] = records[upto:]
        self._at = (begin + len(records)) % size


def _products(loss: FloatArray, by: npt.NDArray[np.float64 | np.int64]) -> Sequence[float]:
    products: list[float] = (loss * by).tolist()
    return products


class SlicedLosses:
    """The 0-1 loss of every slice of a stream of pieces, as `prequential.losses_from_pieces` samples it.

    Parameters
    ----------
    slice_ticks : int
        Slices are counted from the stream's begin.
    """

    def __init__(self, slice_ticks: int) -> None:
        self._slice = slice_ticks
        self._phase = 0  # ticks into the present slice

    def feed(self, pieces: Pieces) -> LossRuns:
        """Return the losses of the slices whose first tick lies in these pieces."""
        end = self._phase + np.cumsum(pieces.length)
        begin = end - pieces.length
        first, stop = -(-begin // self._slice), -(-end // self._slice)
        self._phase = (self._phase + int(pieces.length.sum())) % self._slice
        loss = np.where(pieces.truth == UNKNOWN, np.nan, pieces.truth != pieces.prediction)
        held = stop > first
        return LossRuns(loss[held], (stop - first)[held])

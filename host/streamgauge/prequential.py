"""Prequential error: predictions are scored as their truth arrives, and averaged in three ways.

Source: Gama, Sebastião, Rodrigues, *On evaluating stream learning algorithms* (2013). For losses L in ``[0,
R]``:

- mean of all n records;
- sliding window: mean of the last w;
- fading factor alpha: ``S = L + alpha S``, ``B = 1 + alpha B``, estimate ``S / B``.

Each comes with two half-widths that hold with probability ``1 - delta``: Hoeffding's ``sqrt(R^2 ln(2/delta) /
(2 n))`` and Chernoff's ``sqrt(3 R mu ln(2/delta) / n)`` (the bound for ``[0, 1]``, scaled), which is the
narrower one for rare errors. For the faded mean n is the effective count ``(sum of weights)^2 / sum of
squared weights``: the bounds are proved for equal weights, so there they are a guide, not a proof. A record
without truth changes nothing but its own count.

A loss often stays the same for long (one wrong label an hour, at a record a second), so the input may be
runs: k records of loss L add ``L (1 - alpha^k) / (1 - alpha)`` to ``alpha^k S``, which is also the more
precise way to sum them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .errors import InputError
from .fading import check_alpha, faded_sums
from .segments import UNKNOWN, Segments
from .slices import Pieces

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LossRuns:
    """Losses as runs of equal ones.

    Attributes
    ----------
    loss : np.ndarray, shape=(k,), float64
        Loss of each record in the run; nan where the truth is not known.
    length : np.ndarray, shape=(k,), int64
        Records in the run, 1 or more.
    """

    loss: FloatArray
    length: IntArray

    @classmethod
    def of(cls, losses: npt.ArrayLike) -> LossRuns:
        """Return one run a record; `losses` has shape (n,), with nan for records without truth."""
        loss = np.asarray(losses, dtype=np.float64)
        return cls(loss, np.ones(len(loss), dtype=np.int64))

    def records(self) -> FloatArray:
        """Return the loss of every record, shape=(n,)."""
        return np.repeat(self.loss, self.length)


@dataclass(frozen=True)
class Estimate:
    """A mean loss and how far off it may be; all but `n_eff` are None before the first labelled record.

    Attributes
    ----------
    value : float or None
        In ``[0, R]``.
    n_eff : float
        Records behind it; for the faded mean ``(sum of weights)^2 / sum of squared weights``.
    hoeffding, chernoff : float or None
        Half-widths of the interval around `value`.
    """

    value: float | None
    n_eff: float
    hoeffding: float | None
    chernoff: float | None


@dataclass(frozen=True)
class Prequential:
    """The three estimates after the last record, and the sums they are made of.

    Attributes
    ----------
    count, unlabelled : int
        Records with and without truth.
    mean, window, fading : Estimate
    loss_sum : float
        Of all records.
    window_count : int
        Records in the window, `window_size` once it is full.
    window_sum : float
        Of the records in the window.
    fading_sum, fading_weight : float
        S and B.
    window_size : int
    alpha, loss_max, delta : float
        What was asked for; `loss_max` is R.
    """

    count: int
    unlabelled: int
    mean: Estimate
    window: Estimate
    fading: Estimate
    loss_sum: float
    window_count: int
    window_sum: float
    fading_sum: float
    fading_weight: float
    window_size: int
    alpha: float
    loss_max: float
    delta: float


@dataclass(frozen=True, eq=False)
class Curves:
    """The three estimates after each labelled record.

    Attributes
    ----------
    record : np.ndarray, shape=(n,), int64
        Index of the record among all, those without truth included.
    mean, window, fading : np.ndarray, shape=(n,), float64
    """

    record: IntArray
    mean: FloatArray
    window: FloatArray
    fading: FloatArray


def losses_from_pieces(truth: Segments, prediction: Segments, slice_ticks: int) -> LossRuns:
    """Return the 0-1 loss of each slice: 1 where the labels differ at its first tick.

    Parameters
    ----------
    truth, prediction : Segments
        Cover one span, one label at every tick; label 255 in the truth is UNKNOWN and gives records without
        truth.
    slice_ticks : int
        Slices are counted from the span's start; a last one that is cut short counts.

    Returns
    -------
    losses : LossRuns
        One run a piece that holds a slice's first tick.

    Raises
    ------
    InputError
        If the sequences do not cover one span exactly, or a slice is shorter than a tick.
    """
    if slice_ticks < 1:
        raise InputError(f"slice of {slice_ticks} ticks (expected 1 or more)")
    pieces = Pieces.of(truth, prediction)
    begin = pieces.start - pieces.start[:1]
    first_slice = -(-begin // slice_ticks)
    end_slice = -(-(begin + pieces.length) // slice_ticks)
    loss = np.where(pieces.truth == UNKNOWN, np.nan, pieces.truth != pieces.prediction)
    held = end_slice > first_slice
    return LossRuns(loss[held], (end_slice - first_slice)[held])


def prequential(
    losses: LossRuns | npt.ArrayLike, *, window: int, alpha: float, R: float = 1.0, delta: float = 0.05
) -> Prequential:
    """Estimate the error after the last record.

    Parameters
    ----------
    losses : LossRuns, or array-like of shape=(n,)
        Losses in ``[0, R]``, in order; nan for a record without truth.
    window : int
        Labelled records the sliding window holds.
    alpha : float
        Fading factor in (0, 1]; 1 fades nothing.
    R : float
        Largest possible loss.
    delta : float
        Probability that a bound fails.

    Returns
    -------
    prequential : Prequential

    Raises
    ------
    InputError
        If a parameter or a loss is out of range.
    """
    alpha = check_parameters(window, alpha, R, delta)
    runs = losses if isinstance(losses, LossRuns) else LossRuns.of(losses)
    check_losses(runs, R)
    labelled = ~np.isnan(runs.loss)
    loss, length = runs.loss[labelled], runs.length[labelled]
    until = np.cumsum(length)
    count = int(until[-1]) if len(until) else 0
    after = count - until  # records that follow each run

    loss_sum = math.fsum((loss * length).tolist())
    in_window = np.clip(window - after, 0, length)
    window_count = int(in_window.sum())
    window_sum = math.fsum((loss * in_window).tolist())
    # The run's own weight as it stood at its end, faded since.
    weights = faded_weights(alpha, length) * np.power(alpha, after.astype(np.float64))
    fading_sum = math.fsum((loss * weights).tolist())

    return figures_of(
        count=count,
        unlabelled=int(runs.length.sum()) - count,
        loss_sum=loss_sum,
        window_count=window_count,
        window_sum=window_sum,
        fading_sum=fading_sum,
        window=window,
        alpha=alpha,
        R=R,
        delta=delta,
    )


def figures_of(
    *,
    count: int,
    unlabelled: int,
    loss_sum: float,
    window_count: int,
    window_sum: float,
    fading_sum: float,
    window: int,
    alpha: float,
    R: float,
    delta: float,
) -> Prequential:
    """Return the estimates that counts and sums make; the names are those of `Prequential`."""
    weight = faded_weight(alpha, count)

    def estimate(total: float, size: float, n_eff: float) -> Estimate:
        if size == 0:
            return Estimate(None, 0.0, None, None)
        value = total / size
        scale = math.log(2 / delta) / n_eff
        return Estimate(value, n_eff, R * math.sqrt(scale / 2), math.sqrt(3 * R * value * scale))

    return Prequential(
        count=count,
        unlabelled=unlabelled,
        mean=estimate(loss_sum, count, float(count)),
        window=estimate(window_sum, window_count, float(window_count)),
        fading=estimate(
            fading_sum, weight, weight**2 / faded_weight(alpha, count, squared=True) if count else 0.0
        ),
        loss_sum=loss_sum,
        window_count=window_count,
        window_sum=window_sum,
        fading_sum=fading_sum,
        fading_weight=weight,
        window_size=window,
        alpha=alpha,
        loss_max=R,
        delta=delta,
    )


def curves(losses: LossRuns | npt.ArrayLike, *, window: int, alpha: float) -> Curves:
    """Return the three estimates after every labelled record, for plots.

    Parameters are those of `prequential`. Sums run over float64 records: exact for 0-1 losses, otherwise
    within a relative error of 1e-12 up to a million records.
    """
    alpha = check_parameters(window, alpha, 1.0, 0.05)
    records = losses.records() if isinstance(losses, LossRuns) else np.asarray(losses, dtype=np.float64)
    at = np.flatnonzero(~np.isnan(records))
    loss = records[at]
    n = np.arange(1, len(loss) + 1)
    total = np.cumsum(loss)
    left = total[:-window] if window < len(loss) else total[:0]
    in_window = total.copy()
    in_window[len(total) - len(left) :] -= left
    return Curves(
        record=at.astype(np.int64),
        mean=total / n,
        window=in_window / np.minimum(n, window),
        fading=faded_sums(loss, alpha) / faded_weights(alpha, n),
    )


def faded_weights(alpha: float, count: IntArray) -> FloatArray:
    """Return ``1 + alpha + ... + alpha^(count-1)``, element by element."""
    if alpha == 1.0:
        return count.astype(np.float64)
    return np.expm1(count * math.log(alpha)) / (alpha - 1.0)


def faded_weight(alpha: float, count: int, *, squared: bool = False) -> float:
    """Return the sum of the weights of `count` records, or of their squares."""
    if alpha == 1.0:
        return float(count)
    if squared:
        return math.expm1(2 * count * math.log(alpha)) / ((alpha - 1.0) * (alpha + 1.0))
    return math.expm1(count * math.log(alpha)) / (alpha - 1.0)


def check_parameters(window: int, alpha: float, loss_max: float, delta: float) -> float:
    """Return alpha as a float, or raise InputError for the first parameter that is out of range."""
    if window < 1:
        raise InputError(f"window of {window} records (expected 1 or more)")
    if not (math.isfinite(loss_max) and loss_max > 0):
        raise InputError(
            f"largest loss {loss_max} (expected a number above 0)", remedy="It is 1 for right or wrong"
        )
    if not 0 < delta < 1:
        raise InputError(
            f"delta {delta} (expected a probability between 0 and 1)", remedy="0.05 is customary"
        )
    return check_alpha(alpha)


def check_losses(runs: LossRuns, loss_max: float) -> None:
    """Raise InputError for the first loss that is out of range, or a run without records."""
    if (runs.length < 1).any():
        raise InputError("a run of losses without records (expected a length of 1 or more)")
    wrong = (runs.loss < 0) | (runs.loss > loss_max)  # nan is neither
    if wrong.any():
        index = int(np.argmax(wrong))
        raise InputError(
            f"loss {runs.loss[index]} of record {int(runs.length[:index].sum())} (expected 0 to {loss_max})",
            remedy="Give the largest possible loss as R",
        )

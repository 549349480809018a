"""Scores from counts, and what they are when there is nothing to count.

One place for the conventions, so that the alignment, the slices and the report cannot disagree:

===================================================  =====================================================
recall of a label absent from the truth              not a number; left out of averages
precision of a label in the truth, never predicted   0: a missed label is not dropped from the average
precision of a label in neither                      not a number; left out
average over no labels, statistic of no values       None, printed as ``-``
===================================================  =====================================================

Arrays by label mark "not a number" with nan; single figures with None.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .errors import InputError

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Stat:
    """Count, mean, spread and range of some values; all but the count are None where there are no values.

    Attributes
    ----------
    count : int
    mean, std, min, max : float or None
        In the unit of the values. `std` is the population's: the values are all there are.
    """

    count: int
    mean: float | None = None
    std: float | None = None
    min: float | None = None
    max: float | None = None

    @classmethod
    def of(cls, values: npt.ArrayLike) -> Stat:
        """Return the statistics of `values`, shape=(n,)."""
        data = np.asarray(values, dtype=np.float64)
        if len(data) == 0:
            return cls(0)
        mean = math.fsum(data.tolist()) / len(data)
        # Around the mean, not by squares of the values: a year of ticks squared has no digits left for a
        # second.
        variance = math.fsum(np.square(data - mean).tolist()) / len(data)
        return cls(len(data), mean, math.sqrt(variance), float(data.min()), float(data.max()))


def ratio(count: npt.ArrayLike, of: npt.ArrayLike, empty: float = math.nan) -> FloatArray:
    """Return ``count / of`` element by element, and `empty` where `of` is 0."""
    part = np.asarray(count, dtype=np.float64)
    whole = np.asarray(of, dtype=np.float64)
    quotient = np.full(np.broadcast(part, whole).shape, empty)
    np.divide(part, whole, out=quotient, where=whole != 0)
    return quotient


def share_of_truth(part: IntArray, in_truth: IntArray) -> FloatArray:
    """Return ``part / in_truth`` by label, shape=(L,): recall, if `part` is what is correct.

    nan for a label absent from the truth.
    """
    return ratio(part, in_truth)


def share_of_predicted(part: IntArray, in_truth: IntArray, predicted: IntArray) -> FloatArray:
    """Return ``part / predicted`` by label, shape=(L,): precision, if `part` is what is correct.

    0 for a label that is in the truth but never predicted, nan for one in neither.
    """
    return np.where((predicted == 0) & (in_truth > 0), 0.0, ratio(part, predicted))


def label_f1(precision: FloatArray, recall: FloatArray) -> FloatArray:
    """Return each label's harmonic mean, shape=(L,); 0 where both are 0, nan where either is nan."""
    return np.where(
        np.isnan(precision + recall), np.nan, ratio(2 * precision * recall, precision + recall, 0.0)
    )


def harmonic(a: float | None, b: float | None) -> float | None:
    """Return the harmonic mean of two figures; 0 of two zeros, None where either is missing."""
    if a is None or b is None:
        return None
    return 2 * a * b / (a + b) if a + b > 0 else 0.0


def average(
    values: FloatArray, weights: FloatArray | None = None, *, include_null: bool = True
) -> float | None:
    """Return the mean over labels, nan left out.

    Parameters
    ----------
    values : np.ndarray, shape=(L,)
        By label; index 0 is NULL.
    weights : np.ndarray, shape=(L,), optional
        Weight of each label (see `label_weights`); without it a plain mean.
    include_null : bool
        Whether label 0 takes part.

    Returns
    -------
    mean : float or None
        None where no label with a weight has a value.
    """
    first = 0 if include_null else 1
    kept = values[first:]
    weight = np.ones(len(kept)) if weights is None else weights[first:]
    held = ~np.isnan(kept) & (weight > 0)
    total = math.fsum(weight[held].tolist())
    return math.fsum((kept[held] * weight[held]).tolist()) / total if total > 0 else None


def label_weights(weights: npt.ArrayLike | None, labels: int) -> FloatArray | None:
    """Return weights by label as an array, checked.

    Raises
    ------
    InputError
        If there is not one finite, non-negative weight for each of the `labels` labels, or all are 0.
    """
    if weights is None:
        return None
    given = np.asarray(weights, dtype=np.float64)
    if given.shape != (labels,):
        raise InputError(
            f"{given.size} label weights (expected {labels}, NULL's first)",
            remedy="Give one weight for each label of the task",
        )
    if not np.isfinite(given).all() or (given < 0).any() or not (given > 0).any():
        raise InputError(
            f"label weights {given.tolist()} (expected finite numbers from 0 up, not all 0)",
            remedy="Give 0 to a label that should not count",
        )
    return given

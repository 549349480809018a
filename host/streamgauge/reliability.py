"""Accuracy without truth: what recognisers' confidences say, once truth has calibrated them.

Confidences of 0 to 255 fall into equal bins. Truth, where it comes, says how often each bin is right; the
records without truth say how often each bin occurs now. With ``w_b`` the share of bin b among the records
without truth, ``n_b`` the labelled records of the bin and ``c_b`` those that were right, the estimate is
``sum w_b c_b / n_b``.

**What it assumes:** that in each bin, records without truth are right as often as records with truth. That
survives any change in how sure the recogniser is (other users, other days: the bins' shares move, and are
followed), and any choice of whom to label that looks at the confidence alone. It does not survive a change
of what the labels mean (concept drift: the recogniser is wrong as confidently as before) until new truth
has refilled the bins, nor truth that comes only where something was noticed to be wrong.

**The bound.** Given the bins, the realised accuracy of the u records without truth minus the estimate is a
weighted sum of independent outcomes: weight ``1 / u`` for each of them, ``w_b / n_b`` for each labelled
one. By Hoeffding it exceeds ``sqrt(ln(2 / delta) / 2 (1 / u + sum w_b^2 / n_b))`` with probability at most
delta, under the assumption above. Faded weights are at most 1, so that their squares sum to no more than
they do and the bound stays valid with faded counts. Bins without labelled records could be right always or
never: they widen the bound by their share.

Calibration error: ``sum n_b / N |c_b / n_b - mean confidence_b / 255|`` over the labelled records.

Reference: Naeini, Cooper, Hauskrecht, *Obtaining well calibrated probabilities using Bayesian binning*,
AAAI 2015 (ECE); Hoeffding, *Probability inequalities for sums of bounded random variables*, JASA 58 (1963),
theorem 2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import InputError
from .fading import check_alpha, tail_weights

WRONG, RIGHT, NO_TRUTH = 0, 1, 2


@dataclass(frozen=True)
class AccuracyEstimate:
    """Accuracy of the records without truth.

    Attributes
    ----------
    value, low, high : float
        The estimate and its bound.
    unsupported : float
        Share of those records whose bin has less than one labelled record; they are taken as right half the
        time.
    records : float
        Those records, faded.
    """

    value: float
    low: float
    high: float
    unsupported: float
    records: float


class Reliability:
    """The table, fed in arrays of any length.

    Parameters
    ----------
    bins : int
        A power of two up to 256.
    alpha : float
        Fading factor in (0, 1]. The labelled columns fade with each labelled record, the column of records
        without truth with each of those.

    Attributes
    ----------
    labelled, right, confidence : ndarray, shape (bins,)
        Faded labelled records, those that were right, and the sum of their confidences.
    unlabelled : ndarray, shape (bins,)
        Faded records without truth.
    """

    def __init__(self, bins: int = 16, alpha: float = 1.0) -> None:
        if bins < 1 or bins > 256 or bins & (bins - 1):
            raise InputError(f"bins is {bins!r} (expected a power of two up to 256)")
        self.bins, self.alpha = bins, check_alpha(alpha)
        self.reset()

    def reset(self) -> None:
        """Forget all records."""
        self.labelled, self.right = np.zeros(self.bins), np.zeros(self.bins)
        self.confidence, self.unlabelled = np.zeros(self.bins), np.zeros(self.bins)

    def update(self, confidence: ArrayLike, outcome: ArrayLike) -> None:
        """Feed records in stream order.

        Parameters
        ----------
        confidence : array_like of int, shape (n,)
            0 to 255.
        outcome : array_like of int, shape (n,)
            0 wrong, 1 right, 2 no truth.

        Raises
        ------
        InputError
            Where lengths differ or a value is out of range.
        """
        sure, what = np.asarray(confidence), np.asarray(outcome)
        if sure.ndim != 1 or sure.shape != what.shape:
            raise InputError(
                f"confidences and outcomes have shapes {sure.shape} and {what.shape} (expected equal)"
            )
        for name, x, most in (("confidence", sure, 255), ("outcome", what, NO_TRUTH)):
            if len(x) and (x.min() < 0 or x.max() > most):
                raise InputError(f"{name} lies between {x.min()} and {x.max()} (expected 0 to {most})")
        known = what != NO_TRUTH
        self._fade_labelled(sure[known], what[known])
        self.unlabelled = self._faded(self.unlabelled, sure[~known], None)

    def _fade_labelled(self, sure: NDArray[Any], right: NDArray[Any]) -> None:
        self.labelled = self._faded(self.labelled, sure, None)
        self.right = self._faded(self.right, sure, right)
        self.confidence = self._faded(self.confidence, sure, sure)

    def _faded(
        self, column: NDArray[np.float64], sure: NDArray[Any], factor: NDArray[Any] | None
    ) -> NDArray[np.float64]:
        weights = tail_weights(self.alpha, len(sure))
        if len(weights) == 0:
            return column
        recent = slice(len(sure) - len(weights), None)
        index = sure[recent].astype(np.intp) * self.bins >> 8
        if factor is not None:
            weights = weights * factor[recent]
        added = np.bincount(index, weights=weights, minlength=self.bins)
        faded: NDArray[np.float64] = column * self.alpha ** len(sure) + added
        return faded

    def estimate(self, delta: float = 0.05) -> AccuracyEstimate | None:
        """Return the accuracy of the records without truth; None where there are none.

        Parameters
        ----------
        delta : float
            Probability that the bound may fail, in (0, 1).
        """
        if not 0.0 < delta < 1.0:
            raise InputError(f"delta is {delta!r} (expected between 0 and 1)")
        records = float(self.unlabelled.sum())
        if records == 0.0:
            return None
        share = self.unlabelled / records
        supported = self.labelled >= 1.0
        right = self.right[supported] / self.labelled[supported]
        value = float(share[supported] @ right)
        spread = 1.0 / records + float((share[supported] ** 2 / self.labelled[supported]).sum())
        half = math.sqrt(math.log(2.0 / delta) / 2.0 * spread)
        unsupported = float(share[~supported].sum())
        return AccuracyEstimate(
            value=value + unsupported / 2.0,
            low=max(0.0, value - half),
            high=min(1.0, value + unsupported + half),
            unsupported=unsupported,
            records=records,
        )

    def calibration_error(self) -> float | None:
        """Return the expected calibration error over the labelled records, None where there are none."""
        total = float(self.labelled.sum())
        if total == 0.0:
            return None
        return float(np.abs(self.right - self.confidence / 255.0).sum()) / total

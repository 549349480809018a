"""A confusion matrix that forgets with stream time, and what follows from it.

Every labelled record multiplies all cells by alpha and adds 1 to its own: ``C_t = alpha C_{t-1} + [truth,
prediction]``. So a label that vanished fades, whatever the other labels do. (Fading a label's row only when
the label occurs, as is also done, keeps a vanished label's figures forever.) Records without truth change
nothing but their own count.

Ratios do not fade: a label that was recognised badly once keeps its bad recall while its weight dwindles.
Averages over labels therefore leave out a label once its weight - the row's for recall, row's and column's
for precision - is below `floor` records: half a record by default, which a single occurrence passes after
``ln 2 / (1 - alpha)`` records.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import InputError
from .fading import check_alpha, tail_weights

UNKNOWN = 255


@dataclass(frozen=True)
class FadedScores:
    """What a faded confusion matrix says.

    Attributes
    ----------
    weight : float
        Sum of the matrix, in records.
    support : tuple of float
        Faded records of each true label.
    precision, recall, f1 : tuple of float or None
        Per label; recall is None for a label absent from the truth, precision 0 for one in the truth that
        is never predicted and None for one in neither; absent means below `floor`.
    mean_precision, mean_recall, mean_f1 : float or None
        Plain means over the labels that have a value; the F1 is that of the two means.
    accuracy, kappa : float or None
        Kappa is None where chance agreement is certain.
    """

    weight: float
    support: tuple[float, ...]
    precision: tuple[float | None, ...]
    recall: tuple[float | None, ...]
    f1: tuple[float | None, ...]
    mean_precision: float | None
    mean_recall: float | None
    mean_f1: float | None
    accuracy: float | None
    kappa: float | None


def _mean(values: list[float | None]) -> float | None:
    known = [v for v in values if v is not None]
    return sum(known) / len(known) if known else None


def _harmonic(precision: float | None, recall: float | None) -> float | None:
    if precision is None or recall is None:
        return None
    return 2.0 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0


def scores(matrix: NDArray[np.float64], floor: float = 0.5, include_null: bool = True) -> FadedScores:
    """Read precision, recall, F1, accuracy and kappa off a (faded) confusion matrix.

    Parameters
    ----------
    matrix : ndarray, shape (labels, labels)
        ``[truth][prediction]``.
    floor : float
        Weight below which a label counts as absent.
    include_null : bool
        Whether label 0 takes part in the averages.
    """
    rows, columns = matrix.sum(axis=1), matrix.sum(axis=0)
    weight = float(matrix.sum())
    precision: list[float | None] = []
    recall: list[float | None] = []
    for label in range(len(matrix)):
        hit = float(matrix[label, label])
        true, predicted = float(rows[label]), float(columns[label])
        recall.append(hit / true if true >= floor else None)
        if predicted >= floor:
            precision.append(hit / predicted)
        else:
            precision.append(0.0 if true >= floor else None)
    first = 0 if include_null else 1
    mean_precision, mean_recall = _mean(precision[first:]), _mean(recall[first:])
    accuracy = kappa = None
    if weight > 0:
        accuracy = float(np.trace(matrix)) / weight
        chance = float(rows @ columns) / weight**2
        # Where one label is all of truth and prediction, agreement says nothing.
        kappa = (accuracy - chance) / (1.0 - chance) if 1.0 - chance > 1e-12 else None
    return FadedScores(
        weight=weight,
        support=tuple(rows.tolist()),
        precision=tuple(precision),
        recall=tuple(recall),
        f1=tuple(_harmonic(p, r) for p, r in zip(precision, recall, strict=True)),
        mean_precision=mean_precision,
        mean_recall=mean_recall,
        mean_f1=_harmonic(mean_precision, mean_recall),
        accuracy=accuracy,
        kappa=kappa,
    )


class FadedConfusion:
    """The matrix, fed in arrays of any length.

    Parameters
    ----------
    labels : int
        Number of labels, NULL included.
    alpha : float
        Fading factor in (0, 1].

    Attributes
    ----------
    matrix : ndarray, shape (labels, labels)
        ``[truth][prediction]`` in faded records.
    count, unlabelled : int
        Records with and without truth.
    """

    def __init__(self, labels: int, alpha: float = 0.999) -> None:
        if not 1 <= labels <= UNKNOWN:
            raise InputError(f"labels is {labels!r} (expected 1 to {UNKNOWN})")
        self.labels, self.alpha = labels, check_alpha(alpha)
        self.reset()

    def reset(self) -> None:
        """Forget all records."""
        self.count = self.unlabelled = 0
        self.matrix = np.zeros((self.labels, self.labels))

    def update(self, truth: ArrayLike, prediction: ArrayLike) -> None:
        """Feed records in stream order.

        Parameters
        ----------
        truth, prediction : array_like of int, shape (n,)
            Label ids; 255 in the truth means that nobody gave one.

        Raises
        ------
        InputError
            Where lengths differ, or an id is not a label.
        """
        t, p = np.asarray(truth), np.asarray(prediction)
        if t.ndim != 1 or t.shape != p.shape:
            raise InputError(
                f"truth and prediction have shapes {t.shape} and {p.shape} (expected equal lengths)"
            )
        if len(t) == 0:
            return
        if t.max() >= self.labels or t.min() < 0:
            known = t != UNKNOWN
            self.unlabelled += len(t) - int(np.count_nonzero(known))
            t, p = t[known], p[known]
        self._check("truth", t)
        self._check("prediction", p)
        weights = tail_weights(self.alpha, len(t))
        cell = (
            t[-len(weights) :].astype(np.intp) * self.labels + p[-len(weights) :]
            if len(t)
            else np.zeros(0, int)
        )
        added = np.bincount(cell, weights=weights, minlength=self.labels**2)
        self.matrix = self.matrix * self.alpha ** len(t) + added.reshape(self.labels, self.labels)
        self.count += len(t)

    def _check(self, name: str, ids: NDArray[Any]) -> None:
        if len(ids) and (ids.max() >= self.labels or ids.min() < 0):
            bad = int(np.flatnonzero((ids >= self.labels) | (ids < 0))[0])
            raise InputError(f"{name} of record {bad} is label {ids[bad]} (expected 0 to {self.labels - 1})")

    def scores(self, floor: float = 0.5, include_null: bool = True) -> FadedScores:
        """Return what the matrix says at present; see `scores`."""
        return scores(self.matrix, floor, include_null)

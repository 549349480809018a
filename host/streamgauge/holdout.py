"""Holdout: score a fixed labelled set every k records, beside the prequential figure.

The prequential error is an average over a changing stream and a changing recogniser; the holdout accuracy
is of the recogniser as it is, on data that stay the same, but only as good as the set represents the
stream. Seen side by side, a falling stream figure with a steady holdout figure means that the stream has
changed and not the recogniser.

Reference: Gama, Sebastião, Rodrigues, *Issues in evaluation of stream learning algorithms*, KDD 2009.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .errors import InputError
from .forgetting import UNKNOWN


@dataclass(frozen=True)
class HoldoutScore:
    """One scoring of the set.

    Attributes
    ----------
    records : int
        Records of the stream before it.
    correct, size : int
        Items recognised, of how many.
    prequential : float or None
        The prequential figure at that moment, as the caller gave it.
    """

    records: int
    correct: int
    size: int
    prequential: float | None = None

    @property
    def accuracy(self) -> float:
        """Share recognised."""
        return self.correct / self.size


class Holdout:
    """A fixed labelled set and the history of its scores.

    Parameters
    ----------
    truth : array_like of int, shape (n,)
        The labels of the set.
    every : int
        Records of the stream between two scorings.
    capacity : int
        Scores kept; older ones are forgotten, and `scored` counts them all.

    Raises
    ------
    InputError
        For an empty set, a set with labels that nobody knows, or sizes below 1.
    """

    def __init__(self, truth: ArrayLike, every: int = 1000, capacity: int = 64) -> None:
        self.truth = np.asarray(truth).copy()
        if self.truth.ndim != 1 or len(self.truth) == 0:
            raise InputError("holdout set is empty (expected a label per item)")
        if (self.truth == UNKNOWN).any():
            item = int(np.flatnonzero(self.truth == UNKNOWN)[0])
            raise InputError(f"item {item} of the holdout set has no known label", remedy="Leave it out")
        if every < 1 or capacity < 1:
            raise InputError(f"every is {every!r} and capacity {capacity!r} (expected 1 or more)")
        self.every = every
        self.history: deque[HoldoutScore] = deque(maxlen=capacity)
        self.reset()

    def reset(self) -> None:
        """Forget the scores; the set stays."""
        self.scored = 0
        self._last = 0
        self.history.clear()

    def due(self, records: int) -> bool:
        """Whether `every` records have passed since the last scoring, or the start."""
        return records - self._last >= self.every

    def score(self, predictions: ArrayLike, records: int, prequential: float | None = None) -> float:
        """Score the recogniser's labels for the set, and keep the result.

        Parameters
        ----------
        predictions : array_like of int, shape (n,)
            A label per item, in the set's order.
        records : int
            Records of the stream so far; never less than last time.
        prequential : float, optional
            The prequential figure to keep beside it.

        Returns
        -------
        float
            Accuracy.
        """
        labels = np.asarray(predictions)
        if labels.shape != self.truth.shape:
            raise InputError(
                f"{labels.size} predictions for {len(self.truth)} holdout items (expected one each)"
            )
        if records < self._last:
            raise InputError(f"{records} records, but the set was last scored after {self._last}")
        correct = int(np.count_nonzero(labels == self.truth))
        entry = HoldoutScore(records, correct, len(self.truth), prequential)
        self.history.append(entry)
        self.scored += 1
        self._last = records
        return entry.accuracy

    def half_width(self, delta: float = 0.05) -> float:
        """Return the Hoeffding half-width of an accuracy on this set: ``sqrt(ln(2 / delta) / (2 n))``."""
        return math.sqrt(math.log(2.0 / delta) / (2.0 * len(self.truth)))

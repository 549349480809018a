"""Slices: which part of the time was labelled rightly, and how the rest went wrong.

Source: van Kasteren, Alemdar, Ersoy, *Effective performance metrics for evaluating activity recognition
methods* (2011). Every tick has one true label g and one predicted label p, and falls into exactly one
category:

====================  ==================================================================================
``g == p``            correct, for NULL too
both, and different   substitution **S**
g alone               the true segment is hit nowhere: deletion **D**; before its first or after its last
                      hit: underfill **U**; between two hits: fragmentation **F**
p alone               the predicted segment hits nowhere: insertion **I**; before its first or after its last
                      hit: overfill **O**; between two hits: merge **M**
====================  ==================================================================================

("g alone": p is NULL; a hit is a tick of the segment with ``g == p``.) Hence for every label i but NULL, and
as tests::

    ground_i   = correct_i + sum_j S(i, j) + D_i + U_i + F_i
    inferred_i = correct_i + sum_j S(j, i) + I_i + O_i + M_i

A segment here is a maximal run of one label: what a file's rows cut in two is still one visit. UNKNOWN truth
is in no category and ends the runs at its edges.

The work is done on pieces, maximal stretches on which both labels are constant, so it takes as long as there
are segments, whatever the length of a tick.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from . import scores
from .errors import InputError
from .segments import NULL, UNKNOWN, Segments

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

COLUMNS = ("correct", "substitution", "occurrence", "timing", "segmentation")


@dataclass(frozen=True, eq=False)
class Pieces:
    """The common refinement of truth and prediction, in order of time.

    Attributes
    ----------
    truth, prediction : np.ndarray, shape=(k,), int16
        Label ids on each piece.
    start, length : np.ndarray, shape=(k,), int64
        In ticks.
    """

    truth: npt.NDArray[np.int16]
    prediction: npt.NDArray[np.int16]
    start: IntArray
    length: IntArray

    @classmethod
    def of(cls, truth: Segments, prediction: Segments) -> Pieces:
        """Return the pieces of two sequences that cover one span without gap or overlap.

        Raises
        ------
        InputError
            If they do not.
        """
        for segs, name in ((truth, "truth"), (prediction, "prediction")):
            open_or_double = np.flatnonzero(segs.end[:-1] != segs.start[1:])
            if len(open_or_double):
                index = int(open_or_double[0])
                raise InputError(
                    f"{name} segment {index} ends at {segs.end[index]} and the next one starts at "
                    f"{segs.start[index + 1]} (expected one label at every tick)",
                    remedy="Flatten the sequence and fill its gaps first",
                )
            if (segs.end <= segs.start).any():
                raise InputError(f"{name} holds an empty segment (expected end > start)")
        spans = [
            (int(segs.start[0]), int(segs.end[-1])) if len(segs) else None for segs in (truth, prediction)
        ]
        if spans[0] != spans[1]:
            raise InputError(
                f"the truth spans {spans[0]} and the prediction {spans[1]} (expected one span)",
                remedy="Fill the gaps of both over the assessed span first",
            )
        start = np.union1d(truth.start, prediction.start)
        stop = np.append(start[1:], truth.end[-1:])
        return cls(
            truth.label[np.searchsorted(truth.start, start, side="right") - 1],
            prediction.label[np.searchsorted(prediction.start, start, side="right") - 1],
            start,
            stop - start,
        )


@dataclass(frozen=True, eq=False)
class Slices:
    """Ticks by category and label, and the scores made of them. L labels, label 0 is NULL.

    Attributes
    ----------
    labels : int
        L.
    correct : np.ndarray, shape=(L,), int64
        Ticks with this label in both.
    substituted : np.ndarray, shape=(L, L), int64
        Ticks ``[truth label][predicted label]``, both other than NULL and different.
    deletion, underfill, fragmentation : np.ndarray, shape=(L,), int64
        Ticks of this true label without a prediction; 0 for NULL.
    insertion, overfill, merge : np.ndarray, shape=(L,), int64
        Ticks of this predicted label without a truth; 0 for NULL.
    ground, inferred : np.ndarray, shape=(L,), int64
        Known ticks with this label in the truth, in the prediction.
    known, unknown : int
        Ticks assessed, and ticks of UNKNOWN truth.
    weights : np.ndarray, shape=(L,), float64, or None
        Weights of the averages over labels; None is a plain mean.
    include_null : bool
        Whether NULL takes part in the averages.
    """

    labels: int
    correct: IntArray
    substituted: IntArray
    deletion: IntArray
    underfill: IntArray
    fragmentation: IntArray
    insertion: IntArray
    overfill: IntArray
    merge: IntArray
    ground: IntArray
    inferred: IntArray
    known: int
    unknown: int
    weights: FloatArray | None = field(default=None)
    include_null: bool = True

    @property
    def substituted_ground(self) -> IntArray:
        """Ticks of this true label that were called something else, shape=(L,)."""
        return self.substituted.sum(axis=1)

    @property
    def substituted_inferred(self) -> IntArray:
        """Ticks of this predicted label that were something else, shape=(L,)."""
        return self.substituted.sum(axis=0)

    @property
    def totals(self) -> dict[str, int]:
        """Ticks by category over all labels; they add up to `known`."""
        return {
            "correct": int(self.correct.sum()),
            "S": int(self.substituted.sum()),
            "D": int(self.deletion.sum()),
            "I": int(self.insertion.sum()),
            "U": int(self.underfill.sum()),
            "O": int(self.overfill.sum()),
            "F": int(self.fragmentation.sum()),
            "M": int(self.merge.sum()),
        }

    @property
    def accuracy(self) -> float | None:
        """Share of the known ticks that are correct; None without any."""
        return int(self.correct.sum()) / self.known if self.known else None

    @property
    def label_precision(self) -> FloatArray:
        """By label, shape=(L,), nan where not defined."""
        return self._of_inferred(self.correct)

    @property
    def label_recall(self) -> FloatArray:
        """By label, shape=(L,), nan where not defined."""
        return self._of_ground(self.correct)

    @property
    def label_f1(self) -> FloatArray:
        """By label, shape=(L,), nan where not defined."""
        return scores.label_f1(self.label_precision, self.label_recall)

    @property
    def precision(self) -> float | None:
        """Mean precision over labels."""
        return self._average(self.label_precision)

    @property
    def recall(self) -> float | None:
        """Mean recall over labels."""
        return self._average(self.label_recall)

    @property
    def f1(self) -> float | None:
        """Harmonic mean of `precision` and `recall`."""
        return scores.harmonic(self.precision, self.recall)

    @property
    def matrix(self) -> dict[str, dict[str, float | None]]:
        """The compact result matrix: rows ground, inferred, average; columns `COLUMNS`.

        The ground row shares out the truth's ticks label by label (recall, S, D, U, F), the inferred row the
        prediction's (precision, S, I, O, M), both averaged over the same labels; the last row is their
        harmonic mean. NULL's ticks that a prediction covers are in no column of the ground row (they are I,
        O, M of the predicted label), and likewise in the inferred row, so with NULL a row adds up to less
        than 1.
        """
        ground = (self.correct, self.substituted_ground, self.deletion, self.underfill, self.fragmentation)
        inferred = (self.correct, self.substituted_inferred, self.insertion, self.overfill, self.merge)
        rows: dict[str, dict[str, float | None]] = {
            "ground": {
                name: self._average(self._of_ground(ticks))
                for name, ticks in zip(COLUMNS, ground, strict=True)
            },
            "inferred": {
                name: self._average(self._of_inferred(ticks))
                for name, ticks in zip(COLUMNS, inferred, strict=True)
            },
        }
        rows["average"] = {
            name: scores.harmonic(rows["ground"][name], rows["inferred"][name]) for name in COLUMNS
        }
        return rows

    @property
    def per_label(self) -> list[dict[str, int | float | None]]:
        """One row a label: id, ticks in truth and prediction and in each category, precision, recall, F1."""
        columns: dict[str, npt.NDArray[np.generic]] = {
            "ground": self.ground,
            "inferred": self.inferred,
            "correct": self.correct,
            "S_ground": self.substituted_ground,
            "S_inferred": self.substituted_inferred,
            "D": self.deletion,
            "U": self.underfill,
            "F": self.fragmentation,
            "I": self.insertion,
            "O": self.overfill,
            "M": self.merge,
            "precision": self.label_precision,
            "recall": self.label_recall,
            "f1": self.label_f1,
        }
        listed = {name: values.tolist() for name, values in columns.items()}
        return [
            {"label": label, **{name: _or_none(values[label]) for name, values in listed.items()}}
            for label in range(self.labels)
        ]

    def _of_ground(self, ticks: IntArray) -> FloatArray:
        return scores.share_of_truth(ticks, self.ground)

    def _of_inferred(self, ticks: IntArray) -> FloatArray:
        return scores.share_of_predicted(ticks, self.ground, self.inferred)

    def _average(self, values: FloatArray) -> float | None:
        return scores.average(values, self.weights, include_null=self.include_null)


def slices(
    truth: Segments,
    prediction: Segments,
    labels: int,
    weights: npt.ArrayLike | None = None,
    include_null: bool = True,
) -> Slices:
    """Sort every tick into its category.

    Parameters
    ----------
    truth, prediction : Segments
        Cover one span, with one label at every tick (`flatten`, `fill_gaps`). Label 255 in the truth is
        UNKNOWN.
    labels : int
        L: other label ids are below it.
    weights : array-like, shape=(L,), optional
        Weights of the labels in averages, NULL's first; without them a plain mean.
    include_null : bool
        Whether averages include NULL, as the paper's do.

    Returns
    -------
    slices : Slices

    Raises
    ------
    InputError
        If the sequences do not cover one span exactly, a label is out of range, or the weights cannot be
        used.
    """
    checked = scores.label_weights(weights, labels)
    pieces = Pieces.of(truth, prediction)
    _check_labels(pieces.truth[pieces.truth != UNKNOWN], labels, "truth")
    _check_labels(pieces.prediction, labels, "prediction")
    known = pieces.truth != UNKNOWN
    g, p, ticks = pieces.truth[known], pieces.prediction[known], pieces.length[known]
    # A hard edge wherever UNKNOWN pieces were left out.
    edge = np.diff(np.flatnonzero(known)) > 1
    hit = g == p
    missed = (g != NULL) & (p == NULL)
    invented = (g == NULL) & (p != NULL)
    other = (g != NULL) & (p != NULL) & ~hit

    substituted = np.zeros((labels, labels), dtype=np.int64)
    np.add.at(substituted, (g[other], p[other]), ticks[other])

    def by_label(of: npt.NDArray[np.int16], chosen: npt.NDArray[np.bool_]) -> IntArray:
        counted = np.zeros(labels, dtype=np.int64)
        np.add.at(counted, of[chosen], ticks[chosen])
        return counted

    nowhere, at_end, between = _positions(g, edge, hit)
    whole, around, across = _positions(p, edge, hit)
    everywhere = np.ones(len(g), dtype=bool)
    return Slices(
        labels=labels,
        correct=by_label(g, hit),
        substituted=substituted,
        deletion=by_label(g, missed & nowhere),
        underfill=by_label(g, missed & at_end),
        fragmentation=by_label(g, missed & between),
        insertion=by_label(p, invented & whole),
        overfill=by_label(p, invented & around),
        merge=by_label(p, invented & across),
        ground=by_label(g, everywhere),
        inferred=by_label(p, everywhere),
        known=int(ticks.sum()),
        unknown=int(pieces.length.sum() - ticks.sum()),
        weights=checked,
        include_null=include_null,
    )


def _positions(
    label: npt.NDArray[np.int16], edge: npt.NDArray[np.bool_], hit: npt.NDArray[np.bool_]
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Say of each piece where it lies in its run: in one without a hit, outside all its hits, between two."""
    count = len(label)
    run = np.concatenate(
        (np.zeros(min(count, 1), dtype=np.int64), np.cumsum((label[1:] != label[:-1]) | edge))
    )
    hits = np.flatnonzero(hit)
    first = np.full(count, count)
    last = np.full(count, -1)
    # Of several values for one index an assignment keeps the last: ascending for the last hit, descending for
    # the first.
    first[run[hits[::-1]]] = hits[::-1]
    last[run[hits]] = hits
    piece = np.arange(count)
    nowhere = last[run] < 0
    between = (first[run] < piece) & (piece < last[run])
    return nowhere, ~nowhere & ~between, between


def _check_labels(label: npt.NDArray[np.int16], labels: int, name: str) -> None:
    wrong = (label < 0) | (label >= labels)
    if wrong.any():
        raise InputError(f"{name} holds label {int(label[wrong][0])} (expected ids from 0 to {labels - 1})")


def _or_none(value: int | float) -> int | float | None:
    return None if value != value else value

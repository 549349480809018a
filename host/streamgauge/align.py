"""Alignment of a predicted with a true sequence of segments.

Source: Marteau, *Assessing pattern recognition or labeling in streams of temporal data* (SLTSS, 2016). The
distance is the least cost of turning one sequence into the other by matching overlapping segments in order
(same label: ``1 - IoU``; different labels, neither NULL: ``c0``; NULL with another label: never) and leaving
the others unmatched (``c0`` each). Ties go to the match, then to leaving the truth unmatched, then to leaving
the prediction unmatched, from the ends backwards.

`band` finds the matched pairs; this module counts and measures along them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from . import scores
from .band import common_ticks, matched_pairs, overlapping, pairs, spanned_ticks
from .errors import InputError
from .scores import Stat
from .segments import NULL, UNKNOWN, Segments, clip_to_known, concatenate

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

_LEAST_C0 = 2.0**-20  # far above the tolerance for ties
_MOST_C0 = 2.0**20  # far below where a sum of costs loses an IoU
_FARTHEST = 1 << 61  # differences of two times stay inside int64


@dataclass(frozen=True, eq=False)
class Alignment:
    """The chosen alignment and everything counted along it. L labels, label 0 is NULL; times in ticks.

    Attributes
    ----------
    labels : int
        L.
    c0 : float
        Cost of a segment left unmatched, and of a substitution.
    distance : float
        ``c0 (unmatched_truth + unmatched_prediction + substitutions) + cost_sum``.
    forced : int
        Commits made before they were certain: always 0, the host keeps the whole band.
    truth, prediction : Segments
        What was aligned: clipped to known time, each part of a segment on its own.
    matches : np.ndarray, shape=(k, 2), int64
        Matched pairs, ascending: index into `truth`, index into `prediction`.
    confusion : np.ndarray, shape=(L, L), int64
        ``[truth label][predicted label]``. Unmatched truth counts in column 0, unmatched predictions in row
        0, unmatched NULL segments nowhere; ``[0][0]`` counts matched NULL pairs.
    true_segments, pred_segments : int
        Segments aligned, NULL included.
    unmatched_truth, unmatched_prediction : int
        Of these without a match, NULL included.
    repetitions_split, repetitions_merge : np.ndarray, shape=(L,), int64
        Unmatched predictions that overlap a matched true segment of their label; unmatched true segments that
        overlap a matched prediction of their label. NULL has none.
    cost_sum : float
        Sum of ``1 - IoU`` over matches of one label, NULL included.
    latency, onset_latency, offset_latency : Stat
        Prediction less truth at the middle, start and end of correct matches other than NULL; negative is
        early.
    early, late : Stat
        Of the latencies below and above 0.
    overlap, prediction_duration, iou : Stat
        Of the same matches.
    """

    labels: int
    c0: float
    distance: float
    forced: int
    truth: Segments
    prediction: Segments
    matches: IntArray
    confusion: IntArray
    true_segments: int
    pred_segments: int
    unmatched_truth: int
    unmatched_prediction: int
    repetitions_split: IntArray
    repetitions_merge: IntArray
    cost_sum: float
    latency: Stat
    onset_latency: Stat
    offset_latency: Stat
    early: Stat
    late: Stat
    overlap: Stat
    prediction_duration: Stat
    iou: Stat

    @property
    def substitutions(self) -> int:
        """Matches of two different labels."""
        return len(self.matches) - self.same

    @property
    def same(self) -> int:
        """Matches of one label, NULL included."""
        return int(np.trace(self.confusion))

    @property
    def tp(self) -> IntArray:
        """Correct matches by label, shape=(L,)."""
        return np.diagonal(self.confusion).copy()

    @property
    def fn(self) -> IntArray:
        """True segments by label that were missed or called something else, shape=(L,)."""
        return self._in_truth - self.tp

    @property
    def fp(self) -> IntArray:
        """Predictions by label that were invented or meant something else, shape=(L,)."""
        return self._predicted - self.tp

    @property
    def tn(self) -> IntArray:
        """What the confusion matrix counts outside a label's row and column, shape=(L,)."""
        return self.confusion.sum() - self.tp - self.fn - self.fp

    @property
    def precision(self) -> FloatArray:
        """By label, shape=(L,), nan where not defined."""
        return scores.share_of_predicted(self.tp, self._in_truth, self._predicted)

    @property
    def recall(self) -> FloatArray:
        """By label, shape=(L,), nan where not defined."""
        return scores.share_of_truth(self.tp, self._in_truth)

    @property
    def f1(self) -> FloatArray:
        """By label, shape=(L,), nan where not defined."""
        return scores.label_f1(self.precision, self.recall)

    @property
    def accuracy(self) -> float | None:
        """Share of the confusion matrix on its diagonal, NULL pairs included."""
        return _share(self.same, int(self.confusion.sum()))

    @property
    def maa(self) -> float | None:
        """Mean over the labels present (not NULL) of their one-against-all accuracy ``(TP + TN) / all``."""
        present = self._in_truth + self._predicted > 0
        accuracy = scores.ratio(self.tp + self.tn, self.confusion.sum())
        return scores.average(np.where(present, accuracy, np.nan), include_null=False)

    @property
    def map(self) -> float | None:
        """Mean precision over labels other than NULL."""
        return scores.average(self.precision, include_null=False)

    @property
    def mar(self) -> float | None:
        """Mean recall over labels other than NULL."""
        return scores.average(self.recall, include_null=False)

    @property
    def maf1(self) -> float | None:
        """Harmonic mean of `map` and `mar`."""
        return scores.harmonic(self.map, self.mar)

    @property
    def _in_truth(self) -> IntArray:
        return self.confusion.sum(axis=1)

    @property
    def _predicted(self) -> IntArray:
        return self.confusion.sum(axis=0)


def align(
    truth: Segments, prediction: Segments, *, labels: int, closed: bool = False, c0: float = 2.0
) -> Alignment:
    """Align two sequences that hold no UNKNOWN time.

    Parameters
    ----------
    truth, prediction : Segments
        Starts and ends non-decreasing; segments may touch, leave gaps, or partially overlap. A gap that
        should count as NULL is filled beforehand (`fill_gaps`).
    labels : int
        L: label ids are below it.
    closed : bool
        The segments meant ``[start, end]`` and are one tick longer in memory: the tick is taken off every
        length.
    c0 : float
        Cost of an unmatched segment and of a substitution, from 2^-20 to 2^20.

    Returns
    -------
    alignment : Alignment

    Raises
    ------
    InputError
        If a sequence is not ordered, a segment is empty, a label is not below `labels`, or `c0` is out of
        range.
    """
    return _align_blocks([(truth, prediction)], labels, closed, c0)


def align_recording(
    truth: Segments, prediction: Segments, *, labels: int, closed: bool = False, c0: float = 2.0
) -> Alignment:
    """Align two sequences, cut at UNKNOWN truth as if the recording began and ended there.

    Parameters and errors are those of `align`; the truth may hold label 255, and the prediction is assessed
    within the truth's span.
    """
    return _align_blocks(clip_to_known(truth, prediction), labels, closed, c0)


def _align_blocks(blocks: list[tuple[Segments, Segments]], labels: int, closed: bool, c0: float) -> Alignment:
    check_c0(c0)
    truth = concatenate([block for block, _ in blocks])
    prediction = concatenate([block for _, block in blocks])
    check_segments(truth, labels, "truth")
    check_segments(prediction, labels, "prediction")
    rows = np.cumsum([len(block) for block, _ in blocks], dtype=np.int64).tolist()
    columns = np.cumsum([len(block) for _, block in blocks], dtype=np.int64).tolist()
    # Backwards, so that of blocks without a true segment of their own the one that has the row is kept.
    corners = {row - 1: column for row, column in zip(rows[::-1], columns[::-1], strict=True)}
    matches = matched_pairs(truth, prediction, corners, closed, c0)
    return _read_out(truth, prediction, matches, labels, closed, c0)


def check_c0(c0: float) -> None:
    """Raise InputError for a cost that is out of range."""
    if not _LEAST_C0 <= c0 <= _MOST_C0:
        raise InputError(
            f"cost c0 = {c0} of an unmatched segment (expected a number above 0, from 2^-20 to 2^20)",
            remedy="The published cost is 2",
        )


def check_segments(segs: Segments, labels: int, name: str) -> None:
    """Raise InputError for the first segment that cannot be aligned."""
    for wrong, what, remedy in (
        (
            (segs.label < 0) | (segs.label >= labels),
            f"its label is not below {labels}",
            "Time without truth is assessed by align_recording" if (segs.label == UNKNOWN).any() else None,
        ),
        (
            (segs.start < -_FARTHEST) | (segs.end > _FARTHEST),
            "its times are beyond 2^61 ticks",
            "Choose a longer tick",
        ),
        (segs.end <= segs.start, "it is empty", "A segment is at least one tick long"),
        (_steps_back(segs.start), "it starts before its predecessor", "Sort the segments by start"),
        (
            _steps_back(segs.end),
            "it ends before its predecessor does",
            "Flatten nested segments first",
        ),
    ):
        if wrong.any():
            index = int(np.argmax(wrong))
            row = (int(segs.label[index]), int(segs.start[index]), int(segs.end[index]))
            raise InputError(f"{name} segment {index} {row} cannot be aligned: {what}", remedy=remedy)


def _steps_back(times: IntArray) -> npt.NDArray[np.bool_]:
    return np.concatenate(([False], times[1:] < times[:-1])) if len(times) else np.zeros(0, dtype=bool)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def repeated(
    unmatched: Segments, other: Segments, other_matched: npt.NDArray[np.bool_], labels: int
) -> IntArray:
    """Count by label the unmatched segments that overlap a matched one of their label on the other side."""
    real = unmatched.take(unmatched.label != NULL)
    repeated = np.zeros(len(real), dtype=bool)
    for _, index, column in pairs(*overlapping(real, other)):
        hit = (real.label[index] == other.label[column]) & other_matched[column]
        repeated[index[hit]] = True
    return np.bincount(real.label[repeated], minlength=labels)


def _read_out(
    truth: Segments, prediction: Segments, matches: IntArray, labels: int, closed: bool, c0: float
) -> Alignment:
    touch = int(closed)
    truth_matched = np.zeros(len(truth), dtype=bool)
    truth_matched[matches[:, 0]] = True
    prediction_matched = np.zeros(len(prediction), dtype=bool)
    prediction_matched[matches[:, 1]] = True
    missed = truth.take(~truth_matched)
    invented = prediction.take(~prediction_matched)

    confusion = np.zeros((labels, labels), dtype=np.int64)
    np.add.at(confusion, (truth.label[matches[:, 0]], prediction.label[matches[:, 1]]), 1)
    confusion[:, NULL] += np.bincount(missed.label[missed.label != NULL], minlength=labels)
    confusion[NULL, :] += np.bincount(invented.label[invented.label != NULL], minlength=labels)

    agree = truth.label[matches[:, 0]] == prediction.label[matches[:, 1]]
    a, b = truth.take(matches[agree, 0]), prediction.take(matches[agree, 1])
    common, union = common_ticks(a, b, touch), spanned_ticks(a, b, touch)
    iou = scores.ratio(common, union, empty=1.0)
    # Not 1 - iou: the subtraction would round once more.
    cost_sum = math.fsum(scores.ratio(union - common, union, empty=0.0).tolist())
    real = a.label != NULL
    onset, offset = (b.start - a.start)[real], (b.end - a.end)[real]
    latency = (onset + offset) / 2
    at_full_cost = len(missed) + len(invented) + int((~agree).sum())
    return Alignment(
        labels=labels,
        c0=c0,
        distance=c0 * at_full_cost + cost_sum,
        forced=0,
        truth=truth,
        prediction=prediction,
        matches=matches,
        confusion=confusion,
        true_segments=len(truth),
        pred_segments=len(prediction),
        unmatched_truth=len(missed),
        unmatched_prediction=len(invented),
        repetitions_split=repeated(invented, truth, truth_matched, labels),
        repetitions_merge=repeated(missed, prediction, prediction_matched, labels),
        cost_sum=cost_sum,
        latency=Stat.of(latency),
        onset_latency=Stat.of(onset),
        offset_latency=Stat.of(offset),
        early=Stat.of(latency[latency < 0]),
        late=Stat.of(latency[latency > 0]),
        overlap=Stat.of(common[real]),
        prediction_duration=Stat.of((b.end - b.start - touch)[real]),
        iou=Stat.of(iou[real]),
    )

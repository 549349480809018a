"""How well a predicted hierarchy orders what belongs together: T-measure (GAUC), flat AUC, L-measure.

Conventions
-----------
Levels run from coarse to fine; a level is an array of half-open ``[start, end)`` rows, gaps allowed, overlaps
not, and levels need not nest. ``depth(q, j)`` is the deepest level at which one segment holds both frames, 0
where none does. For every query frame q, over the other frames of the window ``[q - w, q + w)`` (asymmetric
as in ``mir_eval``), a pair (i, j) is *comparable* when the reference puts i deeper than j, and *concordant*
when the other hierarchy does too; a tie there is an error. A query's share is concordant / comparable;
queries without comparable pairs are skipped; the score is the mean share, 0 where no query is scored. Recall
takes the truth as reference, precision the prediction.

Times are integer ticks by default: in floats, which frame a multiple of 0.1 s falls into depends on its
binary rounding, and scores with it. ``frames="mir_eval"`` reproduces that rounding for comparison with
published numbers (see ``hierarchy_frames``).

Metrics
-------
- `t_measure`: reduced (levels exactly one apart), full (any number apart), or with a gain per level gap; with
  a depth cutoff.
- `flat_auc`: one level against one level.
- `l_measure`: labels instead of segments.

Reference: McFee, Nieto, Bello: Hierarchical evaluation of segment boundary detection, ISMIR 2015 (GAUC; gain
and cutoff are its stated extensions).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .errors import InputError
from .hierarchy_frames import as_intervals, fit_span, grids
from .hierarchy_labels import sum_label_pairs
from .hierarchy_pairs import PairSums, Selection, sum_pairs

__all__ = ["Ranking", "TMeasure", "f_measure", "fit_span", "flat_auc", "l_measure", "t_measure"]

Gain = str | Sequence[float]


@dataclass(frozen=True)
class Ranking:
    """How one hierarchy's order is found again in the other.

    Attributes
    ----------
    share : float
        Mean over the scored queries of concordant / comparable pairs; 0 where none is scored.
    queries : int
        Scored queries: those with at least one comparable pair.
    concordant, pairs : int
        Exact totals over all queries, all selected level gaps together, whatever their gain.
    by_gap : tuple of (gap, concordant, pairs)
        The totals for each selected gap; gap 0 stands for "any".
    """

    share: float
    queries: int
    concordant: int
    pairs: int
    by_gap: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True)
class TMeasure:
    """Precision, recall and F, and the exact counts behind them.

    Attributes
    ----------
    precision, recall, f : float
        In [0, 1].
    of_prediction, of_truth : Ranking
        Counts with the prediction (precision) and the truth (recall) as reference.
    frames : int
        Number of query frames.
    """

    precision: float
    recall: float
    f: float
    of_prediction: Ranking
    of_truth: Ranking
    frames: int


def f_measure(precision: float, recall: float, beta: float = 1.0) -> float:
    """Weighted harmonic mean; 0 where both are 0."""
    if precision == 0 and recall == 0:
        return 0.0
    return (1 + beta**2) * precision * recall / (beta**2 * precision + recall)


def _selections(gain: Gain) -> tuple[Selection, ...]:
    if isinstance(gain, str):
        if gain == "reduced":
            return (Selection(1, 1.0),)
        if gain == "full":
            return (Selection(0, 1.0),)
        raise InputError(f"gain is {gain!r} (expected reduced, full, or one number a level gap)")
    values = [float(g) for g in gain]
    if not values or min(values) < 0 or max(values) <= 0:
        raise InputError(
            f"gain is {values} (expected numbers from 0 on, one a level gap, at least one above 0)"
        )
    return tuple(Selection(gap, g) for gap, g in enumerate(values, 1) if g > 0)


def _ranking(sums: PairSums) -> Ranking:
    gaps = tuple(s.gap for s in sums.selections)
    by_gap = tuple(zip(gaps, sums.concordant, sums.pairs, strict=True))
    return Ranking(sums.mean, sums.queries, sum(sums.concordant), sum(sums.pairs), by_gap)


def _measure(recall: PairSums, precision: PairSums, beta: float, frames: int) -> TMeasure:
    f = f_measure(precision.mean, recall.mean, beta)
    return TMeasure(precision.mean, recall.mean, f, _ranking(precision), _ranking(recall), frames)


def t_measure(
    truth: Sequence[Any],
    prediction: Sequence[Any],
    *,
    window: float | None = None,
    frame: float = 1,
    gain: Gain = "reduced",
    depth: int | None = None,
    span: tuple[Any, Any] | None = None,
    frames: str = "ticks",
    beta: float = 1.0,
) -> TMeasure:
    """Score how well one hierarchy orders pairs of frames the way the other does.

    Parameters
    ----------
    truth, prediction : sequence of levels, coarse to fine
        A level: array of shape (n, 2) of ``[start, end)``, or an object with ``start`` and ``end``.
    window : int or float, optional
        Half-width w in ticks; None compares each query with the whole span.
    frame : int or float
        Ticks a frame.
    gain : {"reduced", "full"} or sequence of float
        Which pairs count: exactly one level apart in the reference, any number apart, or ``gain[k - 1]`` for
        pairs k levels apart: a query's share is then the sum of gain times concordant over the sum of gain
        times comparable. ``"reduced"`` equals ``[1]``, ``"full"`` equals ones for all gaps, ``[0, 1]`` looks
        at gap 2 alone.
    depth : int, optional
        Depth cutoff: only the `depth` coarsest levels of each side exist.
    span : (start, end), optional
        Accept gaps at the edges of this span; by default every level must cover one and the same span.
    frames : {"ticks", "mir_eval"}
        Integer ticks, or float seconds rounded as mir_eval does.
    beta : float
        Weight of recall in F.

    Returns
    -------
    TMeasure

    Raises
    ------
    InputError
        A level that overlaps inside itself, spans that differ, or an impossible parameter; the level and the
        place are named.
    """
    a, b, cells = grids(truth, prediction, frame=frame, window=window, span=span, depth=depth, frames=frames)
    recall, precision = sum_pairs(a, b, cells, _selections(gain))
    return _measure(recall, precision, beta, a.count)


def flat_auc(truth: Any, prediction: Any, **options: Any) -> TMeasure:
    """Score one level against one level: the share of (same segment, other segment) pairs ordered alike.

    With a single level depth is 0 or 1, reduced and full are the same, and a query's share is the area under
    the curve of its in-segment frames against the others, ties counted as errors.

    Parameters
    ----------
    truth, prediction : level
        See `t_measure`, whose other parameters are taken too (all but `gain` and `depth`).

    Returns
    -------
    TMeasure
    """
    return t_measure([truth], [prediction], **options)


def l_measure(
    truth: Sequence[Any],
    truth_labels: Sequence[Sequence[Any]],
    prediction: Sequence[Any],
    prediction_labels: Sequence[Sequence[Any]],
    *,
    frame: float = 1,
    gain: Gain = "full",
    depth: int | None = None,
    span: tuple[Any, Any] | None = None,
    frames: str = "ticks",
    beta: float = 1.0,
) -> TMeasure:
    """Score how well predicted labels order pairs of frames, at all levels and without a window.

    Two frames meet at the deepest level at which both carry the same label. Time without a segment has no
    label and meets nothing.

    Parameters
    ----------
    truth, prediction : sequence of levels, coarse to fine
    truth_labels, prediction_labels : sequence of sequences
        One hashable label a row of each level; labels are compared inside one level of one side only.
    frame, gain, depth, span, frames, beta
        As in `t_measure`; ``"full"`` is the published L-measure.

    Returns
    -------
    TMeasure

    Raises
    ------
    InputError
        As `t_measure`, and labels that do not count the rows.
    """
    a, b, _ = grids(truth, prediction, frame=frame, span=span, depth=depth, frames=frames)
    sides = ((truth, truth_labels, "truth"), (prediction, prediction_labels, "prediction"))
    for levels, labels, side in sides:
        if len(labels) != len(levels):
            raise InputError(f"{side} has {len(levels)} levels but labels for {len(labels)}")
    rows = tuple([len(as_intervals(level, side)) for level in levels[:depth]] for levels, _, side in sides)
    recall, precision = sum_label_pairs(
        a, b, truth_labels[:depth], prediction_labels[:depth], (rows[0], rows[1]), _selections(gain)
    )
    return _measure(recall, precision, beta, a.count)

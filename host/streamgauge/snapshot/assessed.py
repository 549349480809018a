"""Figures of nodes in the form in which `streamgauge.assess` has those of files: one report prints both.

What a node does not keep is missing here too: which label was taken for which by the tick (only how often
each was), and the means of early and of late latencies.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from ..align import Alignment
from ..assess import Assessment, Settings
from ..files import Notes, Recording
from ..prequential import Estimate, Prequential
from ..scores import Stat, label_weights
from ..segments import Segments
from ..slices import Slices
from ..task import Task
from .figures import TIME, Faded, Figures, latest

IntArray = npt.NDArray[np.int64]
_IOU = 1 << 26
_ALPHA = 1 << 30


class NodeAlignment(Alignment):
    """An alignment of which the counts are known, and not the segments."""

    @property
    def substitutions(self) -> int:
        """Matches of two different labels: off the diagonal, without the row and the column of NULL."""
        inner = self.confusion[1:, 1:]
        return int(inner.sum() - np.trace(inner))


class NodeSlices(Slices):
    """Slices of which it is known how many ticks of a label were called something else, and not what.

    `substituted` holds the ticks of each true label in its first column, those of each predicted one in its
    first row.
    """

    @property
    def substituted_ground(self) -> IntArray:
        """Ticks of this true label that were called something else, shape=(L,)."""
        return self.substituted[:, 0]

    @property
    def substituted_inferred(self) -> IntArray:
        """Ticks of this predicted label that were something else, shape=(L,)."""
        return self.substituted[0, :]

    @property
    def totals(self) -> dict[str, int]:
        """Ticks by category over all labels; they add up to `known`."""
        return {**super().totals, "S": int(self.substituted[:, 0].sum())}


def assessed(
    figures: Figures,
    *,
    weights: tuple[float, ...] | None = None,
    include_null: bool = True,
    own_clocks: bool = False,
) -> Assessment:
    """Return the figures as an assessment.

    Parameters
    ----------
    weights, include_null : of the averages over labels, as in `Settings`.
    own_clocks : bool
        The nodes' ticks are not comparable: faded sums are added as they stand instead of being faded to the
        time of the latest.
    """
    config, raw = figures.config, figures.raw
    labels = len(config["labels"])
    task = Task(
        labels=tuple(config["labels"]),
        tick_seconds=config["tick_us"] / 1e6 if config["tick_us"] else None,
        slice_ticks=config["slice"],
        closed=bool(config["closed"]),
        gaps_unknown=bool(config["gaps_unknown"]),
    )
    times = raw["join"]
    empty = Segments.empty()
    recording = Recording(
        task, empty, empty, empty, empty, (0, times["assessed"] + times["unknown"]), Notes()
    )
    alpha = 1 - config["alpha_q30"] / _ALPHA
    settings = Settings(
        window=config["window"],
        alpha=alpha,
        delta=config["delta_ppm"] / 1e6,
        weights=weights,
        include_null=include_null,
    )
    return Assessment(
        recording,
        settings,
        _alignment(raw.get("align"), labels),
        _slices(raw.get("slices"), labels, times["unknown"], weights, include_null),
        _prequential(
            raw.get("prequential"),
            figures.faded.get("prequential", ()),
            settings,
            config["slice"],
            own_clocks,
        ),
    )


def missing(figures: Figures) -> list[str]:
    """Return sentences about what the figures do not hold."""
    names = {"align": "the alignment", "slices": "slices", "prequential": "the prequential error"}
    off = [what for part, what in names.items() if part not in figures.raw]
    notes = [f"not among these nodes' estimators: {', '.join(off)}"] if off else []
    if figures.left_out:
        notes.append(f"does not add up over nodes, see each alone: {', '.join(figures.left_out)}")
    return notes


def _alignment(raw: dict[str, Any] | None, labels: int) -> NodeAlignment:
    zero = [0] * labels
    if raw is None:
        raw = {"confusion": [zero] * labels, "split": zero, "merge": zero, "stats": {}}
    confusion = np.array(raw["confusion"], dtype=np.int64).reshape(labels, labels)
    inner = confusion[1:, 1:]
    unmatched = raw.get("unmatched_truth", 0), raw.get("unmatched_prediction", 0)
    cost = raw.get("same", 0) - raw.get("iou_q26", 0) / _IOU
    statistics = raw["stats"]

    def stat(name: str, scale: float = 1.0) -> Stat:
        return _stat(statistics.get(name, [0] * 5), scale)

    return NodeAlignment(
        labels=labels,
        c0=2.0,
        distance=2.0 * (sum(unmatched) + int(inner.sum() - np.trace(inner))) + cost,
        forced=raw.get("forced", 0),
        truth=Segments.empty(),
        prediction=Segments.empty(),
        matches=np.empty((0, 2), dtype=np.int64),
        confusion=confusion,
        true_segments=raw.get("truth", 0),
        pred_segments=raw.get("prediction", 0),
        unmatched_truth=unmatched[0],
        unmatched_prediction=unmatched[1],
        repetitions_split=np.array(raw["split"], dtype=np.int64),
        repetitions_merge=np.array(raw["merge"], dtype=np.int64),
        cost_sum=cost,
        latency=stat("latency", 0.5),
        onset_latency=stat("onset"),
        offset_latency=stat("offset"),
        early=Stat(raw.get("early", 0)),
        late=Stat(raw.get("late", 0)),
        overlap=stat("overlap"),
        prediction_duration=stat("duration"),
        iou=stat("iou", 1 / _IOU),
    )


def _stat(sums: list[int], scale: float) -> Stat:
    count, total, squares, low, high = sums
    if count == 0:
        return Stat(0)
    # Whole numbers until the root: the difference of two large squares keeps every digit.
    variance = count * squares - total * total
    return Stat(
        count,
        total / count * scale,
        math.sqrt(max(0, variance)) / count * scale,
        low * scale,
        high * scale,
    )


def _slices(
    raw: dict[str, Any] | None,
    labels: int,
    unknown: int,
    weights: tuple[float, ...] | None,
    include_null: bool,
) -> NodeSlices:
    names = ("tp", "sg", "si", "d", "u", "f", "i", "o", "m")
    ticks = {name: np.array(raw[name] if raw else [0] * labels, dtype=np.int64) for name in names}
    missed = ticks["d"] + ticks["u"] + ticks["f"]
    invented = ticks["i"] + ticks["o"] + ticks["m"]
    ground = ticks["tp"] + ticks["sg"] + missed
    inferred = ticks["tp"] + ticks["si"] + invented
    # What is missed was inferred as NULL, what is invented was NULL in truth.
    ground[0] += invented.sum()
    inferred[0] += missed.sum()
    substituted = np.zeros((labels, labels), dtype=np.int64)
    # NULL is never substituted, so the corner is free.
    substituted[:, 0] = ticks["sg"]
    substituted[0, :] = ticks["si"]
    return NodeSlices(
        labels=labels,
        correct=ticks["tp"],
        substituted=substituted,
        deletion=ticks["d"],
        underfill=ticks["u"],
        fragmentation=ticks["f"],
        insertion=ticks["i"],
        overfill=ticks["o"],
        merge=ticks["m"],
        ground=ground,
        inferred=inferred,
        known=int(ground.sum()),
        unknown=unknown,
        weights=label_weights(weights, labels),
        include_null=include_null,
    )


def _prequential(
    raw: dict[str, Any] | None, terms: tuple[Faded, ...], settings: Settings, slice_: int, own_clocks: bool
) -> Prequential:
    raw = raw or {"n": 0, "sum": 0, "unlabelled": 0, "window_n": 0, "window_sum": 0}
    total, weight, squares = faded_together(terms, settings.alpha, slice_, own_clocks)

    def estimate(sum_: float, weight_: float, n_eff: float) -> Estimate:
        if weight_ <= 0:
            return Estimate(None, 0.0, None, None)
        value = sum_ / weight_
        scale = math.log(2 / settings.delta) / n_eff
        return Estimate(value, n_eff, math.sqrt(scale / 2), math.sqrt(3 * value * scale))

    return Prequential(
        count=raw["n"],
        unlabelled=raw["unlabelled"],
        mean=estimate(raw["sum"], raw["n"], float(raw["n"])),
        window=estimate(raw["window_sum"], raw["window_n"], float(raw["window_n"])),
        fading=estimate(total, weight, weight * weight / squares if squares else 0.0),
        loss_sum=float(raw["sum"]),
        window_count=raw["window_n"],
        window_sum=float(raw["window_sum"]),
        fading_sum=total,
        fading_weight=weight,
        window_size=settings.window,
        alpha=settings.alpha,
        loss_max=1.0,
        delta=settings.delta,
    )


def faded_together(
    terms: tuple[Faded, ...], alpha: float, slice_ticks: int, own_clocks: bool = False
) -> tuple[float, float, float]:
    """Return faded sum, weight, and sum of squared weights of several nodes at the time of the latest.

    A node that saved k slices before the latest one has had no record since, as far as is known: what it has
    fades by ``alpha^k``.
    """
    end = latest(terms)
    totals, weights, squares = [], [], []
    for term in terms:
        if term.records == 0:
            continue
        behind = 0 if own_clocks or term.now < 0 else (end - term.now) % TIME / slice_ticks
        fade = math.exp(behind * math.log(alpha))
        totals.append(math.ldexp(term.total, -term.bits) * fade)
        weights.append(-math.expm1(term.records * math.log(alpha)) / (1 - alpha) * fade)
        squares.append(-math.expm1(2 * term.records * math.log(alpha)) / (1 - alpha * alpha) * fade * fade)
    return math.fsum(totals), math.fsum(weights), math.fsum(squares)

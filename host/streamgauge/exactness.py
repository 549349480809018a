"""What each byte of a ring or window buys: recordings run over a range of sizes, against the exact figures.

===============  =========================================================================================
alignment ring   `capacity.pending`: forced commits, and how far the distance is off. The node's model
                 aligns, the host's exact distance is the reference
late-truth ring  `capacity.runs`: time that stays unassessed when truth comes a while later (`late`)
window           `capacity.window`: how far the windowed error and the faded error of the same memory lie
                 apart. The faded one takes a few words whatever its memory
boundary ring    `hierarchy.boundaries`: boundaries lost, and how far the T-measure is off
===============  =========================================================================================

Bytes are those of the ring or window alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from . import example, firmware, ledger_model
from .align import align_recording
from .feed import lay_out
from .files import Recording, read_pair
from .hierarchy import t_measure
from .late import apply_ring, arrivals
from .node_run import run_model
from .prequential import curves, losses_from_pieces
from .profile import Profile, check_node_range, compile_config, load_profile
from .segments import Segments

PENDING = tuple(2**n for n in range(2, 10))
RUNS = tuple(2**n for n in range(2, 11))
WINDOWS = (30, 100, 300, 1000, 3000, 10_000)
BOUNDARIES = (1, 2, 4, 8, 12, 16, 24, 32, 64)
HOURS = (1, 6, 24)

_UNSMOOTHED = 0.1  # share of slices that get a label by chance
_LEVELS = (3 * 3600, 1800, 0)  # seconds that a segment of each level lasts at least, coarse to fine
_HIERARCHY_DAYS = 7


@dataclass(frozen=True)
class Point:
    """One size of a ring or window.

    Attributes
    ----------
    size, bytes : int
    values : dict of str to float
        What it gives.
    """

    size: int
    bytes: int
    values: dict[str, float]


@dataclass(frozen=True)
class Curve:
    """One recording over all sizes."""

    name: str
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Exactness:
    """All curves, by what is sized: `pending`, `runs`, `window`, `boundaries`."""

    curves: dict[str, tuple[Curve, ...]]

    def document(self) -> dict[str, Any]:
        """Return the curves for `--json`."""
        return {
            kind: {curve.name: [asdict(point) for point in curve.points] for curve in curves}
            for kind, curves in self.curves.items()
        }


def home() -> Recording:
    """Return the built-in example."""
    truth, prediction, options = example.builtin()
    return read_pair(truth, prediction, options)


def unsmoothed(recording: Recording, share: float = _UNSMOOTHED, seed: int = 1) -> Recording:
    """Return a recording whose prediction is wrong by chance in a share of its slices.

    So looks a classifier that decides slice by slice: long true segments hold many short predictions.
    """
    random = np.random.default_rng(seed)
    ticks = recording.task.slice_ticks
    begin, stop = recording.span
    count = -(-(stop - begin) // ticks)
    at = begin + ticks * np.arange(count)
    labels = recording.prediction.label[np.searchsorted(recording.prediction.end, at, side="right")].copy()
    wrong = random.random(count) < share
    labels[wrong] = random.integers(0, len(recording.task.labels), int(wrong.sum()))
    segs = Segments.from_labels(labels, ticks, begin)
    segs.end[-1] = stop
    return replace(recording, prediction=segs, prediction_raw=segs)


def measure(recordings: dict[str, Recording]) -> Exactness:
    """Run recordings over all sizes; the hierarchy is that of the built-in example.

    Parameters
    ----------
    recordings : dict
        By name.

    Raises
    ------
    InputError
        A recording does not fit a node.
    """
    found: dict[str, tuple[Curve, ...]] = {
        "pending": tuple(_pending(name, recording) for name, recording in recordings.items()),
        "runs": tuple(
            _runs(name, recording, hours)
            for name, recording in recordings.items()
            for hours in HOURS
            if recording.task.tick_seconds
        ),
        "window": tuple(_window(name, recording) for name, recording in recordings.items()),
        "boundaries": (_boundaries("home", home()),),
    }
    return Exactness(found)


def ring_bytes(kind: str, size: int, levels: int = 6) -> int:
    """Return the bytes of the heap that the ring or window takes of its part's arrays.

    kind : `pending`, `runs`, `window` or `boundaries`; levels : of both sides together, for `boundaries`.
    """
    if kind == "boundaries":
        return 4 * levels * size
    parts = {"pending": "align", "runs": "join", "window": "prequential"}
    config = {
        "estimators": ["align", "prequential"],
        "labels": ["NULL"],
        "overlap": 0,
        "loss_max": 0,
        **{"pending": 0, "runs": 0, "window": 0},
    }
    with_ring, without = (
        sum(4 * a.words + a.count for a in ledger_model.arrays(c) if a.part == parts[kind])
        for c in ({**config, kind: size}, config)
    )
    return with_ring - without


def _roomy(**values: Any) -> Profile:
    """Return a profile in which nothing but the given sizes matters."""
    most = {"capacity.labels": 31, "capacity.runs": RUNS[-1], "capacity.pending": PENDING[-1]}
    return load_profile("sensor").with_values(
        {**most, **{k.replace("__", "."): v for k, v in values.items()}}
    )


def _pending(name: str, recording: Recording) -> Curve:
    check_node_range(recording)
    exact = align_recording(
        recording.truth_raw,
        recording.prediction_raw,
        labels=len(recording.task.labels),
        closed=recording.task.closed,
    )
    feed = lay_out(recording, RUNS[-1])
    segments = max(exact.true_segments + exact.pred_segments, 1)
    points = []
    for size in PENDING:
        profile = _roomy(capacity__pending=size, estimators__on=["align"])
        told = run_model(compile_config(profile, recording.task, overlap=feed.overlap), feed)["align"]
        values = {
            "forced": told["forced"] / segments,
            "distance_error": abs(_distance(told) - exact.distance) / max(exact.distance, 1.0),
        }
        points.append(Point(size, ring_bytes("pending", size), values))
    return Curve(name, tuple(points))


def _distance(told: dict[str, Any]) -> float:
    """Return the distance of a node's whole numbers; the cost of an unmatched segment is 2."""
    confusion = np.array(told["confusion"])[1:, 1:]
    substitutions = int(confusion.sum() - np.trace(confusion))
    at_full_cost = told["unmatched_truth"] + told["unmatched_prediction"] + substitutions
    return float(2 * at_full_cost + told["same"] - told["iou_q26"] / 2**26)


def _runs(name: str, recording: Recording, hours: float) -> Curve:
    seconds = recording.task.tick_seconds
    assert seconds is not None
    order = arrivals(recording.truth, recording.prediction, round(hours * 3600 / seconds))
    begin, stop = recording.span
    points = []
    for size in RUNS:
        late = apply_ring(recording.truth, recording.prediction, order, size)
        values = {"unassessed": late.unassessed_ticks / (stop - begin)}
        points.append(Point(size, ring_bytes("runs", size), values))
    return Curve(f"{name}: {hours:g} h late", tuple(points))


def _window(name: str, recording: Recording) -> Curve:
    losses = losses_from_pieces(recording.truth, recording.prediction, recording.task.slice_ticks)
    points = []
    for size in WINDOWS:
        # The faded error whose effective number of records is the window's.
        found = curves(losses, window=size, alpha=(size - 1) / (size + 1))
        apart = (found.window - found.fading)[size:]
        if len(apart):
            values = {
                "apart": float(np.sqrt(np.mean(np.square(apart)))),
                "hoeffding": float(np.sqrt(np.log(2 / 0.05) / (2 * size))),
            }
            points.append(Point(size, ring_bytes("window", size), values))
    return Curve(name, tuple(points))


def _levels(segs: Segments, span: tuple[int, int], second: float) -> list[list[tuple[int, int]]]:
    """Return segments by level: those of at least three hours, those of half an hour, every activity.

    What lies between two of a level's segments is a segment too. `second` : ticks of a second.
    """
    levels = []
    for least in _LEVELS:
        long = segs.take(segs.end - segs.start >= least * second)
        edges = np.unique(np.concatenate((long.start, long.end, span)))
        edges = edges[(edges >= span[0]) & (edges <= span[1])]
        levels.append(list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)))
    return levels


def _boundaries(name: str, recording: Recording) -> Curve:
    ticks = recording.task.slice_ticks
    second = 1 / (recording.task.tick_seconds or 1.0)
    begin, stop = recording.span
    frames = min(round(_HIERARCHY_DAYS * 86400 * second / ticks), (stop - begin) // ticks)
    span = (begin, begin + frames * ticks)
    truth, prediction = (_levels(side, span, second) for side in (recording.truth, recording.prediction))
    profile = load_profile("sensor")
    window = profile["hierarchy.window"]
    exact = t_measure(truth, prediction, window=window * ticks, frame=ticks)
    count = sum(len(level) for level in truth + prediction)
    points = []
    for size in BOUNDARIES:
        told = _told_hierarchy(truth, prediction, window, ticks, size)
        lost = told["overflow_truth"] + told["overflow_prediction"]
        f = _f(told)
        values = {"t_error": abs(f - exact.f), "lost": lost / count}
        points.append(Point(size, ring_bytes("boundaries", size), values))
    return Curve(name, tuple(points))


def _told_hierarchy(
    truth: Sequence[list[tuple[int, int]]],
    prediction: Sequence[list[tuple[int, int]]],
    window: int,
    ticks: int,
    size: int,
) -> dict[str, Any]:
    """Return the figures of the node's model, told every boundary when it is reached."""
    firmware.node_model()
    from gauge.hierarchy import Hierarchy
    from gauge.ledger import Ledger

    node = Hierarchy(Ledger(), len(truth), len(prediction), window, ticks, size)
    node.begin(truth[0][0][0])
    events = sorted(
        (end, side, level)
        for side, levels in enumerate((truth, prediction))
        for level, segments in enumerate(levels)
        for _, end in segments
    )
    for end, side, level in events:
        # A boundary is known when it is passed; what lies before it can be answered as far as the window.
        node.advance(end)
        (node.prediction if side else node.truth)(level, end)
    node.finish(events[-1][0])
    raw: dict[str, Any] = node.raw()
    return raw


def _f(told: dict[str, Any]) -> float:
    shares = []
    for name in ("precision_reduced", "recall_reduced"):
        queries, _, _, share = told[name]
        shares.append(share / 2**20 / queries if queries else 0.0)
    precision, recall = shares
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0

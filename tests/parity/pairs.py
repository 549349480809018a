"""Random recordings for host, node and oracle alike, and the ways to tell a node of them.

Small times and few labels, so that exact ties, shared boundaries and everything that can coincide does.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from oracles import align as oracle_align
from oracles import cases
from oracles import prequential as oracle_prequential
from oracles import slices as oracle_slices
from streamgauge.feed import PREDICTION, SAMPLE, TICK_MASK, TRUTH, Feed, lay_out
from streamgauge.files import Notes, ReadOptions, Recording
from streamgauge.profile import Profile, compile_config, load_profile
from streamgauge.reading.recording import assemble
from streamgauge.segments import UNKNOWN, Segments, order
from streamgauge.task import Task

Row = tuple[int, int, int]

RING = 32
WINDOW = 20
LABELS = (2, 3, 4)
SLICES = (1, 2, 3)


@dataclass(frozen=True)
class Case:
    """One recording, the node's configuration for it, and how it is told."""

    number: int
    recording: Recording
    config: dict[str, Any]
    feed: Feed
    told: str


@functools.cache
def profile() -> Profile:
    """Rings small enough to turn over, large enough for these recordings."""
    return load_profile("sensor").with_values(
        {"capacity.runs": RING, "capacity.pending": 32, "capacity.window": WINDOW, "prequential.alpha": 0.9}
    )


def recording(random: Random) -> Recording:
    """A recording: rows as a file may hold them, made legal by the reader's own last step."""
    labels = random.choice(LABELS)
    closed = random.random() < 0.35
    unknown = random.choice((0.0, 0.0, 0.2))
    overlaps = random.choice(("keep", "keep", "flatten"))
    task = Task(
        labels=tuple(str(label) for label in range(labels)),
        slice_ticks=random.choice(SLICES),
        closed=closed,
        gaps_unknown=random.random() < 0.1,
    )
    if random.random() < 0.25:
        return _on_grid(random, task, unknown)
    sides = []
    for may_be_unknown in (unknown, 0.0):
        rows = cases.sequence(random, labels=labels, closed=closed, longest=9)
        rows = [
            (UNKNOWN if random.random() < may_be_unknown else label, start, end + closed)
            for label, start, end in rows
        ] or [(0, 0, 3)]
        sides.append(order(Segments.from_rows(rows)))
    return assemble(task, sides[0], sides[1], None, ReadOptions(closed=closed, overlaps=overlaps), Notes())


def _on_grid(random: Random, task: Task, unknown: float) -> Recording:
    """Labels a slice, as a recogniser gives them."""
    count = random.randint(1, 30)
    sides = []
    for may_be_unknown in (unknown, 0.0):
        rows = cases.partition(random, count, labels=len(task.labels), longest=4, unknown=may_be_unknown)
        sides.append(Segments.from_labels(cases.per_tick(rows), task.slice_ticks, start=task.slice_ticks))
    return assemble(task, sides[0], sides[1], None, ReadOptions(closed=task.closed), Notes())


def case(number: int) -> Case:
    """The case of that number: the same everywhere."""
    random = Random(number)
    made = recording(random)
    feed = lay_out(made, RING)
    config = compile_config(profile(), made.task, overlap=feed.overlap)
    config["group"] = random.choice((1, 3, 16))
    told = random.choice(("as laid out", "late", "shuffled", "samples"))
    if told == "samples" and (feed.overlap or feed.plan["mode"] != "slices"):
        told = "shuffled"
    if told != "as laid out":
        feed = _records(
            _samples(made) if told == "samples" else _told(made, random, late=told == "late"), feed
        )
    return Case(number, made, config, feed, told)


def cases_from(first: int, count: int) -> Iterator[Case]:
    """That many cases."""
    return map(case, range(first, first + count))


def _segments(made: Recording) -> tuple[list[list[int]], list[list[int]]]:
    closed = int(made.task.closed)
    return tuple(  # type: ignore[return-value]
        [[side << 8 | label, start & TICK_MASK, (end - closed) & TICK_MASK] for label, start, end in segs]
        for side, segs in ((TRUTH, made.truth_raw), (PREDICTION, made.prediction_raw))
    )


def _told(made: Recording, random: Random, *, late: bool) -> list[list[int]]:
    """Segments of both sides, in their own order but any order between them that the ring can hold.

    Late: the truth comes only when the ring of predictions is nearly full.
    """
    waiting = [list(rows) for rows in _segments(made)]
    told: list[list[int]] = []
    ahead = 0  # at most this many of one side wait for the other: the two may touch but not match
    while waiting[TRUTH] or waiting[PREDICTION]:
        side = PREDICTION if late or random.random() < 0.5 else TRUTH
        # What is told of one side and not yet reached by the other must stay below the ring's size.
        if abs(ahead + (1 if side else -1)) > RING // 2 - 2 or not waiting[side]:
            side = 1 - side
        if not waiting[side]:
            side = 1 - side
        ahead += 1 if side else -1
        told.append(waiting[side].pop(0))
    return told


def _samples(made: Recording) -> list[list[int]]:
    """One sample a slice, truth and prediction in turn."""
    ticks = made.task.slice_ticks
    begin, stop = made.span
    told = []
    for t in range(begin, stop, ticks):
        for side, segs in ((PREDICTION, made.prediction_raw), (TRUTH, made.truth_raw)):
            label = int(segs.label[np.searchsorted(segs.start, t, side="right") - 1])
            told.append([(side + SAMPLE) << 8 | label, t, 0])
    return told


def _records(told: list[list[int]], feed: Feed) -> Feed:
    data = np.array(told, dtype="<i4").tobytes()
    return Feed({"mode": "records", "words": 96}, data, len(told), feed.overlap)


@dataclass(frozen=True)
class Oracle:
    """What the oracles say of a recording, under the names of the node's raw figures."""

    align: dict[str, Any]
    slices: dict[str, list[int]]
    prequential: oracle_prequential.Assessed
    distance: float


def oracle(made: Recording, alpha: Any) -> Oracle:
    """Assess a recording literally."""
    closed = made.task.closed
    labels = len(made.task.labels)
    rows = [
        [(label, start, end - closed) for label, start, end in side]
        for side in (made.truth_raw, made.prediction_raw)
    ]
    found, _, _ = oracle_align.align_known(rows[0], rows[1], labels=labels, closed=closed)
    truth, prediction = (
        [label for label, start, end in side for _ in range(start, end)]
        for side in (made.truth, made.prediction)
    )
    counts = oracle_slices.counts(truth, prediction, labels)
    losses = oracle_prequential.losses(truth, prediction, made.task.slice_ticks)
    doubled = [int(2 * value) for value in found.latency]
    return Oracle(
        align={
            "unmatched_truth": found.unmatched_truth,
            "unmatched_prediction": found.unmatched_prediction,
            "confusion": found.confusion,
            "split": found.split,
            "merge": found.merge,
            "early": sum(value < 0 for value in doubled),
            "late": sum(value > 0 for value in doubled),
            "latency": _sums(doubled),
            "onset": _sums(found.onset),
            "offset": _sums(found.offset),
            "overlap": _sums(found.overlap),
            "duration": _sums(found.duration),
        },
        slices={
            key: counts[name]
            for key, name in zip(
                ("tp", "sg", "si", "d", "u", "f", "i", "o", "m"),
                ("TP", "SG", "SI", "D", "U", "F", "I", "O", "M"),
                strict=True,
            )
        },
        prequential=oracle_prequential.prequential(losses, window=WINDOW, alpha=alpha),
        distance=float(found.distance),
    )


def _sums(values: list[int]) -> list[int]:
    return [
        len(values),
        sum(values),
        sum(value * value for value in values),
        min(values, default=0),
        max(values, default=0),
    ]


def node_says(raw: dict[str, Any]) -> dict[str, Any]:
    """The node's alignment under the oracle's names."""
    align = raw["align"]
    return {name: align[name] if name in align else list(align["stats"][name]) for name in _NAMES}


_NAMES = (
    "unmatched_truth",
    "unmatched_prediction",
    "confusion",
    "split",
    "merge",
    "early",
    "late",
    "latency",
    "onset",
    "offset",
    "overlap",
    "duration",
)

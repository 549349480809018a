"""A node that is told the truth late, against the host's figures for the same late stream."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np
import pytest
from nodelife import Wire

from streamgauge import firmware
from streamgauge.align import align_recording
from streamgauge.engines import Engine
from streamgauge.example import builtin
from streamgauge.files import read_pair
from streamgauge.late import TRUTH, Late, apply_ring, arrivals
from streamgauge.prequential import losses_from_pieces, prequential
from streamgauge.segments import NULL, UNKNOWN, Segments
from streamgauge.slices import slices

gauge = firmware.node_model()

MINUTE, HOUR = 60, 3600

TOLD = """
import json
from array import array
import gauge

node = gauge.Node(gauge.load("config.json"))
row = array("i", bytes(16))
with open("rows.bin", "rb") as file:
    while file.readinto(row):
        if row[0]:
            node.predict_segment(row[1], row[2], row[3])
        else:
            node.truth_segment(row[1], row[2], row[3])
node.finish()
print(json.dumps(node.raw()))
"""


def config(labels: int, **more: Any) -> dict[str, Any]:
    found = {
        "version": 1,
        "labels": ["NULL", *(f"label {i}" for i in range(1, labels))],
        "tick_us": 1_000_000,
        "slice": 60,
        "closed": 0,
        "overlap": 0,
        "gaps_unknown": 0,
        "runs": 64,
        "pending": 64,
        "window": 1000,
        "alpha_q30": 1073742,
        "loss_max": 0,
        "delta_ppm": 50000,
        "state_bytes": 0,
        "estimators": ["align", "slices", "prequential"],
        "options": {},
    }
    return {**found, **more}


def told(node: Any, sides: tuple[Segments, Segments], order: list[tuple[int, int]]) -> dict[str, Any]:
    """The node's figures after it was told so."""
    for which, index in order:
        label, start, end = (
            int(a[index]) for a in (sides[which].label, sides[which].start, sides[which].end)
        )
        (node.truth_segment if which == TRUTH else node.predict_segment)(label, start, end)
    node.finish()
    return node.raw()


def assert_equals_host(raw: dict[str, Any], late: Late, node_config: dict[str, Any]) -> None:
    labels = len(node_config["labels"])
    begin, stop = late.span
    unknown = sum(end - start for label, start, end in late.truth if label == UNKNOWN)
    assert raw["join"] == {
        "assessed": stop - begin - unknown,
        "unknown": unknown - late.unassessed_ticks,
        "unassessed": late.unassessed_ticks,
    }
    alignment = align_recording(late.truth, late.prediction, labels=labels)
    assert raw["align"]["forced"] == 0
    assert raw["align"]["confusion"] == alignment.confusion.tolist()
    assert raw["align"]["unmatched_truth"] == alignment.unmatched_truth
    assert raw["align"]["unmatched_prediction"] == alignment.unmatched_prediction
    assert raw["align"]["split"] == alignment.repetitions_split.tolist()
    assert raw["align"]["merge"] == alignment.repetitions_merge.tolist()
    measured = slices(late.truth, late.prediction, labels)
    categories = {
        "tp": measured.correct,
        "sg": measured.substituted.sum(axis=1),
        "si": measured.substituted.sum(axis=0),
        "d": measured.deletion,
        "u": measured.underfill,
        "f": measured.fragmentation,
        "i": measured.insertion,
        "o": measured.overfill,
        "m": measured.merge,
    }
    assert raw["slices"] == {key: ticks.tolist() for key, ticks in categories.items()}
    losses = losses_from_pieces(late.truth, late.prediction, node_config["slice"])
    error = prequential(losses, window=node_config["window"], alpha=0.999)
    said = [raw["prequential"][key] for key in ("n", "unlabelled", "sum", "window_n", "window_sum")]
    assert said == [error.count, error.unlabelled, error.loss_sum, error.window_count, error.window_sum]


def home(days: int) -> tuple[tuple[Segments, Segments], list[str]]:
    """Truth and prediction of some days of the made-up home, in seconds, and the labels' names."""
    truth_path, prediction_path, options = builtin()
    recording = read_pair(truth_path, prediction_path, options)
    end = recording.span[0] + days * 24 * HOUR
    sides = tuple(side.take(side.end <= end) for side in (recording.truth, recording.prediction))
    return (sides[0], sides[1]), list(recording.task.labels)


@pytest.mark.parametrize("delay", [0, 10 * MINUTE, 3 * HOUR, 12 * HOUR, None])
@pytest.mark.parametrize("ring", [16, 128])
def test_a_node_told_late_says_what_the_host_says_of_the_same_late_stream(
    delay: int | None, ring: int
) -> None:
    sides, labels = home(7)
    settings = config(len(labels), runs=ring, gaps_unknown=1)
    order = arrivals(*sides, delay)
    late = apply_ring(*sides, order, ring, gap=UNKNOWN)
    assert_equals_host(told(gauge.Node(settings), sides, order), late, settings)
    if delay is None:
        assert all(label == UNKNOWN for label, _, _ in late.truth)
    if ring == 16:
        assert late.unassessed_ticks > 0
    if delay is not None and ring == 128:
        assert late.unassessed_ticks == 0


@pytest.mark.parametrize("delay", [10 * MINUTE, 3 * HOUR])
def test_labels_sent_late_and_out_of_order_give_the_hosts_figures(delay: int) -> None:
    sides, labels = home(4)
    settings = config(len(labels), runs=128, gaps_unknown=1, reorder=8)
    wire = Wire(gauge.Node(settings))
    for which, index in jumbled(arrivals(*sides, delay), random.Random(1)):
        label, start, end = list(sides[which])[index]
        if which == TRUTH:
            assert wire.tell(f"#{label}", start, end).code == 0
        else:
            wire.node.predict_segment(label, start, end)
        wire.labels.waiting.relieve()
    wire.node.finish()
    late = apply_ring(*sides, arrivals(*sides, delay), 128, gap=UNKNOWN)
    assert late.unassessed_ticks == 0
    assert_equals_host(wire.node.raw(), late, settings)


def jumbled(order: list[tuple[int, int]], rng: random.Random) -> list[tuple[int, int]]:
    """The same with every four successive true segments told in any order among themselves."""
    true = [index for which, index in order if which == TRUTH]
    for i in range(0, len(true), 4):
        true[i : i + 4] = rng.sample(true[i : i + 4], len(true[i : i + 4]))
    told = iter(true)
    return [(which, next(told) if which == TRUTH else index) for which, index in order]


@pytest.mark.parametrize("name", ["arm", "x64"])
def test_engines_told_late_say_the_same(name: str, request: pytest.FixtureRequest) -> None:
    engine: Engine = request.getfixturevalue(name)
    sides, labels = home(5)
    settings = config(len(labels), runs=16, gaps_unknown=1)
    order = arrivals(*sides, 3 * HOUR)
    rows = [(which, *list(sides[which])[index]) for which, index in order]
    files = {
        **firmware.build(engine.march),
        "config.json": json.dumps(settings).encode(),
        "rows.bin": np.array(rows, dtype="<i4").tobytes(),
    }
    said = json.loads(engine.run(TOLD, files, heap_bytes=150_000).stdout)
    late = apply_ring(*sides, order, 16, gap=UNKNOWN)
    assert late.unassessed_ticks > 0
    assert_equals_host(said, late, settings)


@pytest.mark.parametrize("number", range(60))
def test_truth_as_late_as_it_likes_is_lost_where_the_host_says(number: int) -> None:
    rng = random.Random(number)
    gaps_unknown = rng.random() < 0.5
    settings = config(3, runs=rng.choice((4, 8)), slice=rng.choice((1, 3)), gaps_unknown=int(gaps_unknown))
    sides = tuple(segments(rng, rng.randrange(1, 80)) for _ in range(2))
    order = shuffled(rng, sides)
    late = apply_ring(sides[0], sides[1], order, settings["runs"], gap=UNKNOWN if gaps_unknown else NULL)
    assert_equals_host(told(gauge.Node(settings), (sides[0], sides[1]), order), late, settings)


def segments(rng: random.Random, count: int) -> Segments:
    rows, t = [], rng.randrange(6)
    for _ in range(count):
        t += rng.choice((0, 0, 0, 1, 4))
        # Segments of one label that touch are one run to the slices and two to the ring; both are tried.
        label = rng.choice((0, 1, 2, 2))
        rows.append((label, t, t + rng.randrange(1, 9)))
        t = rows[-1][2]
    return Segments.from_rows(rows)


def shuffled(rng: random.Random, sides: tuple[Segments, ...]) -> list[tuple[int, int]]:
    """One side runs ahead of the other by up to a dozen segments, now this one, now that."""
    order, at = [], [0, 0]
    while at[0] < len(sides[0]) or at[1] < len(sides[1]):
        which = rng.randrange(2)
        for _ in range(rng.randrange(1, 13)):
            if at[which] < len(sides[which]):
                order.append((which, at[which]))
                at[which] += 1
    return order


def test_what_a_full_ring_gives_up_is_unassessed() -> None:
    prediction = Segments.from_rows([(1, 10 * i, 10 * i + 10) for i in range(5)])
    truth = Segments.from_rows([(1, 0, 50)])
    order = [(1, 0), (1, 1), (1, 2), (1, 3), (1, 4), (0, 0)]
    late = apply_ring(truth, prediction, order, 4)
    assert late.unassessed == [(0, 10)]
    assert list(late.truth) == [(UNKNOWN, 0, 10), (1, 10, 50)]
    assert apply_ring(truth, prediction, order, 5).unassessed == []


def test_a_gap_takes_a_place_in_the_ring() -> None:
    prediction = Segments.from_rows([(1, 0, 10), (1, 20, 30), (1, 40, 50)])
    late = apply_ring(Segments.empty(), prediction, [(1, 0), (1, 1), (1, 2)], 4, gap=UNKNOWN)
    assert late.unassessed == [(0, 10)]
    assert list(late.truth) == [(UNKNOWN, 0, 10), (UNKNOWN, 10, 50)]


def test_a_truth_that_begins_before_a_recording_that_already_lost_time_is_rejected() -> None:
    prediction = Segments.from_rows([(1, 10 * i, 10 * i + 10) for i in range(1, 6)])
    truth = Segments.from_rows([(1, 0, 20), (1, 20, 60)])
    order = [(1, 0), (1, 1), (1, 2), (1, 3), (1, 4), (0, 0), (0, 1)]
    late = apply_ring(truth, prediction, order, 4)
    assert (late.rejected, late.span, late.unassessed) == (1, (10, 60), [(10, 20)])
    settings = config(2, runs=4, slice=1)
    raw = told(gauge.Node(settings), (truth, prediction), order)
    assert raw["counters"]["overlap"] == 1
    assert_equals_host(raw, late, settings)


def test_nothing_told_is_nothing_assessed() -> None:
    late = apply_ring(Segments.empty(), Segments.empty(), [], 4)
    assert (len(late.truth), len(late.prediction), late.unassessed_ticks) == (0, 0, 0)

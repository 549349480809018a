"""The node's alignment: every figure of random recordings as the oracles say, and what is forced."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from node.harness import (
    UNKNOWN,
    WRAP,
    Calls,
    Row,
    calls_file,
    config,
    differences,
    expected,
    node_distance,
    play_here,
    play_on,
    span_of,
    with_gaps,
)

import gauge
from oracles import cases
from streamgauge.align import align
from streamgauge.engines import Engine
from streamgauge.segments import Segments

QUIET = {"order": 0, "label": 0, "range": 0, "overlap": 0, "split": 0, "overrun": 0}
PAIRS = 10_500


@dataclass
class Case:
    """A random recording, the config for it and the order in which it is told."""

    made: dict[str, Any]
    truth: list[Row]
    prediction: list[Row]
    order: list[tuple[int, Row]]
    origin: int = 0

    def tell(self, node: Any) -> None:
        for side, (label, start, end) in self.order:
            segment = node.predict_segment if side else node.truth_segment
            segment(label, (self.origin + start) % WRAP, (self.origin + end) % WRAP)
        node.finish()

    def calls(self) -> Calls:
        recorded = Calls(self.made)
        self.tell(recorded)
        return recorded


def interleaved(rng: Random, truth: list[Row], prediction: list[Row]) -> list[tuple[int, Row]]:
    """By ends, as a node hears of segments; or one side late; or at random."""
    sides = [[(0, row) for row in truth], [(1, row) for row in prediction]]
    kind = rng.choice(["by end", "by end", "truth last", "truth first", "random"])
    if kind == "truth last":
        return sides[1] + sides[0]
    if kind == "truth first":
        return sides[0] + sides[1]
    told = []
    while sides[0] and sides[1]:
        if kind == "random":
            side = rng.randrange(2)
        else:
            side = min((0, 1), key=lambda s: (sides[s][0][1][2], rng.random()))
        told.append(sides[side].pop(0))
    return told + sides[0] + sides[1]


def overlapping(rows: list[Row], closed: int) -> bool:
    return any(after[1] < before[2] + closed for before, after in pairwise(rows))


def random_case(seed: int, **changes: Any) -> Case:
    rng = Random(seed)
    closed = int(rng.random() < 0.4)
    overlap = int(rng.random() < 0.6)
    labels = rng.choice([2, 3, 4])
    longest = rng.choice([3, 7, 10])
    sides: list[list[Row]] = []
    for _ in range(2):
        rows = cases.sequence(rng, labels=labels, closed=bool(closed), longest=longest)
        while not overlap and overlapping(rows, closed):
            rows = cases.sequence(rng, labels=labels, closed=bool(closed), longest=longest)
        sides.append(rows)
    if rng.random() < 0.4:
        sides[0] = [(UNKNOWN if rng.random() < 0.2 else g, s, e) for g, s, e in sides[0]]
    made = config(
        labels,
        closed=closed,
        overlap=overlap,
        gaps_unknown=int(rng.random() < 0.2),
        group=rng.choice([1, 3, 16]),
        slice=rng.choice([1, 1, 3]),
        **{"runs": 32, "pending": 32, **changes},
    )
    order = interleaved(rng, *sides)
    return Case(made, *sides, order, rng.choice([0, WRAP - 20, rng.randrange(WRAP)]))


def said(case: Case) -> dict[str, Any]:
    node = gauge.Node(case.made)
    case.tell(node)
    return node.raw()


@pytest.mark.parametrize("part", range(7))
def test_every_figure_of_random_recordings_is_the_oracles(part):
    kinds = set()
    for seed in range(part, PAIRS, 7):
        case = random_case(seed)
        raw = said(case)
        want = expected(case.made, case.truth, case.prediction)
        assert differences(raw, want, case.made) == [], seed
        assert raw["counters"] == QUIET, seed
        kinds |= {
            ("closed", case.made["closed"]),
            ("overlaps", overlapping(case.truth, 0) or overlapping(case.prediction, 0)),
            ("unknown", raw["join"]["unknown"] > 0),
            ("split", sum(raw["align"]["split"]) > 0),
            ("merge", sum(raw["align"]["merge"]) > 0),
            ("nothing", not case.order),
        }
    assert len(kinds) == 12


@pytest.mark.parametrize("name", ["arm", "x64"])
def test_random_recordings_give_the_same_whole_state_on_an_engine(request, name):
    engine: Engine = request.getfixturevalue(name)
    calls = calls_file(random_case(seed, runs=16, pending=16).calls() for seed in range(2000))
    assert play_on(engine, calls, timeout=600) == play_here(calls)


# Forced commits.


def long_one(inner: int, rng: Random) -> tuple[list[Row], list[Row]]:
    """One segment, and hundreds inside it on the other side."""
    return [(1, 0, 10 * inner)], chain(rng, inner, 4, 0.0, 10, 10)


def chain(rng: Random, n: int, labels: int, over: float, least: int = 1, most: int = 9) -> list[Row]:
    """Segments one after the other; each begins inside the one before with the given probability."""
    rows: list[Row] = []
    start = end = 0
    for _ in range(n):
        start = rng.randint(start, end) if rows and rng.random() < over else end
        end = max(end, start + rng.randint(least, most))
        rows.append((rng.randrange(labels), start, end))
    return rows


def crowd(rng: Random, n: int, labels: int, deep: int) -> list[Row]:
    """Segments each of which overlaps the `deep` before it."""
    return [(rng.randrange(labels), 2 * i, 2 * (i + deep) + rng.randrange(2)) for i in range(n)]


def shapes() -> Iterator[tuple[str, list[Row], list[Row]]]:
    rng = Random(8)
    truth, prediction = long_one(450, rng)
    yield "one truth, hundreds of predictions", truth, prediction
    yield "one prediction, hundreds of truths", prediction, truth
    truth = [(1, 0, 1500), (2, 1500, 1510), *((g, 1510 + s, 1510 + e) for g, s, e in chain(rng, 400, 4, 0.0))]
    yield "hundreds inside, then others", truth, chain(rng, 700, 4, 0.0)
    yield "all unmatched", [(1, 7 * i, 7 * i + 7) for i in range(450)], [(0, 0, 3150)]
    yield (
        "all unmatched, cut small",
        chain(rng, 600, 1, 0.0),
        [(1 + i % 3, 3 * i, 3 * i + 3) for i in range(999)],
    )
    yield "random", chain(rng, 800, 4, 0.0), chain(rng, 800, 4, 0.0)
    yield "two labels", chain(rng, 800, 2, 0.0), chain(rng, 800, 2, 0.0)
    yield (
        "one label",
        [(1, s, e) for _, s, e in chain(rng, 600, 4, 0.0)],
        [(1, s, e) for _, s, e in chain(rng, 600, 4, 0.0, 1, 3)],
    )
    yield "some overlap", chain(rng, 800, 4, 0.3), chain(rng, 800, 4, 0.3)
    yield "much overlap", chain(rng, 800, 4, 0.9), chain(rng, 800, 4, 0.9)
    yield "deep overlap", crowd(rng, 400, 4, 20), crowd(rng, 400, 4, 20)
    yield "deeper than the rings", crowd(rng, 300, 3, 90), crowd(rng, 300, 3, 40)


SHAPES = {name: (truth, prediction) for name, truth, prediction in shapes()}


def shape_case(name: str, pending: int, seed: int = 0, **changes: Any) -> Case:
    truth, prediction = SHAPES[name]
    overlap = int(overlapping(truth, 0) or overlapping(prediction, 0))
    made = config(4, pending=pending, overlap=overlap, **{"runs": 1024, **changes})
    rng = Random(seed)
    order = sorted(
        [(0, row) for row in truth] + [(1, row) for row in prediction],
        key=lambda told: (told[1][2], rng.random() if seed else told[0]),
    )
    return Case(made, truth, prediction, order)


def assert_conserved(raw: dict[str, Any], truth: list[Row], prediction: list[Row], labels: int) -> None:
    """Every segment is decided once: matched, or unmatched."""
    a = raw["align"]
    assert (a["truth"], a["prediction"]) == (len(truth), len(prediction))
    matched = a["truth"] - a["unmatched_truth"]
    assert matched == a["prediction"] - a["unmatched_prediction"]
    pairs = a["confusion"][0][0]
    for label in range(1, labels):
        assert sum(a["confusion"][label]) == sum(g == label for g, _, _ in truth)
        column = sum(row[label] for row in a["confusion"])
        assert column == sum(p == label for p, _, _ in prediction)
        pairs += sum(a["confusion"][label][1:])
        unmatched_predictions = a["confusion"][0][label]
        unmatched_truths = a["confusion"][label][0]
        assert a["split"][label] <= unmatched_predictions
        assert a["merge"][label] <= unmatched_truths
    assert pairs == matched
    assert a["same"] == sum(a["confusion"][i][i] for i in range(labels))
    correct = a["same"] - a["confusion"][0][0]
    assert all(stat[0] == correct for stat in a["stats"].values())
    assert a["early"] + a["late"] <= correct


def filled(case: Case) -> tuple[list[Row], list[Row]]:
    span = span_of(case.truth, case.prediction, case.made["closed"])
    closed = case.made["closed"]
    return with_gaps(case.truth, span, closed), with_gaps(case.prediction, span, closed)


@pytest.mark.parametrize("name", SHAPES)
def test_forced_commits_lose_no_segment_and_are_never_better_than_the_exact_alignment(name):
    forced = []
    for pending in (4, 8, 64, 512):
        case = shape_case(name, pending)
        truth, prediction = filled(case)
        exact = align(Segments.from_rows(truth), Segments.from_rows(prediction), labels=4)
        raw = said(case)
        assert raw["counters"] == QUIET
        assert_conserved(raw, truth, prediction, 4)
        a = raw["align"]
        rounding = (a["same"] + exact.confusion.trace()) * 2**-27
        assert float(node_distance(a)) >= exact.distance - rounding
        if not a["forced"]:
            assert float(node_distance(a)) <= exact.distance + rounding
            assert a["confusion"] == exact.confusion.tolist()
            assert a["split"] == exact.repetitions_split.tolist()
            assert a["merge"] == exact.repetitions_merge.tolist()
        forced.append(a["forced"])
    # More room forces less; the smallest ring must force where hundreds wait.
    assert forced == sorted(forced, reverse=True)
    assert forced[0] > 0 or name.startswith("all unmatched")
    if name not in ("deeper than the rings", "deep overlap"):
        assert forced[-1] == 0


@pytest.mark.parametrize("part", range(2))
def test_tiny_rings_give_the_oracles_figures_unless_they_say_that_they_forced(part):
    forced = exact = 0
    for seed in range(part, 2400, 2):
        case = random_case(seed, pending=4)
        raw = said(case)
        want = expected(case.made, case.truth, case.prediction)
        wrong = differences(raw, want, case.made)
        if raw["align"]["forced"] == 0:
            assert wrong == [], seed
            exact += 1
            continue
        forced += 1
        if raw["align"]["prediction"] == want["align"]["prediction"]:
            rounding = want["align"]["same"] + raw["align"]["same"]
            assert node_distance(raw["align"]) >= want["align"]["distance"] - Fraction(rounding, 1 << 27)
        else:
            # What overlaps an edge of unknown time waits in the same ring: it may find no place there, or be
            # decided before the edge is known.
            assert case.made["overlap"] and raw["join"]["unknown"]
        # Only the alignment may differ.
        del want["align"]
        assert differences(raw, want, case.made) == [], seed
    assert forced > 100 and exact > 100


def test_tiny_rings_conserve_every_segment_of_long_streams():
    for seed in range(40):
        rng = Random(seed)
        overlap = rng.choice([0.0, 0.5, 0.9])
        truth, prediction = chain(rng, 150, 4, overlap), chain(rng, 150, 4, overlap)
        made = config(4, pending=rng.choice([4, 8]), runs=1024, overlap=int(overlap > 0))
        case = Case(made, truth, prediction, interleaved(rng, truth, prediction), rng.randrange(WRAP))
        raw = said(case)
        assert raw["counters"] == QUIET
        assert_conserved(raw, *filled(case), 4)


@pytest.mark.parametrize("name", ["arm", "x64"])
def test_forced_commits_are_the_same_on_an_engine(request, name):
    engine: Engine = request.getfixturevalue(name)
    recorded = [shape_case(shape, pending, 5).calls() for shape in SHAPES for pending in (4, 64, 512)]
    recorded += [random_case(seed, pending=4, runs=4).calls() for seed in range(400)]
    calls = calls_file(recorded)
    here = play_here(calls)
    assert play_on(engine, calls, timeout=600, heap=1 << 20) == here


def test_rings_of_both_kinds_may_overflow_at_once():
    for seed in range(300):
        case = random_case(seed, pending=4, runs=4)
        raw = said(case)
        if raw["counters"] == QUIET:
            want = expected(case.made, case.truth, case.prediction)["join"]
            assert sum(raw["join"].values()) == sum(want.values())
        else:
            # Told too late, of time that was given up before the other side was heard of.
            assert raw["join"]["unassessed"]
        a = raw["align"]
        assert a["truth"] - a["unmatched_truth"] == a["prediction"] - a["unmatched_prediction"]
        slices = {name: sum(ticks) for name, ticks in raw["slices"].items()}
        assert slices["sg"] == slices["si"]
        assert sum(slices.values()) - slices["si"] == raw["join"]["assessed"]

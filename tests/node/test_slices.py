"""The node's slices: every tick in its category, whatever the pieces it comes in."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernels import entries
from node.harness import UNKNOWN, WRAP, Fed, feed_here, feed_on

from gauge import slices as kernel
from gauge.ledger import Ledger
from gauge.slices import Slices
from oracles import slices as oracle
from oracles.cases import partition, per_tick
from streamgauge.engines import Engine

NAMES = ("tp", "sg", "si", "d", "u", "f", "i", "o", "m")


def series(rng: Random, ticks: int, labels: int, longest: int = 9) -> tuple[list[int], list[int]]:
    truth = per_tick(partition(rng, ticks, labels=labels, longest=longest, unknown=0.1))
    return truth, per_tick(partition(rng, ticks, labels=labels, longest=longest))


def wanted(truth: list[int], prediction: list[int], labels: int) -> dict[str, list[int]]:
    counts = oracle.counts(truth, prediction, labels)
    return {name: counts[name.upper()] for name in NAMES}


@given(st.integers(0, 2**32), st.integers(1, 80), st.integers(1, 5), st.integers(1, 20))
def test_every_tick_is_in_the_category_that_the_oracle_gives_it(seed, ticks, labels, most):
    rng = Random(seed)
    truth, prediction = series(rng, ticks, labels)
    part = Slices(Ledger(), labels)
    stream = entries(truth, prediction, most=most)
    kernel.feed(part.w, 0, part.w, stream, len(stream) // 8)
    raw = part.raw()
    assert raw == wanted(truth, prediction, labels)
    known = [(g, p) for g, p in zip(truth, prediction, strict=True) if g != UNKNOWN]
    for label in range(1, labels):
        in_truth = sum(raw[name][label] for name in ("tp", "sg", "d", "u", "f"))
        inferred = sum(raw[name][label] for name in ("tp", "si", "i", "o", "m"))
        assert in_truth == sum(g == label for g, _ in known)
        assert inferred == sum(p == label for _, p in known)


def test_at_every_tick_the_figures_are_those_of_a_recording_that_ends_there():
    truth, prediction = series(Random(1), 200, 4)
    part = Slices(Ledger(), 4)
    stream = entries(truth, prediction, most=1)
    for t in range(200):
        kernel.feed(part.w, 0, part.w, stream[8 * t : 8 * t + 8], 1)
        assert part.raw() == wanted(truth[: t + 1], prediction[: t + 1], 4)


def test_a_recordings_end_is_an_edge_as_unknown_time_is():
    rng = Random(2)
    parts = [series(rng, 60, 3) for _ in range(4)]
    part = Slices(Ledger(), 3)
    for truth, prediction in parts:
        stream = entries(truth, prediction)
        stream.extend([UNKNOWN, 0, 0, 0, 0, 16, 0, 0])
        kernel.feed(part.w, 0, part.w, stream, len(stream) // 8)
    truth = [label for g, _ in parts for label in [*g, UNKNOWN]]
    prediction = [label for _, p in parts for label in [*p, 0]]
    assert part.raw() == wanted(truth, prediction, 3)


def test_pieces_may_come_in_any_number_at_a_time():
    truth, prediction = series(Random(3), 500, 4)
    stream = entries(truth, prediction, most=7)
    at_once = Slices(Ledger(), 4)
    kernel.feed(at_once.w, 0, at_once.w, stream, len(stream) // 8)
    for room in (1, 2, 16):
        part = Slices(Ledger(), 4)
        for at in range(0, len(stream), 8 * room):
            some = stream[at : at + 8 * room]
            kernel.feed(part.w, 0, part.w, some, len(some) // 8)
        assert list(part.w) == list(at_once.w)


@pytest.mark.parametrize("name", ["arm", "x64"])
def test_slices_on_an_engine_hold_the_same_words(request, name):
    engine: Engine = request.getfixturevalue(name)
    plan = []
    for seed in range(40):
        rng = Random(seed)
        labels = rng.choice([1, 2, 5, 32])
        # Long pieces: the sums pass 2^30.
        ticks = rng.choice([1, 1 << 20, 1 << 27])
        stream = entries(*series(rng, 300, labels), most=1, ticks=ticks)
        plan.append(Fed("slices", (labels,), stream))
    here = feed_here(plan)
    assert max(max(numbers[1:]) for numbers in here) > 4 * WRAP
    assert feed_on(engine, plan) == here

"""Losses in [0, R] that a program hands over: mean, window and fading sum against the oracle."""

from __future__ import annotations

from array import array
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from node.harness import Fed, config, faded_bound, faded_mean, feed_here, feed_on, unflat

import gauge
from gauge.ledger import Ledger
from gauge.loss import Losses
from oracles import prequential as oracle
from streamgauge.engines import Engine

ALPHAS = (0.5, 0.9, 0.99, 0.999, 0.9999)
WINDOWS = (1, 2, 30, 31, 1000)
LARGEST = (1, 2, 255, 256, 1000, 65535)


def decay(alpha: float) -> int:
    return round((1 - alpha) * 2**30)


def told(rng: Random, n: int, largest: int) -> list[int]:
    """Losses, now and then at an end of the range, in phases of few and of many."""
    return [
        rng.choice([0, largest, rng.randint(0, largest), rng.randint(0, max(1, largest // 50))])
        for _ in range(n)
    ]


def assert_as_the_oracle(
    raw: dict[str, Any], losses: list[int], window: int, alpha: float, largest: int
) -> None:
    want = oracle.prequential(losses, window=window, alpha=alpha)
    assert (raw["n"], raw["sum"], raw["rejected"]) == (len(losses), sum(losses), 0)
    assert (raw["window_n"], raw["window_sum"]) == (len(losses[-window:]), sum(losses[-window:]))
    assert abs(faded_mean(raw) - want.fading) <= faded_bound(raw, largest, exact=True)


@given(
    st.integers(0, 2**32),
    st.integers(1, 300),
    st.sampled_from(WINDOWS),
    st.sampled_from(ALPHAS),
    st.sampled_from(LARGEST),
)
def test_all_estimates_are_the_oracles(seed, n, window, alpha, largest):
    losses = told(Random(seed), n, largest)
    part = Losses(Ledger(), window, decay(alpha), largest)
    for x in losses:
        part.record(x)
    assert_as_the_oracle(part.raw(), losses, window, alpha, largest)


def test_what_is_no_loss_is_counted_and_left_out():
    node = gauge.Node(config(loss_max=100))
    clean = gauge.Node(config(loss_max=100))
    wrong = [101, -1, 1 << 20, 1 << 40, -(1 << 40), None, "1x", [], {}, object()]
    for x in range(0, 101, 4):
        node.loss(x)
        clean.loss(x)
        node.loss(wrong[x % len(wrong)])
    raw, want = node.raw()["loss"], clean.raw()["loss"]
    assert raw.pop("rejected") == 26
    assert want.pop("rejected") == 0
    assert raw == want


def test_losses_are_no_records_of_the_stream():
    node = gauge.Node(config(loss_max=9))
    node.loss(9)
    assert node.raw()["prequential"]["n"] == 0
    assert node.raw()["loss"]["n"] == 1


@pytest.mark.parametrize("name", ["arm", "x64"])
def test_every_window_factor_and_range_on_an_engine_holds_the_words_it_holds_here(request, name):
    engine: Engine = request.getfixturevalue(name)
    plan, series = [], []
    for largest in LARGEST:
        losses = told(Random(largest), 500, largest)
        for window in WINDOWS:
            for alpha in ALPHAS:
                plan.append(Fed("loss", (window, decay(alpha), largest), array("i", losses)))
                series.append(losses)
    said = feed_on(engine, plan, timeout=300)
    assert said == feed_here(plan)
    like = Losses(Ledger(), 1, decay(0.5), 1).raw()
    for numbers, entry, losses in zip(said, plan, series, strict=True):
        window, rounded, largest = entry.arguments
        raw = unflat(numbers[1:], like)
        assert_as_the_oracle(raw, losses, window, 1 - rounded / 2**30, largest)

"""The node's prequential error: mean, window and fading sum against the oracle, at every size and factor."""

from __future__ import annotations

from array import array
from fractions import Fraction
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernels import from_losses
from node.harness import Fed, faded_bound, faded_mean, feed_here, feed_on, unflat

from gauge import prequential as kernel
from gauge.ledger import Ledger
from gauge.prequential import Prequential
from oracles import prequential as oracle
from streamgauge.engines import Engine

ALPHAS = (0.5, 0.9, 0.99, 0.999, 0.9999)
WINDOWS = (1, 2, 29, 30, 31, 59, 60, 61, 1000, 65536)


def decay(alpha: float) -> int:
    """1 - alpha as a node's config has it."""
    return round((1 - alpha) * 2**30)


def losses(rng: Random, n: int, longest: int = 50) -> list[int]:
    """0-1 losses in runs, 2 where there is no truth."""
    found: list[int] = []
    while len(found) < n:
        found += [rng.choices((0, 1, 2), (5, 4, 1))[0]] * rng.randint(1, longest)
    return found[:n]


def fed(window: int, alpha: float, stream: array[int], room: int = 16) -> Prequential:
    part = Prequential(Ledger(), window, decay(alpha))
    for at in range(0, len(stream), 8 * room):
        some = stream[at : at + 8 * room]
        kernel.feed(part.w, 0, some, len(some) // 8)
    return part


def assert_as_the_oracle(raw: dict[str, Any], told: list[int], window: int, alpha: float) -> None:
    known = [x for x in told if x != 2]
    # With the factor the user asked for; the bound allows for its rounding.
    want = oracle.prequential([None if x == 2 else x for x in told], window=window, alpha=alpha)
    assert (raw["n"], raw["sum"], raw["unlabelled"]) == (len(known), sum(known), told.count(2))
    assert (raw["window_n"], raw["window_sum"]) == (len(known[-window:]), sum(known[-window:]))
    if known:
        assert abs(faded_mean(raw) - want.fading) <= faded_bound(raw, exact=True)


@given(
    st.integers(0, 2**32),
    st.integers(1, 400),
    st.sampled_from(WINDOWS),
    st.sampled_from(ALPHAS),
    st.integers(1, 40),
)
def test_all_estimates_are_the_oracles(seed, n, window, alpha, most):
    told = losses(Random(seed), n)
    assert_as_the_oracle(fed(window, alpha, from_losses(told, most=most)).raw(), told, window, alpha)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("window", WINDOWS)
def test_no_figure_depends_on_how_records_are_grouped_not_even_by_a_bit(window, alpha):
    told = losses(Random(window), 1500)
    whole = fed(window, alpha, from_losses(told, most=10**6))
    for most, room in ((1, 1), (1, 16), (3, 5), (16, 16), (17, 2)):
        part = fed(window, alpha, from_losses(told, most=most), room)
        # All words but the window's ring, which a run longer than itself fills from where it stands.
        assert list(part.w[: kernel._WORD]) == list(whole.w[: kernel._WORD])
        assert part.raw() == whole.raw()


def test_the_faded_sum_is_exact_to_two_units_for_any_factor_the_node_can_hold():
    rng = Random(6)
    for _ in range(60):
        alpha = 1 - Fraction(rng.randrange(107374, 1 << 29), 1 << 30)
        told = losses(rng, 300)
        part = Prequential(Ledger(), 10, int((1 - alpha) * 2**30))
        stream = from_losses(told)
        kernel.feed(part.w, 0, stream, len(stream) // 8)
        exact, n = Fraction(0), 0
        for x in told:
            if x != 2:
                exact, n = x + alpha * exact, n + 1
        weight = (1 - alpha**n) / (1 - alpha)
        raw = part.raw()
        mean = Fraction(raw["fading_s"], 1 << raw["fading_bits"]) / weight
        assert abs(mean - exact / weight) <= faded_bound(raw)


def test_a_record_without_truth_changes_its_own_count_alone():
    told = losses(Random(9), 800)
    known = [x for x in told if x != 2]
    raw, plain = (fed(31, 0.99, from_losses(series)).raw() for series in (told, known))
    assert raw.pop("unlabelled") == told.count(2) > 0
    assert plain.pop("unlabelled") == 0
    assert raw == plain


@pytest.mark.parametrize("window", WINDOWS)
def test_the_window_holds_its_last_records_at_every_moment(window):
    told = [x for x in losses(Random(4), 900, 70) if x != 2]
    part = Prequential(Ledger(), window, decay(0.9))
    stream = from_losses(told, most=1)
    for i in range(len(told)):
        kernel.feed(part.w, 0, stream[8 * i : 8 * i + 8], 1)
        raw = part.raw()
        last = told[max(0, i + 1 - window) : i + 1]
        assert (raw["window_n"], raw["window_sum"]) == (len(last), sum(last))


@pytest.mark.parametrize("name", ["arm", "x64"])
def test_every_window_and_factor_on_an_engine_holds_the_words_it_holds_here(request, name):
    engine: Engine = request.getfixturevalue(name)
    told = losses(Random(12), 4000, 90)
    streams = [from_losses(told, most=most) for most in (1, 16, 10**6)]
    plan = [
        Fed("prequential", (window, decay(alpha)), stream)
        for window in WINDOWS
        for alpha in ALPHAS
        for stream in streams[: 3 if window < 100 else 2]
    ]
    said = feed_on(engine, plan, timeout=300)
    assert said == feed_here(plan)
    like = Prequential(Ledger(), 1, decay(0.5)).raw()
    for numbers, entry in zip(said, plan, strict=True):
        window, rounded = entry.arguments
        assert_as_the_oracle(unflat(numbers[1:], like), told, window, 1 - rounded / 2**30)

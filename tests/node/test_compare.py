"""The node's comparison of two recognisers against the host, on CPython, on 32 and on 64 bits."""

from __future__ import annotations

from array import array

import kernels
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernels import entries, play_on

from gauge import compare, fade
from gauge.ledger import Ledger
from oracles import compare as oracle
from streamgauge.compare import CHI2_95, Comparer


def decay(alpha: float) -> int:
    return round((1 - alpha) * (1 << 30))


def stream(truth: np.ndarray, a: np.ndarray, b: np.ndarray, most: int = 16) -> array[int]:
    return entries(truth, a, second=b, most=most)


def two(rng: np.random.Generator, size: int, longest: int, rates: tuple[float, float]) -> list[np.ndarray]:
    """Truth and two recognisers of 5 labels, in runs, with some records without truth."""
    found = []
    for rate in (None, *rates):
        lengths = rng.integers(1, longest + 1, size)
        if rate is None:
            x = np.repeat(rng.integers(0, 5, size), lengths)[:size]
        else:
            wrong = np.repeat(rng.random(size) < rate, lengths)[:size]
            x = np.where(wrong, (found[0] + 1) % 5, found[0])
        found.append(x)
    found[0] = np.where(rng.random(size) < 0.05, 255, found[0])
    return found


@given(
    st.integers(0, 2**32),
    st.integers(1, 1500),
    st.sampled_from([1, 12]),
    st.sampled_from([1, 16, 400]),
    st.sampled_from([(0.1, 0.4), (0.3, 0.3), (0.0, 0.05), (1.0, 1.0)]),
    st.sampled_from([0.5, 0.75, 0.9, 0.96, 0.99, 0.999, 0.9999]),
    st.sampled_from([1, 14, 15, 16, 200]),
)
@settings(max_examples=150)
def test_counts_losses_and_leads_equal_the_hosts(seed, size, longest, most, rates, alpha, window):
    truth, a, b = two(np.random.default_rng(seed), size, longest, rates)
    node = compare.Compare(Ledger(), window, decay(alpha))
    kernels.feed(compare.feed, node, stream(truth, a, b, most))
    raw = node.raw()
    known = truth != 255
    wrong_a, wrong_b = (a != truth)[known], (b != truth)[known]
    # The alpha that the node works with.
    alpha = 1 - decay(alpha) / (1 << 30)
    host = Comparer(alpha=alpha, window=window)
    host.update(wrong_a, wrong_b)
    want = host.result()
    assert (raw["n"], raw["unlabelled"]) == (known.sum(), size - known.sum())
    assert (raw["n01"], raw["n10"]) == (want.overall.n01, want.overall.n10)
    assert raw["window"] == [want.windowed.n01, want.windowed.n10]
    assert raw["window_n"] == min(window, known.sum())
    side, since = raw["window_lead"]
    assert (since if side else None) == want.windowed.since
    weight = raw["weight_q20"] / (1 << 20)
    # A record's weight is right to half a unit, each halving rounds by half a unit; the clock's growth and
    # table are right to 2^-25.
    bound = 2**-22 / (1 - alpha)
    for got, expected in zip(
        [*raw["faded"], *raw["losses"]], [want.faded.n01, want.faded.n10, *host._losses], strict=True
    ):
        assert got / weight == pytest.approx(expected, rel=2**-20 + 1.5 / weight, abs=bound + 3 / weight)
    side, since = raw["lead"]
    if (since if side else None) != want.faded.since:
        assert_close_call(wrong_a, wrong_b, alpha, since if side else None, want.faded.since)


def assert_close_call(a, b, alpha, *sinces):
    """Where node and host differ on when a lead began, |M| passed 3.841 by less than a thousandth once."""
    n01 = n10 = 0.0
    closest = np.inf
    for x, y in zip(a, b, strict=True):
        n01, n10 = alpha * n01 + (x > y), alpha * n10 + (y > x)
        closest = min(closest, abs(abs(oracle.m_statistic(n01, n10)) - CHI2_95))
    assert closest < CHI2_95 * 1e-3, sinces


def test_a_lead_lasts_as_long_as_the_evidence_has_not_faded():
    ones, zeros = np.ones(12, int), np.zeros(12, int)
    quiet = np.zeros(3000, int)
    truth = np.r_[ones, quiet]
    node = compare.Compare(Ledger(), 100, decay(0.999))
    leads = []
    for at in range(0, len(truth), 100):
        part = slice(at, at + 100)
        kernels.feed(
            compare.feed, node, stream(truth[part], np.r_[zeros, quiet][part], np.r_[ones, quiet][part])
        )
        leads.append(node.raw()["lead"])
    host = oracle.faded([1.0] * 12 + [0.0] * 3000, [0.0] * 3012, 1 - decay(0.999) / (1 << 30))
    assert leads[0] == [1, 3]
    assert leads[-1][0] == 0
    assert host.since is None
    # (1 - alpha^12) / (1 - alpha) alpha^k = 3.841 at k = 1133.
    assert leads[-1][1] == pytest.approx(12 + 1133, abs=2)


@pytest.mark.parametrize("alpha", [0.5, 0.8, 0.99])
def test_how_runs_are_cut_changes_nothing(alpha):
    truth, a, b = two(np.random.default_rng(9), 3000, 30, (0.3, 0.5))
    found = []
    for most in (1, 5, 16, 400):
        node = compare.Compare(Ledger(), 100, decay(alpha))
        kernels.feed(compare.feed, node, stream(truth, a, b, most))
        found.append(node.raw())
    assert found == [found[0]] * 4


def test_the_sums_stay_in_range_when_everything_is_lost():
    for alpha in (0.5, 0.96, 1 - 2**-20):
        node = compare.Compare(Ledger(), 15, decay(alpha))
        size = 300_000
        kernels.feed(
            compare.feed, node, stream(np.ones(size, int), np.zeros(size, int), np.full(size, 2), 10_000)
        )
        raw = node.raw()
        weight = raw["weight_q20"] / (1 << 20)
        want = -np.expm1(size * np.log1p(-decay(alpha) / (1 << 30))) / (decay(alpha) / (1 << 30))
        assert raw["losses"][0] / weight == pytest.approx(want, rel=1e-4)
        assert max(raw["losses"]) <= kernels.WRAP


def test_a_reset_forgets_everything():
    truth, a, b = two(np.random.default_rng(1), 3000, 3, (0.2, 0.4))
    node = compare.Compare(Ledger(), 200, decay(0.99))
    fresh = list(node.w)
    kernels.feed(compare.feed, node, stream(truth, a, b))
    once = node.raw()
    node.reset()
    assert list(node.w) == fresh
    kernels.feed(compare.feed, node, stream(truth, a, b))
    assert node.raw() == once


@pytest.mark.parametrize("arguments", [(0, 1 << 20), (1 << 15, 1 << 20), (100, 0), (100, (1 << 29) + 1)])
def test_what_cannot_work_is_refused_at_construction(arguments):
    with pytest.raises(ValueError, match=r"window must be below 2\^15"):
        compare.Compare(Ledger(), *arguments)


@pytest.mark.parametrize("alpha", [0.5, 0.7, 0.71, 0.8, 0.85, 0.9, 0.92, 0.95, 0.96, 0.999, 1 - 2**-20])
def test_the_clocks_table_and_growth_are_those_of_alpha(alpha):
    w = array("i", bytes(4 * fade.WORDS))
    fade.setup(w, decay(alpha))
    exact = 1 - decay(alpha) / (1 << 30)
    size = w[fade.BLOCK]
    assert size == 16 or exact ** -(2 * size) > 2
    assert exact**-size <= 2 * (1 + 1e-9)
    assert w[fade.GROWTH] / (1 << 30) == pytest.approx(exact**-size - 1, abs=2**-30)
    scale = w[fade.TABLE + 1]
    for j in range(size + 1):
        assert w[fade.TABLE + j] == pytest.approx(scale * sum(exact**-i for i in range(j)), abs=0.5 + 1e-6)


@pytest.fixture(scope="module")
def elec2(shared):
    """Truth, naive Bayes and Hoeffding tree of the electricity market stream."""
    return np.loadtxt(shared / "data/streams/elec2_nb_ht.csv.gz", delimiter=",", skiprows=1, dtype=int).T


@pytest.mark.parametrize("spec", ["arm", "x64"])
def test_elec2_on_a_node_agrees_with_the_host_and_allocates_nothing(request, elec2, spec):
    truth, a, b = elec2
    words = stream(truth, a, b)
    (raw,) = play_on(
        request.getfixturevalue(spec),
        "compare",
        "Compare, feed",
        "feed",
        f"Compare({{ledger}}, 1000, {decay(0.999)})",
        [words],
        needs=["fade"],
    )
    model = compare.Compare(Ledger(), 1000, decay(0.999))
    kernels.feed(compare.feed, model, words)
    assert raw == {**model.raw(), "allocated": 0}
    host = Comparer(("naive Bayes", "Hoeffding tree"))
    host.update(a != truth, b != truth)
    want = host.result()
    weight = raw["weight_q20"] / (1 << 20)
    assert raw["faded"][0] / weight == pytest.approx(want.faded.n01, rel=1e-6)
    assert raw["faded"][1] / weight == pytest.approx(want.faded.n10, rel=1e-6)
    assert np.log(raw["losses"][0] / raw["losses"][1]) == pytest.approx(want.q, abs=1e-6)
    assert raw["window"] == [want.windowed.n01, want.windowed.n10]
    assert (raw["n01"], raw["n10"]) == (want.overall.n01, want.overall.n10)
    # 1: B, the Hoeffding tree, is ahead.
    assert raw["lead"] == [1, want.faded.since]
    assert raw["window_lead"] == [1, want.windowed.since]


@pytest.mark.parametrize("spec", ["arm", "x64"])
@pytest.mark.parametrize("alpha", [0.5, 0.93, 0.9999])
def test_a_node_equals_its_model_bit_for_bit(request, spec, alpha):
    rng = np.random.default_rng(4)
    streams = [
        stream(*two(rng, 3000, longest, rates), most=most)
        for longest, rates, most in (
            (1, (0.3, 0.4), 16),
            (20, (0.5, 0.1), 700),
            (900, (0.5, 0.5), 900),
            (9, (1.0, 1.0), 16),
        )
    ]
    found = play_on(
        request.getfixturevalue(spec),
        "compare",
        "Compare, feed",
        "feed",
        f"Compare({{ledger}}, 777, {decay(alpha)})",
        streams,
        needs=["fade"],
    )
    for raw, words in zip(found, streams, strict=True):
        model = compare.Compare(Ledger(), 777, decay(alpha))
        kernels.feed(compare.feed, model, words)
        assert raw == {**model.raw(), "allocated": 0}

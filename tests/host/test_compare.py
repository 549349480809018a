"""Two recognisers compared: counts, M, the lead and Q against record-by-record oracles, and the sentence."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import compare as oracle
from streamgauge.compare import Comparer, mcnemar, q_statistic
from streamgauge.errors import InputError


@pytest.fixture(scope="module")
def elec2(shared):
    """Truth, naive Bayes and Hoeffding tree of the electricity market stream."""
    rows = np.loadtxt(shared / "data/streams/elec2_nb_ht.csv.gz", delimiter=",", skiprows=1, dtype=int)
    return rows.T


@st.composite
def pairs(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """0-1 losses of A and B whose rates change."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    rate = st.sampled_from([0, 0.1, 0.3, 0.6])
    parts = draw(st.lists(st.tuples(st.integers(1, 150), rate, rate), max_size=4))
    a = np.concatenate([rng.random(n) < rate_a for n, rate_a, _ in parts] or [np.zeros(0, bool)])
    b = np.concatenate([rng.random(len(a)) < np.repeat([r for _, _, r in parts], [n for n, _, _ in parts])])
    return a, b


@given(
    pairs(),
    st.lists(st.integers(0, 600), max_size=3),
    st.sampled_from([1.0, 0.99, 0.9, 0.5]),
    st.sampled_from([1, 20, 200]),
)
def test_counts_m_lead_and_q_equal_the_formulas_however_the_stream_is_cut(losses, cuts, alpha, window):
    a, b = losses
    comparer = Comparer(alpha=alpha, window=window)
    at = sorted(cut % (len(a) + 1) for cut in cuts)
    for part_a, part_b in zip(np.split(a, at), np.split(b, at), strict=True):
        comparer.update(part_a, part_b)
    found = comparer.result()
    pairs = a.astype(float).tolist(), b.astype(float).tolist()
    for got, want in (
        (found.faded, oracle.faded(*pairs, alpha)),
        (found.windowed, oracle.windowed(*pairs, window)),
    ):
        assert (got.n01, got.n10, got.value) == pytest.approx(
            (want.n01, want.n10, want.m), rel=1e-9, abs=1e-9
        )
        assert got.since == want.since
    assert found.q == pytest.approx(oracle.q(*pairs, alpha), rel=1e-9, abs=1e-9)
    assert found.overall.n01 == np.count_nonzero(a & ~b)
    assert found.overall.n10 == np.count_nonzero(b & ~a)


def test_a_long_lead_is_followed_across_blocks_and_updates():
    rng = np.random.default_rng(0)
    a = np.concatenate([rng.random(3000) < 0.2, rng.random(30000) < 0.4])
    b = rng.random(33000) < 0.2
    whole, parts = Comparer(), Comparer()
    whole.update(a, b)
    for start in range(0, len(a), 777):
        parts.update(a[start : start + 777], b[start : start + 777])
    want = oracle.faded(a.tolist(), b.tolist(), 0.999)
    assert 3000 < want.since < 6000
    assert whole.result().faded.since == parts.result().faded.since == want.since
    assert whole.result().windowed.since == parts.result().windowed.since


def test_m_above_zero_and_q_above_zero_mean_that_b_is_ahead():
    comparer = Comparer(("slow", "fast"))
    comparer.update([1, 1, 1, 1, 1, 1, 0, 0], [0, 0, 0, 0, 0, 0, 0, 1])
    found = comparer.result()
    assert found.faded.value > 0
    assert found.q > 0
    assert found.faded.ahead == found.windowed.ahead == found.overall.ahead == "fast"
    assert found.overall.value == pytest.approx(25 / 7)
    assert found.overall.level == 0.0


def test_a_significant_lead_is_named_with_its_start_and_its_certainty():
    comparer = Comparer(("bayes", "tree"), alpha=0.999, window=100)
    same = np.zeros(50, bool)
    comparer.update(np.r_[same, np.ones(40, bool)], np.r_[same, np.zeros(40, bool)])
    found = comparer.result()
    # The faded M of k discordant records is just below k: above 3.841 with the fourth.
    assert found.faded.since == 53
    assert found.faded.level == 0.99
    text = comparer.verdict()
    assert text.startswith("tree is ahead of bayes since record 53, 37 of 90 records ago: ")
    assert "p < 0.0001, significant at 0.99" in text
    assert "over the last 90 records M +40.00 over 40 discordant" in text


def test_equals_are_called_level_and_no_difference_is_no_evidence():
    comparer = Comparer(("a", "b"))
    comparer.update([0, 1, 1], [0, 1, 1])
    assert comparer.verdict() == "No evidence: a and b never differed in 3 records."
    assert comparer.result().q == 0.0
    assert comparer.result().faded.value == 0.0
    assert comparer.result().faded.p_value == 1.0
    comparer = Comparer(("a", "b"), alpha=1.0)
    comparer.update([0, 1], [1, 0])
    assert comparer.verdict().startswith("a and b are level: ")
    comparer.update([1], [0])
    assert comparer.verdict().startswith("b is ahead of a, but not significantly: ")


def test_the_lead_is_lost_with_the_first_record_that_is_not_significant():
    comparer = Comparer(alpha=0.9)
    comparer.update(np.ones(10), np.zeros(10))
    assert comparer.result().faded.since == 4
    comparer.update(np.zeros(6), np.zeros(6))
    assert comparer.result().faded.since is None
    assert comparer.result().faded.ahead == "B"


def test_larger_loss_counts_where_losses_are_not_only_right_and_wrong():
    comparer = Comparer(alpha=1.0)
    comparer.update([0.5, 0.2, 0.9], [0.4, 0.3, 0.1])
    found = comparer.result()
    assert (found.overall.n01, found.overall.n10) == (2, 1)
    assert found.q == pytest.approx(math.log(1.6 / 0.8))


def test_a_flawless_recogniser_is_infinitely_ahead_by_q():
    assert q_statistic(0, 0) == 0.0
    assert q_statistic(2.0, 0) == math.inf
    assert q_statistic(0, 2.0) == -math.inf
    assert mcnemar(0, 0) == 0.0
    assert mcnemar(0, 4) == -4.0


def test_elec2_names_the_hoeffding_tree_as_ahead(elec2):
    truth, bayes, tree = elec2
    a, b = bayes != truth, tree != truth
    comparer = Comparer(("naive Bayes", "Hoeffding tree"))
    comparer.update(a, b)
    found = comparer.result()
    want = oracle.faded(a.tolist(), b.tolist(), 0.999)
    assert (found.faded.n01, found.faded.n10) == pytest.approx((want.n01, want.n10), rel=1e-9)
    assert found.faded.since == want.since
    assert found.q == pytest.approx(oracle.q(a.tolist(), b.tolist(), 0.999), rel=1e-9)
    recent = slice(len(a) - 1000, None)
    assert found.windowed.n01 == np.count_nonzero(a[recent] & ~b[recent])
    assert found.windowed.n10 == np.count_nonzero(b[recent] & ~a[recent])
    assert found.overall.ahead == "Hoeffding tree"
    assert found.overall.level == 0.99


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Comparer(window=0), "window"),
        (lambda: Comparer(alpha=0), "alpha"),
        (lambda: Comparer().update([0, 1], [0]), "equal lengths"),
        (lambda: Comparer(("x", "y")).update([0], [-1]), "loss of y"),
        (lambda: Comparer(("x", "y")).update([math.nan], [1]), "loss of x"),
    ],
)
def test_what_cannot_be_compared_is_refused(make, words):
    with pytest.raises(InputError, match=words):
        make()

"""Accuracy without truth: the table against its oracle, and the bound where it holds and where it cannot."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import reliability as oracle
from streamgauge.errors import InputError
from streamgauge.reliability import Reliability


@given(
    st.integers(0, 2**32),
    st.integers(0, 400),
    st.sampled_from([1, 4, 16, 256]),
    st.sampled_from([1.0, 0.99, 0.8]),
    st.lists(st.integers(0, 400), max_size=3),
)
def test_table_estimate_and_calibration_equal_the_formulas(seed, size, bins, alpha, cuts):
    rng = np.random.default_rng(seed)
    confidence, outcome = rng.integers(0, 256, size), rng.integers(0, 3, size)
    table = Reliability(bins, alpha)
    at = sorted(cut % (size + 1) for cut in cuts)
    for sure, what in zip(np.split(confidence, at), np.split(outcome, at), strict=True):
        table.update(sure, what)
    want = oracle.table(confidence.tolist(), outcome.tolist(), bins, alpha)
    for column in ("labelled", "right", "confidence", "unlabelled"):
        np.testing.assert_allclose(
            getattr(table, column), [getattr(b, column) for b in want], rtol=1e-10, atol=1e-10
        )
    got, expected = table.estimate(0.1), oracle.estimate(want, 0.1)
    assert (got is None) == (expected is None)
    if got is not None:
        assert (got.value, got.low, got.high, got.unsupported) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    error = oracle.calibration_error(want)
    assert table.calibration_error() == (None if error is None else pytest.approx(error, rel=1e-9))


def outcomes(
    rng: np.random.Generator, confidence: np.ndarray, labelled: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Right as often as confidence / 255 says; 2 where there is no truth."""
    right = rng.random(len(confidence)) < confidence / 255
    return np.where(labelled, right, 2), right


def test_the_bound_holds_when_the_recogniser_becomes_less_sure():
    missed, widths = 0, []
    for seed in range(200):
        rng = np.random.default_rng(seed)
        confidence = np.r_[rng.integers(128, 256, 600), rng.integers(40, 200, 400)]
        labelled = np.r_[np.ones(500, bool), rng.random(500) < 0.2]
        outcome, right = outcomes(rng, confidence, labelled)
        table = Reliability(16)
        table.update(confidence, outcome)
        got = table.estimate(0.05)
        truth = right[~labelled].mean()
        missed += not got.low <= truth <= got.high
        widths.append(got.high - got.low)
    assert missed <= 0.05 * 200
    assert np.median(widths) < 0.45


def test_concept_drift_without_new_truth_goes_unseen():
    rng = np.random.default_rng(1)
    confidence = rng.integers(128, 256, 3000)
    labelled = np.r_[np.ones(2000, bool), np.zeros(1000, bool)]
    outcome, _ = outcomes(rng, confidence, labelled)
    table = Reliability(16)
    table.update(confidence, outcome)
    # Whatever the records without truth really were, the estimate says what it said before.
    assert table.estimate().value == pytest.approx(confidence[2000:].mean() / 255, abs=0.03)
    # New truth, of a recogniser that is now wrong half the time, brings a fading table down.
    fading = Reliability(16, alpha=0.99)
    fading.update(confidence, outcome)
    fading.update(confidence[:600], rng.integers(0, 2, 600))
    assert fading.estimate().value < 0.6


def test_bins_without_truth_widen_the_bound_by_their_share():
    table = Reliability(2)
    table.update([200] * 1000 + [10] * 250 + [200] * 750, [1] * 1000 + [2] * 1000)
    got = table.estimate()
    assert got.unsupported == 0.25
    assert got.value == pytest.approx(0.75 + 0.125)
    assert got.high == 1.0
    assert got.low < 0.75


def test_an_overconfident_recogniser_has_a_calibration_error():
    table = Reliability(16)
    assert table.calibration_error() is None
    assert table.estimate() is None
    table.update(np.full(100, 255), np.r_[np.ones(60), np.zeros(40)].astype(int))
    assert table.calibration_error() == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Reliability(12), "power of two"),
        (lambda: Reliability(16, alpha=0), "alpha"),
        (lambda: Reliability().update([1], [1, 2]), "equal"),
        (lambda: Reliability().update([256], [1]), "confidence"),
        (lambda: Reliability().update([5], [3]), "outcome"),
        (lambda: Reliability().estimate(1.0), "delta"),
    ],
)
def test_what_cannot_be_used_is_refused(make, words):
    with pytest.raises(InputError, match=words):
        make()

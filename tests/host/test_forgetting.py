"""The faded confusion matrix against its oracle, and what is special about fading on stream time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import forgetting as oracle
from streamgauge.errors import InputError
from streamgauge.forgetting import FadedConfusion, scores


def assert_near(got: float | None, want: float | None) -> None:
    assert (got is None) == (want is None)
    if want is not None:
        assert got == pytest.approx(want, rel=1e-9, abs=1e-9)


@given(
    st.integers(0, 2**32),
    st.integers(0, 300),
    st.integers(1, 6),
    st.sampled_from([1.0, 0.99, 0.5]),
    st.lists(st.integers(0, 300), max_size=3),
)
def test_matrix_and_scores_equal_the_formulas_however_the_stream_is_cut(seed, size, labels, alpha, cuts):
    rng = np.random.default_rng(seed)
    truth, prediction = rng.integers(0, labels, size), rng.integers(0, labels, size)
    truth = np.where(rng.random(size) < 0.2, 255, truth)
    faded = FadedConfusion(labels, alpha)
    at = sorted(cut % (size + 1) for cut in cuts)
    for t, p in zip(np.split(truth, at), np.split(prediction, at), strict=True):
        faded.update(t, p)
    cells = oracle.matrix(truth.tolist(), prediction.tolist(), labels, alpha)
    np.testing.assert_allclose(faded.matrix, cells, rtol=1e-10, atol=1e-12)
    assert (faded.count, faded.unlabelled) == (np.count_nonzero(truth != 255), np.count_nonzero(truth == 255))
    got = faded.scores()
    recalls = [oracle.recall(cells, label, 0.5) for label in range(labels)]
    precisions = [oracle.precision(cells, label, 0.5) for label in range(labels)]
    for label in range(labels):
        assert_near(got.recall[label], recalls[label])
        assert_near(got.precision[label], precisions[label])
    assert_near(got.mean_recall, oracle.mean(recalls))
    assert_near(got.mean_precision, oracle.mean(precisions))
    assert_near(got.kappa, oracle.kappa(cells))


def test_a_label_that_vanished_fades_and_leaves_the_averages():
    faded = FadedConfusion(3, alpha=0.99)
    faded.update(np.full(100, 2), np.full(100, 1))
    assert faded.scores().recall[2] == 0.0
    faded.update(np.full(600, 1), np.full(600, 1))
    got = faded.scores()
    assert got.support[2] < 0.5
    assert got.recall == (None, pytest.approx(1.0), None)
    assert got.mean_recall == pytest.approx(1.0)


def test_without_fading_it_is_the_plain_matrix():
    rng = np.random.default_rng(1)
    truth, prediction = rng.integers(0, 4, 5000), rng.integers(0, 4, 5000)
    faded = FadedConfusion(4, alpha=1.0)
    faded.update(truth.astype(np.uint8), prediction.astype(np.uint8))
    want = np.zeros((4, 4))
    np.add.at(want, (truth, prediction), 1)
    np.testing.assert_array_equal(faded.matrix, want)
    assert faded.scores().accuracy == pytest.approx(np.mean(truth == prediction))


def test_a_missed_label_keeps_precision_zero_and_null_can_be_left_out():
    got = scores(np.array([[8.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    assert got.precision == (pytest.approx(2 / 3), 0.0, None)
    assert got.recall == (1.0, 0.0, None)
    assert got.mean_precision == pytest.approx(1 / 3)
    assert got.kappa == pytest.approx(0.0)
    assert scores(np.array([[8.0, 0.0], [4.0, 4.0]]), include_null=False).mean_recall == 0.5


def test_nothing_seen_has_no_scores():
    got = FadedConfusion(2).scores()
    assert (got.weight, got.accuracy, got.kappa, got.mean_f1) == (0.0, None, None, None)


def test_agreement_on_a_single_label_is_no_agreement_beyond_chance():
    faded = FadedConfusion(2, alpha=0.9)
    faded.update(np.ones(50, int), np.ones(50, int))
    assert faded.scores().accuracy == pytest.approx(1.0)
    assert faded.scores().kappa is None


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: FadedConfusion(0), "labels"),
        (lambda: FadedConfusion(3, alpha=2), "alpha"),
        (lambda: FadedConfusion(3).update([0, 1], [0]), "equal lengths"),
        (lambda: FadedConfusion(3).update([0, 3], [0, 1]), "truth of record 1 is label 3"),
        (lambda: FadedConfusion(3).update([0, 1], [0, 255]), "prediction of record 1 is label 255"),
        (lambda: FadedConfusion(3).update([-1], [0]), "truth of record 0 is label -1"),
    ],
)
def test_what_is_no_label_is_refused(make, words):
    with pytest.raises(InputError, match=words):
        make()

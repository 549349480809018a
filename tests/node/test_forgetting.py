"""The node's faded confusion matrix against the host, on CPython, on 32 and on 64 bits."""

from __future__ import annotations

import kernels
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernels import entries, play_on

from gauge import forgetting
from gauge.ledger import Ledger
from streamgauge.forgetting import FadedConfusion, scores


def decay(alpha: float) -> int:
    return round((1 - alpha) * (1 << 30))


def labels(rng: np.random.Generator, size: int, count: int, longest: int) -> tuple[np.ndarray, np.ndarray]:
    runs = rng.integers(1, longest + 1, (2, size))
    truth = np.repeat(rng.integers(0, count, size), runs[0])[:size]
    prediction = np.where(
        rng.random(size) < 0.3, np.repeat(rng.integers(0, count, size), runs[1])[:size], truth
    )
    return np.where(np.repeat(rng.random(size) < 0.1, runs[1])[:size], 255, truth), prediction


def matrix(raw: dict) -> np.ndarray:
    return np.array(raw["cells"]) / (raw["weight_q20"] / (1 << 20))


@given(
    st.integers(0, 2**32),
    st.integers(1, 3000),
    st.integers(1, 31),
    st.sampled_from([1, 30]),
    st.sampled_from([1, 16, 400]),
    st.sampled_from([0.5, 0.75, 0.9, 0.96, 0.99, 0.999, 0.9999]),
)
@settings(max_examples=150)
def test_every_cell_is_the_hosts(seed, size, count, longest, most, alpha):
    truth, prediction = labels(np.random.default_rng(seed), size, count, longest)
    prediction = np.where(truth == 255, 0, prediction)
    node = forgetting.Forgetting(Ledger(), count, decay(alpha))
    kernels.feed(forgetting.feed, node, entries(truth, prediction, most=most))
    raw = node.raw()
    alpha = 1 - decay(alpha) / (1 << 30)
    host = FadedConfusion(count, alpha)
    host.update(truth, prediction)
    assert (raw["n"], raw["unlabelled"]) == (host.count, host.unlabelled)
    weight = raw["weight_q20"] / (1 << 20)
    # As for the comparison: half a unit a record and a halving, clock and table to 2^-25.
    np.testing.assert_allclose(
        matrix(raw), host.matrix, rtol=2**-20 + 1.5 / weight, atol=2**-22 / (1 - alpha) + 3 / weight
    )
    got, want = scores(matrix(raw)), host.scores()
    assert got.accuracy == (None if want.accuracy is None else pytest.approx(want.accuracy, abs=1e-3))


def test_a_row_pays_many_halvings_at_once_and_a_label_that_vanished_is_gone():
    node = forgetting.Forgetting(Ledger(), 3, decay(0.9))
    kernels.feed(forgetting.feed, node, entries([2] * 50, [1] * 50))
    kernels.feed(forgetting.feed, node, entries([1] * 40, [1] * 40))
    assert matrix(node.raw())[2, 1] == pytest.approx(0.9**40 * (1 - 0.9**50) / 0.1, rel=1e-5)
    kernels.feed(forgetting.feed, node, entries([1] * 4000, [1] * 4000, most=999))
    kernels.feed(forgetting.feed, node, entries([2], [2]))
    found = matrix(node.raw())
    assert found[2].tolist() == pytest.approx([0, 0, 1], abs=1e-6)


@pytest.mark.parametrize("alpha", [0.5, 0.8, 0.99])
def test_neither_how_runs_are_cut_nor_reading_changes_a_cell(alpha):
    truth, prediction = labels(np.random.default_rng(9), 3000, 7, 30)
    found = []
    for most in (1, 5, 16, 400):
        node = forgetting.Forgetting(Ledger(), 7, decay(alpha))
        words = entries(truth, prediction, most=most)
        for at in range(0, len(words), 40 * kernels.ENTRY):
            kernels.feed(forgetting.feed, node, words[at : at + 40 * kernels.ENTRY])
            if most > 1:
                node.raw()
        found.append(node.raw())
    assert found == [found[0]] * 4


def test_a_hundred_thousand_records_do_not_drift():
    rng = np.random.default_rng(2)
    truth, prediction = labels(rng, 300_000, 16, 40)
    prediction = np.where(truth == 255, 0, prediction)
    node = forgetting.Forgetting(Ledger(), 16, decay(0.999))
    kernels.feed(forgetting.feed, node, entries(truth, prediction))
    host = FadedConfusion(16, 1 - decay(0.999) / (1 << 30))
    host.update(truth, prediction)
    np.testing.assert_allclose(matrix(node.raw()), host.matrix, rtol=3e-6, atol=2e-5)


def test_a_reset_forgets_everything():
    truth, prediction = labels(np.random.default_rng(3), 2000, 5, 4)
    node = forgetting.Forgetting(Ledger(), 5, decay(0.99))
    fresh = list(node.w)
    kernels.feed(forgetting.feed, node, entries(truth, prediction))
    node.reset()
    assert list(node.w) == fresh


def test_sixteen_labels_fit_into_12_hundred_bytes():
    ledger = Ledger()
    forgetting.Forgetting(ledger, 16, decay(0.999))
    assert ledger.used <= 1232


def test_an_alpha_out_of_range_is_refused():
    with pytest.raises(ValueError, match="alpha"):
        forgetting.Forgetting(Ledger(), 4, 0)


@pytest.mark.parametrize("spec", ["arm", "x64"])
@pytest.mark.parametrize("alpha", [0.5, 0.93, 0.999])
def test_a_node_equals_its_model_bit_for_bit_and_allocates_nothing(request, spec, alpha):
    rng = np.random.default_rng(6)
    streams = [
        entries(*labels(rng, 4000, 31, longest), most=most)
        for longest, most in ((1, 16), (20, 500), (900, 900))
    ]
    found = play_on(
        request.getfixturevalue(spec),
        "forgetting",
        "Forgetting, feed",
        "feed",
        f"Forgetting({{ledger}}, 31, {decay(alpha)})",
        streams,
        needs=["fade"],
    )
    for raw, words in zip(found, streams, strict=True):
        model = forgetting.Forgetting(Ledger(), 31, decay(alpha))
        kernels.feed(forgetting.feed, model, words)
        assert raw == {**model.raw(), "allocated": 0}

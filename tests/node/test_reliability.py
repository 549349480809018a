"""The node's reliability table against the host, on CPython, on 32 and on 64 bits."""

from __future__ import annotations

from array import array

import kernels
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernels import entries, play_on

from gauge import reliability
from gauge.ledger import Ledger
from streamgauge.reliability import Reliability


def decay(alpha: float) -> int:
    return round((1 - alpha) * (1 << 30))


def records(rng: np.random.Generator, size: int, longest: int) -> tuple[np.ndarray, np.ndarray]:
    """Confidences and outcomes (0 wrong, 1 right, 2 no truth) in runs."""
    lengths = rng.integers(1, longest + 1, size)
    confidence = np.repeat(rng.integers(0, 256, size), lengths)[:size]
    outcome = np.where(rng.random(size) < confidence / 255, 1, 0)
    return confidence, np.where(np.repeat(rng.random(size) < 0.4, lengths)[:size], 2, outcome)


def stream(confidence: np.ndarray, outcome: np.ndarray, most: int = 16) -> array[int]:
    return entries(np.where(outcome == 2, 255, 1), np.where(outcome == 1, 1, 2), confidence, most=most)


def table(raw: dict) -> dict[str, np.ndarray]:
    weight, blind = raw["weight_q20"] / (1 << 20), raw["blind_weight_q20"] / (1 << 20)
    return {
        "labelled": np.array(raw["labelled"]) / weight,
        "right": np.array(raw["right"]) / weight,
        "confidence": np.array(raw["confidence"]) / weight * 256,
        "unlabelled": np.array(raw["without"]) / blind,
    }


@given(
    st.integers(0, 2**32),
    st.integers(1, 3000),
    st.sampled_from([1, 30]),
    st.sampled_from([1, 16, 400]),
    st.sampled_from([1, 4, 16, 64]),
    st.sampled_from([1.0, 0.5, 0.75, 0.9, 0.96, 0.99, 0.999]),
)
@settings(max_examples=150)
def test_every_column_is_the_hosts(seed, size, longest, most, bins, alpha):
    confidence, outcome = records(np.random.default_rng(seed), size, longest)
    node = reliability.Reliability(Ledger(), bins, decay(alpha))
    kernels.feed(reliability.feed, node, stream(confidence, outcome, most))
    raw = node.raw()
    alpha = 1 - decay(alpha) / (1 << 30)
    host = Reliability(bins, alpha)
    host.update(confidence, outcome)
    assert (raw["n"], raw["unlabelled"]) == (np.sum(outcome != 2), np.sum(outcome == 2))
    weight = min(raw["weight_q20"], raw["blind_weight_q20"]) / (1 << 20)
    slack = 0.0 if alpha == 1 else 2**-22 / (1 - alpha)
    for name, column in table(raw).items():
        # Confidences are kept in 256ths of the weight.
        scale = 256 if name == "confidence" else 1
        np.testing.assert_allclose(
            column,
            getattr(host, name),
            rtol=2**-20 + 1.5 / weight,
            atol=0
            if alpha == 1
            else (slack + 4 / weight) * scale + (256 * size / weight if scale > 1 else 0),
        )


@pytest.mark.parametrize("alpha", [1.0, 0.5, 0.8, 0.99])
def test_how_runs_are_cut_changes_nothing(alpha):
    confidence, outcome = records(np.random.default_rng(9), 3000, 30)
    found = []
    for most in (1, 5, 16, 400):
        node = reliability.Reliability(Ledger(), 8, decay(alpha))
        kernels.feed(reliability.feed, node, stream(confidence, outcome, most))
        found.append(node.raw())
    # But for the confidences, whose products are rounded.
    sums = [raw.pop("confidence") for raw in found]
    assert found == [found[0]] * 4
    for some in sums:
        np.testing.assert_allclose(some, sums[0], atol=len(outcome) / 2)


def test_without_fading_all_columns_are_exact():
    confidence, outcome = records(np.random.default_rng(1), 20_000, 5)
    node = reliability.Reliability(Ledger(), 16)
    kernels.feed(reliability.feed, node, stream(confidence, outcome))
    host = Reliability(16)
    host.update(confidence, outcome)
    for name, column in table(node.raw()).items():
        np.testing.assert_array_equal(column, getattr(host, name))


def test_a_full_bin_halves_its_columns_and_keeps_the_ratios():
    node = reliability.Reliability(Ledger(), 2)
    # A million labelled records a step, nine in ten of them right; 2^29 / 256 records fill a bin.
    right = stream(np.full(9, 200), np.ones(9, int))
    wrong = stream(np.full(1, 200), np.zeros(1, int))
    for words in (right, wrong):
        words[4] *= 100_000
    blind = stream(np.full(1, 3), np.full(1, 2))
    kernels.feed(reliability.feed, node, blind)
    for _ in range(4):
        kernels.feed(reliability.feed, node, right)
        kernels.feed(reliability.feed, node, wrong)
    raw = node.raw()
    assert raw["n"] == 4_000_000
    assert raw["labelled"][1] / 256 < 2_100_000
    assert raw["right"][1] / raw["labelled"][1] == pytest.approx(0.9, abs=0.03)
    assert raw["confidence"][1] / raw["labelled"][1] == pytest.approx(200 / 256, abs=1e-6)
    assert raw["without"] == [256, 0]


def test_a_reset_forgets_everything():
    confidence, outcome = records(np.random.default_rng(2), 2000, 5)
    for alpha in (1.0, 0.99):
        node = reliability.Reliability(Ledger(), 16, decay(alpha))
        fresh = list(node.w)
        kernels.feed(reliability.feed, node, stream(confidence, outcome))
        node.reset()
        assert list(node.w) == fresh


@pytest.mark.parametrize("arguments", [(12, 0), (128, 0), (16, 5), (16, 1 << 30)])
def test_what_cannot_work_is_refused_at_construction(arguments):
    with pytest.raises(ValueError, match="bins must be a power of two"):
        reliability.Reliability(Ledger(), *arguments)


@pytest.mark.parametrize("spec", ["arm", "x64"])
@pytest.mark.parametrize("alpha", [1.0, 0.5, 0.93, 0.999])
def test_a_node_equals_its_model_bit_for_bit_and_allocates_nothing(request, spec, alpha):
    rng = np.random.default_rng(6)
    streams = [
        stream(*records(rng, 4000, longest), most=most) for longest, most in ((1, 16), (20, 500), (900, 900))
    ]
    if alpha == 1:
        full = stream(np.r_[np.full(6, 255), 0], np.r_[np.ones(6, int), 2])
        full[4] *= 500_000
        streams.append(full)
    found = play_on(
        request.getfixturevalue(spec),
        "reliability",
        "Reliability, feed",
        "feed",
        f"Reliability({{ledger}}, 16, {decay(alpha)})",
        streams,
        needs=["fade"],
    )
    for raw, words in zip(found, streams, strict=True):
        model = reliability.Reliability(Ledger(), 16, decay(alpha))
        kernels.feed(reliability.feed, model, words)
        assert raw == {**model.raw(), "allocated": 0}

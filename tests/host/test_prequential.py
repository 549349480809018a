"""The host's prequential error against records taken one by one, in fractions and in long decimals."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import cases
from oracles import prequential as oracle
from streamgauge.errors import InputError
from streamgauge.prequential import Estimate, LossRuns, curves, losses_from_pieces, prequential
from streamgauge.segments import Segments

NAN = math.nan


def as_floats(losses: list[Fraction | None]) -> list[float]:
    return [NAN if loss is None else float(loss) for loss in losses]


def assert_close(got: float | None, want: Fraction | Decimal | None) -> None:
    assert (got is None) == (want is None)
    if got is not None and want is not None:
        assert abs(Fraction(got) - Fraction(want)) <= Fraction(want) / 10**12


@given(
    st.lists(st.one_of(st.none(), st.fractions(0, 1, max_denominator=16)), max_size=60),
    st.integers(1, 70),
    st.sampled_from(("1/2", "3/4", "7/8", "1", "1/1024")),
)
def test_any_losses_agree_with_the_records_taken_one_by_one(
    losses: list[Fraction | None], window: int, alpha: str
) -> None:
    want = oracle.prequential(losses, window=window, alpha=Fraction(alpha))
    got = prequential(as_floats(losses), window=window, alpha=float(Fraction(alpha)))
    assert (got.count, got.unlabelled, got.window_count) == (want.count, want.unlabelled, want.window_count)
    assert_close(got.mean.value, want.mean)
    assert_close(got.window.value, want.window)
    assert_close(got.fading.value, want.fading)
    assert got.mean.n_eff == want.count
    assert got.window.n_eff == want.window_count
    assert_close(got.fading.n_eff if want.count else None, want.fading_n_eff)


@given(
    st.lists(st.tuples(st.sampled_from((None, 0, 1, Fraction(1, 4))), st.integers(1, 30)), max_size=12),
    st.integers(1, 100),
)
def test_runs_give_what_their_records_give(runs: list[tuple[Fraction | None, int]], window: int) -> None:
    records = [loss for loss, length in runs for _ in range(length)]
    alpha = Fraction(15, 16)
    want = oracle.prequential(records, window=window, alpha=alpha)
    given_runs = LossRuns(
        np.array(as_floats([loss for loss, _ in runs])),
        np.array([length for _, length in runs], dtype=np.int64),
    )
    got = prequential(given_runs, window=window, alpha=float(alpha))
    assert (got.count, got.unlabelled) == (want.count, want.unlabelled)
    assert_close(got.mean.value, want.mean)
    assert_close(got.window.value, want.window)
    assert_close(got.fading.value, want.fading)
    assert np.array_equal(given_runs.records(), np.array(as_floats(records)), equal_nan=True)


@pytest.mark.parametrize("alpha", [0.9999, 0.975])
def test_a_million_records_are_exact_to_twelve_digits(alpha: float) -> None:
    drawn = np.random.default_rng(5).random(1_000_000) < np.linspace(0.1, 0.5, 1_000_000)
    with localcontext() as context:
        context.prec = 30
        want = oracle.prequential([Decimal(int(x)) for x in drawn], window=1000, alpha=Decimal(alpha))
        got = prequential(drawn.astype(float), window=1000, alpha=alpha)
        assert_close(got.mean.value, want.mean)
        assert_close(got.window.value, want.window)
        assert_close(got.fading.value, want.fading)
        assert_close(got.fading.n_eff, want.fading_n_eff)


def test_errors_long_past_fade_without_losing_their_digits() -> None:
    runs, alpha = LossRuns(np.array([1.0, 0.0]), np.array([1000, 6000])), 0.9
    with localcontext() as context:
        context.prec = 60
        want = oracle.prequential([Decimal(1)] * 1000 + [Decimal(0)] * 6000, window=10, alpha=Decimal(alpha))
        assert 0 < want.fading < Decimal("1e-270")
        assert_close(prequential(runs, window=10, alpha=alpha).fading.value, want.fading)


def test_the_effective_count_grows_to_its_limit() -> None:
    """1 after one record, and (1 + alpha) / (1 - alpha) in the limit."""
    assert prequential([1.0], window=1, alpha=0.99).fading.n_eff == pytest.approx(1, rel=1e-12)
    long = prequential(LossRuns(np.array([0.0]), np.array([100_000])), window=1, alpha=0.99)
    assert long.fading.n_eff == pytest.approx(199, rel=1e-12)
    assert long.fading_weight == pytest.approx(100, rel=1e-12)


def test_the_bounds_by_hand() -> None:
    """100 errors in 400 records at delta 0.05: ln 40 = 3.6889."""
    got = prequential([1.0] * 100 + [0.0] * 300, window=200, alpha=1.0)
    assert got.mean == Estimate(
        0.25,
        400,
        pytest.approx(math.sqrt(math.log(40) / 800)),
        pytest.approx(math.sqrt(0.75 * math.log(40) / 400)),
    )
    assert (got.window.value, got.window.n_eff, got.window.chernoff) == (0, 200, 0)
    assert got.fading == got.mean


def test_a_larger_loss_scales_the_value_and_both_bounds() -> None:
    losses = np.random.default_rng(1).random(500)
    small = prequential(losses, window=100, alpha=0.99, delta=0.01)
    large = prequential(8 * losses, window=100, alpha=0.99, delta=0.01, R=8)
    for one, eight in ((small.mean, large.mean), (small.window, large.window), (small.fading, large.fading)):
        assert eight.value == pytest.approx(8 * one.value)
        assert eight.hoeffding == pytest.approx(8 * one.hoeffding)
        assert eight.chernoff == pytest.approx(8 * one.chernoff)
        assert eight.n_eff == one.n_eff


def test_records_without_truth_change_nothing_but_their_count() -> None:
    with_gaps = prequential([NAN, 1, NAN, NAN, 0, 1, NAN], window=2, alpha=0.5)
    without = prequential([1, 0, 1], window=2, alpha=0.5)
    assert with_gaps.unlabelled == 4
    assert (with_gaps.mean, with_gaps.window, with_gaps.fading) == (
        without.mean,
        without.window,
        without.fading,
    )


def test_before_the_first_truth_there_is_no_estimate() -> None:
    for losses in ([], [NAN, NAN]):
        got = prequential(losses, window=5, alpha=0.9)
        assert got.mean == got.window == got.fading == Estimate(None, 0, None, None)
        assert (got.count, got.unlabelled) == (0, len(losses))


def test_one_record_a_slice_sampled_at_its_first_tick_as_in_the_oracle() -> None:
    random = Random(9)
    for _ in range(500):
        span = random.randint(1, 60)
        truth = cases.partition(random, span, labels=3, unknown=0.2)
        prediction = cases.partition(random, span, labels=3)
        slice_ticks = random.randint(1, 8)
        want = oracle.losses(cases.per_tick(truth), cases.per_tick(prediction), slice_ticks)
        later = random.randint(0, 100)  # slices are counted from the span's start, wherever that is
        got = losses_from_pieces(
            *(
                Segments.from_rows([(label, start + later, end + later) for label, start, end in rows])
                for rows in (truth, prediction)
            ),
            slice_ticks,
        )
        assert np.array_equal(got.records(), np.array(as_floats(want)), equal_nan=True)
        assert (got.length > 0).all()


def test_the_curves_hold_the_estimate_after_every_record() -> None:
    random = Random(6)
    losses = [random.choice((None, Fraction(0), Fraction(1), Fraction(3, 8))) for _ in range(300)]
    got = curves(as_floats(losses), window=20, alpha=0.875)
    assert got.record.tolist() == [at for at, loss in enumerate(losses) if loss is not None]
    for index, at in enumerate(got.record.tolist()):
        want = oracle.prequential(losses[: at + 1], window=20, alpha=Fraction(7, 8))
        assert_close(got.mean[index], want.mean)
        assert_close(got.window[index], want.window)
        assert_close(got.fading[index], want.fading)


def test_the_curves_end_where_the_estimates_are() -> None:
    losses = (np.random.default_rng(2).random(50_000) < 0.3).astype(float)
    runs = LossRuns(losses[::2], np.full(25_000, 2))
    want = prequential(runs, window=1000, alpha=0.999)
    got = curves(runs, window=1000, alpha=0.999)
    assert got.mean[-1] == want.mean.value
    assert got.window[-1] == want.window.value
    assert got.fading[-1] == pytest.approx(want.fading.value, rel=1e-12)
    assert len(curves([], window=10, alpha=0.9).record) == 0
    assert curves([1.0, 0.0], window=10, alpha=1.0).fading.tolist() == [1, 0.5]


@pytest.mark.parametrize("alpha", [0.5, 0.999, 1.0])
def test_the_curves_of_a_million_records_end_where_the_estimates_are(alpha: float) -> None:
    losses = (np.random.default_rng(3).random(1_000_000) < 0.2).astype(float)
    want = prequential(losses, window=500, alpha=alpha).fading.value
    assert curves(losses, window=500, alpha=alpha).fading[-1] == pytest.approx(want, rel=1e-12)


@pytest.mark.parametrize(
    ("losses", "options", "why"),
    [
        ([0.0], {"window": 0}, "window of 0"),
        ([0.0], {"alpha": 0.0}, "alpha"),
        ([0.0], {"alpha": 1.5}, "alpha"),
        ([0.0], {"alpha": NAN}, "alpha"),
        ([0.0], {"delta": 0.0}, "delta"),
        ([0.0], {"delta": 1.0}, "delta"),
        ([0.0], {"R": 0.0}, "largest loss"),
        ([0.0], {"R": NAN}, "largest loss"),
        ([0.0, 1.0, 2.0], {}, "loss 2.0 of record 2"),
        ([0.0, -0.5], {}, "loss -0.5 of record 1"),
        ([math.inf], {}, "loss inf"),
        (LossRuns(np.array([0.0, 3.0]), np.array([40, 2])), {}, "loss 3.0 of record 40"),
        (LossRuns(np.array([0.0]), np.array([0])), {}, "length of 1 or more"),
    ],
)
def test_what_is_out_of_range_is_refused(losses: object, options: dict, why: str) -> None:
    with pytest.raises(InputError, match=why):
        prequential(losses, **{"window": 10, "alpha": 0.9, **options})


def test_a_slice_of_no_ticks_is_refused() -> None:
    with pytest.raises(InputError, match="slice of 0 ticks"):
        losses_from_pieces(Segments.empty(), Segments.empty(), 0)

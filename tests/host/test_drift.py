"""Drift detectors against their literal oracles, against river's, and on streams whose changes are known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import drift as oracle
from streamgauge.drift import ADWIN, DDM, Alarm, Detector, PageHinkley, Signal
from streamgauge.errors import InputError

river_drift = pytest.importorskip("river.drift")


@st.composite
def streams(draw: st.DrawFn, most: int = 1200) -> np.ndarray:
    """0-1 losses, or losses in [0, 1], whose rate changes a few times."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    parts = draw(
        st.lists(st.tuples(st.integers(1, most // 3), st.sampled_from([0, 0.05, 0.2, 0.5, 1])), max_size=4)
    )
    rates = np.concatenate([np.full(n, rate) for n, rate in parts] or [np.zeros(0)])
    if draw(st.booleans()):
        return (rng.random(len(rates)) < rates).astype(float)
    return np.round(np.clip(rates + rng.normal(0, 0.2, len(rates)), 0, 1), 3)


def feed(detector: Detector, losses: np.ndarray, cuts: list[int]) -> list[Alarm]:
    for part in np.split(losses, sorted(cut % (len(losses) + 1) for cut in cuts)):
        detector.update(part)
    return detector.alarms


def assert_same(found: list[Alarm], expected: list[oracle.Found]) -> None:
    assert [(a.index, a.direction) for a in found] == [(a.index, a.direction) for a in expected]
    for got, want in zip(found, expected, strict=True):
        assert got.value == pytest.approx(want.value, rel=1e-9, abs=1e-12)


@given(
    streams(),
    st.lists(st.integers(0, 1200), max_size=3),
    st.sampled_from([0.005, 0.05, 0.1]),
    st.sampled_from([1.5, 5.0, 22.0]),
    st.sampled_from([1.0, 0.9999, 0.97, 0.3]),
    st.sampled_from(["up", "down", "both"]),
    st.sampled_from([0, 1, 30]),
)
def test_page_hinkley_equals_the_formula_however_the_stream_is_cut(
    losses, cuts, delta, threshold, fading, direction, warmup
):
    # Thresholds that no sum of such losses can equal, so that rounding decides nothing.
    threshold += math.pi * 1e-3
    detector = PageHinkley(delta, threshold, fading, direction, warmup)
    expected = oracle.page_hinkley(losses.tolist(), delta, threshold, fading, direction, warmup)
    assert_same(feed(detector, losses, cuts), expected)


@given(
    streams(),
    st.lists(st.integers(0, 1200), max_size=3),
    st.sampled_from([1.5, 2.0, 3.0, 4.0]),
    st.sampled_from([0, 5, 30, 200]),
)
def test_ddm_equals_the_formula_however_the_stream_is_cut(losses, cuts, level, warmup):
    level += math.pi * 1e-3
    detector = DDM(level, 1.5, warmup)
    assert_same(feed(detector, losses, cuts), oracle.ddm(losses.tolist(), level, warmup))


class ScreenedPageHinkley(PageHinkley):
    """Passes over columns from the second on, and grows its blocks from a single one."""

    _screened, _first_block, _growth = 2, 16, 2


class ScreenedDDM(DDM):
    """The same of DDM."""

    _screened, _first_block, _growth = 2, 16, 2


class ScreenedADWIN(ADWIN):
    """Looks at the low rows first from the first bucket on."""

    _screened, _first_block, _growth = 1, 64, 2


@st.composite
def shapes(draw: st.DrawFn) -> np.ndarray:
    """Losses made of runs of ones and zeros, alternating ones, and rates that rise and fall; also shifted."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    parts = []
    for kind, length in draw(
        st.lists(
            st.tuples(
                st.sampled_from(["zeros", "ones", "turns", "seldom", "often", "up", "down"]),
                st.one_of(st.sampled_from([1, 15, 16, 17, 32, 48, 256]), st.integers(1, 700)),
            ),
            min_size=1,
            max_size=4,
        )
    ):
        share = np.arange(length) / length
        rate = {"zeros": 0, "ones": 1, "turns": np.arange(length) % 2, "seldom": 0.03, "often": 0.6}
        rate |= {"up": share, "down": 1 - share}
        parts.append(rng.random(length) < rate[kind])
    return np.concatenate(parts).astype(float)


@given(
    shapes(),
    st.lists(st.integers(0, 3000), max_size=3),
    st.sampled_from([0.0, 0.005, 0.05, 0.3]),
    st.sampled_from([0.4, 3.0, 8.0, 22.0]),
    st.sampled_from([1.0, 0.999, 0.9, 0.2, 1e-30]),
    st.sampled_from(["up", "down", "both"]),
    st.sampled_from([0, 30, 100]),
    st.sampled_from([(1.0, 0.0), (3.0, -1.0), (0.5, 100.0), (1.0, -7.0)]),
)
def test_page_hinkley_passes_over_no_column_that_matters(
    losses, cuts, delta, threshold, fading, direction, warmup, scale
):
    threshold += math.pi * 1e-3
    losses = losses * scale[0] + scale[1]
    detector = ScreenedPageHinkley(delta, threshold, fading, direction, warmup)
    expected = oracle.page_hinkley(losses.tolist(), delta, threshold, fading, direction, warmup)
    assert_same(feed(detector, losses, cuts), expected)
    # The state, too, is that of a detector that takes every record.
    walked = PageHinkley(delta, threshold, fading, direction, warmup)
    walked.update(losses[: len(losses) // 2])
    for loss in losses[len(losses) // 2 :]:
        walked.update([loss])
    assert detector.statistic == pytest.approx(walked.statistic, rel=1e-9, abs=1e-9)
    assert (detector.count, detector.mean) == (len(losses), pytest.approx(walked.mean))


@given(
    shapes(),
    st.lists(st.integers(0, 3000), max_size=3),
    st.sampled_from([1.5, 2.0, 3.0, 4.0]),
    st.sampled_from([0, 5, 30, 200]),
    st.sampled_from([1.0, 0.375]),
)
def test_ddm_passes_over_no_column_that_matters(losses, cuts, level, warmup, scale):
    level += math.pi * 1e-3
    losses = losses * scale
    detector = ScreenedDDM(level, 1.5, warmup)
    assert_same(feed(detector, losses, cuts), oracle.ddm(losses.tolist(), level, warmup))
    walked = DDM(level, 1.5, warmup)
    for loss in losses:
        walked.update([loss])
    assert detector.warned == walked.warned


@pytest.mark.parametrize("at", [0, 1, 15, 16, 1023, 1024, 5119, 5120, 15_000, 21504])
def test_an_alarm_at_any_border_of_blocks_comes_at_its_record_and_starts_anew(at):
    # Blocks end after 1,024, 5,120 and 21,504 records.
    losses = np.zeros(at + 6_000)
    losses[at : at + 40] = 1.0
    losses[at + 40 :: 4] = 1.0
    for detector, expected in (
        (PageHinkley(warmup=0), oracle.page_hinkley(losses.tolist(), 0.05, 22.0, warmup=0)),
        (
            PageHinkley(direction="both", fading=0.9999),
            oracle.page_hinkley(losses.tolist(), 0.05, 22.0, 0.9999, "both"),
        ),
        (DDM(), oracle.ddm(losses.tolist(), 4.0, 200)),
    ):
        detector.update(losses)
        assert_same(detector.alarms, expected)
        assert at < 1000 or expected[0].index in range(at, at + 40)
        again = type(detector)(**settings(detector))
        for part in np.split(losses, [max(at - 1, 0), at, at + 1, at + 7]):
            again.update(part)
        assert_same(again.alarms, expected)


def settings(detector: Detector) -> dict:
    if isinstance(detector, DDM):
        return {}
    direction = "both" if len(detector.directions) == 2 else detector.directions[0]
    return {"fading": detector.fading, "direction": direction, "warmup": detector.warmup}


@pytest.mark.parametrize("rates", [(0.5,), (0.02, 0.06), (0.3, 0.2, 0.25), (0.0,), (1.0,)])
def test_long_streams_raise_the_oracles_alarms(rates):
    rng = np.random.default_rng(11)
    losses = np.concatenate([rng.random(50_000 // len(rates)) < rate for rate in rates]).astype(float)
    listed = losses.tolist()
    for delta, threshold, fading, direction in (
        (0.05, 22.0, 1.0, "both"),
        (0.005, 50.0, 0.9999, "up"),
    ):
        detector = PageHinkley(delta, threshold, fading, direction)
        detector.update(losses)
        assert_same(detector.alarms, oracle.page_hinkley(listed, delta, threshold, fading, direction))
    ddm = DDM(3.0, 2.0, 30)
    ddm.update(losses)
    assert_same(ddm.alarms, oracle.ddm(listed, 3.0, 30))


@given(
    st.one_of(streams(600), shapes().map(lambda losses: losses[:900])),
    st.lists(st.integers(0, 900), max_size=3),
    st.sampled_from([0.3, 0.05, 0.002]),
    st.integers(2, 7),
    st.integers(2, 5),
    st.sampled_from([1, 3, 4]),
    st.sampled_from([ADWIN, ScreenedADWIN]),
)
def test_adwin_equals_its_list_of_buckets_however_the_stream_is_cut(
    losses, cuts, confidence, rows, per_row, grain, kind
):
    detector = kind(confidence, rows, per_row, grain)
    found = feed(detector, losses, cuts)
    literal = oracle.Adwin(confidence, rows, per_row, grain)
    for x in losses.tolist():
        literal.take(x)
    assert_same(found, literal.found)
    window = literal.window()
    assert detector.width == len(window) <= grain * per_row * (2**rows - 1)
    if window:
        assert detector.mean == pytest.approx(sum(window) / len(window), abs=1e-9)


def raised_with_and_without_a_first_look(make, losses: np.ndarray) -> tuple[list, list]:
    """Feed two detectors of which one never passes over anything."""
    screened, thorough = make(), make()
    thorough._screened = 1 << 40
    found = screened.update(losses), thorough.update(losses)
    if isinstance(screened, PageHinkley):
        assert screened.statistic == pytest.approx(thorough.statistic, rel=1e-9, abs=1e-9)
    return found


@pytest.mark.parametrize(
    ("make", "least"),
    [
        (lambda: ScreenedPageHinkley(0.05, 1e6, direction="both"), 0),
        (lambda: ScreenedPageHinkley(0.2, 1e6, 0.99, "both"), 0),
        (lambda: ScreenedPageHinkley(0.05, 8.1234, direction="both"), 100),
        (lambda: ScreenedPageHinkley(0.02, 11.234, 0.999, "both", 0), 100),
        (lambda: ScreenedDDM(1.0123, 1.0, 30), 100),
        (lambda: ScreenedDDM(2.0123, 1.0, 5), 100),
        (lambda: ScreenedADWIN(0.9, 6, 3, 1), 100),
        (lambda: ScreenedADWIN(0.3, 7, 5, 1), 100),
    ],
)
def test_the_first_look_changes_nothing_on_any_of_many_streams(make, least):
    alarms = 0
    for seed in range(250):
        rng = np.random.default_rng(seed)
        rates = np.repeat(rng.uniform(0, 1, 3) ** 2, rng.integers(1, 700, 3))
        losses = (rng.random(len(rates)) < rates).astype(float)
        got, want = raised_with_and_without_a_first_look(make, losses)
        assert [(a.index, a.direction) for a in got] == [(a.index, a.direction) for a in want]
        assert [a.value for a in got] == pytest.approx([a.value for a in want], rel=1e-9)
        alarms += len(want)
    assert alarms >= least


@pytest.mark.parametrize("rows", [5, 9])
def test_large_blocks_give_adwin_the_alarms_of_small_ones(rows):
    rng = np.random.default_rng(3)
    rates = np.concatenate([np.full(n, p) for n, p in ((90_000, 0.2), (50_000, 0.25), (60_000, 0.1))])
    losses = (rng.random(len(rates)) < rates).astype(float)
    whole, parts = ADWIN(0.05, rows), ADWIN(0.05, rows)
    whole.update(losses)
    for part in np.split(losses, range(700, len(losses), 700)):
        parts.update(part)
    assert whole.alarms == parts.alarms
    assert (whole.width, whole.mean) == (parts.width, parts.mean)
    assert whole.alarms


def rivers_alarms(detector, losses: np.ndarray) -> list[int]:
    found = []
    for index, x in enumerate(losses.tolist()):
        detector.update(x)
        if detector.drift_detected:
            found.append(index)
    return found


@pytest.fixture(scope="module")
def three_rates() -> np.ndarray:
    rng = np.random.default_rng(7)
    rates = np.concatenate([np.full(20000, 0.2), np.full(4000, 0.45), np.full(20000, 0.1)])
    return (rng.random(len(rates)) < rates).astype(float)


@pytest.mark.parametrize(("delta", "threshold"), [(0.05, 22.0), (0.005, 50.0), (0.01, 8.0)])
@pytest.mark.parametrize("mode", ["up", "down", "both"])
def test_page_hinkley_raises_rivers_alarms_where_nothing_fades(three_rates, delta, threshold, mode):
    theirs = river_drift.PageHinkley(delta=delta, threshold=threshold, alpha=1.0, mode=mode)
    ours = PageHinkley(delta=delta, threshold=threshold, direction=mode)
    ours.update(three_rates)
    expected = rivers_alarms(theirs, three_rates)
    assert [a.index for a in ours.alarms] == expected
    assert expected


@pytest.mark.parametrize("level", [2.0, 2.5, 3.0])
def test_ddm_raises_rivers_alarms_with_the_papers_warm_up(three_rates, level):
    losses = three_rates[18500:30000]
    ours = DDM(level, 2.0, 30)
    ours.update(losses)
    expected = rivers_alarms(river_drift.binary.DDM(drift_threshold=level), losses)
    assert [a.index for a in ours.alarms] == expected
    assert expected


@pytest.mark.parametrize("recogniser", [1, 2])
def test_elec2_raises_the_oracles_alarms(shared, recogniser):
    columns = np.loadtxt(shared / "data/streams/elec2_nb_ht.csv.gz", delimiter=",", skiprows=1, dtype=int).T
    losses = (columns[0] != columns[recogniser]).astype(float)
    ddm, both = DDM(), PageHinkley(direction="both")
    ddm.update(losses)
    both.update(losses)
    assert_same(ddm.alarms, oracle.ddm(losses.tolist(), 4.0, 200))
    assert_same(both.alarms, oracle.page_hinkley(losses.tolist(), 0.05, 22.0, direction="both"))
    assert len(both.alarms) > 50
    # The bucket lists of the oracle are slow: the first fifth.
    adwin = ADWIN()
    adwin.update(losses[:9000])
    assert_same(adwin.alarms, oracle.adwin(losses[:9000].tolist(), 0.002))
    assert len(adwin.alarms) > 10


def test_each_detector_finds_both_changes_and_says_which_way(three_rates):
    for detector in (PageHinkley(direction="both"), ADWIN()):
        detector.update(three_rates)
        first, second = detector.alarms[0], next(a for a in detector.alarms if a.direction == "down")
        assert 20000 < first.index < 20400
        assert first.direction == "up"
        assert 24000 < second.index < 24400


def test_default_page_hinkley_is_silent_on_stationary_losses_and_quick_after_a_rise():
    silent, delays = 0, []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        steady = (rng.random(100_000) < 0.2).astype(float)
        silent += not PageHinkley().update(steady)
        risen = np.concatenate([rng.random(1000) < 0.2, rng.random(4000) < 0.4]).astype(float)
        delays.append(next(a.index for a in PageHinkley().update(risen) if a.index >= 1000) - 999)
    assert silent >= 19
    assert np.median(delays) <= 200


def test_ddm_warns_before_it_alarms_and_is_calm_on_a_steady_stream():
    rng = np.random.default_rng(2)
    detector = DDM(level=4.0, warning=2.0)
    detector.update(np.tile([1.0, 0.0, 0.0, 0.0, 0.0], 400))
    assert not detector.warned
    warned_at = None
    for index, loss in enumerate((rng.random(2000) < 0.5).astype(float)):
        if detector.update([loss]):
            break
        if warned_at is None and detector.warned:
            warned_at = index
    assert warned_at is not None
    assert warned_at < index


def test_a_detector_starts_anew_after_an_alarm_and_after_reset():
    losses = np.concatenate([np.zeros(100), np.ones(200)])
    detector = PageHinkley()
    first = detector.update(losses)
    assert len(first) == 1
    assert detector.mean == 1.0
    detector.reset()
    assert (detector.count, detector.alarms, detector.mean) == (0, [], None)
    assert detector.update(losses) == first


def test_watching_the_faded_error_is_watching_s_over_b():
    losses = (np.random.default_rng(5).random(3000) < 0.3).astype(float)
    for alpha in (0.999, 0.9, 1.0):
        signal = Signal("fading", alpha=alpha)
        got = np.concatenate([signal.update(part) for part in np.split(losses, [1, 700, 701, 2500])])
        np.testing.assert_allclose(got, oracle.faded_error(losses.tolist(), alpha), rtol=1e-11)


def test_watching_the_windowed_error_is_watching_the_last_losses():
    losses = np.random.default_rng(6).random(700)
    signal = Signal("window", window=100)
    got = np.concatenate([signal.update(part) for part in np.split(losses, [1, 60, 333, 334])])
    np.testing.assert_allclose(got, oracle.windowed_error(losses.tolist(), 100), rtol=1e-11)


def test_a_smoothed_signal_delays_the_alarm_but_raises_it():
    rng = np.random.default_rng(1)
    losses = np.concatenate([rng.random(5000) < 0.2, rng.random(3000) < 0.5]).astype(float)
    at = {}
    for source in ("loss", "fading", "window"):
        detector = PageHinkley()
        detector.update(Signal(source, alpha=0.99, window=200).update(losses))
        at[source] = detector.alarms[0].index
    assert 5000 < at["loss"] < at["fading"] < 5600
    assert at["loss"] < at["window"] < 5600


def test_fewer_buckets_forget_the_past_and_miss_a_small_change():
    rng = np.random.default_rng(4)
    losses = np.concatenate([rng.random(10000) < 0.2, rng.random(10000) < 0.24]).astype(float)
    large, small = ADWIN(), ADWIN(rows=3)
    assert any(a.index > 10000 for a in large.update(losses))
    assert small.update(losses) == []
    assert small.width <= 8 * 5 * 7


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: PageHinkley(delta=-1), "delta"),
        (lambda: PageHinkley(threshold=0), "threshold"),
        (lambda: PageHinkley(fading=1.5), "alpha"),
        (lambda: PageHinkley(direction="left"), "'up', 'down' or 'both'"),
        (lambda: DDM(level=1.0), "level"),
        (lambda: DDM(level=3.0, warning=3.5), "above the alarm level"),
        (lambda: ADWIN(confidence=0), "confidence"),
        (lambda: ADWIN(rows=0), "rows"),
        (lambda: ADWIN(per_row=1), "per_row"),
        (lambda: ADWIN(grain=0), "grain"),
        (lambda: Signal("entropy"), "fading"),
        (lambda: Signal("window", window=0), "window"),
        (lambda: PageHinkley().update([0.0, math.nan]), "record 1 is nan"),
        (lambda: PageHinkley().update([[0.0]]), "dimensions"),
        (lambda: DDM().update([0.0, 1.0, 2.0]), "record 2 is 2.0"),
        (lambda: ADWIN().update([-0.5]), "record 0 is -0.5"),
    ],
)
def test_what_cannot_be_used_is_refused_by_name(make, words):
    with pytest.raises(InputError, match=words):
        make()

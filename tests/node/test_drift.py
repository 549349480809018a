"""The node's Page-Hinkley, DDM and ADWIN against the host, on CPython, on 32 and on 64 bits."""

from __future__ import annotations

import math
from array import array
from typing import Any

import kernels
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernels import from_losses, play_on

from gauge import adwin, drift
from gauge.ledger import Ledger
from streamgauge.drift import ADWIN, DDM, Detector, PageHinkley, Signal

ONE = 1 << 20


def decay(alpha: float) -> int:
    return round((1 - alpha) * (1 << 30))


def losses(rng: np.random.Generator, *parts: tuple[int, float], longest: int = 1) -> np.ndarray:
    """0-1 losses at these rates, in runs of up to `longest` records."""
    rates = np.concatenate([np.full(n, rate) for n, rate in parts])
    lengths = rng.integers(1, longest + 1, len(rates))
    starts = np.concatenate(([0], np.cumsum(lengths)[:-1]))
    lengths, starts = lengths[starts < len(rates)], starts[starts < len(rates)]
    runs = (rng.random(len(starts)) < rates[starts]).astype(int)
    return np.repeat(runs, lengths)[: len(rates)]


def alarms(kernel: Any, part: Any, stream: array[int]) -> list[tuple[int, int, dict[str, Any]]]:
    """Every alarm as (record, direction, raw), the stream handed on entry by entry."""
    found = []
    for at in range(0, len(stream), kernels.ENTRY):
        kernel(part.w, 0, part.w, stream[at : at + kernels.ENTRY], 1)
        if part.take():
            raw = part.raw()
            assert raw["alarms"] == len(found) + 1
            found.append((raw["record"], raw["direction"], raw))
    assert all(0 <= word <= kernels.WRAP for word in part.w)
    return found


def assert_same_alarms(found: list[tuple[int, int, dict[str, Any]]], host: Detector) -> None:
    assert [(record, ("", "up", "down")[way]) for record, way, _ in found] == [
        (alarm.index, alarm.direction) for alarm in host.alarms
    ]


@given(
    st.integers(0, 2**32),
    st.sampled_from([1, 4, 30]),
    st.sampled_from([1, 16, 400]),
    st.sampled_from(["up", "down", "both"]),
    st.sampled_from([1.0, 0.9999, 0.99]),
    st.sampled_from([(0.05, 22.0), (0.01, 6.0), (0.0, 480.0)]),
)
@settings(max_examples=60)
def test_page_hinkley_raises_the_hosts_alarms(seed, longest, most, direction, fading, limits):
    rng = np.random.default_rng(seed)
    # A threshold that no sum of 0-1 losses less their mean comes near by chance.
    delta, threshold = limits[0], limits[1] + 0.0137
    x = losses(rng, (3000, 0.2), (1500, 0.5), (1500, 0.1), longest=longest)
    host = PageHinkley(delta, threshold, fading, direction)
    host.update(x)
    node = drift.PageHinkley(
        Ledger(),
        round(delta * 1e6),
        round(threshold * 1e6),
        0 if fading == 1 else decay(fading),
        {"up": 1, "down": 2, "both": 3}[direction],
    )
    found = alarms(drift.feed, node, from_losses(x, most=most))
    assert_same_alarms(found, host)
    for (_, _, raw), alarm in zip(found, host.alarms, strict=True):
        # delta and mean are right to 2^-20 (2^-21 for wide thresholds), at each of 6,000 records at most.
        assert raw["value"] / (1 << raw["bits"]) == pytest.approx(alarm.value, abs=6000 * 2**-20)


@pytest.mark.parametrize(("source", "memory"), [("fading", 0.99), ("fading", 0.999), ("window", 100)])
def test_page_hinkley_watches_the_faded_and_the_windowed_error(source, memory):
    rng = np.random.default_rng(3)
    x = losses(rng, (4000, 0.2), (2000, 0.5), (4000, 0.1), longest=5)
    signal = Signal(source, alpha=memory if source == "fading" else 0.9, window=100)
    host = PageHinkley(direction="both")
    host.update(signal.update(x))
    node = drift.PageHinkley(
        Ledger(),
        50000,
        22000000,
        sides=3,
        source=drift.FADING if source == "fading" else drift.WINDOW,
        memory=decay(memory) if source == "fading" else memory,
    )
    found = alarms(drift.feed, node, from_losses(x))
    assert len(host.alarms) >= 2
    assert_same_alarms(found, host)


def test_page_hinkley_takes_losses_between_nothing_and_the_largest():
    rng = np.random.default_rng(9)
    x = np.r_[rng.integers(0, 50, 2000), rng.integers(30, 101, 1000)]
    stream = array("i", [word for loss in x.tolist() for word in (0, 0, loss, 1, 1, 0, 0, 0)])
    node = drift.PageHinkley(Ledger(), 20000, 10000000, source=drift.VALUE, memory=100)
    host = PageHinkley(0.02, 10.0)
    host.update(x / 100)
    assert len(host.alarms) == 1
    assert_same_alarms(alarms(drift.feed, node, stream), host)


@given(
    st.integers(0, 2**32),
    st.sampled_from([1, 8]),
    st.sampled_from([1, 16]),
    st.sampled_from([(3.0, 30), (4.0, 200), (2.0, 30)]),
    st.sampled_from([0.0, 0.02, 0.2]),
)
@settings(max_examples=60)
def test_ddm_raises_the_hosts_alarms(seed, longest, most, limits, rate):
    rng = np.random.default_rng(seed)
    level, warmup = limits[0] + 1 / 256, limits[1]
    x = losses(rng, (3000, rate), (1500, rate + 0.3), longest=longest)
    host = DDM(level, 1.5, warmup)
    host.update(x)
    node = drift.DDM(Ledger(), round(level * 256), warmup)
    found = alarms(drift.feed_ddm, node, from_losses(x, most=most))
    # s has 15 to 20 bits: an alarm may come a record early or late, and what follows with it.
    for (record, _, raw), alarm in zip(found[:1], host.alarms[:1], strict=True):
        assert abs(record - alarm.index) <= 2
        assert raw["value"] / ONE == pytest.approx(alarm.value, abs=0.01)
    assert abs(len(found) - len(host.alarms)) <= 1


def test_ddm_is_right_to_the_millionth_record():
    rng = np.random.default_rng(5)
    x = losses(rng, (1_000_000, 0.2), (120_000, 0.3), longest=200)
    host = DDM(4.0, 2.0, 200)
    host.update(x)
    node = drift.DDM(Ledger())
    kernels.feed(drift.feed_ddm, node, from_losses(x, most=400))
    raw = node.raw()
    last = host.alarms[-1].index
    assert raw["alarms"] == len(host.alarms)
    assert abs(raw["record"] - last) <= 0.02 * (len(x) - 1_000_000) + 2


@given(st.data(), st.sampled_from([2000, 200000]))
@settings(max_examples=400)
def test_adwin_cuts_at_the_limit_of_the_formula_within_a_hundredth(data, confidence):
    n = data.draw(st.one_of(st.integers(2, 200), st.integers(2, 5000), st.integers(4000, 32767)))
    n0 = data.draw(st.integers(1, n - 1))
    s = data.draw(st.integers(0, n))
    s1 = data.draw(st.integers(max(0, s - n0), min(s, n - n0)))
    log = math.log(2e6 * n.bit_length() / confidence)
    rise = abs(s1 - (n - n0) * s / n)
    limit = 2 * log / 3 + math.sqrt(2 * log * s / n * (1 - s / n) * n0 * (n - n0) / n)
    fails = adwin._fails(n, s, n0, n * s1 - (n - n0) * s, adwin._log(2000000 * n.bit_length(), confidence))
    if rise > 1.01 * limit + 0.125:
        assert fails
    if rise < 0.99 * limit - 0.125:
        assert not fails


@given(
    st.integers(0, 2**32),
    st.sampled_from([1, 20]),
    st.sampled_from([(9, 5, 8), (5, 3, 1), (12, 2, 3), (2, 2, 4)]),
    st.sampled_from([2000, 200000]),
)
@settings(max_examples=40)
def test_adwins_window_holds_the_newest_records_whatever_the_buckets(seed, longest, budget, confidence):
    rng = np.random.default_rng(seed)
    x = losses(rng, (1200, 0.2), (600, 0.6), (600, 0.05), longest=longest)
    rows, per_row, grain = budget
    after = []
    for most in (1, 16, 300):
        node = adwin.ADWIN(Ledger(), confidence, rows, per_row, grain)
        kernels.feed(adwin.feed, node, from_losses(x, most=most))
        after.append(node.raw())
    raw = after[0]
    assert after == [raw] * 3
    whole = x[: len(x) // grain * grain]
    assert raw["window_sum"] == whole[len(whole) - raw["window_n"] :].sum() == sum(map(sum, raw["rows"]))
    sizes = [grain << row for row, held in enumerate(raw["rows"]) for _ in held]
    assert raw["window_n"] == sum(sizes)
    assert all(len(held) <= per_row for held in raw["rows"])
    # Each row's buckets, oldest first, are sums of the records they stand for.
    end = len(whole)
    for row, held in enumerate(raw["rows"]):
        for bucket in reversed(held):
            assert bucket == whole[end - (grain << row) : end].sum()
            end -= grain << row


@pytest.mark.parametrize("budget", [(9, 5, 8), (11, 3, 4), (12, 7, 1)])
def test_adwin_cuts_where_the_host_cuts(budget):
    rng = np.random.default_rng(2)
    x = losses(rng, (20000, 0.2), (3000, 0.6), (3000, 0.05), (2000, 0.0), (3000, 1.0), longest=10)
    rows, per_row, grain = budget
    host = ADWIN(0.002, rows, per_row, grain)
    host.update(x)
    node = adwin.ADWIN(Ledger(), 2000, rows, per_row, grain)
    found = alarms(adwin.feed, node, from_losses(x, most=1))
    assert len(host.alarms) >= 3
    assert_same_alarms(found, host)
    for (_, _, raw), alarm in zip(found, host.alarms, strict=True):
        (n0, s0), (n1, s1) = raw["older"], raw["newer"]
        assert s1 / n1 - s0 / n0 == pytest.approx(alarm.value, abs=1e-12)
    assert node.raw()["window_n"] == host.width


@pytest.mark.parametrize(
    ("make", "kernel"),
    [
        (lambda: drift.PageHinkley(Ledger(), 50000, 9000000), drift.feed),
        (lambda: drift.PageHinkley(Ledger(), 50000, 9000000, 1 << 20, 3), drift.feed),
        (lambda: drift.PageHinkley(Ledger(), 50000, 9000000, 0, 1, 30, drift.WINDOW, 70), drift.feed),
        (lambda: drift.DDM(Ledger(), 512, 30), drift.feed_ddm),
        (lambda: drift.DDM(Ledger()), drift.feed_ddm),
    ],
)
def test_how_runs_are_cut_changes_nothing(make, kernel):
    x = losses(np.random.default_rng(9), (4000, 0.2), (2000, 0.5), (40000, 0.02), (4000, 0.1), longest=30)
    found = []
    for most in (1, 5, 16, 400):
        node = make()
        kernels.feed(kernel, node, from_losses(x, most=most))
        found.append(node.raw())
    assert found == [found[0]] * 4


def test_an_alarm_tells_its_time_and_is_told_once():
    node = drift.PageHinkley(Ledger(), 50000, 22000000, ticks=60)
    stream = from_losses([0] * 100 + [2] * 40 + [1] * 100, ticks=60)
    kernels.feed(drift.feed, node, stream)
    raw = node.raw()
    host = PageHinkley()
    host.update([0] * 100 + [1] * 100)
    # Records without truth are none, but their time passes.
    assert raw["record"] == host.alarms[0].index
    assert raw["ticks"] == (host.alarms[0].index + 40) * 60
    assert (node.take(), node.take()) == (1, 0)


@pytest.mark.parametrize(
    ("part", "kernel"),
    [
        (lambda: drift.PageHinkley(Ledger(), 50000, 22000000, sides=3), drift.feed),
        (lambda: drift.PageHinkley(Ledger(), 50000, 22000000, source=drift.WINDOW, memory=50), drift.feed),
        (
            lambda: drift.PageHinkley(Ledger(), 50000, 22000000, source=drift.FADING, memory=1 << 20),
            drift.feed,
        ),
        (lambda: drift.DDM(Ledger()), drift.feed_ddm),
        (lambda: adwin.ADWIN(Ledger()), adwin.feed),
    ],
)
def test_a_reset_forgets_everything(part, kernel):
    node = part()
    fresh = list(node.w)
    stream = from_losses(losses(np.random.default_rng(2), (2000, 0.2), (2000, 0.6)))
    kernels.feed(kernel, node, stream)
    after = node.raw()
    assert after["alarms"] > 0
    node.reset()
    assert list(node.w) == fresh
    kernels.feed(kernel, node, stream)
    assert node.raw() == after


@pytest.mark.parametrize("part", [drift.PageHinkley(Ledger(), 50000, 22000000), drift.DDM(Ledger())])
def test_a_restart_keeps_the_alarms_and_forgets_the_mean(part):
    kernel = drift.feed if isinstance(part, drift.PageHinkley) else drift.feed_ddm
    kernels.feed(kernel, part, from_losses(losses(np.random.default_rng(2), (2000, 0.2), (2000, 0.6))))
    before = part.raw()
    part.restart()
    after = part.raw()
    assert after["since"] == after["mean"] == 0
    assert (after["alarms"], after["record"], after["n"]) == (before["alarms"], before["record"], before["n"])


@pytest.mark.parametrize(
    "make",
    [
        lambda: drift.PageHinkley(Ledger(), 50000, 40_000_000_000),
        lambda: drift.PageHinkley(Ledger(), 50000, 22000000, source=drift.VALUE, memory=5000),
        lambda: adwin.ADWIN(Ledger(), rows=13, per_row=5, grain=1),
        lambda: adwin.ADWIN(Ledger(), rows=1),
        lambda: adwin.ADWIN(Ledger(), per_row=1),
    ],
)
def test_what_would_overflow_is_refused_at_construction(make):
    with pytest.raises(ValueError, match="too large|window"):
        make()


PLAYED = [
    ("drift", "PageHinkley", "feed", "PageHinkley({ledger}, 50000, 22000000)"),
    ("drift", "PageHinkley", "feed", "PageHinkley({ledger}, 10000, 480000000, 107374, 3)"),
    ("drift", "PageHinkley", "feed", "PageHinkley({ledger}, 50000, 9000000, 0, 3, 30, 1, 1073742)"),
    ("drift", "PageHinkley", "feed", "PageHinkley({ledger}, 50000, 9000000, 0, 3, 30, 2, 1000)"),
    ("drift", "DDM", "feed_ddm", "DDM({ledger})"),
    ("drift", "DDM", "feed_ddm", "DDM({ledger}, 512, 0)"),
    ("adwin", "ADWIN", "feed", "ADWIN({ledger})"),
    ("adwin", "ADWIN", "feed", "ADWIN({ledger}, 100000, 12, 7, 1)"),
]


@pytest.fixture(scope="module")
def played() -> list[array[int]]:
    """Streams that reach limits: long, of one kind alone, changing all the time, in runs of every length."""
    rng = np.random.default_rng(8)
    return [
        from_losses(losses(rng, (3000, 0.2), (2000, 0.5), (2000, 0.05))),
        from_losses(losses(rng, (9000, 0.3), (9000, 0.7), longest=900), most=700),
        from_losses(np.r_[np.zeros(5000, int), np.ones(5000, int), np.zeros(5000, int)]),
        from_losses(np.tile([1, 0, 2], 1000), ticks=1 << 20),
    ]


@pytest.mark.parametrize("spec", ["arm", "x64"])
@pytest.mark.parametrize(("module", "name", "kernel", "make"), PLAYED)
def test_a_node_equals_its_model_bit_for_bit_and_allocates_nothing(
    request, played, spec, module, name, kernel, make
):
    engine = request.getfixturevalue(spec)
    found = play_on(engine, module, f"{name}, {kernel}", kernel, make, played)
    source = {"drift": drift, "adwin": adwin}[module]
    for raw, stream in zip(found, played, strict=True):
        model = eval(make.format(ledger="Ledger()"), {name: getattr(source, name), "Ledger": Ledger})
        kernels.feed(getattr(source, kernel), model, stream)
        assert raw == {**model.raw(), "allocated": 0}


@pytest.mark.parametrize("recogniser", [1, 2])
def test_elec2_on_a_node_raises_the_hosts_alarms(arm, shared, recogniser):
    columns = np.loadtxt(shared / "data/streams/elec2_nb_ht.csv.gz", delimiter=",", skiprows=1, dtype=int).T
    x = (columns[0] != columns[recogniser]).astype(int)
    stream = from_losses(x)
    cases = (
        (PageHinkley(), "drift", "PageHinkley", "feed", "PageHinkley({ledger}, 50000, 22000000)"),
        (DDM(), "drift", "DDM", "feed_ddm", "DDM({ledger})"),
        (ADWIN(), "adwin", "ADWIN", "feed", "ADWIN({ledger})"),
    )
    for host, module, name, kernel, make in cases:
        host.update(x)
        (raw,) = play_on(arm, module, f"{name}, {kernel}", kernel, make, [stream])
        last = host.alarms[-1]
        assert raw["alarms"] == len(host.alarms), name
        # DDM's s has 15 to 20 bits.
        assert abs(raw["record"] - last.index) <= (2 if name == "DDM" else 0), name
        assert raw["direction"] == {"up": 1, "down": 2}[last.direction]

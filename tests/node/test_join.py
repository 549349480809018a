"""The join: late truth, rings that overflow, sides never told of, recordings one after the other."""

from __future__ import annotations

from itertools import groupby
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from node.harness import (
    NULL,
    UNKNOWN,
    WRAP,
    Calls,
    Row,
    calls_file,
    config,
    differences,
    expected,
    pieces_of,
    play_here,
    play_on,
)

import gauge
from streamgauge.engines import Engine

QUIET = {"order": 0, "label": 0, "range": 0, "overlap": 0, "split": 0, "overrun": 0}


def rows_of(ticks: list[int]) -> list[Row]:
    """Runs of equal label as segments."""
    rows, start = [], 0
    for label, run in groupby(ticks):
        end = start + len(list(run))
        rows.append((label, start, end))
        start = end
    return rows


def labels(rng: Random, ticks: int, names: list[int], longest: int = 6) -> list[int]:
    series: list[int] = []
    while len(series) < ticks:
        series += [rng.choice(names)] * rng.randint(1, longest)
    return series[:ticks]


def after(made: dict[str, Any], drive: Any) -> dict[str, Any]:
    node = gauge.Node(made)
    drive(node)
    return node.raw()


def turns(rng: Random, length: int, behind: int) -> list[int]:
    """Which side speaks next: prediction on time, the truth up to `behind` slices later."""
    order, told = [], [0, 0]
    while told[0] < length or told[1] < length:
        lag = told[1] - told[0]
        side = 1 if told[1] < length and (lag <= 0 or (lag < behind and rng.random() < 0.6)) else 0
        if told[side] == length:
            side = 1 - side
        told[side] += 1
        order.append(side)
    return order


def tell(node: Any, series: list[list[int]], order: list[int], origin: int = 0, slice_ticks: int = 1) -> None:
    told = [0, 0]
    for side in order:
        t = (origin + told[side] * slice_ticks) % WRAP
        (node.predict if side else node.truth)(t, series[side][told[side]])
        told[side] += 1


@given(st.integers(0, 2**32), st.sampled_from([1, 3, 16]), st.integers(1, 4))
def test_late_truth_that_the_ring_waits_for_gives_the_same_figures(seed, group, slice_ticks):
    rng = Random(seed)
    series = [labels(rng, 60, [0, 1, 2, UNKNOWN]), labels(rng, 60, [0, 1, 2])]
    made = config(3, group=group, slice=slice_ticks)
    ticks = [[x for x in side for _ in range(slice_ticks)] for side in series]
    want = expected(made, rows_of(ticks[0]), rows_of(ticks[1]))
    found = []
    for behind in (1, 10, 60):
        order = turns(rng, 60, behind)
        raw = after(made, lambda node, o=order: (tell(node, series, o, 0, slice_ticks), node.finish()))
        assert differences(raw, want, made) == []
        assert raw["counters"] == QUIET
        found.append(raw)
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("origin", [0, 1, WRAP // 2 - 7, WRAP - 1, WRAP - 13, WRAP - 200])
@pytest.mark.parametrize("slice_ticks", [1, 7, 1 << 22])
def test_figures_do_not_depend_on_where_on_the_circle_of_times_a_recording_lies(origin, slice_ticks):
    rng = Random(5)
    series = [labels(rng, 90, [0, 1, 2, UNKNOWN]), labels(rng, 90, [0, 1, 2])]
    order = turns(rng, 90, 12)
    made = config(3, slice=slice_ticks)
    node = gauge.Node(made)
    tell(node, series, order, 0, slice_ticks)
    node.finish()
    raw = node.raw()
    moved = after(made, lambda node: (tell(node, series, order, origin, slice_ticks), node.finish()))
    assert moved == raw
    assert raw["join"]["assessed"] + raw["join"]["unknown"] == 90 * slice_ticks


@pytest.mark.parametrize("kind", ["plain", "overlapping", "closed"])
def test_segments_across_the_end_of_the_circle_give_the_figures_they_give_elsewhere(kind):
    made = config(3, closed=int(kind == "closed"), overlap=int(kind == "overlapping"))
    over = 4 if kind == "overlapping" else -made["closed"]
    found = []
    for origin in (1000, *range(WRAP - 60, WRAP, 3)):
        node = gauge.Node(made)
        rng = Random(3)
        for i in range(12):
            for side, tell_segment in enumerate((node.truth_segment, node.predict_segment)):
                start = origin + 6 * i + side
                label = UNKNOWN if side == 0 and i % 5 == 4 else rng.randrange(3)
                tell_segment(label, start % WRAP, (start + 6 + over) % WRAP)
        node.finish()
        found.append(node.raw())
    assert all(raw == found[0] for raw in found)
    assert found[0]["counters"] == QUIET


# A ring that overflows, against lists of labels a tick.


class Rings:
    """What a node with rings of `room` closed runs can still assess, told one slice of one tick at a time.

    Its lists are all there is to it: `known` of each side, `pos`, up to where both were joined or lost, and
    whether each tick was lost.
    """

    def __init__(self, room: int) -> None:
        self.room = room
        self.known: tuple[list[int], list[int]] = ([], [])
        self.pos = 0
        self.lost: list[bool] = []

    def tell(self, side: int, label: int) -> None:
        known = self.known[side]
        waiting = self._closed(side)
        if known and known[-1] != label:
            # The run that was open is closed and wants a place, before the join looks at anything.
            while len(waiting) >= self.room:
                self._give_up(waiting.pop(0))
        known.append(label)
        both = min(len(self.known[0]), len(self.known[1]))
        self.lost += [False] * (both - len(self.lost))
        self.pos = max(self.pos, both)

    def _closed(self, side: int) -> list[int]:
        known = self.known[side]
        ends = [t for t in range(1, len(known)) if known[t] != known[t - 1]]
        return [end for end in ends if end > self.pos]

    def _give_up(self, end: int) -> None:
        self.lost += [True] * (end - len(self.lost))
        self.pos = end


def lossy(rng: Random, room: int, length: int) -> tuple[list[list[int]], list[int], list[bool]]:
    """Series, who speaks when, and which ticks are lost."""
    series = [labels(rng, length, [0, 1, 2, UNKNOWN], 4), labels(rng, length, [0, 1, 2], 4)]
    model = Rings(room)
    order: list[int] = []
    told = [0, 0]
    ahead = rng.randrange(2)
    while min(told) < length:
        if told[ahead] == length:
            ahead = 1 - ahead
        for _ in range(rng.randint(1, 30)):
            side = ahead if rng.random() < 0.9 else 1 - ahead
            if told[side] < length:
                model.tell(side, series[side][told[side]])
                told[side] += 1
                order.append(side)
        if rng.random() < 0.3:
            ahead = 1 - ahead
    return series, order, model.lost


def with_lost(series: list[list[int]], lost: list[bool]) -> list[int]:
    """The truth as a node knows it: nobody's where it was lost."""
    return [UNKNOWN if gone else label for label, gone in zip(series[0], lost, strict=True)]


@pytest.mark.parametrize("room", [4, 8, 16])
def test_what_falls_out_of_a_full_ring_is_unassessed_and_everything_else_is_exact(room):
    lost_ticks = 0
    for seed in range(150):
        rng = Random(seed)
        series, order, lost = lossy(rng, room, 120)
        made = config(3, runs=room, group=rng.choice([1, 4, 16]))

        def drive(node: Any, series: Any = series, order: Any = order) -> None:
            tell(node, series, order, WRAP - 50)
            node.finish()

        _, seen = pieces_of(made, drive)
        assert seen.unassessed == lost
        assert seen.sides[0] == with_lost(series, lost)
        raw = after(made, drive)
        want = expected(made, rows_of(with_lost(series, lost)), rows_of(series[1]))
        both = sum(lost)
        want["join"]["unassessed"] = both
        want["join"]["unknown"] -= both
        assert differences(raw, want, made) == []
        assert raw["counters"] == QUIET
        lost_ticks += both
    assert lost_ticks > 1000


@pytest.mark.parametrize("name", ["arm", "x64"])
def test_a_ring_that_overflows_loses_the_same_on_an_engine(request, name):
    engine: Engine = request.getfixturevalue(name)
    cases = []
    for seed in range(60):
        rng = Random(seed)
        room = rng.choice([4, 8])
        series, order, _ = lossy(rng, room, 120)
        case = Calls(config(3, runs=room, pending=16))
        tell(case, series, order, WRAP - 50)
        case.finish()
        cases.append(case)
    calls = calls_file(cases)
    assert play_on(engine, calls) == play_here(calls)


def test_a_side_may_be_known_a_circle_and_more_ahead_and_what_cannot_be_joined_is_unassessed():
    made = config(slice=1 << 24, runs=64)
    node = gauge.Node(made)
    # 64 slices of 2^24 ticks go once around; no run is lost for want of a place.
    for i in range(100):
        node.predict((i << 24) % WRAP, 1 + i % 2)
    node.finish()
    raw = node.raw()
    assert sum(raw["join"].values()) == 100 << 24
    # Farther than 7/16 of the circle, 28 slices, no side may be known ahead.
    assert raw["join"]["unassessed"] == 72 << 24
    assert raw["slices"]["i"] == [0, 14 << 24, 14 << 24, 0]
    assert (raw["prequential"]["n"], raw["prequential"]["unlabelled"]) == (28, 72)


@pytest.mark.parametrize("silence", [10, 27, 29, 40, 63, 64, 65, 200, 1000])
@pytest.mark.parametrize("steady", [True, False])
@pytest.mark.parametrize("silent", [0, 1])
def test_a_side_that_was_silent_for_any_time_is_heard_when_it_speaks_again(silent, steady, silence):
    node = gauge.Node(config(slice=1 << 24, runs=64))
    tell_side = (node.truth, node.predict)
    for i in range(silence):
        if i < 5:
            tell_side[silent]((i << 24) % WRAP, 1)
        tell_side[1 - silent]((i << 24) % WRAP, 1 if steady else 1 + i % 2)
    before = node.raw()["prequential"]["n"]
    for i in range(silence, silence + 20):
        tell_side[1 - silent]((i << 24) % WRAP, 1 + i % 2)
        tell_side[silent]((i << 24) % WRAP, 1 + i % 2)
    raw = node.raw()
    assert (raw["counters"]["order"], raw["counters"]["overlap"]) == (0, 0)
    assert raw["prequential"]["n"] - before >= 20
    assert raw["slices"]["tp"][2] == 10 << 24
    node.finish()
    raw = node.raw()
    assert sum(raw["join"].values()) == (silence + 20) << 24
    assert raw["prequential"]["n"] + raw["prequential"]["unlabelled"] == silence + 20


@pytest.mark.parametrize("gaps_unknown", [0, 1])
@pytest.mark.parametrize("silent", [0, 1])
def test_of_a_side_never_told_everything_is_a_gap(silent, gaps_unknown):
    made = config(3, gaps_unknown=gaps_unknown)
    series = [1, 1, 2, 0, 2]
    node, seen = pieces_of(
        made,
        lambda node: (
            [(node.truth if silent else node.predict)(t, label) for t, label in enumerate(series)],
            node.finish(),
        ),
    )
    gap = UNKNOWN if gaps_unknown and not silent else NULL
    assert seen.sides[silent] == [gap] * 5
    assert seen.sides[1 - silent] == series
    assert node.raw()["counters"] == QUIET


def test_while_a_side_is_never_told_only_the_newest_runs_wait():
    node = gauge.Node(config(3, runs=4))
    for t in range(1000):
        node.predict(t, 1 + t % 2)
    # The open run and four closed ones are still assessable, as NULL truth, when the recording ends.
    assert node.raw()["join"] == {"assessed": 0, "unknown": 0, "unassessed": 995}
    node.finish()
    assert node.raw()["join"] == {"assessed": 5, "unknown": 0, "unassessed": 995}
    assert node.raw()["prequential"]["n"] == 5


def test_truth_for_time_that_was_lost_changes_nothing_and_later_truth_counts():
    made = config(3, runs=4)
    node = gauge.Node(made)
    for t in range(20):
        node.predict(t, 1 + t % 2)
    for t in range(20):
        node.truth(t, 1 + t % 2)
    node.finish()
    raw = node.raw()
    assert raw["join"] == {"assessed": 5, "unknown": 0, "unassessed": 15}
    assert (raw["prequential"]["n"], raw["prequential"]["sum"]) == (5, 0)
    assert raw["align"]["confusion"] == [[0, 0, 0], [0, 2, 0], [0, 0, 3]]
    assert raw["counters"] == QUIET


def test_recordings_one_after_the_other_add_up_wherever_the_next_begins():
    rng = Random(11)
    made = config(3, window=70, gaps_unknown=1)
    for origin in (0, 5, WRAP - 3, WRAP // 2 + 1):
        parts = [[labels(rng, 50, [0, 1, 2, UNKNOWN]), labels(rng, 50, [0, 1, 2])] for _ in range(3)]
        node = gauge.Node(made)
        for i, series in enumerate(parts):
            tell(node, series, turns(rng, 50, 9), (i * origin) % WRAP)
            node.finish()
        raw = node.raw()
        # A tick that nobody knows has the edge that a recording's end is.
        truth = parts[0][0] + [UNKNOWN] + parts[1][0] + [UNKNOWN] + parts[2][0]
        prediction = parts[0][1] + [NULL] + parts[1][1] + [NULL] + parts[2][1]
        want = expected(made, rows_of(truth), rows_of(prediction))
        want["join"]["unknown"] -= 2
        want["prequential"]["unlabelled"] -= 2
        assert differences(raw, want, made) == []


def test_a_recording_that_is_not_ended_is_counted_as_if_it_ended_with_the_read_out():
    made = config(3)
    node = gauge.Node(made)
    rng = Random(4)
    series = [labels(rng, 40, [0, 1, 2]), labels(rng, 40, [0, 1, 2])]
    for t in range(40):
        node.predict(t, series[1][t])
        node.truth(t, series[0][t])
        raw = node.raw()
        want = expected(made, rows_of(series[0][: t + 1]), rows_of(series[1][: t + 1]))
        # The open segments are no segments yet; all else is settled.
        del want["align"]
        assert differences(raw, want, made) == []


def test_a_read_out_changes_no_figure_that_comes_later():
    rng = Random(9)
    made = config(4)
    series = [labels(rng, 300, [0, 1, 2, 3, UNKNOWN]), labels(rng, 300, [0, 1, 2, 3])]
    order = turns(rng, 300, 20)
    plain = after(made, lambda node: (tell(node, series, order), node.finish()))
    node = gauge.Node(made)
    told = [0, 0]
    for side in order:
        (node.predict if side else node.truth)(told[side], series[side][told[side]])
        told[side] += 1
        if rng.random() < 0.3:
            node.raw()
    node.finish()
    assert node.raw() == plain


def test_finish_without_a_recording_changes_nothing():
    node = gauge.Node(config())
    fresh = node.raw()
    node.finish()
    node.finish()
    assert node.raw() == fresh


def test_a_reset_forgets_everything_at_any_moment():
    made = config(3, runs=4, pending=4, loss_max=9)
    rng = Random(2)
    series = [labels(rng, 80, [0, 1, 2, UNKNOWN]), labels(rng, 80, [0, 1, 2])]
    order = turns(rng, 80, 30)
    fresh = gauge.Node(made)
    tell(fresh, series, order, 7)
    for cut in range(0, len(order), 7):
        node = gauge.Node(made)
        tell(node, series, order[:cut], WRAP - 20)
        node.predict(-5, 99)
        node.loss(4)
        node.loss(-1)
        node.predict_b(0, 1)
        node.reset()
        tell(node, series, order, 7)
        assert node.raw() == fresh.raw(), cut
        for (part, found), (_, wanted) in zip(node.ledger.entries, fresh.ledger.entries, strict=True):
            # Buffers and rings may hold what was, words may not.
            assert part == "entries" or isinstance(found, bytearray) or list(found) == list(wanted)

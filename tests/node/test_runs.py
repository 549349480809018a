"""Samples and segments become runs without gaps: order, holes, early samples, ranges, what is refused."""

from __future__ import annotations

from itertools import groupby, pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from node.harness import NULL, UNKNOWN, WRAP, config, pieces_of

import gauge

QUIET = {"order": 0, "label": 0, "range": 0, "overlap": 0, "split": 0, "overrun": 0}


def counters(node: Any, **expected: int) -> None:
    assert node.raw()["counters"] == QUIET | expected


def samples(node: Any, side: int, told: list[tuple[int, int]]) -> None:
    for t, label in told:
        (node.predict if side else node.truth)(t, label)


def finished(made: dict[str, Any], truth: list[tuple[int, int]], prediction: list[tuple[int, int]]):
    def drive(node: Any) -> None:
        samples(node, 0, truth)
        samples(node, 1, prediction)
        node.finish()

    return pieces_of(made, drive)


def test_a_sample_covers_one_slice():
    node, seen = finished(config(slice=5), [(10, 1), (15, 2)], [(10, 3), (15, 3)])
    assert seen.sides == ([1] * 5 + [2] * 5, [3] * 10)
    assert seen.records == [(1, 3), (2, 3)]
    counters(node)


def test_a_hole_of_a_slice_or_more_is_null():
    node, seen = finished(config(slice=5), [(10, 1), (20, 2)], [(10, 3), (25, 3)])
    assert seen.sides == ([1] * 5 + [NULL] * 5 + [2] * 5 + [NULL] * 5, [3] * 5 + [NULL] * 10 + [3] * 5)
    counters(node)


def test_a_hole_in_the_truth_is_unknown_where_the_task_says_so_and_in_the_prediction_never():
    _, seen = finished(config(slice=5, gaps_unknown=1), [(10, 1), (20, 2)], [(5, 3), (25, 3)])
    assert seen.sides == (
        [UNKNOWN] * 5 + [1] * 5 + [UNKNOWN] * 5 + [2] * 5 + [UNKNOWN] * 5,
        [3] * 5 + [NULL] * 15 + [3] * 5,
    )


def test_a_hole_shorter_than_a_slice_is_bridged_by_the_label_before_it():
    node, seen = finished(config(slice=5), [(10, 1), (17, 2)], [(10, 3), (19, 2)])
    assert seen.sides == ([1] * 7 + [2] * 5 + [NULL] * 2, [3] * 9 + [2] * 5)
    counters(node)


def test_an_early_sample_takes_over_where_the_last_one_ends():
    node, seen = finished(config(slice=5), [(10, 1), (12, 2), (17, 1)], [(10, 3)])
    assert seen.sides == ([1] * 5 + [2] * 2 + [1] * 5, [3] * 5 + [NULL] * 7)
    counters(node)


def test_a_sample_no_later_than_the_last_is_refused_and_counted():
    node, seen = finished(config(slice=5), [(10, 1), (15, 2), (15, 3), (14, 3), (10, 3), (20, 1)], [])
    assert seen.sides[0] == [1] * 5 + [2] * 5 + [1] * 5
    counters(node, order=3)


def test_a_jump_back_is_refused_and_a_jump_of_half_the_circle_is_a_jump_back():
    made = config(slice=1000)
    node = gauge.Node(made)
    node.predict(5000, 1)
    for t in (0, 4000, 5000, 5000 + WRAP // 2 + 1000, 6000 + WRAP // 2 - 1 + 1):
        node.predict(t, 1)
    counters(node, order=5)
    node.predict(6000, 1)
    counters(node, order=5)


@pytest.mark.parametrize("label", [-1, 4, 5, 254, 256, 257, 1 << 16, (1 << 24) + 1, (1 << 30) - 1])
def test_a_label_outside_the_profile_is_refused_and_counted_at_every_entry(label: int):
    made = config(labels=4)

    def drive(node: Any, wrong: Any = lambda node, t: None) -> None:
        for t in range(6):
            node.truth(t, 1)
            node.predict(t, 2)
            wrong(node, t)
        node.finish()

    _, clean = pieces_of(made, drive)
    entries = [
        lambda node, t: node.truth(t + 1, label),
        lambda node, t: node.predict(t + 1, label),
        lambda node, t: node.truth_segment(label, t + 1, t + 2),
        lambda node, t: node.predict_segment(label, t + 1, t + 2),
        lambda node, t: node.predict_b(t + 1, label),
    ]
    for wrong in entries:
        node, seen = pieces_of(made, lambda node, wrong=wrong: drive(node, wrong))
        assert seen.ticks == clean.ticks
        counters(node, label=6)


@pytest.mark.parametrize("label", [4, 100, 254, 255])
def test_in_a_batch_every_slice_of_a_label_outside_the_profile_is_counted(label: int):
    node, seen = pieces_of(
        config(labels=4),
        lambda node: (node.predict_batch(0, bytes([1, 1, label, label, label, 2])), node.finish()),
    )
    assert seen.sides[1] == [1, 1, NULL, NULL, NULL, 2]
    counters(node, label=3)


def test_unknown_is_a_label_of_the_truth_alone():
    node, seen = finished(config(), [(0, 1), (1, UNKNOWN)], [(0, 1), (1, UNKNOWN), (1, 2)])
    assert seen.ticks == [(1, 1), (UNKNOWN, 2)]
    counters(node, label=1)


@pytest.mark.parametrize(
    ("start", "end", "reason"),
    [
        (20, 20, "range"),
        (20, 19, "range"),
        (20, 20 + (1 << 28) + 1, "range"),
        (15, 25, "overlap"),
        (19, 30, "overlap"),
        (5, 9, "order"),
        (0, 30, "order"),
    ],
)
def test_a_segment_that_makes_no_sense_is_counted_by_reason_and_changes_nothing(start, end, reason):
    def drive(node: Any, wrong: bool) -> None:
        node.truth_segment(1, 0, 20)
        node.predict_segment(1, 0, 10)
        node.predict_segment(2, 10, 20)
        if wrong:
            node.predict_segment(3, start, end)
        node.predict_segment(3, 20, 24)
        node.finish()

    _, clean = pieces_of(config(), lambda node: drive(node, False))
    node, seen = pieces_of(config(), lambda node: drive(node, True))
    assert seen.ticks == clean.ticks
    counters(node, **{reason: 1})


def test_the_longest_segment_is_taken_whole():
    made = config(slice=1 << 20)
    node, seen = gauge.Node(made), None
    node.truth_segment(1, 7, 7 + (1 << 28))
    node.predict_segment(1, 7, 7 + (1 << 28))
    node.finish()
    raw = node.raw()
    assert seen is None and raw["join"]["assessed"] == 1 << 28
    assert (raw["align"]["truth"], raw["align"]["same"], raw["counters"]) == (1, 1, QUIET)


def test_a_segment_of_no_length_lasts_one_tick_in_closed_mode_and_is_refused_otherwise():
    node, seen = pieces_of(config(closed=1), lambda n: (n.truth_segment(1, 4, 4), n.finish()))
    assert seen.ticks == [(1, NULL)]
    counters(node)
    node, seen = pieces_of(config(), lambda n: (n.truth_segment(1, 4, 4), n.finish()))
    assert seen.ticks == []
    counters(node, range=1)


def test_closed_segments_that_share_an_instant_overlap():
    node, seen = pieces_of(
        config(closed=1), lambda n: (n.truth_segment(1, 0, 4), n.truth_segment(2, 4, 8), n.finish())
    )
    assert seen.sides[0] == [1] * 5
    counters(node, overlap=1)


def test_where_segments_may_overlap_samples_are_refused():
    node, _ = pieces_of(
        config(overlap=1), lambda n: (n.truth(0, 1), n.predict_batch(0, bytes(5)), n.finish())
    )
    counters(node, overlap=6)


def test_where_segments_may_overlap_nested_ones_are_refused_as_out_of_order():
    node, seen = pieces_of(
        config(overlap=1),
        lambda n: (n.truth_segment(1, 0, 9), n.truth_segment(2, 3, 6), n.truth_segment(2, 3, 9), n.finish()),
    )
    assert seen.sides[0] == [1] * 3 + [2] * 6
    counters(node, order=1)


def test_touching_segments_of_one_label_are_two_segments_and_equal_samples_are_one():
    _, seen = pieces_of(config(), lambda n: (n.truth_segment(1, 0, 3), n.truth_segment(1, 3, 5), n.finish()))
    assert seen.ends[0] == [3, 5]
    _, seen = pieces_of(config(), lambda n: (samples(n, 0, [(t, 1) for t in range(5)]), n.finish()))
    assert seen.ends[0] == [5]


def test_a_run_of_equal_samples_is_split_before_the_circle_of_times_closes():
    made = config(slice=1 << 26)
    node = gauge.Node(made)
    for i in range(64):
        t = (i << 26) % WRAP
        node.truth(t, 1)
        node.predict(t, 1)
    node.finish()
    raw = node.raw()
    assert raw["join"] == {"assessed": 64 << 26, "unknown": 0, "unassessed": 0}
    # Each side's 2^32 ticks are 16 runs of the longest kind.
    assert raw["counters"] == QUIET | {"split": 30}
    assert raw["align"]["confusion"][1][1] == raw["align"]["truth"] == 16
    assert raw["prequential"]["n"] == 64


def test_a_segment_whose_confidence_keeps_changing_is_split_like_any_other():
    made = config(slice=1 << 25)
    node = gauge.Node(made)
    for i in range(64):
        t = (i << 25) % WRAP
        node.truth(t, 1)
        node.predict_with(t, 1, 255 * (i % 2))
    node.finish()
    raw = node.raw()
    assert raw["counters"] == QUIET | {"split": 14}
    assert raw["align"]["prediction"] == raw["align"]["confusion"][1][1] == 8
    assert raw["align"]["stats"]["duration"][1] == 64 << 25


def test_a_batch_longer_than_the_longest_run_is_the_samples_one_by_one():
    made = config(slice=1 << 22, runs=16)
    labels = bytes([1] * 300 + [2] * 10 + [2] * 200)

    def batches(node: Any) -> None:
        for i in range(0, len(labels), 100):
            node.predict_batch((i << 22) % WRAP, labels[i : i + 100])
            node.truth_batch((i << 22) % WRAP, labels[i : i + 100])

    def one_by_one(node: Any) -> None:
        for i, label in enumerate(labels):
            node.predict((i << 22) % WRAP, label)
            node.truth((i << 22) % WRAP, label)

    found = []
    for drive in (batches, one_by_one):
        node = gauge.Node(made)
        drive(node)
        node.finish()
        found.append(node.raw())
    assert found[0] == found[1]
    assert found[0]["join"]["assessed"] == len(labels) << 22
    assert found[0]["counters"]["split"] > 0


def test_a_batch_that_repeats_known_slices_loses_only_these():
    made = config(slice=10)

    def batches(node: Any) -> None:
        node.predict_batch(0, bytes([1, 1, 1]))
        node.predict_batch(10, bytes([2, 2, 2, 2, 1]))

    def one_by_one(node: Any) -> None:
        samples(node, 1, [(0, 1), (10, 1), (20, 1), (10, 2), (20, 2), (30, 2), (40, 2), (50, 1)])

    seen = []
    for drive in (batches, one_by_one):
        node, pieces = pieces_of(made, lambda node, drive=drive: (drive(node), node.finish()))
        counters(node, order=2)
        seen.append(pieces.sides[1])
    assert seen[0] == seen[1] == [1] * 30 + [2] * 20 + [1] * 10


def test_a_refused_label_in_a_batch_does_not_move_what_follows():
    _, seen = pieces_of(config(slice=3), lambda n: (n.truth_batch(7, bytes([1, 77, 77, 2])), n.finish()))
    assert seen.sides[0] == [1] * 3 + [NULL] * 6 + [2] * 3


def test_after_a_refused_label_nothing_slips_past_the_checks():
    # Ticks at which the side's end would seem to be 0, as that of a side nobody heard of.
    node, seen = pieces_of(
        config(overlap=1), lambda n: (n.truth_batch(WRAP - 2, bytes([1, 1, 2])), n.finish())
    )
    assert seen.ticks == []
    counters(node, overlap=3)
    node, seen = pieces_of(config(), lambda n: (n.truth_batch(WRAP - 2, bytes([77, 77, 1])), n.finish()))
    assert seen.ticks == [(1, NULL)]
    counters(node, label=2)


# Samples at any times, against a list of ticks.


def painted(told: list[tuple[int, int]], slice_ticks: int, gap: int) -> tuple[int, list[int], int]:
    """Where the side begins, its label at every tick, and how many samples are refused."""
    begin = last = None
    ticks: list[int] = []
    refused = 0
    for t, label in told:
        if begin is None:
            begin, last = t, t - 1
        end = begin + len(ticks)
        if t > end:
            hole = t - end
            ticks += [ticks[-1] if hole < slice_ticks and ticks else gap] * hole
            end = t
        elif t <= last or t + slice_ticks <= end:
            refused += 1
            continue
        ticks += [label] * (t + slice_ticks - end)
        last = t
    return begin, ticks, refused


@st.composite
def streams(draw: Any) -> tuple[int, list[list[tuple[int, int]]]]:
    slice_ticks = draw(st.integers(1, 6))
    steps = st.one_of(
        st.just(slice_ticks), st.integers(0, 3 * slice_ticks), st.integers(-2 * slice_ticks, slice_ticks)
    )
    sides = []
    for unknown in ([UNKNOWN], []):
        t = draw(st.integers(0, 20))
        told = []
        for step in draw(st.lists(steps, min_size=1, max_size=40)):
            told.append((t, draw(st.sampled_from([0, 1, 2, *unknown]))))
            t = max(0, t + step)
        sides.append(told)
    return slice_ticks, sides


@given(streams(), st.booleans(), st.sampled_from([0, 1000, WRAP - 1, WRAP - 30]), st.integers(0, 2**32))
def test_samples_at_any_times_give_the_labels_that_the_rules_say(stream, gaps_unknown, origin, seed):
    slice_ticks, sides = stream
    made = config(3, slice=slice_ticks, gaps_unknown=int(gaps_unknown), runs=256)
    rng = Random(seed)

    def drive(node: Any) -> None:
        left = [list(told) for told in sides]
        # The sides take turns at random, but the one that begins first is heard first.
        side = 0 if sides[0][0][0] < sides[1][0][0] else 1
        while left[0] or left[1]:
            t, label = left[side].pop(0)
            (node.predict if side else node.truth)((origin + t) % WRAP, label)
            side = rng.randrange(2)
            if not left[side]:
                side = 1 - side
        node.finish()

    node, seen = pieces_of(made, drive)
    gaps = (UNKNOWN if gaps_unknown else NULL, NULL)
    laid = [painted(told, slice_ticks, gap) for told, gap in zip(sides, gaps, strict=True)]
    begin = min(start for start, _, _ in laid)
    end = max(start + len(ticks) for start, ticks, _ in laid)
    for side, (start, ticks, _) in enumerate(laid):
        whole = [gaps[side]] * (start - begin) + ticks
        assert seen.sides[side] == whole + [gaps[side]] * (end - begin - len(whole))
        ends = [at for at, (a, b) in enumerate(pairwise(whole), 1) if a != b]
        # A segment of known truth ends where the label changes, and where a gap of the same label begins.
        assert set(ends) <= set(seen.ends[side]) | {0}
    assert seen.records == seen.ticks[::slice_ticks]
    assert len(list(groupby(seen.unassessed))) <= 1 and not any(seen.unassessed)
    counters(node, order=sum(refused for *_, refused in laid))

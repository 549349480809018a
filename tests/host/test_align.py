"""The host's alignment against the published example, the full matrix in fractions, and its own rules."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import align as oracle
from oracles import cases
from streamgauge import band
from streamgauge.align import Alignment, align, align_recording
from streamgauge.errors import InputError
from streamgauge.scores import Stat
from streamgauge.segments import Segments

Row = tuple[int, int, int]


def segments(rows: list[Row], closed: bool = False) -> Segments:
    """Rows in memory's convention: closed ones become one tick longer."""
    return Segments.from_rows([(label, start, end + closed) for label, start, end in rows])


def assert_same(got: Alignment, want: oracle.Aligned) -> None:
    assert [tuple(pair) for pair in got.matches.tolist()] == want.matches
    assert got.confusion.tolist() == want.confusion
    assert abs(Fraction(got.distance) - want.distance) < Fraction(1, 10**12)
    assert got.unmatched_truth == want.unmatched_truth
    assert got.unmatched_prediction == want.unmatched_prediction
    assert got.repetitions_split.tolist() == want.split
    assert got.repetitions_merge.tolist() == want.merge
    assert abs(Fraction(got.cost_sum) - want.cost) < Fraction(1, 10**12)
    assert_stat(got.latency, want.latency)
    assert_stat(got.early, [value for value in want.latency if value < 0])
    assert_stat(got.late, [value for value in want.latency if value > 0])
    assert_stat(got.onset_latency, want.onset)
    assert_stat(got.offset_latency, want.offset)
    assert_stat(got.overlap, want.overlap)
    assert_stat(got.prediction_duration, want.duration)
    assert_stat(got.iou, want.iou)
    assert got.forced == 0


def assert_stat(got: Stat, values: list[Fraction] | list[int]) -> None:
    assert got.count == len(values)
    if not values:
        assert (got.mean, got.std, got.min, got.max) == (None, None, None, None)
        return
    mean = Fraction(sum(values), len(values))
    variance = sum((value - mean) ** 2 for value in values) / len(values)
    assert got.mean == pytest.approx(float(mean), abs=1e-12)
    assert got.std == pytest.approx(math.sqrt(variance), abs=1e-9)
    assert got.min == pytest.approx(float(min(values)), abs=1e-12)
    assert got.max == pytest.approx(float(max(values)), abs=1e-12)


@pytest.fixture(scope="module")
def table1(shared: Path) -> dict:
    return json.loads((shared / "golden" / "sltss_table1.json").read_text())


def rows_of(table: list[dict]) -> list[Row]:
    return [(row["label"], row["start"], row["end"]) for row in table]


def test_the_papers_example_gives_the_papers_numbers(table1: dict) -> None:
    truth, prediction = rows_of(table1["truth"]), rows_of(table1["prediction"])
    got = align(segments(truth, True), segments(prediction, True), labels=6, closed=True)
    assert got.distance == 17.798564593301435
    assert got.matches.tolist() == table1["matched_pairs_truth_prediction"]
    assert got.confusion.tolist() == table1["confusion_truth_by_prediction"]
    assert got.latency.mean == pytest.approx(table1["mean_latency"], abs=1e-12)
    assert got.overlap.mean == pytest.approx(table1["mean_overlap"], abs=1e-12)
    assert got.prediction_duration.mean == pytest.approx(table1["mean_prediction_duration"], abs=1e-12)
    assert got.repetitions_split.tolist() == [0, 0, 0, 0, 0, 1]
    assert (got.true_segments, got.pred_segments) == (6, 11)
    assert (got.unmatched_truth, got.unmatched_prediction) == (1, 6)
    assert got.distance == pytest.approx(2 * (1 + 6 + got.substitutions) + got.cost_sum, abs=1e-12)


def test_the_papers_example_by_label(table1: dict) -> None:
    got = align(
        segments(rows_of(table1["truth"]), True),
        segments(rows_of(table1["prediction"]), True),
        labels=6,
        closed=True,
    )
    assert got.tp.tolist() == [1, 1, 1, 0, 0, 1]
    assert got.fn.tolist() == [1, 0, 0, 1, 1, 0]
    assert got.fp.tolist() == [1, 0, 1, 0, 0, 1]
    assert got.tn.tolist() == [4, 6, 5, 6, 6, 5]
    assert got.precision[1:].tolist() == [1, 0.5, 0, 0, 0.5]  # 3 and 4 are missed, not left out
    assert got.recall[1:].tolist() == [1, 1, 0, 0, 1]
    assert got.f1[1:].tolist() == pytest.approx([1, 2 / 3, 0, 0, 2 / 3])
    assert got.accuracy == pytest.approx(4 / 7)
    assert got.maa == pytest.approx((7 + 6 + 6 + 6 + 6) / 35)
    assert got.map == pytest.approx(0.4)
    assert got.mar == pytest.approx(0.6)
    assert got.maf1 == pytest.approx(0.48)


def test_ten_thousand_random_pairs_agree_with_the_full_matrix() -> None:
    random = Random(20160919)
    matched = 0
    for _ in range(10_000):
        closed = random.random() < 0.5
        labels = random.choice((2, 3, 4))
        truth = cases.sequence(random, labels=labels, closed=closed)
        prediction = cases.sequence(random, labels=labels, closed=closed)
        want = oracle.align(truth, prediction, labels=labels, closed=closed)
        got = align(segments(truth, closed), segments(prediction, closed), labels=labels, closed=closed)
        assert_same(got, want)
        matched += len(want.matches)
    assert matched > 10_000


def test_such_random_pairs_are_full_of_ties() -> None:
    """Aligned backwards in time the tie rule prefers the other end: without ties nothing would change."""
    random = Random(20160919)
    tied = 0
    for _ in range(500):
        truth, prediction = (cases.sequence(random, labels=2) for _ in range(2))
        want = oracle.align(truth, prediction, labels=2).matches
        mirrored = [
            [(label, -end, -start) for label, start, end in rows[::-1]] for rows in (truth, prediction)
        ]
        backwards = oracle.align(*mirrored, labels=2).matches
        tied += want != [(len(truth) - 1 - i, len(prediction) - 1 - j) for i, j in backwards[::-1]]
    assert tied > 25


def test_every_cell_of_the_matrix_has_the_full_matrix_back_trace() -> None:
    random = Random(3)
    for _ in range(40):
        closed = random.random() < 0.5
        truth = cases.sequence(random, labels=3, closed=closed)
        prediction = cases.sequence(random, labels=3, closed=closed)
        for i in range(len(truth) + 1):
            for j in range(len(prediction) + 1):
                want = oracle.align(truth[:i], prediction[:j], labels=3, closed=closed)
                got = align(
                    segments(truth[:i], closed), segments(prediction[:j], closed), labels=3, closed=closed
                )
                assert [tuple(pair) for pair in got.matches.tolist()] == want.matches


@st.composite
def legal_sequences(draw: st.DrawFn, closed: bool) -> list[Row]:
    """Starts and ends non-decreasing, any overlap; what hypothesis can shrink."""
    steps = draw(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 6), st.integers(0, 6)), max_size=9))
    rows: list[Row] = []
    start = end = 0
    for label, step, length in steps:
        start += step
        end = max(end, start + length + (0 if closed else 1))
        rows.append((label, start, end))
    return rows


@st.composite
def pairs(draw: st.DrawFn) -> tuple[bool, list[Row], list[Row]]:
    closed = draw(st.booleans())
    return closed, draw(legal_sequences(closed)), draw(legal_sequences(closed))


@given(pairs(), st.sampled_from(("2", "0.1", "0.3", "0.5", "1", "3.25")))
def test_any_cost_agrees_with_the_full_matrix(pair: tuple[bool, list[Row], list[Row]], c0: str) -> None:
    closed, truth, prediction = pair
    want = oracle.align(truth, prediction, labels=4, closed=closed, c0=Fraction(c0))
    got = align(segments(truth, closed), segments(prediction, closed), labels=4, closed=closed, c0=float(c0))
    assert_same(got, want)


@given(pairs(), st.integers(1, 55))
def test_the_length_of_a_tick_changes_no_match(pair: tuple[bool, list[Row], list[Row]], bits: int) -> None:
    _, truth, prediction = pair
    truth = [(label, start, max(end, start + 1)) for label, start, end in truth]
    prediction = [(label, start, max(end, start + 1)) for label, start, end in prediction]
    fine = [
        segments([(label, start << bits, end << bits) for label, start, end in rows])
        for rows in (truth, prediction)
    ]
    got, want = align(*fine, labels=4), align(segments(truth), segments(prediction), labels=4)
    assert got.matches.tolist() == want.matches.tolist()
    assert got.distance == want.distance


def test_unknown_time_is_a_hard_edge_as_in_the_oracle() -> None:
    random = Random(11)
    for _ in range(1_500):
        truth = cases.partition(random, 40, labels=3, unknown=0.2)
        prediction = cases.with_null([(0, 0, 0), *cases.sequence(random, labels=3), (0, 40, 40)])
        prediction = [
            (label, start, min(end, 40)) for label, start, end in prediction if start < min(end, 40)
        ]
        want, clipped_truth, clipped_prediction = oracle.align_known(truth, prediction, labels=3)
        got = align_recording(segments(truth), segments(prediction), labels=3)
        assert_same(got, want)
        assert list(got.truth) == clipped_truth
        assert list(got.prediction) == clipped_prediction


def test_unknown_time_is_a_hard_edge_in_closed_mode_too() -> None:
    random = Random(12)
    for _ in range(300):
        truth = [
            (label, start, end - 1)
            for label, start, end in cases.partition(random, 30, labels=3, unknown=0.3)
        ]
        prediction = [(label, start, end - 1) for label, start, end in cases.partition(random, 30, labels=3)]
        want, *_ = oracle.align_known(truth, prediction, labels=3, closed=True)
        got = align_recording(segments(truth, True), segments(prediction, True), labels=3, closed=True)
        assert_same(got, want)


def test_a_match_never_reaches_over_unknown_time() -> None:
    truth = segments([(1, 0, 10), (255, 10, 20), (1, 20, 30)])
    got = align_recording(truth, segments([(1, 0, 30)]), labels=2)
    assert got.distance == 0
    assert got.matches.tolist() == [[0, 0], [1, 1]]
    assert list(got.prediction) == [(1, 0, 10), (1, 20, 30)]


def test_known_time_without_a_true_segment_does_not_disturb_its_neighbours() -> None:
    truth = [(1, 0, 3), (1, 3, 6), (255, 6, 8), (255, 12, 15), (1, 15, 20)]  # nothing said of 8 to 12
    prediction = [(1, 0, 6), (2, 6, 9), (1, 9, 11), (2, 11, 16), (1, 16, 18), (1, 18, 20)]
    want, *_ = oracle.align_known(truth, prediction, labels=3)
    assert want.matches == [(1, 0), (2, 6)]  # of two that tie, the one at the block's own corner
    assert_same(align_recording(segments(truth), segments(prediction), labels=3), want)


def test_a_truth_that_is_all_unknown_gives_nothing_to_align() -> None:
    got = align_recording(segments([(255, 0, 10)]), segments([(1, 0, 10)]), labels=2)
    assert (got.distance, got.true_segments, got.pred_segments, got.accuracy) == (0, 0, 0, None)


def test_ties_that_floats_lose_go_to_the_later_pair() -> None:
    """A third by 2/6 and by 3/9: sums of their costs in different orders differ in the last bit."""
    got = align(segments([(1, 3, 9)]), segments([(1, 4, 6), (1, 6, 12)]), labels=2)
    assert got.matches.tolist() == [[0, 1]]
    got = align(segments([(2, 2, 4), (1, 4, 7), (1, 7, 10)]), segments([(1, 2, 11)]), labels=3)
    assert got.matches.tolist() == [[2, 0]]


def test_a_tie_between_sums_that_round_differently_is_still_a_tie() -> None:
    """1/2 + 1/3 by one pairing and 2/3 + 1/6 by the other: no binary fraction adds up to 5/6 both ways."""
    truth = [(1, 4, 9), (1, 5, 11), (1, 12, 13), (1, 14, 25)]
    prediction = [(1, 6, 10), (1, 8, 14), (1, 15, 16)]
    want = oracle.align(truth, prediction, labels=2, closed=True)
    assert want.matches == [(1, 0), (2, 1), (3, 2)]
    assert_same(align(segments(truth, True), segments(prediction, True), labels=2, closed=True), want)


def test_a_regular_schedule_shifted_by_half_is_all_ties_and_agrees_with_the_full_matrix() -> None:
    truth = [(1, 10 * i, 10 * i + 10) for i in range(25)]
    prediction = [(1, 10 * i + 5, 10 * i + 15) for i in range(25)]
    want = oracle.align(truth, prediction, labels=2)
    assert_same(align(segments(truth), segments(prediction), labels=2), want)


def test_expanding_the_band_in_small_parts_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(7)
    for _ in range(200):
        truth = segments(cases.sequence(random, labels=3, longest=20))
        prediction = segments(cases.sequence(random, labels=3, longest=20))
        whole = align(truth, prediction, labels=3)
        monkeypatch.setattr(band, "_CHUNK", random.randint(1, 4))
        parts = align(truth, prediction, labels=3)
        monkeypatch.undo()
        assert parts.matches.tolist() == whole.matches.tolist()
        assert parts.distance == whole.distance
        assert parts.repetitions_split.tolist() == whole.repetitions_split.tolist()


@given(st.lists(st.tuples(st.integers(0, 2**61), st.integers(1, 2**61)), min_size=1, max_size=20))
def test_iou_in_fixed_point_is_the_floor_of_the_exact_quotient(quotients: list[tuple[int, int]]) -> None:
    numerator = np.array([min(pair) for pair in quotients])
    denominator = np.array([max(pair) for pair in quotients])
    got = band._fixed_point(numerator, denominator).tolist()
    assert got == [(min(pair) << 60) // max(pair) for pair in quotients]


def test_a_costly_match_is_not_taken_when_leaving_both_unmatched_costs_less() -> None:
    truth, prediction = segments([(1, 0, 10)]), segments([(1, 9, 20)])
    assert align(truth, prediction, labels=2, c0=0.4).matches.tolist() == []
    assert align(truth, prediction, labels=2, c0=0.4).distance == pytest.approx(0.8)
    assert align(truth, prediction, labels=2, c0=0.5).matches.tolist() == [[0, 0]]


def test_a_late_and_long_prediction_has_its_latencies_signed() -> None:
    got = align(segments([(1, 0, 10), (2, 20, 30)]), segments([(1, 4, 12), (2, 16, 26)]), labels=3)
    assert (got.onset_latency.min, got.onset_latency.max) == (-4, 4)
    assert (got.offset_latency.min, got.offset_latency.max) == (-4, 2)
    assert (got.latency.min, got.latency.max) == (-4, 3)
    assert (got.early.count, got.early.mean, got.late.count, got.late.mean) == (1, -4, 1, 3)


def test_a_second_prediction_of_a_matched_truth_is_a_split_and_the_mirror_case_a_merge() -> None:
    whole, parts = segments([(1, 0, 10)]), segments([(1, 0, 5), (1, 6, 10)])
    assert align(whole, parts, labels=2).repetitions_split.tolist() == [0, 1]
    assert align(whole, parts, labels=2).repetitions_merge.tolist() == [0, 0]
    assert align(parts, whole, labels=2).repetitions_merge.tolist() == [0, 1]


def test_segments_that_only_touch_match_in_closed_mode_alone() -> None:
    truth, prediction = [(1, 0, 5)], [(1, 5, 9)]
    half_open = align(segments(truth), segments(prediction), labels=2)
    assert (half_open.distance, half_open.matches.tolist()) == (4, [])
    closed = align(segments(truth, True), segments(prediction, True), labels=2, closed=True)
    assert (closed.distance, closed.matches.tolist()) == (1, [[0, 0]])


def test_two_instants_at_one_time_are_a_perfect_match_in_closed_mode() -> None:
    got = align(segments([(1, 5, 5)], True), segments([(1, 5, 5)], True), labels=2, closed=True)
    assert (got.distance, got.iou.mean, got.overlap.mean) == (0, 1, 0)


def test_nothing_aligned_with_nothing_is_distance_0_and_no_averages() -> None:
    got = align(Segments.empty(), Segments.empty(), labels=3)
    assert got.distance == 0
    assert got.confusion.tolist() == [[0] * 3] * 3
    assert got.latency == Stat(0)
    assert [got.accuracy, got.maa, got.map, got.mar, got.maf1] == [None] * 5
    assert np.isnan(got.precision).all() and np.isnan(got.recall).all() and np.isnan(got.f1).all()


def test_an_empty_prediction_leaves_every_truth_unmatched() -> None:
    got = align(segments([(1, 0, 4), (0, 4, 6), (2, 6, 9)]), Segments.empty(), labels=3)
    assert (got.distance, got.unmatched_truth) == (6, 3)
    assert got.confusion.tolist() == [[0, 0, 0], [1, 0, 0], [1, 0, 0]]
    assert (got.map, got.mar) == (0, 0)


def test_a_label_of_the_task_that_never_occurs_takes_no_part_in_averages() -> None:
    truth, prediction = segments([(1, 0, 4), (2, 4, 8)]), segments([(1, 0, 4), (1, 4, 8)])
    few, many = align(truth, prediction, labels=3), align(truth, prediction, labels=9)
    assert few.maa == 0.5
    assert (many.maa, many.map, many.mar, many.maf1) == (few.maa, few.map, few.mar, few.maf1)


def test_an_invented_label_has_no_recall_and_precision_0() -> None:
    got = align(segments([(1, 0, 4)]), segments([(1, 0, 4), (2, 4, 6)]), labels=3)
    assert np.isnan(got.recall[2])
    assert got.precision[2] == 0
    assert (got.mar, got.map) == (1, 0.5)


@pytest.mark.parametrize("c0", [0, -1, math.nan, math.inf, 1e-9, 1e9])
def test_a_cost_out_of_range_is_refused(c0: float) -> None:
    with pytest.raises(InputError, match="c0"):
        align(segments([(1, 0, 4)]), segments([(1, 0, 4)]), labels=2, c0=c0)


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([(1, 5, 8), (1, 4, 9)], "segment 1 .* starts before"),
        ([(1, 0, 9), (1, 2, 4)], "segment 1 .* ends before"),
        ([(1, 0, 2), (1, 3, 3)], "segment 1 .* empty"),
        ([(2, 0, 2)], "segment 0 .* label is not below 2"),
        ([(-1, 0, 2)], "segment 0 .* label"),
        ([(255, 0, 2)], "align_recording"),
        ([(1, 0, 2**62)], "2\\^61"),
    ],
)
def test_what_cannot_be_aligned_is_refused_by_name(rows: list[Row], why: str) -> None:
    good = segments([(1, 0, 4)])
    with pytest.raises(InputError, match=f"truth .*{why}"):
        align(segments(rows), good, labels=2)
    with pytest.raises(InputError, match=f"prediction .*{why}"):
        align(good, segments(rows), labels=2)


def test_sequences_that_overlap_themselves_beyond_memory_are_refused() -> None:
    many = 50_000
    rows = Segments(np.ones(many, np.int16), np.arange(many), np.arange(many) + many)
    with pytest.raises(InputError, match="pairs of segments overlap"):
        align(rows, rows, labels=2)

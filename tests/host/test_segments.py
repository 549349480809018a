"""Segments against one label a tick: what the operations mean, written out the long way."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.segments import (
    NULL,
    UNKNOWN,
    Row,
    Segments,
    clip,
    clip_to_known,
    concatenate,
    fill_gaps,
    flatten,
    flatten_nested,
    runs,
)

SPAN = (-3, 40)


@st.composite
def any_rows(draw: st.DrawFn) -> list[Row]:
    """Rows ordered by start: nested, overlapping, touching, apart, equal."""
    rows = draw(
        st.lists(st.tuples(st.integers(0, 4), st.integers(0, 24), st.integers(1, 12)), max_size=9),
    )
    return sorted(((label, start, start + length) for label, start, length in rows), key=lambda row: row[1])


@st.composite
def partitions(draw: st.DrawFn) -> list[Row]:
    """Rows that cover [0, n) without overlap; neighbours may have one label, and there may be UNKNOWN."""
    lengths = draw(st.lists(st.integers(1, 6), min_size=1, max_size=9))
    rows, at = [], 0
    for length in lengths:
        rows.append((draw(st.sampled_from([0, 1, 2, UNKNOWN])), at, at + length))
        at += length
    return rows


def winner(rows: list[Row], tick: int) -> int | None:
    """The label at a tick: of the rows that hold it the one that starts last, is shortest, stands last."""
    inside = [(start, -end, at, label) for at, (label, start, end) in enumerate(rows) if start <= tick < end]
    return max(inside)[3] if inside else None


def ticks(segments: Segments) -> dict[int, int]:
    """The label of each tick; fails where two segments claim one."""
    found: dict[int, int] = {}
    for label, start, end in segments:
        assert start < end
        for tick in range(start, end):
            assert tick not in found
            found[tick] = label
    return found


def is_legal(segments: Segments) -> bool:
    """Starts and ends do not decrease."""
    return bool((np.diff(segments.start) >= 0).all() and (np.diff(segments.end) >= 0).all())


@given(any_rows())
def test_flattening_gives_each_tick_to_the_row_that_starts_last(rows: list[Row]) -> None:
    flat, _ = flatten(Segments.from_rows(rows))
    expected = {tick: winner(rows, tick) for tick in range(40)}
    assert ticks(flat) == {tick: label for tick, label in expected.items() if label is not None}


@given(any_rows())
def test_flattening_counts_the_rows_that_begin_inside_an_earlier_one(rows: list[Row]) -> None:
    _, flattened = flatten(Segments.from_rows(rows))
    ordered = sorted(rows, key=lambda row: row[1:])
    inside = [i for i, row in enumerate(ordered) if any(other[2] > row[1] for other in ordered[:i])]
    assert flattened == len(inside)


def test_an_interrupted_row_resumes_after_a_nested_one() -> None:
    flat, flattened = flatten(Segments.from_rows([(1, 0, 10), (2, 3, 5), (3, 5, 6)]))
    assert list(flat) == [(1, 0, 3), (2, 3, 5), (3, 5, 6), (1, 6, 10)]
    assert flattened == 2


def test_of_two_rows_that_start_together_the_shorter_lies_inside_the_longer() -> None:
    for rows in ([(1, 0, 10), (2, 0, 4)], [(2, 0, 4), (1, 0, 10)]):
        assert list(flatten(Segments.from_rows(rows))[0]) == [(2, 0, 4), (1, 4, 10)]


def test_of_two_rows_with_equal_bounds_the_later_one_has_the_time() -> None:
    assert list(flatten(Segments.from_rows([(1, 0, 4), (2, 0, 4)]))[0]) == [(2, 0, 4)]


def test_rows_that_only_touch_stay_as_they_are() -> None:
    rows = [(1, 0, 4), (1, 4, 6), (2, 9, 12)]
    flat, flattened = flatten(Segments.from_rows(rows))
    assert (list(flat), flattened) == (rows, 0)


def test_a_shared_instant_of_closed_rows_is_left_alone_where_it_is_allowed() -> None:
    rows = [(1, 0, 11), (2, 10, 21), (3, 18, 30)]
    flat, flattened = flatten(Segments.from_rows(rows), touch=1)
    assert list(flat) == [(1, 0, 11), (2, 10, 18), (3, 18, 30)]
    assert flattened == 1


@given(any_rows())
def test_shared_instants_never_make_a_sequence_illegal(rows: list[Row]) -> None:
    flat, _ = flatten(Segments.from_rows(rows), touch=1)
    assert is_legal(flat)
    assert {tick for _, start, end in flat for tick in range(start, end)} == ticks(flatten(flat)[0]).keys()


@given(any_rows())
def test_without_nested_rows_partial_overlaps_are_all_kept(rows: list[Row]) -> None:
    ordered = sorted(rows, key=lambda row: row[1:])
    nested = [a for a in ordered if any(b[1] < a[1] and a[2] < b[2] for b in ordered)]
    legal, count = flatten_nested(Segments.from_rows(rows))
    assert count == len(nested)
    if not nested:
        assert list(legal) == ordered


@given(any_rows())
def test_keeping_partial_overlaps_gives_a_legal_sequence_over_the_same_ticks(rows: list[Row]) -> None:
    legal, _ = flatten_nested(Segments.from_rows(rows))
    assert is_legal(legal)
    covered = {tick for _, start, end in legal for tick in range(start, end)}
    assert covered == {tick for tick in range(40) if winner(rows, tick) is not None}


@given(any_rows())
def test_keeping_partial_overlaps_changes_nobody_who_wins_a_tick(rows: list[Row]) -> None:
    legal, _ = flatten_nested(Segments.from_rows(rows))
    for tick in range(40):
        expected = winner(rows, tick)
        if expected is not None:
            assert expected in {label for label, start, end in legal if start <= tick < end}


def test_a_nested_row_interrupts_all_that_run_and_partial_overlaps_stay() -> None:
    rows = [(1, 0, 10), (2, 3, 5), (3, 8, 12)]
    legal, nested = flatten_nested(Segments.from_rows(rows))
    assert list(legal) == [(1, 0, 3), (2, 3, 5), (1, 5, 8), (3, 8, 12)]
    assert nested == 1
    rows = [(1, 0, 10), (3, 8, 14), (2, 9, 12)]
    legal, nested = flatten_nested(Segments.from_rows(rows))
    assert list(legal) == [(1, 0, 9), (3, 8, 9), (2, 9, 12), (3, 12, 14)]
    assert nested == 1


@given(any_rows(), st.sampled_from([NULL, UNKNOWN]))
def test_filled_gaps_cover_the_span_and_change_no_labelled_tick(rows: list[Row], label: int) -> None:
    filled = fill_gaps(flatten(Segments.from_rows(rows))[0], SPAN, label)
    found = ticks(filled)
    assert set(found) == set(range(*SPAN))
    for tick in range(*SPAN):
        expected = winner(rows, tick)
        assert found[tick] == (label if expected is None else expected)


@given(any_rows())
def test_filling_a_sequence_with_overlaps_adds_only_what_nothing_covers(rows: list[Row]) -> None:
    legal, _ = flatten_nested(Segments.from_rows(rows))
    filled = list(fill_gaps(legal, SPAN, 9))
    assert [row for row in filled if row[0] != 9] == list(legal)
    gaps = {tick for label, start, end in filled if label == 9 for tick in range(start, end)}
    assert gaps == {tick for tick in range(*SPAN) if winner(rows, tick) is None}


def test_filling_an_empty_sequence_gives_one_segment() -> None:
    assert list(fill_gaps(Segments.empty(), (2, 7))) == [(NULL, 2, 7)]


@given(partitions())
def test_runs_have_the_same_ticks_and_no_two_neighbours_of_one_label(rows: list[Row]) -> None:
    joined = runs(Segments.from_rows(rows))
    assert ticks(joined) == ticks(Segments.from_rows(rows))
    assert all(a != b for a, b in zip(joined.label[:-1], joined.label[1:], strict=True))


def test_runs_do_not_reach_over_a_gap() -> None:
    rows = [(1, 0, 2), (1, 3, 4)]
    assert list(runs(Segments.from_rows(rows))) == rows
    assert list(runs(Segments.empty())) == []


@given(st.lists(st.integers(0, 2), max_size=30), st.integers(1, 5), st.integers(0, 50))
def test_labels_a_slice_become_runs(labels: list[int], length: int, start: int) -> None:
    found = Segments.from_labels(np.array(labels, dtype=np.uint8), length, start)
    expected = {start + i * length + k: label for i, label in enumerate(labels) for k in range(length)}
    assert ticks(found) == expected
    assert all(a != b for a, b in zip(found.label[:-1], found.label[1:], strict=True))


@given(any_rows(), st.integers(-2, 30), st.integers(1, 20))
def test_clipping_keeps_what_lies_inside(rows: list[Row], begin: int, length: int) -> None:
    legal, _ = flatten_nested(Segments.from_rows(rows))
    parts = list(clip(legal, begin, begin + length))
    expected = [(label, max(start, begin), min(end, begin + length)) for label, start, end in legal]
    assert parts == [row for row in expected if row[1] < row[2]]


@given(partitions(), any_rows())
def test_unknown_time_cuts_both_sequences_into_blocks(truth_rows: list[Row], rows: list[Row]) -> None:
    truth = Segments.from_rows(truth_rows)
    span = (0, truth_rows[-1][2])
    prediction = fill_gaps(clip(flatten_nested(Segments.from_rows(rows))[0], *span), span)
    blocks = clip_to_known(truth, prediction)

    known = [label != UNKNOWN for label, start, end in truth_rows for _ in range(start, end)]
    edges = [t for t in range(span[1] + 1) if (t > 0 and known[t - 1]) != (t < span[1] and known[t])]
    stretches = list(zip(edges[::2], edges[1::2], strict=True))
    assert len(blocks) == len(stretches)
    for (begin, stop), (truth_part, prediction_part) in zip(stretches, blocks, strict=True):
        assert list(truth_part) == [row for row in truth_rows if begin <= row[1] and row[2] <= stop]
        expected = [(label, max(start, begin), min(end, stop)) for label, start, end in prediction]
        assert list(prediction_part) == [row for row in expected if row[1] < row[2]]


def test_a_segment_over_unknown_time_stands_as_one_segment_on_either_side() -> None:
    truth = Segments.from_rows([(1, 0, 4), (UNKNOWN, 4, 6), (1, 6, 9)])
    (_, before), (_, after) = clip_to_known(truth, Segments.from_rows([(2, 2, 9)]))
    assert list(before) == [(2, 2, 4)]
    assert list(after) == [(2, 6, 9)]


def test_unknown_everywhere_leaves_no_block() -> None:
    assert clip_to_known(Segments.from_rows([(UNKNOWN, 0, 5)]), Segments.from_rows([(1, 0, 5)])) == []
    assert clip_to_known(Segments.empty(), Segments.empty()) == []


def test_segments_compare_by_content_and_join() -> None:
    first, second = Segments.from_rows([(1, 0, 2)]), Segments.from_rows([(2, 2, 3)])
    assert concatenate([first, second]) == Segments.from_rows([(1, 0, 2), (2, 2, 3)])
    assert concatenate([]) == Segments.empty()
    assert first != second
    assert first != "1 0 2"
    with pytest.raises(ValueError, match="differ in length"):
        Segments(np.zeros(1), np.zeros(2), np.zeros(2))
    with pytest.raises(TypeError):
        hash(first)

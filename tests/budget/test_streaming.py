"""A stream, cut into any parts, gives the figures of the whole."""

from __future__ import annotations

import dataclasses
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamgauge import example
from streamgauge.assess import Assessment, Settings, assess
from streamgauge.errors import InputError
from streamgauge.files import Notes, ReadOptions, Recording, read_pair
from streamgauge.prequential import LossRuns, prequential
from streamgauge.reading.recording import assemble
from streamgauge.segments import UNKNOWN, Segments
from streamgauge.streaming import Streamed, Streaming
from streamgauge.streaming.prequential import StreamingPrequential
from streamgauge.task import Task

NAMES = ("NULL", "a", "b", "c")
SETTINGS = Settings(window=7, alpha=0.9, delta=0.1)


@st.composite
def sides(draw: st.DrawFn, unknown: bool) -> Segments:
    rows, at = [], draw(st.integers(0, 5))
    for _ in range(draw(st.integers(1, 14))):
        at += draw(st.sampled_from([0, 0, 0, 1, 4]))
        label = draw(st.sampled_from([0, 1, 1, 2, 3, *([UNKNOWN] if unknown else [])]))
        length = draw(st.sampled_from([1, 2, 3, 5, 9]))
        rows.append((label, at, at + length))
        at += length
    return Segments.from_rows(rows)


@st.composite
def recordings(draw: st.DrawFn) -> Recording:
    task = Task(NAMES, slice_ticks=draw(st.integers(1, 4)), gaps_unknown=draw(st.booleans()))
    return assemble(task, draw(sides(True)), draw(sides(False)), None, ReadOptions(), Notes())


def told(recording: Recording, cuts: list[tuple[int, int]], **options: Any) -> Streamed:
    """Tell a stream the two sides, so many segments of each at a time."""
    stream = Streaming(recording.task, SETTINGS, **options)
    at = [0, 0]
    whole = (recording.truth, recording.prediction)
    tell = (stream.truth, stream.prediction)
    for side, count in [*cuts, (0, 99), (1, 99)]:
        tell[side](whole[side].take(slice(at[side], at[side] + count)))
        at[side] += count
        stream.result()  # a look changes nothing
    return stream.finish()


def figures(result: Streamed | Assessment) -> dict[str, Any]:
    """Everything that can be compared, by name."""
    out: dict[str, Any] = {}
    alignment = result.alignment
    for name in (
        *("distance", "forced", "substitutions", "true_segments", "pred_segments", "cost_sum"),
        *("unmatched_truth", "unmatched_prediction"),
    ):
        out[name] = getattr(alignment, name)
    for name in ("confusion", "repetitions_split", "repetitions_merge"):
        out[name] = getattr(alignment, name).tolist()
    for name in (
        *("latency", "onset_latency", "offset_latency", "early", "late"),
        *("overlap", "prediction_duration", "iou"),
    ):
        out[name] = dataclasses.astuple(getattr(alignment, name))
    for field in dataclasses.fields(result.slices):
        value = getattr(result.slices, field.name)
        out[f"slices.{field.name}"] = value.tolist() if isinstance(value, np.ndarray) else value
    for field in dataclasses.fields(result.prequential):
        value = getattr(result.prequential, field.name)
        out[f"prequential.{field.name}"] = (
            dataclasses.astuple(value) if dataclasses.is_dataclass(value) else value
        )
    return out


def close(a: Any, b: Any) -> bool:
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(close, a, b))
    if isinstance(a, float) and isinstance(b, float):
        return a == pytest.approx(b, rel=1e-12, abs=1e-12)
    return bool(a == b)


def differing(a: dict[str, Any], b: dict[str, Any]) -> dict[str, Any]:
    assert a.keys() == b.keys()
    return {name: (a[name], b[name]) for name in a if not close(a[name], b[name])}


cuts = st.lists(st.tuples(st.integers(0, 1), st.integers(1, 5)), max_size=20)


@given(recordings(), cuts)
@settings(max_examples=250)
def test_any_cut_gives_the_figures_of_the_whole(recording: Recording, parts: list[tuple[int, int]]) -> None:
    assert differing(figures(told(recording, parts)), figures(assess(recording, SETTINGS))) == {}


@given(recordings(), cuts, cuts)
@settings(max_examples=100)
def test_two_cuts_give_the_same_bits(
    recording: Recording, parts: list[tuple[int, int]], others: list[tuple[int, int]]
) -> None:
    assert figures(told(recording, parts)) == figures(told(recording, others))


@given(recordings(), st.lists(st.integers(1, 6), min_size=1, max_size=30))
@settings(max_examples=100)
def test_labels_one_a_slice_are_the_runs_they_make(recording: Recording, sizes: list[int]) -> None:
    ticks = recording.task.slice_ticks
    begin, stop = recording.span
    count = -(-(stop - begin) // ticks)
    at = np.minimum(begin + ticks * np.arange(count), stop - 1)
    labels = [
        side.label[np.searchsorted(side.end, at, side="right")]
        for side in (recording.truth, recording.prediction)
    ]
    stream = Streaming(recording.task, SETTINGS)
    done = 0
    for size in [*sizes, count]:
        # The prediction is always a part ahead of the truth.
        stream.prediction_labels(labels[1][done : done + size], begin if done == 0 else None)
        stream.truth_labels(labels[0][done : done + size], begin if done == 0 else None)
        done += size
    whole = [Segments.from_labels(side, ticks, begin) for side in labels]
    span = (begin, begin + count * ticks)
    again = replace(recording, truth=whole[0], prediction=whole[1], span=span)
    again = replace(again, truth_raw=whole[0], prediction_raw=whole[1])
    assert differing(figures(stream.finish()), figures(assess(again, SETTINGS))) == {}


def house_a(shared: Any) -> Recording:
    folder = shared / "data" / "kasteren"
    return read_pair(folder / "A_minutes_truth.csv", folder / "A_minutes_hmm.csv")


@pytest.mark.parametrize("part", [1, 37, 100_000])
def test_long_recordings_agree(part: int, shared: Any) -> None:
    truth, prediction, options = example.builtin()
    for recording in (read_pair(truth, prediction, options), house_a(shared)):
        sizes = [(side, part) for _ in range(len(recording.prediction) // part + 1) for side in (0, 1)]
        assert differing(figures(told(recording, sizes)), figures(assess(recording, SETTINGS))) == {}


# Room for little


@given(recordings(), cuts)
@settings(max_examples=100)
def test_forced_commits_are_counted_and_everything_is_still_counted_once(
    recording: Recording, parts: list[tuple[int, int]]
) -> None:
    exact = assess(recording, SETTINGS)
    found = told(recording, parts, pending=2).alignment
    assert found.true_segments == exact.alignment.true_segments
    assert found.pred_segments == exact.alignment.pred_segments
    assert found.undecided_truth == found.undecided_prediction == 0
    missed = found.true_segments - found.unmatched_truth
    assert missed == found.pred_segments - found.unmatched_prediction
    assert found.distance >= exact.alignment.distance - 1e-9
    if not found.forced:
        assert found.distance == pytest.approx(exact.alignment.distance, rel=1e-12)


def test_little_room_forces_commits_and_costs_distance() -> None:
    """A true segment lasts as long as many predictions: which of them it is, is known at its end alone."""
    rows = [(1, t, t + 1) for t in range(0, 100)]
    rows[90:] = [(1, 90, 100)]
    stream = Streaming(Task(NAMES), SETTINGS, pending=8)
    stream.prediction(Segments.from_rows(rows))
    stream.truth_labels(np.ones(100, dtype=int))
    short = stream.finish().alignment
    assert short.forced > 0
    stream = Streaming(Task(NAMES), SETTINGS)
    stream.prediction(Segments.from_rows(rows))
    stream.truth_labels(np.ones(100, dtype=int))
    enough = stream.finish().alignment
    assert enough.forced == 0
    assert enough.distance <= short.distance


def test_truth_that_comes_too_late_is_unassessed_and_is_not_assessed_afterwards() -> None:
    task = Task(NAMES)
    predicted = Segments.from_rows([(t % 3 + 1, t, t + 1) for t in range(100)])
    stream = Streaming(task, SETTINGS, late=10)
    for t in range(100):
        stream.prediction(predicted.take(slice(t, t + 1)))
    stream.truth(Segments.from_rows([(1, 0, 95), (2, 95, 100)]))
    found = stream.finish()
    assert found.unassessed == 90
    known = replace_truth(predicted, Segments.from_rows([(UNKNOWN, 0, 90), (1, 90, 95), (2, 95, 100)]))
    assert differing(figures(found), figures(assess(known, SETTINGS))) == {}


@pytest.mark.parametrize("ahead", ["truth", "prediction"])
def test_a_side_that_is_never_heard_of_does_not_fill_the_memory(ahead: str) -> None:
    stream = Streaming(Task(NAMES), SETTINGS, late=100)
    tell = getattr(stream, ahead)
    for at in range(0, 10_000, 50):
        tell(Segments.from_rows([(t % 3 + 1, t, t + 1) for t in range(at, at + 50)]))
        assert len(getattr(stream._join, ahead).closed) <= 150
    found = stream.finish()
    assert found.unassessed == 9_900
    assert found.slices.known == 100


def replace_truth(prediction: Segments, truth: Segments) -> Recording:
    return assemble(Task(NAMES), truth, prediction, None, ReadOptions(), Notes())


# Losses of one's own, and input that makes no sense


@given(st.lists(st.one_of(st.floats(0, 5), st.just(float("nan"))), max_size=60), st.integers(1, 9))
def test_losses_come_in_any_parts(losses: list[float], size: int) -> None:
    whole = prequential(losses, window=10, alpha=0.8, R=5.0)
    stream = StreamingPrequential(10, 0.8, 5.0)
    for at in range(0, len(losses), size):
        stream.feed(LossRuns.of(losses[at : at + size]))
    found = stream.result()
    for field in dataclasses.fields(whole):
        ours, theirs = getattr(found, field.name), getattr(whole, field.name)
        if dataclasses.is_dataclass(theirs):
            ours, theirs = dataclasses.astuple(ours), dataclasses.astuple(theirs)
        assert close(ours, theirs), field.name


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [(1, 5, 9), (2, 8, 12)],
            "truth segment (2, 8, 12) of a stream begins before the one before it ends",
        ),
        ([(1, 5, 5)], "truth segment (1, 5, 5) of a stream is empty"),
        ([(1, 1, 3)], "begins before tick 2, up to which was told already"),
        ([(9, 2, 3)], "truth of a stream holds label 9 at tick 2 (ids from 0 to 3 were expected)"),
    ],
)
def test_what_cannot_be_is_refused(rows: list[tuple[int, int, int]], message: str) -> None:
    stream = Streaming(Task(NAMES), SETTINGS)
    stream.prediction(Segments.from_rows([(1, 0, 100)]))
    stream.truth(Segments.from_rows([(1, 0, 2)]))
    with pytest.raises(InputError) as caught:
        stream.truth(Segments.from_rows(rows))
    assert message in str(caught.value)


def test_closed_mode_and_impossible_room_are_refused() -> None:
    with pytest.raises(InputError, match="the task is in closed mode"):
        Streaming(Task(NAMES, closed=True))
    with pytest.raises(InputError, match="pending is 1"):
        Streaming(Task(NAMES), pending=1)


def test_a_stream_of_which_nothing_is_told_is_empty() -> None:
    found = Streaming(Task(NAMES), SETTINGS).finish()
    assert (found.alignment.distance, found.slices.known, found.prequential.count) == (0.0, 0, 0)

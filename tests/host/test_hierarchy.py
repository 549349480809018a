"""T-measure, flat AUC and L-measure against the literal oracle, mir_eval and published numbers."""

from __future__ import annotations

import json
import tracemalloc
import warnings
from fractions import Fraction
from itertools import pairwise

import mir_eval
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import hierarchy as oracle
from streamgauge import hierarchy_pairs
from streamgauge.errors import InputError
from streamgauge.hierarchy import fit_span, flat_auc, l_measure, t_measure
from streamgauge.hierarchy_frames import grids

GAINS = {"reduced": oracle.reduced, "full": oracle.full}


@st.composite
def levels(draw, frames, most=4):
    """Levels that need not nest, with gaps anywhere, even without a single segment."""
    found = []
    for _ in range(draw(st.integers(1, most))):
        cuts = [0, *sorted(draw(st.sets(st.integers(1, frames - 1), max_size=5))), frames]
        rows = list(pairwise(cuts))
        found.append([row for row in rows if draw(st.integers(0, 4)) > 0])
    return found


@st.composite
def pairs_of_hierarchies(draw):
    frames = draw(st.integers(2, 13))
    window = draw(st.one_of(st.none(), st.integers(1, frames + 2)))
    return frames, window, draw(levels(frames)), draw(levels(frames))


def assert_same(found, recall, precision, value=1e-14):
    for ours, theirs in ((found.of_truth, recall), (found.of_prediction, precision)):
        assert ours.share == pytest.approx(float(theirs.share), abs=value)
        assert (ours.queries, ours.concordant, ours.pairs) == (
            theirs.queries,
            theirs.concordant,
            theirs.pairs,
        )


@given(pairs_of_hierarchies(), st.sampled_from(["reduced", "full"]))
def test_shares_and_counts_equal_the_loop_over_triples(case, gain):
    frames, window, truth, prediction = case
    a, b = oracle.depth_by_segments(truth), oracle.depth_by_segments(prediction)
    found = t_measure(truth, prediction, window=window, gain=gain, span=(0, frames))
    assert_same(
        found,
        oracle.score(a, b, frames, window, GAINS[gain]),
        oracle.score(b, a, frames, window, GAINS[gain]),
    )


@given(pairs_of_hierarchies(), st.lists(st.sampled_from([0, 0.25, 1, 3.5]), min_size=1, max_size=4))
def test_a_gain_per_level_gap_weighs_the_pairs_of_each_query(case, gain):
    if max(gain) == 0:
        gain = [*gain, 1]
    frames, window, truth, prediction = case
    a, b = oracle.depth_by_segments(truth), oracle.depth_by_segments(prediction)

    def weight(gap):
        return Fraction(gain[gap - 1]) if gap <= len(gain) else Fraction(0)

    found = t_measure(truth, prediction, window=window, gain=gain, span=(0, frames))
    assert_same(
        found,
        oracle.score(a, b, frames, window, weight),
        oracle.score(b, a, frames, window, weight),
    )


@given(pairs_of_hierarchies(), st.integers(1, 3))
def test_a_depth_cutoff_leaves_the_finer_levels_out(case, depth):
    frames, window, truth, prediction = case
    found = t_measure(truth, prediction, window=window, depth=depth, span=(0, frames))
    assert found == t_measure(truth[:depth], prediction[:depth], window=window, span=(0, frames))


@given(pairs_of_hierarchies(), st.sampled_from(["reduced", "full"]))
def test_small_chunks_give_the_same_exact_counts(case, gain):
    frames, window, truth, prediction = case
    whole = t_measure(truth, prediction, window=window, gain=gain, span=(0, frames))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hierarchy_pairs, "RUNS_AT_ONCE", 2)
        patch.setattr(hierarchy_pairs, "FRAMES_AT_ONCE", 3)
        parts = t_measure(truth, prediction, window=window, gain=gain, span=(0, frames))
    assert parts.of_truth.by_gap == whole.of_truth.by_gap
    assert parts.of_prediction.by_gap == whole.of_prediction.by_gap
    assert parts.f == pytest.approx(whole.f, abs=1e-14)


@given(pairs_of_hierarchies(), st.integers(1, 4), st.integers(-50, 50))
def test_a_time_falls_into_the_frame_that_began_at_or_before_it(case, frame, origin):
    ticks, window, truth, prediction = case

    def on_grid(hierarchy):
        return [
            [(a // frame, b // frame) for a, b in level if b // frame > a // frame] for level in hierarchy
        ]

    def moved(hierarchy):
        return [[(a + origin, b + origin) for a, b in level] for level in hierarchy]

    frames = ticks // frame
    if frames == 0:
        return
    window = None if window is None else window * frame
    found = t_measure(
        moved(truth), moved(prediction), window=window, frame=frame, span=(origin, origin + ticks)
    )
    coarse = t_measure(
        on_grid(truth),
        on_grid(prediction),
        window=None if window is None else window // frame,
        span=(0, frames),
    )
    assert found == coarse


@st.composite
def labelled(draw):
    frames = draw(st.integers(2, 12))
    sides = []
    for _ in range(2):
        hierarchy = draw(levels(frames, most=3))
        sides.append((hierarchy, [[draw(st.sampled_from("abc")) for _ in level] for level in hierarchy]))
    return frames, sides


@given(labelled(), st.sampled_from(["reduced", "full"]))
def test_labels_meet_wherever_they_recur(case, gain):
    frames, ((truth, truth_labels), (prediction, prediction_labels)) = case
    a = oracle.depth_by_labels(truth, truth_labels)
    b = oracle.depth_by_labels(prediction, prediction_labels)
    found = l_measure(truth, truth_labels, prediction, prediction_labels, gain=gain, span=(0, frames))
    assert_same(
        found,
        oracle.score(a, b, frames, None, GAINS[gain]),
        oracle.score(b, a, frames, None, GAINS[gain]),
    )


@given(pairs_of_hierarchies())
def test_flat_auc_ranks_frames_of_the_same_segment_first(case):
    frames, window, truth, prediction = case
    found = flat_auc(truth[0], prediction[0], window=window, span=(0, frames))
    a, b = oracle.depth_by_segments(truth[:1]), oracle.depth_by_segments(prediction[:1])
    expected = oracle.score(a, b, frames, window, oracle.full)
    assert found.recall == pytest.approx(float(expected.share), abs=1e-14)
    assert found == t_measure(truth[:1], prediction[:1], window=window, span=(0, frames))


def theirs(truth, prediction, transitive, window, frame):
    with warnings.catch_warnings():  # "hierarchy is inconsistent": levels that do not nest are meant
        warnings.simplefilter("ignore")
        return mir_eval.hierarchy.tmeasure(
            truth, prediction, transitive=transitive, window=window, frame_size=frame
        )


def random_hierarchy(rng, frames, nested, gaps):
    found, cuts = [], {0, frames}
    for level in range(int(rng.integers(1, 5))):
        fresh = set(rng.integers(1, frames, 2 + 3 * level).tolist())
        cuts = cuts | fresh if nested else {0, frames} | fresh
        times = np.array(sorted(cuts))
        rows = np.column_stack([times[:-1], times[1:]])
        if gaps:
            keep = rng.random(len(rows)) > 0.3
            keep[[0, -1]] = True  # mir_eval wants the whole span touched
            rows = rows[keep]
        found.append(rows)
    return found


@pytest.mark.parametrize("frame", [0.25, 0.5, 1.0])
@pytest.mark.parametrize("nested", [True, False])
@pytest.mark.parametrize("gaps", [True, False])
def test_random_hierarchies_score_as_in_mir_eval(frame, nested, gaps):
    rng = np.random.default_rng(int(frame * 4) + 10 * nested + 100 * gaps)
    for _ in range(3):
        frames = int(rng.integers(12, 90))
        truth = random_hierarchy(rng, frames, nested, gaps)
        prediction = random_hierarchy(rng, frames, nested, gaps)
        for window in (None, 2, 7, 25):
            for gain in ("reduced", "full"):
                expected = theirs(
                    [rows * frame for rows in truth],
                    [rows * frame for rows in prediction],
                    gain == "full",
                    None if window is None else window * frame,
                    frame,
                )
                found = t_measure(truth, prediction, window=window, gain=gain)
                assert (found.precision, found.recall, found.f) == pytest.approx(expected, abs=1e-12)
                rounded = t_measure(
                    [rows * frame for rows in truth],
                    [rows * frame for rows in prediction],
                    window=None if window is None else window * frame,
                    frame=frame,
                    gain=gain,
                    frames="mir_eval",
                )
                assert (rounded.precision, rounded.recall) == (found.precision, found.recall)


def salami(shared, track, annotator):
    """Two levels in whole nanoseconds, as the decimals of the files have them."""
    found, names = [], []
    for level in ("uppercase", "lowercase"):
        path = shared / "data" / "salami" / str(track) / "parsed" / f"textfile{annotator}_{level}.txt"
        rows = [line.split("\t") for line in path.read_text().splitlines() if line.strip()]
        times = [int(Fraction(time) * 10**9) for time, _ in rows]
        kept = [
            (a, b, name) for a, b, (_, name) in zip(times[:-1], times[1:], rows[:-1], strict=True) if b > a
        ]
        found.append(np.array([(a, b) for a, b, _ in kept]))
        names.append([name for *_, name in kept])
    return found, names


@pytest.mark.parametrize("track", [636, 10, 100, 1000])
def test_two_annotators_of_a_song_score_as_in_mir_eval(shared, track):
    truth, truth_labels = salami(shared, track, 1)
    prediction, prediction_labels = salami(shared, track, 2)
    span = (0, max(int(level.max()) for level in truth))
    truth, truth_labels = fit_span(truth, span, truth_labels)
    prediction, prediction_labels = fit_span(prediction, span, prediction_labels)
    seconds = [[level / 1e9 for level in side] for side in (truth, prediction)]
    second = 10**9
    for frame in (0.25, 0.5, 1.0):
        for gain in ("reduced", "full"):
            expected = theirs(*seconds, gain == "full", 15.0, frame)
            found = t_measure(truth, prediction, window=15 * second, frame=int(frame * second), gain=gain)
            assert (found.precision, found.recall, found.f) == pytest.approx(expected, abs=1e-12)
            rounded = t_measure(*seconds, window=15.0, frame=frame, gain=gain, frames="mir_eval")
            assert (rounded.precision, rounded.recall, rounded.f) == pytest.approx(expected, abs=1e-12)
    expected = theirs(*seconds, True, None, 1.0)
    found = t_measure(truth, prediction, frame=second, gain="full")
    assert (found.precision, found.recall, found.f) == pytest.approx(expected, abs=1e-12)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = mir_eval.hierarchy.lmeasure(
            seconds[0], truth_labels, seconds[1], prediction_labels, frame_size=0.5
        )
    found = l_measure(truth, truth_labels, prediction, prediction_labels, frame=second // 2)
    assert (found.precision, found.recall, found.f) == pytest.approx(expected, abs=1e-12)


def published(shared, side):
    found, names = [], []
    for level in (0, 1):
        path = shared / "data" / "mir_eval" / "hierarchy" / f"{side}{level:02}.lab"
        rows = [line.split("\t") for line in path.read_text().splitlines() if line and line[0] != "#"]
        found.append(np.array([(float(a), float(b)) for a, b, _ in rows]))
        names.append([name for *_, name in rows])
    return found, names


@pytest.mark.parametrize("window", [5, 15, 30])
def test_published_hierarchy_numbers_are_reproduced_in_their_rounding(shared, window):
    truth, truth_labels = published(shared, "ref")
    prediction, prediction_labels = published(shared, "est")
    span = (0.0, float(max(level.max() for level in truth)))
    truth, truth_labels = fit_span(truth, span, truth_labels)
    prediction, prediction_labels = fit_span(prediction, span, prediction_labels)
    path = shared / "data" / "mir_eval" / "hierarchy" / f"output_w={window:02}.json"
    expected = json.loads(path.read_text())
    for gain in ("reduced", "full"):
        found = t_measure(truth, prediction, window=float(window), frame=0.1, gain=gain, frames="mir_eval")
        assert found.precision == pytest.approx(expected[f"T-Precision {gain}"], abs=1e-12)
        assert found.recall == pytest.approx(expected[f"T-Recall {gain}"], abs=1e-12)
        assert found.f == pytest.approx(expected[f"T-Measure {gain}"], abs=1e-12)
    found = l_measure(truth, truth_labels, prediction, prediction_labels, frame=0.1, frames="mir_eval")
    assert found.precision == pytest.approx(expected["L-Precision"], abs=1e-12)
    assert found.recall == pytest.approx(expected["L-Recall"], abs=1e-12)
    assert found.f == pytest.approx(expected["L-Measure"], abs=1e-12)


def test_float_rounding_moves_most_tenths_a_frame_early_and_ticks_move_none():
    def first_frame(times, **options):
        level = np.column_stack([times[:-1], times[1:]])
        return grids([level], [level], **options)[0].start[0]

    exact = first_frame(np.arange(3001) * 100, frame=100)
    assert (exact == np.arange(3000)).all()
    tenths = np.arange(3001) / 10
    floats = ((tenths - np.mod(tenths, 0.1)) / 0.1).astype(int)
    assert np.count_nonzero(floats < np.arange(3001)) == 2598
    # Where two boundaries fall into one frame, the segment between them is lost.
    assert len(first_frame(tenths, frame=0.1, frames="mir_eval")) == len(set(floats.tolist())) - 1


def test_counts_stay_exact_where_64_bits_do_not_hold_them():
    half = 5 * 10**7
    found = t_measure([[(0, half), (half, 2 * half)]], [[(0, half), (half, 2 * half)]])
    assert found.of_truth.pairs == found.of_truth.concordant == 2 * half * (half - 1) * half
    assert found.f == 1.0


def test_memory_does_not_grow_with_frames():
    rng = np.random.default_rng(5)
    truth = random_hierarchy(rng, 2000, nested=True, gaps=False)
    prediction = random_hierarchy(rng, 2000, nested=True, gaps=False)

    def peak(scale):
        a, b = ([rows * scale for rows in side] for side in (truth, prediction))
        tracemalloc.start()
        found = t_measure(a, b, window=150 * scale)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most, found.frames

    (small, few), (large, many) = peak(50), peak(2000)
    assert many == 40 * few
    assert large < 1.1 * small


def test_a_perfect_hierarchy_scores_one_and_none_scores_zero():
    level = [(0, 4), (4, 9)]
    found = t_measure([level], [level], window=3)
    assert (found.precision, found.recall, found.f) == (1.0, 1.0, 1.0)
    whole = t_measure([[(0, 9)]], [[(0, 9)]])
    assert (whole.precision, whole.recall, whole.f, whole.of_truth.queries) == (0.0, 0.0, 0.0, 0)


def test_objects_with_start_and_end_are_levels_too():
    class Rows:
        start, end = np.array([0, 4]), np.array([4, 9])

    assert t_measure([Rows()], [[(0, 4), (4, 9)]]).f == 1.0


def test_rows_may_come_in_any_order_with_their_labels():
    truth, labels = [[(4, 9), (0, 4)]], [["b", "a"]]
    found = l_measure(truth, labels, [[(0, 4), (4, 9)]], [["a", "b"]])
    assert found.f == 1.0


def test_fitting_clips_and_fills_the_edges():
    fitted, labels = fit_span([[(2, 5), (5, 12)]], (0, 10), [["x", "y"]])
    assert fitted[0].tolist() == [[0, 2], [2, 5], [5, 10]]
    assert labels == [["<before>", "x", "y"]]
    fitted, labels = fit_span([[(2, 5)]], (3, 8), [["x"]])
    assert fitted[0].tolist() == [[3, 5], [5, 8]]
    assert labels == [["x", "<after>"]]


BAD = [
    (
        {"truth": [[(0, 9)], [(0, 5), (4, 9)]]},
        r"truth level 2, segment 2: \[4, 9\) overlaps segment 1, \[0, 5\)",
    ),
    (
        {"prediction": [[(0, 9)], [(0, 5), (5, 8)]]},
        r"prediction level 2 covers \[0, 8\) but truth level 1 covers \[0, 9\)",
    ),
    ({"truth": [[(0, 9)], [(3, 3), (3, 9)]]}, r"truth level 2, segment 1: \[3, 3\) has no length"),
    ({"truth": []}, "truth has no level"),
    ({"truth": [[(0, 9)], []]}, "truth level 2 has no segments"),
    ({"truth": [[(0, 4.5), (4.5, 9)]]}, "truth level 1 holds fractions"),
    ({"truth": [[("a", "b")]]}, "truth level 1 holds values of type"),
    ({"truth": [[(0, 9, 1)]]}, r"truth level 1 has the shape \(1, 3\)"),
    ({"window": 0}, "window 0 is shorter than one frame"),
    ({"window": 2.5}, "window is 2.5"),
    ({"frame": 0}, "frame is 0"),
    ({"frame": 0.5}, "frame is 0.5"),
    ({"depth": 0}, "depth cutoff 0 leaves no level"),
    ({"gain": "all"}, "gain is 'all'"),
    ({"gain": [0, -1]}, "gain is"),
    ({"frames": "seconds"}, "frames is 'seconds'"),
    ({"span": (0, 8)}, r"truth level 1 covers \[0, 9\), which leaves the span \[0, 8\)"),
    ({"span": (8, 8)}, r"the span \[8, 8\) has no length"),
    ({"frames": "mir_eval", "truth": [[(1.0, 9.0)]], "prediction": [[(1.0, 9.0)]]}, "starts at 1.0"),
]


@pytest.mark.parametrize(("change", "text"), BAD)
def test_bad_input_is_refused_with_its_place(change, text):
    case = {"truth": [[(0, 9)]], "prediction": [[(0, 9)]]} | change
    with pytest.raises(InputError, match=text):
        t_measure(case.pop("truth"), case.pop("prediction"), **case)


def test_labels_that_do_not_count_the_rows_are_refused():
    with pytest.raises(InputError, match="prediction level 1 has 1 segments but 2 labels"):
        l_measure([[(0, 9)]], [["a"]], [[(0, 9)]], [["a", "b"]])
    with pytest.raises(InputError, match="truth has 1 levels but labels for 0"):
        l_measure([[(0, 9)]], [], [[(0, 9)]], [["a"]])

"""Boundary detection and deviation against the literal oracle and against published numbers."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import boundary as oracle
from streamgauge.boundary import boundaries, detection, deviation
from streamgauge.errors import InputError
from streamgauge.hierarchy import fit_span


def chain(cuts: set[int]) -> list[tuple[int, int]]:
    times = sorted(cuts)
    return list(itertools.pairwise(times))


cuts = st.sets(st.integers(0, 60), min_size=2, max_size=14).map(chain)


def labelled_rows(path):
    rows = []
    for line in path.read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            start, end = line.split("\t")[:2]
            rows.append((float(start), float(end)))
    return np.array(rows)


@given(cuts, cuts, st.integers(0, 12), st.booleans())
def test_hits_are_the_largest_matching_at_every_tolerance(truth, prediction, tolerance, trim):
    a, b = oracle.boundaries(truth, trim), oracle.boundaries(prediction, trim)
    (found,) = detection(truth, prediction, tolerance, trim=trim)
    assert (found.truth, found.prediction) == (len(a), len(b))
    assert found.hits == oracle.hits(a, b, tolerance)
    if a and b:
        assert found.precision == found.hits / len(b)
        assert found.recall == found.hits / len(a)
    else:
        assert (found.precision, found.recall, found.f) == (0.0, 0.0, 0.0)


@given(cuts, cuts, st.booleans())
def test_deviations_are_medians_of_the_nearest_distance_both_ways(truth, prediction, trim):
    expected = oracle.deviation(oracle.boundaries(truth, trim), oracle.boundaries(prediction, trim))
    found = deviation(truth, prediction, trim=trim)
    if expected is None:
        assert found.truth_to_prediction is None and found.prediction_to_truth is None
    else:
        assert (found.truth_to_prediction, found.prediction_to_truth) == tuple(float(x) for x in expected)


def test_a_tolerance_is_inclusive():
    assert detection([(0, 10)], [(3, 13)], 3)[0].hits == 2
    assert detection([(0, 10)], [(3, 13)], 2)[0].hits == 0


def test_a_boundary_is_matched_at_most_once():
    found = detection([(0, 10), (10, 20)], [(0, 9), (9, 10), (10, 11), (11, 20)], 1)[0]
    assert (found.hits, found.precision, found.recall) == (3, 3 / 5, 1.0)


def test_gaps_give_two_boundaries_and_touching_segments_one():
    assert boundaries([(0, 4), (4, 8), (10, 12)]).tolist() == [0, 4, 8, 10, 12]


def test_results_come_in_the_order_of_the_tolerances():
    assert [d.tolerance for d in detection([(0, 5)], [(0, 6)], [3, 0, 1])] == [3, 0, 1]


@pytest.mark.parametrize(
    ("segments", "text"),
    [
        ([(0, 5), (5, 5)], r"truth, segment 2: \[5, 5\) has no length"),
        ([(0, 5, 6)], "truth has the shape"),
        ([(0.0, float("nan"))], "truth, segment 1: start or end is not a finite number"),
    ],
)
def test_bad_segments_are_refused_by_name(segments, text):
    with pytest.raises(InputError, match=text):
        detection(segments, [(0, 5)], 1)


def test_a_negative_tolerance_is_refused():
    with pytest.raises(InputError, match="tolerance is -1"):
        detection([(0, 5)], [(0, 5)], -1)


@pytest.mark.parametrize("case", range(10))
def test_published_boundary_numbers_are_reproduced(shared, case):
    folder = shared / "data" / "mir_eval" / "segment"
    truth = labelled_rows(folder / f"ref{case:02}.lab")
    prediction = labelled_rows(folder / f"est{case:02}.lab")
    expected = json.loads((folder / f"output{case:02}.json").read_text())
    # The published numbers come from annotations that were first fitted to 0 and the truth's end.
    (truth, prediction), _ = fit_span([truth, prediction], (0.0, truth[:, 1].max()))
    for found in detection(truth, prediction, [0.5, 3.0]):
        name = f"@{found.tolerance:.1f}"
        assert found.precision == pytest.approx(expected["Precision" + name], abs=1e-12)
        assert found.recall == pytest.approx(expected["Recall" + name], abs=1e-12)
        assert found.f == pytest.approx(expected["F-measure" + name], abs=1e-12)
    found = deviation(truth, prediction)
    assert found.truth_to_prediction == pytest.approx(expected["Ref-to-est deviation"], abs=1e-12)
    assert found.prediction_to_truth == pytest.approx(expected["Est-to-ref deviation"], abs=1e-12)

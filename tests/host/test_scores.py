"""What scores are when there is nothing to count."""

from __future__ import annotations

import math

import numpy as np
import pytest

from streamgauge import scores
from streamgauge.errors import InputError
from streamgauge.scores import Stat


def test_a_label_absent_from_the_truth_has_no_recall() -> None:
    assert np.isnan(scores.share_of_truth(np.array([0]), np.array([0]))).all()


def test_a_missed_label_has_precision_0_and_an_absent_one_has_none() -> None:
    got = scores.share_of_predicted(np.array([0, 0, 3]), np.array([5, 0, 4]), np.array([0, 0, 6]))
    assert got[[0, 2]].tolist() == [0, 0.5]
    assert np.isnan(got[1])


def test_f1_is_0_of_two_zeros_and_missing_where_one_is_missing() -> None:
    got = scores.label_f1(np.array([0, 0.5, np.nan, 1]), np.array([0, 1, 1, np.nan]))
    assert got[:2].tolist() == [0, pytest.approx(2 / 3)]
    assert np.isnan(got[2:]).all()
    assert scores.harmonic(0.0, 0.0) == 0
    assert scores.harmonic(None, 1.0) is None
    assert scores.harmonic(1.0, None) is None


def test_averages_leave_out_what_is_not_a_number_and_null_on_request() -> None:
    values = np.array([1, np.nan, 0.5, 0])
    assert scores.average(values) == 0.5
    assert scores.average(values, include_null=False) == 0.25
    assert scores.average(np.array([1, np.nan]), include_null=False) is None
    assert scores.average(np.array([])) is None


def test_weights_count_a_label_more_or_not_at_all() -> None:
    values = np.array([1, 0.5, np.nan, 0])
    assert scores.average(values, np.array([1.0, 2, 9, 1])) == 0.5
    assert scores.average(values, np.array([0.0, 2, 9, 0])) == 0.5
    assert scores.average(values, np.array([0.0, 0, 9, 0])) is None


@pytest.mark.parametrize("weights", [[1, 1], [1, -1, 1], [1, math.nan, 1], [math.inf, 1, 1], [0, 0, 0], 1])
def test_weights_that_weigh_nothing_are_refused(weights: object) -> None:
    with pytest.raises(InputError, match="label weights"):
        scores.label_weights(weights, 3)


def test_statistics_of_values_are_the_populations() -> None:
    assert Stat.of([]) == Stat(0, None, None, None, None)
    assert Stat.of([3]) == Stat(1, 3, 0, 3, 3)
    assert Stat.of([1, 2, 3, 6]) == Stat(4, 3, math.sqrt(3.5), 1, 6)


def test_the_spread_of_large_values_keeps_its_digits() -> None:
    assert Stat.of(2**50 + np.array([1, 2, 3, 6])).std == pytest.approx(math.sqrt(3.5), rel=1e-12)

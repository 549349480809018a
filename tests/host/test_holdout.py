"""Scoring a fixed labelled set beside the stream."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import holdout as oracle
from streamgauge.errors import InputError
from streamgauge.holdout import Holdout


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=80))
def test_accuracy_is_the_share_of_items_with_the_right_label(items):
    truth, prediction = zip(*items, strict=True)
    holdout = Holdout(list(truth))
    assert holdout.score(list(prediction), 10) == oracle.accuracy(list(truth), list(prediction))


def test_the_set_is_due_again_a_fixed_number_of_records_after_it_was_scored():
    holdout = Holdout([1, 2, 3], every=5)
    scored = [5, 12]
    due = []
    for records in range(1, 20):
        if holdout.due(records):
            due.append(records)
        if records in scored:
            holdout.score([1, 2, 0], records)
    assert due == oracle.due_after(5, scored, 19) == [5, 10, 11, 12, 17, 18, 19]


def test_history_is_bounded_and_keeps_the_prequential_figure_beside():
    holdout = Holdout(np.array([1, 1, 2, 2]), every=100, capacity=3)
    for turn in range(1, 6):
        holdout.score([1, 1, 2, turn], 100 * turn, prequential=turn / 10)
    assert holdout.scored == 5
    assert [(s.records, s.correct, s.prequential) for s in holdout.history] == [
        (300, 3, 0.3),
        (400, 3, 0.4),
        (500, 3, 0.5),
    ]
    assert holdout.history[0].accuracy == 0.75
    holdout.reset()
    assert (holdout.scored, len(holdout.history), holdout.due(100)) == (0, 0, True)


def test_the_half_width_is_hoeffdings():
    assert Holdout(np.ones(200)).half_width(0.05) == pytest.approx(math.sqrt(math.log(40) / 400))


def test_the_set_is_copied():
    labels = np.array([1, 2])
    holdout = Holdout(labels)
    labels[:] = 0
    assert holdout.score([1, 2], 1) == 1.0


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Holdout([]), "empty"),
        (lambda: Holdout([1, 255]), "item 1 of the holdout set"),
        (lambda: Holdout([1], every=0), "every"),
        (lambda: Holdout([1, 2]).score([1], 5), "1 predictions for 2 holdout items"),
    ],
)
def test_an_unusable_set_or_answer_is_refused(make, words):
    with pytest.raises(InputError, match=words):
        make()


def test_time_does_not_go_back():
    holdout = Holdout([1])
    holdout.score([1], 50)
    with pytest.raises(InputError, match="last scored after 50"):
        holdout.score([1], 49)

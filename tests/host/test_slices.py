"""The host's slices against golden strings, the tick-by-tick oracle, and the identities they keep."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import cases
from oracles import slices as oracle
from streamgauge.errors import InputError
from streamgauge.segments import Segments
from streamgauge.slices import COLUMNS, Pieces, Slices, slices


def of_text(truth: str, prediction: str, labels: int = 3, **options: object) -> Slices:
    """Slices of two strings, a character a tick: '.' is NULL, '?' UNKNOWN, A the first label."""
    series = [
        [{".": 0, "?": 255}.get(sign, ord(sign) - ord("A") + 1) for sign in text]
        for text in (truth, prediction)
    ]
    return slices(Segments.from_labels(series[0]), Segments.from_labels(series[1]), labels, **options)


def golden_cases(shared: Path) -> list[dict]:
    return json.loads((shared / "golden" / "slices_cases.json").read_text())["cases"]


def test_the_golden_strings_fall_into_their_categories(shared: Path) -> None:
    known = golden_cases(shared)
    assert len(known) >= 18
    for case in known:
        assert of_text(case["truth"], case["prediction"]).totals == case["totals"], case["name"]


def assert_same(got: Slices, truth: list[int], prediction: list[int], labels: int) -> None:
    want = oracle.counts(truth, prediction, labels)
    assert got.correct.tolist() == want["TP"]
    assert got.substituted_ground.tolist() == want["SG"]
    assert got.substituted_inferred.tolist() == want["SI"]
    assert got.deletion.tolist() == want["D"]
    assert got.underfill.tolist() == want["U"]
    assert got.fragmentation.tolist() == want["F"]
    assert got.insertion.tolist() == want["I"]
    assert got.overfill.tolist() == want["O"]
    assert got.merge.tolist() == want["M"]
    assert got.ground.tolist() == want["NG"]
    assert got.inferred.tolist() == want["NI"]
    assert got.totals == oracle.totals(truth, prediction)
    assert got.unknown == truth.count(255)
    assert got.known == len(truth) - got.unknown == sum(got.totals.values())


def assert_identities(got: Slices) -> None:
    real = slice(1, None)
    missed = got.deletion + got.underfill + got.fragmentation
    invented = got.insertion + got.overfill + got.merge
    assert (got.ground == got.correct + got.substituted_ground + missed)[real].all()
    assert (got.inferred == got.correct + got.substituted_inferred + invented)[real].all()
    assert got.ground[0] == got.correct[0] + invented.sum()
    assert got.inferred[0] == got.correct[0] + missed.sum()
    assert missed[0] == invented[0] == 0
    assert not got.substituted[0].any() and not got.substituted[:, 0].any()
    assert not np.diagonal(got.substituted).any()


def test_two_thousand_random_pairs_agree_with_the_ticks_counted_one_by_one() -> None:
    random = Random(2011)
    seen: dict[str, int] = {}
    for _ in range(2_000):
        labels = random.choice((2, 3, 4))
        span = random.randint(1, 50)
        truth = cases.partition(random, span, labels=labels, unknown=random.choice((0, 0.2)))
        prediction = cases.partition(random, span, labels=labels)
        got = slices(Segments.from_rows(truth), Segments.from_rows(prediction), labels)
        assert_same(got, cases.per_tick(truth), cases.per_tick(prediction), labels)
        assert_identities(got)
        for name, ticks in got.totals.items():
            seen[name] = seen.get(name, 0) + ticks
    assert min(seen.values()) > 300, seen


@given(st.data())
def test_any_pair_of_label_series_agrees_with_the_oracle(data: st.DataObject) -> None:
    span = data.draw(st.integers(1, 24))
    truth = data.draw(st.lists(st.sampled_from((0, 1, 2, 255)), min_size=span, max_size=span))
    prediction = data.draw(st.lists(st.sampled_from((0, 1, 2)), min_size=span, max_size=span))
    got = slices(Segments.from_labels(truth), Segments.from_labels(prediction), 3)
    assert_same(got, truth, prediction, 3)
    assert_identities(got)
    for include_null in (True, False):
        options = {"include_null": include_null}
        averaged = slices(Segments.from_labels(truth), Segments.from_labels(prediction), 3, **options)
        for value, want in zip(
            (averaged.precision, averaged.recall),
            oracle.precision_recall(truth, prediction, 3, include_null),
            strict=True,
        ):
            assert value == (None if want is None else pytest.approx(float(want), abs=1e-12))


def test_a_longer_tick_count_scales_every_category() -> None:
    random = Random(1)
    truth, prediction = (cases.partition(random, 200, labels=4) for _ in range(2))
    coarse = slices(Segments.from_rows(truth), Segments.from_rows(prediction), 4)
    fine = slices(
        *(
            Segments.from_rows([(label, 60 * start, 60 * end) for label, start, end in rows])
            for rows in (truth, prediction)
        ),
        4,
    )
    assert fine.totals == {name: 60 * ticks for name, ticks in coarse.totals.items()}
    assert fine.matrix == coarse.matrix


def test_rows_that_cut_a_visit_in_two_are_still_one_visit() -> None:
    whole = slices(Segments.from_rows([(1, 0, 10)]), Segments.from_rows([(0, 0, 8), (1, 8, 10)]), 2)
    cut = slices(Segments.from_rows([(1, 0, 4), (1, 4, 10)]), Segments.from_rows([(0, 0, 8), (1, 8, 10)]), 2)
    assert cut.totals == whole.totals == {**dict.fromkeys("SDIOFM", 0), "correct": 2, "U": 8}


def test_unknown_time_between_two_hits_ends_both_visits() -> None:
    got = of_text("AAA??AAA", "A....A..", labels=2)
    assert got.totals == {**dict.fromkeys("SDIOFM", 0), "correct": 2, "U": 4}
    got = of_text("..A??A..", "AAAAAAAA", labels=2)
    assert got.totals == {**dict.fromkeys("SDIUFM", 0), "correct": 2, "O": 4}
    assert (got.known, got.unknown) == (6, 2)


def test_a_prediction_over_unknown_time_only_is_no_insertion() -> None:
    got = of_text("..???..", "..AAA..", labels=2)
    assert got.totals["I"] == 0
    assert got.accuracy == 1


def test_the_result_matrix_by_hand() -> None:
    """A is half missed, B half called A; the NULL at the end is half called B."""
    got = of_text("AAAABBBB....", "AA..AABBBB..")
    assert got.substituted.tolist() == [[0, 0, 0], [0, 0, 0], [0, 2, 0]]
    assert got.ground.tolist() == [4, 4, 4]
    assert got.inferred.tolist() == [4, 4, 4]
    assert got.label_precision.tolist() == [0.5, 0.5, 0.5]
    assert got.matrix["ground"] == pytest.approx(
        {"correct": 0.5, "substitution": 0.5 / 3, "occurrence": 0, "timing": 0.5 / 3, "segmentation": 0}
    )
    assert got.matrix["inferred"] == pytest.approx(
        {"correct": 0.5, "substitution": 0.5 / 3, "occurrence": 0, "timing": 0.5 / 3, "segmentation": 0}
    )
    assert got.matrix["average"] == pytest.approx(got.matrix["ground"])
    assert (got.precision, got.recall, got.f1, got.accuracy) == (0.5, 0.5, 0.5, 0.5)


def test_without_null_each_row_of_the_matrix_shares_out_all_ticks() -> None:
    random = Random(4)
    truth, prediction = (cases.partition(random, 300, labels=4) for _ in range(2))
    got = slices(Segments.from_rows(truth), Segments.from_rows(prediction), 4, include_null=False)
    assert (got.inferred > 0).all() and (got.ground > 0).all()
    assert sum(got.matrix["ground"].values()) == pytest.approx(1)
    assert sum(got.matrix["inferred"].values()) == pytest.approx(1)
    assert list(got.matrix["average"]) == list(COLUMNS)


def test_a_missed_label_lowers_precision_and_an_absent_one_does_not() -> None:
    got = of_text("AABB", "AA..", labels=4, include_null=False)
    assert got.precision == 0.5
    assert got.recall == 0.5
    assert np.isnan(got.label_precision[3]) and np.isnan(got.label_recall[3])


def test_an_invented_label_lowers_precision_and_has_no_recall() -> None:
    got = of_text("AA..", "AABB", labels=3, include_null=False)
    assert (got.precision, got.recall) == (0.5, 1)


def test_weights_change_averages_and_no_count() -> None:
    plain = of_text("AAAABBBB", "AAAA....", include_null=False)
    weighted = of_text("AAAABBBB", "AAAA....", include_null=False, weights=[0, 3, 1])
    assert plain.recall == 0.5
    assert weighted.recall == 0.75
    assert weighted.matrix["ground"]["occurrence"] == 0.25
    assert weighted.totals == plain.totals


def test_the_table_by_label_has_every_figure_and_none_for_what_is_not_defined() -> None:
    rows = of_text("AAAABBBB....", "AA..AABBBB..", labels=4).per_label
    assert rows[2] == {
        "label": 2,
        "ground": 4,
        "inferred": 4,
        "correct": 2,
        "S_ground": 2,
        "S_inferred": 0,
        "D": 0,
        "U": 0,
        "F": 0,
        "I": 0,
        "O": 2,
        "M": 0,
        "precision": 0.5,
        "recall": 0.5,
        "f1": 0.5,
    }
    assert (rows[3]["precision"], rows[3]["recall"], rows[3]["f1"]) == (None, None, None)
    assert json.loads(json.dumps(rows)) == rows


def test_no_time_at_all_gives_no_scores() -> None:
    for got in (slices(Segments.empty(), Segments.empty(), 2), of_text("???", "A.A", labels=2)):
        assert sum(got.totals.values()) == 0
        assert (got.accuracy, got.precision, got.recall, got.f1) == (None, None, None, None)
        assert set(got.matrix["average"].values()) == {None}


def test_the_pieces_are_the_common_refinement() -> None:
    got = Pieces.of(Segments.from_rows([(1, 2, 6), (0, 6, 9)]), Segments.from_rows([(0, 2, 4), (1, 4, 9)]))
    assert got.start.tolist() == [2, 4, 6]
    assert got.length.tolist() == [2, 2, 3]
    assert got.truth.tolist() == [1, 1, 0]
    assert got.prediction.tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    ("truth", "prediction", "why"),
    [
        ([(1, 0, 4), (1, 5, 9)], [(1, 0, 9)], "truth segment 0 ends at 4 and the next one starts at 5"),
        ([(1, 0, 9)], [(1, 0, 5), (1, 4, 9)], "prediction segment 0 ends at 5"),
        ([(1, 0, 9)], [(1, 0, 8)], "one span"),
        ([(1, 0, 9)], [], "one span"),
        ([(3, 0, 9)], [(1, 0, 9)], "truth holds label 3"),
        ([(1, 0, 9)], [(255, 0, 9)], "prediction holds label 255"),
        ([(1, 0, 9), (2, 9, 9)], [(1, 0, 9)], "empty segment"),
    ],
)
def test_what_has_no_label_at_every_tick_is_refused(truth: list, prediction: list, why: str) -> None:
    with pytest.raises(InputError, match=why):
        slices(Segments.from_rows(truth), Segments.from_rows(prediction), 3)

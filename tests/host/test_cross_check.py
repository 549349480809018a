"""Real recordings against programs of others (pyannote.metrics, ward-metrics) and the full matrix.

pyannote's identification error counts, per instant, what is said of two annotations without any category of
time: confusion, missed detection, false alarm, correct. NULL is the absence of an annotation there. So

- substitution S is its confusion,
- D + U + F its missed detection,
- I + O + M its false alarm,
- what is correct but not NULL its correct.

ward-metrics (Ward, Lukowicz, Gellersen 2011) names the same frames for one class against the rest, and its
categories D, F, I, M, underfill and overfill are those of the slices where there is one class. The
differences in definition that stay: it tells underfill and overfill at the start (Us, Os) from those at the
end (Ue, Oe), which are added here; it has no substitution, since with one class there is none (with several
it would call a substituted frame both a miss of one and an insertion of the other class, and so would not
count what the slices count); and its true negatives are what is NULL in both from the first event to the
last, as the correct NULL ticks are here. Its rates divide by the frames of all positives or negatives, not
label by label, and its event scores have no counterpart.
"""

from __future__ import annotations

import csv
import gzip
import json
from datetime import datetime
from fractions import Fraction
from pathlib import Path

import pytest
from pyannote.core import Annotation, Segment, Timeline
from pyannote.metrics.identification import IdentificationErrorRate

from oracles import align as oracle
from streamgauge.align import align
from streamgauge.segments import Segments, clip, fill_gaps
from streamgauge.slices import Slices, slices

Named = list[tuple[str, int, int]]

NULL = "NULL"


def assess(truth: Named, prediction: Named) -> tuple[Slices, Segments, Segments]:
    """Slices of two lists of named segments over their common span, and the sequences compared."""
    names = [NULL, *sorted({name for name, _, _ in truth + prediction} - {NULL})]
    span = min(start for _, start, _ in truth + prediction), max(end for _, _, end in truth + prediction)
    filled = [
        fill_gaps(Segments.from_rows([(names.index(name), start, end) for name, start, end in rows]), span)
        for rows in (truth, prediction)
    ]
    return slices(*filled, len(names)), *filled


def annotation(segs: Segments, begin: int, end: int) -> Annotation:
    told = Annotation()
    for label, start, stop in segs:
        if label and start < end and stop > begin:
            told[Segment(max(start, begin), min(stop, end))] = str(label)
    return told


def pyannote_totals(truth: Segments, prediction: Segments, part: int) -> dict[str, int]:
    """pyannote's sums, window by window: its time grows with the square of the segments it is given."""
    metric = IdentificationErrorRate()
    begin, stop = int(truth.start[0]), int(truth.end[-1])
    for low in range(begin, stop, part):
        high = min(low + part, stop)
        metric(
            annotation(truth, low, high),
            annotation(prediction, low, high),
            uem=Timeline([Segment(low, high)]),
        )
    return {
        name: metric[name] for name in ("confusion", "missed detection", "false alarm", "correct", "total")
    }


def assert_same_totals(got: Slices, truth: Segments, prediction: Segments, part: int = 10**9) -> None:
    totals = got.totals
    want = pyannote_totals(truth, prediction, part)
    assert totals["S"] == want["confusion"]
    assert totals["D"] + totals["U"] + totals["F"] == want["missed detection"]
    assert totals["I"] + totals["O"] + totals["M"] == want["false alarm"]
    assert got.correct[1:].sum() == want["correct"]
    assert got.ground[1:].sum() == want["total"]


def house_a(shared: Path) -> tuple[Named, Named]:
    def rows(name: str) -> Named:
        with (shared / "data" / "kasteren" / name).open(newline="") as file:
            return [(row["label"], int(row["start"]), int(row["end"])) for row in csv.DictReader(file)]

    return rows("A_minutes_truth.csv"), rows("A_minutes_hmm.csv")


def ward(shared: Path, case: str) -> tuple[Named, Named]:
    def seconds(text: str) -> int:
        return int((datetime.fromisoformat(text) - datetime(2011, 1, 1)).total_seconds())

    def rows(name: str) -> Named:
        with (shared / "data" / "ward" / name).open(newline="") as file:
            return [
                (row["label"], seconds(row["start"]), seconds(row["end"]))
                for row in csv.DictReader(file, delimiter="\t")
            ]

    return rows(f"ward_{case}_real.tsv"), rows(f"ward_{case}_pred.tsv")


def salami(shared: Path, track: str, silence: str) -> tuple[Named, Named]:
    """Two annotators' coarse levels in milliseconds; `silence` names silent time, NULL or a label."""

    def rows(annotator: int) -> Named:
        path = shared / "data" / "salami" / track / "parsed" / f"textfile{annotator}_uppercase.txt"
        marks = [line.split("\t") for line in path.read_text().splitlines() if line]
        times = [int(float(time) * 1000 + 0.5) for time, _ in marks]
        names = [silence if name.lower() == "silence" else name for _, name in marks]
        told = list(zip(names[:-1], times[:-1], times[1:], strict=True))
        return [row for row in told if row[1] < row[2]]

    return rows(1), rows(2)


def test_house_a_agrees_with_pyannote(shared: Path) -> None:
    got, truth, prediction = assess(*house_a(shared))
    assert got.known == 37_440
    assert_same_totals(got, truth, prediction)
    assert min(got.totals.values()) > 0


@pytest.mark.parametrize("case", ["a", "b"])
def test_the_ward_recordings_agree_with_pyannote(shared: Path, case: str) -> None:
    assert_same_totals(*assess(*ward(shared, case)))


@pytest.mark.parametrize("silence", [NULL, "silence"])
@pytest.mark.parametrize("track", ["10", "100", "1000", "636"])
def test_two_annotators_of_a_song_agree_with_pyannote(shared: Path, track: str, silence: str) -> None:
    got, truth, prediction = assess(*salami(shared, track, silence))
    assert got.known > 100_000
    assert_same_totals(got, truth, prediction)


@pytest.mark.parametrize("model", ["naive_bayes", "hoeffding_tree"])
@pytest.mark.parametrize("first_label", [0, 1])
def test_the_electricity_stream_agrees_with_pyannote(shared: Path, model: str, first_label: int) -> None:
    """With 0 the falling price is NULL, and the other one comes and goes; with 1 both are labels."""
    with gzip.open(shared / "data" / "streams" / "elec2_nb_ht.csv.gz", "rt", newline="") as file:
        records = list(csv.DictReader(file))
    truth = Segments.from_labels([int(row["truth"]) + first_label for row in records])
    prediction = Segments.from_labels([int(row[model]) + first_label for row in records])
    got = slices(truth, prediction, 3)
    assert got.known == 45_312
    assert got.accuracy == pytest.approx({"naive_bayes": 0.72875, "hoeffding_tree": 0.79849}[model], abs=5e-6)
    assert_same_totals(got, truth, prediction, part=1_000)


@pytest.mark.parametrize("case", ["a", "b"])
def test_the_ward_recordings_agree_with_ward_metrics(shared: Path, case: str) -> None:
    given = json.loads((shared / "data" / "ward" / "wardmetrics_0.9.5.json").read_text())
    want = given["results"][f"wardpaper_{case}"]["segment_counts"]
    got, *_ = assess(*ward(shared, case))
    assert got.correct.tolist() == [want["TN"], want["TP"]]
    assert got.totals == {
        "correct": want["TN"] + want["TP"],
        "S": 0,
        "D": want["D"],
        "I": want["I"],
        "U": want["Us"] + want["Ue"],
        "O": want["Os"] + want["Oe"],
        "F": want["F"],
        "M": want["M"],
    }


def assert_aligned_as_by_the_full_matrix(truth: Segments, prediction: Segments) -> None:
    labels = int(max(truth.label.max(), prediction.label.max())) + 1
    want = oracle.align(list(truth), list(prediction), labels=labels)
    got = align(truth, prediction, labels=labels)
    assert [tuple(pair) for pair in got.matches.tolist()] == want.matches
    assert got.confusion.tolist() == want.confusion
    assert abs(Fraction(got.distance) - want.distance) < Fraction(1, 10**12)


def test_a_week_of_house_a_is_aligned_as_by_the_full_matrix(shared: Path) -> None:
    _, truth, prediction = assess(*house_a(shared))
    week = 7 * 24 * 60
    cut = [clip(segs, 0, week) for segs in (truth, prediction)]
    assert min(map(len, cut)) > 70
    assert_aligned_as_by_the_full_matrix(*cut)


@pytest.mark.parametrize("case", ["a", "b"])
def test_the_ward_recordings_are_aligned_as_by_the_full_matrix(shared: Path, case: str) -> None:
    assert_aligned_as_by_the_full_matrix(*assess(*ward(shared, case))[1:])


@pytest.mark.parametrize("track", ["10", "100", "1000", "636"])
def test_two_annotators_of_a_song_are_aligned_as_by_the_full_matrix(shared: Path, track: str) -> None:
    assert_aligned_as_by_the_full_matrix(*assess(*salami(shared, track, NULL))[1:])


def test_house_a_agrees_with_a_count_of_its_minutes(shared: Path) -> None:
    """Without any other program: one pass over 37,440 pairs of names."""
    truth, prediction = (
        [name for name, start, end in rows for _ in range(end - start)] for rows in house_a(shared)
    )
    got, *_ = assess(*house_a(shared))
    pairs = list(zip(truth, prediction, strict=True))
    totals = got.totals
    assert totals["correct"] == sum(g == p for g, p in pairs)
    assert totals["S"] == sum(g != p and NULL not in (g, p) for g, p in pairs)
    assert totals["D"] + totals["U"] + totals["F"] == sum(g != p == NULL for g, p in pairs)
    assert totals["I"] + totals["O"] + totals["M"] == sum(p != g == NULL for g, p in pairs)

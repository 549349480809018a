"""A second recogniser, confidences and a holdout set, from files."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamgauge.errors import InputError
from streamgauge.extras.others import read_others
from streamgauge.files import ReadOptions


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


@pytest.fixture
def series(tmp_path: Path) -> Path:
    return write(
        tmp_path,
        "stream.csv",
        "truth,a,b,sure,often\nx,x,y,0.5,255\nx,y,x,1,128\ny,y,y,0,0\nUNKNOWN,x,z,0.25,7\n",
    )


RATE = ReadOptions(rate=1, truth_column="truth", prediction_column="a")


def test_a_column_is_the_second_recogniser_and_its_labels_join_the_task(series: Path) -> None:
    recording, others = read_others(series, series, RATE, second_column="b")
    assert recording.task.labels == ("NULL", "x", "y", "z")
    assert others.names == ("a", "b")
    assert others.second is not None
    assert others.second.tolist() == [2, 1, 2, 3]
    assert [label for label, _, _ in recording.prediction] == [1, 2, 1]


def test_another_file_is_the_second_recogniser(tmp_path: Path) -> None:
    truth = write(tmp_path, "truth.csv", "0,4,x\n4,8,y\n")
    first = write(tmp_path, "first.csv", "0,5,x\n5,8,y\n")
    second = write(tmp_path, "second.csv", "2,4,w\n4,20,y\n")
    recording, others = read_others(truth, first, ReadOptions(), second=second)
    assert recording.span == (0, 8)  # the second one's own time does not matter
    assert recording.task.labels == ("NULL", "w", "x", "y")
    assert others.second is not None
    assert others.second.tolist() == [0, 0, 1, 1, 3, 3, 3, 3]
    assert others.names == ("first.csv", "second.csv")


def test_timestamps_mean_the_same_moment_in_every_file(tmp_path: Path) -> None:
    row = "2024-01-01 00:{}:00,2024-01-01 00:{}:00,x\n"
    truth = write(tmp_path, "truth.csv", row.format("05", "09"))
    first = write(tmp_path, "first.csv", row.format("06", "09"))
    second = write(tmp_path, "second.csv", row.format("02", "07"))
    recording, others = read_others(truth, first, ReadOptions(slice="60s"), second=second)
    assert recording.span == (0, 240)
    assert others.second is not None
    assert others.second.tolist() == [1, 1, 0, 0]


def test_confidences_are_shares_or_bytes(series: Path) -> None:
    _, others = read_others(series, series, RATE, confidence_column="sure")
    assert others.confidence is not None
    assert others.confidence.tolist() == [128, 255, 0, 64]
    _, others = read_others(series, series, RATE, confidence_column="often")
    assert others.confidence is not None
    assert others.confidence.tolist() == [255, 128, 0, 7]


@pytest.mark.parametrize(
    ("cells", "row"),
    [("0.5 1.2", 3), ("0.5 x", 3), ("200 256", 3), ("-1 0", 2), ("nan 1", 2), ("100 0.5", 3)],
)
def test_a_confidence_out_of_range_is_refused_with_its_row(tmp_path: Path, cells: str, row: int) -> None:
    a, b = cells.split()
    path = write(tmp_path, "s.csv", f"truth,a,sure\nx,x,{a}\nx,x,{b}\n")
    with pytest.raises(InputError, match=rf"s.csv, row {row}: the confidence is .* was expected") as caught:
        read_others(path, path, RATE, confidence_column="sure")
    assert repr(cells.split()[row - 2]) in str(caught.value)


def test_columns_need_a_rate(tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", "0,4,x\n")
    for option in ("second_column", "confidence_column"):
        with pytest.raises(InputError, match="holds? segments.*--rate"):
            read_others(path, path, ReadOptions(), **{option: "b"})  # type: ignore[arg-type]


def test_a_row_of_several_slices_gives_all_of_them_its_confidence(tmp_path: Path) -> None:
    path = write(tmp_path, "s.csv", "truth,a,sure\nx,x,10\nx,y,20\n")
    options = ReadOptions(rate=1, tick="250ms", slice="500ms", truth_column="truth", prediction_column="a")
    _, others = read_others(path, path, options, confidence_column="sure")
    assert others.confidence is not None
    assert others.confidence.tolist() == [10, 10, 20, 20]


def test_a_holdout_set_has_a_truth_and_its_scorings(series: Path, tmp_path: Path) -> None:
    held = write(tmp_path, "held.csv", "truth,2,3\nx,x,y\ny,w,y\n")
    recording, others = read_others(series, series, RATE, holdout=held)
    assert recording.task.labels == ("NULL", "w", "x", "y")
    assert others.holdout is not None
    assert others.holdout.truth.tolist() == [2, 3]
    assert [(n, labels.tolist()) for n, labels in others.holdout.scorings] == [(2, [2, 1]), (3, [3, 3])]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("truth\nx\n", "has no header of a truth and at least one scoring"),
        ("truth,soon\nx,x\n", "row 1: column 2 is headed 'soon'"),
        ("truth,9,5\nx,x,x\n", "row 1: column 3 is headed '5'"),
        ("truth,5\n", "has no rows"),
        ("truth,5\nx\n", "row 2: has 1 cells"),
        ("truth,5\nUNKNOWN,x\n", "row 2: column 1 is 'UNKNOWN'"),
    ],
)
def test_a_holdout_set_that_makes_no_sense_is_refused(
    series: Path, tmp_path: Path, text: str, message: str
) -> None:
    held = write(tmp_path, "held.csv", text)
    with pytest.raises(InputError, match=message):
        read_others(series, series, RATE, holdout=held)


def test_labels_that_are_given_bind_the_second_recogniser_too(series: Path) -> None:
    options = ReadOptions(rate=1, truth_column="truth", prediction_column="a", labels=("x", "y"))
    with pytest.raises(InputError, match="label 'z' is not in the task"):
        read_others(series, series, options, second_column="b")

"""Whatever is wrong with a file, the message names it, the row, what was expected and what to do."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.errors import InputError
from streamgauge.files import Notes, ReadOptions, Recording, read_pair

GOOD = "start,end,label\n0,10,a\n"


def read(folder: Path, truth: str | bytes, prediction: str | bytes = GOOD, **options: object) -> Recording:
    """Read two texts as files."""
    for name, content in (("truth.csv", truth), ("prediction.csv", prediction)):
        data = content.encode() if isinstance(content, str) else content
        (folder / name).write_bytes(data)
    return read_pair(folder / "truth.csv", folder / "prediction.csv", ReadOptions(**options))  # type: ignore[arg-type]


def refused(folder: Path, truth: str | bytes, prediction: str | bytes = GOOD, **options: object) -> str:
    """The message for files that cannot be read, without the folder."""
    with pytest.raises(InputError) as caught:
        read(folder, truth, prediction, **options)
    return str(caught.value).replace(f"{folder}/", "")


ROWS = {
    "end before start": (
        "0,10,a\n12,11,b\n20,30,c\n",
        "truth.csv, row 2: ends at 11, before it starts (an end after the start was expected).",
    ),
    "no length": (
        "0,10,a\n12,12,b\n20,30,c\n",
        "truth.csv, row 2: ends when it starts, at 12 (an end after the start was expected). "
        "Correct it, or give --closed if rows mean [start, end].",
    ),
    "unordered": (
        "10,12,a\n9,11,b\n20,30,c\n",
        "truth.csv, row 2: starts at 9, before the row above it (later was expected). "
        "Sort the file, or have it sorted with --sort.",
    ),
    "not a number": (
        "0,10,a\n12,nan,b\n20,30,c\n",
        "truth.csv, row 2: end 'nan' is not a number (a whole number of ticks was expected).",
    ),
    "infinite": (
        "0.0,10,a\n12,inf,b\n20,30,c\n",
        "truth.csv, row 2: end 'inf' is not a number (a number of seconds was expected).",
    ),
    "negative": (
        "0,10,a\n-12,14,b\n20,30,c\n".replace("0,10,a\n-12,14,b", "-12,14,b\n0,10,a"),
        "truth.csv, row 1: start -12 is negative (0 or later was expected).",
    ),
    "no time": (
        "start,end,label\n0,10,a\nlater,14,b\n20,30,c\n",
        "truth.csv, row 3: start 'later' is not a time (a whole number of ticks was expected).",
    ),
    "no timestamp": (
        "2024-03-04 10:00,2024-03-04 10:01,a\n2024-03-04 10:02,25:61,b\n"
        "2024-03-04 10:03,2024-03-04 10:04,c\n",
        "truth.csv, row 2: end '25:61' is not a time (a timestamp such as 2008-02-25 00:22:46 was expected).",
    ),
    "no time zone": (
        "2024-03-04T10:00Z,2024-03-04T10:01Z,a\n2024-03-04T10:01,2024-03-04T10:02Z,b\n"
        "2024-03-04T10:03Z,2024-03-04T10:04Z,c\n",
        "truth.csv, row 2: start has no time zone, others have one.",
    ),
    "empty time": (
        "0,10,a\n12,,b\n20,30,c\n",
        "truth.csv, row 2: end is empty (a whole number of ticks was expected).",
    ),
    "half a tick given as ticks": (
        "0,10,a\n12.5,14,b\n20,30,c\n",
        "truth.csv, row 2: start '12.5' is not a time (a whole number of ticks was expected).",
    ),
    "no label": (
        "0,10,a\n12,14,\n20,30,c\n",
        "truth.csv, row 2: has no label (a name was expected).",
    ),
    "missing column": (
        "# comment\n0,10,a\n12,14\n20,30,c\n",
        "truth.csv, row 3: has 2 columns (at least 3 were expected).",
    ),
    "too many columns": (
        "0,10,a\n12,14,b,again\n20,30,c\n",
        "truth.csv, row 2: has 4 columns (3 as in the first row were expected). "
        "Quote a label that holds the delimiter.",
    ),
    "beyond the range": (
        f"0,10,a\n12,{2**53},b\n20,30,c\n",
        "truth.csv, row 2: has a time beyond the range (less than 2^53 ticks were expected). "
        "Choose a longer --tick.",
    ),
    "far beyond the range": (
        f"0,10,a\n12,{'9' * 60},b\n20,30,c\n",
        "truth.csv, row 2: has a time beyond the range (less than 2^53 ticks were expected). "
        "Choose a longer --tick.",
    ),
    "seconds beyond the range": (
        "0.5,10,a\n12,1e300,b\n20,30,c\n",
        "truth.csv, row 2: has a time beyond the range (less than 2^53 ticks were expected). "
        "Choose a longer --tick.",
    ),
    "shorter than a tick": (
        "0.5,10,a\n12.0001,12.0002,b\n20,30,c\n",
        "truth.csv, row 2: is shorter than half a tick and rounds to nothing. Choose a shorter --tick.",
    ),
}
OPTIONS = {"half a tick given as ticks": {"time": "ticks"}}
STAMPED = "start,end,label\n2024-03-04 10:00:00,2024-03-04 10:01:00,a\n"
PREDICTIONS = {"no timestamp": STAMPED, "no time zone": STAMPED.replace(":00,", ":00Z,")}


@pytest.mark.parametrize("case", ROWS)
def test_a_bad_row_is_named_with_what_was_expected(tmp_path: Path, case: str) -> None:
    text, message = ROWS[case]
    found = refused(tmp_path, text, PREDICTIONS.get(case, GOOD), **OPTIONS.get(case, {}))
    assert found == message or found == f"{message} Correct it, or skip such rows with --lenient."


@pytest.mark.parametrize("case", ROWS)
def test_lenient_reading_skips_the_bad_row_alone_and_says_why(tmp_path: Path, case: str) -> None:
    text, message = ROWS[case]
    prediction = PREDICTIONS.get(case, GOOD)
    recording = read(tmp_path, text, prediction, lenient=True, **OPTIONS.get(case, {}))
    assert recording.notes.skipped == 1
    (reason,) = recording.notes.skipped_rows
    assert message.startswith(reason.replace(f"{tmp_path}/", "").rstrip("."))
    kept = [label for label in recording.truth.label.tolist() if label]
    assert len(kept) == 2


def test_lenient_reading_counts_every_row_and_keeps_the_first_reasons(tmp_path: Path) -> None:
    rows = "".join(f"{i},{i + 1},a\n{i},{i},b\n" for i in range(50))
    notes: Notes = read(tmp_path, rows, lenient=True).notes
    assert notes.skipped == 50
    assert len(notes.skipped_rows) == 20
    assert "row 2:" in notes.skipped_rows[0]


def test_a_closed_row_may_have_no_length_but_may_not_end_before_it_starts(tmp_path: Path) -> None:
    assert len(read(tmp_path, "0,0,a\n4,4,b\n", closed=True).truth) > 0
    assert "row 2: ends at 3, before it starts" in refused(tmp_path, "0,0,a\n4,3,b\n", closed=True)


# Files ---------------------------------------------------------------------------------------------


def test_a_missing_file_a_directory_and_an_unreadable_one_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "good.csv").write_text(GOOD)
    with pytest.raises(InputError, match="nowhere.csv: does not exist"):
        read_pair(tmp_path / "nowhere.csv", tmp_path / "good.csv")
    with pytest.raises(InputError, match=r"is a directory \(a file was expected\)"):
        read_pair(tmp_path / "good.csv", tmp_path)
    with pytest.raises(InputError, match=r"cannot be read \(.*\)"):
        read_pair(tmp_path / ("x" * 300), tmp_path / "good.csv")


def test_binary_and_undecodable_files_are_no_text(tmp_path: Path) -> None:
    assert "truth.csv: is not a text file, it holds zero bytes" in refused(tmp_path, b"0,1,a\n\0\1\2")
    message = refused(tmp_path, "0,1,a\n1,2,K\xfcche\n".encode("latin-1"))
    assert message == "truth.csv, row 2: byte 0xfc is not text (UTF-8 was expected). Save the file as UTF-8."
    assert "is a damaged gzip file" in refused(tmp_path, gzip.compress(b"0,1,a\n" * 99)[:-9])


def test_an_unclosed_quote_is_named_where_it_opens(tmp_path: Path) -> None:
    message = refused(tmp_path, '0,1,a\n1,2,"b\n2,3,c\n')
    assert message.startswith("truth.csv, row 2: cannot be split into columns")
    assert "quotes" in message


def test_files_without_segments_are_refused(tmp_path: Path) -> None:
    nothing = "has no segments (rows of start, end and label were expected)."
    header = "start,end,label\n"
    for empty in ("", "# nothing\n", "\n \n", header):
        assert refused(tmp_path, empty) == f"truth.csv: {nothing}"
        assert refused(tmp_path, GOOD, empty).startswith(
            f"prediction.csv: {nothing} If nothing was predicted"
        )
        assert refused(tmp_path, empty, lenient=True) == f"truth.csv: {nothing}"
    assert refused(tmp_path, "", "", rate=1) == "truth.csv: has no rows (one label a row was expected)."
    message = refused(tmp_path, "3,1,a\n2,1,a\n", lenient=True)
    assert message.startswith("truth.csv: has no segments: all of its 2 rows were skipped. Read it without")


def test_nothing_predicted_is_allowed_when_lenient(tmp_path: Path) -> None:
    recording = read(tmp_path, GOOD, "", lenient=True)
    assert list(recording.prediction) == [(0, 0, 10)]
    assert any("nothing is predicted" in warning for warning in recording.notes.warnings)


# Columns -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "options", "parts"),
    [
        ("start,stopp,label\n0,1,a\n", {}, ("row 1: no end column among start, stopp, label", "--columns")),
        ("begin,end,color,size\n0,1,a,b\n", {}, ("row 1: no label column among begin, end, color, size",)),
        ("end,label\n1,a\n", {}, ("row 1: no start column among end, label",)),
        ("a,b,c\nd,e,f\n", {}, ("row 1: no column holds times, found a, b, c", "--rate")),
        ("a\nb\n", {}, ("row 1: has one column, 'a'", "--rate")),
        ("truth,model\n1,0\n", {}, ("row 1: no column among truth, model holds times", "--truth-column")),
        (
            GOOD,
            {"columns": ("start", "ende", "label")},
            ("has no column 'ende'", "Did you mean --columns end"),
        ),
        (GOOD, {"columns": (1, 2, 7)}, ("has no column 7 (its columns are start, end, label)",)),
        ("0,1,a\n", {"columns": (1, 2, 7)}, ("has no column 7 (it has no header and 3 columns)",)),
        ("0,1,a\n", {"columns": (1,)}, ("3 or 2 were expected",)),
        (GOOD, {"delimiter": "|"}, ("delimiter is '|'",)),
    ],
)
def test_a_wrong_column_is_named_with_the_option_that_helps(
    tmp_path: Path, text: str, options: dict[str, object], parts: tuple[str, ...]
) -> None:
    message = refused(tmp_path, text, **options)
    for part in parts:
        assert part in message


def test_labels_a_row_in_several_columns_need_a_choice(tmp_path: Path) -> None:
    text = "truth,nb\n1,0\n"
    message = refused(tmp_path, text, text, rate=1)
    assert message.startswith("truth.csv, row 1: has 2 columns, truth, nb (one label a row was expected).")
    assert message.endswith("Say which one with --truth-column truth.")
    message = refused(tmp_path, text, text, rate=1, truth_column="truth")
    assert "--prediction-column" in message
    assert "has no column 'tree'" in refused(tmp_path, text, text, rate=1, truth_column="tree")


def test_several_recordings_in_one_file_are_refused_with_an_example(tmp_path: Path) -> None:
    text = "x.wav,0,4,a\nx.wav,5,6,a\ny.wav,0,9,b\n"
    assert refused(tmp_path, text) == (
        "truth.csv, row 3: column 1 holds 2 recordings (one recording was expected). "
        "Pick one with --recording, for example --recording x.wav."
    )
    message = refused(tmp_path, text, text, recording="z.wav")
    assert message.startswith("truth.csv: no recording is named 'z.wav'")
    message = refused(tmp_path, text, "y.wav,0,1,a\n", recording="x.wav")
    assert message == (
        "prediction.csv: has no segments of recording 'x.wav'. If nothing was predicted, give --lenient."
    )


def test_a_last_label_without_an_end_is_refused_unless_the_span_ends_it(tmp_path: Path) -> None:
    text = "time,label\n0,a\n4,b\n"
    message = refused(tmp_path, text)
    assert message.startswith(
        "truth.csv, row 3: nothing says when 'b' ends (a last row with the time and End"
    )
    assert list(read(tmp_path, text, span=("0", "9")).truth) == [(1, 0, 4), (2, 4, 9)]


def test_times_out_of_order_in_a_file_of_points_name_the_later_row(tmp_path: Path) -> None:
    message = refused(tmp_path, "time,label\n0,a\n4,b\n3,c\n9,End\n")
    assert message.startswith("truth.csv, row 4: time 3 is before the row above it")
    message = refused(tmp_path, "time,label\n0,a\nx,b\n9,End\n")
    assert message.startswith("truth.csv, row 3: time 'x' is not a time")


def test_bad_speaker_turns_are_named(tmp_path: Path) -> None:
    good = "SPEAKER x 1 0 4 <NA> <NA> a <NA> <NA>\n"
    for line, part in (
        ("SPEAKER x 1 soon 4 <NA> <NA> a", "start 'soon' is not a time"),
        ("SPEAKER x 1 5 long <NA> <NA> a", "end 'long' is not a time"),
        ("SPEAKER x 1 5 -1 <NA> <NA> a", "ends at 4, before it starts"),
        ("SPEAKER x 1 5", "start is empty"),
    ):
        assert f"truth.csv, row 2: {part}" in refused(tmp_path, f"{good}{line}\n")


# Labels --------------------------------------------------------------------------------------------


def test_a_label_outside_the_task_is_named_in_segments_and_in_series(tmp_path: Path) -> None:
    expected = (
        "label 'c' is not in the task (one of NULL, a, b was expected). Correct it, or add it to --labels."
    )
    message = refused(tmp_path, "0,4,a\n4,9,c\n", labels=("a", "b"))
    assert message == f"truth.csv, row 2: {expected.replace('NULL, a, b', 'NULL, a, b, UNKNOWN')}"
    message = refused(tmp_path, "a\na\n", "a\nc\n", rate=1, labels=("a", "b"))
    assert message == f"prediction.csv, row 2: {expected}"


def test_unknown_may_be_true_but_not_predicted(tmp_path: Path) -> None:
    message = refused(tmp_path, "0,4,UNKNOWN\n", "0,2,a\n2,4,UNKNOWN\n")
    assert message.startswith("prediction.csv, row 2: predicts 'UNKNOWN', which only a truth can be")
    assert message.endswith("rename UNKNOWN with --unknown.")
    message = refused(tmp_path, "UNKNOWN\n", "UNKNOWN\n", rate=1)
    assert message.startswith("prediction.csv, row 1: predicts 'UNKNOWN'")


def test_three_hundred_labels_are_too_many(tmp_path: Path) -> None:
    message = refused(tmp_path, "".join(f"{i},{i + 1},L{i}\n" for i in range(300)))
    assert message.startswith("truth.csv, row 255: label 'L254' is one too many of 301 (an id is one byte")
    assert len(read(tmp_path, "".join(f"{i},{i + 1},L{i}\n" for i in range(253))).task.labels) == 255
    assert "300 labels are given" in refused(tmp_path, GOOD, labels=tuple(map(str, range(300))))


def test_labels_given_twice_or_named_unknown_are_refused(tmp_path: Path) -> None:
    assert "'a' is given twice" in refused(tmp_path, GOOD, labels=("a", "b", "a"))
    assert "'UNKNOWN' is UNKNOWN, no label" in refused(tmp_path, GOOD, labels=("a", "UNKNOWN"))
    assert "both named 'x'" in refused(tmp_path, GOOD, null="x", unknown="x")


# Overlaps ------------------------------------------------------------------------------------------


def test_overlapping_rows_can_be_refused_naming_both(tmp_path: Path) -> None:
    text = "start,end,label\n0,10,a\n10,20,b\n19,30,c\n25,40,d\n"
    assert refused(tmp_path, text, overlaps="refuse") == (
        "truth.csv, row 4: begins while row 3 still runs (one label at a time was expected). "
        "Correct one of them, or let the later one have the time with --overlaps flatten."
    )
    recording = read(tmp_path, text, overlaps="refuse", lenient=True)
    assert recording.notes.skipped == 1
    assert recording.notes.flattened_truth == 0


# Options -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"tick": 0}, "tick is 0 (a length of time above 0 was expected"),
        ({"tick": "5 fortnights"}, "tick is '5 fortnights'"),
        ({"tick": float("nan")}, "tick is nan"),
        ({"slice": "60s"}, "the length of a tick is not known"),
        ({"slice": "1.5s", "tick": 1}, "1.5 ticks (a whole number of ticks, at least 1, was expected)"),
        ({"slice": 0}, "0 ticks"),
        ({"rate": 0}, "rate is 0"),
        ({"rate": "often"}, "rate is 'often'"),
        ({"rate": 3, "tick": "0.5s"}, "a row lasts 0.666667 ticks"),
        ({"span": (9, 3)}, "span is 9 to 3 (an end after a start"),
        ({"span": ("x", "3")}, "span: 'x' is not a time"),
        ({"time": "soon"}, "time is 'soon' (expected auto, ticks, seconds or iso)"),
        ({"gaps": "none"}, "gaps is 'none'"),
        ({"overlaps": "none"}, "overlaps is 'none'"),
    ],
)
def test_an_impossible_option_is_named(tmp_path: Path, options: dict[str, object], part: str) -> None:
    assert part in refused(tmp_path, "0,10,a\n", **options)


def test_files_that_tell_time_differently_are_refused(tmp_path: Path) -> None:
    message = refused(tmp_path, STAMPED)
    assert "holds timestamps while" in message
    assert "prediction.csv holds numbers" in message


# Anything ------------------------------------------------------------------------------------------


@given(st.binary(max_size=60))
def test_whatever_bytes_a_file_holds_it_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    folder = tmp_path_factory.getbasetemp()
    for options in ({}, {"lenient": True}, {"rate": 1}, {"closed": True, "sort": True}):
        try:
            recording = read(folder, data, **options)
        except InputError as error:
            assert str(error).endswith(".")
        else:
            assert recording.truth.start[0] == recording.span[0]


@given(
    st.lists(
        st.lists(st.sampled_from(["0", "7", "2.5", "-1", "nan", "", "a", "End", '"']), max_size=4), max_size=5
    )
)
def test_whatever_cells_a_file_holds_it_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, cells: list[list[str]]
) -> None:
    folder = tmp_path_factory.getbasetemp()
    text = "\n".join(map(",".join, cells))
    for options in ({}, {"lenient": True, "sort": True}, {"rate": 1}, {"closed": True, "overlaps": "keep"}):
        for truth, prediction in ((text, GOOD), (text, text)):
            try:
                recording = read(folder, truth, prediction, **options)
            except InputError:
                continue
            covered = (recording.truth.end - recording.truth.start).sum()
            assert covered == recording.span[1] - recording.span[0]

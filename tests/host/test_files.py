"""Files as people have them become recordings: columns, times, labels, spans, and real recordings."""

from __future__ import annotations

import gzip
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.errors import InputError
from streamgauge.files import ReadOptions, Recording, read_pair
from streamgauge.reading import rows as rows_module
from streamgauge.reading.labels import natural_key
from streamgauge.reading.times import Clock, to_ticks
from streamgauge.segments import UNKNOWN, Row, flatten

PREDICTION = "0,10,a\n"


def read(folder: Path, truth: str, prediction: str = PREDICTION, **options: object) -> Recording:
    """Read two texts as files."""
    (folder / "truth.csv").write_text(truth)
    (folder / "prediction.csv").write_text(prediction)
    return read_pair(folder / "truth.csv", folder / "prediction.csv", ReadOptions(**options))  # type: ignore[arg-type]


def named(recording: Recording, side: str = "truth") -> list[tuple[str, int, int]]:
    """The segments with their labels' names."""
    names = {**dict(enumerate(recording.task.labels)), UNKNOWN: "UNKNOWN"}
    return [(names[label], start, end) for label, start, end in getattr(recording, side)]


# Columns -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "0,4,a\n6,10,b\n",
        "start,end,label\n0,4,a\n6,10,b\n",
        "Onset (s),Offset (s),Event label\n0,4,a\n6,10,b",
        "label,te,tb\na,4,0\nb,10,6\n",
        "0\t4\ta\n6\t10\tb\n",
        "0;4;a\n6;10;b\n",
        "# a comment\n0 4 a\n\n6   10  b\n",
        "0, 4, a\r\n6, 10, b\r\n",
        '"start","end","label"\n"0","4","a"\n"6","10","b"\n',
        "\ufeffstart,end,label\n0,4,a\n6,10,b\n",
        "x.wav,0,4,a\nx.wav,6,10,b\n",
        "filename\tonset\toffset\tevent_label\nx.wav\t0\t4\ta\nx.wav\t6\t10\tb\n",
        "start,end,activity,sensor_1,sensor_2\n0,4,a,0,1\n6,10,b,1,1\n",
        ",start,end,label\n0,0,4,a\n1,6,10,b\n",
        "time,label\n0,a\n4,NULL\n6,b\n10,End\n",
        "SPEAKER x 1 0 4 <NA> <NA> a <NA> <NA>\nSPEAKER x 1 6 4 <NA> <NA> b <NA> <NA>\n",
        "von,bis,was\n0,4,a\n6,10,b\n",
        "file,start,end,what\nx.wav,0,4,a\nx.wav,6,10,b\n",
        "SPKR-INFO x 1 <NA>\nSPEAKER x 1 0 4 <NA> <NA> a <NA> <NA>\nSPEAKER x 1 6 4 <NA> <NA> b <NA> <NA>\n",
    ],
)
def test_columns_are_found_in_any_common_form(tmp_path: Path, text: str) -> None:
    recording = read(tmp_path, text)
    assert named(recording) == [("a", 0, 4), ("NULL", 4, 6), ("b", 6, 10)]
    assert recording.span == (0, 10)
    assert named(recording, "prediction") == [("a", 0, 10)]


def test_a_header_without_a_known_name_is_noted(tmp_path: Path) -> None:
    recording = read(tmp_path, "von,bis,was\n0,4,a\n")
    assert any("row 1: taken as a header, von, bis, was" in warning for warning in recording.notes.warnings)


def test_columns_can_be_named_or_numbered(tmp_path: Path) -> None:
    text = "who,from,until,what,score\nx,0,4,a,9\nx,6,10,b,9\n"
    for columns in (("from", "until", "what"), ("2", "3", "4"), (2, 3, 4)):
        recording = read(tmp_path, text, text, columns=columns)
        assert named(recording) == [("a", 0, 4), ("NULL", 4, 6), ("b", 6, 10)]


def test_a_label_may_hold_blanks_commas_and_quoted_delimiters(tmp_path: Path) -> None:
    assert named(read(tmp_path, "0 4 watching TV\n4 10 Outro (fade-out), b\n")) == [
        ("watching TV", 0, 4),
        ("Outro (fade-out), b", 4, 10),
    ]
    assert named(read(tmp_path, '0,4,"kitchen, cooking"\n4,10,"two\nlines"\n')) == [
        ("kitchen, cooking", 0, 4),
        ("two\nlines", 4, 10),
    ]


def test_one_of_several_recordings_is_picked_by_name(tmp_path: Path) -> None:
    truth = "x.wav\t0\t4\ta\ny.wav\t0\t9\tb\nx.wav\t6\t10\tb\n"
    recording = read(tmp_path, truth, recording="x.wav")
    assert named(recording) == [("a", 0, 4), ("NULL", 4, 6), ("b", 6, 10)]


def test_gzipped_and_utf16_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(b"0,4,a\n"))
    (tmp_path / "p.txt").write_bytes("0\t4\tKüche\n".encode("utf-16"))
    recording = read_pair(tmp_path / "t.csv.gz", tmp_path / "p.txt")
    assert named(recording, "prediction") == [("Küche", 0, 4)]


# Times ---------------------------------------------------------------------------------------------


def test_whole_numbers_are_ticks_of_no_known_length(tmp_path: Path) -> None:
    task = read(tmp_path, "0,4,a\n").task
    assert (task.tick_seconds, task.slice_ticks, task.origin) == (None, 1, None)
    task = read(tmp_path, "0,4,a\n", tick="20ms", slice="1s").task
    assert (task.tick_seconds, task.slice_ticks) == (0.02, 50)


def test_one_decimal_in_either_file_makes_all_times_seconds(tmp_path: Path) -> None:
    recording = read(tmp_path, "0,4,a\n", "0,9.5,a\n")
    assert recording.task.tick_seconds == 0.001
    assert recording.task.slice_ticks == 100
    assert named(recording) == [("a", 0, 4000), ("NULL", 4000, 9500)]


def test_timestamps_count_from_the_earliest_of_both_files(tmp_path: Path) -> None:
    truth = "25-Feb-2008 00:22:46,25-Feb-2008 00:22:56,a\n"
    recording = read(tmp_path, truth, "2008-02-25T00:22:40,2008-02-25 00:22:50,a\n")
    assert recording.task.origin == "2008-02-25T00:22:40"
    assert (recording.task.tick_seconds, recording.task.slice_ticks) == (1.0, 60)
    assert named(recording) == [("NULL", 0, 6), ("a", 6, 16)]


def test_timestamps_with_a_fraction_get_ticks_of_a_millisecond(tmp_path: Path) -> None:
    stamps = "2008/02/25 00:00:00.250,2008/02/25 00:00:01,a\n"
    recording = read(tmp_path, stamps, stamps)
    assert recording.task.tick_seconds == 0.001
    assert named(recording) == [("a", 0, 750)]


def test_time_zones_are_converted(tmp_path: Path) -> None:
    truth = "2024-03-04T10:00:00+01:00,2024-03-04T09:00:10Z,a\n"
    recording = read(tmp_path, truth, truth)
    assert recording.task.origin == "2024-03-04T09:00:00+00:00"
    assert named(recording) == [("a", 0, 10)]


def test_a_time_option_overrides_what_the_numbers_look_like(tmp_path: Path) -> None:
    recording = read(tmp_path, "0,4,a\n", "0,4,a\n", time="seconds", tick=0.5)
    assert named(recording) == [("a", 0, 8)]


def test_times_move_to_the_nearest_tick_and_are_counted(tmp_path: Path) -> None:
    recording = read(tmp_path, "0.0004,1.0005,a\n1.0015,2.001,b\n", "0.0,2.001,a\n")
    assert named(recording) == [("a", 0, 1001), ("NULL", 1001, 1002), ("b", 1002, 2001)]
    assert recording.notes.rounded_times == 3


def test_decimals_that_no_float_holds_stay_on_their_tick(tmp_path: Path) -> None:
    texts = [f"{i // 10}.{i % 10},{(i + 1) // 10}.{(i + 1) % 10},a" for i in range(3001)]
    recording = read(tmp_path, "\n".join(texts), tick=0.1)
    assert recording.truth.start.tolist() == list(range(3001))
    assert recording.notes.rounded_times == 0


@given(
    st.lists(st.decimals(0, 10**6, places=5).map(str), max_size=20),
    st.sampled_from(["0.001", "0.5", "1/3", "7/44100", "60", "1e-9"]),
)
def test_rounding_is_exact_half_a_tick_up(texts: list[str], tick: str) -> None:
    clock, length = Clock("seconds"), Fraction(tick)
    expected = [int((2 * Fraction(text) / length + 1) // 2) for text in texts]
    moved = sum(1 for text in texts if (Fraction(text) / length).denominator != 1)
    quick = clock.parse_all(texts)
    assert quick is not None
    for units, scale in (quick, ([clock.parse(text) for text in texts], clock.scale)):
        found, count = to_ticks(units, scale, length)
        assert (found.tolist(), count) == (expected, moved)


@given(
    st.text("0123456789", max_size=25),
    st.text("0123456789", max_size=25),
    st.one_of(st.none(), st.integers(-45, 45)),
    st.sampled_from(["", "-", "+"]),
)
def test_a_decimal_of_any_form_is_read_to_the_last_digit_that_matters(
    whole: str, fraction: str, power: int | None, sign: str
) -> None:
    if not whole + fraction:
        return
    text = f"{sign}{whole}.{fraction}" + ("" if power is None else f"e{power}")
    exact = abs(Fraction(text)) * 10**18
    found = Clock("seconds").parse(text)
    if exact < 10**40:
        assert found == int((2 * exact + 1) // 2) * (-1 if sign == "-" else 1)
    else:
        assert abs(found) >= 10**40


def test_numbers_with_endless_digits_are_judged_at_once() -> None:
    clock = Clock("seconds")
    assert clock.parse("1e" + "9" * 30) == clock.parse("9" * 6000) > 10**40
    assert clock.parse("1e-" + "9" * 30) == clock.parse("0." + "0" * 6000 + "1") == 0
    assert clock.parse("0e" + "9" * 5000) == 0


def test_the_span_is_from_the_earliest_start_to_the_latest_end_unless_given(tmp_path: Path) -> None:
    truth, prediction = "5,8,a\n", "2,6,a\n9,12,b\n"
    assert read(tmp_path, truth, prediction).span == (2, 12)
    recording = read(tmp_path, truth, prediction, span=(4, 10))
    assert named(recording) == [("NULL", 4, 5), ("a", 5, 8), ("NULL", 8, 10)]
    assert named(recording, "prediction") == [("a", 4, 6), ("NULL", 6, 9), ("b", 9, 10)]
    recording = read(tmp_path, "0.5,1,a\n", "0,1,a\n", span=("0.25", "0.75"))
    assert recording.span == (250, 750)
    stamped = "2024-03-04 10:00:00,2024-03-04 10:01:00,a\n"
    recording = read(tmp_path, stamped, stamped, span=("2024-03-04 09:59:00", "2024-03-04 10:02:00"))
    assert recording.task.origin == "2024-03-04T09:59:00"
    assert named(recording) == [("NULL", 0, 60), ("a", 60, 120), ("NULL", 120, 180)]


def test_a_span_without_any_segment_is_read_with_a_warning(tmp_path: Path) -> None:
    recording = read(tmp_path, "0,5,a\n", span=(20, 30))
    assert named(recording) == [("NULL", 20, 30)]
    assert any("holds no segment of either file" in warning for warning in recording.notes.warnings)


def test_files_that_share_no_time_are_read_with_a_warning(tmp_path: Path) -> None:
    notes = read(tmp_path, "0,5,a\n", "5,9,a\n").notes
    assert any("share no time" in warning for warning in notes.warnings)
    assert read(tmp_path, "0,5,a\n", "4,9,a\n").notes.warnings == []


# Labels, gaps, overlaps ----------------------------------------------------------------------------


def test_labels_are_sorted_by_name_with_numbers_by_value(tmp_path: Path) -> None:
    recording = read(tmp_path, "0,1,10\n1,2,9\n2,3,NULL\n3,4,x2\n", "0,4,x10\n")
    assert recording.task.labels == ("NULL", "9", "10", "x2", "x10")
    assert sorted(["b", "a10", "a9", ""], key=natural_key) == ["", "a9", "a10", "b"]


def test_given_labels_keep_their_order_with_null_first(tmp_path: Path) -> None:
    recording = read(tmp_path, "0,4,b\n", labels=("b", "NULL", "a", "c"))
    assert recording.task.labels == ("NULL", "b", "a", "c")
    assert recording.truth.label.tolist() == [1, 0]


def test_null_and_unknown_can_have_other_names(tmp_path: Path) -> None:
    recording = read(tmp_path, "0,4,idle\n4,6,?\n6,10,a\n", null="idle", unknown="?")
    assert recording.task.labels == ("idle", "a")
    assert recording.truth.label.tolist() == [0, UNKNOWN, 1]


def test_a_label_like_null_in_another_case_is_noted(tmp_path: Path) -> None:
    notes = read(tmp_path, "0,4,null\n4,6,unknown\n").notes
    assert len(notes.warnings) == 2
    assert "--null null" in notes.warnings[0]


def test_gaps_of_the_truth_can_be_unknown_but_never_those_of_the_prediction(tmp_path: Path) -> None:
    recording = read(tmp_path, "2,4,a\n", "0,1,a\n5,6,a\n", gaps="unknown")
    assert named(recording) == [("UNKNOWN", 0, 2), ("a", 2, 4), ("UNKNOWN", 4, 6)]
    assert named(recording, "prediction") == [("a", 0, 1), ("NULL", 1, 5), ("a", 5, 6)]
    assert recording.task.gaps_unknown


def test_nested_rows_are_flattened_and_counted(tmp_path: Path) -> None:
    recording = read(tmp_path, "0,10,a\n3,5,b\n")
    assert named(recording) == [("a", 0, 3), ("b", 3, 5), ("a", 5, 10)]
    assert (recording.notes.flattened_truth, recording.notes.flattened_prediction) == (1, 0)
    assert recording.truth_raw == recording.truth


def test_partial_overlaps_can_be_kept_for_the_alignment_alone(tmp_path: Path) -> None:
    recording = read(tmp_path, "0,6,a\n4,10,b\n6,8,a\n", overlaps="keep")
    assert named(recording) == [("a", 0, 4), ("b", 4, 6), ("a", 6, 8), ("b", 8, 10)]
    assert named(recording, "truth_raw") == [("a", 0, 6), ("b", 4, 6), ("a", 6, 8), ("b", 8, 10)]
    assert recording.notes.flattened_truth == 1


def test_closed_rows_last_one_tick_longer_and_may_share_an_instant(tmp_path: Path) -> None:
    recording = read(tmp_path, "0,4,a\n4,6,b\n8,8,c\n", "0,8,a\n", closed=True)
    assert named(recording, "truth_raw") == [("a", 0, 5), ("b", 4, 7), ("NULL", 7, 8), ("c", 8, 9)]
    assert named(recording) == [("a", 0, 4), ("b", 4, 7), ("NULL", 7, 8), ("c", 8, 9)]
    assert recording.notes.flattened_truth == 0
    assert recording.task.closed
    assert read(tmp_path, "0,4,a\n4,6,b\n", closed=True, overlaps="refuse").span == (0, 11)


def test_touching_rows_of_one_label_stay_apart(tmp_path: Path) -> None:
    assert named(read(tmp_path, "0,4,a\n4,10,a\n")) == [("a", 0, 4), ("a", 4, 10)]


def test_rows_out_of_order_are_sorted_on_request(tmp_path: Path) -> None:
    recording = read(tmp_path, "6,10,b\n0,4,a\n", sort=True)
    assert named(recording) == [("a", 0, 4), ("NULL", 4, 6), ("b", 6, 10)]


# One label a row -----------------------------------------------------------------------------------


def test_one_label_a_row_becomes_runs_of_slices(tmp_path: Path) -> None:
    recording = read(tmp_path, "a\na\n\nb\n", "a\nb\nb\nb\n", rate=2)
    assert recording.task.tick_seconds == 0.5
    assert named(recording) == [("a", 0, 2), ("NULL", 2, 3), ("b", 3, 4)]
    assert named(recording, "prediction") == [("a", 0, 1), ("b", 1, 4)]


def test_the_tick_of_labels_a_row_can_be_finer_than_a_row(tmp_path: Path) -> None:
    recording = read(tmp_path, "label\na\na\n", "a\nb\n", rate=2, tick="100ms", slice="1s")
    assert recording.span == (0, 10)
    assert recording.task.slice_ticks == 10


def test_a_column_of_labels_is_chosen_by_name_or_number(tmp_path: Path) -> None:
    text = "truth,nb,tree\n1,0,1\n0,0,1\n"
    for truth, prediction in (("truth", "tree"), (1, "3"), ("1", 3)):
        recording = read(tmp_path, text, text, rate=1, truth_column=truth, prediction_column=prediction)
        assert named(recording) == [("1", 0, 1), ("0", 1, 2)]
        assert named(recording, "prediction") == [("1", 0, 2)]


def test_label_files_of_different_length_are_filled_up_with_a_warning(tmp_path: Path) -> None:
    recording = read(tmp_path, "a\na\na\n", "a\n", rate=1)
    assert named(recording, "prediction") == [("a", 0, 1), ("NULL", 1, 3)]
    assert any("3 rows" in warning for warning in recording.notes.warnings)


def test_a_skipped_row_of_labels_keeps_its_time(tmp_path: Path) -> None:
    options = {"rate": 1, "labels": ("a",), "lenient": True}
    recording = read(tmp_path, "a\nx\na\n", "a\ny\na\n", **options)
    assert recording.truth.label.tolist() == [1, UNKNOWN, 1]
    assert recording.prediction.label.tolist() == [1, 0, 1]
    assert recording.notes.skipped == 2


# Long files ----------------------------------------------------------------------------------------


@st.composite
def segment_texts(draw: st.DrawFn) -> tuple[str, list[Row]]:
    """A file of ticks, perhaps with gaps and nested rows, and the rows it holds."""
    lines, rows, start = [], [], 0
    for _ in range(draw(st.integers(1, 12))):
        start += draw(st.integers(0, 9))
        end = start + draw(st.integers(1, 9))
        label = draw(st.integers(1, 3))
        rows.append((label, start, end))
        lines.append(f"{start},{end},{label}")
    return "\n".join(lines), rows


@given(segment_texts())
def test_reading_whole_columns_and_row_by_row_give_the_same(
    tmp_path_factory: pytest.TempPathFactory, case: tuple[str, list[Row]]
) -> None:
    text, rows = case
    folder = tmp_path_factory.getbasetemp()
    quick = read(folder, text, text, labels=("1", "2", "3"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows_module, "_quick", lambda *_: None)
        slow = read(folder, text, text, labels=("1", "2", "3"))
    assert quick.truth == slow.truth
    assert quick.truth_raw == slow.truth_raw
    begin, stop = rows[0][1], max(end for _, _, end in rows)
    expected = np.zeros(stop, dtype=int)
    for label, start, end in flatten(quick.truth)[0]:
        expected[start:end] = label
    for tick in range(begin, stop):
        inside = [
            (start, -end, at, label) for at, (label, start, end) in enumerate(rows) if start <= tick < end
        ]
        assert expected[tick] == (max(inside)[3] if inside else 0)


def test_a_hundred_thousand_rows_are_read_in_a_second_or_so(tmp_path: Path) -> None:
    text = "start,end,label\n" + "".join(f"{7 * i},{7 * i + 5},L{i % 9}\n" for i in range(100_000))
    before = time.process_time()
    recording = read(tmp_path, text, text)
    assert time.process_time() - before < 5
    assert len(recording.truth) == 199_999


# Real recordings -----------------------------------------------------------------------------------


def test_house_a_is_flattened_where_toilet_visits_lie_in_the_night(shared: Path) -> None:
    path = shared / "data/kasteren/A_activities.csv"
    recording = read_pair(path, path)
    assert recording.notes.flattened_truth == 35
    assert recording.task.origin == "2008-02-25T00:19:32"
    assert recording.task.labels[:4] == ("NULL", "1", "3", "4")
    covered = recording.truth.end - recording.truth.start
    assert int(covered.sum()) == recording.span[1] - recording.span[0]


def test_house_a_in_minutes_has_its_known_size(shared: Path) -> None:
    folder = shared / "data/kasteren"
    recording = read_pair(folder / "A_minutes_truth.csv", folder / "A_minutes_hmm.csv")
    assert (len(recording.truth), len(recording.prediction), recording.span) == (465, 413, (0, 37440))
    assert len(recording.task.labels) == 10


def test_houses_with_other_columns_are_read(shared: Path) -> None:
    folder = shared / "data/kasteren"
    slices = read_pair(folder / "B_minute.csv.gz", folder / "B_minute.csv.gz", ReadOptions(closed=True))
    assert len(slices.task.labels) == 14
    assert read_pair(folder / "C_activities.csv", folder / "C_activities.csv").notes.flattened_truth == 42


def test_ward_events_are_timestamps_below_a_header(shared: Path) -> None:
    folder = shared / "data/ward"
    recording = read_pair(folder / "ward_a_real.tsv", folder / "ward_a_pred.tsv")
    assert recording.task.labels == ("NULL", "Act")
    assert int((recording.truth.label == 1).sum()) == 11
    assert int((recording.prediction.label == 1).sum()) == 22


def test_sound_events_are_sorted_on_request(shared: Path) -> None:
    folder = shared / "data/sound_events"
    files = folder / "office_snr0_high_v2.txt", folder / "office_snr0_high_v2_detected.txt"
    with pytest.raises(InputError, match=r"row 4: starts at 63\.53990, before the row above it.*--sort"):
        read_pair(*files)
    recording = read_pair(*files, ReadOptions(sort=True, overlaps="keep"))
    assert len(recording.task.labels) == 16
    assert (np.diff(recording.truth_raw.end) >= 0).all()


def test_dcase_and_street_files_ask_for_one_of_their_recordings(shared: Path) -> None:
    folder = shared / "data/dcase2020"
    files = folder / "public.tsv", folder / "CTK_NU_task4_SED_1.output.tsv"
    with pytest.raises(InputError, match=r"column 1 \(filename\) holds 692 recordings.*--recording 1Ro0"):
        read_pair(*files)
    one = ReadOptions(recording="1Ro0FgMWTUE_120_130.wav", sort=True)
    assert "Frying" in read_pair(*files, one).task.labels
    street = shared / "data/sound_events/street_fold1_reference.txt"
    with pytest.raises(InputError, match="column 1 holds 6 recordings"):
        read_pair(street, street)


@pytest.mark.parametrize("track", ["10", "100", "636", "1000"])
@pytest.mark.parametrize("level", ["uppercase", "lowercase", "functions"])
def test_salami_labels_hold_until_the_next_time(shared: Path, track: str, level: str) -> None:
    path = shared / f"data/salami/{track}/parsed/textfile1_{level}.txt"
    recording = read_pair(path, path, ReadOptions(null="Silence", tick="1ns"))
    lines = [line.split("\t") for line in path.read_text().splitlines()]
    assert recording.span[1] == int(Fraction(lines[-1][0]) * 10**9)
    assert len(recording.truth) == len(lines) - 1
    assert recording.notes.rounded_times == 0


def test_mir_eval_intervals_have_comments_and_labels_with_blanks(shared: Path) -> None:
    folder = shared / "data/mir_eval/segment"
    for number in range(10):
        recording = read_pair(folder / f"ref0{number}.lab", folder / f"est0{number}.lab")
        assert recording.notes.rounded_times == 0
    assert (
        "Part 3 (with complete ending)" in read_pair(folder / "ref04.lab", folder / "est04.lab").task.labels
    )


def test_speaker_turns_are_read_from_rttm(shared: Path) -> None:
    folder = shared / "data/rttm"
    recording = read_pair(folder / "ref.rttm", folder / "sys.rttm", ReadOptions(overlaps="keep"))
    assert recording.task.labels == ("NULL", "speaker1", "speaker2")
    assert named(recording, "truth_raw")[:2] == [("speaker1", 0, 558), ("NULL", 558, 678)]


def test_a_stream_of_records_is_read_from_two_columns_of_one_file(shared: Path) -> None:
    path = shared / "data/streams/elec2_nb_ht.csv.gz"
    options = ReadOptions(rate=1, truth_column="truth", prediction_column="naive_bayes")
    for column, accuracy in (("naive_bayes", 0.72875), ("hoeffding_tree", 0.79849)):
        recording = read_pair(path, path, replace(options, prediction_column=column))
        series = [
            np.repeat(side.label, side.end - side.start) for side in (recording.truth, recording.prediction)
        ]
        assert len(series[0]) == 45_312
        assert np.mean(series[0] == series[1]) == pytest.approx(accuracy, abs=5e-6)

"""Levels of boundaries beside a recording: `assess` and `parity` with --truth-level and --prediction-level."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from streamgauge import jsonreport
from streamgauge.cli import main
from streamgauge.engines import Engine
from streamgauge.levels import document

Capture = pytest.CaptureFixture[str]


def sides(shared: Path) -> tuple[list[str], list[str]]:
    """The levels of two annotators, coarse to fine."""
    folder = shared / "data" / "salami" / "636" / "parsed"
    first, second = (
        [str(folder / f"textfile{annotator}_{level}.txt") for level in ("uppercase", "lowercase")]
        for annotator in (1, 2)
    )
    return first, second


def with_levels(truth: list[str], prediction: list[str], command: str = "assess") -> list[str]:
    """Words of a command whose labelled pair is the finest level."""
    named = [("--truth-level", path) for path in truth] + [
        ("--prediction-level", path) for path in prediction
    ]
    return [command, truth[-1], prediction[-1], *(word for pair in named for word in pair)]


def hierarchy_of(truth: list[str], prediction: list[str]) -> list[str]:
    named = [("--truth", path) for path in truth] + [("--prediction", path) for path in prediction]
    return ["hierarchy", *(word for pair in named for word in pair)]


def told(words: list[str], capsys: Capture) -> dict[str, Any]:
    assert main([*words, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def write(folder: Path, name: str, text: str) -> str:
    path = folder / name
    path.write_text(text)
    return str(path)


@pytest.fixture
def pair(tmp_path: Path) -> tuple[str, str]:
    return write(tmp_path, "t.lab", "0 40 a\n40 100 b\n"), write(tmp_path, "p.lab", "0 50 a\n50 100 b\n")


@pytest.mark.parametrize(
    "more",
    [
        (),
        ("--frame", "500ms", "--level-window", "30s", "--tolerance", "1s"),
        ("--level-window", "none", "--frame", "1s"),
        ("--span", "0", "190", "--lenient"),
    ],
)
def test_levels_have_the_figures_of_the_hierarchy_command(
    shared: Path, capsys: Capture, more: tuple[str, ...]
) -> None:
    two = sides(shared)
    ours = told([*with_levels(*two), "--fit", *more], capsys)["hierarchy"]
    theirs = told([*hierarchy_of(*two), "--fit", *more], capsys)["hierarchy"]
    assert ours == theirs
    assert 0.5 < ours["full"]["f"] < 1
    assert ours["levels"][1]["boundaries"][0]["hits"] > 20


def test_the_labelled_pair_is_no_level_unless_it_is_named(shared: Path, capsys: Capture) -> None:
    truth, prediction = sides(shared)
    words = [
        "assess",
        truth[1],
        prediction[1],
        "--truth-level",
        truth[0],
        "--prediction-level",
        prediction[0],
    ]
    found = told([*words, "--fit"], capsys)["hierarchy"]
    assert found == told([*hierarchy_of(truth[:1], prediction[:1]), "--fit"], capsys)["hierarchy"]
    assert found["truth"] == truth[:1]


def test_without_levels_there_is_no_hierarchy(pair: tuple[str, str], capsys: Capture) -> None:
    assert told(["assess", *pair], capsys)["hierarchy"] is None
    assert main(["assess", *pair]) == 0
    assert "Hierarchy" not in capsys.readouterr().out


def test_every_key_is_listed(shared: Path, capsys: Capture) -> None:
    assert main(["assess", "--json-keys"]) == 0
    listed = {line.split()[0] for line in capsys.readouterr().out.splitlines()}
    assert "hierarchy" in listed
    assert {key for key, _ in document.KEYS} < listed
    assert {key for key, _ in document.KEYS} < {key for key, _ in jsonreport.KEYS}
    found = told([*with_levels(*sides(shared)), "--fit"], capsys)["hierarchy"]
    keys = {key.split(".")[1].removesuffix("[]") for key, _ in document.KEYS}
    assert set(found) == keys


def test_the_report_and_its_picture_have_the_section(
    shared: Path, capsys: Capture, tmp_path: Path, x64: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    picture = tmp_path / "report.svg"
    words = [*with_levels(*sides(shared)), "--fit", "--node", "x64"]
    assert main([*words, "--svg", str(picture)]) == 0
    text = capsys.readouterr().out
    section = text[text.index("Hierarchy  ") : text.index("Node memory")]
    for said in ("± 15 s", "T-measure, reduced", "0.8198", "L-measure", "2 and 2", "median to truth"):
        assert said in section
    assert "told as segments and boundaries" in text
    assert "T-measure," in picture.read_text().replace("&#160;", " ")
    assert main([*words, "--brief"]) == 0
    assert "2 and 2" not in capsys.readouterr().out


def test_the_defaults_follow_the_slice_where_100_ms_are_no_slices(
    pair: tuple[str, str], capsys: Capture
) -> None:
    words = with_levels([pair[0]], [pair[1]])
    for more, frame, window, tolerances in (
        ((), 1, 150, [5, 30]),
        (("--slice", "7"), 7, 1050, [35, 210]),
        (("--time", "seconds"), 100, 15_000, [500, 3000]),
        (("--time", "seconds", "--slice", "1s"), 1000, 150_000, [5000, 30_000]),
        (("--time", "seconds", "--slice", "50ms"), 100, 15_000, [500, 3000]),
        (("--slice", "7", "--frame", "2", "--level-window", "9", "--tolerance", "3"), 2, 9, [3]),
    ):
        found = told([*words, *more], capsys)["hierarchy"]
        assert (found["frame_ticks"], found["window_ticks"]) == (frame, window)
        assert [hit["tolerance_ticks"] for hit in found["levels"][0]["boundaries"]] == tolerances


def test_levels_are_read_on_the_clock_of_the_recording(tmp_path: Path, capsys: Capture) -> None:
    day = "2020-01-01 0"
    stamped = write(tmp_path, "t.csv", f"start,end,label\n{day}1:00:00,{day}3:00:00,a\n")
    early = write(
        tmp_path, "e.csv", f"start,end,label\n{day}0:00:00,{day}2:00:00,a\n{day}2:00:00,{day}3:00:00,b\n"
    )
    found = told(["assess", stamped, stamped, "--truth-level", early, "--prediction-level", early], capsys)
    assert found["recording"]["span"] == [0, 7200]
    assert found["hierarchy"]["span"] == [-3600, 7200]
    assert found["hierarchy"]["tick_seconds"] == 1
    rows = write(tmp_path, "rows.csv", "truth,p\n" + "a,a\nb,a\n" * 30)
    halves = write(tmp_path, "h.lab", "0 0.5 x\n0.5 2 y\n")
    series = ["assess", rows, rows, "--rate", "30", "--truth-column", "truth", "--prediction-column", "p"]
    found = told([*series, "--truth-level", halves, "--prediction-level", halves], capsys)["hierarchy"]
    assert (found["span"], found["frame_ticks"]) == ([0, 60], 3)
    assert found["full"]["f"] == 1
    assert main([*series, "--truth-level", early, "--prediction-level", early]) == 2
    assert "holds timestamps, but truth and prediction one label a row" in capsys.readouterr().err


def test_what_was_noticed_while_levels_were_read_is_told(
    pair: tuple[str, str], tmp_path: Path, capsys: Capture
) -> None:
    bad = write(tmp_path, "bad.lab", "0 40 a\nx y b\n40 100 c\n")
    words = ["assess", *pair, "--truth-level", bad, "--prediction-level", pair[1], "--lenient"]
    found = told(words, capsys)
    assert found["hierarchy"]["skipped"] == 1
    assert any("bad.lab, row 2" in note for note in found["notes"])


@pytest.mark.parametrize("command", ["assess", "parity"])
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0 20 a\n15 100 b\n", "bad.lab, row 2: [15, 100) overlaps [0, 20) of row 1"),
        ("0 60 a\n60 101 b\n", "bad.lab, row 2: covers ticks 0 to 101, but"),
        ("2 60 a\n60 100 b\n", "bad.lab, row 1: covers ticks 2 to 100, but"),
        ("0 60 a\nx 100 b\n", "bad.lab, row 2: start 'x' is not a time"),
        ("0 60 a\n60 60.5 b\n", "bad.lab, row 2: end '60.5' is not a time (a whole number of ticks"),
        ("", "bad.lab: has no segments"),
    ],
)
def test_a_bad_level_is_one_error_with_file_row_and_remedy(
    pair: tuple[str, str], tmp_path: Path, capsys: Capture, command: str, text: str, said: str
) -> None:
    bad = write(tmp_path, "bad.lab", text)
    assert main([command, *pair, "--truth-level", pair[0], "--prediction-level", bad]) == 2
    told_off = capsys.readouterr().err
    assert said in told_off
    assert len(told_off.splitlines()) == 1
    assert not text or told_off.count(". ") >= 1


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--truth-level", "t"), "give --prediction-level at least once too"),
        (("--prediction-level", "t"), "give --truth-level at least once too"),
        (("--frame", "5"), "--frame is of levels"),
        (("--level-window", "5"), "--level-window is of levels"),
        (("--fit",), "--fit is of levels"),
        (("--truth-level", "t", "--prediction-level", "t", "--frame", "0.5"), "--frame is '0.5'"),
        (
            ("--truth-level", "t", "--prediction-level", "t", "--level-window", "3", "--frame", "5"),
            "the window, 3 ticks, is shorter than a frame of 5",
        ),
        (
            ("--truth-level", "t", "--prediction-level", "t", "--span", "0", "60"),
            "t.lab, row 2: covers ticks 0 to 100, which leaves the span, 0 to 60",
        ),
        (
            ("--truth-level", "t", "--prediction-level", "t", "--level-window", "none", "--node", "x64"),
            "a node needs a window for levels",
        ),
        (
            (
                "--truth-level",
                "t",
                "--prediction-level",
                "t",
                "--slice",
                "10",
                "--frame",
                "5",
                "--node",
                "x64",
            ),
            "a frame of the levels lasts 5 ticks (a whole number of slices",
        ),
        (
            (*("--truth-level", "t") * 5, "--prediction-level", "t", "--node", "x64"),
            "t.lab: is level 5 of 5 of its side (at most 4 on a node)",
        ),
    ],
)
def test_what_cannot_be_done_with_levels_is_said(
    pair: tuple[str, str], capsys: Capture, x64: Engine, more: tuple[str, ...], said: str
) -> None:
    assert main(["assess", *pair, *(pair[0] if word == "t" else word for word in more)]) == 2
    assert said in capsys.readouterr().err


def test_the_host_alone_has_more_levels_than_a_node(pair: tuple[str, str], capsys: Capture) -> None:
    found = told(["assess", *pair, *("--truth-level", pair[0]) * 5, "--prediction-level", pair[1]], capsys)
    assert len(found["hierarchy"]["truth"]) == 5


def test_a_span_and_fit_clip_levels_as_labels(pair: tuple[str, str], capsys: Capture) -> None:
    found = told([*with_levels([pair[0]], [pair[1]]), "--span", "10", "60", "--fit"], capsys)
    assert found["hierarchy"]["span"] == found["recording"]["span"] == [10, 60]
    assert found["hierarchy"]["frames"] == 50


def test_options_of_reading_reach_the_levels(tmp_path: Path, capsys: Capture) -> None:
    text = "name;from;to\na;0;40\nb;40;100\n"
    path = write(tmp_path, "t.csv", text)
    columns = ["--columns", "from,to,name", "--delimiter", ";"]
    assert told([*with_levels([path], [path]), *columns], capsys)["hierarchy"]["span"] == [0, 100]

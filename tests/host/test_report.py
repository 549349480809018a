"""The report for people: it fits its width, says what is missing, and loses nothing without colour."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from rich.text import Text

from outcomes import outcome_of
from streamgauge import example, formats
from streamgauge.files import ReadOptions
from streamgauge.outcome import Outcome
from streamgauge.report import PLAIN_WIDTH, render, terminal
from streamgauge.report.grid import Grid, facts, share_cells


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    truth, prediction, options = example.builtin()
    return outcome_of(str(truth), str(prediction), options)


def told(outcome: Outcome, width: int = PLAIN_WIDTH, *, brief: bool = False) -> str:
    """The report as plain text."""
    console = Console(width=width, file=io.StringIO(), highlight=False, _environ={})
    render(outcome, console, brief=brief)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_no_line_is_wider_than_the_terminal_or_ends_in_blanks(outcome: Outcome, width: int) -> None:
    for line in told(outcome, width).splitlines():
        assert len(line) <= width
        assert line == line.rstrip()


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_no_figure_is_cut(outcome: Outcome, width: int) -> None:
    """An ellipsis may stand in a label's name or a title, never after a digit."""
    assert not re.search(r"[\d.,]…", told(outcome, width))


def test_all_sections_are_there_in_order(outcome: Outcome) -> None:
    text = told(outcome)
    places = [
        text.index(name)
        for name in ("Alignment", "Slices", "Prequential error", "Node memory", "Parity  the node's")
    ]
    assert places == sorted(places)


def test_the_heading_tells_what_was_assessed(outcome: Outcome) -> None:
    heading = " ".join(told(outcome).split("Alignment")[0].split())
    for fact in (
        "home_prediction.csv against the truth home_truth.csv",
        "28 d",
        "tick 1 s",
        "slice 60 s",
        "2,419,200",
        "12 labels and NULL",
        "unknown 8.5 %",
        "unassessed 0",
        "flattened rows 50 / 0",
        "skipped 0",
        "rounded times 0",
        "note: a note",
    ):
        assert fact in heading


def test_figures_are_those_of_the_assessment(outcome: Outcome) -> None:
    text = told(outcome)
    alignment, slices = outcome.assessment.alignment, outcome.assessment.slices
    assert f"distance {alignment.distance:,.6f}" in text
    assert f"MAF1 {alignment.maf1:.3f}" in text
    row = next(line for line in text.splitlines() if line.startswith("   7 relax"))
    assert [int(word) for word in row.replace("·", "0").split()[2:]] == alignment.confusion[7].tolist()
    average = next(line for line in text.splitlines() if line.startswith("  average"))
    expected = [formats.percent(value) for value in slices.matrix["average"].values()]
    assert average.split()[1:] == expected


def test_nothing_is_printed_as_a_dash(tmp_path: Path) -> None:
    truth, prediction = tmp_path / "t.csv", tmp_path / "p.csv"
    truth.write_text("0,5,a\n")
    prediction.write_text("5,9,b\n")
    text = told(outcome_of(str(truth), str(prediction), ReadOptions()))
    latency = next(line for line in text.splitlines() if line.startswith("  latency"))
    assert latency.split() == ["latency", "0", "-", "-", "-", "-"]
    label_b = [line for line in text.splitlines() if line.startswith("  b ")]
    assert label_b[0].split()[5:8] == ["0.000", "-", "-"]
    assert "nan" not in text
    assert "None" not in text


def test_truth_that_nobody_knows_is_no_error(tmp_path: Path) -> None:
    truth, prediction = tmp_path / "t.csv", tmp_path / "p.csv"
    truth.write_text("0,5,UNKNOWN\n")
    prediction.write_text("0,5,b\n")
    text = told(outcome_of(str(truth), str(prediction), ReadOptions()))
    assert "unknown 100.0 %" in text
    assert "accuracy -" in text


def test_a_difference_stands_out(outcome: Outcome) -> None:
    assert outcome.parity is not None
    text = told(outcome)
    assert "all agree" in text
    broken = replace(outcome.parity, different=3, remarks=("Something was not compared.",))
    text = told(replace(outcome, parity=broken))
    assert "3 differ" in text
    assert "and 3 more" in text
    assert "Something was not compared." in text


def test_too_wide_a_matrix_gives_way_to_what_is_most_often_confused(outcome: Outcome) -> None:
    assert "true, down; predicted, across" in told(outcome, 100)
    narrow = told(outcome, 60)
    assert "true, down" not in narrow
    assert "NULL as relax" in narrow


def test_output_that_is_no_terminal_is_100_wide_unless_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert terminal().width == PLAIN_WIDTH
    monkeypatch.setenv("COLUMNS", "72")
    assert terminal().width == 72


def test_colour_adds_no_text(outcome: Outcome) -> None:
    console = Console(
        width=PLAIN_WIDTH,
        file=io.StringIO(),
        force_terminal=True,
        color_system="truecolor",
        highlight=False,
        _environ={},
    )
    render(outcome, console)
    assert isinstance(console.file, io.StringIO)
    coloured = console.file.getvalue()
    assert "\x1b[" in coloured
    plain = "\n".join(line.rstrip() for line in Text.from_ansi(coloured).plain.splitlines())
    assert plain.strip() == told(outcome).strip()


# Parts


def test_a_grid_drops_columns_before_it_cuts_a_name() -> None:
    grid = Grid("name", "one", "two", drop=(2,))
    grid.add("a long name", "12345", "67890")
    assert grid.width() == 11 + 2 + 5 + 2 + 5
    assert [column.header for column in grid.fit(100).columns] == ["name", "one", "two"]
    assert [column.header for column in grid.fit(20).columns] == ["name", "one"]
    narrow = grid.fit(15)
    assert [column.width for column in narrow.columns] == [9, 5]


def test_facts_wrap_between_pairs_only() -> None:
    text = facts(20, ("one", "1234567"), ("two", "1234567"), ("three", "1")).plain
    assert text.splitlines() == ["one 1234567", "two 1234567", "three 1"]
    assert facts(40, ("one", "1"), ("", "2")).plain == "one 1   2"


def test_a_bar_shows_whatever_is_there() -> None:
    assert share_cells([1000, 1, 0], 10) == [9, 1, 0]
    assert sum(share_cells([3, 3, 3], 10)) == 10
    assert share_cells([0, 0], 10) == [0, 0]


@pytest.mark.parametrize(
    ("ticks", "tick", "expected"),
    [
        (None, 1, "-"),
        (float("nan"), 1, "-"),
        (0, 1, "0 s"),
        (83.44, 1, "83.4 s"),
        (10, 1, "10 s"),
        (5000, 1, "83.3 min"),
        (7200, 1, "2 h"),
        (90_000, 1, "25 h"),
        (300_000, 1, "3.47 d"),
        (4, 1e-4, "400 µs"),
        (1234, None, "1,234"),
        (9.16667, None, "9.167"),
    ],
)
def test_durations_have_three_digits_and_a_unit(
    ticks: float | None, tick: float | None, expected: str
) -> None:
    assert formats.duration(ticks, tick) == expected


def test_signs_are_kept() -> None:
    assert formats.duration(-90, 1.0, signed=True) == "-90 s"
    assert formats.duration(90, 1.0, signed=True) == "+90 s"
    assert formats.duration(2.5, None, signed=True) == "+2.5"


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(5, "5 s"), (300, "5 min"), (3 * 3600 + 60, "3 h 1 min"), (27 * 86400 + 16 * 3600 + 33, "27 d 16 h")],
)
def test_long_times_have_their_two_largest_units(seconds: float, expected: str) -> None:
    assert formats.long_time(seconds) == expected


def test_none_at_all_is_a_dot_and_very_little_is_not() -> None:
    assert formats.percent(0) == "·"
    assert formats.percent(0.0001) == "0.0"
    assert formats.percent(None) == "-"

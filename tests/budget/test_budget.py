"""`streamgauge budget`: predicted bytes beside those of a node's heap, and what fits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from streamgauge import budget as budgets
from streamgauge import budget_report
from streamgauge.budget_fit import fit, room_for_state
from streamgauge.cli import main
from streamgauge.engines import Engine
from streamgauge.errors import InputError
from streamgauge.profile import ESTIMATORS, KEYS, Profile, load_profile, profile_names

PROJECT = Path(__file__).parents[2]
SMALL = [name for name in profile_names() if load_profile(name).heap_bytes < 1 << 20]


def agree(part: budgets.Part) -> bool:
    return part.measured is not None and abs(part.measured - part.predicted) <= 0.02 * part.measured


@pytest.mark.parametrize("name", profile_names())
def test_every_part_of_every_profile_takes_what_is_predicted(name: str, arm: Engine) -> None:
    budget = budgets.measure(load_profile(name), arm, run=False)
    assert {name: part for name, part in budget.parts.items() if not agree(part)} == {}
    assert agree(budget.state)


def test_with_everything_on_every_part_takes_what_is_predicted(arm: Engine) -> None:
    values = {"estimators.on": list(ESTIMATORS), "prequential.loss_max": 100, "page_hinkley.source": "window"}
    budget = budgets.measure(load_profile("sensor").with_values(values), arm, 15, run=False)
    assert set(ESTIMATORS) <= set(budget.parts)
    assert {name: part for name, part in budget.parts.items() if not agree(part)} == {}


@pytest.mark.parametrize("name", SMALL)
def test_the_example_runs_in_the_heap_of_every_board_and_updates_take_nothing(name: str, arm: Engine) -> None:
    budget = budgets.measure(load_profile(name), arm)
    assert budget.trouble is None
    assert budget.allocated == 0
    assert budget.high_water is not None and budget.high_water <= budget.heap
    # A program of one's own needs some room too.
    assert budget.left is not None and budget.left >= 20_000


def test_a_heap_that_is_too_small_is_told_and_is_the_commands_no(
    arm: Engine, tmp_path: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (Path(load_profile("sensor").source)).read_text().replace("bytes = 102400", "bytes = 50000")
    (tmp_path / "tight.toml").write_text(text)
    assert main(["budget", str(tmp_path / "tight.toml"), "--json"]) == 1
    assert "does not fit" in json.loads(capsys.readouterr().out)["trouble"]


def test_the_frozen_form_takes_the_least_and_sources_the_most(arm: Engine) -> None:
    code = budgets.measure(load_profile("sensor"), arm, 10, run=False).code
    assert code["frozen"].bytes < code["bytecode"].bytes < code["mpy"].bytes < code["py"].bytes
    assert code["mpy"].machine == code["py"].machine > 0 == code["bytecode"].machine


def test_an_engine_of_another_word_size_is_refused(x64: Engine) -> None:
    with pytest.raises(InputError, match=r"64-bit MicroPython \(a 32-bit one was expected\)"):
        budgets.measure(load_profile("sensor"), x64)


def test_json_gives_each_part_predicted_and_measured(arm: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["budget", "sensor", "--labels", "10", "--no-run", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert set(told["parts"]) == {"join", "entries", "align", "slices", "prequential", "objects", "config"}
    for part in told["parts"].values():
        assert part["predicted_bytes"] > 0 and part["measured_bytes"] > 0
    assert told["state"]["measured_bytes"] == sum(p["measured_bytes"] for p in told["parts"].values())
    assert told["left_bytes"] == (
        told["heap_bytes"]
        - told["interpreter_bytes"]
        - told["code"]["mpy"]["bytes"]
        - told["state"]["measured_bytes"]
    )


def test_without_an_engine_the_model_alone_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["budget", "sensor", "--node", "none", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["parts"]["align"]["measured_bytes"] is None
    assert told["engine"] is told["left_bytes"] is None
    assert main(["budget", "--node", "none"]) == 0
    printed = capsys.readouterr().out
    assert [name for name in profile_names() if name not in printed] == []
    assert main(["budget", "sensor", "--node", "none"]) == 0
    assert "runs that wait for the other side" in capsys.readouterr().out


def test_more_labels_than_the_profile_takes_are_refused() -> None:
    with pytest.raises(InputError, match=r"32 labels were asked for \(1 to 31"):
        budgets.predict(load_profile("sensor"), 32)


# Fit


def everything() -> Profile:
    return load_profile("sensor").with_values({"estimators.on": list(ESTIMATORS)})


@pytest.mark.parametrize("room", [14_000, 20_000, 50_000, 300_000])
@pytest.mark.parametrize("make", [lambda: load_profile("sensor"), everything])
def test_what_fits_fits_and_nothing_larger_does(room: int, make: Any) -> None:
    profile = make()
    if profile["estimators.on"] == list(ESTIMATORS) and room <= 20_000:
        profile = profile.with_values({"capacity.labels": 10})
    found = fit(profile, room)
    task = budgets.many_labels(profile)
    assert found.taken == budgets.state_bytes(found.profile, task) <= room
    for key, value in found.values.items():
        larger = value + 120 if key.endswith("window") else 2 * value
        try:
            more = found.profile.with_values({key: larger})
        except InputError:
            continue  # as large as can be
        assert budgets.state_bytes(more, task) > room, key


def test_what_was_traded_is_said_in_words() -> None:
    profile = load_profile("sensor")
    smaller = profile.with_values({"capacity.pending": 32, "capacity.runs": 32, "capacity.window": 500})
    found = fit(profile, budgets.state_bytes(smaller, budgets.many_labels(profile)))
    assert "capacity.pending 64 -> 32: so many segments a side may be undecided" in found.traded[0]
    assert "capacity.runs 64 -> 32: so many runs of the prediction may pass" in found.traded[1]
    assert found.traded[2].startswith("capacity.window 1,000 -> ")
    assert "Hoeffding half-width is 0.05" in found.traded[2] and "sooner" in found.traded[2]
    same = fit(profile, budgets.state_bytes(profile, budgets.many_labels(profile)))
    assert [sentence.split()[0] for sentence in same.traded] in ([], ["capacity.window"])


def test_what_cannot_fit_is_refused_with_what_would_help() -> None:
    with pytest.raises(InputError) as caught:
        fit(load_profile("sensor"), 9_000)
    said = str(caught.value)
    assert "with the smallest rings and windows, and 9,000 are left for it" in said
    assert "align (" in said and "Allow fewer labels" in said


def test_fit_counts_code_and_what_the_program_shall_have(arm: Engine) -> None:
    budget = budgets.measure(load_profile("sensor"), arm, 15, run=False)
    assert budget.interpreter is not None
    room = room_for_state(budget, 80_000, 5_000)
    assert room == 80_000 - 5_000 - budget.interpreter - budget.code["mpy"].bytes


def test_every_key_is_documented(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["budget", "--keys"]) == 0
    page = capsys.readouterr().out
    for key in KEYS:
        assert f"| `{key.path}` |" in page
    assert "| `capacity.runs` | a power of two from 4 to 1024 | required |" in page
    assert "| `page_hinkley.source` | loss, fading or window | `loss` |" in page


def test_the_pages_in_the_documents_are_what_the_commands_print(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["budget", "--keys"]) == 0
    assert (PROJECT / "docs" / "profiles.md").read_text() == capsys.readouterr().out
    page = (PROJECT / "docs" / "budget.md").read_text()
    for name in profile_names():
        budget = budgets.predict(load_profile(name))
        assert f"| {name} | {budget.heap:,} |" in page
        # Of the state what is predicted; code and high water change with every line of the node.
        assert f"| **state** | **{budget.state.predicted:,}** |" in page.split(f"## {name}\n")[1]


def test_a_page_for_the_documents_lists_every_profile() -> None:
    page = budget_report.markdown([budgets.predict(load_profile(name)) for name in profile_names()])
    for name in profile_names():
        assert f"\n## {name}\n" in page

"""What every estimator costs on the node stays what docs/instructions.json says, within 5 %."""

from __future__ import annotations

import copy
import functools
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from conftest import PROJECT, absent
from icount import CROSS_COMPILER, plugin
from streamgauge.engines import Engine, EngineMissing
from streamgauge.profile_keys import ESTIMATORS

sys.path.insert(0, str(PROJECT / "tools" / "bench"))

import entry_loops
import instructions

STREAMS = instructions.streams()


@pytest.fixture(scope="module")
def committed() -> dict[str, Any]:
    """The figures that `make instructions` wrote."""
    return json.loads(instructions.FIGURES.read_text())


@pytest.fixture(scope="module")
def counting(arm: Engine) -> Engine:
    """The 32-bit engine, where its instructions can be counted."""
    try:
        plugin()
    except EngineMissing as trouble:
        absent(str(trouble))
    return arm


@functools.cache
def count(name: str, row: str) -> dict[str, float]:
    """What a row costs now, by way."""
    return instructions.node_figures(STREAMS[name], row)[0]


def complain(trouble: list[str], committed: dict[str, Any], engine: Engine) -> None:
    """Fail with all that is wrong; another engine than the one counted on may be why."""
    then = committed["versions"]["engine"]
    if trouble and engine.version != then:
        trouble.append(f"(Those were counted on {then}, these on {engine.version}.)")
    assert not trouble, "\n".join(trouble)


@pytest.mark.parametrize("row", instructions.ROWS)
@pytest.mark.parametrize("name", STREAMS)
def test_no_estimator_costs_more_than_the_table_says(
    name: str, row: str, committed: dict[str, Any], counting: Engine
) -> None:
    base = instructions.base(row)
    rows = committed["streams"][name]["rows"]
    of = {
        r: {way: rows[r][way]["node"] for way in instructions.WAYS if way in rows[r]}
        for r in (row, base)
        if r in rows
    }
    table = instructions.guarded(of.get(row, {}), of[base])
    measured = instructions.guarded(count(name, row), count(name, base))
    complain(instructions.worse(f"{name}, {row}", table, measured), committed, counting)


@pytest.mark.parametrize("name", STREAMS)
def test_no_entry_costs_more_with_all_on_than_the_table_says(
    name: str, committed: dict[str, Any], counting: Engine
) -> None:
    trouble = []
    for entry, measured in instructions.entry_figures(STREAMS[name]).items():
        table = committed["streams"][name]["entries"].get(entry, {})
        trouble += instructions.worse(f"{name}, {entry}", table, measured)
    complain(trouble, committed, counting)


def test_every_estimator_has_its_row_for_every_stream(committed: dict[str, Any]) -> None:
    assert set(ESTIMATORS) | {"loss", "none", "core", "all"} == set(instructions.ROWS)
    assert instructions.missing(committed) == []


def test_a_row_that_is_not_there_is_named(committed: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    less = copy.deepcopy(committed)
    del less["streams"]["synthetic"]["rows"]["adwin"]
    assert [line.split(":")[0] for line in instructions.missing(less)] == ["synthetic, adwin"]
    monkeypatch.setattr(instructions, "ESTIMATORS", (*ESTIMATORS, "tomorrow"))
    assert len(instructions.missing(committed)) == len(STREAMS)


def test_six_per_cent_more_are_noticed_and_four_are_not(committed: dict[str, Any]) -> None:
    table = {"batch": committed["streams"]["example"]["rows"]["core"]["batch"]["node"], "single": 1000.0}
    more = {"batch": table["batch"] * 1.06, "single": 1040.0}
    (said,) = instructions.worse("example, core", table, more)
    assert "example, core, batch" in said and "make instructions" in said
    assert f"{table['batch']:,.1f}" in said and f"{more['batch']:,.1f}" in said
    assert instructions.worse("example, core", table, {way: cost * 1.04 for way, cost in table.items()}) == []


def test_what_an_estimator_adds_in_batch_is_compared_by_itself() -> None:
    none, table, now = ({"batch": cost, "single": 4000.0} for cost in (150.0, 170.0, 171.5))
    (said,) = instructions.worse(
        "example, slices", instructions.guarded(table, none), instructions.guarded(now, none)
    )
    assert "batch, added: 21.5 instructions, 20.0" in said


def test_a_figure_that_the_table_lacks_is_noticed() -> None:
    (said,) = instructions.worse("example, core", {"batch": 100.0}, {"batch": 100.0, "single": 1.0})
    assert "example, core, single" in said


def test_the_page_is_made_of_the_figures(committed: dict[str, Any]) -> None:
    assert instructions.PAGE.read_text() == instructions.page(committed)


def test_what_passes_a_limit_is_named(committed: dict[str, Any]) -> None:
    figures = copy.deepcopy(committed)
    for stream in figures["streams"].values():
        for ways in stream["rows"].values():
            if "batch" in ways:
                ways["batch"]["node"] = 4 * ways["batch"]["c"]
        everything = stream["rows"]["all"]["single"]
        everything["node"] = instructions.ONE_SAMPLE * everything["calls"]
    assert instructions.over(figures) == []
    rows = figures["streams"]["example"]["rows"]
    rows["ddm"]["batch"]["node"] *= 1.01
    rows["all"]["single"]["node"] *= 1.01
    assert [line.split(":")[0] for line in instructions.over(figures)] == [
        "example, ddm, batch",
        "example, all, one sample",
    ]
    assert instructions.page(figures).count(" OVER |") == 2


@pytest.mark.parametrize("batch", [False, True])
def test_all_in_c_say_what_the_node_says(batch: bool, counting: Engine, tmp_path: Path) -> None:
    if not shutil.which(CROSS_COMPILER):
        absent(f"there is no {CROSS_COMPILER}")
    on, stream = instructions.ROWS["all"], STREAMS["synthetic"]
    node = entry_loops.node_run(stream, on, batch)
    _, said = entry_loops.c_run(stream, on, batch, tmp_path)
    assert set(ESTIMATORS) <= set(said)
    assert entry_loops.agree(node.raw, said)
    other = json.loads(json.dumps(said))
    other["hierarchy"][-1] += 1
    assert not entry_loops.agree(node.raw, other)

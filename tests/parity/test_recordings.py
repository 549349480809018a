"""Real recordings through the command line: the host alone, and nodes on both engines against it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from streamgauge.cli import main
from streamgauge.engines import Engine

HALF_UNIT = 2.0**-27  # of an IoU on the node


def assessed(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """The JSON document of `streamgauge assess`, and nothing else on stdout."""
    code = main(["assess", *arguments, "--json"])
    out, err = capsys.readouterr()
    assert (code, err) == (0, "")
    document: dict[str, Any] = json.loads(out)
    return document


@pytest.fixture(params=["arm", "x64"])
def node(request: pytest.FixtureRequest) -> str:
    """The name of an engine that is there."""
    engine: Engine = request.getfixturevalue(request.param)
    return engine.name


def assert_node_agrees(document: dict[str, Any], *, forced: bool = False) -> None:
    assert document["parity"]["first"] == []
    assert document["parity"]["different"] == 0
    assert document["parity"]["compared"] > 80
    assert document["parity"]["worst"] <= 1
    assert document["node"]["allocated_by_updates"] == 0
    assert document["node"]["unassessed_ticks"] == 0
    assert (document["alignment"]["forced"] > 0) == forced
    assert bool(document["parity"]["remarks"]) == forced


# The SLTSS paper's Table 1


def assert_table1(document: dict[str, Any], golden: dict[str, Any]) -> None:
    alignment = document["alignment"]
    assert alignment["distance"] == pytest.approx(golden["distance"], abs=1e-12)
    assert alignment["confusion"] == golden["confusion_truth_by_prediction"]
    assert alignment["latency"]["mean"] == pytest.approx(golden["mean_latency"])
    assert alignment["overlap"]["mean"] == pytest.approx(golden["mean_overlap"])
    assert alignment["prediction_duration"]["mean"] == golden["mean_prediction_duration"]
    assert alignment["forced"] == 0


@pytest.fixture
def golden(shared: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((shared / "golden" / "sltss_table1.json").read_text())
    return found


def test_the_papers_example_on_the_host(capsys: pytest.CaptureFixture[str], golden: dict[str, Any]) -> None:
    document = assessed(capsys, "--table1")
    assert_table1(document, golden)
    assert document["node"] is None
    assert document["parity"] is None


def test_the_papers_example_on_a_node(
    capsys: pytest.CaptureFixture[str], golden: dict[str, Any], node: str
) -> None:
    document = assessed(capsys, "--table1", "--node", node)
    assert_table1(document, golden)
    assert_node_agrees(document)
    # The same from the node's own whole numbers, without anything the host counted.
    raw = document["node"]["raw"]["align"]
    stats = raw["stats"]
    assert raw["confusion"] == golden["confusion_truth_by_prediction"]
    unmatched = raw["unmatched_truth"] + raw["unmatched_prediction"]
    substituted = sum(
        n for g, row in enumerate(raw["confusion"]) for p, n in enumerate(row) if 0 != g != p != 0
    )
    distance = 2 * (unmatched + substituted) + raw["same"] - raw["iou_q26"] / 2**26
    assert distance == pytest.approx(golden["distance"], abs=raw["same"] * HALF_UNIT)
    assert stats["latency"][1] / 2 / stats["latency"][0] == pytest.approx(golden["mean_latency"])
    assert stats["overlap"][1] / stats["overlap"][0] == pytest.approx(golden["mean_overlap"])
    assert stats["duration"][1] / stats["duration"][0] == golden["mean_prediction_duration"]


# Recordings


def test_house_a_runs_on_a_node_in_64_kb(
    capsys: pytest.CaptureFixture[str], shared: Path, arm: Engine
) -> None:
    folder = shared / "data" / "kasteren"
    files = (str(folder / "A_minutes_truth.csv"), str(folder / "A_minutes_hmm.csv"))
    document = assessed(capsys, *files, "--node", "arm", "--heap", "64k")
    assert_node_agrees(document)
    assert document["node"]["heap_bytes"] == 65536
    assert document["node"]["high_water_bytes"] < 65536
    assert document["node"]["fed"] == "slices"
    assert document["slices"]["known"] == 37_440
    assert document["alignment"]["segments"] == {"truth": 465, "prediction": 413}


@pytest.mark.parametrize("track", ["10", "100", "1000", "636"])
def test_two_annotators_of_a_song(
    capsys: pytest.CaptureFixture[str], shared: Path, node: str, track: str
) -> None:
    folder = shared / "data" / "salami" / track / "parsed"
    files = [str(folder / f"textfile{annotator}_uppercase.txt") for annotator in (1, 2)]
    document = assessed(capsys, *files, "--node", node)
    assert_node_agrees(document)
    assert document["recording"]["tick_seconds"] == 0.001


@pytest.mark.parametrize("case", ["a", "b"])
def test_the_ward_recordings(capsys: pytest.CaptureFixture[str], shared: Path, node: str, case: str) -> None:
    files = [str(shared / "data" / "ward" / f"ward_{case}_{side}.tsv") for side in ("real", "pred")]
    document = assessed(capsys, *files, "--node", node)
    assert_node_agrees(document)
    assert document["labels"] == ["NULL", "Act"]


@pytest.mark.parametrize("model", ["naive_bayes", "hoeffding_tree"])
def test_the_electricity_stream_as_slices(
    capsys: pytest.CaptureFixture[str], shared: Path, node: str, model: str
) -> None:
    """Naive Bayes leaves more than 64 segments undecided: forced decisions are counted and said."""
    file = str(shared / "data" / "streams" / "elec2_nb_ht.csv.gz")
    columns = ("--rate", "1", "--truth-column", "truth", "--prediction-column", model)
    document = assessed(capsys, file, file, *columns, "--node", node)
    assert_node_agrees(document, forced=model == "naive_bayes")
    assert document["prequential"]["count"] == 45_312
    error = document["prequential"]["mean"]["value"]
    assert 1 - error == pytest.approx({"naive_bayes": 0.72875, "hoeffding_tree": 0.79849}[model], abs=5e-6)


def test_a_larger_ring_forces_less(capsys: pytest.CaptureFixture[str], shared: Path, arm: Engine) -> None:
    file = str(shared / "data" / "streams" / "elec2_nb_ht.csv.gz")
    columns = ("--rate", "1", "--truth-column", "truth", "--prediction-column", "naive_bayes")
    wide = assessed(capsys, file, file, *columns, "--node", "arm", "--set", "capacity.pending=512")
    narrow = assessed(capsys, file, file, *columns, "--node", "arm", "--set", "capacity.pending=16")
    assert wide["alignment"]["forced"] < narrow["alignment"]["forced"]
    assert wide["parity"]["different"] == narrow["parity"]["different"] == 0


def test_nested_activities_against_the_minutes_of_the_same_house(
    capsys: pytest.CaptureFixture[str], shared: Path, tmp_path: Path, node: str
) -> None:
    """House A as it was noted, toilet visits inside sleep, against itself a minute late."""
    truth = shared / "data" / "kasteren" / "A_activities.csv"
    late = tmp_path / "late.csv"
    late.write_text(_a_minute_late(truth.read_text()))
    document = assessed(capsys, str(truth), str(late), "--node", node)
    assert_node_agrees(document)
    assert document["recording"]["flattened"]["truth"] == 35
    assert document["alignment"]["onset_latency"]["mean"] == pytest.approx(60, abs=10)
    assert document["slices"]["accuracy"] > 0.98


def _a_minute_late(text: str) -> str:
    from datetime import datetime, timedelta

    def later(stamp: str) -> str:
        moment = datetime.strptime(stamp, "%d-%b-%Y %H:%M:%S") + timedelta(seconds=60)
        return moment.strftime("%d-%b-%Y %H:%M:%S")

    rows = [line.split(",") for line in text.splitlines() if line]
    return "".join(f"{later(start)},{later(end)},{label}\n" for start, end, label in rows)


@pytest.mark.parametrize("scene", ["office_snr0_high_v2", "office_snr0_med_v2"])
def test_sounds_that_overlap_are_kept_for_the_alignment(
    capsys: pytest.CaptureFixture[str], shared: Path, node: str, scene: str
) -> None:
    folder = shared / "data" / "sound_events"
    files = (str(folder / f"{scene}.txt"), str(folder / f"{scene}_detected.txt"))
    flat = assessed(capsys, *files, "--sort", "--node", node)
    kept = assessed(capsys, *files, "--sort", "--overlaps", "keep", "--node", node)
    for document in (flat, kept):
        assert_node_agrees(document)
    assert kept["alignment"]["distance"] != flat["alignment"]["distance"]
    assert kept["alignment"]["segments"]["prediction"] > flat["alignment"]["segments"]["prediction"]


def test_the_builtin_example(capsys: pytest.CaptureFixture[str], node: str) -> None:
    document = assessed(capsys, "--example", "--node", node)
    assert_node_agrees(document)
    assert document["slices"]["unknown"] > 0
    assert document["prequential"]["unlabelled"] > 0
    assert document["recording"]["flattened"]["truth"] > 0
    assert min(document["slices"]["totals"].values()) > 0
    assert document["alignment"]["repetitions"]["split"] > 0


def test_the_example_says_the_same_with_and_without_a_node(
    capsys: pytest.CaptureFixture[str], node: str
) -> None:
    alone = assessed(capsys, "--example")
    with_node = assessed(capsys, "--example", "--node", node)
    for part in ("recording", "labels", "alignment", "slices", "prequential"):
        assert with_node[part] == alone[part]


def test_days_of_unknown_truth_do_not_overflow_a_small_ring(
    capsys: pytest.CaptureFixture[str], node: str
) -> None:
    document = assessed(capsys, "--example", "--node", node, "--set", "capacity.runs=16")
    assert document["node"]["unassessed_ticks"] == 0
    assert document["parity"]["different"] == 0


def test_two_nodes_say_the_same(capsys: pytest.CaptureFixture[str], arm: Engine, x64: Engine) -> None:
    told = [assessed(capsys, "--example", "--node", name)["node"] for name in ("arm", "x64")]
    assert told[0]["raw"] == told[1]["raw"]
    assert [node["bits"] for node in told] == [32, 64]


def test_parity_exits_with_0_where_all_agree(capsys: pytest.CaptureFixture[str], node: str) -> None:
    assert main(["parity", "--table1", "--node", node]) == 0
    out = capsys.readouterr().out
    assert "all agree" in out
    assert f"on {node}" in out

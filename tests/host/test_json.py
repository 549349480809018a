"""The JSON document: every key of it is documented, and every documented key is there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from outcomes import outcome_of
from streamgauge import example, jsonreport
from streamgauge.cli import main
from streamgauge.extras.figures import Extras, ExtrasSettings, extras
from streamgauge.extras.others import HoldoutSet, Others
from streamgauge.extras.records import records_of
from streamgauge.files import ReadOptions, Recording
from streamgauge.levels.figures import LevelFigures, LevelSettings, level_figures
from streamgauge.levels.read import Levels
from streamgauge.outcome import Outcome
from streamgauge.parity import Difference
from streamgauge.profile import load_profile


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    truth, prediction, options = example.builtin()
    return outcome_of(str(truth), str(prediction), options)


def keys(value: Any, labels: set[str], path: str = "") -> Iterator[str]:
    """The keys of a document as `KEYS` writes them."""
    if path == "node.raw" or path.endswith(".settings"):
        yield path
    elif isinstance(value, dict):
        for key, inner in value.items():
            name = "<label>" if path.endswith("per_label") and key in labels else key
            name = "<detector>" if path == "drift" else name
            yield from keys(inner, labels, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for inner in value:
            yield from keys(inner, labels, path + "[]")
    else:
        yield path


def all_extras(recording: Recording) -> Extras | None:
    """Figures of all there may be beside truth and prediction, with alarms of every detector."""
    records = records_of(recording)
    assert records is not None
    half = len(records.truth) // 2
    second = np.where(np.arange(len(records.truth)) < half, records.prediction, 0).astype(np.uint8)
    holdout = HoldoutSet(second[:20], ((100, second[:20]), (10**9, second[:20])))
    others = Others(("one", "other"), second, second, holdout)
    profile = load_profile("sensor").with_values(
        {"estimators.on": ["page_hinkley", "ddm", "adwin"], "page_hinkley.threshold": 1.0}
    )
    return extras(recording, ExtrasSettings.of(profile), others)


def all_levels() -> LevelFigures:
    """Figures of two hierarchies with all there may be."""
    coarse, fine = np.array([[0, 40]]), np.array([[0, 15], [15, 40]])
    levels = Levels(
        [coarse, fine], [fine], [["a"], ["a", "b"]], [["a", "b"]], ("c", "f"), ("f",), (0, 40), None
    )
    return level_figures(levels, LevelSettings(window=9, tolerances=(2,), gain=(1.0, 0.5)))


def test_every_key_is_documented_and_there(outcome: Outcome) -> None:
    assert outcome.parity is not None
    notes = replace(outcome.assessment.recording.notes, skipped_rows=["a row"], warnings=["a warning"])
    recording = replace(outcome.assessment.recording, notes=notes)
    different = Difference("alignment.cost", 1.0, 2.0, 0.5, "host")
    full = replace(
        outcome,
        assessment=replace(
            outcome.assessment, recording=recording, extras=all_extras(recording), hierarchy=all_levels()
        ),
        parity=replace(outcome.parity, first=(different,), remarks=("a remark",), different=1),
    )
    document = jsonreport.document(full)
    found = set(keys(document, set(document["labels"])))
    nothing = ("drift", "compare", "reliability", "holdout", "hierarchy")  # what they are without their input
    documented = {key for key, _ in jsonreport.KEYS if key not in nothing}
    assert found - documented == set()
    assert documented - found == set()
    assert len(documented) == len(jsonreport.KEYS) - len(nothing)


def test_it_survives_json(outcome: Outcome) -> None:
    document = jsonreport.document(outcome)
    assert json.loads(jsonreport.text(outcome)) == json.loads(json.dumps(document))


def test_the_keys_people_were_promised_are_there(outcome: Outcome) -> None:
    document = json.loads(jsonreport.text(outcome))
    labels = len(document["labels"])
    assert document["labels"][0] == "NULL"
    alignment = document["alignment"]
    assert alignment["distance"] > 0
    assert alignment["forced"] == 0
    assert np.array(alignment["confusion"]).shape == (labels, labels)
    assert set(alignment["latency"]) == {"count", "mean", "std", "min", "max"}
    assert alignment["overlap"]["mean"] > 0
    assert alignment["prediction_duration"]["mean"] > 0
    assert alignment["repetitions"]["total"] > 0
    slices = document["slices"]
    for name in ("accuracy", "precision", "recall", "f1"):
        assert 0 < slices[name] < 1
    assert set(slices["totals"]) == {"correct", "S", "D", "I", "U", "O", "F", "M"}
    assert sum(slices["totals"].values()) == slices["known"]
    for row in ("ground", "inferred", "average"):
        assert set(slices[row]) == {"correct", "substitution", "occurrence", "timing", "segmentation"}
    assert list(slices["per_label"]) == document["labels"]
    for name in ("mean", "window", "fading"):
        assert {"value", "hoeffding", "chernoff"} <= set(document["prequential"][name])
    assert document["prequential"]["count"] > 0
    assert {
        "engine",
        "heap_bytes",
        "code_bytes",
        "state_bytes",
        "high_water_bytes",
        "allocated_by_updates",
    } <= set(document["node"])
    assert {"compared", "different", "worst"} <= set(document["parity"])


def test_what_is_missing_is_null(tmp_path: Path) -> None:
    truth, prediction = tmp_path / "t.csv", tmp_path / "p.csv"
    truth.write_text("0,5,a\n")
    prediction.write_text("5,9,b\n")
    document = jsonreport.document(outcome_of(str(truth), str(prediction), ReadOptions()))
    alignment = document["alignment"]
    assert alignment["latency"] == {"count": 0, "mean": None, "std": None, "min": None, "max": None}
    assert alignment["per_label"]["b"]["recall"] is None
    assert alignment["per_label"]["a"]["precision"] == 0
    assert document["slices"]["per_label"]["b"]["recall"] is None
    json.dumps(document, allow_nan=False)


def test_a_difference_from_nothing_is_no_infinity(outcome: Outcome) -> None:
    assert outcome.parity is not None
    broken = replace(outcome, parity=replace(outcome.parity, worst=float("inf")))
    assert json.loads(jsonreport.text(broken))["parity"]["worst"] is None


def test_without_a_node_its_parts_are_null(outcome: Outcome) -> None:
    alone = replace(outcome, node=None, parity=None)
    document = jsonreport.document(alone)
    assert document["node"] is None
    assert document["parity"] is None
    assert document["alignment"] == jsonreport.document(outcome)["alignment"]


def test_the_key_table_has_a_line_a_key(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["assess", "--json-keys"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [key for key, _ in jsonreport.KEYS]

"""The figures of single records, their report, and which alarms a node must raise."""

from __future__ import annotations

import json
from array import array
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gauge import adwin, drift
from gauge.ledger import Ledger
from streamgauge.cli import main
from streamgauge.drift import ADWIN, DDM, PageHinkley
from streamgauge.extras import close, records
from streamgauge.extras.figures import ExtrasSettings, extras
from streamgauge.extras.others import Others
from streamgauge.files import Notes, ReadOptions, Recording
from streamgauge.forgetting import FadedConfusion
from streamgauge.reading.recording import assemble
from streamgauge.segments import Segments
from streamgauge.task import Task


def recording_of(truth: list[int], prediction: list[int], ticks: int = 1, start: int = 0) -> Recording:
    labels = ("NULL", "a", "b")
    sides = [Segments.from_labels(np.array(side), ticks, start=start) for side in (truth, prediction)]
    return assemble(Task(labels, 1.0, ticks), sides[0], sides[1], None, ReadOptions(), Notes())


def test_an_alarm_has_the_time_of_its_record_whatever_lies_before_it_without_truth() -> None:
    truth = [1] * 100 + [255] * 40 + [1] * 100
    prediction = [1] * 140 + [2] * 100
    found = extras(recording_of(truth, prediction, 60, 600), ExtrasSettings())
    assert found is not None
    (event,) = found.drift["page_hinkley"].alarms[:1]
    host = PageHinkley()
    host.update([0] * 100 + [1] * 100)
    assert event.record == host.alarms[0].index
    assert event.tick == 600 + 60 * (event.record + 40)
    assert found.records.tick(event.record) == event.tick
    assert event.direction == "up"


def test_the_faded_matrix_is_that_of_the_records() -> None:
    rng = np.random.default_rng(1)
    truth, prediction = rng.integers(0, 3, (2, 500))
    truth = np.where(rng.random(500) < 0.1, 255, truth)
    found = extras(recording_of(truth.tolist(), prediction.tolist()), ExtrasSettings())
    assert found is not None
    host = FadedConfusion(3, 0.999)
    host.update(truth, prediction)
    np.testing.assert_allclose(found.forgetting.matrix, host.matrix, rtol=1e-12)
    assert found.forgetting.scores == host.scores()
    assert (found.forgetting.count, found.forgetting.unlabelled) == (host.count, host.unlabelled)


def test_more_records_than_memory_is_meant_for_have_no_such_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "MOST_RECORDS", 9)
    assert extras(recording_of([1] * 10, [1] * 10), ExtrasSettings()) is None
    assert extras(recording_of([1] * 9, [1] * 9), ExtrasSettings()) is not None


def test_records_that_nobody_labelled_are_estimated_from_their_confidences() -> None:
    truth = [1] * 400 + [255] * 100
    prediction = [1, 1, 1, 2] * 100 + [1] * 100
    sure = np.full(500, 180, dtype=np.uint8)
    found = extras(recording_of(truth, prediction), ExtrasSettings(), Others(confidence=sure))
    assert found is not None
    assert found.reliability is not None
    assert found.reliability.estimate is not None
    assert found.reliability.estimate.value == pytest.approx(0.75)
    assert found.reliability.calibration_error == pytest.approx(abs(0.75 - 180 / 255))


def losses(seed: int, longest: int) -> np.ndarray[Any, Any]:
    rng = np.random.default_rng(seed)
    rates = np.repeat(rng.choice([0.02, 0.1, 0.2, 0.4, 0.6], 4), 1000)
    lengths = rng.integers(1, longest + 1, len(rates))
    return np.repeat(rng.random(len(rates)) < rates, lengths)[: len(rates)].astype(float)


def alarms(kernel: Any, node: Any, x: np.ndarray[Any, Any]) -> list[tuple[int, int]]:
    found = []
    for loss in x.astype(int).tolist():
        kernel(node.w, 0, node.w, array("i", (0, loss, 0, 1, 1, 0, 0, 0)), 1)
        if node.take():
            found.append((node.raw()["record"], node.raw()["direction"]))
    return found


def assert_sure(sure: close.Sure | None, found: list[tuple[int, int]]) -> None:
    if sure is not None:
        assert [(record, close.WAYS[way]) for record, way in found] == [a[:2] for a in sure.alarms]


@settings(max_examples=25)
@given(
    st.integers(0, 2**32),
    st.sampled_from([1, 6]),
    st.sampled_from(["up", "both"]),
    st.sampled_from([(0.05, 22.0), (0.01, 6.3)]),
    st.sampled_from([1.0, 0.99]),
)
def test_where_it_is_sure_of_page_hinkley_node_and_host_raise_it(
    seed: int, longest: int, direction: str, limits: tuple[float, float], fading: float
) -> None:
    x = losses(seed, longest)
    host = PageHinkley(*limits, fading, direction)
    delta, threshold = (round(limit * 1e6) for limit in limits)
    sides = {"up": 1, "both": 3}[direction]
    node = drift.PageHinkley(Ledger(), delta, threshold, round((1 - fading) * 2**30), sides)
    sure = close.page_hinkley(host, x, node.raw()["bits"], smoothed=False)
    host.update(x)
    if sure is not None:
        assert [a[:2] for a in sure.alarms] == [(a.index, a.direction) for a in host.alarms]
    assert_sure(sure, alarms(drift.feed, node, x))


@settings(max_examples=25)
@given(st.integers(0, 2**32), st.sampled_from([1, 6]), st.sampled_from([(3.0, 30), (4.0, 200), (2.0, 30)]))
def test_where_it_is_sure_of_ddm_node_and_host_raise_it(
    seed: int, longest: int, limits: tuple[float, int]
) -> None:
    x = losses(seed, longest)
    level, warmup = limits
    sure = close.ddm(level, warmup, x)
    host = DDM(level, 1.5, warmup)
    host.update(x)
    if sure is not None:
        assert [a[:2] for a in sure.alarms] == [(a.index, a.direction) for a in host.alarms]
    assert_sure(sure, alarms(drift.feed_ddm, drift.DDM(Ledger(), round(level * 256), warmup), x))


@settings(max_examples=15)
@given(st.integers(0, 2**32), st.sampled_from([1, 6]), st.sampled_from([0.002, 0.1]))
def test_where_it_is_sure_of_adwin_node_and_host_raise_it(seed: int, longest: int, confidence: float) -> None:
    x = losses(seed, longest)
    values = {"confidence": confidence, "rows": 9, "per_row": 5, "grain": 8}
    sure = close.adwin(values, x)
    host = ADWIN(**values)
    host.update(x)
    if sure is not None:
        assert [a[:2] for a in sure.alarms] == [(a.index, a.direction) for a in host.alarms]
    node = adwin.ADWIN(Ledger(), round(confidence * 1e6), 9, 5, 8)
    assert_sure(sure, alarms(adwin.feed, node, x))


def test_it_is_sure_of_most_streams_whose_change_is_plain() -> None:
    sure = [0, 0, 0]
    values = {"confidence": 0.002, "rows": 9, "per_row": 5, "grain": 8}
    for seed in range(20):
        rng = np.random.default_rng(seed)
        x = (rng.random(3000) < np.repeat([0.2, 0.6], 1500)).astype(float)
        sure[0] += close.page_hinkley(PageHinkley(), x, 20, smoothed=False) is not None
        sure[1] += close.ddm(4.0, 200, x) is not None
        sure[2] += close.adwin(values, x) is not None
    assert sure[0] == 20
    assert sure[1] >= 15
    assert sure[2] >= 12


@pytest.fixture
def stream(tmp_path: Path) -> Path:
    rng = np.random.default_rng(2)
    truth = rng.integers(1, 4, 900)
    a = np.where(rng.random(900) < np.repeat([0.1, 0.6], 450), 1 + truth % 3, truth)
    b = np.where(rng.random(900) < 0.15, 1 + truth % 3, truth)
    known = np.where(rng.random(900) < 0.2, "UNKNOWN", np.char.add("act", truth.astype(str)))
    lines = ["truth,one,two,sure"]
    for row in zip(known, a, b, rng.integers(0, 256, 900), strict=True):
        lines.append(f"{row[0]},act{row[1]},act{row[2]},{row[3]}")
    path = tmp_path / "stream.csv"
    path.write_text("\n".join(lines) + "\n")
    held = "truth,300,600\n" + "".join(f"act{i % 3 + 1},act1,act{i % 3 + 1}\n" for i in range(30))
    (tmp_path / "held.csv").write_text(held)
    return path


def arguments(stream: Path) -> list[str]:
    columns = ["--rate", "1", "--truth-column", "truth", "--prediction-column", "one"]
    beside = ["--second-column", "two", "--confidence-column", "sure"]
    return [str(stream), str(stream), *columns, *beside, "--holdout", str(stream.with_name("held.csv"))]


def test_the_report_says_who_is_ahead_and_what_else_there_is(
    capsys: pytest.CaptureFixture[str], stream: Path
) -> None:
    assert main(["assess", *arguments(stream), "--estimators", "all"]) == 0
    text = capsys.readouterr().out
    flat = " ".join(text.split())
    assert "two is ahead of one since record" in flat
    assert "significant at 0.99" in flat
    for section in ("Drift", "Forgetting", "Two recognisers", "Without truth", "Holdout"):
        assert f"\n{section}  " in text
    assert "errors grew" in text
    assert "ADWIN" in text
    assert "calibration error" in text
    assert main(["assess", *arguments(stream), "--brief"]) == 0
    brief = capsys.readouterr().out
    assert "errors grew" not in brief
    assert "ADWIN" not in brief  # the profile has it off


def test_the_document_says_the_same(capsys: pytest.CaptureFixture[str], stream: Path) -> None:
    assert main(["assess", *arguments(stream), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    compare = document["compare"]
    assert compare["names"] == ["one", "two"]
    assert compare["faded"]["ahead"] == "two"
    assert compare["faded"]["level"] == 0.99
    assert compare["verdict"].startswith("two is ahead of one since record")
    assert compare["overall"]["discordant"] == compare["overall"]["n01"] + compare["overall"]["n10"]
    assert document["drift"]["page_hinkley"]["alarms"][0]["direction"] == "up"
    assert document["reliability"]["estimate"]["low"] < document["reliability"]["estimate"]["value"]
    assert [score["accuracy"] for score in document["holdout"]["scores"]] == [pytest.approx(1 / 3), 1.0]
    assert set(document["drift"]) == {"page_hinkley"}


def test_an_estimator_of_no_such_name_is_refused(capsys: pytest.CaptureFixture[str], stream: Path) -> None:
    assert main(["assess", *arguments(stream), "--estimators", "align,kappa"]) == 2
    assert "--estimators names 'kappa' (all, or some of align," in capsys.readouterr().err

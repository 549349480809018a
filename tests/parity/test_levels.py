"""One node that is told labels and levels: its counts are the host's, whatever way the labels are told."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from streamgauge.assess import Settings, assess
from streamgauge.cli import main
from streamgauge.engines import Engine
from streamgauge.extras.others import Others, read_others
from streamgauge.files import Notes, ReadOptions, Recording, read_pair
from streamgauge.levels.feed import LevelFeed
from streamgauge.levels.figures import Hierarchies, LevelSettings, level_figures
from streamgauge.levels.read import Levels, read_levels
from streamgauge.node_run import prepare, run_model, run_node
from streamgauge.outcome import assess_on
from streamgauge.parity import compare
from streamgauge.profile import load_profile
from streamgauge.reading.recording import assemble
from streamgauge.segments import Segments
from streamgauge.task import Task

SENSOR = load_profile("sensor")


@pytest.fixture(scope="module")
def song(shared: Path) -> tuple[Recording, Others, list[list[str]]]:
    """Two annotators of one song: their fine labels as the pair, both their levels beside it."""
    folder = shared / "data" / "salami" / "636" / "parsed"
    sides = [
        [str(folder / f"textfile{annotator}_{level}.txt") for level in ("uppercase", "lowercase")]
        for annotator in (1, 2)
    ]
    recording = read_pair(sides[0][1], sides[1][1])
    levels = read_levels(*sides, fit=True, timeline=recording.timeline)
    settings = LevelSettings(frame=100, window=15_000, tolerances=(500, 3000))
    return recording, Others(hierarchies=Hierarchies(levels, settings)), sides


def made(seed: int, ticks: int = 1, origin: int = 0) -> tuple[Recording, Others]:
    """A recording and levels that begin before it and end after it."""

    rng = np.random.default_rng(seed)
    count = 2000
    truth, prediction = (np.repeat(rng.integers(0, 3, 100), 20) for _ in range(2))
    start = origin + 50 * ticks
    recording = assemble(
        Task(("NULL", "a", "b"), None, ticks),
        Segments.from_labels(truth, ticks, start=start),
        Segments.from_labels(prediction, ticks, start=start),
        None,
        ReadOptions(),
        Notes(),
    )
    span = (origin, origin + (count + 90) * ticks)

    def level(parts: int) -> np.ndarray[Any, Any]:
        inside = rng.choice(np.arange(span[0] + 1, span[1]), parts - 1, replace=False)
        edges = np.concatenate(([span[0]], np.sort(inside), [span[1]]))
        return np.column_stack((edges[:-1], edges[1:]))

    truth_levels, prediction_levels = ([level(parts) for parts in (4, 15, 60)] for _ in range(2))
    levels = Levels(
        truth_levels,
        prediction_levels,
        *(
            [[str(i) for i in range(len(rows))] for rows in side]
            for side in (truth_levels, prediction_levels)
        ),
        ("a", "b", "c"),
        ("d", "e", "f"),
        span,
        None,
    )
    return recording, Others(
        hierarchies=Hierarchies(levels, LevelSettings(frame=2 * ticks, window=60 * ticks))
    )


@pytest.mark.parametrize("spec", ["arm", "x64"])
def test_a_node_told_a_song_and_its_levels_agrees_with_the_host_and_the_hierarchy_command(
    request: pytest.FixtureRequest, song: tuple[Recording, Others, list[list[str]]], spec: str
) -> None:
    recording, others, _ = song
    assert others.hierarchies is not None
    engine = request.getfixturevalue(spec)
    assessment, node, parity = assess_on(recording, Settings.of(SENSOR), SENSOR, engine, others)
    assert parity.agrees, list(map(str, parity.first))
    assert parity.remarks == ()
    assert {"align", "slices", "prequential", "hierarchy"} <= set(node.raw)
    assert node.memory.allocated_by_updates == 0
    without = assess_on(recording, Settings.of(SENSOR), SENSOR, engine)[2]
    assert parity.with_host == without.with_host + 20
    found = level_figures(others.hierarchies.levels, others.hierarchies.settings)
    assert assessment.hierarchy is not None
    assert (assessment.hierarchy.full, assessment.hierarchy.reduced) == (found.full, found.reduced)
    assert assessment.hierarchy.pairs == found.pairs
    for name, side in (("recall_full", found.full.of_truth), ("precision_full", found.full.of_prediction)):
        assert node.raw["hierarchy"][name][:3] == [side.queries, side.concordant, side.pairs]
    assert node.raw["hierarchy"]["recall_full"][2] == 43_370_002


def test_labels_are_assessed_as_without_levels(song: tuple[Recording, Others, list[list[str]]]) -> None:
    recording, others, _ = song
    raw = run_model(*prepare(recording, SENSOR, others=others))
    alone = run_model(*prepare(recording, SENSOR, others=Others()))
    raw.pop("hierarchy")
    assert raw == alone


def test_a_wrong_count_of_the_node_is_found(song: tuple[Recording, Others, list[list[str]]]) -> None:
    recording, others, _ = song
    config, feed = prepare(recording, SENSOR, others=others)
    raw = run_model(config, feed)
    assessment = assess(recording, Settings.of(SENSOR), others)
    assert compare(raw, assessment, config).agrees
    for name in ("recall_reduced", "precision_reduced", "recall_full", "precision_full"):
        for place in range(4):
            changed = {**raw, "hierarchy": {**raw["hierarchy"], name: list(raw["hierarchy"][name])}}
            changed["hierarchy"][name][place] += 1 << 12 if place == 3 else 1
            assert not compare(changed, assessment, config).agrees, (name, place)


@pytest.mark.parametrize("spec", ["arm", "x64"])
@pytest.mark.parametrize("mode", ["slices", "records", "samples"])
def test_levels_go_beside_labels_however_those_are_told(
    request: pytest.FixtureRequest, mode: str, spec: str
) -> None:
    recording, others = made(3, ticks=3)
    if mode == "records":
        span = (recording.span[0], recording.span[1] - 1)

        recording = assemble(
            recording.task, recording.truth, recording.prediction, span, ReadOptions(), Notes()
        )
    if mode == "samples":
        others = replace(others, second=np.ones(2000, dtype=np.uint8))
    config, feed = prepare(recording, SENSOR, others=others)
    assert isinstance(feed, LevelFeed)
    assert feed.plan["mode"] == mode
    node = run_node(request.getfixturevalue(spec), config, feed, 256 * 1024)
    parity = compare(
        node.raw, assess(recording, Settings.of(SENSOR), others), config, run_model(config, feed)
    )
    assert parity.agrees, list(map(str, parity.first))
    assert node.raw["hierarchy"]["frames"] == 1045
    assert node.memory.allocated_by_updates == 0
    assert node.updates == feed.labels.updates + len(feed.events) // 16


class _Listener:
    """A node that keeps what it is told: how far the labels are at each boundary."""

    def __init__(self) -> None:
        self.labels = 0
        self.heard: list[tuple[int, int]] = []

    def predict_batch(self, t: int, labels: bytes) -> None:
        self.labels = t + len(labels)

    def truth_batch(self, t: int, labels: bytes) -> None:
        pass

    def truth_level(self, level: int, tick: int) -> None:
        self.heard.append((tick, self.labels))

    predict_level = truth_level

    def levels_until(self, tick: int) -> None:
        self.heard.append((tick, self.labels))

    levels_end = levels_until


def test_a_boundary_is_told_as_soon_as_the_labels_have_come_as_far() -> None:
    recording, others = made(5)
    _, feed = prepare(recording, SENSOR, others=others)
    chunk = feed.plan["chunk"]
    node = _Listener()
    feed.into(node)
    begin, stop = recording.span
    inside = [(tick, labels) for tick, labels in node.heard if begin < tick <= stop]
    assert len(inside) > 100
    assert all(tick <= labels < tick + chunk for tick, labels in inside)
    assert [tick for tick, _ in node.heard] == sorted(tick for tick, _ in node.heard)
    assert node.heard[-1] == (2090, stop)


def test_ticks_beyond_the_nodes_clock_still_go_round(x64: Engine) -> None:
    recording, others = made(7, ticks=1000, origin=(1 << 30) - 700_000)
    config, feed = prepare(recording, SENSOR, others=others)
    node = run_node(x64, config, feed, SENSOR.heap_bytes)
    parity = compare(
        node.raw, assess(recording, Settings.of(SENSOR), others), config, run_model(config, feed)
    )
    assert parity.agrees, list(map(str, parity.first))


def test_all_estimators_and_the_parity_command_take_levels(
    song: tuple[Recording, Others, list[list[str]]], capsys: pytest.CaptureFixture[str], arm: Engine
) -> None:
    truth, prediction = song[2]
    named = [("--truth-level", path) for path in truth] + [
        ("--prediction-level", path) for path in prediction
    ]
    words = [
        "parity",
        truth[1],
        prediction[1],
        "--node",
        "arm",
        "--estimators",
        "all",
        "--heap",
        "256k",
        "--json",
    ]
    assert main(words) == 0
    alone = json.loads(capsys.readouterr().out)
    assert any("hierarchy: it needs levels (--truth-level" in remark for remark in alone["remarks"])
    assert main([*words, *(word for pair in named for word in pair), "--fit"]) == 0
    both = json.loads(capsys.readouterr().out)
    assert both["with_host"] == alone["with_host"] + 20
    assert both["different"] == 0
    assert not any("hierarchy" in remark for remark in both["remarks"])


def test_gaps_in_levels_are_said_and_compared(tmp_path: Path) -> None:
    path, whole = tmp_path / "t.lab", tmp_path / "w.lab"
    path.write_text("0 20 a\n30 100 b\n")
    whole.write_text("0 45 a\n45 100 b\n")
    recording, others = read_others(path, whole, ReadOptions())
    levels = read_levels([path], [whole], timeline=recording.timeline)
    others = replace(others, hierarchies=Hierarchies(levels, LevelSettings(window=20)))
    config, feed = prepare(recording, SENSOR, others=others)
    parity = compare(run_model(config, feed), assess(recording, Settings.of(SENSOR), others), config)
    assert parity.agrees, list(map(str, parity.first))
    assert "gaps are segments to it" in parity.remarks[0]

"""Alarms, faded figures, two recognisers, confidences and a holdout set: the node's and the host's."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from streamgauge.assess import Assessment, Settings, assess
from streamgauge.extras.feed import SampleFeed, lay_out_samples
from streamgauge.extras.others import HoldoutSet, Others
from streamgauge.files import Notes, ReadOptions, Recording, read_pair
from streamgauge.node_run import prepare, run_model, run_node
from streamgauge.parity import compare
from streamgauge.profile import Profile, load_profile
from streamgauge.reading.recording import assemble
from streamgauge.segments import Segments
from streamgauge.task import Task

Told = tuple[Recording, Others, Profile]

ALL = ["align", "slices", "prequential", "page_hinkley", "ddm", "adwin", "forgetting"]


def told(seed: int, count: int = 3000, ticks: int = 1) -> Told:
    """A stream whose recogniser turns bad half-way, with all there may be beside it."""
    rng = np.random.default_rng(seed)
    labels = int(rng.integers(2, 6))

    def runs(longest: int) -> np.ndarray[Any, Any]:
        lengths = rng.integers(1, longest + 1, count)
        return np.repeat(rng.integers(0, labels, count), lengths)[:count]

    truth = runs(30)
    rates = np.where(np.arange(count) < count // 2, 0.15, 0.45)
    prediction = np.where(rng.random(count) < rates, runs(5), truth)
    second = np.where(rng.random(count) < 0.25, runs(5), truth).astype(np.uint8)
    truth = np.where(np.repeat(rng.random(count) < 0.05, 10)[:count], 255, truth)
    right = truth == prediction
    sure = np.clip(rng.normal(np.where(right, 190, 90), 50), 0, 255).astype(np.uint8)
    names = ("NULL", *map(str, range(1, labels)))
    start = int(rng.integers(0, 1000))
    recording = assemble(
        Task(names, 1.0, ticks),
        Segments.from_labels(truth, ticks, start=start),
        Segments.from_labels(prediction, ticks, start=start),
        None,
        ReadOptions(),
        Notes(),
    )
    held = rng.integers(0, labels, 40).astype(np.uint8)
    known = int((truth != 255).sum())
    scorings = tuple(
        (records, np.where(rng.random(40) < 0.3, 0, held).astype(np.uint8))
        for records in (1, known // 3, known // 2, known, known + 1)
    )
    profile = load_profile("sensor").with_values(
        {
            "estimators.on": ALL,
            "capacity.pending": 512,
            "capacity.runs": 64,
            "compare.window": int(rng.integers(10, 500)),
            "compare.alpha": float(rng.choice([0.9, 0.99, 0.999])),
            "forgetting.alpha": float(rng.choice([0.9, 0.99, 0.999])),
            "reliability.alpha": float(rng.choice([1.0, 0.99])),
            "reliability.bins": int(rng.choice([4, 16])),
            "page_hinkley.direction": str(rng.choice(["up", "both"])),
            "page_hinkley.source": str(rng.choice(["loss", "loss", "fading", "window"])),
            "page_hinkley.threshold": 12.0137,
        }
    )
    return recording, Others(("A", "B"), second, sure, HoldoutSet(held, scorings)), profile


def both(case: Told) -> tuple[dict[str, Any], Assessment, dict[str, Any]]:
    """What the model and the host say of it, and the configuration."""
    recording, others, profile = case
    config, feed = prepare(recording, profile, others=others)
    assert isinstance(feed, SampleFeed)
    return run_model(config, feed), assess(recording, Settings.of(profile), others), config


@pytest.mark.parametrize("seed", range(12))
def test_every_number_of_a_node_told_sample_by_sample_is_the_hosts(seed: int) -> None:
    raw, assessment, config = both(told(seed, ticks=1 + seed % 3))
    assert {"compare", "reliability", "holdout", *ALL} <= set(raw)
    got = compare(raw, assessment, config)
    assert got.agrees, list(map(str, got.first))
    assert raw["align"]["forced"] == 0
    assert raw["page_hinkley"]["alarms"] or seed


def test_confidences_and_a_second_recogniser_cut_no_segment() -> None:
    """The alignment of labels that come with ever new confidences is that of the labels."""
    recording, others, profile = told(3)
    with_all, _, _ = both((recording, others, profile))
    config, feed = prepare(recording, profile)
    alone = run_model(config, feed)
    assert with_all["align"] == alone["align"]
    assert with_all["slices"] == alone["slices"]


# What says how to read a figure, what the host does not have, and what decides nothing more.
_NOT_COMPARED = (
    {("page_hinkley", name) for name in ("bits", "since", "mean", "up", "down")}
    | {("ddm", name) for name in ("bits", "since", "mean", "best", "root", "limit")}
    | {("adwin", name) for name in ("window_n", "window_sum", "rows")}
)


_ROUNDED = ("faded", "losses", "cells", "labelled", "right", "confidence", "without", "value")


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(value, dict):
        return [place for key, inner in value.items() for place in _places(inner, (*path, key))]
    if isinstance(value, list):
        return [place for key, inner in enumerate(value) for place in _places(inner, (*path, key))]
    return [path]


def test_every_figure_that_changes_is_found() -> None:
    raw, assessment, config = both(told(0, 1200))
    assert compare(raw, assessment, config).agrees
    parts = ("page_hinkley", "ddm", "adwin", "compare", "forgetting", "reliability", "holdout")
    for place in _places({name: raw[name] for name in parts}):
        if place[:2] in _NOT_COMPARED or place[-1] in ("weight_q20", "blind_weight_q20"):
            continue
        if (
            place[0] in ("page_hinkley", "ddm", "adwin")
            and not raw[place[0]]["alarms"]
            and place[1]
            not in (
                "n",
                "alarms",
            )
        ):
            continue
        if place[0] == "holdout" and place[-1] == 2:
            continue  # a figure that the program may keep beside a score
        changed = copy.deepcopy(raw)
        inside = changed
        for key in place[:-1]:
            inside = inside[key]
        inside[place[-1]] += 1 if place[-1] != "direction" else 3 - 2 * inside["direction"]
        if place[1] in _ROUNDED:
            inside[place[-1]] += 1 << 26
        if place[0] == "compare" and place[1].endswith("lead") and place[-1] == 1 and not inside[0]:
            continue  # when a lead began that is over
        got = compare(changed, assessment, config)
        close = any("less than the node rounds" in remark for remark in got.remarks)
        assert not got.agrees or close, place


def test_what_is_not_given_is_left_out_and_said() -> None:
    recording, _, profile = told(1)
    everything = [*ALL, "compare", "reliability", "holdout", "hierarchy"]
    profile = profile.with_values({"estimators.on": everything})
    config, feed = prepare(recording, profile, others=Others())
    assert config["estimators"] == ALL
    assert feed.plan["mode"] == "slices"
    got = compare(run_model(config, feed), assess(recording, Settings.of(profile)), config)
    assert got.agrees
    left = " ".join(got.remarks)
    for name in ("--second", "--confidence-column", "--holdout", "--truth-level"):
        assert name in left


def test_a_recording_off_the_grid_is_compared_on_the_host_alone() -> None:
    recording, others, profile = told(2, ticks=3)
    span = (recording.span[0], recording.span[1] - 1)
    cut = assemble(recording.task, recording.truth, recording.prediction, span, ReadOptions(), Notes())
    assert lay_out_samples(cut, others) is None
    config, feed = prepare(cut, profile, others=others)
    assert config["estimators"] == ALL
    assessment = assess(cut, Settings.of(profile), others)
    assert assessment.extras is not None
    assert assessment.extras.compare is not None
    got = compare(run_model(config, feed), assessment, config)
    assert got.agrees, list(map(str, got.first))
    assert "The node left out compare: it is told sample by sample" in " ".join(got.remarks)


@pytest.mark.parametrize("spec", ["arm", "x64"])
def test_a_node_on_an_engine_equals_its_model_and_allocates_nothing(
    request: pytest.FixtureRequest, spec: str
) -> None:
    recording, others, profile = told(5, 1500)
    config, feed = prepare(recording, profile, others=others)
    node = run_node(request.getfixturevalue(spec), config, feed, 512 * 1024)
    assessment = assess(recording, Settings.of(profile), others)
    got = compare(node.raw, assessment, config, run_model(config, feed))
    assert got.agrees, list(map(str, got.first))
    assert got.with_model > 150
    assert node.memory.allocated_by_updates == 0
    assert node.updates == feed.updates == 1500 * 3 + 4


@pytest.fixture(scope="module")
def elec2(shared: Path) -> tuple[Recording, Others]:
    from streamgauge.extras.others import read_others

    path = shared / "data" / "streams" / "elec2_nb_ht.csv.gz"
    options = ReadOptions(rate=1, truth_column="truth", prediction_column="naive_bayes")
    return read_others(path, path, options, second_column="hoeffding_tree")


@pytest.mark.parametrize("spec", ["arm", "x64"])
def test_naive_bayes_against_the_hoeffding_tree(
    request: pytest.FixtureRequest, elec2: tuple[Recording, Others], spec: str
) -> None:
    """Prequential, faded and windowed errors, McNemar, Q and alarms of the electricity market agree."""
    recording, others = elec2
    on = ["prequential", "page_hinkley", "adwin", "forgetting"]
    profile = load_profile("sensor").with_values({"estimators.on": on})
    config, feed = prepare(recording, profile, others=others)
    assert config["estimators"] == [*on, "compare"]
    node = run_node(request.getfixturevalue(spec), config, feed, profile.heap_bytes)
    assessment = assess(recording, Settings.of(profile), others)
    got = compare(node.raw, assessment, config, run_model(config, feed))
    assert got.agrees, list(map(str, got.first))
    assert got.remarks == ()
    assert node.memory.allocated_by_updates == 0
    extras = assessment.extras
    assert extras is not None
    assert extras.compare is not None
    assert assessment.prequential.mean.value == pytest.approx(1 - 0.72875, abs=1e-5)
    assert node.raw["page_hinkley"]["alarms"] == len(extras.drift["page_hinkley"].alarms) == 53
    assert node.raw["adwin"]["alarms"] == len(extras.drift["adwin"].alarms)
    assert node.raw["compare"]["lead"] == [1, extras.compare.faded.since]
    verdict = extras.compare.verdict()
    assert verdict.startswith("hoeffding tree is ahead of naive bayes since record 44,990")
    assert "significant at 0.99" in verdict


def test_the_elec2_data_is_read_as_its_columns_say(shared: Path, elec2: tuple[Recording, Others]) -> None:
    path = shared / "data" / "streams" / "elec2_nb_ht.csv.gz"
    recording, others = elec2
    rows = np.loadtxt(path, delimiter=",", skiprows=1, dtype=int)
    assert others.names == ("naive bayes", "hoeffding tree")
    assert recording.task.labels == ("NULL", "0", "1")
    assert others.second is not None
    np.testing.assert_array_equal(others.second, rows[:, 2] + 1)
    assert (
        recording.span
        == read_pair(
            path, path, ReadOptions(rate=1, truth_column="truth", prediction_column="naive_bayes")
        ).span
    )

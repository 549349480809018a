"""The comparison itself: it finds what differs, and its bounds hold."""

from __future__ import annotations

import copy
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parity import pairs
from streamgauge import example, firmware, parity
from streamgauge.assess import Assessment, Settings, assess
from streamgauge.files import read_pair
from streamgauge.node_run import prepare, run_model
from streamgauge.parity import compare
from streamgauge.profile import compile_config, load_profile
from streamgauge.task import Task

Told = tuple[dict[str, Any], Assessment, dict[str, Any]]


@pytest.fixture(scope="module")
def told() -> Told:
    """Raw figures of the model, the host's figures and the configuration, of the built-in example."""
    recording = read_pair(*example.builtin())
    profile = load_profile("sensor")
    config, feed = prepare(recording, profile)
    return run_model(config, feed), assess(recording, Settings.of(profile)), config


def test_equal_figures_agree(told: Told) -> None:
    raw, assessment, config = told
    got = compare(raw, assessment, config, copy.deepcopy(raw))
    assert got.agrees
    assert got.compared == got.with_host + got.with_model
    assert got.with_model == len(list(parity._flat(raw)))
    assert got.first == got.remarks == ()


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to every number of the raw figures."""
    if isinstance(value, dict):
        return [place for key, inner in value.items() for place in _places(inner, (*path, key))]
    if isinstance(value, list):
        return [place for key, inner in enumerate(value) for place in _places(inner, (*path, key))]
    return [path]


# What says how to read a figure, and what the host does not have: the sum of the squares of the IoU.
_NOT_FIGURES = {
    ("version",),
    ("align", "stats", "iou", 2),
    ("prequential", "fading_bits"),
    ("prequential", "alpha_q30"),
}


def test_every_number_that_changes_is_found(told: Told) -> None:
    """One after the other, by as little as is beyond rounding."""
    raw, assessment, config = told
    for place in _places(raw):
        if place in _NOT_FIGURES or place == ("align", "forced"):
            continue
        changed = copy.deepcopy(raw)
        inside = changed
        for key in place[:-1]:
            inside = inside[key]
        much = {"iou": 1 << 14, "iou_q26": 1 << 14, "fading_s": 1 << 14}
        by = next((step for key, step in much.items() if key in place and place[-1] != 0), 1)
        inside[place[-1]] += by
        alone = compare(changed, assessment, config)
        assert not alone.agrees, place
        assert alone.first[0].against == "host", place
        with_model = compare(changed, assessment, config, raw)
        assert with_model.different > alone.different, place


def test_the_first_differences_are_named_by_label(told: Told) -> None:
    raw, assessment, config = told
    changed = copy.deepcopy(raw)
    changed["align"]["confusion"][1][0] += 3
    changed["slices"]["d"][2] -= 1
    got = compare(changed, assessment, config)
    names = assessment.recording.task.labels
    lines = list(map(str, got.first))
    assert any(line.startswith(f"alignment.confusion[{names[1]}][NULL]: node ") for line in lines)
    assert any(line.startswith(f"slices.D[{names[2]}]: node ") for line in lines)
    assert got.different >= 2


def test_a_forced_alignment_is_compared_with_the_model_alone(told: Told) -> None:
    raw, assessment, config = told
    changed = copy.deepcopy(raw)
    changed["align"]["forced"] = 2
    changed["align"]["confusion"][1][0] += 3
    assert compare(changed, assessment, config).agrees
    got = compare(changed, assessment, config, raw)
    assert got.different == 2
    assert {difference.against for difference in got.first} == {"model"}
    assert "decided 2 times before it could know" in got.remarks[0]


def test_lost_time_is_a_difference_with_its_reason(told: Told) -> None:
    raw, assessment, config = told
    changed = copy.deepcopy(raw)
    changed["join"]["unassessed"] = 60
    got = compare(changed, assessment, config)
    assert got.different == 1
    assert "could not assess 60 ticks" in got.remarks[0]


def test_estimators_that_are_off_are_not_compared(told: Told) -> None:
    raw, assessment, config = told
    less = {key: value for key, value in raw.items() if key not in ("align", "prequential")}
    got = compare(less, assessment, config)
    assert got.agrees
    assert 0 < got.with_host < compare(raw, assessment, config).with_host


def test_at_most_twenty_differences_are_kept(told: Told) -> None:
    raw, assessment, config = told
    changed = copy.deepcopy(raw)
    changed["slices"] = {key: [value + 1 for value in row] for key, row in raw["slices"].items()}
    got = compare(changed, assessment, config)
    assert len(got.first) == 20
    assert got.different > 20


@settings(max_examples=60)
@given(
    alpha=st.floats(0.5, 0.9999),
    runs=st.lists(st.tuples(st.integers(0, 1), st.integers(1, 400)), min_size=1, max_size=12),
)
def test_the_faded_mean_is_within_its_bound_of_the_exact_one(
    alpha: float, runs: list[tuple[int, int]]
) -> None:
    """The exact one in whole numbers of 2^-200."""
    profile = load_profile("sensor").with_values({"estimators.on": ["prequential"]})
    config = compile_config(profile, Task(("NULL", "a")))
    config["alpha_q30"] = round((1 - alpha) * 2**30)
    node = firmware.node_model().Node(config)
    t = 0
    for loss, count in runs:
        node.predict_batch(t, bytes([1 - loss]) * count)
        node.truth_batch(t, b"\1" * count)
        t += count
    node.finish()
    raw = node.raw()["prequential"]
    faded = weight = 0
    scale = 1 << 200
    factor = int(Fraction(alpha) * scale)
    for loss, count in runs:
        for _ in range(count):
            faded = loss * scale + faded * factor // scale
            weight = scale + weight * factor // scale
    exact = float(Fraction(faded, weight))
    got = parity.faded_mean(raw)
    assert got is not None
    assert abs(got - exact) <= parity.faded_bound(raw)


def test_the_distance_is_within_half_a_unit_a_pair_of_the_exact_one() -> None:
    for case in pairs.cases_from(100_000, 200):
        raw = run_model(case.config, case.feed)["align"]
        exact = pairs.oracle(case.recording, Fraction(9, 10)).distance
        assert abs(parity.node_distance(raw) - exact) <= raw["same"] * 2.0**-27 + 1e-12

"""Larger rings give exact figures, smaller ones say what they cost."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from streamgauge import exactness, firmware
from streamgauge.cli import main
from streamgauge.exactness import Exactness, ring_bytes
from streamgauge.files import ReadOptions, read_pair
from streamgauge.profile import compile_config, load_profile
from streamgauge.task import Task


@pytest.fixture(scope="module")
def found() -> Exactness:
    home = exactness.home()
    return exactness.measure({"home": home, "unsmoothed": exactness.unsmoothed(home)})


def test_with_room_enough_every_figure_is_exact(found: Exactness) -> None:
    for kind, value in (
        ("pending", "forced"),
        ("runs", "unassessed"),
        ("boundaries", "lost"),
    ):
        for curve in found.curves[kind]:
            assert curve.points[-1].values[value] == 0, (kind, curve.name)
            assert curve.points[0].values[value] > 0, (kind, curve.name)
    for curve in found.curves["pending"]:
        assert curve.points[-1].values["distance_error"] < 1e-9
    for curve in found.curves["boundaries"]:
        assert curve.points[-1].values["t_error"] < 1e-5


def test_without_forced_commits_the_distance_is_exact_whatever_the_size(found: Exactness) -> None:
    sizes = [point for curve in found.curves["pending"] for point in curve.points]
    assert any(point.values["forced"] for point in sizes)
    for point in sizes:
        if not point.values["forced"]:
            assert point.values["distance_error"] < 1e-9
        elif point.size == 4:
            assert point.values["distance_error"] > 0.01


def test_later_truth_leaves_more_time_unassessed(found: Exactness) -> None:
    by_hours = [
        [point.values["unassessed"] for point in curve.points]
        for curve in found.curves["runs"]
        if curve.name.startswith("home")
    ]
    assert len(by_hours) == len(exactness.HOURS)
    for sooner, later in pairwise(by_hours):
        assert all(a <= b for a, b in zip(sooner, later, strict=True))
        assert sooner != later


def test_a_recogniser_that_decides_slice_by_slice_needs_more_room(found: Exactness) -> None:
    smooth, rough = found.curves["pending"]
    needed = [
        next(point.size for point in curve.points if not point.values["forced"]) for curve in (smooth, rough)
    ]
    assert needed[0] < needed[1]


def test_the_sensors_sizes_suffice_for_the_example(found: Exactness) -> None:
    profile = load_profile("sensor")
    home = found.curves["pending"][0]
    assert next(p for p in home.points if p.size == profile["capacity.pending"]).values["forced"] == 0
    ring = found.curves["boundaries"][0]
    assert next(p for p in ring.points if p.size == profile["hierarchy.boundaries"]).values["lost"] == 0


@pytest.mark.parametrize(
    ("kind", "key"),
    [("pending", "capacity.pending"), ("runs", "capacity.runs"), ("boundaries", "hierarchy.boundaries")],
)
def test_bytes_are_what_the_node_books_more_for_a_larger_ring(kind: str, key: str) -> None:
    def booked(size: int) -> int:
        values = {"estimators.on": ["align", "prequential", "hierarchy"], key: size}
        config = compile_config(load_profile("sensor").with_values(values), Task(("NULL",)))
        node = firmware.node_model().Node(config)
        return int(node.ledger.used)

    assert booked(64) - booked(32) == ring_bytes(kind, 64) - ring_bytes(kind, 32)


def test_the_command_draws_and_tells(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [str(shared / "data" / "kasteren" / f"A_minutes_{side}.csv") for side in ("truth", "hmm")]
    # Shorter than the built-in example.
    monkeypatch.setattr(exactness, "home", lambda: read_pair(*files, ReadOptions(tick="60s")))
    plot = tmp_path / "exactness.png"
    assert main(["exactness", "--pair", "house", *files, "--json", "--plot", str(plot)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert set(told) == {"pending", "runs", "window", "boundaries"}
    assert set(told["pending"]) == {"home", "unsmoothed", "house"}
    assert {point["size"] for point in told["pending"]["house"]} == set(exactness.PENDING)
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert main(["exactness"]) == 0
    assert "late-truth ring, capacity.runs" in capsys.readouterr().out

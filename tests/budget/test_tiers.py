"""The three tiers: a program in a sensor's heap, the streaming form in a PDA's and a server's memory."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from streamgauge import example, firmware
from streamgauge.engines import Engine
from streamgauge.errors import InputError
from streamgauge.files import Recording, read_pair
from streamgauge.node_run import NodeRun, prepare, run_node
from streamgauge.profile import load_profile
from streamgauge.soak import soak

PROJECT = Path(__file__).parents[2]
MIB = 1 << 20


def tier(*arguments: str) -> tuple[int, dict[str, Any]]:
    """Run a tier in a process of its own; the long forms are in docs/tiers.md."""
    command = [sys.executable, str(PROJECT / "tools" / "tiers.py"), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


# Sensor: 100 KB of heap on the 32-bit engine, machine code in it as on a board.


def home(shared: Path) -> Recording:
    truth, prediction, options = example.builtin()
    return read_pair(truth, prediction, options)


def house_a(shared: Path) -> Recording:
    folder = shared / "data" / "kasteren"
    return read_pair(folder / "A_minutes_truth.csv", folder / "A_minutes_hmm.csv")


def in_heap(engine: Engine, recording: Recording, heap: int) -> NodeRun:
    """Run the sensor's node; the engine keeps machine code beside its heap, so that it gets as much less."""
    config, feed = prepare(recording, load_profile("sensor"))
    built = firmware.build(engine.march)
    beside = sum(
        firmware.machine_code_bytes(built[name.removesuffix(".py") + ".mpy"])
        for name in firmware.loaded_files(firmware.estimator_modules(config))
    )
    return run_node(engine, config, feed, heap - beside)


@pytest.mark.parametrize("recording", [home, house_a])
def test_a_whole_program_runs_in_a_sensors_heap_and_updates_take_nothing(
    recording: Any, arm: Engine, shared: Path
) -> None:
    profile = load_profile("sensor")
    assert profile.heap_bytes == 100 * 1024
    done = in_heap(arm, recording(shared), profile.heap_bytes)
    assert done.memory.allocated_by_updates == 0
    assert done.memory.with_machine_code <= profile.heap_bytes
    assert done.raw["align"]["forced"] == done.raw["join"]["unassessed"] == 0


def test_in_half_of_it_the_program_is_refused(arm: Engine, shared: Path) -> None:
    with pytest.raises(InputError, match="does not fit"):
        in_heap(arm, home(shared), 50 * 1024)


def test_a_sensors_heap_does_not_grow_after_boot(arm: Engine) -> None:
    found = soak(arm, load_profile("sensor"), 100_000, looks=10)
    assert found.grown["used"] == found.grown["high_water"] == 0


# PDA and server


def test_a_pda_assesses_a_long_stream_within_its_memory() -> None:
    code, told = tier("pda", "--slices", "1e6", "--segments", "1e5")
    assert told["budget_bytes"] == 32 * MIB
    assert told["trouble"] is None
    assert told["slices"] >= 1e6 and told["segments"] >= 1e5
    assert told["records"] > 3e6
    assert told["peak_bytes"] <= told["budget_bytes"]
    assert told["grew"] is False
    assert code == 0


def test_a_server_assesses_a_long_stream_within_its_memory() -> None:
    code, told = tier("server", "--slices", "3e6")
    assert told["budget_bytes"] == 400 * MIB
    assert told["trouble"] is None
    assert told["grew"] is False
    assert code == 0


@pytest.mark.parametrize(
    ("part", "slices"), [("prequential", "2e6"), ("slices", "5e6"), ("alignment", "4e6")]
)
def test_a_part_that_grows_dies_of_a_pdas_limit(part: str, slices: str) -> None:
    code, told = tier("pda", "--slices", slices, "--grow", part)
    assert told["trouble"] == "MemoryError"
    assert told["within"] is False
    assert code == 1


def test_a_part_that_grows_in_a_server_is_seen_before_it_dies() -> None:
    code, told = tier("server", "--slices", "2e6", "--grow", "prequential")
    assert told["trouble"] is None
    assert told["grew"] is True
    assert code == 1

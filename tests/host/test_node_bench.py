"""The C text that the node is measured against does the node's work: both give the same numbers."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import PROJECT, absent
from streamgauge import firmware
from streamgauge.engines.fetch import FetchError, qemu_arm
from streamgauge.places import engines_root

sys.path.insert(0, str(PROJECT / "tools" / "bench"))

import node_bench

from icount import CROSS_COMPILER, compile_c

MOST_LABELS = 31


class CProgram:
    """The C text, compiled with some capacities."""

    def __init__(self, folder: Path, **capacities: Any) -> None:
        self.capacities = capacities
        self.program = folder / "node"
        self.recording = folder / "recording"
        flags = node_bench.c_flags(node_bench.configuration(MOST_LABELS, **capacities))
        compile_c(node_bench.C_SOURCES, self.program, [*node_bench.C_FLAGS, *flags, "-Wall", "-Werror"])

    def play(self, config: dict[str, Any], calls: list[node_bench.Call]) -> dict[str, Any]:
        """What it says of a recording."""
        self.recording.write_bytes(node_bench.recording(config, calls))
        command = [*qemu_arm(engines_root()), str(self.program), str(self.recording)]
        return node_bench.c_raw(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def model(config: dict[str, Any], calls: list[node_bench.Call]) -> dict[str, Any]:
    """What the node's code says under CPython."""
    node = firmware.node_model().Node(config)
    for side, t, labels in calls:
        t %= 2**30  # the node's circle of times; C's is 2^32
        if len(labels) == 1:
            (node.predict if side else node.truth)(t, labels[0])
        else:
            (node.predict_batch if side else node.truth_batch)(t, labels)
    node.finish()
    return node.raw()


def alike(c: CProgram, calls: list[node_bench.Call], labels: int, **other: Any) -> None:
    """Play on both and compare every number that the C program prints."""
    config = node_bench.configuration(labels, **c.capacities, **other)
    expected, found = model(config, calls), c.play(config, calls)
    for part, figures in found.items():
        if part != "version":
            assert figures == {name: expected[part][name] for name in figures}, part


@pytest.fixture(scope="module")
def compiler() -> None:
    """The cross compiler and the emulator."""
    if not shutil.which(CROSS_COMPILER):
        absent(f"there is no {CROSS_COMPILER}")
    try:
        qemu_arm(engines_root())
    except FetchError as trouble:
        absent(str(trouble))


@pytest.fixture(scope="module")
def c(compiler: None, tmp_path_factory: pytest.TempPathFactory) -> CProgram:
    """With the benchmark's capacities."""
    return CProgram(tmp_path_factory.mktemp("c"))


@pytest.fixture(scope="module")
def small_c(compiler: None, tmp_path_factory: pytest.TempPathFactory) -> CProgram:
    """With rings so small that they overflow, and a window that is not a whole number of words."""
    return CProgram(tmp_path_factory.mktemp("c"), runs=8, pending=8, window=37)


def told(seed: int) -> dict[str, Any]:
    """Runs of labels told in pieces: late, early, twice, with holes, with labels that nobody knows."""
    dice = random.Random(seed)
    labels = dice.choice([2, 4, 16, MOST_LABELS])
    slice_ = dice.choice([1, 3, 60])
    run = dice.choice([1, 4, 20])
    sides = []
    for odd in (255, labels):  # unknown truth, a predicted label that is none
        odd_ones = dice.choice([0, 0.1])
        side = bytearray()
        for _ in range(dice.randint(1, 120)):
            label = odd if dice.random() < odd_ones else dice.randrange(labels)
            side += bytes([label]) * dice.randint(1, 2 * run)
        sides.append(bytes(side))
    if dice.random() < 0.5:
        # Mostly right, otherwise nothing would ever match.
        mended = bytearray(sides[0].replace(b"\xff", b"\0"))
        for _ in range(len(mended) // 20):
            i = dice.randrange(len(mended))
            mended[i : i + run] = sides[1][i : i + run]
        sides[1] = bytes(mended)
    begin = dice.choice([0, 1000, 2**30 - 500])
    most = dice.choice([1, 8, 100, 1000])
    at = [0, 0]
    calls = []
    while at[0] < len(sides[0]) or at[1] < len(sides[1]):
        side = dice.randrange(2)
        piece = sides[side][at[side] : at[side] + dice.randint(1, most)]
        t = begin + at[side] * slice_
        at[side] += len(piece)
        fate = dice.random()
        if slice_ > 1 and 0.1 < fate < 0.3:
            t += dice.choice([-1, 1])
        if piece and fate > 0.03:
            calls += [(side, t, piece)] * (2 if fate > 0.97 else 1)
    alpha = dice.choice([0.5, 0.999, 0.9999])
    return {
        "calls": calls,
        "labels": labels,
        "slice": slice_,
        "group": dice.choice([1, 16]),
        "closed": dice.randrange(2),
        "gaps_unknown": dice.randrange(2),
        "alpha_q30": round((1 - alpha) * 2**30),
    }


def test_house_a_gives_the_same_numbers_in_c(c: CProgram, shared: Path) -> None:
    stream = node_bench.house_a(shared)
    alike(c, stream.calls(1000), stream.labels)


def test_the_built_in_example_gives_the_same_numbers_in_c(c: CProgram) -> None:
    stream = node_bench.example()
    alike(c, stream.calls(stream.chunk), stream.labels, slice=stream.slice)


@given(st.integers(0, 2**32 - 1))
def test_any_labels_give_the_same_numbers_in_c(c: CProgram, seed: int) -> None:
    alike(c, **told(seed))


@given(st.integers(0, 2**32 - 1))
def test_rings_that_overflow_lose_and_force_the_same_in_c(small_c: CProgram, seed: int) -> None:
    alike(small_c, **told(seed))


def test_a_chunk_holds_no_more_runs_than_the_ring() -> None:
    stream = node_bench.synthetic(5000, 4, 5.0, 1)
    raw = model(stream.config(), stream.calls(stream.chunk))
    assert raw["join"]["unassessed"] == 0
    assert raw["join"]["assessed"] + raw["join"]["unknown"] == len(stream)
    coarse = model(stream.config(), stream.calls(5000))
    assert coarse["join"]["unassessed"] > 0

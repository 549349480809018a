"""A node's heap stays flat, and a node that grows is found out."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from streamgauge import firmware
from streamgauge.cli import main
from streamgauge.engines import Engine, EngineOutOfMemory, RunOutput
from streamgauge.errors import InputError
from streamgauge.profile import load_profile
from streamgauge.soak import soak

HOLES = """
import gc, json, micropython
from gauge.memory import memory, watch

class Node:
    class ledger:
        used = 123

def go():
    kept = [bytearray(1000) for _ in range(20)]
    for i in range(0, 20, 2):
        kept[i] = None
    told = memory(Node)
    gc.collect()
    micropython.mem_info()
    print(json.dumps(told))

go()
"""


def test_a_node_tells_the_heap_as_micropython_itself_does(arm: Engine) -> None:
    out = arm.run(HOLES, firmware.build(arm.march), heap_bytes=80_000).stdout
    told = json.loads(out.strip().splitlines()[-1])
    total, free = map(int, re.findall(r"total: (\d+), used: \d+, free: (\d+)", out)[0])
    largest = 16 * int(re.findall(r"max free sz: (\d+)", out)[0])
    assert told["total"] == total
    assert abs(told["free"] - free) <= 512  # the answer itself
    # The array's object takes a block of its own, and the search ends within 16.
    assert 0 <= largest - told["largest"] <= 48
    assert told["fragmentation"] == 100 - 100 * told["largest"] // told["free"]
    assert told["state"] == 123
    assert told["used"] <= told["high_water"] <= total


def test_the_model_of_a_node_knows_no_heap() -> None:
    from streamgauge.profile import compile_config
    from streamgauge.task import Task

    node = firmware.node_model().Node(compile_config(load_profile("sensor"), Task(("NULL", "a"))))
    assert node.memory() == {"state": node.ledger.used}


def test_over_many_slices_nothing_moves(arm: Engine) -> None:
    found = soak(arm, load_profile("sensor"), 200_000, looks=20)
    assert found.grown == dict.fromkeys(found.grown, 0)
    assert found.flat
    assert len(found.looks) == 20
    assert found.looks[-1].slices >= 200_000
    assert found.looks[-1].allocated == 0
    assert found.counted["forced"] == found.counted["unassessed"] == 0
    assert found.counted["records"] > 180_000


class Growing(Engine):
    """An engine whose node keeps every batch it is told."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.name, self.bits, self.march, self.version = "growing", engine.bits, engine.march, engine.version

    def run(
        self,
        script: str,
        files: Mapping[str, bytes] | None = None,
        heap_bytes: int = 1 << 20,
        timeout: float = 120.0,
    ) -> RunOutput:
        grow = (
            "from gauge.node import Node\nkept = []\nmake = Node.__init__\n"
            "def init(self, config):\n    make(self, config)\n    plain = self.truth_batch\n"
            "    def truth_batch(t, labels):\n        kept.append(bytes(labels))\n        plain(t, labels)\n"
            "    self.truth_batch = truth_batch\nNode.__init__ = init\n"
        )
        return self._engine.run(grow + script, files, heap_bytes, timeout)


def test_a_node_that_grows_is_not_flat(arm: Engine) -> None:
    found = soak(Growing(arm), load_profile("sensor"), 20_000, looks=10)
    assert not found.flat
    assert found.grown["used"] > 10_000
    assert found.grown["allocated"] > 10_000


def test_a_node_that_grows_for_long_dies_in_its_heap(arm: Engine) -> None:
    with pytest.raises(EngineOutOfMemory):
        soak(Growing(arm), load_profile("sensor"), 200_000, looks=10)


def test_the_command_draws_and_tells(arm: Engine, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plots = [tmp_path / "soak.png", tmp_path / "soak.svg"]
    asked = ["soak", "--slices", "6400", "--looks", "5", *(f"--plot={plot}" for plot in plots)]
    assert main([*asked, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["flat"] is True
    assert plots[0].read_bytes().startswith(b"\x89PNG")
    assert b"<svg" in plots[1].read_bytes()
    assert main(asked) == 0
    assert "high water" in capsys.readouterr().out
    assert main(["soak", "--slices", "6400", "--looks", "5", "--plot", str(tmp_path / "soak.doc")]) == 2


def test_fewer_slices_than_looks_are_refused(arm: Engine) -> None:
    with pytest.raises(InputError, match="at least 64 slices a look"):
        soak(arm, load_profile("sensor"), 100, looks=10)

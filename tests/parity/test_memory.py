"""What a node takes of its heap, and what is said where that does not suffice."""

from __future__ import annotations

import pytest

from streamgauge import example, firmware
from streamgauge.engines import Engine
from streamgauge.errors import InputError
from streamgauge.feed import Feed
from streamgauge.files import read_pair
from streamgauge.node_run import NodeRun, prepare, run_node
from streamgauge.profile import Profile, load_profile

SENSOR = load_profile("sensor")


def run(engine: Engine, profile: Profile = SENSOR, heap: int | None = None) -> NodeRun:
    config, feed = prepare(read_pair(*example.table1()), profile)
    return run_node(engine, config, feed, heap or profile.heap_bytes)


@pytest.fixture(scope="module")
def sensor_run(arm: Engine) -> NodeRun:
    return run(arm)


def test_updates_allocate_nothing(sensor_run: NodeRun) -> None:
    assert sensor_run.memory.allocated_by_updates == 0
    assert sensor_run.updates == 17


def test_an_allocation_in_an_update_is_counted(arm: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same run with a node that keeps one list an update."""
    built = firmware.build(arm.march)
    source = firmware.sources()["gauge/__init__.py"]
    source += (
        "\n_Node = Node\n"
        "class Node(_Node):\n"
        "    kept = []\n"
        "    def __init__(self, config):\n"
        "        super().__init__(config)\n"
        "        self.tell = self.truth_segment\n"
        "        self.truth_segment = self.keep\n"
        "    def keep(self, label, start, end):\n"
        "        self.kept.append([start, end])\n"
        "        self.tell(label, start, end)\n"
    )
    built["gauge/__init__.mpy"] = firmware.compile_source("gauge/__init__.py", source, None)
    monkeypatch.setattr(firmware, "build", lambda march: built)
    assert run(arm).memory.allocated_by_updates > 6 * 16


def test_memory_adds_up(sensor_run: NodeRun) -> None:
    memory = sensor_run.memory
    assert memory.heap == 102_400
    assert 0 < memory.ledger <= memory.state <= memory.ledger + 2048
    assert memory.code - memory.beside + memory.state < memory.high_water < memory.heap
    assert memory.with_machine_code == memory.high_water + memory.machine_code
    assert memory.beside == memory.machine_code


def test_machine_code_is_all_of_the_functions_code(arm: Engine) -> None:
    """Of a module with one viper function: its bytes are in the file, in whole blocks."""
    text = "import micropython\n@micropython.viper\ndef f(a: int) -> int:\n    return a + 1\n"
    compiled = firmware.compile_source("f.py", text, "armv6m")
    longer = firmware.compile_source("f.py", text + "@micropython.viper\ndef g(): pass\n", "armv6m")
    code = firmware.machine_code_bytes(compiled)
    assert code % firmware.HEAP_BLOCK == 0
    assert 0 < code <= len(compiled)
    assert firmware.machine_code_bytes(longer) > code
    plain = firmware.compile_source(
        "f.py", "def f(a):\n    return 'x', b'y', 1.5, 1 << 70, (1, 'z')\n", "armv6m"
    )
    assert firmware.machine_code_bytes(plain) == 0


def test_machine_code_of_something_else_is_an_error() -> None:
    with pytest.raises(firmware.FirmwareError, match="not of .mpy version 6"):
        firmware.machine_code_bytes(b"PK\x03\x04")
    compiled = firmware.compile_source("f.py", "x = 1\n", None)
    with pytest.raises(firmware.FirmwareError, match="ends too early"):
        firmware.machine_code_bytes(compiled[:-3])


def test_more_pending_segments_take_more_state(arm: Engine, sensor_run: NodeRun) -> None:
    wide = run(arm, SENSOR.with_values({"capacity.pending": 128}))
    # 4 words a segment and side, and two bytes of cells.
    assert wide.memory.ledger - sensor_run.memory.ledger == 64 * (2 * 16 + 2)
    assert wide.memory.state - sensor_run.memory.state == pytest.approx(64 * 34, abs=64)


def test_the_ledgers_limit_names_who_asked_for_how_much(arm: Engine) -> None:
    with pytest.raises(InputError) as refused:
        run(arm, SENSOR.with_values({"heap.state_bytes": 3000}))
    assert str(refused.value).startswith("the node's state does not fit: align asks for ")
    assert "left (of the profile's heap.state_bytes, 3000)." in str(refused.value)
    assert "Lower capacity.pending" in str(refused.value)


def test_a_heap_too_small_for_the_state_names_who_asked_for_how_much(arm: Engine) -> None:
    big = SENSOR.with_values({"capacity.window": 1 << 20})
    with pytest.raises(InputError) as refused:
        run(arm, big)
    assert "prequential asks for 139" in str(refused.value)
    assert "(of a heap of 102400, for the array and a copy)" in str(refused.value)
    assert "Lower capacity.window" in str(refused.value)


@pytest.mark.parametrize(
    ("heap", "what"),
    [
        (4096, "MicroPython itself hardly starts"),
        (7000, "not even the program that feeds the node fits"),
        (16384, "its code does not fit into the"),
    ],
)
def test_a_heap_too_small_for_the_code_is_said(arm: Engine, heap: int, what: str) -> None:
    with pytest.raises(InputError, match=f"does not fit into a heap of {heap} bytes: .*{what}.*--heap"):
        run(arm, heap=heap)


def test_a_recording_of_any_length_takes_the_same_heap(arm: Engine, sensor_run: NodeRun) -> None:
    config, feed = prepare(read_pair(*example.table1()), SENSOR)
    records = 50 * feed.data
    long = run_node(arm, config, Feed(feed.plan, records, 50 * feed.updates, feed.overlap), SENSOR.heap_bytes)
    assert long.memory.state == sensor_run.memory.state
    assert long.memory.allocated_by_updates == 0
    assert long.memory.high_water <= sensor_run.memory.high_water + 1024

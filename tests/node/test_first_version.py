"""Files of the first version of each format: they are read as then, or refused in words, for ever."""

from __future__ import annotations

import importlib.util
import json
import zlib
from pathlib import Path
from types import ModuleType

import pytest
from nodelife import Flash, Wire, gauge

from streamgauge.wire.report import parse_report

from gauge.snapshot import Store, describe  # isort: skip

FIXTURES = Path(__file__).parent / "fixtures"
FIRST = FIXTURES / "first"


@pytest.fixture(scope="module")
def make() -> ModuleType:
    """The program that made the files."""
    spec = importlib.util.spec_from_file_location("make_fixtures", FIXTURES / "make.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_its_snapshot_is_taken_up_as_it_was_or_refused() -> None:
    data = (FIRST / "snapshot.sg").read_bytes()
    assert zlib.crc32(data[:-4]) == int.from_bytes(data[-4:], "little")
    text = data[36 : 36 + int.from_bytes(data[32:36], "little")]
    wire = Wire(gauge.Node(json.loads((FIRST / "config.json").read_text())))
    store = Store(wire.node, "gauge", Flash({"gauge.1": data}))
    taken = store.resume(now=30_000)
    if text == describe(wire.node):
        # The same sizes: then every word must still mean the same, or `_STATE` in snapshot.py be raised.
        assert taken
        assert wire.node.raw() == json.loads((FIRST / "figures.json").read_text())
        assert wire.labels.w[0] == 23
    else:
        assert not taken and store.foreign == 1


def test_its_messages_are_answered_as_they_were(make: ModuleType) -> None:
    wire, _ = make.node()
    assert b"".join(make.talk(wire)) == (FIRST / "messages.txt").read_bytes()


def test_its_lines_are_a_part_of_todays(make: ModuleType) -> None:
    def values(line: bytes) -> dict[str, list[str]]:
        return {k: v.split(",") for k, v in (each.split("=") for each in line.decode().split(" ")[1:-1])}

    wire, store = make.node()
    make.talk(wire)
    store.save()
    stored = (FIRST / "lines.txt").read_bytes().splitlines(keepends=True)
    assert len(stored) == 4
    for then, now in zip(stored, make.lines(wire), strict=True):
        for key, found in values(then).items():
            if key in "hm":
                continue
            if key == "w":
                # The last is the size of a snapshot.
                found = found[:3]
            assert values(now)[key][: len(found)] == found, key


def test_its_lines_are_read_by_the_host() -> None:
    figures = json.loads((FIRST / "figures.json").read_text())
    for number, line in enumerate((FIRST / "lines.txt").read_bytes().splitlines(keepends=True)):
        report = parse_report(line)
        assert report is not None
        assert report.number == number + 1
        assert report.fields["a"] == tuple(figures["join"].values())
        assert report.row is not None and report.row.label == number

"""The report line: what it says is what the node counted, in a form that any reader of version 1 takes."""

from __future__ import annotations

import ast
import io
import json
import random
import re
import zlib
from typing import Any

import pytest
from nodelife import EPOCH, Flash, Wire, config, gauge

from streamgauge import firmware
from streamgauge.engines import Engine
from streamgauge.wire.report import parse_report

from gauge.line import Line  # isort: skip
from gauge.snapshot import Store  # isort: skip
from gauge.text import Text, encode  # isort: skip

Fields = dict[str, list[str]]


def fields(said: bytes) -> Fields:
    """A line's values by key; the line must be whole."""
    assert re.fullmatch(rb"SG1 ([A-Za-z0-9._]+=[!-)+-~]* )+\*[0-9A-F]{8}\n", said), said
    body, digits = said[:-1].split(b"*")
    assert digits == b"%08X" % zlib.crc32(body)
    return {
        key: value.split(",")
        for key, value in (each.split("=", 1) for each in body.decode("ascii").split(" ")[1:-1])
    }


def written(line: Line) -> bytes:
    out = io.BytesIO()
    line.write(out)
    return out.getvalue()


def numbers(found: Fields, key: str) -> list[int]:
    return [int(x) for x in found[key]]


def assert_says(found: Fields, raw: dict[str, Any], label: int) -> None:
    """The line says what `raw()` does."""
    counters = raw["counters"]
    assert numbers(found, "x") == [
        counters[k] for k in ("order", "label", "range", "overlap", "split", "overrun")
    ]
    assert numbers(found, "a") == [raw["join"][k] for k in ("assessed", "unknown", "unassessed")]
    q = raw["prequential"]
    assert numbers(found, "q") == [q[k] for k in ("n", "sum", "unlabelled", "window_n", "window_sum")]
    assert numbers(found, "f") == [q[k] for k in ("fading_s", "fading_bits", "alpha_q30")]
    s = raw["slices"]
    assert numbers(found, "s") == [sum(s[k]) for k in ("tp", "sg", "d", "u", "f", "i", "o", "m")]
    ground = sum(s[k][label] for k in ("tp", "sg", "d", "u", "f"))
    inferred = sum(s[k][label] for k in ("tp", "si", "i", "o", "m"))
    if label == 0:
        ground += sum(sum(s[k]) for k in "iom")
        inferred += sum(sum(s[k]) for k in "duf")
    assert [found["r"][0], *found["r"][2:]] == [str(x) for x in (label, ground, inferred, s["tp"][label])]
    a = raw["align"]
    labels = range(1, len(a["confusion"]))
    correct = a["stats"]["latency"][0]
    assert numbers(found, "g") == [
        a["truth"],
        a["prediction"],
        a["forced"],
        a["unmatched_truth"],
        a["unmatched_prediction"],
        correct,
        sum(a["confusion"][i][j] for i in labels for j in labels) - correct,
        sum(a["split"]),
        sum(a["merge"]),
        a["same"],
        a["iou_q26"],
    ]
    _, total, _, least, most = a["stats"]["latency"]
    assert numbers(found, "y") == [correct, total, a["early"], a["late"], least, most]
    assert numbers(found, "c") == [label, *a["confusion"][label]]


def play(node: Any, rng: random.Random, segments: int, longest: int) -> None:
    t = [rng.randrange(1 << 30)] * 2
    for _ in range(segments):
        side = 0 if t[0] < t[1] else 1
        end = t[side] + rng.randrange(1, longest)
        label = rng.choice((0, 1, 1, 2, 3, 255 if side == 0 else 0, 9 if rng.random() < 0.02 else 1))
        entry = node.predict_segment if side else node.truth_segment
        entry(label, t[side] & 0x3FFFFFFF, end & 0x3FFFFFFF)
        t[side] = end


@pytest.mark.parametrize("number", range(30))
def test_a_line_says_what_the_node_counted(number: int) -> None:
    rng = random.Random(number)
    # Long segments make totals beyond 30 bits, and latencies of either sign.
    longest = rng.choice((20, 1000, 100_000_000))
    node = gauge.Node(config(slice=rng.choice((1, 7)) if longest < 10_000 else 10_000_000))
    line = Line(node)
    for turn in range(6):
        play(node, rng, 40, longest)
        if rng.random() < 0.3:
            node.finish()
        found = fields(written(line))
        assert found["n"] == [str(turn + 1)]
        assert_says(found, node.raw(), turn % 4)
    if longest > 10_000:
        assert sum(numbers(found, "a")) > 1 << 30


def test_lines_go_round_the_labels_and_name_them() -> None:
    line = Line(gauge.Node(config()))
    names = [fields(written(line))["r"][1] for _ in range(5)]
    assert names == ["NULL", "walk", "kitchen", "c%2C%20d%20%C3%A9", "NULL"]


def test_what_is_attached_has_its_keys() -> None:
    wire = Wire(gauge.Node(config()))
    store = Store(wire.node, "g", Flash())
    line = Line(wire.node)
    wire.node._join[EPOCH] = 91735
    for t in range(0, 1000, 10):
        wire.node.predict(t, 1)
    wire.tell("walk", 0, 300)
    wire.tell("walk", 400, 500)
    wire.send(b"noise\n")
    store.save()
    store.save()
    store._files.room = 0
    store.save()
    found = fields(written(line))
    assert numbers(found, "l") == [2, 2, 0, 0, 0, 1, 1]
    assert numbers(found, "w") == [2, 1, 24, store.size]
    assert numbers(found, "e") == [91735]
    assert numbers(found, "t") == [300, 300, 1000]
    assert numbers(found, "k") == [4, 10, 1000, 100, 50000]
    assert numbers(found, "b") == [1]
    assert found["h"] == [f"{store.layout[1]:04X}{store.layout[0]:04X}"]
    assert numbers(found, "m")[2] == wire.node.ledger.used


@pytest.mark.parametrize("on", [[], ["align"], ["slices"], ["prequential"]])
def test_what_is_off_has_no_key(on: list[str]) -> None:
    found = fields(written(Line(gauge.Node(config(estimators=on)))))
    keys = {"align": "gyc", "slices": "sr", "prequential": "qf"}
    assert set(found) == {*"nbektaxm", *"".join(keys[name] for name in on)}


def test_detectors_tell_their_alarms() -> None:
    options = {"page_hinkley": {"delta": 5000, "threshold": 5_000_000, "warmup": 30}, "adwin": {}}
    settings = config(slice=1, group=1, estimators=["prequential", "page_hinkley", "adwin"], options=options)
    node = gauge.Node(settings)
    line = Line(node)
    assert numbers(fields(written(line)), "d.page_hinkley") == [0, 0, 0]
    for t in range(3000):
        node.predict(t, 1 if t < 2000 else t & 1)
        node.truth(t, 1)
    found = fields(written(line))
    for name in ("page_hinkley", "adwin"):
        raw = node.raw()[name]
        assert numbers(found, f"d.{name}") == [raw["alarms"], raw["direction"], raw["record"]]
    assert numbers(found, "d.page_hinkley")[0] > 0


@pytest.mark.parametrize("labels", [2, 32])
def test_a_field_that_does_not_fit_is_left_out(labels: int, monkeypatch: pytest.MonkeyPatch) -> None:
    node = gauge.Node(config(labels=["NULL", *(f"a name of some length {i}" for i in range(1, labels))]))
    wire = Wire(node)
    Store(node, "g", Flash()).saves = 0x3FFFFFFE
    line = Line(node)
    # Every number as long as it can be, far beyond what a node can count.
    for name in ("align", "slices"):
        monkeypatch.setattr(f"gauge.line.figures.{name}", lambda part, out, label=0: fill(out, 32))
    node.parts["prequential"].figures = lambda out: fill(out, 32)
    align = node.parts["align"]
    for i in range(labels * labels):
        align.w[align.row(0) + i] = 0x3FFFFFFF
    for i in range(6):
        wire.labels.w[i] = 0x3FFFFFFF
    for _ in range(2 * labels):
        line.lines = 0x3FFFFF00 + line.lines % 256
        said = written(line)
        found = fields(said)
        assert len(said) <= 1024
        assert ("c" in found) == (labels == 2)
        assert {"n", "q", "f", "s", "r", "g", "y", "l", "w", "m"} <= set(found)


def fill(out: Any, n: int) -> None:
    for i in range(n):
        out[i] = 0x3FFFFFFF


def test_the_host_reads_what_the_node_writes() -> None:
    node = gauge.Node(config())
    play(node, random.Random(4), 60, 200)
    line = Line(node)
    report = parse_report(written(line))
    raw = node.raw()
    assert report.fields["n"] == (1,)
    assert report.row.name == "NULL"
    assert report.fields["q"][0] == raw["prequential"]["n"]


@pytest.mark.parametrize("bits", [1, 10, 29, 30, 31, 45, 59, 60])
def test_numbers_are_written_in_full(bits: int) -> None:
    rng = random.Random(bits)
    text = Text(64)
    for x in (0, 1, 9, 10, (1 << bits) - 1, 10**18, *(rng.randrange(1 << bits) for _ in range(200))):
        for sign in (1, -1):
            text.n = 0
            text.long(sign * (x & 0x3FFFFFFF), sign * (x >> 30))
            assert bytes(text.buffer[: text.n]) == str(sign * x).encode()


def test_a_text_that_does_not_fit_is_cut_off_and_never_whole() -> None:
    for room in range(12, 40):
        text = Text(room)
        for _ in range(10):
            text.number(1234)
            text.byte(32)
        text.close()
        out = io.BytesIO()
        text.send(out)
        said = out.getvalue()
        assert len(said) <= room
        body, _, digits = said.rstrip(b"\n").rpartition(b"*")
        assert digits != b"%08X" % zlib.crc32(body) or not said.endswith(b"\n")


def test_names_are_encoded_byte_by_byte() -> None:
    assert encode("NULL") == b"NULL"
    assert encode("a-b_c.d+e/f(g)9") == b"a-b_c.d+e/f(g)9"
    assert encode("50% #1, *=é") == b"50%25%20%231%2C%20%2A%3D%C3%A9"


PROGRAM = """
import gc, micropython
import gauge
from gauge.line import Line

class Kept:
    def __init__(self):
        self.buffer = bytearray(1100)
        self.n = 0
    def write(self, b, n):
        i = 0
        while i < n:
            self.buffer[i] = b[i]
            i += 1
        self.n = n
        return n

node = gauge.Node(gauge.load("config.json"))
line = Line(node)
out = Kept()
for t in range(0, 9000, 10):
    node.predict(t, t // 70 % 4)
    node.truth(t, t // 110 % 4)
line.write(out)
print(bytes(out.buffer[: out.n]))
node.predict(t + 10, 1)
node.truth(t + 10, 2)

def taken():
    micropython.heap_lock()
    try:
        before = micropython.mem_total()
        line.write(out)
        return micropython.mem_total() - before
    finally:
        micropython.heap_unlock()

print(taken())
"""


@pytest.mark.parametrize("name", ["arm", "x64"])
def test_an_engine_writes_the_models_line_and_allocates_nothing(
    name: str, request: pytest.FixtureRequest
) -> None:
    engine: Engine = request.getfixturevalue(name)
    files = {**firmware.build(engine.march), "config.json": json.dumps(config()).encode()}
    first, allocated = engine.run(PROGRAM, files, heap_bytes=200_000).stdout.splitlines()
    node = gauge.Node(config())
    for t in range(0, 9000, 10):
        node.predict(t, t // 70 % 4)
        node.truth(t, t // 110 % 4)
    theirs, ours = fields(ast.literal_eval(first)), fields(written(Line(node)))
    heap = numbers(theirs, "m")
    assert 0 < heap[0] < 200_000 and 0 < heap[1] < 200_000
    theirs.pop("m"), ours.pop("m")
    assert theirs == ours
    assert int(allocated) == 0

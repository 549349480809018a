"""Drives every entry of a node, and the same calls in C (node_c and more_c): one slice a call, or in batches.

A node's program is a loop of bytecode over a file of rows, played twice: first idle, which reads what the calls
are given and calls nothing, then with the calls. The difference is what the calls cost.
"""

from __future__ import annotations

import json
import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import stream_bench  # noqa: E402
from extras_bench import config_of as profile_config  # noqa: E402
from node_bench import BIG_HEAP, C_FLAGS, C_SOURCES, MARK, Stream, c_raw, count_c, count_micropython  # noqa: E402

from gauge import adwin as node_adwin  # noqa: E402
from streamgauge import firmware  # noqa: E402
from streamgauge.profile_keys import ESTIMATORS  # noqa: E402

SOURCES = [path for path in C_SOURCES if path.name != "main.c"] + sorted((HERE / "more_c").glob("*.c"))
RECORDS = {
    "page_hinkley": "Page-Hinkley",
    "ddm": "DDM",
    "adwin": "ADWIN",
    "compare": "two recognisers",
    "forgetting": "faded confusion",
    "reliability": "reliability",
}
ALPHA = 0.999
LOSS_MAX = 255
EVERY = (640, 160, 40, 8)  # slices a segment of each level lasts, coarse to fine; predicted ones end 2 later
LATE = 2
HOLDOUT = 1000  # slices from one scoring to the next
HELD = 100
ROW = 5  # bytes: prediction, second recogniser, confidence, truth, loss
# What more_c/main.c calls the entries.
CODES = {
    name: code
    for code, name in enumerate(
        (
            "truth",
            "predict",
            "truth_batch",
            "predict_batch",
            "truth_level",
            "predict_level",
            "levels_until",
            "loss",
            "holdout",
        )
    )
}


def config_of(on: tuple[str, ...], stream: Stream) -> dict[str, Any]:
    """What the sensor profile compiles to with these on, `loss` among them or none at all."""
    config = profile_config(
        [name for name in on if name != "loss"] or ["slices"],
        stream.labels,
        stream.slice,
        reliability__alpha=ALPHA,
        hierarchy__boundaries=256,
        prequential__loss_max=LOSS_MAX if "loss" in on else 0,
    )
    config["estimators"] = [name for name in on if name != "loss"]
    return config


def rows_of(stream: Stream) -> bytes:
    """What is told of each slice.

    The second recogniser is late by three slices; the confidence changes with nearly every slice and is the
    middle of one of 16 bins.
    """
    rows = bytearray()
    for i, (truth, prediction) in enumerate(zip(stream.truth, stream.prediction, strict=True)):
        confidence = 37 * i * i & 0xF0 | 8
        rows += bytes((prediction, stream.prediction[max(0, i - 3)], confidence, truth, 41 * i & LOSS_MAX))
    return bytes(rows)


# The node


@dataclass(frozen=True)
class Entry:
    """A call in a loop, what of its text is not the call, and at which slices n it is made: n % every == late."""

    name: str
    call: str
    idle: str = "pass"
    every: int = 1
    late: int = 0


def _levels() -> list[Entry]:
    return [
        Entry(f"{side}_level", f"node.{side}_level({level}, t)", every=every, late=late)
        for level, every in enumerate(EVERY)
        for side, late in (("truth", 0), ("predict", LATE))
    ]


def entries(on: tuple[str, ...], batch: bool) -> list[Entry]:
    """The calls of a slice (of a batch: those that there is no batch entry for), in their order."""
    found = []
    if not batch:
        if "compare" in on:
            found.append(Entry("predict_b", "node.predict_b(t, rows[i + 1])", "rows[i + 1]"))
        if "reliability" in on:
            with_ = "node.predict_with(t, rows[i], rows[i + 2])"
            found.append(Entry("predict_with", with_, "rows[i]; rows[i + 2]"))
        else:
            found.append(Entry("predict", "node.predict(t, rows[i])", "rows[i]"))
        found.append(Entry("truth", "node.truth(t, rows[i + 3])", "rows[i + 3]"))
        if "loss" in on:
            found.append(Entry("loss", "node.loss(rows[i + 4])", "rows[i + 4]"))
    if "hierarchy" in on:
        found += _levels()
        if not batch:
            found.append(Entry("levels_until", "node.levels_until(t)"))
    if "holdout" in on and not batch:
        found.append(Entry("holdout", "node.holdout(held)", every=HOLDOUT, late=HOLDOUT - 1))
    return found


def _loop(calls: list[Entry], idle: bool, marked: bool, indent: str) -> list[str]:
    lines = []
    for entry in calls:
        text = entry.idle if idle else entry.call
        pad = indent
        if entry.every > 1:
            lines.append(f"{pad}if n % {entry.every} == {entry.late}:")
            pad += "    "
        lines += [pad + text, *([f"{pad}mark()"] if marked else [])]
    return lines


def _one_by_one(name: str, on: tuple[str, ...], idle: bool, marked: bool) -> list[str]:
    return [
        f"def {name}(node, rows, held, step):",
        "    t = i = n = 0",
        "    while i < len(rows):",
        *_loop(entries(on, False), idle, marked, " " * 8),
        "        t += step",
        "        n += 1",
        f"        i += {ROW}",
    ]


def _in_batches(name: str, on: tuple[str, ...], idle: bool, chunk: int) -> list[str]:
    told = _loop(entries(on, True), idle, False, " " * 12)
    batch = ["node.predict_batch(t, predictions[i])", "node.truth_batch(t, truths[i])"]
    lines = [
        f"def {name}(node, predictions, truths, held, step):",
        "    i = n = 0",
        "    while i < len(truths):",
        "        t = n * step",
        *("        " + text for text in (("predictions[i]", "truths[i]") if idle else batch)),
        f"        end = n + {chunk}",
    ]
    if told:
        lines += ["        while n < end:", *told, "            t += step", "            n += 1"]
        lines.append("        pass" if idle else "        node.levels_until(t)")
    if "holdout" in on:
        lines += [
            f"        if end % {HOLDOUT} == 0:",
            "            pass" if idle else "            node.holdout(held)",
        ]
    return [*lines, "        n = end", "        i += 1"]


_READ = """
import gc
import json

import gauge


def chunks(name, size):
    found = []
    with open(name, "rb") as file:
        while True:
            chunk = file.read(size)
            if not chunk:
                return found
            found.append(chunk)


config = gauge.load("config.json")
node = gauge.Node(config)
held = chunks("held.bin", 1000)[0]
"""
_PLAY = """
gc.collect()
gc.disable()
mark()
idle({given}, held, config["slice"])
mark()
play({given}, held, config["slice"])
mark()
node.finish()
print(json.dumps(node.raw()))
"""


@dataclass(frozen=True)
class Run:
    """Instructions of all calls, of each call where they were counted, and what raw() says."""

    instructions: int
    raw: dict[str, Any]
    each: list[int]


def held_labels() -> bytes:
    """What the recogniser says of the holdout set."""
    return bytes(i % 3 for i in range(HELD))


def node_run(stream: Stream, on: tuple[str, ...], batch: bool, each: bool = False) -> Run:
    """Count on the arm engine; with `each` every call by itself (their sum has no meaning then)."""
    files = {
        **firmware.build("armv6m"),
        "config.json": json.dumps(config_of(on, stream)).encode(),
        "held.bin": held_labels(),
    }
    if batch:
        files |= {"truth.bin": stream.truth, "prediction.bin": stream.prediction}
        loops = [*_in_batches("idle", on, True, stream.chunk), *_in_batches("play", on, False, stream.chunk)]
        read = f"predictions, truths = (chunks(n + '.bin', {stream.chunk}) for n in ('prediction', 'truth'))"
        given = "node, predictions, truths"
    else:
        files["rows.bin"] = rows_of(stream)
        loops = [*_one_by_one("idle", on, True, each), *_one_by_one("play", on, False, each)]
        read = f"rows = chunks('rows.bin', {ROW * len(stream)})[0]"
        given = "node, rows"
    script = "\n".join([MARK, _READ, read, *loops, _PLAY.format(given=given)])
    counts = count_micropython(script, files, heap_bytes=BIG_HEAP)
    raw = json.loads(counts.output.stdout)
    between = counts.between
    half = len(between) // 2
    costs = [work - idle for idle, work in zip(between[:half], between[half:], strict=True)]
    return Run(sum(costs), raw, costs)


# The same in C

Call = tuple[str, int, bytes]  # entry, time, what it is given


def told(stream: Stream, on: tuple[str, ...], batch: bool) -> Iterator[Call]:
    """The calls of the node's loops, one by one, in their order."""
    if batch:
        for first in range(0, len(stream), stream.chunk):
            some = slice(first, first + stream.chunk)
            t = first * stream.slice
            yield "predict_batch", t, stream.prediction[some]
            yield "truth_batch", t, stream.truth[some]
            end = first + stream.chunk
            if "hierarchy" in on:
                for n in range(first, end):
                    yield from _boundaries(n, n * stream.slice)
                yield "levels_until", end * stream.slice, bytes(4)
            if "holdout" in on and end % HOLDOUT == 0:
                yield "holdout", 0, held_labels()
        return
    rows = rows_of(stream)
    for n in range(len(stream)):
        t = n * stream.slice
        prediction, second, confidence, truth, loss = rows[ROW * n : ROW * n + ROW]
        said = (prediction, confidence * ("reliability" in on), second * ("compare" in on), 0)
        yield "predict", t, bytes(said)
        yield "truth", t, bytes((truth, 0, 0, 0))
        if "loss" in on:
            yield "loss", t, bytes((loss, 0, 0, 0))
        if "hierarchy" in on:
            yield from _boundaries(n, t)
            yield "levels_until", t, bytes(4)
        if "holdout" in on and n % HOLDOUT == HOLDOUT - 1:
            yield "holdout", t, held_labels()


def _boundaries(n: int, t: int) -> Iterator[Call]:
    for level, every in enumerate(EVERY):
        for name, late in (("truth_level", 0), ("predict_level", LATE)):
            if n % every == late:
                yield name, t, bytes((level, 0, 0, 0))


def c_run(stream: Stream, on: tuple[str, ...], batch: bool, folder: Path) -> tuple[int, dict[str, Any]]:
    """Instructions of the same calls in C, and what its estimators say."""
    config = config_of(on, stream)
    window = config["options"]["hierarchy"]["window_frames"] if "hierarchy" in on else 1
    head = (config["slice"], config["alpha_q30"], config["group"], len(config["labels"]))
    parts = [struct.pack("<7I", *head, len(EVERY), window, LOSS_MAX)]
    for name, t, given in told(stream, on, batch):
        parts += [struct.pack("<3I", CODES[name], t, len(given)), given, bytes(-len(given) % 4)]
    recording = folder / "recording"
    recording.write_bytes(b"".join(parts))
    beside = not batch and ("compare" in on or "reliability" in on)
    flags = [
        *(f"-D{name.upper()}={config[name]}" for name in ("runs", "pending", "window")),
        *(f"-DWITH_{name.upper()}={int(name in on)}" for name in (*ESTIMATORS, "loss")),
        f"-DWITH_MORE={int(any(name in on for name in RECORDS))}",
        f"-DWITH_BESIDE={int(beside)}",
        f"-I{HERE / 'node_c'}",
        "-Wno-unused-function",
    ]
    logs = [0] + [node_adwin._log(2000000 * digits, 2000) for digits in range(1, 16)]
    counts = count_c(SOURCES, [str(recording), *map(str, logs)], flags=[*C_FLAGS, *flags])
    idle, work = counts.between
    first, *lines = counts.output.stdout.splitlines()
    raw = c_raw(first)
    for line in lines:
        name, *figures = line.split()
        raw[name] = [int(figure) for figure in figures]
    return work - idle, raw


def agree(node: dict[str, Any], c: dict[str, Any]) -> bool:
    """Whether both say the same, of all that the C text says."""
    return all(_alike(name, node[name], figures) for name, figures in c.items())


def _alike(name: str, node: Any, c: Any) -> bool:
    if isinstance(c, dict):
        return all(node[key] == value for key, value in c.items())
    if name in RECORDS:
        said = stream_bench.said(RECORDS[name], node)
        if name == "page_hinkley":
            # An alarm's record is exact; its tick, to within a piece, depends on how pieces are handed on.
            said[2] = c[2]
        return stream_bench.same(said, c)
    if name == "loss":
        keys = ("n", "sum", "rejected", "window_n", "window_sum", "fading_s", "fading_bits")
        return [node[key] for key in keys] == c
    if name == "holdout":
        return [node["scored"], *(figure for score in node["history"] for figure in score[:2])] == c
    if name == "hierarchy":
        sums = ("recall_reduced", "precision_reduced", "recall_full", "precision_full")
        return [node["frames"], *(figure for key in sums for figure in node[key])] == c
    return node == c

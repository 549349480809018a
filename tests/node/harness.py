"""What the node's tests share: the firmware on an engine, recorded calls, and what the oracles expect."""

from __future__ import annotations

import ast
import functools
import importlib.util
import io
import json
import sys
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import gauge
from oracles import align as align_oracle
from oracles import prequential as prequential_oracle
from oracles import slices as slices_oracle
from streamgauge import firmware
from streamgauge.engines import Engine

PROGRAMS = Path(__file__).parent / "programs"
NULL, UNKNOWN = 0, 255
WRAP = 1 << 30
Row = tuple[int, int, int]


def config(labels: int = 4, **changes: Any) -> dict[str, Any]:
    """A node's config with rings that are large enough for a short recording."""
    made = {
        "version": 1,
        "labels": ["NULL", *(f"label {i}" for i in range(1, labels))],
        "tick_us": 0,
        "slice": 1,
        "closed": 0,
        "overlap": 0,
        "gaps_unknown": 0,
        "runs": 64,
        "pending": 64,
        "window": 20,
        "alpha_q30": round(0.01 * 2**30),
        "loss_max": 0,
        "delta_ppm": 50000,
        "state_bytes": 0,
        "estimators": ["align", "slices", "prequential"],
    }
    unknown = set(changes) - set(made) - {"group", "options", "restart"}
    assert not unknown, unknown
    return made | changes


def alpha(made: Mapping[str, Any]) -> Fraction:
    """The fading factor the node computes with."""
    return 1 - Fraction(made["alpha_q30"], 1 << 30)


# The firmware on an engine.


@functools.cache
def gauge_files(march: str | None, *extra: str) -> dict[str, bytes]:
    """What `import gauge` loads, compiled, and the modules `extra` names besides."""
    sources = firmware.sources()
    waiting = ["gauge/__init__.py", *(f"gauge/{name}.py" for name in extra)]
    built: dict[str, bytes] = {}
    while waiting:
        name = waiting.pop()
        target = name.removesuffix(".py") + ".mpy"
        if name not in sources or target in built:
            continue
        text = sources[name] if march else firmware.without_viper(sources[name], name)
        built[target] = firmware.compile_source(name, text, march)
        for node in ast.walk(ast.parse(sources[name])):
            if isinstance(node, ast.ImportFrom) and node.module:
                inner = node.module.replace(".", "/")
                waiting += [f"{inner}.py", *(f"{inner}/{alias.name}.py" for alias in node.names)]
    return built


def run(
    engine: Engine,
    program: str,
    files: Mapping[str, bytes] | None = None,
    *extra: str,
    heap: int = 512 * 1024,
    timeout: float = 120.0,
) -> list[Any]:
    """Run `programs/<program>.py` (its `main`) on an engine; the lines of JSON it says.

    The firmware is there; `extra` names modules of it that `import gauge` does not load.
    """
    text = (PROGRAMS / f"{program}.py").read_text(encoding="utf-8")
    compiled = firmware.compile_source(f"{program}.py", text, None)
    all_files = {
        **gauge_files(engine.march, "report", "loss", *extra),
        f"{program}.mpy": compiled,
        **(files or {}),
    }
    output = engine.run(f"import {program}\n{program}.main()\n", all_files, heap_bytes=heap, timeout=timeout)
    return [json.loads(line) for line in output.stdout.splitlines()]


@functools.cache
def load_program(name: str) -> ModuleType:
    """A program as a module of this Python."""
    spec = importlib.util.spec_from_file_location(f"node_program_{name}", PROGRAMS / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# Calls, recorded and played.


class Calls:
    """Takes calls as a node does and keeps them, to be played to nodes (see `programs/play.py`)."""

    def __init__(self, made: Mapping[str, Any]) -> None:
        self.config = made
        self.words = array("i")
        self.batches: list[bytes] = []

    def _add(self, kind: str, *arguments: int) -> None:
        padded = (*arguments, 0, 0, 0)[:3]
        self.words.extend((getattr(load_program("play"), kind), *padded))

    def truth_segment(self, label: int, start: int, end: int) -> None:
        self._add("TRUTH_SEGMENT", label, start, end)

    def predict_segment(self, label: int, start: int, end: int) -> None:
        self._add("PREDICT_SEGMENT", label, start, end)

    def truth(self, t: int, label: int) -> None:
        self._add("TRUTH", t, label)

    def predict(self, t: int, label: int) -> None:
        self._add("PREDICT", t, label)

    def predict_with(self, t: int, label: int, confidence: int) -> None:
        self._add("PREDICT_WITH", t, label, confidence)

    def predict_b(self, t: int, label: int) -> None:
        self._add("PREDICT_B", t, label)

    def truth_batch(self, t: int, labels: bytes) -> None:
        self._add("TRUTH_BATCH", t, len(self.batches))
        self.batches.append(bytes(labels))

    def predict_batch(self, t: int, labels: bytes) -> None:
        self._add("PREDICT_BATCH", t, len(self.batches))
        self.batches.append(bytes(labels))

    def loss(self, x: int) -> None:
        self._add("LOSS", x)

    def poke(self, part: str, word: int, value: int) -> None:
        """Write a word of the part's (first) array."""
        parts = [name for name, _ in gauge.Node(self.config).ledger.entries]
        self._add("POKE", parts.index(part), word, value)

    def finish(self) -> None:
        self._add("FINISH")

    def reset(self) -> None:
        self._add("RESET")

    def say(self) -> None:
        self._add("SAY")


def calls_file(cases: Iterable[Calls]) -> bytes:
    """The cases as `programs/play.py` reads them."""
    configs: list[Mapping[str, Any]] = []
    out = io.BytesIO()
    for case in cases:
        if case.config not in configs:
            configs.append(case.config)
        head = [configs.index(case.config), len(case.words) // 4, [len(b) for b in case.batches]]
        out.write(json.dumps(head).encode() + b"\n" + case.words.tobytes() + b"".join(case.batches))
    return json.dumps(configs).encode() + b"\n" + out.getvalue()


def play_here(calls: bytes) -> list[list[int]]:
    """What nodes under this Python say to the calls."""
    said: list[list[int]] = []
    load_program("play").play(io.BytesIO(calls), said.append)
    return said


def play_on(engine: Engine, calls: bytes, **options: Any) -> list[list[int]]:
    """What nodes on an engine say to the calls."""
    said: list[list[int]] = run(engine, "play", {"calls.bin": calls}, **options)
    return said


@dataclass
class Fed:
    """What `programs/kernels.py` feeds to one estimator; `pokes` are words and what to write to them."""

    kind: str
    arguments: tuple[int, ...]
    entries: array[int]
    rounds: int = 1
    pokes: tuple[tuple[int, int], ...] = ()


def _fed_files(plan: Sequence[Fed]) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    listed = []
    for fed in plan:
        data = fed.entries.tobytes()
        name = next((name for name, other in files.items() if other == data), f"{len(files)}.bin")
        files[name] = data
        listed.append([fed.kind, fed.arguments, name, fed.rounds, fed.pokes])
    return {**files, "plan.json": json.dumps(listed).encode()}


def feed_here(plan: Sequence[Fed]) -> list[list[int]]:
    """What the estimators under this Python hold after each is fed."""
    sys.modules["play"] = load_program("play")
    said: list[list[int]] = []
    load_program("kernels").main(_fed_files(plan).__getitem__, said.append)
    return said


def feed_on(engine: Engine, plan: Sequence[Fed], **options: Any) -> list[list[int]]:
    """What estimators on an engine hold after each is fed."""
    text = (PROGRAMS / "play.py").read_text(encoding="utf-8")
    files = {**_fed_files(plan), "play.mpy": firmware.compile_source("play.py", text, None)}
    said: list[list[int]] = run(engine, "kernels", files, **options)
    return said


def unflat(numbers: list[int], like: Any) -> Any:
    """`raw()` of the same shape as `like` from what a program says (without the CRC)."""
    left = iter(numbers)

    def take(part: Any) -> Any:
        if isinstance(part, dict):
            found = {key: take(part[key]) for key in sorted(part)}
            return {key: found[key] for key in part}
        if isinstance(part, list | tuple):
            return [take(inner) for inner in part]
        return next(left)

    found = take(like)
    assert next(left, None) is None
    return found


def node_after(made: Mapping[str, Any], drive: Callable[[Any], object]) -> Any:
    """A node under this Python after `drive(node)`."""
    node = gauge.Node(made)
    drive(node)
    return node


# What the oracles expect. Rows are in the file's convention: half-open, or inclusive in closed mode.


def with_gaps(rows: list[Row], span: tuple[int, int], closed: int, gap: int = NULL) -> list[Row]:
    """The rows with a segment wherever nothing covers the span (its end exclusive)."""
    filled = []
    reach = span[0]
    for label, start, end in [*rows, (None, span[1], span[1] - closed)]:
        if start > reach:
            filled.append((gap, reach, start - closed))
        if label is not None:
            filled.append((label, start, end))
            reach = max(reach, end + closed)
    return filled


def span_of(truth: list[Row], prediction: list[Row], closed: int) -> tuple[int, int]:
    """From the earliest start to the latest end, exclusive."""
    rows = truth + prediction
    return min(start for _, start, _ in rows), max(end + closed for _, _, end in rows)


def painted(rows: list[Row], span: tuple[int, int], closed: int) -> list[int]:
    """The label of every tick: that of the segment which starts last."""
    ticks = [NULL] * (span[1] - span[0])
    for label, start, end in rows:
        for t in range(start, end + closed):
            ticks[t - span[0]] = label
    return ticks


def expected(made: Mapping[str, Any], truth: list[Row], prediction: list[Row]) -> dict[str, Any]:
    """The figures of one whole recording as `raw()` has them, by the oracles; fractions where it rounds.

    Neither side may hold illegal rows; nothing may have been lost.
    """
    closed = made["closed"]
    labels = len(made["labels"])
    if not truth and not prediction:
        span = (0, 0)
    else:
        span = span_of(truth, prediction, closed)
    truth = with_gaps(truth, span, closed, UNKNOWN if made["gaps_unknown"] else NULL)
    prediction = with_gaps(prediction, span, closed)
    truth = _settled(truth, closed)
    ticks_truth = painted(truth, span, closed)
    ticks_prediction = painted(prediction, span, closed)
    aligned, clipped_truth, clipped_prediction = align_oracle.align_known(
        truth, prediction, labels=labels, closed=bool(closed)
    )
    losses = prequential_oracle.losses(ticks_truth, ticks_prediction, made["slice"])
    found = prequential_oracle.prequential(losses, window=made["window"], alpha=float(alpha(made)))
    known = [x for x in losses if x is not None]
    counts = slices_oracle.counts(ticks_truth, ticks_prediction, labels)
    return {
        "join": {
            "assessed": len(ticks_truth) - ticks_truth.count(UNKNOWN),
            "unknown": ticks_truth.count(UNKNOWN),
            "unassessed": 0,
        },
        "align": aligned_raw(aligned, len(clipped_truth), len(clipped_prediction)),
        "slices": {name: counts[name.upper()] for name in ("tp", "sg", "si", "d", "u", "f", "i", "o", "m")},
        "prequential": {
            "n": found.count,
            "sum": sum(known),
            "unlabelled": found.unlabelled,
            "window_n": found.window_count,
            "window_sum": sum(known[-made["window"] :]),
            "fading": found.fading,
        },
    }


def _settled(truth: list[Row], closed: int) -> list[Row]:
    """UNKNOWN time ends where the next segment starts, and a segment that runs into it ends there."""
    rows: list[Row] = []
    edge = None
    for i in reversed(range(len(truth))):
        label, start, end = truth[i]
        if label == UNKNOWN and i + 1 < len(truth):
            end = min(end, truth[i + 1][1] - closed)
        elif label != UNKNOWN and edge is not None:
            end = min(end, edge - closed)
        if end + closed > start:
            rows.append((label, start, end))
            if label == UNKNOWN:
                edge = start
    return rows[::-1]


def aligned_raw(aligned: align_oracle.Aligned, truth: int, prediction: int) -> dict[str, Any]:
    """An oracle's alignment as `raw()["align"]` has it."""

    def stat(values: list[Any], factor: int = 1) -> list[Any]:
        scaled = [x * factor for x in values]
        least, most = (min(scaled), max(scaled)) if scaled else (0, 0)
        return [len(scaled), sum(scaled), sum(x * x for x in scaled), least, most]

    same = sum(aligned.confusion[i][i] for i in range(1, len(aligned.confusion)))
    nulls = aligned.confusion[0][0]
    return {
        "forced": 0,
        "truth": truth,
        "prediction": prediction,
        "unmatched_truth": aligned.unmatched_truth,
        "unmatched_prediction": aligned.unmatched_prediction,
        "confusion": aligned.confusion,
        "split": aligned.split,
        "merge": aligned.merge,
        "same": same + nulls,
        "iou": same + nulls - aligned.cost,
        "stats": {
            "latency": stat(aligned.latency, 2),
            "onset": stat(aligned.onset),
            "offset": stat(aligned.offset),
            "overlap": stat(aligned.overlap),
            "duration": stat(aligned.duration),
            "iou": stat(aligned.iou, 1 << 26),
        },
        "early": sum(x < 0 for x in aligned.latency),
        "late": sum(x > 0 for x in aligned.latency),
        "distance": aligned.distance,
    }


def node_distance(align: Mapping[str, Any]) -> Fraction:
    """The distance that a node's raw alignment amounts to."""
    pairs = sum(sum(row[1:]) for row in align["confusion"][1:])
    equal = sum(row[i] for i, row in enumerate(align["confusion"]) if i)
    unmatched = align["unmatched_truth"] + align["unmatched_prediction"]
    return 2 * (unmatched + pairs - equal) + align["same"] - Fraction(align["iou_q26"], 1 << 26)


def differences(raw: Mapping[str, Any], want: Mapping[str, Any], made: Mapping[str, Any]) -> list[str]:
    """Where a node's figures are not those expected; roundings within their bounds are none."""
    wrong = []

    def same(name: str, found: Any, wanted: Any) -> None:
        if found != wanted:
            wrong.append(f"{name}: {found} instead of {wanted}")

    def near(name: str, found: Any, wanted: Any, bound: Any) -> None:
        if abs(found - wanted) > bound:
            wrong.append(f"{name}: {float(found)} instead of {float(wanted)}")

    for part in ("join", "slices"):
        if part in want:
            same(part, raw[part], want[part])
    if "align" in want:
        found, wanted = raw["align"], want["align"]
        half = Fraction(1, 2)  # unit of 2^-26: each IoU is rounded to nearest
        for name in wanted:
            if name == "iou":
                near(name, found["iou_q26"], wanted["iou"] * (1 << 26), half * wanted["same"])
            elif name == "distance":
                near(name, node_distance(found), wanted[name], half * wanted["same"] / (1 << 26))
            elif name == "stats":
                for kind, numbers in wanted["stats"].items():
                    if kind != "iou":
                        same(kind, found["stats"][kind], numbers)
                        continue
                    count, total, squares, least, most = found["stats"]["iou"]
                    same("iou count", count, numbers[0])
                    near("iou sum", total, numbers[1], half * count)
                    near("iou squares", squares, numbers[2], (1 << 27) * half * count)
                    near("iou min", least, numbers[3], half)
                    near("iou max", most, numbers[4], half)
            else:
                same(name, found[name], wanted[name])
    if "prequential" in want:
        found, wanted = raw["prequential"], dict(want["prequential"])
        faded = wanted.pop("fading")
        for name, value in wanted.items():
            same(name, found[name], value)
        if faded is not None:
            near("fading", faded_mean(found), faded, faded_bound(found))
    return wrong


def faded_mean(found: Mapping[str, int]) -> float:
    """The faded mean behind `raw()["prequential"]` or `raw()["loss"]`."""
    a = 1 - found["alpha_q30"] / (1 << 30)
    return found["fading_s"] / (1 << found["fading_bits"]) / ((1 - a ** found["n"]) / (1 - a))


def faded_bound(found: Mapping[str, int], largest: int = 1, exact: bool = False) -> float:
    """How far it may be off from the mean faded with alpha = 1 - alpha_q30 / 2^30, or (exact) with the alpha
    that was rounded to it.

    Derived in DESIGN.md: two units of the sum's last bit; the weights inside a block, 26 bits; 1 - alpha^16,
    which is rounded to 30 bits as 1 - alpha is, for one record in 16.
    """
    a = 1 - found["alpha_q30"] / (1 << 30)
    rounded = largest * 2.0**-31 / (a**0.5 * (1 - a))
    weight = (1 - a ** found["n"]) / (1 - a)
    return rounded * (17 / 16 if exact else 1 / 16) + 2.0 ** (1 - found["fading_bits"]) / weight + 2.0**-26


# What the join hands on, tick by tick.


class Pieces:
    """Takes the join's entries as an estimator does, and lays them out as one (truth, prediction) a tick."""

    def __init__(self, node: Any) -> None:
        self.ticks: list[tuple[int, int]] = []
        self.unassessed: list[bool] = []
        self.records: list[tuple[int, int]] = []
        self.ends: tuple[list[int], list[int]] = ([], [])
        node._arrays = (*node._arrays[:5], (self._take, None), False)

    def _take(self, _: None, __: int, ___: None, entries: Any, n: int) -> None:
        for i in range(0, 8 * n, 8):
            g, p, _, ticks, records, flags = entries[i : i + 6]
            self.ticks += [(g, p & 255)] * ticks
            self.unassessed += [bool(flags & 8)] * ticks
            self.records += [(g, p & 255)] * records
            for side in range(2):
                if flags >> side & 1:
                    self.ends[side].append(len(self.ticks))

    @property
    def sides(self) -> tuple[list[int], list[int]]:
        """Labels a tick, truth and prediction."""
        return [g for g, _ in self.ticks], [p for _, p in self.ticks]


def pieces_of(made: Mapping[str, Any], drive: Callable[[Any], object]) -> tuple[Any, Pieces]:
    """A node under this Python after `drive(node)`, and all that its join handed on."""
    node = gauge.Node(made)
    seen = Pieces(node)
    drive(node)
    return node, seen

"""Instructions that the node executes for a slice, beside the same work in C (node_c/, -Os), and its memory.

    python tools/bench/node_bench.py [--split] [--each] [--json FILE]

Counted on the arm engine between two marks; a mark's own cost is taken off, and so is that of the loop around
the one-sample entries. Every recording is played in chunks whose runs the join's ring can hold, with all
three estimators; `--split` plays it with none and with each alone as well, `--each` counts every single call.
Node and C must give the same numbers. Exits with 1 when they do not, or when a limit is passed.

Recordings: house A in minutes and in seconds, and the electricity market as slices, from the folder `shared`
beside the project or $STREAMGAUGE_SHARED, or the built-in example where there is none; a synthetic stream.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import struct
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streamgauge import firmware
from streamgauge.engines import EngineFailed, EngineOutOfMemory
from streamgauge.engines.unix import arm_engine
from streamgauge.files import ReadOptions, read_pair
from streamgauge.places import checkout

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "icount"))

from icount import FLAGS as _FLAGS  # noqa: E402
from icount import MARK, count_c, count_micropython  # noqa: E402

C_SOURCES = sorted((HERE / "node_c").glob("*.c"))
# A microcontroller's program is not position-independent, which Debian's compiler makes it unless told.
C_FLAGS = (*_FLAGS, "-fno-pie", "-no-pie")
ESTIMATORS = ("align", "slices", "prequential")
TIMES_C = 4.0
ONE_SAMPLE = 3000
STATE_BYTES = 8 * 1024
CODE_BYTES = 24 * 1024
SMALL_HEAP = 64 * 1024
BIG_HEAP = 8 << 20
RUNS = PENDING = 64
WINDOW = 1000
EACH = 2000  # slices whose calls are counted one by one
SHARES = (("median", 0.5), ("90 %", 0.9), ("99 %", 0.99), ("most", 1.0))

Call = tuple[int, int, bytes]  # side (0 truth, 1 prediction), time, labels


@dataclass(frozen=True)
class Stream:
    """Two label arrays of one length, one label a slice, 255 where the truth is unknown."""

    name: str
    truth: bytes
    prediction: bytes
    labels: int
    slice: int = 1

    def __len__(self) -> int:
        return len(self.truth)

    @property
    def chunk(self) -> int:
        """The most slices at a time, up to 1000, of which the join's ring holds all runs."""
        for chunk in (1000, 500, 250, 200, 125, 100, 50, 25):
            if all(
                len(_changes(side[i : i + chunk])) <= RUNS - 4
                for side in (self.truth, self.prediction)
                for i in range(0, len(side), chunk)
            ):
                break
        return chunk

    def config(self, estimators: Iterable[str] = ESTIMATORS, group: int = 16, **other: int) -> dict[str, Any]:
        """The node's configuration."""
        return configuration(self.labels, estimators, slice=self.slice, group=group, **other)

    def calls(self, chunk: int) -> list[Call]:
        """Both sides in turn, `chunk` slices at a time."""
        return [
            (side, i * self.slice, (self.truth, self.prediction)[side][i : i + chunk])
            for i in range(0, len(self), chunk)
            for side in (1, 0)
        ]


def _changes(labels: bytes) -> list[int]:
    return [i for i in range(1, len(labels)) if labels[i] != labels[i - 1]]


def configuration(labels: int, estimators: Iterable[str] = ESTIMATORS, **other: int) -> dict[str, Any]:
    """A node's configuration with the benchmark's capacities; `other` overrides."""
    return {
        "version": 1,
        "labels": ["NULL", *map(str, range(1, labels))],
        "tick_us": 0,
        "slice": 1,
        "closed": 0,
        "overlap": 0,
        "gaps_unknown": 0,
        "runs": RUNS,
        "pending": PENDING,
        "window": WINDOW,
        "alpha_q30": round((1 - 0.999) * 2**30),
        "loss_max": 0,
        "delta_ppm": 50000,
        "state_bytes": 0,
        "group": 16,
        "estimators": list(estimators),
        **other,
    }


# Recordings


def from_files(name: str, truth: Path, prediction: Path, options: ReadOptions, slice_: int) -> Stream:
    """Label arrays of two files of segments: the label at each slice's first tick."""
    recording = read_pair(truth, prediction, options)
    begin, end = recording.span
    step = recording.task.slice_ticks
    arrays = []
    for segments in (recording.truth, recording.prediction):
        labels = bytearray((end - begin + step - 1) // step)
        for label, first, last in segments:
            a, b = (-(-(tick - begin) // step) for tick in (first, last))
            labels[a:b] = bytes([label]) * (b - a)
        arrays.append(bytes(labels))
    return Stream(name, arrays[0], arrays[1], len(recording.task.labels), slice_)


def synthetic(count: int, labels: int, run: float, seed: int) -> Stream:
    """Truth of runs of `run` slices on average; a prediction that is late, confuses, misses and fragments."""
    dice = random.Random(seed)
    truth = bytearray()
    prediction = bytearray()
    while len(truth) < count:
        length = 1 + int(dice.expovariate(1 / run))
        label = 255 if dice.random() < 0.01 else dice.randrange(labels)
        truth += bytes([label]) * length
        said = 0 if label == 255 else label
        fate = dice.random()
        if fate < 0.2:
            said = dice.randrange(labels)
        late = max(0, len(truth) - length + dice.randrange(-3, 5) - len(prediction))
        prediction += prediction[-1:] * late if prediction else bytes(late)
        prediction += bytes([said]) * (len(truth) - len(prediction))
        if fate > 0.9 and length > 4:
            middle = len(truth) - length // 2
            prediction[middle : middle + 1] = b"\0"
    return Stream(f"synthetic, runs of {run:g}", bytes(truth[:count]), bytes(prediction[:count]), labels)


def shared_folder() -> Path | None:
    """The folder of recordings, where there is one."""
    root = checkout()
    beside = root.parent / "shared" if root else None
    folder = Path(os.environ["STREAMGAUGE_SHARED"]) if "STREAMGAUGE_SHARED" in os.environ else beside
    return folder if folder and (folder / "data").is_dir() else None


def house_a(folder: Path) -> Stream:
    """House A in minutes, one minute a slice."""
    home = folder / "data" / "kasteren"
    pair = home / "A_minutes_truth.csv", home / "A_minutes_hmm.csv"
    return from_files("house A, minutes", *pair, ReadOptions(), 1)


def elec2(folder: Path) -> Stream:
    """The electricity market and its naive Bayes; both classes are real labels, none is NULL."""
    with gzip.open(folder / "data" / "streams" / "elec2_nb_ht.csv.gz", "rt") as file:
        rows = [line.split(",") for line in file][1:]
    truth, prediction = (bytes(1 + int(row[i]) for row in rows) for i in (0, 1))
    return Stream("elec2", truth, prediction, 3)


def example() -> Stream:
    """The example that ships with the package."""
    import streamgauge

    data = Path(streamgauge.__file__).parent / "data"
    pair = data / "home_truth.csv", data / "home_prediction.csv"
    return from_files("built-in example", *pair, ReadOptions(tick=1.0, slice=60), 60)


def streams() -> list[Stream]:
    """What is measured."""
    folder = shared_folder()
    found = []
    if folder:
        a = house_a(folder)
        found = [a, Stream("house A, seconds", a.truth, a.prediction, a.labels, 60), elec2(folder)]
    else:
        found = [example()]
    return [*found, synthetic(100_000, 16, 40, 1)]


# One run of either


@dataclass(frozen=True)
class Run:
    """Instructions, and what raw() says."""

    instructions: int
    raw: dict[str, Any]


def _files(stream: Stream, config: dict[str, Any]) -> dict[str, bytes]:
    return {
        **firmware.build("armv6m"),
        "config.json": json.dumps(config).encode(),
        "truth.bin": stream.truth,
        "prediction.bin": stream.prediction,
    }


def program(name: str, **constants: int) -> str:
    """A node program with its constants set."""
    text = (HERE / "node_programs" / f"{name}.py").read_text()
    return "".join(f"{key} = {value!r}\n" for key, value in constants.items()) + text


def node_batch(stream: Stream, config: dict[str, Any], chunk: int) -> Run:
    """The node's batch entries."""
    script = MARK + program("batch", CHUNK=chunk)
    counts = count_micropython(script, _files(stream, config), heap_bytes=BIG_HEAP)
    mark, work = counts.between
    return Run(work - mark, json.loads(counts.output.stdout))


def node_single(stream: Stream, config: dict[str, Any]) -> Run:
    """The node's one-sample entries, without the loop around them."""
    script = MARK + program("single", EACH=0)
    counts = count_micropython(script, _files(stream, config), heap_bytes=BIG_HEAP)
    _, loop, work = counts.between
    return Run(work - loop, json.loads(counts.output.stdout))


def node_each(stream: Stream, config: dict[str, Any]) -> list[int]:
    """Instructions of every single call, within some tens."""
    part = Stream(stream.name, stream.truth[:EACH], stream.prediction[:EACH], stream.labels, stream.slice)
    script = MARK + program("single", EACH=1)
    counts = count_micropython(script, _files(part, config), heap_bytes=BIG_HEAP)
    mark, loop, *calls = counts.between
    around = (loop - mark) // (2 * len(part)) + mark
    return [count - around for count in calls[: 2 * len(part)]]


def recording(config: dict[str, Any], calls: Sequence[Call]) -> bytes:
    """The file that the C program plays (main.c says what is in it)."""
    head = (config["slice"], config["alpha_q30"], config["group"], len(config["labels"]))
    parts = [struct.pack("<6I", *head, config["closed"], config["gaps_unknown"])]
    for side, t, labels in calls:
        parts += [struct.pack("<3I", side, t % 2**32, len(labels)), labels, bytes(-len(labels) % 4)]
    return b"".join(parts)


def c_flags(config: dict[str, Any]) -> list[str]:
    """The configuration's capacities and estimators, which the C program has at compile time."""
    capacities = [f"-D{name.upper()}={config[name]}" for name in ("runs", "pending", "window")]
    return [
        *capacities,
        *(f"-DWITH_{name.upper()}={int(name in config['estimators'])}" for name in ESTIMATORS),
    ]


def c_raw(text: str) -> dict[str, Any]:
    """What the C program printed; its sums of squares are of two words."""
    raw = json.loads(text)
    for statistic in raw.get("align", {}).get("stats", {}).values():
        high, low = statistic[2]
        statistic[2] = (high << 64) + low
    return raw


def c_run(config: dict[str, Any], calls: Sequence[Call], folder: Path) -> Run:
    """The same work in C."""
    path = folder / "recording"
    path.write_bytes(recording(config, calls))
    counts = count_c(C_SOURCES, [str(path)], flags=[*C_FLAGS, *c_flags(config)])
    mark, work = counts.between
    return Run(work - mark, c_raw(counts.output.stdout))


def same(node: dict[str, Any], c: dict[str, Any]) -> bool:
    """Whether both say the same, of all that both say."""
    return all(
        same(node[key], value) if isinstance(value, dict) else node[key] == value for key, value in c.items()
    )


# Memory


@dataclass(frozen=True)
class Memory:
    """Bytes on a 32-bit node. A board keeps machine code in its heap, the unix build elsewhere."""

    code_heap: int
    machine_code: int
    state_heap: int
    state_ledger: int

    @property
    def code(self) -> int:
        """What the code takes on a board."""
        return self.code_heap + self.machine_code


def memory() -> Memory:
    """Measure with 16 labels, 64 pending segments a side and a window of 1000."""
    files = firmware.build("armv6m")
    config = {"config.json": json.dumps(configuration(16)).encode()}
    said = arm_engine().run(program("memory"), {**files, **config}, BIG_HEAP).stdout.split()
    code, state, ledger = map(int, said[:3])
    machine = 0
    for module in said[3:]:
        path = module.replace(".", "/")
        machine += firmware.machine_code_bytes(files.get(path + ".mpy") or files[path + "/__init__.mpy"])
    return Memory(code, machine, state, ledger)


def whole_run(stream: Stream, heap: int) -> int | None:
    """Bytes that a whole recording leaves free in a small heap; None where it does not fit."""
    files = _files(stream, stream.config())
    try:
        said = arm_engine().run(program("whole", CHUNK=stream.chunk), files, heap).stdout.splitlines()
    except EngineFailed as trouble:
        if isinstance(trouble, EngineOutOfMemory) or "LedgerFull" in str(trouble):
            return None
        raise
    times = json.loads(said[1])["join"]
    return int(said[0]) if times["assessed"] and not times["unassessed"] else None


def least_heap(stream: Stream) -> int:
    """The smallest heap, in whole KB, that a whole recording runs in."""
    short, enough = 0, BIG_HEAP >> 10
    while enough - short > 1:
        middle = (short + enough) // 2
        if whole_run(stream, middle << 10) is None:
            short = middle
        else:
            enough = middle
    return enough << 10


# Report


@dataclass
class Report:
    """Prints figures beside their limits and remembers whether all were kept."""

    kept: bool = True

    def limit(self, what: str, figure: float, limit: float, form: str = ",.0f") -> None:
        """One figure that must not pass its limit."""
        kept = figure <= limit
        self.kept &= kept
        print(
            f"  {what:<46} {figure:>9{form}}  at most {limit:{form}}{'' if kept else '   OVER'}", flush=True
        )

    def truth(self, what: str, holds: bool) -> None:
        """Something that must hold."""
        self.kept &= holds
        print(f"  {what:<46} {'yes' if holds else 'NO':>9}", flush=True)


def measure(stream: Stream, options: argparse.Namespace, folder: Path, report: Report) -> dict[str, Any]:
    """All instruction counts of one recording."""
    chunk, count = stream.chunk, len(stream)
    print(f"{stream.name}: {count:,} slices, {chunk} at a time", flush=True)
    found: dict[str, Any] = {"slices": count, "chunk": chunk, "batch": {}}
    splits: list[tuple[str, ...]] = [ESTIMATORS]
    if options.split:
        splits += [(), *((name,) for name in ESTIMATORS)]
    agree = True
    for on in splits:
        config = stream.config(on)
        node = node_batch(stream, config, chunk)
        c = c_run(config, stream.calls(chunk), folder)
        agree &= same(node.raw, c.raw) and not node.raw["join"]["unassessed"]
        ratio = node.instructions / c.instructions
        name = "all" if on == ESTIMATORS else "+".join(on) or "none"
        each = {"node": node.instructions / count, "c": c.instructions / count, "times_c": ratio}
        found["batch"][name] = each
        what = f"batch, {name}: node {each['node']:.1f}, C {each['c']:.1f}, times C"
        if on == ESTIMATORS:
            report.limit(what, ratio, TIMES_C, ".2f")
        else:
            print(f"  {what:<46} {ratio:>9.2f}")
    node = node_single(stream, stream.config())
    at_once = node_single(stream, stream.config(group=1))
    c = c_run(stream.config(), stream.calls(1), folder)
    agree &= same(node.raw, c.raw) and same(at_once.raw, c.raw)
    calls = 2 * count
    found["single"] = {
        "node": node.instructions / calls,
        "node_group_1": at_once.instructions / calls,
        "c": c.instructions / calls,
    }
    report.limit("one sample, a call", node.instructions / calls, ONE_SAMPLE)
    print(f"  {'  records handed on one by one':<46} {at_once.instructions / calls:>9,.0f}")
    print(f"  {'  C':<46} {c.instructions / calls:>9,.0f}")
    if options.each:
        for group in (16, 1):
            costs = sorted(node_each(stream, stream.config(group=group)))
            at = {name: costs[int(share * (len(costs) - 1))] for name, share in SHARES}
            found["single"][f"each_group_{group}"] = at
            listed = ", ".join(f"{name} {value:,}" for name, value in at.items())
            print(f"  first {len(costs):,} calls, records by {group}: {listed}")
    report.truth("the same numbers as C, nothing unassessed", agree)
    return found


def main() -> int:
    """Count, measure, print and judge."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--split", action="store_true", help="also with none and with each estimator alone")
    parser.add_argument(
        "--each", action="store_true", help="also every single call of the one-sample entries"
    )
    parser.add_argument("--json", help="write the numbers to this file as well")
    options = parser.parse_args()
    report = Report()
    recordings = streams()
    with tempfile.TemporaryDirectory(prefix="streamgauge-") as folder:
        found: dict[str, Any] = {s.name: measure(s, options, Path(folder), report) for s in recordings}
    bytes_ = memory()
    print("memory on arm: 16 labels, 64 pending segments a side, window 1000; bytes")
    report.limit("state", bytes_.state_heap, STATE_BYTES)
    print(f"  {'  by the ledger':<46} {bytes_.state_ledger:>9,}")
    report.limit("code in the heap", bytes_.code - bytes_.machine_code, CODE_BYTES)
    print(f"  {'  and machine code, on a board in the heap too':<46} {bytes_.machine_code:>9,}")
    least = least_heap(recordings[0])
    report.limit(f"least heap for all of {recordings[0].name}", least, SMALL_HEAP)
    print(f"  {'  on a board, with the machine code in it':<46} {least + bytes_.machine_code:>9,}")
    found["memory"] = {**vars(bytes_), "code": bytes_.code, "least_heap": least}
    if options.json:
        Path(options.json).write_text(json.dumps(found, indent=1) + "\n")
    return 0 if report.kept else 1


if __name__ == "__main__":
    sys.exit(main())

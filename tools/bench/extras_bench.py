"""Instructions that the node's further estimators execute on arm, in batch and sample by sample.

    python tools/bench/extras_bench.py [--json FILE]

Each estimator alone, the core three, and all together: through the batch entries (where the second
recogniser's label and the confidence stay the same), and through one-sample calls with a second recogniser
and a confidence that changes with every sample. A mark's own cost is taken off, and so is that of the loop.
(docs/instructions.md has the same for inputs that every clone has, beside C.) Then the memory of all together
with 16 labels: state, code, and whether a recording runs in a heap of 96 KB that holds the machine code too.

Recordings as in node_bench.py. Exits with 1 when a limit is passed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from node_bench import (  # noqa: E402
    BIG_HEAP,
    MARK,
    Report,
    Stream,
    count_micropython,
    program,
    shared_folder,
    streams,
    synthetic,
)

from streamgauge import firmware  # noqa: E402
from streamgauge.engines import EngineOutOfMemory  # noqa: E402
from streamgauge.engines.base import EngineFailed  # noqa: E402
from streamgauge.engines.unix import arm_engine  # noqa: E402
from streamgauge.profile import compile_config, load_profile  # noqa: E402
from streamgauge.profile_keys import ESTIMATORS  # noqa: E402
from streamgauge.task import Task  # noqa: E402

CORE = ("align", "slices", "prequential")
RECORDS = ("page_hinkley", "ddm", "adwin", "compare", "forgetting", "reliability")
ALL = (*CORE, *RECORDS, "holdout", "hierarchy")
ONE_SAMPLE = 4000
STATE_BYTES = 16 * 1024
HEAP = 96 * 1024
MOST_SLICES = 20_000


def config_of(on: Sequence[str], labels: int, slice_: int, **values: Any) -> dict[str, Any]:
    """What the sensor profile compiles to with these estimators on, four and four levels, 100 held out.

    `values`: further keys of the profile, with `__` for the full stop.
    """
    levels = {"hierarchy.levels_truth": 4, "hierarchy.levels_prediction": 4}
    other = {key.replace("__", "."): value for key, value in values.items()}
    profile = load_profile("sensor").with_values({"estimators.on": list(on), **levels, **other})
    task = Task(("NULL", *map(str, range(1, labels))), None, slice_)
    return compile_config(profile, task, holdout=bytes(profile["holdout.size"]))


def rows_of(stream: Stream, changing: bool = True) -> bytes:
    """Prediction, second recogniser (late by three slices), confidence and truth, a byte each a slice."""
    rows = bytearray()
    for i, (truth, prediction) in enumerate(zip(stream.truth, stream.prediction, strict=True)):
        confidence = 37 * i * i & 255 if changing else 200
        rows += bytes((prediction, stream.prediction[max(0, i - 3)], confidence, truth))
    return bytes(rows)


def batch(stream: Stream, on: Sequence[str]) -> float:
    """Instructions a record through the batch entries."""
    files = {
        **firmware.build("armv6m"),
        "config.json": json.dumps(config_of(on, stream.labels, stream.slice)).encode(),
        "truth.bin": stream.truth,
        "prediction.bin": stream.prediction,
    }
    counts = count_micropython(MARK + program("batch", CHUNK=stream.chunk), files, heap_bytes=BIG_HEAP)
    mark, work = counts.between
    return (work - mark) / len(stream)


def _single(stream: Stream, on: Sequence[str], changing: bool) -> list[int]:
    files = {
        **firmware.build("armv6m"),
        "config.json": json.dumps(config_of(on, stream.labels, stream.slice)).encode(),
        "rows.bin": rows_of(stream, changing),
    }
    script = program("extras", **_beside(on))
    counts = count_micropython(MARK + script, files, heap_bytes=BIG_HEAP)
    return list(counts.between)


def _beside(on: Sequence[str]) -> dict[str, int]:
    return {
        "SECOND": int("compare" in on),
        "CONFIDENCE": int("reliability" in on),
        "LEVELS": int("hierarchy" in on),
    }


def single(stream: Stream, on: Sequence[str], changing: bool = True) -> float:
    """Instructions a call of the one-sample entries, without the loop around them."""
    _, loop, work = _single(stream, on, changing)
    beside = _beside(on)
    return (work - loop) / ((2 + beside["SECOND"] + beside["LEVELS"]) * len(stream))


def memory(report: Report) -> dict[str, Any]:
    """State and code of all together on a 32-bit node, and the small heap."""
    files = firmware.build("armv6m")
    config = config_of(ALL, 16, 1)
    given = {**files, "config.json": json.dumps(config).encode()}
    said = arm_engine().run(program("extras_memory"), given, BIG_HEAP).stdout.split()
    code, state, ledger, config_bytes = map(int, said[:4])
    machine = 0
    for module in said[4:]:
        path = module.replace(".", "/")
        machine += firmware.machine_code_bytes(files.get(path + ".mpy") or files[path + "/__init__.mpy"])
    print("memory on arm: 16 labels, all estimators; bytes")
    report.limit("state", state, STATE_BYTES)
    print(f"  {'  by the ledger':<46} {ledger:>9,}")
    print(f"  {'code':<46} {code + machine:>9,}")
    print(f"  {'  of it machine code':<46} {machine:>9,}")
    print(f"  {'configuration':<46} {config_bytes:>9,}")
    report.limit("state, code and configuration", state + code + machine + config_bytes, HEAP)
    stream = synthetic(20_000, 16, 40, 1)
    whole = {**given, "truth.bin": stream.truth, "prediction.bin": stream.prediction}
    free = None
    try:
        ran = arm_engine().run(program("whole", CHUNK=stream.chunk), whole, HEAP - machine)
        free = int(ran.stdout.split()[0])
    except (EngineOutOfMemory, EngineFailed):  # the ledger refuses by name
        pass
    report.truth(f"a recording runs in {HEAP:,}, less the machine code", free is not None)
    print(f"  {'  free at its end':<46} {free or 0:>9,}")
    return {"state": state, "ledger": ledger, "code": code + machine, "machine_code": machine, "free": free}


def measure(stream: Stream, report: Report) -> dict[str, Any]:
    """All counts of one recording."""
    if len(stream) > MOST_SLICES:
        cut = slice(MOST_SLICES)
        stream = Stream(stream.name, stream.truth[cut], stream.prediction[cut], stream.labels, stream.slice)
    print(
        f"{stream.name}: {len(stream):,} slices, {stream.chunk} at a time, {stream.labels} labels", flush=True
    )
    print(f"  {'estimators':<30} {'batch, a record':>16} {'one sample, a call':>19}")
    found: dict[str, Any] = {}
    for name, on in (
        ("core", CORE),
        *((name, (name,)) for name in RECORDS),
        ("core and records", (*CORE, *RECORDS)),
        ("all", ALL),
    ):
        figures = {"batch": batch(stream, on), "single": single(stream, on)}
        found[name] = figures
        print(f"  {name:<30} {figures['batch']:>16,.1f} {figures['single']:>19,.0f}", flush=True)
    report.limit("all, one sample, a call", found["all"]["single"], ONE_SAMPLE)
    steady = single(stream, ALL, changing=False)
    found["all"]["single_steady"] = steady
    print(f"  {'  where the confidence stays the same':<46} {steady:>9,.0f}", flush=True)
    return found


def main() -> int:
    """Count, measure, print and judge."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", help="write the numbers to this file as well")
    options = parser.parse_args()
    assert set(ALL) == set(ESTIMATORS)
    report = Report()
    if shared_folder() is None:
        print("no folder of recordings: the built-in example and a synthetic stream")
    found: dict[str, Any] = {"memory": memory(report)}
    for stream in streams():
        if "seconds" not in stream.name:
            found[stream.name] = measure(stream, report)
    if options.json:
        Path(options.json).write_text(json.dumps(found, indent=1) + "\n")
    return 0 if report.kept else 1


if __name__ == "__main__":
    sys.exit(main())

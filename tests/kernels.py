"""Feeds the join's entries to an estimator of the node: here, on CPython, and on an engine."""

from __future__ import annotations

import json
from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np

from streamgauge import firmware
from streamgauge.engines import Engine

ENTRY = 8
WRAP = 1 << 30

PROGRAM = """
import gc
import json
import micropython
from array import array
from gauge.ledger import Ledger
from gauge.{module} import {names}

def play(part, path, buffer):
    w = part.w
    view = memoryview(buffer)
    allocated = 0
    with open(path, "rb") as file:
        while True:
            n = file.readinto(view) // 32
            if not n:
                return allocated
            before = micropython.mem_total()
            {feed}(w, 0, w, buffer, n)
            allocated += micropython.mem_total() - before
"""


def entries(
    truth: Sequence[int] | np.ndarray,
    prediction: Sequence[int] | np.ndarray,
    confidence: Sequence[int] | np.ndarray | None = None,
    second: Sequence[int] | np.ndarray | None = None,
    *,
    most: int = 16,
    ticks: int = 1,
) -> array[int]:
    """What the join hands on for these records: runs of equal ones, at most `most` records each."""
    g = np.asarray(truth, dtype=np.int64)
    p = np.asarray(prediction, dtype=np.int64).copy()
    if confidence is not None:
        p |= np.asarray(confidence, dtype=np.int64) << 8
    if second is not None:
        p |= np.asarray(second, dtype=np.int64) << 16
    out: list[int] = []
    start = 0
    for i in range(1, len(g) + 1):
        if i == len(g) or i - start == most or g[i] != g[start] or p[i] != p[start]:
            out += [int(g[start]), int(p[start]), 0, (i - start) * ticks, i - start, 0, 0, 0]
            start = i
    return array("i", out)


def from_losses(losses: Sequence[int] | np.ndarray, **options: Any) -> array[int]:
    """Entries of records with these 0-1 losses; 2 where there is no truth."""
    x = np.asarray(losses, dtype=np.int64)
    return entries(np.where(x == 2, 255, 1), np.where(x == 1, 2, 1), **options)


def feed(kernel: Any, part: Any, stream: array[int], room: int = 16) -> None:
    """Hand the entries on, at most `room` a call, and check that no stored number is out of range."""
    for at in range(0, len(stream), room * ENTRY):
        some = stream[at : at + room * ENTRY]
        kernel(part.w, 0, part.w, some, len(some) // ENTRY)
    assert all(0 <= word <= WRAP for word in part.w)


def modules(engine: Engine, *names: str) -> dict[str, bytes]:
    """These modules of the node, compiled, and nothing else."""
    sources = firmware.sources()
    paths = [f"gauge/{name}.py" for name in ("ledger", *names)]
    built = {path[:-3] + ".mpy": firmware.compile_source(path, sources[path], engine.march) for path in paths}
    return {"gauge/__init__.py": b"", **built}


def play_on(
    engine: Engine,
    module: str,
    names: str,
    feed_name: str,
    make: str,
    streams: Sequence[array[int]],
    *,
    needs: Sequence[str] = (),
    timeout: float = 120.0,
) -> list[dict[str, Any]]:
    """Play each stream to an estimator of its own and return what each says, with the bytes it allocated.

    `make` is the text that makes one, with `{ledger}` where its ledger belongs; "allocated" is added to
    `raw()`.
    """
    files = modules(engine, module, *needs)
    script = [PROGRAM.format(module=module, names=names, feed=feed_name), "buffer = array('i', bytes(512))"]
    for number, stream in enumerate(streams):
        files[f"{number}.bin"] = stream.tobytes()
        script += [
            "part = found = None",
            "gc.collect()",
            f"part = {make.format(ledger='Ledger()')}",
            f"allocated = play(part, '{number}.bin', buffer)",
            "found = part.raw()",
            "found['allocated'] = allocated",
            "print(json.dumps(found))",
        ]
    output = engine.run("\n".join(script), files, heap_bytes=256 * 1024, timeout=timeout)
    return [json.loads(line) for line in output.stdout.splitlines()]

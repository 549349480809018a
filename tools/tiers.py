"""Runs the host's streaming assessment in the memory of a tier, truly limited, over far more input than that.

    python tools/tiers.py pda --slices 1e7 --segments 1e6
    python tools/tiers.py server --slices 1e8

Assesses a made-up stream in a process of its own, whose address space is limited to what the interpreter and
its libraries hold once they are loaded, plus the heap of the tier's memory profile. So whatever the
assessment takes comes out of these bytes, and asking for more is a MemoryError. The peak resident set above
the interpreter's own is told too. `--grow PART` makes one part keep everything it is told: it must die, or be
seen growing.

Prints one JSON document. Exit code 1: out of memory, or grown.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

PARTS = ("slices", "prequential", "alignment")
_LABELS = 12
_RUN = 24  # slices, on the average
_RUNS_A_PART = 2048
_GROWTH = 1 << 20  # of resident memory between a tenth of the way and its end: what the allocator plays with
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1"}


def main() -> int:
    """Start the limited process, or be it."""
    arguments = _arguments()
    if arguments.limited:
        return _limited(arguments)
    # Threads of libraries reserve address space that nobody uses.
    command = [sys.executable, __file__, *sys.argv[1:], "--limited"]
    return subprocess.run(command, env={**os.environ, **_ONE_THREAD}).returncode


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tier", help="memory profile: pda, server or a file")
    parser.add_argument("--slices", type=float, default=1e6, help="told as one label a slice")
    parser.add_argument("--segments", type=float, default=0, help="then told as segments, of each side")
    parser.add_argument("--grow", choices=PARTS, help="the part that keeps everything")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limited", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def _status(name: str) -> int:
    """Return a figure of /proc/self/status in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return 1024 * int(line.split()[1])
    raise RuntimeError(f"/proc/self/status has no {name}")


class _Source:
    """A made-up stream: runs of labels, and a recogniser that is late, wrong and blind now and then."""

    def __init__(self, seed: int) -> None:
        import numpy as np

        self._random = np.random.default_rng(seed)

    def runs(self) -> tuple[Any, Any, Any]:
        """Return the next runs: length, true label, predicted label."""
        random = self._random
        length = random.geometric(1 / _RUN, _RUNS_A_PART)
        truth = random.integers(0, _LABELS, _RUNS_A_PART)
        prediction = truth.copy()
        wrong = random.random(_RUNS_A_PART) < 0.2
        prediction[wrong] = random.integers(0, _LABELS, int(wrong.sum()))
        return length, truth, prediction

    def late(self, length: Any) -> Any:
        """Return where the predicted runs end, of true runs that last `length`."""
        import numpy as np

        ends = np.cumsum(length)
        # By up to a quarter of the next run; the last boundary stays, so that both sides reach as far.
        by = self._random.integers(0, np.append(length[1:] // 4, 0) + 1)
        return ends + by


def _tell_slices(stream: Any, source: _Source, slices: int) -> int:
    import numpy as np

    done = 0
    while done < slices:
        length, truth, prediction = source.runs()
        late = np.diff(source.late(length), prepend=0)
        stream.prediction_labels(np.repeat(prediction.astype(np.uint8), late))
        stream.truth_labels(np.repeat(truth.astype(np.uint8), length))
        done += int(length.sum())
        _watch(done / slices)
    return done


def _tell_segments(stream: Any, source: _Source, segments: int, begin: int) -> int:
    import numpy as np

    from streamgauge.segments import Segments

    done = 0
    while done < segments:
        length, truth, prediction = source.runs()
        for tell, label, ends in (
            (stream.prediction, prediction, source.late(length)),
            (stream.truth, truth, np.cumsum(length)),
        ):
            start = np.concatenate(([0], ends[:-1])) + begin
            keep = ends + begin > start
            tell(Segments(label.astype(np.int16), start, ends + begin).take(keep))
        begin += int(length.sum())
        done += len(length)
        _watch(done / segments)
    return done


_watched: list[tuple[float, int]] = []


def _watch(share: float) -> None:
    """Note the resident memory, some twenty times on the way."""
    if not _watched or share >= _watched[-1][0] + 0.05 or share < _watched[-1][0]:
        _watched.append((share, _status("VmRSS")))


def _grow(stream: Any, part: str) -> None:
    """Make a part keep all that it is told, as lists do."""
    kept: list[Any] = []
    target = getattr(stream, part)
    plain = target.feed

    def feed(*told: Any) -> None:
        for thing in told:
            if part == "prequential":
                kept.extend(thing.records().tolist())
            elif part == "alignment":
                kept.extend(thing)
            else:
                columns = (thing.truth, thing.prediction, thing.start, thing.length)
                kept.extend(zip(*(column.tolist() for column in columns), strict=True))
        plain(*told)

    target.feed = feed


def _limited(arguments: argparse.Namespace) -> int:
    from streamgauge.assess import Settings
    from streamgauge.profile import load_profile
    from streamgauge.streaming import Streaming
    from streamgauge.task import Task

    profile = load_profile(arguments.tier)
    task = Task(("NULL", *(f"label{n}" for n in range(1, _LABELS))))
    # What is loaded at the first use counts as the interpreter's own.
    warm = Streaming(task, Settings(window=10))
    _tell_slices(warm, _Source(0), 10_000)
    _tell_segments(warm, _Source(0), 1000, 1 << 20)
    warm.finish()
    _watched.clear()
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    resident, space = _status("VmRSS"), _status("VmSize")
    limit = space + profile.heap_bytes
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    told: dict[str, Any] = {"tier": profile.name, "budget_bytes": profile.heap_bytes, "grow": arguments.grow}
    began = time.perf_counter()
    try:
        stream = Streaming(task, Settings.of(profile))
        if arguments.grow:
            _grow(stream, arguments.grow)
        source = _Source(arguments.seed)
        told["slices"] = _tell_slices(stream, source, int(arguments.slices))
        if arguments.segments:
            # A little later, so that the segments begin where no label was told.
            begin = told["slices"] + 10 * _RUNS_A_PART * _RUN
            told["segments"] = _tell_segments(stream, source, int(arguments.segments), begin)
        result = stream.finish()
        told["distance"] = result.alignment.distance
        told["forced"] = result.alignment.forced
        told["accuracy"] = result.slices.accuracy
        told["records"] = result.prequential.count
        told["trouble"] = None
    except MemoryError:
        stream = None
        told["trouble"] = "MemoryError"
    settled = [size for share, size in _watched if share >= 0.1]
    told["grown_bytes"] = max(settled[-1] - settled[0], 0) if settled else 0
    told["peak_bytes"] = _status("VmHWM") - resident
    told["seconds"] = round(time.perf_counter() - began, 1)
    told["within"] = told["trouble"] is None and told["peak_bytes"] <= profile.heap_bytes
    told["grew"] = told["grown_bytes"] > _GROWTH
    print(json.dumps(told, indent=2))
    return int(not told["within"] or told["grew"])


if __name__ == "__main__":
    sys.exit(main())

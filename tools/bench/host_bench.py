"""Host figures: time, peak memory and growth of the alignment; slices and prequential error.

    python tools/bench/host_bench.py [--json]

Prints one line a figure with its limit, and exits with 1 if a figure is over it. Each size of the alignment
runs in a process of its own, so that its peak memory is its own; time is the processor's. House A is read
from ``../shared`` beside the project, or from ``$STREAMGAUGE_SHARED``; without it those lines are left out.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

PROJECT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT / "host"))

from streamgauge.align import align  # noqa: E402
from streamgauge.prequential import LossRuns, curves, losses_from_pieces, prequential  # noqa: E402
from streamgauge.segments import Segments  # noqa: E402
from streamgauge.slices import slices  # noqa: E402

SIZES = (10_000, 100_000, 1_000_000)
LABELS = 10


@dataclass(frozen=True)
class Figure:
    """One measured number; `limit` is the most it may be, None where it is for information."""

    what: str
    value: float
    unit: str
    limit: float | None = None

    @property
    def over(self) -> bool:
        return self.limit is not None and self.value > self.limit

    def __str__(self) -> str:
        limit = "" if self.limit is None else f"  (limit {self.limit:g}{', OVER' if self.over else ''})"
        return f"{self.what:<58} {self.value:>10.3g} {self.unit}{limit}"


def jittered(count: int) -> tuple[Segments, Segments]:
    """Boundaries off by up to 60 ticks, three in ten labels wrong, one truth in four NULL."""
    random = np.random.default_rng(20)
    bounds = np.cumsum(random.integers(1, 200, count + 1))
    label = np.where(random.random(count) < 0.25, 0, random.integers(1, LABELS, count)).astype(np.int16)
    moved = bounds + random.integers(-60, 61, count + 1)
    moved[0], moved[-1] = bounds[0], bounds[-1]
    moved = np.sort(np.clip(moved, bounds[0], bounds[-1]))
    held = np.flatnonzero(moved[1:] > moved[:-1])
    predicted = np.where(random.random(count) < 0.3, random.integers(0, LABELS, count), label)
    truth = Segments(label, bounds[:-1], bounds[1:])
    return truth, Segments(predicted[held].astype(np.int16), moved[held], moved[held + 1])


def regular(count: int) -> tuple[Segments, Segments]:
    """One label, equal lengths, the prediction half a length late: every cell a tie."""
    start = np.arange(count, dtype=np.int64) * 10
    label = np.ones(count, dtype=np.int16)
    return Segments(label, start, start + 10), Segments(label, start + 5, start + 15)


def overlapping(count: int) -> tuple[Segments, Segments]:
    """Segments that overlap the next four of their own sequence: five times the cells."""
    truth, prediction = jittered(count)
    return tuple(  # type: ignore[return-value]
        Segments(segs.label, segs.start, np.append(segs.end[4:], segs.end[-1:].repeat(min(4, count))))
        for segs in (truth, prediction)
    )


SHAPES: dict[str, Callable[[int], tuple[Segments, Segments]]] = {
    "jittered": jittered,
    "regular": regular,
    "overlapping": overlapping,
}


def peak_mebibytes(restart: bool = False) -> float:
    """Return the most memory this process has held so far, or, on Linux, since the last restart."""
    status = Path("/proc/self/status")
    if not status.exists():
        unit = 2**20 if sys.platform == "darwin" else 2**10
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
    if restart:
        Path("/proc/self/clear_refs").write_text("5")
    return int(re.search(r"VmHWM:\s*(\d+) kB", status.read_text())[1]) / 1024  # type: ignore[index]


def align_once(shape: str, count: int) -> dict[str, float]:
    """Run in a process of its own: seconds, and peak memory above what was there before."""
    truth, prediction = SHAPES[shape](count)
    before = peak_mebibytes(restart=True)
    begin = time.process_time()
    align(truth, prediction, labels=LABELS)
    return {
        "seconds": time.process_time() - begin,
        "mebibytes": peak_mebibytes() - before,
    }


def alignment_figures() -> list[Figure]:
    figures = []
    for shape in SHAPES:
        seconds = []
        for count in SIZES:
            child = subprocess.run(
                [sys.executable, __file__, "--align", shape, str(count)],
                capture_output=True,
                text=True,
                check=True,
            )
            measured = json.loads(child.stdout)
            seconds.append(measured["seconds"])
            largest = count == SIZES[-1]
            asked = largest and shape != "overlapping"
            figures += [
                Figure(f"align, {shape}, {count:,} a side", measured["seconds"], "s", 8 if asked else None),
                Figure(
                    "  peak memory above the input", measured["mebibytes"], "MiB", 1024 if asked else None
                ),
            ]
        # Linear is 10; the rest is for caches that a million segments no longer fit.
        figures.append(Figure("  growth of time from 100,000 to 1,000,000", seconds[2] / seconds[1], "x", 15))
    return figures


def best_of(repeats: int, work: Callable[[], object]) -> float:
    taken = []
    for _ in range(repeats):
        begin = time.process_time()
        work()
        taken.append(time.process_time() - begin)
    return min(taken)


def house_a() -> tuple[Segments, Segments, int] | None:
    folder = Path(os.environ.get("STREAMGAUGE_SHARED") or PROJECT.parent / "shared") / "data" / "kasteren"
    if not folder.is_dir():
        return None
    tables = []
    for name in ("A_minutes_truth.csv", "A_minutes_hmm.csv"):
        with (folder / name).open(newline="") as file:
            tables.append(
                [(row["label"], int(row["start"]), int(row["end"])) for row in csv.DictReader(file)]
            )
    names = ["NULL", *sorted({label for rows in tables for label, _, _ in rows} - {"NULL"})]
    truth, prediction = (
        Segments.from_rows([(names.index(label), start, end) for label, start, end in rows])
        for rows in tables
    )
    return truth, prediction, len(names)


def recording_figures() -> list[Figure]:
    recording = house_a()
    if recording is None:
        return []
    truth, prediction, labels = recording
    fine = [Segments(segs.label, segs.start * 60, segs.end * 60) for segs in (truth, prediction)]
    losses = losses_from_pieces(*fine, 1)
    span = int(truth.end[-1] - truth.start[0])
    return [
        Figure(
            f"slices, house A, {span:,} minutes",
            1e3 * best_of(20, lambda: slices(truth, prediction, labels).matrix),
            "ms",
            5,
        ),
        Figure(
            f"slices, house A, {60 * span:,} seconds",
            1e3 * best_of(20, lambda: slices(*fine, labels).matrix),
            "ms",
            5,
        ),
        Figure(
            "align, house A, 465 and 413 segments",
            1e3 * best_of(20, lambda: align(truth, prediction, labels=labels)),
            "ms",
            20,
        ),
        Figure(
            f"prequential, house A, {60 * span:,} records as runs",
            1e3 * best_of(20, lambda: prequential(losses, window=1000, alpha=0.999)),
            "ms",
            5,
        ),
    ]


def stream_figures() -> list[Figure]:
    wrong = (np.random.default_rng(1).random(1_000_000) < 0.3).astype(np.float64)
    runs = LossRuns.of(wrong)
    return [
        Figure(
            "prequential, 1,000,000 records",
            best_of(3, lambda: prequential(runs, window=1000, alpha=0.999)),
            "s",
            1,
        ),
        Figure(
            "prequential curves, 1,000,000 records",
            best_of(3, lambda: curves(runs, window=1000, alpha=0.999)),
            "s",
            1,
        ),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--json", action="store_true", help="print the figures as a JSON list")
    parser.add_argument("--align", nargs=2, metavar=("SHAPE", "COUNT"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.align:
        print(json.dumps(align_once(options.align[0], int(options.align[1]))))
        return 0
    figures = recording_figures() + stream_figures() + alignment_figures()
    if options.json:
        print(json.dumps([asdict(figure) for figure in figures], indent=1))
    else:
        print("\n".join(map(str, figures)))
    return int(any(figure.over for figure in figures))


if __name__ == "__main__":
    sys.exit(main())

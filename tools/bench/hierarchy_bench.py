"""Time and memory of the T-measure on the host, beside mir_eval's in the same run.

    python tools/bench/hierarchy_bench.py [--json FILE]

Case: 5 minutes in frames of 0.1 s, three nested levels a side, window 15 s, both precision and recall. Then
the same at 10 and 100 times the frames, once as a longer recording (boundaries grow too) and once as a finer
grid (they do not), with the peak of traced memory. Exits with 1 below 500 times mir_eval's speed, or when
memory grows by more than a tenth from 10 to 100 times the frames at equal boundaries.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import tracemalloc
import warnings
from collections.abc import Callable
from typing import Any

import mir_eval
import numpy as np

from streamgauge.hierarchy import t_measure

FRAMES, WINDOW, FACTOR = 3000, 150, 500


def hierarchy(rng: np.random.Generator, frames: int, segments: tuple[int, ...]) -> list[np.ndarray]:
    """Nested levels with that many cuts more on each."""
    cuts: set[int] = {0, frames}
    levels = []
    for count in segments:
        cuts = cuts | set(rng.integers(1, frames, count).tolist())
        times = np.array(sorted(cuts))
        levels.append(np.column_stack([times[:-1], times[1:]]))
    return levels


def best(call: Callable[[], Any], repeats: int) -> float:
    """Shortest of some runs: what the machine's other work adds is not ours to report."""
    shortest = float("inf")
    for _ in range(repeats):
        begin = time.perf_counter()
        call()
        shortest = min(shortest, time.perf_counter() - begin)
    return shortest


def peak(call: Callable[[], Any]) -> int:
    """Most memory that one call held, in bytes."""
    tracemalloc.start()
    call()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


def main() -> int:
    """Run the comparison and the growth, print both, and judge them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", help="write the numbers to this file as well")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # mir_eval warns of levels that do not nest; these do
    rng = np.random.default_rng(7)
    truth, prediction = (hierarchy(rng, FRAMES, (6, 14, 40)) for _ in range(2))
    seconds = [[level * 0.125 for level in side] for side in (truth, prediction)]  # dyadic: equal frames

    def theirs() -> tuple[float, float, float]:
        return mir_eval.hierarchy.tmeasure(*seconds, window=WINDOW * 0.125, frame_size=0.125)

    def ours() -> tuple[float, float, float]:
        found = t_measure(truth, prediction, window=WINDOW)
        return found.precision, found.recall, found.f

    difference = float(np.abs(np.subtract(theirs(), ours())).max())
    slow, fast = best(theirs, 3), best(ours, 200)
    numbers: dict[str, Any] = {
        "mir_eval_s": slow,
        "streamgauge_s": fast,
        "times_as_fast": slow / fast,
        "largest_difference": difference,
        "growth": [],
    }
    print(f"{FRAMES} frames, 3 + 3 levels, window {WINDOW} frames")
    print(f"  mir_eval     {slow * 1e3:9.2f} ms")
    print(
        f"  streamgauge  {fast * 1e3:9.2f} ms   {slow / fast:.0f} times as fast, difference {difference:.1e}"
    )
    print("growth              frames   boundaries       time   per frame   peak memory")
    for how in ("longer recording", "finer grid"):
        for scale in (1, 10, 100):
            longer = scale if how == "longer recording" else 1
            rng = np.random.default_rng(7)
            sides = [
                hierarchy(rng, FRAMES * longer, (6 * longer, 14 * longer, 40 * longer)) for _ in range(2)
            ]
            finer = scale // longer
            sides = [[level * finer for level in side] for side in sides]

            def call(a: Any = sides[0], b: Any = sides[1], window: int = WINDOW * finer) -> None:
                t_measure(a, b, window=window)

            row = {
                "how": how,
                "frames": FRAMES * scale,
                "boundaries": sum(len(level) + 1 for side in sides for level in side),
                "seconds": best(call, 200 // scale + 3),
                "peak_bytes": peak(call),
            }
            numbers["growth"].append(row)
            print(
                f"  {how:16} {row['frames']:7}   {row['boundaries']:10}   {row['seconds'] * 1e3:6.2f} ms"
                f"   {row['seconds'] / row['frames'] * 1e9:6.0f} ns   {row['peak_bytes'] / 1024:8.0f} KiB"
            )
    finer_rows = [row for row in numbers["growth"] if row["how"] == "finer grid"]
    steady = finer_rows[2]["peak_bytes"] <= 1.1 * finer_rows[1]["peak_bytes"]
    fast_enough = slow / fast >= FACTOR
    numbers["fast_enough"], numbers["memory_steady"] = fast_enough, steady
    print(f"at least {FACTOR} times as fast: {'yes' if fast_enough else 'NO'}")
    print(f"memory independent of frames: {'yes' if steady else 'NO'}")
    if options.json:
        with open(options.json, "w") as file:
            json.dump(numbers, file, indent=1)
    return 0 if fast_enough and steady else 1


if __name__ == "__main__":
    sys.exit(main())

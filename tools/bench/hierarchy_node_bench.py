"""Instructions that the node's hierarchy executes for a frame, beside the same work in C (hierarchy.c, -Os).

    python tools/bench/hierarchy_node_bench.py [--levels 4] [--window 150] [--json FILE]

Every level has boundaries all over, so that some segment around the query ends in two of seven frames.
Counted on the arm engine: one
`advance` over all frames (the batch form), and one `advance` a frame; a mark's own cost cancels between two
lengths. The sums of both programs must agree. Exits with 1 when they do not, or when the batch form takes
more than twice as many instructions as C.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from streamgauge import firmware

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "icount"))

from icount import MARK, count_c, count_micropython  # noqa: E402

FACTOR = 2
SHORT, LONG = 500, 1000

PROGRAM = """
from gauge.hierarchy import Hierarchy
from gauge.ledger import Ledger

def run(levels, window, frames, batch):
    node = Hierarchy(Ledger(), levels, levels, window, 1, 1024)
    node.begin(0)
    for t in range(1, frames + window):
        for i in range(levels):
            every = 7 << (levels - 1 - i)
            if t % every == 0:
                node.truth(i, t)
            if t % every == 2:
                node.prediction(i, t)
    end = frames + window
    mark()
    if batch:
        node.advance(end - 1)
    else:
        t = window
        while t < end:
            node.advance(t)
            t += 1
    mark()
    raw = node.raw()
    for name in ("recall_reduced", "precision_reduced", "recall_full", "precision_full"):
        print(*raw[name])
"""


def node_counts(levels: int, window: int, frames: int, batch: bool) -> tuple[int, str]:
    """Instructions between the marks, and the sums."""
    sources = firmware.sources()
    names = ("gauge/hierarchy.py", "gauge/ledger.py")
    files = {n[:-3] + ".mpy": firmware.compile_source(n, sources[n], "armv6m") for n in names}
    script = MARK + PROGRAM + f"\nrun({levels}, {window}, {frames}, {batch})\n"
    counts = count_micropython(script, {"gauge/__init__.py": b"", **files})
    return counts.between[0], counts.output.stdout


def c_counts(levels: int, window: int, frames: int) -> tuple[int, str]:
    """The same in C."""
    counts = count_c([HERE / "hierarchy.c"], [str(levels), str(window), str(frames)])
    return counts.between[0], counts.output.stdout


def main() -> int:
    """Count, print and judge."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--levels", type=int, default=4, help="levels of each side (%(default)s)")
    parser.add_argument("--window", type=int, default=150, help="window in frames (%(default)s)")
    parser.add_argument("--json", help="write the numbers to this file as well")
    options = parser.parse_args()
    case = options.levels, options.window
    batch = [node_counts(*case, frames, True) for frames in (SHORT, LONG)]
    single = [node_counts(*case, frames, False) for frames in (SHORT, LONG)]
    c = [c_counts(*case, frames) for frames in (SHORT, LONG)]

    def per_frame(counts: list[tuple[int, str]]) -> float:
        return (counts[1][0] - counts[0][0]) / (LONG - SHORT)

    same = batch[1][1] == single[1][1] == c[1][1] and batch[0][1] == c[0][1]
    ratio = per_frame(batch) / per_frame(c)
    print(f"{options.levels} + {options.levels} levels, window {options.window} frames, instructions a frame")
    print(f"  node, one advance over all frames {per_frame(batch):8.0f}   {ratio:.2f} times C")
    print(f"  node, one advance a frame         {per_frame(single):8.0f}")
    print(f"  C, -Os                            {per_frame(c):8.0f}")
    print(f"same sums: {'yes' if same else 'NO'}")
    print(f"at most {FACTOR} times C: {'yes' if ratio <= FACTOR else 'NO'}")
    if options.json:
        numbers = {
            "batch": per_frame(batch),
            "single": per_frame(single),
            "c": per_frame(c),
            "times_c": ratio,
            "same_sums": same,
        }
        Path(options.json).write_text(json.dumps(numbers, indent=1))
    return 0 if same and ratio <= FACTOR else 1


if __name__ == "__main__":
    sys.exit(main())

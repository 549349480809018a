"""The stream estimators: host beside river, node beside C.

    python tools/bench/stream_bench.py [--records 1000000] [--rounds 7] [--no-node] [--json FILE]

Host: nanoseconds a record when an array of a million 0-1 losses (labels, confidences) is fed at once,
beside river's nearest metric or detector fed one record at a time in the same run (on a tenth of the
records; each the best of the rounds, which take turns). Exits with 1 when one is
not at least 50 times as fast. ADWIN, whose peer is compiled Rust, is for information.

Node: instructions a record on the arm engine for house A in minutes (its truth and its recogniser, who also
serves as second recogniser five minutes late) and for a stream whose labels change all the time, 16 entries
a call, beside the same work in C (stream_kernels.c, -Os), whose numbers must agree. Exits with 1 when
the node takes more than 6 times as many.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from array import array
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parents[1]
for folder in ("host", "firmware", "tests", "tools/icount"):
    sys.path.insert(0, str(PROJECT / folder))

import kernels  # noqa: E402

from gauge import adwin as node_adwin  # noqa: E402
from icount import MARK, count_c, count_micropython  # noqa: E402
from streamgauge.compare import Comparer  # noqa: E402
from streamgauge.drift import ADWIN, DDM, PageHinkley  # noqa: E402
from streamgauge.files import ReadOptions, read_pair  # noqa: E402
from streamgauge.forgetting import FadedConfusion  # noqa: E402
from streamgauge.reliability import Reliability  # noqa: E402

FASTER = 50
TIMES_C = 6.0
LABELS = 16
DECAY = round(0.001 * (1 << 30))


@dataclass
class HostFigure:
    """Nanoseconds a record of ours and of river's."""

    what: str
    ours: float
    peer: str
    theirs: float
    limit: float | None

    @property
    def ratio(self) -> float:
        return self.theirs / self.ours


@dataclass
class NodeFigure:
    """Instructions a record on the node and in C, and whether their numbers are the same."""

    what: str
    stream: str
    node: float
    c: float
    same: bool


def host_figures(records: int, rounds: int) -> list[HostFigure]:
    """Time every pair, taking turns."""
    from river import drift, metrics

    rng = np.random.default_rng(1)
    losses = (rng.random(records) < 0.2).astype(float)
    other = (rng.random(records) < 0.25).astype(float)
    truth = rng.integers(0, LABELS, records).astype(np.uint8)
    prediction = np.where(losses > 0, (truth + 1) % LABELS, truth).astype(np.uint8)
    sure = rng.integers(0, 256, records).astype(np.uint8)
    outcome = (1 - losses).astype(np.uint8)
    few = records // 10
    lists = [x[:few].astype(int).tolist() for x in (losses, other, truth, prediction)]
    probabilities = (sure[:few] / 255).tolist()

    def detect(detector: Any) -> Callable[[], None]:
        def run() -> None:
            for loss in lists[0]:
                detector.update(loss)
                _ = detector.drift_detected

        return run

    def assess(metric: Any, left: list[int], right: Iterable[Any]) -> Callable[[], None]:
        def run() -> None:
            for y, p in zip(left, right, strict=True):
                metric.update(y, p)

        return run

    def two_accuracies() -> None:
        a, b = metrics.Accuracy(), metrics.Accuracy()
        for x, y in zip(lists[0], lists[1], strict=True):
            a.update(0, x)
            b.update(0, y)

    pairs: list[tuple[str, Callable[[], Any], str, Callable[[], Any], float | None]] = [
        (
            "Page-Hinkley",
            lambda: PageHinkley().update(losses),
            "drift.PageHinkley",
            detect(drift.PageHinkley()),
            FASTER,
        ),
        (
            "Page-Hinkley, both ways",
            lambda: PageHinkley(direction="both").update(losses),
            "drift.PageHinkley",
            detect(drift.PageHinkley()),
            FASTER,
        ),
        (
            "Page-Hinkley, both, fading",
            lambda: PageHinkley(fading=0.9999, direction="both").update(losses),
            "drift.PageHinkley",
            detect(drift.PageHinkley()),
            FASTER,
        ),
        ("DDM", lambda: DDM().update(losses), "drift.binary.DDM", detect(drift.binary.DDM()), FASTER),
        ("ADWIN", lambda: ADWIN().update(losses), "drift.ADWIN", detect(drift.ADWIN()), None),
        (
            "McNemar, Q and lead of two",
            lambda: Comparer().update(losses, other),
            "two metrics.Accuracy",
            two_accuracies,
            FASTER,
        ),
        (
            "faded confusion, 16 labels",
            lambda: FadedConfusion(LABELS).update(truth, prediction),
            "metrics.ConfusionMatrix",
            assess(metrics.ConfusionMatrix(), lists[2], lists[3]),
            FASTER,
        ),
        (
            "reliability table",
            lambda: Reliability(alpha=0.999).update(sure, outcome),
            "metrics.LogLoss",
            assess(metrics.LogLoss(), lists[0], probabilities),
            FASTER,
        ),
    ]
    best: dict[str, list[float]] = {pair[0]: [np.inf, np.inf] for pair in pairs}
    for _ in range(rounds):
        for what, ours, _, theirs, _ in pairs:
            for side, (run, count) in enumerate(((ours, records), (theirs, few))):
                start = time.perf_counter()
                run()
                best[what][side] = min(best[what][side], (time.perf_counter() - start) / count * 1e9)
    return [HostFigure(what, best[what][0], peer, best[what][1], limit) for what, _, peer, _, limit in pairs]


NODE = {
    "Page-Hinkley": ("drift", "PageHinkley, feed", "feed", "PageHinkley(Ledger(), 50000, 22000000)", ()),
    "DDM": ("drift", "DDM, feed_ddm", "feed_ddm", "DDM(Ledger())", ()),
    "ADWIN": ("adwin", "ADWIN, feed", "feed", "ADWIN(Ledger())", ()),
    "two recognisers": ("compare", "Compare, feed", "feed", f"Compare(Ledger(), 1000, {DECAY})", ("fade",)),
    "faded confusion": (
        "forgetting",
        "Forgetting, feed",
        "feed",
        f"Forgetting(Ledger(), {LABELS}, {DECAY})",
        ("fade",),
    ),
    "reliability": (
        "reliability",
        "Reliability, feed",
        "feed",
        f"Reliability(Ledger(), 16, {DECAY})",
        ("fade",),
    ),
}

PLAY = """
import json
from array import array
from gauge.ledger import Ledger
from gauge.{module} import {names}

part = {make}
calls = []
with open("stream.bin", "rb") as file:
    while True:
        some = file.read(512)
        if not some:
            break
        calls.append(array("i", some))

def play(w, calls):
    for some in calls:
        {feed}(w, 0, w, some, len(some) // 8)

mark()
play(part.w, calls)
mark()
print(json.dumps(part.raw()))
"""


def streams(shared: Path) -> dict[str, array[int]]:
    """House A in minutes, and labels that change all the time."""
    found = {}
    folder = shared / "data/kasteren"
    if folder.is_dir():
        pair = read_pair(folder / "A_minutes_truth.csv", folder / "A_minutes_hmm.csv", ReadOptions())
        truth, prediction = (
            np.repeat(side.label, side.end - side.start)[5000:11000] for side in (pair.truth, pair.prediction)
        )
        found["house A"] = kernels.entries(
            truth, prediction, prediction * 13 % 256, np.roll(prediction, 5), most=16
        )
    rng = np.random.default_rng(3)
    truth = rng.integers(0, LABELS, 4000)
    wrong = rng.random((2, 4000)) < 0.2
    labels = np.where(wrong, (truth + 1) % LABELS, truth)
    found["changing"] = kernels.entries(truth, labels[0], rng.integers(0, 256, 4000), labels[1])
    return found


def said(what: str, raw: dict[str, Any]) -> list[int]:
    """What the C program prints of the same."""
    if what == "Page-Hinkley":
        return [raw[key] for key in ("alarms", "record", "ticks", "value", "up")]
    if what == "DDM":
        return [raw[key] for key in ("alarms", "record", "best", "limit")]
    if what == "ADWIN":
        return [raw[key] for key in ("alarms", "record", "window_n", "window_sum")]
    if what == "two recognisers":
        lead = [*raw["lead"], *raw["window"], *raw["window_lead"]]
        return [*raw["faded"], *raw["losses"], *lead, raw["n01"], raw["n10"]]
    if what == "faded confusion":
        return [cell for row in raw["cells"] for cell in row]
    return raw["labelled"] + raw["right"] + raw["confidence"] + raw["without"]


def same(node: list[int], c: list[int]) -> bool:
    """Whether they agree: products of 30 by 30 bits are exact in C, and up to a unit smaller on the node."""
    return len(node) == len(c) and bool(np.allclose(node, c, rtol=2**-18, atol=4))


class _Arm:
    march = "armv6m"


def node_figures(shared: Path) -> list[NodeFigure]:
    """Count both programs on every stream."""
    figures = []
    logs = [0] + [node_adwin._log(2000000 * digits, 2000) for digits in range(1, 16)]
    for name, stream in streams(shared).items():
        records = sum(stream[4 :: kernels.ENTRY])
        with tempfile.NamedTemporaryFile(suffix=".bin") as file:
            file.write(stream.tobytes())
            file.flush()
            c = count_c([HERE / "stream_kernels.c"], [file.name, str(DECAY), *map(str, logs)])
        printed = [[int(word) for word in line.split()] for line in c.output.stdout.splitlines()]
        for number, (what, (module, names, feed, make, needs)) in enumerate(NODE.items()):
            files = kernels.modules(_Arm, module, *needs)
            files["stream.bin"] = stream.tobytes()
            script = MARK + PLAY.format(module=module, names=names, feed=feed, make=make)
            counts = count_micropython(script, files)
            raw = json.loads(counts.output.stdout)
            figures.append(
                NodeFigure(
                    what,
                    name,
                    counts.between[0] / records,
                    c.between[2 * number] / records,
                    same(said(what, raw), printed[number]),
                )
            )
    return figures


def main() -> int:
    """Measure, print and judge."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--records", type=int, default=1_000_000, help="of an array (%(default)s)")
    parser.add_argument("--rounds", type=int, default=7, help="of timing (%(default)s)")
    parser.add_argument("--no-node", action="store_true", help="leave the node out")
    parser.add_argument("--shared", type=Path, default=PROJECT.parent / "shared", help="folder of recordings")
    parser.add_argument("--json", metavar="FILE", help="write the figures here")
    options = parser.parse_args()
    failed = False
    host = host_figures(options.records, options.rounds)
    print("host, ns a record          ours   river, one at a time                 ratio")
    for figure in host:
        slow = figure.limit is not None and figure.ratio < figure.limit
        failed |= slow
        limit = "" if figure.limit is None else f"  (at least {figure.limit:g}{': too slow' if slow else ''})"
        times = f"{figure.ours:5.1f}   {figure.peer:<25}{figure.theirs:7.0f} {figure.ratio:9.1f}"
        print(f"{figure.what:<26}{times}{limit}")
    node = [] if options.no_node else node_figures(options.shared)
    if node:
        print("\nnode, instructions a record            node        C    ratio")
    for row in node:
        over = row.node > TIMES_C * row.c
        failed |= over or not row.same
        notes = f"{'  over the limit of 6' if over else ''}{'' if row.same else '  DIFFERENT NUMBERS'}"
        print(f"{row.stream:<12}{row.what:<22}{row.node:9.1f}{row.c:9.1f}{row.node / row.c:9.2f}{notes}")
    if options.json:
        found = {"host": [asdict(f) for f in host], "node": [asdict(f) for f in node]}
        Path(options.json).write_text(json.dumps(found, indent=1) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

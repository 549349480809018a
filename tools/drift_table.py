"""False alarms on stationary losses and the delay to notice a change, beside river's on the same streams.

    python tools/drift_table.py [--seeds 20] [--budget] [--no-river] [--json FILE]

False alarms: of `--seeds` streams of 10^3, 10^4 and 10^5 stationary 0-1 losses at rates 0.1, 0.2 and 0.4,
how many raised an alarm (and how many alarms in all). Delay: records from the change of the rate from 0.2
to 0.4 to the first alarm after it, with 1,000 and with 10,000 records before; median, 9 in 10, and how many
of the streams went without an alarm for 5,000 records. `--budget` adds ADWIN with fewer buckets: what its
memory buys. Exits with 1 when our default detector (Page-Hinkley) raises an alarm on more than one stream
in 20 of 10^5 records at rate 0.2, or takes more than 200 records in the median.

river is optional: without it, or with `--no-river`, its rows are left out.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "host"))

from streamgauge.drift import ADWIN, DDM, Detector, PageHinkley

RATES = (0.1, 0.2, 0.4)
LENGTHS = (1_000, 10_000, 100_000)
BEFORE = (1_000, 10_000)
AFTER = 5_000
# Rows, buckets a row and records a bucket of ADWIN.
BUDGETS = ((10, 5, 4), (12, 5, 1), (9, 3, 8), (9, 2, 8), (7, 5, 8), (5, 5, 8), (4, 5, 8))
BEST_DELAY, WORST_SHARE = 200, 1 / 20

Alarms = Callable[[NDArray[np.float64]], list[int]]


def ours(make: Callable[[], Detector]) -> Alarms:
    """Indices of a new detector's upward alarms."""
    return lambda losses: [a.index for a in make().update(losses) if a.direction == "up"]


def rivers(make: Callable[[], object]) -> Alarms:
    """Indices of a new river detector's alarms."""

    def alarms(losses: NDArray[np.float64]) -> list[int]:
        detector = make()
        found = []
        for index, loss in enumerate(losses.astype(int).tolist()):
            detector.update(loss)  # type: ignore[attr-defined]
            if detector.drift_detected:  # type: ignore[attr-defined]
                found.append(index)
        return found

    return alarms


def detectors(with_river: bool, budget: bool) -> dict[str, Alarms]:
    """Everything that gets a row."""
    rows = {
        "Page-Hinkley (default: delta 0.05, lambda 22)": ours(PageHinkley),
        "Page-Hinkley, lambda 20": ours(lambda: PageHinkley(threshold=20.0)),
        "Page-Hinkley, lambda 30": ours(lambda: PageHinkley(threshold=30.0)),
        "DDM (default: level 4, warm-up 200)": ours(DDM),
        "DDM as published (level 3, warm-up 30)": ours(lambda: DDM(3.0, 2.0, 30)),
        "ADWIN (default: 9 rows of 5, grain 8)": ours(ADWIN),
    }
    if budget:
        for count, per_row, grain in (
            (10, 5, 4),
            (12, 5, 1),
            (9, 3, 8),
            (9, 2, 8),
            (7, 5, 8),
            (5, 5, 8),
            (4, 5, 8),
        ):
            text = f"ADWIN, {count} rows of {per_row}, grain {grain}"
            rows[text] = ours(lambda c=count, p=per_row, g=grain: ADWIN(rows=c, per_row=p, grain=g))
    if with_river:
        from river import drift

        rows |= {
            "river PageHinkley (default)": rivers(drift.PageHinkley),
            "river PageHinkley, our delta and lambda": rivers(
                lambda: drift.PageHinkley(delta=0.05, threshold=22.0, alpha=1.0, mode="up")
            ),
            "river DDM (default)": rivers(drift.binary.DDM),
            "river ADWIN (default)": rivers(drift.ADWIN),
        }
    return rows


@dataclass
class Row:
    """What one detector did: `streams` and `alarms` by "rate/length", delays by records before the change."""

    name: str
    streams: dict[str, int]
    alarms: dict[str, int]
    median: dict[str, float]
    nine_in_ten: dict[str, float]
    missed: dict[str, int]


def measure(name: str, alarms: Alarms, seeds: int) -> Row:
    """Count false alarms and delays over the seeds."""
    row = Row(name, {}, {}, {}, {}, {})
    for rate in RATES:
        found = []
        for seed in range(seeds):
            # A detector's alarms on a stream's beginning are those on the shorter stream.
            stationary = (np.random.default_rng(seed).random(LENGTHS[-1]) < rate).astype(float)
            found.append(np.array(alarms(stationary)))
        for length in LENGTHS:
            counts = [int(np.count_nonzero(indices < length)) for indices in found]
            row.streams[f"{rate}/{length}"] = sum(count > 0 for count in counts)
            row.alarms[f"{rate}/{length}"] = sum(counts)
    for before in BEFORE:
        delays = []
        for seed in range(seeds):
            rng = np.random.default_rng(10_000 + seed)
            losses = np.concatenate([rng.random(before) < 0.2, rng.random(AFTER) < 0.4]).astype(float)
            late = [index for index in alarms(losses) if index >= before]
            delays.append(late[0] - before + 1 if late else np.inf)
        row.median[str(before)] = float(np.median(delays))
        row.nine_in_ten[str(before)] = float(np.quantile(delays, 0.9, method="higher"))
        row.missed[str(before)] = int(np.sum(np.isinf(delays)))
    return row


def text(rows: list[Row], seeds: int) -> str:
    """The table, for a fixed-width font."""
    wide = max(len(row.name) for row in rows)
    lines = [
        f"Streams of {seeds} with a false alarm (false alarms in all), 0-1 losses at a constant rate",
        " " * wide + "".join(f"{f'rate {rate}':>30}" for rate in RATES),
        " " * wide + "".join(f"{length:>10,}" for _ in RATES for length in LENGTHS),
    ]
    for row in rows:
        cells = (f"{count} ({row.alarms[key]})" for key, count in row.streams.items())
        lines.append(f"{row.name:<{wide}}" + "".join(f"{cell:>10}" for cell in cells))
    lines += [
        "",
        f"Records from 0.2 -> 0.4 to the alarm: median, 9 in 10 (missed of {seeds}); '-': none in {AFTER:,}",
        " " * wide + "".join(f"{f'after {before:,}':>26}" for before in BEFORE),
    ]
    for row in rows:
        cells = []
        for key in map(str, BEFORE):
            figures = (f"{x:.0f}" if np.isfinite(x) else "-" for x in (row.median[key], row.nine_in_ten[key]))
            cells.append(f"{', '.join(figures)} ({row.missed[key]})")
        lines.append(f"{row.name:<{wide}}" + "".join(f"{cell:>26}" for cell in cells))
    return "\n".join(lines)


def main() -> int:
    """Measure, print and judge the default."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=20, help="streams of each kind (%(default)s)")
    parser.add_argument("--budget", action="store_true", help="ADWIN with fewer buckets too")
    parser.add_argument("--no-river", action="store_true", help="leave river out")
    parser.add_argument("--json", metavar="FILE", help="write the figures here")
    options = parser.parse_args()
    with_river = not options.no_river
    if with_river:
        try:
            import river  # noqa: F401
        except ImportError:
            print("river is not installed: its rows are left out", file=sys.stderr)
            with_river = False
    rows = [
        measure(name, alarms, options.seeds) for name, alarms in detectors(with_river, options.budget).items()
    ]
    print(text(rows, options.seeds))
    if options.json:
        Path(options.json).write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")
    default = rows[0]
    silent = default.streams["0.2/100000"] <= max(1, WORST_SHARE * options.seeds)
    quick = default.median["1000"] <= BEST_DELAY
    return 0 if silent and quick else 1


if __name__ == "__main__":
    sys.exit(main())

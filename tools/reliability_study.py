"""Where the accuracy estimate for records without truth is right, and where it is not.

    python tools/reliability_study.py [--seeds 20] [--json FILE]

A made-up recogniser tells two activities by a Gaussian posterior; its confidence is that posterior. In the
first half of each stream every record has truth. What happens in the second half differs from row to row,
and there only a share of the records has truth; the estimate is for the others, whose true accuracy is
known here. Printed per row, over the seeds: the true accuracy before and after, the mean estimate and its
bound for the records after the change, the mean error, how often the truth lay within the bound (95 % asked
for), and the calibration error of the table.

"fading" rows use alpha 0.99 in the table; the others forget nothing.
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

from streamgauge.reliability import NO_TRUTH, Reliability

HALF = 4_000
BINS = 16

Rng = np.random.Generator
Records = tuple[NDArray[np.float64], NDArray[np.int64]]  # what is sensed, and which activity it is


def sensed(rng: Rng, size: int, share: float = 0.5, apart: float = 1.0, turned: float = 0.0) -> Records:
    """Records of two activities at -apart and +apart; `turned`: share of them whose meaning has changed."""
    activity = (rng.random(size) < share).astype(np.int64)
    x = rng.normal(np.where(activity == 1, apart, -apart), 1.0)
    return x, np.where(rng.random(size) < turned, 1 - activity, activity)


def recognise(x: NDArray[np.float64], boast: float = 1.0) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The label and the confidence (0..255) of a recogniser trained where apart is 1; `boast` 1 is honest."""
    odds = 2.0 * boast * np.abs(x)
    confidence = 1.0 / (1.0 + np.exp(-odds))
    return (x > 0).astype(np.int64), np.minimum(255, (confidence * 256).astype(np.int64))


@dataclass(frozen=True)
class Case:
    """What is different in the second half, and who gives truth there."""

    name: str
    after: Callable[[Rng], Records]
    labelled: Callable[[Rng, NDArray[np.bool_], NDArray[np.int64]], NDArray[np.bool_]]
    boast: float = 1.0
    alpha: float = 1.0


def some(share: float) -> Callable[[Rng, NDArray[np.bool_], NDArray[np.int64]], NDArray[np.bool_]]:
    """Truth for that share of the records, whichever."""
    return lambda rng, right, confidence: rng.random(len(right)) < share


def unsure(rng: Rng, right: NDArray[np.bool_], confidence: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Truth is asked for where the recogniser is unsure."""
    return (rng.random(len(right)) < 0.5) & (confidence < 180)


def complaints(rng: Rng, right: NDArray[np.bool_], confidence: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Truth comes where somebody noticed a mistake."""
    return ~right & (rng.random(len(right)) < 0.5)


CASES = (
    Case("nothing changes", lambda rng: sensed(rng, HALF), some(0.1)),
    Case("harder records (activities closer), honest mix", lambda rng: mixed(rng), some(0.1)),
    Case("another share of the activities (0.5 -> 0.9)", lambda rng: sensed(rng, HALF, 0.9), some(0.1)),
    Case("an overconfident recogniser, nothing changes", lambda rng: sensed(rng, HALF), some(0.1), boast=3.0),
    Case("truth only where it is unsure", lambda rng: sensed(rng, HALF), unsure),
    Case("truth only where a mistake was noticed", lambda rng: sensed(rng, HALF), complaints),
    Case("the sensor drifts (activities closer)", lambda rng: sensed(rng, HALF, apart=0.4), some(0.0)),
    Case("concept drift, no truth any more", lambda rng: sensed(rng, HALF, turned=0.3), some(0.0)),
    Case("concept drift, 10 % truth", lambda rng: sensed(rng, HALF, turned=0.3), some(0.1)),
    Case(
        "concept drift, 10 % truth, fading", lambda rng: sensed(rng, HALF, turned=0.3), some(0.1), alpha=0.99
    ),
)


def mixed(rng: Rng) -> Records:
    """As before, but records near the border are three times as frequent: only the inputs differ."""
    x, activity = sensed(rng, 8 * HALF)
    keep = rng.random(len(x)) < np.where(np.abs(x) < 0.7, 0.9, 0.3)
    return x[keep][:HALF], activity[keep][:HALF]


@dataclass
class Row:
    """Means over the seeds."""

    name: str
    before: float
    after: float
    estimate: float
    low: float
    high: float
    error: float
    within: float
    calibration: float


def run(case: Case, seeds: int) -> Row:
    """Play the case's streams."""
    figures = []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        x, activity = sensed(rng, HALF)
        later_x, later = case.after(rng)
        label, confidence = recognise(np.concatenate((x, later_x)), case.boast)
        right = label == np.concatenate((activity, later))
        known = np.ones(len(right), dtype=bool)
        known[HALF:] = case.labelled(rng, right[HALF:], confidence[HALF:])
        table = Reliability(BINS, case.alpha)
        table.update(confidence, np.where(known, right, NO_TRUTH))
        found = table.estimate()
        if found is None:
            raise SystemExit(f"{case.name}: every record has truth")
        blind = ~known
        weight = case.alpha ** np.arange(np.count_nonzero(blind) - 1, -1, -1.0)
        truth = float(weight @ right[blind] / weight.sum())
        figures.append(
            (
                right[:HALF].mean(),
                truth,
                found.value,
                found.low,
                found.high,
                found.value - truth,
                found.low <= truth <= found.high,
                table.calibration_error(),
            )
        )
    return Row(case.name, *np.mean(np.array(figures, dtype=float), axis=0).tolist())


def main() -> int:
    """Play all cases and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=20, help="streams of each kind (%(default)s)")
    parser.add_argument("--json", metavar="FILE", help="write the figures here")
    options = parser.parse_args()
    rows = [run(case, options.seeds) for case in CASES]
    wide = max(len(row.name) for row in rows)
    print(
        f"{'second half':<{wide}}  before   true  estimate  (bound)         error   within  calibration error"
    )
    for row in rows:
        print(
            f"{row.name:<{wide}}  {row.before:.3f}   {row.after:.3f}   {row.estimate:.3f}   "
            f"({row.low:.3f}, {row.high:.3f})  {row.error:+.3f}   {row.within:5.0%}   {row.calibration:.3f}"
        )
    if options.json:
        Path(options.json).write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

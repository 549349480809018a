"""The reliability table record by record, and the estimate bin by bin."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass
class Bin:
    """Faded records of a bin, and how many were right, how sure they were, how many had no truth."""

    labelled: float = 0.0
    right: float = 0.0
    confidence: float = 0.0
    unlabelled: float = 0.0


def table(confidence: list[int], outcome: list[int], bins: int, alpha: float) -> list[Bin]:
    """Outcomes are 0 wrong, 1 right, 2 no truth; each kind fades with its own records."""
    found = [Bin() for _ in range(bins)]
    for sure, what in zip(confidence, outcome, strict=True):
        for b in found:
            if what == 2:
                b.unlabelled *= alpha
            else:
                b.labelled *= alpha
                b.right *= alpha
                b.confidence *= alpha
        here = found[int(sure / 256 * bins)]
        if what == 2:
            here.unlabelled += 1
        else:
            here.labelled += 1
            here.right += what
            here.confidence += sure
    return found


def estimate(bins: list[Bin], delta: float) -> tuple[float, float, float, float] | None:
    """Accuracy without truth, its lower and upper bound, and the share without support."""
    total = sum(b.unlabelled for b in bins)
    if total == 0:
        return None
    value = unsupported = 0.0
    squares = 1 / total
    for b in bins:
        share = b.unlabelled / total
        if b.labelled >= 1:
            value += share * b.right / b.labelled
            squares += share**2 / b.labelled
        else:
            unsupported += share
    half = math.sqrt(math.log(2 / delta) / 2 * squares)
    return value + unsupported / 2, max(0.0, value - half), min(1.0, value + unsupported + half), unsupported


def calibration_error(bins: list[Bin]) -> float | None:
    """Mean gap between how often a bin is right and how sure it is, weighted by its records."""
    total = sum(b.labelled for b in bins)
    if total == 0:
        return None
    gap = 0.0
    for b in bins:
        if b.labelled:
            gap += b.labelled / total * abs(b.right / b.labelled - b.confidence / b.labelled / 255)
    return gap

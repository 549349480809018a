"""Boundary detection and deviation word for word: augmenting paths, and medians over all distances."""

from __future__ import annotations

from fractions import Fraction
from statistics import median


def boundaries(segments: list[tuple[int, int]], trim: bool) -> list[int]:
    """Sorted distinct times at which a segment starts or ends."""
    times = sorted({t for segment in segments for t in segment})
    return times[1:-1] if trim else times


def hits(truth: list[int], prediction: list[int], tolerance: int) -> int:
    """Size of a largest matching between times at most `tolerance` apart."""
    partner: dict[int, int] = {}

    def place(i: int, seen: set[int]) -> bool:
        for j, time in enumerate(prediction):
            if j not in seen and abs(truth[i] - time) <= tolerance:
                seen.add(j)
                if j not in partner or place(partner[j], seen):
                    partner[j] = i
                    return True
        return False

    return sum(place(i, set()) for i in range(len(truth)))


def deviation(truth: list[int], prediction: list[int]) -> tuple[Fraction, Fraction] | None:
    """Median over true boundaries of the distance to the nearest predicted one, and the mirror of it."""
    if not truth or not prediction:
        return None
    there = [Fraction(min(abs(t - p) for p in prediction)) for t in truth]
    back = [Fraction(min(abs(t - p) for t in truth)) for p in prediction]
    return Fraction(median(there)), Fraction(median(back))

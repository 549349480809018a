"""T-measure and L-measure word for word: a triple loop over frames, in fractions.

Levels are lists of ``(start, end)`` rows in frames, coarse to fine; for the L-measure each row has a label.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

Level = list[tuple[int, int]]
Depth = Callable[[int, int], int]


@dataclass
class Score:
    share: Fraction
    queries: int
    concordant: int
    pairs: int


def depth_by_segments(levels: list[Level]) -> Depth:
    """Deepest level (from 1) at which one segment holds both frames."""

    def depth(q: int, j: int) -> int:
        deepest = 0
        for number, level in enumerate(levels, 1):
            for start, end in level:
                if start <= q < end and start <= j < end:
                    deepest = number
        return deepest

    return depth


def depth_by_labels(levels: list[Level], labels: list[list[str]]) -> Depth:
    """Deepest level (from 1) at which both frames carry the same label."""

    def label(number: int, q: int) -> str | None:
        for (start, end), name in zip(levels[number], labels[number], strict=True):
            if start <= q < end:
                return name
        return None

    def depth(q: int, j: int) -> int:
        deepest = 0
        for number in range(len(levels)):
            if label(number, q) is not None and label(number, q) == label(number, j):
                deepest = number + 1
        return deepest

    return depth


def queries(
    reference: Depth, other: Depth, frames: int, window: int | None, gain: Callable[[int], Fraction]
) -> list[tuple[Fraction, Fraction, int, int]]:
    """For each query: gained and possible, and how many pairs with a gain were concordant and comparable."""
    found = []
    for q in range(frames):
        first, last = (0, frames) if window is None else (max(0, q - window), min(frames, q + window))
        around = [(reference(q, i), other(q, i)) for i in range(first, last) if i != q]
        gained = possible = Fraction(0)
        concordant = pairs = 0
        for reference_i, other_i in around:
            for reference_j, other_j in around:
                if reference_i > reference_j:
                    value = gain(reference_i - reference_j)
                    if value == 0:
                        continue
                    possible += value
                    pairs += 1
                    if other_i > other_j:
                        gained += value
                        concordant += 1
        found.append((gained, possible, concordant, pairs))
    return found


def score(
    reference: Depth, other: Depth, frames: int, window: int | None, gain: Callable[[int], Fraction]
) -> Score:
    """Mean over the queries that have comparable pairs; 0 without any."""
    total = Fraction(0)
    scored = concordant = pairs = 0
    for gained, possible, some, all_pairs in queries(reference, other, frames, window, gain):
        concordant += some
        pairs += all_pairs
        if possible:
            total += gained / possible
            scored += 1
    return Score(total / scored if scored else Fraction(0), scored, concordant, pairs)


def reduced(gap: int) -> Fraction:
    """Gain of pairs exactly one level apart."""
    return Fraction(1 if gap == 1 else 0)


def full(gap: int) -> Fraction:
    """Gain of pairs any number of levels apart."""
    return Fraction(1)

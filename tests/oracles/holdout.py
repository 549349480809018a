"""Holdout: which of a fixed set are right, and when the set is due."""

from __future__ import annotations


def accuracy(truth: list[int], prediction: list[int]) -> float:
    """Share of items with the right label."""
    return sum(t == p for t, p in zip(truth, prediction, strict=True)) / len(truth)


def due_after(every: int, scored: list[int], records: int) -> list[int]:
    """Return the record counts, up to `records`, at which a scoring is due, given when it was done."""
    times = []
    last = 0
    for n in range(1, records + 1):
        if n - last >= every:
            times.append(n)
        if n in scored:
            last = n
    return times

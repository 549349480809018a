"""Who says what happened: a truth with stretches for which nobody could."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from streamgauge.simulation.dice import DAY, HOUR, Dice
from streamgauge.simulation.resident import Row

UNKNOWN_NAME = "UNKNOWN"


def annotate(rows: list[Row], days: int, dice: Dice) -> list[Row]:
    """Return the truth: activities as they were, but UNKNOWN where the annotator was away.

    Away for a day or so about once in twelve days, and for some hours about once in five.

    Parameters
    ----------
    rows : list of Row
        What happened, ordered by start; rows may be nested.
    days : int
    dice : Dice
    """
    away = [_stretch(days, dice, 10 * HOUR, 34 * HOUR) for _ in range(days // 12)]
    away += [_stretch(days, dice, HOUR, 5 * HOUR) for _ in range(days // 5)]
    merged = _merge(away)
    begins, stops = [begin for begin, _ in merged], [stop for _, stop in merged]
    truth = [(begin, stop, UNKNOWN_NAME) for begin, stop in merged]
    for row in rows:
        hidden = merged[bisect_right(stops, row[0]) : bisect_left(begins, row[1])]
        truth += _without(row, hidden)
    return sorted(truth)


def _stretch(days: int, dice: Dice, shortest: int, longest: int) -> tuple[int, int]:
    begin = dice.flat(DAY // 2, days * DAY - longest)
    return begin, begin + dice.bell(shortest, longest)


def _merge(stretches: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for begin, stop in sorted(stretches):
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
        else:
            merged.append((begin, stop))
    return merged


def _without(row: Row, hidden: list[tuple[int, int]]) -> list[Row]:
    """Return the parts of a row outside the stretches that overlap it."""
    start, end, name = row
    edges = [start, *(edge for stretch in hidden for edge in stretch), end]
    return [(a, b, name) for a, b in zip(edges[::2], edges[1::2], strict=True) if a < b]

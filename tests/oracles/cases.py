"""Random sequences to compare implementations on: small times, so that exact ties abound.

Rows are ``(label, start, end)`` in the file's convention: half-open, or closed with zero length allowed.
"""

from __future__ import annotations

from random import Random

NULL = 0
UNKNOWN = 255

Row = tuple[int, int, int]


def sequence(
    random: Random, *, labels: int, closed: bool = False, longest: int = 7, last: int = 5
) -> list[Row]:
    """Up to `longest` segments of up to `last` ticks, starts and ends non-decreasing.

    One of: touching segments, which may share a label; segments with gaps; gaps as NULL; overlaps.
    """
    kind = random.choice(("touching", "gaps", "filled", "overlapping"))
    rows: list[Row] = []
    start = random.randint(0, 4)
    for _ in range(max(random.randint(0, longest), random.randint(0, longest))):
        end = start + random.randint(0 if closed else 1, last)
        if rows:
            end = max(end, rows[-1][2])
        rows.append((random.randrange(labels), start, end))
        after = end + 1 if closed and random.random() < 0.8 else end  # closed neighbours may share an instant
        if kind == "touching":
            start = after
        elif kind == "overlapping":
            start = random.randint(start, after)
        else:
            start = after + random.randint(0, 4)
    return with_null(rows, closed) if kind == "filled" else rows


def with_null(rows: list[Row], closed: bool = False) -> list[Row]:
    """The rows with a NULL segment in every inner gap."""
    filled: list[Row] = []
    for row in rows:
        if filled:
            free = filled[-1][2] + 1 if closed else filled[-1][2]
            if row[1] > free:
                filled.append((NULL, free, row[1] - 1 if closed else row[1]))
        filled.append(row)
    return filled


def partition(random: Random, span: int, *, labels: int, longest: int = 9, unknown: float = 0.0) -> list[Row]:
    """Half-open segments that cover ``[0, span)``; each is UNKNOWN with the given probability."""
    rows: list[Row] = []
    start = 0
    while start < span:
        end = min(span, start + random.randint(1, longest))
        rows.append((UNKNOWN if random.random() < unknown else random.randrange(labels), start, end))
        start = end
    return rows


def per_tick(rows: list[Row]) -> list[int]:
    """The label of every tick of a partition."""
    return [label for label, start, end in rows for _ in range(end - start)]

"""The alignment of two sequences of labelled segments, by the full matrix and in exact fractions.

Source: Marteau, *Assessing pattern recognition or labeling in streams of temporal data* (2016). A row is
``(label, start, end)``, in the caller's own convention: half-open ``[start, end)``, or with ``closed=True``
the paper's ``[start, end]``, where segments that share one instant overlap and zero length is allowed.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

NULL = 0
UNKNOWN = 255

Row = tuple[int, int, int]


class Aligned(NamedTuple):
    """What one alignment says, in exact numbers."""

    distance: Fraction
    matches: list[tuple[int, int]]  # (index in truth, index in prediction), ascending
    confusion: list[list[int]]  # [truth label][prediction label]
    unmatched_truth: int
    unmatched_prediction: int
    split: list[int]  # repetitions by label: a further prediction for a truth that has its match
    merge: list[int]  # the mirror case
    latency: list[Fraction]  # of each correct match that is not NULL, in order; so are all lists below
    onset: list[int]
    offset: list[int]
    overlap: list[int]
    duration: list[int]
    iou: list[Fraction]
    cost: Fraction  # sum of 1 - IoU over the matches of one label, NULL too


def overlap(a: Row, b: Row) -> int:
    return min(a[2], b[2]) - max(a[1], b[1])


def union(a: Row, b: Row) -> int:
    return max(a[2], b[2]) - min(a[1], b[1])


def feasible(a: Row, b: Row, closed: bool) -> bool:
    return overlap(a, b) >= (0 if closed else 1)


def match_cost(a: Row, b: Row, c0: Fraction, closed: bool) -> Fraction | None:
    """Cost of matching two segments; None where that is forbidden."""
    if not feasible(a, b, closed):
        return None
    if a[0] != b[0]:
        return None if NULL in (a[0], b[0]) else c0
    if union(a, b) == 0:
        return Fraction(0)
    return 1 - Fraction(overlap(a, b), union(a, b))


def matrix(truth: list[Row], prediction: list[Row], c0: Fraction, closed: bool) -> list[list[Fraction]]:
    """The whole matrix of distances between prefixes."""
    n, m = len(truth), len(prediction)
    d = [[Fraction(0)] * (m + 1) for _ in range(n + 1)]
    for i in range(n + 1):
        for j in range(m + 1):
            if i == 0 and j == 0:
                continue
            choices = []
            if i > 0 and j > 0:
                cost = match_cost(truth[i - 1], prediction[j - 1], c0, closed)
                if cost is not None:
                    choices.append(d[i - 1][j - 1] + cost)
            if i > 0:
                choices.append(d[i - 1][j] + c0)
            if j > 0:
                choices.append(d[i][j - 1] + c0)
            d[i][j] = min(choices)
    return d


def back_trace(
    d: list[list[Fraction]], truth: list[Row], prediction: list[Row], c0: Fraction, closed: bool
) -> list[tuple[int, int]]:
    """Walk from the corner; ties: match before deletion in truth before deletion in prediction."""
    i, j = len(truth), len(prediction)
    matches = []
    while i > 0 or j > 0:
        if i > 0 and j > 0:
            cost = match_cost(truth[i - 1], prediction[j - 1], c0, closed)
            if cost is not None and d[i][j] == d[i - 1][j - 1] + cost:
                i, j = i - 1, j - 1
                matches.append((i, j))
                continue
        if i > 0 and d[i][j] == d[i - 1][j] + c0:
            i -= 1
        else:
            j -= 1
    return matches[::-1]


def align(
    truth: list[Row],
    prediction: list[Row],
    *,
    labels: int,
    c0: Fraction | float = Fraction(2),
    closed: bool = False,
) -> Aligned:
    """Align two sequences without UNKNOWN time."""
    c0 = Fraction(c0)
    d = matrix(truth, prediction, c0, closed)
    return _read_out(
        d[-1][-1], back_trace(d, truth, prediction, c0, closed), truth, prediction, labels, closed
    )


def _read_out(
    distance: Fraction,
    matches: list[tuple[int, int]],
    truth: list[Row],
    prediction: list[Row],
    labels: int,
    closed: bool,
) -> Aligned:
    matched_truth = {i for i, _ in matches}
    matched_prediction = {j for _, j in matches}
    confusion = [[0] * labels for _ in range(labels)]
    split = [0] * labels
    merge = [0] * labels
    for i, j in matches:
        confusion[truth[i][0]][prediction[j][0]] += 1
    for i, g in enumerate(truth):
        if i not in matched_truth and g[0] != NULL:
            confusion[g[0]][NULL] += 1
            merge[g[0]] += any(
                p[0] == g[0] and j in matched_prediction and feasible(g, p, closed)
                for j, p in enumerate(prediction)
            )
    for j, p in enumerate(prediction):
        if j not in matched_prediction and p[0] != NULL:
            confusion[NULL][p[0]] += 1
            split[p[0]] += any(
                g[0] == p[0] and i in matched_truth and feasible(g, p, closed) for i, g in enumerate(truth)
            )
    correct = [(truth[i], prediction[j]) for i, j in matches if truth[i][0] == prediction[j][0] != NULL]
    return Aligned(
        distance=distance,
        matches=matches,
        confusion=confusion,
        unmatched_truth=len(truth) - len(matches),
        unmatched_prediction=len(prediction) - len(matches),
        split=split,
        merge=merge,
        latency=[Fraction(p[1] + p[2], 2) - Fraction(g[1] + g[2], 2) for g, p in correct],
        onset=[p[1] - g[1] for g, p in correct],
        offset=[p[2] - g[2] for g, p in correct],
        overlap=[overlap(g, p) for g, p in correct],
        duration=[p[2] - p[1] for _, p in correct],
        iou=[Fraction(overlap(g, p), union(g, p)) if union(g, p) else Fraction(1) for g, p in correct],
        cost=sum(
            (
                match_cost(truth[i], prediction[j], Fraction(0), closed) or Fraction(0)
                for i, j in matches
                if truth[i][0] == prediction[j][0]
            ),
            Fraction(0),
        ),
    )


def known_blocks(
    truth: list[Row], prediction: list[Row], closed: bool = False
) -> list[tuple[list[Row], list[Row]]]:
    """Cut both sequences at UNKNOWN truth, tick by tick; each part of a segment stands as one of its own."""
    if not truth:
        return []
    last = 0 if closed else 1  # a half-open segment does not hold the tick at its end
    unknown = {t for label, s, e in truth if label == UNKNOWN for t in range(s, e - last + 1)}
    stretches: list[list[int]] = []
    for t in range(min(s for _, s, _ in truth), max(e for _, _, e in truth) - last + 1):
        if t in unknown:
            continue
        if stretches and stretches[-1][1] == t - 1:
            stretches[-1][1] = t
        else:
            stretches.append([t, t])

    def part(rows: list[Row], a: int, b: int) -> list[Row]:
        held = [(label, max(s, a), min(e - last, b)) for label, s, e in rows if label != UNKNOWN]
        return [(label, s, e + last) for label, s, e in held if s <= e]

    return [(part(truth, a, b), part(prediction, a, b)) for a, b in stretches]


def align_known(
    truth: list[Row],
    prediction: list[Row],
    *,
    labels: int,
    c0: Fraction | float = Fraction(2),
    closed: bool = False,
) -> tuple[Aligned, list[Row], list[Row]]:
    """Align block by block between UNKNOWN stretches; also return the clipped rows the matches point into."""
    distance = Fraction(0)
    matches: list[tuple[int, int]] = []
    all_truth: list[Row] = []
    all_prediction: list[Row] = []
    for block_truth, block_prediction in known_blocks(truth, prediction, closed):
        block = align(block_truth, block_prediction, labels=labels, c0=c0, closed=closed)
        distance += block.distance
        matches += [(i + len(all_truth), j + len(all_prediction)) for i, j in block.matches]
        all_truth += block_truth
        all_prediction += block_prediction
    result = _read_out(distance, matches, all_truth, all_prediction, labels, closed)
    return result, all_truth, all_prediction

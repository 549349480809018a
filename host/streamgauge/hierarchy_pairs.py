"""Counting ordered pairs of frames from interval intersections, without a matrix.

The frames at depth >= a of query q form one interval around q: the union of the segments of the levels a,
a+1, ... that hold q. So with ``C[a, b]`` = number of frames other than q in the window at truth depth >= a
and prediction depth >= b, every joint count is a difference of interval lengths, at most (levels + 1)^2 of
them a query.

Between two **breakpoints** (a boundary of any level, or one window away from it) each end of each interval
either stands still or moves with the window, so every C is linear in q and every count of pairs is a
quadratic in q. Three queries determine it exactly, in integers. What remains per frame is one division, and
only where the number of comparable pairs is not constant.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from .hierarchy_frames import Grid, Ints

RUNS_AT_ONCE = 1024  # three queries each: the (levels + 1)^2 counts of a chunk fit into the caches
FRAMES_AT_ONCE = 1 << 12
PARTS = 64


@dataclass(frozen=True)
class Selection:
    """Which pairs count: those `gap` levels apart in the reference (0: any number), and with what gain."""

    gap: int
    gain: float


@dataclass
class PairSums:
    """Running totals over queries: sum of shares, scored queries, and exact counts for each selection."""

    selections: tuple[Selection, ...]
    shares: list[float] = field(default_factory=list)
    queries: int = 0
    concordant: list[int] = field(default_factory=list)
    pairs: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.concordant = [0] * len(self.selections)
        self.pairs = [0] * len(self.selections)

    def add(self, share: float, queries: int) -> None:
        """Add a part of the sum; parts are folded now and then, lest they pile up with the frames."""
        self.shares.append(share)
        self.queries += queries
        if len(self.shares) > PARTS:
            self.shares = [math.fsum(self.shares)]

    @property
    def mean(self) -> float:
        """Mean share over the scored queries; 0 where no query has a comparable pair."""
        return math.fsum(self.shares) / self.queries if self.queries else 0.0


def pair_counts(joint: Ints, selections: tuple[Selection, ...]) -> tuple[Ints, Ints]:
    """Concordant and comparable pairs of each query.

    Parameters
    ----------
    joint : ndarray of int64, shape (A + 1, B + 1, q)
        ``joint[a, b]`` frames at reference depth >= a and other depth >= b.
    selections : tuple of Selection, length s

    Returns
    -------
    concordant, pairs : ndarray of int64, shape (s, q)
        Pairs (i, j) with reference depth(i) > depth(j) as selected; concordant where the other depth agrees.
    """
    exactly = joint.copy()  # reference depth exactly a, other depth >= b
    exactly[:-1] -= joint[1:]
    at = exactly[:, 0]
    if joint.shape[1] > 1:
        near = exactly[:, 1:].copy()  # reference depth exactly a, other depth exactly b >= 1
        near[:, :-1] -= exactly[:, 2:]
        far = at[:, None] - exactly[:, 1:]  # reference depth exactly a, other depth < b
    concordant = np.zeros((len(selections), joint.shape[2]), np.int64)
    pairs = np.zeros_like(concordant)
    for row, gap in enumerate(s.gap for s in selections):
        if gap >= joint.shape[0]:
            continue
        if gap:
            lower, lower_far = at[:-gap], far[:-gap] if joint.shape[1] > 1 else None
        else:
            lower = np.cumsum(at[:-1], axis=0)
            lower_far = np.cumsum(far[:-1], axis=0) if joint.shape[1] > 1 else None
        first = gap or 1
        pairs[row] = np.einsum("aq,aq->q", at[first:], lower)
        if lower_far is not None:
            concordant[row] = np.einsum("abq,abq->q", near[first:], lower_far)
    return concordant, pairs


def breakpoints(grids: tuple[Grid, ...], window: int | None) -> Ints:
    """Frames at which some interval's end begins or stops to move, ascending, with 0 and the last."""
    count = grids[0].count
    bounds = np.unique(np.concatenate([[0, count], *(x for g in grids for x in (*g.start, *g.end))]))
    if window is not None and window < count:
        bounds = np.unique(np.concatenate([bounds, bounds - window, bounds + window]))
        bounds = bounds[(bounds >= 0) & (bounds <= count)]
    return bounds


def limits(grid: Grid, at: Ints, far: int) -> tuple[Ints, Ints]:
    """Interval of depth >= a around each query, shape (levels + 1, q); without one: low = far, high = -1."""
    low = np.empty((len(grid.start) + 1, len(at)), np.int64)
    high = np.empty_like(low)
    below_low, below_high = np.full(len(at), far), np.full(len(at), -1)
    for level in range(len(grid.start), 0, -1):
        start, end = grid.start[level - 1], grid.end[level - 1]
        if len(start):
            i = np.searchsorted(start, at, side="right") - 1
            inside = (i >= 0) & (at < end[i])
            np.minimum(np.where(inside, start[i], far), below_low, out=low[level])
            np.maximum(np.where(inside, end[i], -1), below_high, out=high[level])
        else:
            low[level], high[level] = below_low, below_high
        below_low, below_high = low[level], high[level]
    low[0], high[0] = 0, grid.count
    return low, high


def _joint(a: tuple[Ints, Ints], b: tuple[Ints, Ints], query: Ints, window: int) -> Ints:
    """Joint counts (A + 1, B + 1, q) without the query itself, which lies in every interval there is."""
    first, last = query - window, query + window
    a_low, a_high = np.maximum(a[0], first), np.minimum(a[1], last)
    joint = np.minimum(a_high[:, None], b[1][None])
    joint -= np.maximum(a_low[:, None], b[0][None])
    joint -= 1
    return np.maximum(joint, 0, out=joint)


def _total(value: Ints, first: Ints, second: Ints, length: Ints, bound: int) -> int:
    """Exact sum of the quadratics with these forward differences over t = 0 .. length - 1."""
    two = length * (length - 1) // 2
    if bound < 2**62:
        three = two * (length - 2) // 3
        return int((value * length + first * two + second * three).sum())
    return sum(
        v * n + f * (n * (n - 1) // 2) + s * (n * (n - 1) * (n - 2) // 6)
        for v, f, s, n in zip(value.tolist(), first.tolist(), second.tolist(), length.tolist(), strict=True)
    )


def _expanded(length: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Walk all frames of the runs in chunks: (run, offset inside the run)."""
    ends = np.cumsum(length)
    total = int(ends[-1]) if len(ends) else 0
    for begin in range(0, total, FRAMES_AT_ONCE):
        stop = min(begin + FRAMES_AT_ONCE, total)
        r0 = int(np.searchsorted(ends, begin, side="right"))
        r1 = int(np.searchsorted(ends, stop, side="left"))
        tops = np.minimum(ends[r0 : r1 + 1], stop)
        run = np.repeat(np.arange(r0, r1 + 1), np.diff(tops, prepend=begin))
        yield run, np.arange(begin, stop) - (ends[run] - length[run])


def add_runs(sums: PairSums, concordant: Ints, pairs: Ints, length: Ints, bound: int) -> None:
    """Add runs of queries, given by the counts at their first three queries.

    Parameters
    ----------
    sums : PairSums
    concordant, pairs : ndarray of int64, shape (3, s, runs)
        Counts at the offsets 0, 1, 2 (the last one repeated where a run is shorter).
    length : ndarray of int64, shape (runs,)
    bound : int
        An upper bound of the total, which decides whether int64 holds it.
    """
    c0, c1, p0, p1 = concordant[0], concordant[1] - concordant[0], pairs[0], pairs[1] - pairs[0]
    c2, p2 = concordant[2] - concordant[1] - c1, pairs[2] - pairs[1] - p1
    for s in range(len(sums.selections)):
        sums.concordant[s] += _total(c0[s], c1[s], c2[s], length, bound)
        sums.pairs[s] += _total(p0[s], p1[s], p2[s], length, bound)
    gain = np.array([s.gain for s in sums.selections])
    still = ((p1 == 0) & (p2 == 0)).all(axis=0)  # comparable pairs constant: a closed form does
    if still.any():
        n = length[still].astype(np.float64)
        two = n * (n - 1) / 2
        three = two * (n - 2) / 3
        hits = gain @ (c0[:, still] * n + c1[:, still] * two + c2[:, still] * three)
        base = gain @ p0[:, still].astype(np.float64)
        scored = base > 0
        sums.add(float((hits[scored] / base[scored]).sum()), int(length[still][scored].sum()))
    moving = ~still
    if not moving.any():
        return
    terms = np.stack([c0, c1, c2, p0, p1, p2]).compress(moving, axis=2)
    for run, t in _expanded(length[moving]):
        c0, c1, c2, p0, p1, p2 = terms.take(run, axis=2)
        two = t * (t - 1) // 2
        hits = c0 + c1 * t + c2 * two
        base = p0 + p1 * t + p2 * two
        # A single gain cancels.
        top, bottom = (hits[0], base[0]) if len(gain) == 1 else (gain @ hits, gain @ base)
        scored = bottom > 0
        share = np.divide(top, bottom, out=np.zeros(len(t)), where=scored)
        sums.add(float(share.sum()), int(np.count_nonzero(scored)))


def sum_pairs(
    truth: Grid, prediction: Grid, window: int | None, selections: tuple[Selection, ...]
) -> tuple[PairSums, PairSums]:
    """Sum over all queries of the span: truth as the reference (recall), and prediction as it (precision).

    Costs O(boundaries * levels^2) plus a few operations for each frame whose number of comparable pairs
    moves; memory depends on the boundaries, not on the frames.
    """
    count = truth.count
    recall, precision = PairSums(selections), PairSums(selections)
    if count == 0:
        return recall, precision
    width = count if window is None else min(window, count)
    points = breakpoints((truth, prediction), window)
    bound = count * min(count, 2 * width) ** 2 * (len(truth.start) + len(prediction.start) + 2) ** 2
    far = 2 * count + 1
    for k in range(0, len(points) - 1, RUNS_AT_ONCE):
        part = points[k : k + RUNS_AT_ONCE + 1]
        begin, length = part[:-1], np.diff(part)
        query = (begin + np.minimum(np.arange(3)[:, None], length - 1)).ravel()
        a = limits(truth, begin, far)
        b = limits(prediction, begin, far)
        a, b = (np.tile(a[0], 3), np.tile(a[1], 3)), (np.tile(b[0], 3), np.tile(b[1], 3))
        joint = _joint(a, b, query, width)
        for sums, view in ((recall, joint), (precision, joint.swapaxes(0, 1))):
            shape = (len(selections), 3, len(begin))
            concordant, pairs = (x.reshape(shape).swapaxes(0, 1) for x in pair_counts(view, selections))
            add_runs(sums, concordant, pairs, length, bound)
    return recall, precision

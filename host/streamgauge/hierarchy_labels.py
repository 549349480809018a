"""L-measure: the T-measure's question asked of labels instead of segments.

Two frames meet at the deepest level at which they carry the same label, whether or not one segment holds both
(McFee, Nieto, Farbood, Bello 2017, as in ``mir_eval.hierarchy.lmeasure``). The set of frames that meet a
query at depth >= a is no interval, but it is the same for all frames with the same labels at all levels:
frames are grouped by their tuple of labels, and only the groups are compared with each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .errors import InputError
from .hierarchy_frames import Grid, Ints
from .hierarchy_pairs import PairSums, Selection, add_runs, pair_counts

GROUPS_AT_ONCE = 256


def _label_ids(
    grid: Grid, labels: Sequence[Sequence[Any]], rows: Sequence[int], side: str
) -> tuple[Ints, ...]:
    ids = []
    for i, (names, n, row) in enumerate(zip(labels, rows, grid.row, strict=True)):
        if len(names) != n:
            raise InputError(
                f"{side} level {i + 1} has {n} segments but {len(names)} labels (expected one each)"
            )
        number: dict[Any, int] = {}
        ids.append(np.array([number.setdefault(names[j], len(number)) for j in row], dtype=np.int64))
    return tuple(ids)


def _labels_at(grid: Grid, ids: tuple[Ints, ...], at: Ints) -> Ints:
    """Label of each level at the given frames, shape (levels, frames); -1 in a gap."""
    out = np.full((len(ids), len(at)), -1, np.int64)
    for level, (start, end, label) in enumerate(zip(grid.start, grid.end, ids, strict=True)):
        if len(start):
            i = np.searchsorted(start, at, side="right") - 1
            out[level] = np.where((i >= 0) & (at < end[i]), label[i], -1)
    return out


def _meet(rows: Ints, columns: Ints) -> Ints:
    """Deepest level at which labels agree, for each pair of a row's and a column's tuple; else 0."""
    meet = np.zeros((rows.shape[1], columns.shape[1]), np.int64)
    for level in range(len(rows)):
        same = (rows[level][:, None] == columns[level][None]) & (rows[level] >= 0)[:, None]
        meet[same] = level + 1
    return meet


def sum_label_pairs(
    truth: Grid,
    prediction: Grid,
    truth_labels: Sequence[Sequence[Any]],
    prediction_labels: Sequence[Sequence[Any]],
    rows: tuple[Sequence[int], Sequence[int]],
    selections: tuple[Selection, ...],
) -> tuple[PairSums, PairSums]:
    """Sum over all queries of the span: truth as the reference (recall), and prediction as it (precision).

    `rows` are the numbers of rows each level was given with. Costs O(groups^2 * levels^2), a group being one
    tuple of labels; memory is O(boundaries) plus one chunk.
    """
    a_ids = _label_ids(truth, truth_labels, rows[0], "truth")
    b_ids = _label_ids(prediction, prediction_labels, rows[1], "prediction")
    recall, precision = PairSums(selections), PairSums(selections)
    count = truth.count
    if count == 0:
        return recall, precision
    points = np.unique(
        np.concatenate([[0, count], *(x for g in (truth, prediction) for x in (*g.start, *g.end))])
    )
    tuples = np.concatenate(
        [_labels_at(truth, a_ids, points[:-1]), _labels_at(prediction, b_ids, points[:-1])]
    )
    groups, member = np.unique(tuples, axis=1, return_inverse=True)
    size = np.bincount(member.ravel(), weights=np.diff(points)).astype(np.int64)
    a, b = groups[: len(a_ids)], groups[len(a_ids) :]
    depth_a, depth_b = len(a_ids) + 1, len(b_ids) + 1
    bound = count**3
    for k in range(0, groups.shape[1], GROUPS_AT_ONCE):
        part = slice(k, k + GROUPS_AT_ONCE)
        meet_a, meet_b = _meet(a[:, part], a), _meet(b[:, part], b)
        joint = np.empty((depth_a, depth_b, meet_a.shape[0]), np.int64)
        own_a, own_b = _own(a[:, part]), _own(b[:, part])
        for i in range(depth_a):
            for j in range(depth_b):
                both = ((meet_a >= i) & (meet_b >= j)).astype(np.int64)
                joint[i, j] = both @ size - ((own_a >= i) & (own_b >= j))  # without the query itself
        for sums, view in ((recall, joint), (precision, joint.swapaxes(0, 1))):
            concordant, pairs = pair_counts(view, selections)
            add_runs(sums, np.stack([concordant] * 3), np.stack([pairs] * 3), size[part], bound)
    return recall, precision


def _own(labels: Ints) -> Ints:
    """Depth at which a frame meets itself: the deepest level at which it has a label."""
    level = np.arange(1, len(labels) + 1)[:, None]
    return np.where(labels >= 0, level, 0).max(axis=0)

"""Slices of a stream: `streamgauge.slices` for pieces that come part by part.

What is open at a part's end, on each side a run, is remembered in three numbers: its label, whether it was
hit, and the ticks without the other label since its last hit, or its begin. The next hit or the run's end
tells what these were.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ..segments import NULL, UNKNOWN
from ..slices import IntArray, Pieces, Slices

Flags = npt.NDArray[np.bool_]
Labels = npt.NDArray[np.int16]

_NO_LABEL = -1


@dataclass(frozen=True)
class _Open:
    """The open run of one side."""

    label: int = _NO_LABEL
    hit: bool = False
    pending: int = 0


class StreamingSlices:
    """Sorts the ticks of a stream into categories.

    Parameters
    ----------
    labels : int
        L, NULL included.
    """

    def __init__(self, labels: int) -> None:
        self._labels = labels
        self._correct = np.zeros(labels, dtype=np.int64)
        self._substituted = np.zeros((labels, labels), dtype=np.int64)
        self._ground = np.zeros(labels, dtype=np.int64)
        self._inferred = np.zeros(labels, dtype=np.int64)
        # Of each side, ticks without the other: in runs never hit, outside all hits, between two.
        self._alone = np.zeros((2, 3, labels), dtype=np.int64)
        self._open = [_Open(), _Open()]
        self._known = self._unknown = 0

    def feed(self, pieces: Pieces) -> None:
        """Take the next pieces."""
        known = pieces.truth != UNKNOWN
        g, p, ticks = pieces.truth[known], pieces.prediction[known], pieces.length[known]
        self._unknown += int(pieces.length.sum() - ticks.sum())
        # A hard edge before a piece that UNKNOWN ones precede, and at the end if they end the part.
        place = np.flatnonzero(known)
        edge = np.diff(place, prepend=-1) > 1
        if len(g):
            self._known += int(ticks.sum())
            hit = g == p
            np.add.at(self._correct, g[hit], ticks[hit])
            np.add.at(self._ground, g, ticks)
            np.add.at(self._inferred, p, ticks)
            other = (g != NULL) & (p != NULL) & ~hit
            np.add.at(self._substituted, (g[other], p[other]), ticks[other])
            self._side(0, g, edge, hit, np.where(p == NULL, ticks, 0))
            self._side(1, p, edge, hit, np.where(g == NULL, ticks, 0))
        if len(known) and not known[-1]:
            for side in range(2):
                self._settle(side)

    def result(self, weights: npt.NDArray[np.float64] | None = None, include_null: bool = True) -> Slices:
        """Return the figures, settled as if the recording ended now.

        weights, include_null : as for `streamgauge.slices.slices`.
        """
        alone = self._alone.copy()
        for side in range(2):
            self._settle_into(alone, side)
        return Slices(
            labels=self._labels,
            correct=self._correct.copy(),
            substituted=self._substituted.copy(),
            deletion=alone[0, 0],
            underfill=alone[0, 1],
            fragmentation=alone[0, 2],
            insertion=alone[1, 0],
            overfill=alone[1, 1],
            merge=alone[1, 2],
            ground=self._ground.copy(),
            inferred=self._inferred.copy(),
            known=self._known,
            unknown=self._unknown,
            weights=weights,
            include_null=include_null,
        )

    def _settle(self, side: int) -> None:
        self._settle_into(self._alone, side)
        self._open[side] = _Open()

    def _settle_into(self, alone: IntArray, side: int) -> None:
        run = self._open[side]
        if run.pending:
            alone[side, int(run.hit), run.label] += run.pending

    def _side(self, side: int, label: Labels, edge: Flags, hit: Flags, alone: IntArray) -> None:
        """Sort one side's ticks without the other side; `alone` holds those of each piece (0: none)."""
        # NULL's own ticks are the other side's affair.
        alone = np.where(label == NULL, 0, alone)
        new = np.concatenate(([True], (label[1:] != label[:-1]) | edge[1:]))
        if label[0] == self._open[side].label and not edge[0]:
            new[0] = False
        else:
            self._settle(side)
        carried = self._open[side]
        run = np.cumsum(new) - new[0]
        count = len(label)
        runs = int(run[-1]) + 1
        hits = np.flatnonzero(hit)
        first = np.full(runs, count)
        last = np.full(runs, -1)
        first[run[hits[::-1]]] = hits[::-1]
        last[run[hits]] = hits
        first_hit = int(first[0])
        if carried.hit:
            first[0] = -1
        piece = np.arange(count)
        before = piece < first[run]
        after = piece > last[run]
        was_hit = first < count
        # In the last run what follows its last hit is not told yet.
        waits = (run == runs - 1) & after
        kind = np.where(~was_hit[run], 0, np.where(before | after, 1, 2))
        for category in range(3):
            chosen = (kind == category) & ~waits
            np.add.at(self._alone[side, category], label[chosen], alone[chosen])
        pending = int(alone[waits].sum())
        if carried.pending:
            if first_hit < count:
                self._alone[side, 2 if carried.hit else 1, carried.label] += carried.pending
            elif runs == 1:
                pending += carried.pending
            else:
                self._settle_into(self._alone, side)
        self._open[side] = replace(_Open(), label=int(label[-1]), hit=bool(was_hit[-1]), pending=pending)

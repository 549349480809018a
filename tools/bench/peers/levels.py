"""Two hierarchies of segments: the T-measure beside mir_eval's."""

from __future__ import annotations

import warnings
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from streamgauge.hierarchy import TMeasure, t_measure
from streamgauge.levels.read import read_levels
from streamgauge.profile import compile_config, load_profile
from streamgauge.reading.options import ReadOptions
from streamgauge.task import Task

from .measure import Case, Check, Contestant, peer
from .node import Engines, NodeWork

# Frames of a power of two of a second: no rounding decides which frame a time falls into.
FRAME = 0.125
WINDOW = 120
CLOSE = 1e-12
SHARE = 2.0**-20  # the node cuts a query's share off after 20 bits


@dataclass(frozen=True)
class Hierarchies:
    """Boundaries of each level in frames, coarse to fine, from 0 to the same end."""

    name: str
    truth: list[list[int]]
    prediction: list[list[int]]

    @property
    def end(self) -> int:
        """Frames there are."""
        return self.truth[0][-1]


def song(folder: Path) -> Hierarchies:
    """Two annotators of a song, their coarse and their fine level, times cut off to frames."""
    files = [[folder / f"textfile{i}_{case}.txt" for case in ("uppercase", "lowercase")] for i in (1, 2)]
    levels = read_levels(files[0], files[1], ReadOptions(tick=0.001), fit=True)
    begin = levels.span[0]
    sides = [
        [np.unique((rows - begin) // round(1000 * FRAME)).tolist() for rows in side]
        for side in (levels.truth, levels.prediction)
    ]
    return Hierarchies(f"SALAMI {folder.parent.name}, two annotators", *sides)


def made_up(frames: int, segments: Sequence[int], seed: int) -> Hierarchies:
    """Nested levels with that many cuts more on each."""
    rng = np.random.default_rng(seed)
    sides = []
    for _ in range(2):
        cuts = {0, frames}
        side = []
        for count in segments:
            cuts |= set(rng.integers(1, frames, count).tolist())
            side.append(sorted(cuts))
        sides.append(side)
    return Hierarchies("made-up levels", *sides)


def _rows(levels: list[list[int]]) -> list[np.ndarray]:
    return [np.array(list(pairwise(edges))) for edges in levels]


def levels_case(both: Hierarchies, engines: Engines) -> Case:
    """The node's and the host's T-measure (reduced), and mir_eval's.

    Raises
    ------
    PeerAbsent
        mir_eval is not installed.
    """
    hierarchy = peer("mir_eval.hierarchy")
    truth, prediction = _rows(both.truth), _rows(both.prediction)
    seconds = [[rows * FRAME for rows in side] for side in (truth, prediction)]

    def ours() -> TMeasure:
        return t_measure(truth, prediction, window=WINDOW)

    def theirs() -> tuple[float, float, float]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of levels that do not nest
            return hierarchy.tmeasure(*seconds, window=WINDOW * FRAME, frame_size=FRAME)

    found = ours()

    def check() -> list[Check]:
        return [t_measure_check(theirs(), found)]

    told = sorted(
        (edge, side, level)
        for side, levels in enumerate((both.truth, both.prediction))
        for level, edges in enumerate(levels)
        for edge in edges[1:-1]
    )
    words = array("i", [word for edge, side, level in told for word in (side, level, edge)])
    depths = len(both.truth), len(both.prediction)
    return Case(
        what=f"T-measure, frames of {FRAME} s, window {WINDOW} frames",
        input=f"{both.name}, {depths[0]} + {depths[1]} levels, {both.end:,} frames, {len(told)} boundaries",
        unit="frame",
        node=[
            NodeWork(
                "node, a boundary at a time",
                "levels",
                _config(*depths),
                {"levels.bin": words.tobytes()},
                both.end,
                "hierarchy",
                engines,
                {"END": both.end},
            )
        ],
        hosts=[Contestant("host, whole levels", ours, both.end)],
        peers=[Contestant("mir_eval tmeasure", theirs, both.end, check=check)],
        check_node=lambda raw: _node_checks(raw["hierarchy"], found),
        notes=[
            "Host and peer take whole levels, so their bytes are the most held meanwhile. The node keeps the "
            "boundaries of a window, and counts the full measure in the same pass.",
        ],
    )


def _config(truth: int, prediction: int) -> dict[str, Any]:
    profile = load_profile("sensor").with_values(
        {
            "estimators.on": ["hierarchy"],
            "estimators.restart": [],
            "hierarchy.levels_truth": truth,
            "hierarchy.levels_prediction": prediction,
            "hierarchy.window": WINDOW,
            "hierarchy.frame_slices": 1,
        }
    )
    return compile_config(profile, Task(("NULL",), FRAME, 1))


def t_measure_check(theirs: tuple[float, float, float], found: TMeasure) -> Check:
    """Precision, recall and F."""
    off = float(np.abs(np.subtract(theirs, (found.precision, found.recall, found.f))).max())
    how = f"within {CLOSE:.0e} ({off:.1e} apart)"
    return Check("host and mir_eval: precision, recall, F", off <= CLOSE, how)


def _node_checks(raw: dict[str, Any], host: TMeasure) -> list[Check]:
    counts, off = not raw["overflow_truth"] and not raw["overflow_prediction"], 0.0
    for name, side in (("recall_reduced", host.of_truth), ("precision_reduced", host.of_prediction)):
        queries, concordant, pairs, shares = raw[name]
        counts = counts and (queries, concordant, pairs) == (side.queries, side.concordant, side.pairs)
        off = max(off, abs((shares / queries / 2**20 if queries else 0.0) - side.share))
    return [
        Check("node and host: queries, pairs, concordant pairs", counts, "exactly"),
        Check(
            "node and host: precision, recall", off <= SHARE + CLOSE, f"{off:.1e} apart, bound {SHARE:.1e}"
        ),
    ]

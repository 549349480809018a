"""Compares a node's counts of two hierarchies with the host's.

A node hears where segments end, so a gap is one more segment to it. Its counts are compared with the host's
over levels whose gaps are segments.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from ..hierarchy import t_measure
from .figures import Hierarchies
from .read import Rows


class Tally(Protocol):
    """What `streamgauge.parity` counts with."""

    remarks: list[str]

    def same(self, name: str, node: int | float | None, expected: int | float | None) -> None:
        """Two numbers that must be equal."""

    def near(self, name: str, node: float | None, expected: float | None, bound: float) -> None:
        """Two that may be that far apart."""


def compare_levels(tally: Tally, raw: dict[str, Any], told: Hierarchies) -> None:
    """Compare all counts.

    Parameters
    ----------
    tally
        Takes the comparisons.
    raw : dict
        Of `Node.raw()` the hierarchy.
    told : Hierarchies
    """
    levels, settings = told.levels, told.settings
    lost = raw["overflow_truth"] + raw["overflow_prediction"]
    if levels.gaps:
        tally.remarks.append(
            "The node hears where segments end, so gaps are segments to it: compared with the host's figures "
            "of levels filled up like that, not with those above."
        )
    for name in ("late", "order", "level"):
        tally.same(f"hierarchy.{name}", raw[name], 0)
    if lost:
        tally.remarks.append(
            f"The node's rings lost {lost} boundaries: its scores were compared with the model's alone. "
            "Raise hierarchy.boundaries."
        )
        return
    sides = [[without_gaps(rows, levels.span) for rows in side] for side in told.sides]
    options: dict[str, Any] = {"window": settings.window, "frame": settings.frame, "span": levels.span}
    for gain in ("reduced", "full"):
        found = t_measure(sides[0], sides[1], gain=gain, **options)
        if gain == "full":
            tally.same("hierarchy.frames", raw["frames"], found.frames)
        for name, side in (("recall", found.of_truth), ("precision", found.of_prediction)):
            queries, concordant, pairs, shares = raw[f"{name}_{gain}"]
            where = f"hierarchy.{gain}.{name}"
            tally.same(f"{where}.queries", queries, side.queries)
            tally.same(f"{where}.concordant", concordant, side.concordant)
            tally.same(f"{where}.pairs", pairs, side.pairs)
            share = shares / queries / (1 << 20) if queries else 0.0
            # Each share is cut off after 20 bits.
            tally.near(where, share, side.share, 2.0**-20 + 1e-12)


def without_gaps(rows: Rows, span: tuple[int, int]) -> Rows:
    """Return the level with a segment wherever there was none."""
    edges = np.unique(np.concatenate((rows.ravel(), span)))
    return np.column_stack((edges[:-1], edges[1:]))

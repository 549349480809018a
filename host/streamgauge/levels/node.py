"""Two hierarchies on a node: what it is told, and whether its counts are the host's.

A node hears where segments end, so a gap is one more segment to it. Its counts are compared with the host's
over levels whose gaps are segments.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..engines import Engine
from ..errors import InputError
from ..feed import TICK_MASK, Feed
from ..hierarchy import t_measure
from ..node_run import NodeRun, run_model, run_node
from ..parity import Parity, _model, _Tally
from ..profile import Profile, compile_config
from ..task import Task
from .figures import LevelSettings
from .read import Levels, Rows

_MOST_LEVELS = 4
_MOST_WINDOW = 4095
_LEAP = 1 << 28  # ticks that may pass without a word: times are modulo 2^30
TRUTH, PREDICTION, UNTIL, END = range(4)
_WORDS = 3


@dataclass(frozen=True, eq=False)
class LevelFeed(Feed):
    """Boundaries of all levels: three int32 each, ``kind, level, tick``."""

    def into(self, node: Any) -> None:
        """Feed a node of this Python, as the node program feeds one on an engine."""
        for kind, level, tick in np.frombuffer(self.data, dtype="<i4").reshape(-1, _WORDS).tolist():
            if kind == TRUTH:
                node.truth_level(level, tick)
            elif kind == PREDICTION:
                node.predict_level(level, tick)
            elif kind == UNTIL:
                node.levels_until(tick)
            else:
                node.levels_end(tick)


def run_levels(
    levels: Levels, settings: LevelSettings, profile: Profile, engine: Engine
) -> tuple[NodeRun, Parity]:
    """Run a node over two hierarchies and compare its counts.

    Raises
    ------
    InputError
        More levels or a wider window than a node has, or no window.
    """
    truth, prediction = (side[: settings.depth] for side in (levels.truth, levels.prediction))
    if max(len(truth), len(prediction)) > _MOST_LEVELS:
        raise InputError(
            f"a hierarchy has {max(len(truth), len(prediction))} levels (at most {_MOST_LEVELS} on a node)",
            remedy="Use fewer of them, with --depth",
        )
    frames = 0 if settings.window is None else settings.window // settings.frame
    if not 1 <= frames <= _MOST_WINDOW:
        raise InputError(
            "a node needs a window" if not frames else f"the window has {frames} frames",
            remedy=f"Choose a --window of 1 to {_MOST_WINDOW} frames",
        )
    profile = profile.with_values(
        {
            "estimators.on": ["hierarchy"],
            "estimators.restart": [],
            "hierarchy.levels_truth": len(truth),
            "hierarchy.levels_prediction": len(prediction),
            "hierarchy.window": frames,
            "hierarchy.frame_slices": 1,
        }
    )
    task = Task(("NULL",), None if levels.tick is None else float(levels.tick), settings.frame)
    config = compile_config(profile, task)
    feed = _feed(levels.span, truth, prediction)
    node = run_node(engine, config, feed, profile.heap_bytes)
    return node, _parity(levels, settings, node, run_model(config, feed), truth, prediction)


def _feed(span: tuple[int, int], truth: list[Rows], prediction: list[Rows]) -> LevelFeed:
    told = [
        (int(tick), kind, level)
        for kind, side in ((TRUTH, truth), (PREDICTION, prediction))
        for level, rows in enumerate(side)
        for tick in np.unique(rows)
        if span[0] < tick < span[1]
    ]
    clock = span[0]
    events = [(UNTIL, 0, clock)]
    for tick, kind, level in sorted(told):
        while clock < tick:
            clock = min(tick, clock + _LEAP)
            events.append((UNTIL, 0, clock))
        events.append((kind, level, tick))
    while clock + _LEAP < span[1]:
        clock += _LEAP
        events.append((UNTIL, 0, clock))
    events.append((END, 0, span[1]))
    words = np.array(events, dtype=np.int64)
    words[:, 2] &= TICK_MASK
    return LevelFeed(
        {"mode": "levels", "words": 32 * _WORDS}, words.astype("<i4").tobytes(), len(events), overlap=False
    )


def without_gaps(rows: Rows, span: tuple[int, int]) -> Rows:
    """Return the level with a segment wherever there was none."""
    edges = np.unique(np.concatenate((rows.ravel(), span)))
    return np.column_stack((edges[:-1], edges[1:]))


def _parity(
    levels: Levels,
    settings: LevelSettings,
    node: NodeRun,
    model: dict[str, Any],
    truth: list[Rows],
    prediction: list[Rows],
) -> Parity:
    tally = _Tally()
    raw = node.raw["hierarchy"]
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
    else:
        sides = [[without_gaps(rows, levels.span) for rows in side] for side in (truth, prediction)]
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
    with_host = tally.compared
    _model(tally, node.raw, model)
    return Parity(
        with_host,
        tally.compared - with_host,
        tally.different,
        tally.worst,
        tally.worst_name,
        tuple(tally.first),
        tuple(tally.remarks),
    )

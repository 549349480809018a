"""What a node is told of two hierarchies, alone or beside a recording's labels.

Boundaries are a stream of their own: a node's hierarchy shares no state with what labels do. They are told
between the reads of the labels all the same, as soon as the labels have come as far, as on a node at work.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError
from ..feed import TICK_MASK, Feed
from .figures import Hierarchies
from .read import Rows

_MOST_LEVELS = 4
_MOST_WINDOW = 4095
_LEAP = 1 << 28  # ticks that may pass without a word: times are modulo 2^30
TRUTH, PREDICTION, UNTIL, END = range(4)
_WORDS = 4
_EVENTS_A_READ = 24


@dataclass(frozen=True, eq=False, kw_only=True)
class LevelFeed(Feed):
    """Boundaries of all levels beside another feed.

    The plan is that of `labels` and ``"levels"``, the words that `levels.bin` is read by.

    Attributes
    ----------
    labels : Feed
    events : bytes
        Four int32 each: ``kind, level, tick``, and after how many reads of the labels it is told.
    """

    labels: Feed
    events: bytes

    @property
    def files(self) -> dict[str, bytes]:
        """What the node program reads."""
        return {**super().files, "levels.bin": self.events}

    def reads(self, node: Any) -> Iterator[None]:
        """Feed a node of this Python, one step for each read of the file."""
        events = np.frombuffer(self.events, dtype="<i4").reshape(-1, _WORDS)
        told = 0
        if self.labels.plan["mode"] != "levels":
            for reads, _ in enumerate(self.labels.reads(node), 1):
                due = int(np.searchsorted(events[:, 3], reads, side="right"))
                _tell(node, events[told:due].tolist())
                told = due
                yield
        _tell(node, events[told:].tolist())
        yield


def _tell(node: Any, events: list[list[int]]) -> None:
    for kind, level, tick, _ in events:
        if kind == TRUTH:
            node.truth_level(level, tick)
        elif kind == PREDICTION:
            node.predict_level(level, tick)
        elif kind == UNTIL:
            node.levels_until(tick)
        else:
            node.levels_end(tick)


def level_values(told: Hierarchies, slice_ticks: int) -> dict[str, Any]:
    """Return the values of a profile whose node scores these hierarchies, but for `estimators.on`.

    Raises
    ------
    InputError
        More levels or a wider window than a node has, no window, or a frame that is no whole number of
        slices.
    """
    settings = told.settings
    for side, files in zip(told.sides, (told.levels.truth_files, told.levels.prediction_files), strict=True):
        if len(side) > _MOST_LEVELS:
            raise InputError(
                f"is level {_MOST_LEVELS + 1} of {len(side)} of its side (at most {_MOST_LEVELS} on a node)",
                file=files[_MOST_LEVELS],
                remedy="Leave levels out, or assess without a node",
            )
    frames = 0 if settings.window is None else settings.window // settings.frame
    if not 1 <= frames <= _MOST_WINDOW:
        raise InputError(
            "a node needs a window for levels"
            if not frames
            else f"the window of the levels has {frames} frames",
            remedy=f"Choose a --level-window of 1 to {_MOST_WINDOW} frames, or assess without a node",
        )
    if settings.frame % slice_ticks:
        raise InputError(
            f"a frame of the levels lasts {settings.frame} ticks (a whole number of slices, which last "
            f"{slice_ticks}, was expected on a node)",
            remedy="Choose another --frame or --slice, or assess without a node",
        )
    return {
        "hierarchy.levels_truth": len(told.sides[0]),
        "hierarchy.levels_prediction": len(told.sides[1]),
        "hierarchy.window": frames,
        "hierarchy.frame_slices": settings.frame // slice_ticks,
    }


def with_levels(labels: Feed | None, told: Hierarchies) -> LevelFeed:
    """Return the feed that tells the levels beside `labels`, or alone."""
    labels = labels or Feed({"mode": "levels"}, b"", 0, overlap=False)
    events = _events(told.levels.span, *told.sides)
    # The first read that reaches the tick.
    after = np.searchsorted(labels.reached, events[:, 2], side="left") + 1
    events[:, 2] &= TICK_MASK
    words = np.column_stack((events, after)).astype("<i4")
    return LevelFeed(
        {**labels.plan, "levels": _WORDS * _EVENTS_A_READ},
        labels.data,
        labels.updates + len(words),
        labels.overlap,
        labels.reached,
        labels=labels,
        events=words.tobytes(),
    )


def _events(span: tuple[int, int], truth: list[Rows], prediction: list[Rows]) -> Rows:
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
    return np.array(events, dtype=np.int64)

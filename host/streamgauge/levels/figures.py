"""What the host says of two hierarchies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..boundary import Detection, Deviation, detection, deviation
from ..errors import InputError
from ..hierarchy import TMeasure, flat_auc, l_measure, t_measure
from .read import Levels, Rows

MIR_EVAL_UNIT = 10**9  # decimals of seconds as floats: exact to the nanosecond


@dataclass(frozen=True)
class LevelSettings:
    """How two hierarchies are compared.

    Attributes
    ----------
    frame, window : int, int or None
        Ticks; a window of None compares each frame with the whole span.
    tolerances : tuple of int
        Ticks, inclusive, for boundaries.
    trim : bool
        Leave the first and last boundary of each side out.
    depth : int or None
        Use only so many of the coarsest levels.
    gain : tuple of float or None
        One number a level gap, for a measure of its own beside reduced and full.
    rounding : {"ticks", "mir_eval"}
        How times become frames (`hierarchy_frames`).
    """

    frame: int = 1
    window: int | None = None
    tolerances: tuple[int, ...] = ()
    trim: bool = False
    depth: int | None = None
    gain: tuple[float, ...] | None = None
    rounding: str = "ticks"


@dataclass(frozen=True, eq=False)
class Hierarchies:
    """Two hierarchies and how they are compared."""

    levels: Levels
    settings: LevelSettings

    @property
    def sides(self) -> tuple[list[Rows], list[Rows]]:
        """The levels that are used, of the truth and of the prediction."""
        depth = self.settings.depth
        return self.levels.truth[:depth], self.levels.prediction[:depth]


@dataclass(frozen=True)
class LevelPair:
    """One true level beside one predicted level, by their numbers from 1."""

    truth: int
    prediction: int
    auc: TMeasure
    detections: tuple[Detection, ...]
    deviation: Deviation


@dataclass(frozen=True, eq=False)
class LevelFigures(Hierarchies):
    """All figures; `gained` only where a gain was given."""

    reduced: TMeasure
    full: TMeasure
    labels: TMeasure
    gained: TMeasure | None
    pairs: tuple[LevelPair, ...]


def level_figures(levels: Levels, settings: LevelSettings) -> LevelFigures:
    """Compute all figures.

    Parameters
    ----------
    levels : Levels
    settings : LevelSettings

    Returns
    -------
    LevelFigures
        Levels are paired from the coarsest on; where one side has more, the last pair is of the finest ones.

    Raises
    ------
    InputError
        Settings that do not suit the levels.
    """
    if settings.frame < 1:
        raise InputError(f"frame is {settings.frame} ticks (1 or more was expected)")
    if settings.window is not None and settings.window < settings.frame:
        raise InputError(
            f"the window, {settings.window} ticks, is shorter than a frame of {settings.frame} (a frame or more "
            "was expected)",
            remedy="Choose a longer --level-window, or none",
        )
    truth, prediction, options = _in_frames(levels, settings)
    windowed = {**options, "window": _unit(settings.window, levels, settings)}
    deep = {**windowed, "depth": settings.depth}
    return LevelFigures(
        levels,
        settings,
        t_measure(truth, prediction, gain="reduced", **deep),
        t_measure(truth, prediction, gain="full", **deep),
        l_measure(
            truth,
            levels.truth_labels,
            prediction,
            levels.prediction_labels,
            depth=settings.depth,
            **options,
        ),
        None if settings.gain is None else t_measure(truth, prediction, gain=settings.gain, **deep),
        tuple(
            LevelPair(
                a + 1,
                b + 1,
                flat_auc(truth[a], prediction[b], **windowed),
                tuple(
                    detection(levels.truth[a], levels.prediction[b], settings.tolerances, trim=settings.trim)
                ),
                deviation(levels.truth[a], levels.prediction[b], trim=settings.trim),
            )
            for a, b in _paired(len(truth), len(prediction))
        ),
    )


def _paired(truth: int, prediction: int) -> list[tuple[int, int]]:
    least = min(truth, prediction)
    return [*((i, i) for i in range(least - 1)), (truth - 1, prediction - 1)]


def _in_frames(
    levels: Levels, settings: LevelSettings
) -> tuple[Sequence[Any], Sequence[Any], dict[str, Any]]:
    """Return both sides as the chosen rounding reads them, with the options that go with it."""
    sides = levels.truth, levels.prediction
    if settings.rounding == "ticks":
        return *sides, {"frame": settings.frame, "span": levels.span, "frames": "ticks"}
    if levels.tick is None:
        raise InputError("mir_eval's rounding is of seconds, and the length of a tick is not known")
    # A decimal of at most nine digits is the float nearest to its nanoseconds by 10^9.
    first, second = ([_seconds(rows, levels) for rows in side] for side in sides)
    span = tuple(_unit(tick, levels, settings) for tick in levels.span)
    return (
        first,
        second,
        {"frame": _unit(settings.frame, levels, settings), "span": span, "frames": "mir_eval"},
    )


def _seconds(rows: Any, levels: Levels) -> Any:
    assert levels.tick is not None
    nanoseconds = levels.tick * MIR_EVAL_UNIT
    if nanoseconds.denominator != 1:
        raise InputError("a tick is no whole number of nanoseconds, which mir_eval's rounding expects here")
    return rows * int(nanoseconds) / MIR_EVAL_UNIT


def _unit(ticks: int | None, levels: Levels, settings: LevelSettings) -> Any:
    if ticks is None or settings.rounding == "ticks":
        return ticks
    return float(_seconds(ticks, levels))

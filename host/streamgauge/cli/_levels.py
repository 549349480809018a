"""Options of levels of boundaries beside truth and prediction, and what all commands do with a frame."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeVar

import click

from streamgauge.errors import InputError
from streamgauge.extras.others import Others
from streamgauge.files import ReadOptions, Recording
from streamgauge.levels.figures import Hierarchies, LevelSettings
from streamgauge.levels.read import Levels, read_levels
from streamgauge.reading.options import slice_ticks

from ._options import Source

Command = TypeVar("Command", bound=Callable[..., Any])

# Usual for music (McFee et al. 2015; boundaries as Turnbull et al. 2007): frames of 100 ms, 15 s to each side,
# 500 ms and 3 s. Where a frame is another one the rest has as many of it.
_FRAME_SECONDS = Fraction(1, 10)
_WINDOW = 150
_TOLERANCES = (5, 30)


def levels_options(command: Command) -> Command:
    """Add the levels and how they are compared."""
    for option in reversed(
        (
            click.option(
                "--truth-level",
                "truth_levels",
                metavar="FILE",
                multiple=True,
                help="A true level of a hierarchy; once a level, coarse to fine. TRUTH is none by itself: name "
                "it here too if it is, mostly as the last.",
            ),
            click.option(
                "--prediction-level",
                "prediction_levels",
                metavar="FILE",
                multiple=True,
                help="A predicted level; coarse to fine.",
            ),
            click.option(
                "--frame",
                metavar="TIME",
                help="Length of the levels' frame (100ms, or a slice where those are not whole slices).",
            ),
            click.option(
                "--level-window",
                metavar="TIME|none",
                help="Time to each side of a frame (15s, or 150 slices).",
            ),
            click.option(
                "--tolerance",
                metavar="TIME",
                multiple=True,
                help="For the levels' boundaries, any number (500ms and 3s, or 5 and 30 slices).",
            ),
            click.option(
                "--fit", is_flag=True, help="Clip and fill the levels' edges to the span of the truth's."
            ),
        )
    ):
        command = option(command)
    return command


def read_beside_levels(given: dict[str, Any], source: Source, others: Others) -> Others:
    """Take these options out of `given`; return `others` with the levels they name.

    Raises
    ------
    click.UsageError
        Levels of one side alone, or options of levels without any.
    InputError
        A level cannot be used.
    """
    files = {side: given.pop(f"{side}_levels") for side in ("truth", "prediction")}
    fit = given.pop("fit")
    asked = {name: given.pop(name) for name in ("frame", "level_window", "tolerance")}
    missing = [side for side, named in files.items() if not named]
    if len(missing) == 2:
        vain = next((name for name, value in {**asked, "fit": fit}.items() if value), None)
        if vain is not None:
            raise click.UsageError(
                f"--{vain.replace('_', '-')} is of levels: give --truth-level and --prediction-level",
                click.get_current_context(),
            )
        return others
    if missing:
        raise click.UsageError(f"give --{missing[0]}-level at least once too", click.get_current_context())
    levels = read_levels(
        files["truth"],
        files["prediction"],
        _read_options(source.options),
        fit=fit,
        timeline=source.recording.timeline,
    )
    return replace(others, hierarchies=Hierarchies(levels, _settings(asked, levels, source.recording)))


def levels_notes(others: Others) -> tuple[str, ...]:
    """What the reader of a report should know of how the levels were read."""
    if others.hierarchies is None:
        return ()
    notes = others.hierarchies.levels.notes
    return (*(f"skipped: {row}" for row in notes.skipped_rows), *notes.warnings)


def _read_options(options: ReadOptions) -> ReadOptions:
    """Return how levels are read where truth and prediction are read so; their labels mean nothing to levels."""
    taken = ReadOptions(span=options.span, lenient=options.lenient, sort=options.sort)
    if options.rate is not None:  # the levels' files are of another kind
        return taken
    return replace(taken, delimiter=options.delimiter, columns=options.columns)


def _settings(asked: dict[str, Any], levels: Levels, recording: Recording) -> LevelSettings:
    usual = _usual_frame(levels.tick, recording.task.slice_ticks)
    window = asked["level_window"]
    return LevelSettings(
        frame=usual if asked["frame"] is None else ticks("frame", asked["frame"], levels),
        window=None
        if window == "none"
        else usual * _WINDOW
        if window is None
        else ticks("level-window", window, levels),
        tolerances=tuple(ticks("tolerance", text, levels) for text in asked["tolerance"])
        or tuple(usual * count for count in _TOLERANCES),
    )


def _usual_frame(tick: Fraction | None, slice_: int) -> int:
    """Return 100 ms where those are whole slices, else a slice: a node's frames are."""
    frame = Fraction(slice_) if tick is None else _FRAME_SECONDS / tick
    return int(frame) if frame.denominator == 1 and frame % slice_ == 0 else slice_


def ticks(option: str, text: str, levels: Levels) -> int:
    """Return an option's length of time in ticks."""
    try:
        return slice_ticks(text, levels.tick)
    except InputError:
        raise InputError(
            f"--{option} is {text!r} (a whole number of ticks, or a time that is one, such as 500ms, was "
            "expected)",
            remedy="Choose another, or another --tick",
        ) from None

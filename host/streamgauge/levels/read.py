"""The levels of two hierarchies, one file a level."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ..hierarchy import fit_span
from ..reading.labels import label_ids, label_names
from ..reading.layout import SegmentRows, segment_rows
from ..reading.options import Judge, Notes, ReadOptions, check_options, seconds
from ..reading.recording import Timeline
from ..reading.rows import TickRows, tick_rows, timed_rows
from ..reading.table import read_table
from ..reading.times import Clock, choose_clock, span_ticks

Rows = npt.NDArray[np.int64]

_DEFAULT_TICK = Fraction(1, 1000)


@dataclass(frozen=True, eq=False)
class Levels:
    """Two hierarchies in ticks.

    Attributes
    ----------
    truth, prediction : list of ndarray, shape (n, 2)
        ``[start, end)`` of the segments of each level, coarse to fine, ascending.
    truth_labels, prediction_labels : list of list of str
        One a row.
    truth_files, prediction_files : tuple of str
        As they were named.
    span : (int, int)
        What all levels cover, but for gaps.
    tick : Fraction or None
        Length of a tick in seconds; None where the files count in a unit of their own.
    notes : Notes
    """

    truth: list[Rows]
    prediction: list[Rows]
    truth_labels: list[list[Any]]
    prediction_labels: list[list[Any]]
    truth_files: tuple[str, ...]
    prediction_files: tuple[str, ...]
    span: tuple[int, int]
    tick: Fraction | None
    notes: Notes = field(default_factory=Notes)

    @property
    def gaps(self) -> bool:
        """Whether some level leaves time inside the span without a segment."""
        length = self.span[1] - self.span[0]
        return any(int((rows[:, 1] - rows[:, 0]).sum()) < length for rows in (*self.truth, *self.prediction))


def read_levels(
    truth: Sequence[str | os.PathLike[str]],
    prediction: Sequence[str | os.PathLike[str]],
    options: ReadOptions | None = None,
    *,
    fit: bool = False,
    timeline: Timeline | None = None,
) -> Levels:
    """Read two hierarchies.

    Parameters
    ----------
    truth, prediction : sequences of paths
        One file a level, coarse to fine; rows of start, end and label, or of time and label (which holds
        until the next; a row labelled ``End`` closes the file).
    options : ReadOptions, optional
        `tick`, `time`, `span`, `lenient`, `sort`, `delimiter` and `columns` are looked at. A span lets levels
        begin later and end earlier; without one all cover the same.
    fit : bool
        Clip and fill the edges of both to the span of the truth, as evaluations of music segments do; or to
        the span of the options.
    timeline : Timeline, optional
        Of a recording that the levels lie beside: times are read on its clock, in its ticks.

    Raises
    ------
    InputError
        A file or row that cannot be used, a level that overlaps inside itself or leaves the span, or spans
        that differ.
    """
    options = options or ReadOptions()
    check_options(options)
    if not truth or not prediction:
        raise InputError("a hierarchy has no level (one file a level, on both sides, was expected)")
    notes = Notes()
    files = [os.fspath(path) for path in (*truth, *prediction)]
    until = None if options.span is None else str(options.span[1])
    laid = [
        segment_rows(
            read_table(file, options.delimiter),
            columns=options.columns,
            warnings=notes.warnings,
            until=until,
        )[0]
        for file in files
    ]
    clock = _clock(laid, options, timeline)
    judges = [Judge(file, options.lenient, notes) for file in files]
    timed = [timed_rows(rows, clock, options, judge) for rows, judge in zip(laid, judges, strict=True)]
    tick = _tick(clock, options, timeline)
    unit = Fraction(1) if clock.kind == "ticks" or tick is None else tick
    origin = 0
    if timeline is not None:
        origin = timeline.origin
    elif clock.kind == "iso":
        origin = min((min(rows.starts) for rows in timed if rows.starts), default=0)
    levels: list[Rows] = []
    labels: list[list[Any]] = []
    ends: list[tuple[int, int]] = []  # lines of each level's first and last row
    for rows, judge in zip(timed, judges, strict=True):
        # Every name is a label here, NULL and UNKNOWN too.
        names = label_names(None, "", "\0", [(judge.file, rows.labels, rows.lines)])
        ids = label_ids(names, "\0", empty_is_null=False)
        level = tick_rows(rows, ids, tick=unit, origin=origin, options=options, judge=judge, is_truth=True)
        side, order = level.segments, _order(level, judge.file)
        levels.append(np.column_stack((side.start, side.end)).astype(np.int64)[order])
        labels.append([names[label] for label in side.label[order].tolist()])
        ends.append((int(level.lines[order[0]]), int(level.lines[order[-1]])))
    span = span_ticks(options.span, clock, unit, origin)
    sides = levels[: len(truth)], levels[len(truth) :]
    named = labels[: len(truth)], labels[len(truth) :]
    if fit:
        if span is None:
            span = min(int(rows[0, 0]) for rows in sides[0]), max(int(rows[-1, 1]) for rows in sides[0])
        fitted = [fit_span(rows, span, names) for rows, names in zip(sides, named, strict=True)]
        sides = fitted[0][0], fitted[1][0]
        named = fitted[0][1] or [], fitted[1][1] or []
    elif span is None:
        span = _shared(levels, files, ends)
    else:
        _check_inside(levels, files, ends, span)
    return Levels(*sides, *named, tuple(files[: len(truth)]), tuple(files[len(truth) :]), span, tick, notes)


def _clock(laid: Sequence[SegmentRows], options: ReadOptions, timeline: Timeline | None) -> Clock:
    if timeline is not None and timeline.clock is not None:
        return timeline.clock
    clock = choose_clock(options.time, [(rows.table.file, [*rows.starts, *rows.ends]) for rows in laid])
    if timeline is not None and clock.kind == "iso":
        raise InputError(
            "holds timestamps, but truth and prediction one label a row (seconds or ticks from the first row on "
            "were expected)",
            file=laid[0].table.file,
            remedy="Convert it",
        )
    return clock


def _tick(clock: Clock, options: ReadOptions, timeline: Timeline | None) -> Fraction | None:
    if timeline is not None:
        return timeline.tick
    given = None if options.tick is None else seconds(options.tick, "tick")
    return given if clock.kind == "ticks" else given or _DEFAULT_TICK


def _order(level: TickRows, file: str) -> Rows:
    """Return the order of a level's rows by time; refuse a level without rows and rows that overlap."""
    start, end = level.segments.start, level.segments.end
    if len(start) == 0:
        raise InputError("has no segments (rows of start, end and label were expected)", file=file)
    order = np.argsort(start, kind="stable")
    over = np.flatnonzero(start[order][1:] < end[order][:-1])
    if len(over):
        before, bad = order[over[0]], order[over[0] + 1]
        raise InputError(
            f"[{start[bad]}, {end[bad]}) overlaps [{start[before]}, {end[before]}) of row "
            f"{level.lines[before]} (segments inside one level may not overlap)",
            file=file,
            row=int(level.lines[bad]),
            remedy="Correct one of them, or put the inner segments into a level of their own",
        )
    return order


def _shared(levels: Sequence[Rows], files: Sequence[str], ends: Sequence[tuple[int, int]]) -> tuple[int, int]:
    spans = [(int(rows[0, 0]), int(rows[-1, 1])) for rows in levels]
    for file, span, lines in zip(files, spans, ends, strict=True):
        if span != spans[0]:
            raise InputError(
                f"covers ticks {span[0]} to {span[1]}, but {files[0]} covers {spans[0][0]} to {spans[0][1]} "
                "(one span for all levels was expected)",
                file=file,
                row=lines[int(span[0] == spans[0][0])],
                remedy="Clip and fill both to the truth's with --fit, or give --span to accept gaps at the "
                "edges",
            )
    return spans[0]


def _check_inside(
    levels: Sequence[Rows], files: Sequence[str], ends: Sequence[tuple[int, int]], span: tuple[int, int]
) -> None:
    for file, rows, lines in zip(files, levels, ends, strict=True):
        begin, stop = int(rows[0, 0]), int(rows[-1, 1])
        if begin < span[0] or stop > span[1]:
            raise InputError(
                f"covers ticks {begin} to {stop}, which leaves the span, {span[0]} to {span[1]}",
                file=file,
                row=lines[int(begin >= span[0])],
                remedy="Clip all levels to it with --fit, or widen the --span",
            )

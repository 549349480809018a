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
from ..hierarchy_frames import check_order
from ..reading.labels import label_ids, label_names
from ..reading.layout import segment_rows
from ..reading.options import Judge, Notes, ReadOptions, check_options, seconds
from ..reading.rows import tick_rows, timed_rows
from ..reading.table import read_table
from ..reading.times import choose_clock, span_ticks

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
        Clip and fill the edges of both to the span of the truth, as evaluations of music segments do.

    Raises
    ------
    InputError
        A file or row that cannot be used, a level that overlaps inside itself, or spans that differ.
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
    clock = choose_clock(options.time, [(rows.table.file, [*rows.starts, *rows.ends]) for rows in laid])
    judges = [Judge(file, options.lenient, notes) for file in files]
    timed = [timed_rows(rows, clock, options, judge) for rows, judge in zip(laid, judges, strict=True)]
    given = None if options.tick is None else seconds(options.tick, "tick")
    tick = given if clock.kind == "ticks" else given or _DEFAULT_TICK
    unit = Fraction(1) if clock.kind == "ticks" or tick is None else tick
    origin = 0
    if clock.kind == "iso":
        origin = min((min(rows.starts) for rows in timed if rows.starts), default=0)
    levels: list[Rows] = []
    labels: list[list[Any]] = []
    for rows, judge in zip(timed, judges, strict=True):
        # Every name is a label here, NULL and UNKNOWN too.
        names = label_names(None, "", "\0", [(judge.file, rows.labels, rows.lines)])
        ids = label_ids(names, "\0", empty_is_null=False)
        side = tick_rows(
            rows, ids, tick=unit, origin=origin, options=options, judge=judge, is_truth=True
        ).segments
        if len(side) == 0:
            raise InputError("has no segments (rows of start, end and label were expected)", file=judge.file)
        level = np.column_stack((side.start, side.end)).astype(np.int64)
        order = check_order(level, judge.file)
        levels.append(level[order])
        labels.append([names[label] for label in side.label[order].tolist()])
    span = span_ticks(options.span, clock, unit, origin)
    sides = levels[: len(truth)], levels[len(truth) :]
    named = labels[: len(truth)], labels[len(truth) :]
    if fit:
        span = min(int(rows[0, 0]) for rows in sides[0]), max(int(rows[-1, 1]) for rows in sides[0])
        fitted = [fit_span(rows, span, names) for rows, names in zip(sides, named, strict=True)]
        sides = fitted[0][0], fitted[1][0]
        named = fitted[0][1] or [], fitted[1][1] or []
    elif span is None:
        span = _shared(levels, files)
    return Levels(*sides, *named, tuple(files[: len(truth)]), tuple(files[len(truth) :]), span, tick, notes)


def _shared(levels: Sequence[Rows], files: Sequence[str]) -> tuple[int, int]:
    spans = [(int(rows[0, 0]), int(rows[-1, 1])) for rows in levels]
    for file, span in zip(files, spans, strict=True):
        if span != spans[0]:
            raise InputError(
                f"covers ticks {span[0]} to {span[1]}, but {files[0]} covers {spans[0][0]} to {spans[0][1]} "
                "(one span for all levels was expected)",
                file=file,
                remedy="Clip and fill both to the truth's with --fit, or give --span to accept gaps at the "
                "edges",
            )
    return spans[0]

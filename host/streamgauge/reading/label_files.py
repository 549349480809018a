"""Pairs of files with one label a row."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from streamgauge.errors import InputError
from streamgauge.reading.labels import label_ids, label_names, reject_foreign, reject_unknown, suspicious
from streamgauge.reading.layout import label_series
from streamgauge.reading.options import Judge, Notes, ReadOptions, seconds, slice_ticks
from streamgauge.reading.recording import Recording, Timeline, assemble
from streamgauge.reading.table import read_table
from streamgauge.reading.times import Clock, span_ticks
from streamgauge.segments import NULL, UNKNOWN, Segments
from streamgauge.task import Task


def read_label_files(judges: Sequence[Judge], options: ReadOptions, notes: Notes) -> Recording:
    """Read a truth and a prediction that hold one label a row; a row is a slice unless the slice is given.

    Under a lenient judge the time of a bad row stays, so that the rows after it keep theirs: it is UNKNOWN in
    the truth and NULL in the prediction.

    Parameters
    ----------
    judges : (Judge, Judge)
        Name the files, truth first, and decide on bad rows.
    options : ReadOptions
    notes : Notes

    Raises
    ------
    InputError
        See `streamgauge.files.read_pair`.
    """
    row = _row_seconds(options.rate)
    tick = seconds(options.tick, "tick") if options.tick is not None else row
    ticks_a_row = row / tick
    if ticks_a_row.denominator != 1:
        raise InputError(
            f"a row lasts {float(ticks_a_row):g} ticks at rate {options.rate} (a whole number was expected)",
            remedy="Choose another --tick, or leave it out: a row is a tick then",
        )
    columns = (options.truth_column, options.prediction_column)
    flags = ("--truth-column", "--prediction-column")
    series = []
    for judge, column, flag in zip(judges, columns, flags, strict=True):
        table = read_table(judge.file, options.delimiter, one_a_row=True)
        series.append(label_series(table, column, flag))
        if not series[-1][1]:
            raise InputError("has no rows (one label a row was expected)", file=judge.file)
    names = label_names(
        options.labels,
        options.null,
        options.unknown,
        [(judge.file, labels, table.lines) for judge, (table, labels) in zip(judges, series, strict=True)],
    )
    notes.warnings += suspicious(names, options.null, options.unknown)
    ids = label_ids(names, options.unknown, empty_is_null=True)
    sides = []
    for i, (judge, (table, labels)) in enumerate(zip(judges, series, strict=True)):
        known = np.fromiter((ids.get(name, -1) for name in labels), dtype=np.int16, count=len(labels))
        for bad in np.flatnonzero((known < 0) | ((known == UNKNOWN) & (i == 1))).tolist():
            if known[bad] < 0:
                reject_foreign(judge, table.lines[bad], labels[bad], names)
            else:
                reject_unknown(judge, table.lines[bad], labels[bad], names)
            known[bad] = UNKNOWN if i == 0 else NULL
        sides.append(Segments.from_labels(known, int(ticks_a_row)))
    if len(series[0][1]) != len(series[1][1]):
        notes.warnings.append(
            f"{judges[0].file} has {len(series[0][1])} rows and {judges[1].file} has {len(series[1][1])}; "
            "the shorter one is filled up"
        )
    task = Task(
        labels=names,
        tick_seconds=float(tick),
        slice_ticks=int(ticks_a_row) if options.slice is None else slice_ticks(options.slice, tick),
        closed=False,
        gaps_unknown=options.gaps == "unknown",
    )
    span = span_ticks(options.span, Clock("seconds"), tick, 0)
    return assemble(task, sides[0], sides[1], span, options, notes, Timeline(None, tick))


def _row_seconds(rate: float | str | None) -> Fraction:
    try:
        value = Fraction(str(rate))
    except ValueError:
        value = Fraction(0)
    if value <= 0:
        raise InputError(f"rate is {rate!r} (a number of rows a second above 0 was expected)")
    return 1 / value

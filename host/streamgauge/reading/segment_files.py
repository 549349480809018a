"""Pairs of files whose rows are segments."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from streamgauge.errors import InputError
from streamgauge.reading.labels import label_ids, label_names, suspicious
from streamgauge.reading.layout import SegmentRows, segment_rows
from streamgauge.reading.options import Judge, Notes, ReadOptions, seconds, slice_ticks
from streamgauge.reading.recording import Recording, Timeline, assemble
from streamgauge.reading.rows import (
    TickRows,
    TimedRows,
    tick_rows,
    timed_rows,
    without_overlaps,
)
from streamgauge.reading.table import Table, read_table
from streamgauge.reading.times import Clock, choose_clock, iso_text, span_ticks
from streamgauge.task import Task

_SLICE_SECONDS = {"seconds": Fraction(1, 10), "iso": Fraction(60)}  # mir_eval's frame; van Kasteren's slice


def read_segment_files(judges: Sequence[Judge], options: ReadOptions, notes: Notes) -> Recording:
    """Read a truth and a prediction whose rows are segments.

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
    tables = [read_table(judge.file, options.delimiter) for judge in judges]
    laid = _lay_out(tables, options, notes)
    clock = choose_clock(options.time, [(rows.table.file, [*rows.starts, *rows.ends]) for rows in laid])
    timed = []
    for i, (rows, judge) in enumerate(zip(laid, judges, strict=True)):
        before = notes.skipped
        timed.append(timed_rows(rows, clock, options, judge))
        _check_any(len(timed[-1].lines), notes.skipped - before, i == 0, judge, options)
    named = [(judge.file, rows.labels, rows.lines) for judge, rows in zip(judges, timed, strict=True)]
    names = label_names(options.labels, options.null, options.unknown, named)
    notes.warnings += suspicious(names, options.null, options.unknown)
    ids = label_ids(names, options.unknown, empty_is_null=False)
    unit, tick = _tick(clock, timed, options)
    origin = _origin(clock, timed, options)

    sides: list[TickRows] = []
    for i, (timed_side, judge) in enumerate(zip(timed, judges, strict=True)):
        before = notes.skipped
        side = tick_rows(
            timed_side, ids, tick=unit, origin=origin, options=options, judge=judge, is_truth=i == 0
        )
        if options.overlaps == "refuse":
            side = without_overlaps(side, options, judge)
        if timed_side.lines:
            _check_any(len(side.lines), notes.skipped - before, i == 0, judge, options)
        sides.append(side)
    task = Task(
        labels=names,
        tick_seconds=None if tick is None else float(tick),
        slice_ticks=_slice(clock, tick, options),
        closed=options.closed,
        gaps_unknown=options.gaps == "unknown",
        origin=iso_text(origin, clock) if clock.kind == "iso" else None,
    )
    span = span_ticks(options.span, clock, unit, origin)
    timeline = Timeline(clock, tick, origin)
    return assemble(task, sides[0].segments, sides[1].segments, span, options, notes, timeline)


def _lay_out(tables: Sequence[Table], options: ReadOptions, notes: Notes) -> list[SegmentRows]:
    until = options.span[1] if options.span is not None else None
    laid = [
        segment_rows(
            table,
            columns=options.columns,
            recording=options.recording,
            warnings=notes.warnings,
            until=None if until is None else str(until),
        )
        for table in tables
    ]
    if options.recording is not None and not any(chosen for _, chosen in laid):
        raise InputError(
            f"no recording is named {options.recording!r} (one in a column before the times was expected)",
            file=tables[0].file,
            remedy="Give a name as the file writes it, or leave --recording out",
        )
    return [rows for rows, _ in laid]


def _check_any(count: int, skipped: int, is_truth: bool, judge: Judge, options: ReadOptions) -> None:
    """Refuse a file without a usable row, but let a lenient reader have nothing predicted."""
    if count:
        return
    if judge.lenient and not is_truth:
        judge.notes.warnings.append(f"{judge.file}: nothing is predicted")
        return
    remedy = None if is_truth else "If nothing was predicted, give --lenient"
    if skipped:
        why, remedy = f": all of its {skipped} rows were skipped", "Read it without --lenient to see why"
    elif options.recording is not None:
        why = f" of recording {options.recording!r}"
    else:
        why = " (rows of start, end and label were expected)"
    raise InputError(f"has no segments{why}", file=judge.file, remedy=remedy)


def _tick(clock: Clock, timed: Sequence[TimedRows], options: ReadOptions) -> tuple[Fraction, Fraction | None]:
    """Return what times are divided by, and the length of a tick in seconds where it is known."""
    given = seconds(options.tick, "tick") if options.tick is not None else None
    if clock.kind == "ticks":
        return Fraction(1), given
    if given is None:
        fine = clock.kind == "seconds" or any(
            time % rows.scale for rows in timed for times in (rows.starts, rows.ends) for time in times
        )
        given = Fraction(1, 1000) if fine else Fraction(1)
    return given, given


def _origin(clock: Clock, timed: Sequence[TimedRows], options: ReadOptions) -> int:
    """Return the time of tick 0: the earliest timestamp; other times have a zero of their own."""
    if clock.kind != "iso":
        return 0
    earliest = min(min(rows.starts) for rows in timed if rows.starts)
    begin = options.span[0] if options.span is not None else None
    return min(earliest, clock.parse(begin)) if isinstance(begin, str) else earliest


def _slice(clock: Clock, tick: Fraction | None, options: ReadOptions) -> int:
    if options.slice is not None:
        return slice_ticks(options.slice, tick)
    if tick is None or clock.kind == "ticks":
        return 1
    return max(1, int(_SLICE_SECONDS[clock.kind] / tick))

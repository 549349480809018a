"""Rows of a segment file, checked one by one where anything is odd.

`timed_rows` has a quick way for files in which every row is in order, and falls back to judging each row.
Both give the same answer; only the second can name a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from streamgauge.reading.labels import reject_foreign, reject_unknown
from streamgauge.reading.layout import SegmentRows
from streamgauge.reading.options import Judge, ReadOptions
from streamgauge.reading.times import RANGE, BadTime, Clock, to_ticks
from streamgauge.segments import UNKNOWN, Segments


@dataclass
class TimedRows:
    """Rows with exact times, ordered by start.

    Attributes
    ----------
    lines : sequence of int
        Line of each row.
    starts, ends : list of int
        Times in units of the clock.
    scale : int
        Units a second.
    labels : list of str
    points : bool
        See `SegmentRows`.
    """

    lines: Sequence[int]
    starts: list[int]
    ends: list[int]
    scale: int
    labels: list[str]
    points: bool


def timed_rows(rows: SegmentRows, clock: Clock, options: ReadOptions, judge: Judge) -> TimedRows:
    """Return the rows with their times read and checked: ordered, not negative, ending after they start.

    Raises
    ------
    InputError
        A row cannot be used, unless the judge is lenient.
    """
    timed = _quick(rows, clock, options) or _row_by_row(rows, clock, options, judge)
    if options.sort:
        order = sorted(range(len(timed.starts)), key=timed.starts.__getitem__)
        timed = TimedRows(
            [timed.lines[i] for i in order],
            [timed.starts[i] for i in order],
            [timed.ends[i] for i in order],
            timed.scale,
            [timed.labels[i] for i in order],
            timed.points,
        )
    return timed


def _quick(rows: SegmentRows, clock: Clock, options: ReadOptions) -> TimedRows | None:
    """Read whole columns at once; None where any row needs a judgement."""
    labels = list(map(str.strip, rows.labels))
    if len(set(map(len, rows.table.rows))) > 1 or "" in labels:
        return None
    starts, ends = clock.parse_all(rows.starts), clock.parse_all(rows.ends)
    if starts is None or ends is None:
        return None
    try:
        start, end = np.array(starts[0], dtype=np.int64), np.array(ends[0], dtype=np.int64)
    except OverflowError:
        return None
    unordered = not options.sort and bool((start[1:] < start[:-1]).any())
    backward = bool((end < start).any() if options.closed else (end <= start).any())
    negative = clock.kind != "iso" and len(start) > 0 and int(start.min()) < 0
    if unordered or backward or negative:
        return None
    return TimedRows(rows.table.lines, starts[0], ends[0], starts[1], labels, rows.points)


class _BadRow(Exception):
    """A row that cannot be used: its line, what is wrong, and what to do."""

    def __init__(self, line: int, message: str, remedy: str | None = None) -> None:
        super().__init__(line, message, remedy)
        self.what = (line, message, remedy)


def _row_by_row(rows: SegmentRows, clock: Clock, options: ReadOptions, judge: Judge) -> TimedRows:
    lines: list[int] = []
    kept = TimedRows(lines, [], [], clock.scale, [], rows.points)
    for i in range(len(rows.table)):
        try:
            _check_columns(rows, i)
            start = _time(rows.starts[i], rows.table.lines[i], "time" if rows.points else "start", clock)
            end = _time(rows.ends[i], rows.end_lines[i], "time" if rows.points else "end", clock)
            if not options.sort and kept.starts and start < kept.starts[-1]:
                raise _BadRow(
                    rows.table.lines[i],
                    f"starts at {rows.starts[i].strip()}, before the row above it (later was expected)",
                    "Sort the file, or have it sorted with --sort",
                )
            _check_direction(rows, i, start, end, options.closed)
            label = rows.labels[i].strip()
            if not label:
                raise _BadRow(rows.table.lines[i], "has no label (a name was expected)")
        except _BadRow as bad:
            judge.reject(*bad.what)
            continue
        lines.append(rows.table.lines[i])
        kept.starts.append(start)
        kept.ends.append(end)
        kept.labels.append(label)
    return kept


def _check_columns(rows: SegmentRows, i: int) -> None:
    cells, usual = rows.table.rows[i], len(rows.table.rows[0])
    count = "1 column" if len(cells) == 1 else f"{len(cells)} columns"
    if len(cells) < rows.width:
        raise _BadRow(rows.table.lines[i], f"has {count} (at least {rows.width} were expected)")
    if any(cell.strip() for cell in cells[usual:]):
        raise _BadRow(
            rows.table.lines[i],
            f"has {count} ({usual} as in the first row were expected)",
            "Quote a label that holds the delimiter",
        )


def _time(text: str, line: int, what: str, clock: Clock) -> int:
    try:
        time = clock.parse(text)
    except BadTime as error:
        raise _BadRow(line, f"{what} {error}") from None
    if time < 0 and clock.kind != "iso":
        raise _BadRow(line, f"{what} {text.strip()} is negative (0 or later was expected)")
    return time


def _check_direction(rows: SegmentRows, i: int, start: int, end: int, closed: bool) -> None:
    if rows.points:
        if end < start:
            raise _BadRow(
                rows.end_lines[i],
                f"time {rows.ends[i].strip()} is before the row above it (times in order were expected)",
            )
    elif end < start:
        raise _BadRow(
            rows.end_lines[i],
            f"ends at {rows.ends[i].strip()}, before it starts (an end after the start was expected)",
        )
    elif end == start and not closed:
        raise _BadRow(
            rows.end_lines[i],
            f"ends when it starts, at {rows.ends[i].strip()} (an end after the start was expected)",
            "Correct it, or give --closed if rows mean [start, end]",
        )


@dataclass
class TickRows:
    """Rows in ticks, with the line each came from, ordered by start."""

    segments: Segments
    lines: npt.NDArray[np.int64]

    def take(self, keep: npt.NDArray[np.bool_]) -> TickRows:
        """Return the rows that `keep` marks."""
        return TickRows(self.segments.take(keep), self.lines[keep])


def tick_rows(
    timed: TimedRows,
    ids: dict[str, int],
    *,
    tick: Fraction,
    origin: int,
    options: ReadOptions,
    judge: Judge,
    is_truth: bool,
) -> TickRows:
    """Round times to ticks and names to ids.

    Parameters
    ----------
    timed : TimedRows
    ids : dict of str to int
        See `labels.label_ids`.
    tick : Fraction
        Length of a tick in seconds, or 1 where the times are ticks.
    origin : int
        The time of tick 0, in units of `timed`.
    is_truth : bool
        UNKNOWN is allowed.

    Raises
    ------
    InputError
        A time beyond the range, a segment that rounds to nothing, a label outside the task, or UNKNOWN in a
        prediction, unless the judge is lenient.
    """
    start, moved_starts = to_ticks(timed.starts, timed.scale, tick, origin)
    end, moved_ends = to_ticks(timed.ends, timed.scale, tick, origin)
    judge.notes.rounded_times += moved_starts + moved_ends
    lines = np.asarray(timed.lines, dtype=np.int64)
    label = np.fromiter((ids.get(name, -1) for name in timed.labels), dtype=np.int16, count=len(lines))

    beyond = np.maximum(np.abs(start), np.abs(end)) >= RANGE
    nothing = (end == start) & ~beyond if not options.closed else np.zeros(len(lines), dtype=bool)
    foreign = label < 0
    unknown = (label == UNKNOWN) & (not is_truth)
    if timed.points and nothing.any():
        judge.notes.warnings.append(
            f"{judge.file}: labels that hold for no time are left out, {int(nothing.sum())} of them"
        )
    bad = beyond | foreign | unknown | nothing
    names = list(ids)
    for i in np.flatnonzero(bad).tolist():
        name, line = timed.labels[i], int(lines[i])
        if beyond[i]:
            judge.reject(
                line,
                "has a time beyond the range (less than 2^53 ticks were expected)",
                "Choose a longer --tick",
            )
        elif foreign[i]:
            reject_foreign(judge, line, name, names)
        elif unknown[i]:
            reject_unknown(judge, line, name, names)
        elif not timed.points:
            judge.reject(line, "is shorter than half a tick and rounds to nothing", "Choose a shorter --tick")
    rows = TickRows(Segments(label, start, end + int(options.closed)), lines)
    return rows.take(~bad) if bad.any() else rows


def without_overlaps(rows: TickRows, options: ReadOptions, judge: Judge) -> TickRows:
    """Return the rows, of which none overlaps another.

    Raises
    ------
    InputError
        Two rows overlap, unless the judge is lenient; then the later one is left out. Closed rows may share
        an instant.
    """
    order = np.lexsort((rows.segments.end, rows.segments.start))
    keep = np.ones(len(rows.lines), dtype=bool)
    reach, holder = None, 0
    for i in order.tolist():
        start, end = int(rows.segments.start[i]), int(rows.segments.end[i])
        if reach is not None and start < reach - int(options.closed):
            judge.reject(
                int(rows.lines[i]),
                f"begins while row {holder} still runs (one label at a time was expected)",
                "Correct one of them, or let the later one have the time with --overlaps flatten",
            )
            keep[i] = False
        elif reach is None or end > reach:
            reach, holder = end, int(rows.lines[i])
    return rows.take(keep)

"""Which column of a file is what."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from streamgauge.errors import InputError
from streamgauge.reading.options import Column
from streamgauge.reading.table import Table
from streamgauge.reading.times import is_time, kind_of

START = frozenset(
    ("start", "onset", "begin", "tb", "start_time", "starttime", "time_start", "t_start", "from")
)
END = frozenset(("end", "offset", "stop", "te", "end_time", "endtime", "time_end", "t_end", "to"))
LABEL = frozenset(("label", "event_label", "class", "activity", "event", "annotation"))
TIME = frozenset(("time", "timestamp", "t"))
RECORDING = frozenset(("filename", "file", "recording", "track", "uri", "audio", "audio_filename"))
SERIES = LABEL | {"truth", "prediction", "predicted", "true", "y_true", "y_pred", "target"}

_SAMPLE = 20  # rows looked at before a file is said to hold no times
_END_OF_POINTS = "end"
_RTTM_FIELDS = 8  # SPEAKER file channel onset duration <NA> <NA> name ...


@dataclass(frozen=True)
class SegmentRows:
    """The cells of a segment file that matter.

    Attributes
    ----------
    table : Table
        The data rows, without header.
    starts, ends, labels : list of str
        One a row.
    end_lines : sequence of int
        The line each end is on.
    points : bool
        The rows were ``time, label``, each holding until the next time; a label may then hold for no time.
    width : int
        Columns a row must have; shorter rows have empty cells here.
    """

    table: Table
    starts: list[str]
    ends: list[str]
    labels: list[str]
    end_lines: Sequence[int]
    points: bool
    width: int


def segment_rows(
    table: Table,
    *,
    columns: tuple[Column, ...] | None = None,
    recording: str | None = None,
    warnings: list[str] | None = None,
    until: str | None = None,
) -> tuple[SegmentRows, bool]:
    """Find the start, end and label cells.

    Parameters
    ----------
    table : Table
    columns, recording
        See `ReadOptions`.
    warnings : list of str, optional
        Is told about a header that was taken as one although no name in it is known.
    until : str, optional
        End of the last label of a ``time, label`` file without an ``End`` row.

    Returns
    -------
    rows : SegmentRows
    chosen : bool
        Whether `recording` named rows of this file.

    Raises
    ------
    InputError
        A column is missing, or the file holds several recordings and none is chosen.
    """
    if any(row[0].strip() == "SPEAKER" and len(row) >= _RTTM_FIELDS for row in table.rows[:_SAMPLE]):
        table = _from_rttm(table)
    if len(table) == 0:
        return SegmentRows(table, [], [], [], [], False, 3), False
    header, data = _split_header(table, warnings)
    if len(data) == 0:
        return SegmentRows(data, [], [], [], [], False, 3), False
    start, end, label = _columns(header, table.lines[0], data, columns)
    data, chosen = _one_recording(data, header, start, end, label, recording)
    width = max(start, label, start if end is None else end) + 1
    if end is None:
        return _points(data, start, label, until, width), chosen
    starts, ends, labels = (_column(data, index) for index in (start, end, label))
    return SegmentRows(data, starts, ends, labels, data.lines, False, width), chosen


def label_series(table: Table, column: Column | None, option: str) -> tuple[Table, list[str]]:
    """Find the labels of a file with one label a row.

    Parameters
    ----------
    table : Table
    column : str, int or None
        Header name, or number from 1.
    option : str
        The command-line option that would name the column, for the remedy.
    """
    if len(table) == 0:
        return table, []
    first = [cell.strip() for cell in table.rows[0]]
    named = column is not None and _as_number(column) is None
    headed = named or any(_normal(cell) in SERIES for cell in first)
    header = first if headed else None
    data = table.take(range(1, len(table))) if headed else table
    if column is not None:
        index = _find(table.file, column, header, len(first), option)
    elif len(first) == 1:
        index = 0
    else:
        names = _listed(header or [str(i + 1) for i in range(len(first))])
        raise InputError(
            f"has {len(first)} columns, {names} (one label a row was expected)",
            file=table.file,
            row=table.lines[0],
            remedy=f"Say which one with {option} {(header or ['1'])[0]}",
        )
    return data, [row[index].strip() if index < len(row) else "" for row in data.rows]


def _split_header(table: Table, warnings: list[str] | None) -> tuple[list[str] | None, Table]:
    """Return the header, if there is one: no cell of it is a time, and a name is known or times follow."""
    first = [cell.strip() for cell in table.rows[0]]
    if any(kind_of(cell) is not None for cell in first if cell):
        return None, table
    known = any(_normal(cell) in START | END | LABEL | TIME | RECORDING for cell in first)
    if not known and not (len(table) > 1 and any(map(is_time, table.rows[1]))):
        return None, table
    if not known and warnings is not None:
        warnings.append(f"{table.file}, row {table.lines[0]}: taken as a header, {_listed(first)}")
    return first, Table(table.file, table.rows[1:], table.lines[1:])


def _columns(
    header: list[str] | None, header_line: int, data: Table, columns: tuple[Column, ...] | None
) -> tuple[int, int | None, int]:
    """Return the columns of start, end (None: the label holds until the next time) and label."""
    file = data.file
    if columns is not None:
        found = [_find(file, column, header, len(data.rows[0]), "--columns") for column in columns]
        return (found[0], found[1], found[2]) if len(found) == 3 else (found[0], None, found[1])
    if header is not None:
        names = [_normal(name) for name in header]
        if set(names) & (START | END | TIME):
            return _by_name(file, header_line, header, names)
        if set(names) & (SERIES - LABEL):
            raise InputError(
                f"no column among {_listed(header)} holds times (start, end and label were expected)",
                file=file,
                row=header_line,
                remedy="If it holds one label a row, give --rate, --truth-column and --prediction-column",
            )
    for row in data.rows[:_SAMPLE]:
        found_here = _by_position(row)
        if found_here:
            return found_here
    if header is None and len(data.rows[0]) == 1:
        raise InputError(
            f"has one column, {data.rows[0][0]!r} (start, end and label were expected)",
            file=file,
            row=data.lines[0],
            remedy="If it holds one label a row, give --rate; if other marks split its columns, --delimiter",
        )
    shown = _listed(header or data.rows[0])
    raise InputError(
        f"no column holds times, found {shown} (start, end and label were expected)",
        file=file,
        row=data.lines[0],
        remedy="Name the columns with --columns START,END,LABEL; if it holds one label a row, give --rate",
    )


def _by_name(file: str, line: int, header: list[str], names: list[str]) -> tuple[int, int | None, int]:
    def index(group: frozenset[str]) -> int | None:
        return next((i for i, name in enumerate(names) if name in group), None)

    start, end, label, time = index(START), index(END), index(LABEL), index(TIME)
    if start is None and time is not None and end is None:
        start = time
    elif end is None and start is not None and len(names) > 2:
        raise _missing(file, line, "end", header, END)
    if start is None:
        raise _missing(file, line, "start", header, START)
    if label is None:
        rest = [i for i in range(len(names)) if i not in (start, end) and names[i] not in RECORDING]
        if len(rest) != 1:
            raise _missing(file, line, "label", header, LABEL)
        label = rest[0]
    return start, end, label


def _by_position(row: Sequence[str]) -> tuple[int, int | None, int] | None:
    """Take the label last and two times before it, else the first two times side by side, else points."""
    kinds = [kind_of(cell) for cell in row]
    last = len(row) - 1
    pairs = [last - 2] if last >= 2 else []
    pairs += range(last - 1)
    for start in pairs:
        if kinds[start] and kinds[start + 1] and (kinds[start] == "iso") == (kinds[start + 1] == "iso"):
            return start, start + 1, start + 2
    if last == 1 and kinds[0]:
        return 0, None, 1
    return None


def _one_recording(
    data: Table, header: list[str] | None, start: int, end: int | None, label: int, recording: str | None
) -> tuple[Table, bool]:
    """Keep the rows of one recording; a column before the times, or one so named, tells which it is."""
    names = [_normal(name) for name in header] if header else []
    used = {start, end, label}
    leads = [i for i in range(start) if i not in used]
    leads += [i for i, name in enumerate(names) if name in RECORDING and i > start and i not in used]
    for lead in leads:
        values = [row[lead].strip() if lead < len(row) else "" for row in data.rows]
        distinct = dict.fromkeys(values)
        if recording is not None and recording in distinct:
            return data.take([i for i, value in enumerate(values) if value == recording]), True
        if recording is None and len(distinct) > 1 and not _is_row_number(values):
            name = f" ({header[lead]})" if header and header[lead] else ""
            second = next(i for i, value in enumerate(values) if value != values[0])
            raise InputError(
                f"column {lead + 1}{name} holds {len(distinct)} recordings (one recording was expected)",
                file=data.file,
                row=data.lines[second],
                remedy=f"Pick one with --recording, for example --recording {values[0]}",
            )
    return (data.take([]), False) if leads and recording is not None else (data, False)


def _is_row_number(values: list[str]) -> bool:
    return all(kind_of(value) == "ticks" for value in values) and len(set(values)) == len(values)


def _points(data: Table, time: int, label: int, until: str | None, width: int) -> SegmentRows:
    """Read ``time, label`` rows: a label holds until the next time; a last label ``End`` only ends."""
    times, labels = _column(data, time), _column(data, label)
    if not times:
        return SegmentRows(data, [], [], [], [], True, width)
    if labels[-1].strip().lower() == _END_OF_POINTS:
        held = data.take(range(len(times) - 1))
        return SegmentRows(held, times[:-1], times[1:], labels[:-1], data.lines[1:], True, width)
    if until is None:
        raise InputError(
            f"nothing says when {labels[-1].strip()!r} ends (a last row with the time and End was expected)",
            file=data.file,
            row=data.lines[-1],
            remedy="Add that row, or give the end with --span",
        )
    end_lines = [*data.lines[1:], data.lines[-1]]
    return SegmentRows(data, times, [*times[1:], until], labels, end_lines, True, width)


def _column(data: Table, index: int) -> list[str]:
    try:
        return [row[index] for row in data.rows]
    except IndexError:
        return [row[index] if index < len(row) else "" for row in data.rows]


def _from_rttm(table: Table) -> Table:
    """Turn SPEAKER lines into ``file, onset, end, name`` rows; other lines hold no segments."""
    rows, lines = [], []
    for row, line in zip(table.rows, table.lines, strict=True):
        if row[0].strip() != "SPEAKER":
            continue
        onset, duration = (row[3], row[4]) if len(row) >= _RTTM_FIELDS else ("", "")
        try:
            end = str(Decimal(onset) + Decimal(duration))
        except InvalidOperation:
            end = duration if kind_of(duration) != "seconds" else ""
        rows.append([row[1] if len(row) > 1 else "", onset, end, row[7] if len(row) >= _RTTM_FIELDS else ""])
        lines.append(line)
    return Table(table.file, rows, lines)


def _find(file: str, column: Column, header: list[str] | None, width: int, option: str) -> int:
    """Return the index of a column given by name or by number from 1."""
    if header is not None:
        wanted = _normal(str(column))
        for i, name in enumerate(header):
            if _normal(name) == wanted:
                return i
    number = _as_number(column)
    if number is not None and 1 <= number <= width:
        return number - 1
    if header is None:
        raise InputError(
            f"has no column {column!r} (it has no header and {width} columns)",
            file=file,
            remedy=f"Give a number from 1 to {width} with {option}",
        )
    near = difflib.get_close_matches(str(column), header, 1)
    raise InputError(
        f"has no column {column!r} (its columns are {_listed(header)})",
        file=file,
        remedy=f"Did you mean {option} {near[0]}" if near else f"Name one of them with {option}",
    )


def _missing(file: str, line: int, what: str, header: list[str], group: frozenset[str]) -> InputError:
    return InputError(
        f"no {what} column among {_listed(header)} ({', '.join(sorted(group))} was expected)",
        file=file,
        row=line,
        remedy="Name the columns with --columns START,END,LABEL",
    )


def _listed(names: Sequence[str], most: int = 10) -> str:
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")


def _as_number(column: Column | None) -> int | None:
    text = str(column)
    return int(text) if text.isascii() and text.isdigit() else None


def _normal(name: str) -> str:
    name = re.sub(r"[(\[].*?[)\]]", "", name).strip().lower()
    return re.sub(r"[\s-]+", "_", name)

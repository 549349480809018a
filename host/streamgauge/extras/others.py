"""What may come beside truth and prediction: a second recogniser, confidences, a holdout set, levels.

- The second recogniser's labels: another file of the kind of the prediction, or another column.
- Confidences: a column of the prediction's file, one a row, from 0 to 1 or whole numbers from 0 to 255.
- A holdout set: a file with one item a row. Its first column is the truth; every further column is what the
  recogniser said of the items at one scoring, and is headed by the number of records (those with truth) that
  the stream had by then.
- Levels of boundaries on both sides, one file a level (`streamgauge.levels.beside`).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import numpy as np

from ..errors import InputError
from ..files import ReadOptions, Recording, read_pair
from ..levels.figures import Hierarchies
from ..reading.labels import natural_key
from ..reading.layout import label_series
from ..reading.options import Column
from ..reading.table import read_table
from .records import Labels, labels_at


@dataclass(frozen=True, eq=False)
class HoldoutSet:
    """A labelled set and what the recogniser said of it.

    Attributes
    ----------
    truth : ndarray of uint8, shape (n,)
    scorings : tuple of (int, ndarray of uint8)
        Records of the stream before it, and the labels; in order.
    """

    truth: Labels
    scorings: tuple[tuple[int, Labels], ...]


@dataclass(frozen=True, eq=False)
class Others:
    """What comes beside truth and prediction, most of it a value for every slice of the recording.

    Attributes
    ----------
    names : (str, str)
        What to call the recogniser and the second one.
    second : ndarray of uint8, shape (n,), or None
        The second recogniser's label ids.
    confidence : ndarray of uint8, shape (n,), or None
        How sure the (first) recogniser was.
    holdout : HoldoutSet or None
    hierarchies : Hierarchies or None
        Levels of boundaries, not bound to slices.
    """

    names: tuple[str, str] = ("A", "B")
    second: Labels | None = None
    confidence: Labels | None = None
    holdout: HoldoutSet | None = None
    hierarchies: Hierarchies | None = None


def read_others(
    truth: str | os.PathLike[str],
    prediction: str | os.PathLike[str],
    options: ReadOptions,
    *,
    second: str | os.PathLike[str] | None = None,
    second_column: Column | None = None,
    confidence_column: Column | None = None,
    holdout: str | os.PathLike[str] | None = None,
) -> tuple[Recording, Others]:
    """Read a recording and what comes beside it.

    Parameters
    ----------
    truth, prediction : path
    options : ReadOptions
        As `files.read_pair` takes them.
    second : path, optional
        The second recogniser's file; read like the prediction's.
    second_column : str or int, optional
        Its column, where files hold one label a row; with this alone, of the prediction's file.
    confidence_column : str or int, optional
        Column of the prediction's file, where files hold one label a row.
    holdout : path, optional

    Returns
    -------
    Recording, Others
        The labels of all files are those of one task.

    Raises
    ------
    InputError
        A file or a value that cannot be used.
    """
    for column, name in ((second_column, "--second-column"), (confidence_column, "--confidence-column")):
        if column is not None and options.rate is None:
            raise InputError(
                f"{name} names a column, but the files hold segments (one label a row was expected)",
                remedy="Say how many rows a second there are, with --rate",
            )
    recording = read_pair(truth, prediction, options)
    labels = set(recording.task.labels)
    with_second = second is not None or second_column is not None
    other = None
    path = prediction if second is None else second
    if with_second:
        column = options.prediction_column if second_column is None else second_column
        pair = replace(options, prediction_column=column)
        other = read_pair(truth, path, pair)
        labels |= set(other.task.labels)
    table = None
    if holdout is not None:
        table = _HoldoutTable(holdout, options)
        labels |= table.labels
    if labels != set(recording.task.labels) or (other and labels != set(other.task.labels)):
        null = recording.task.labels[0]
        if options.labels is None:
            options = replace(options, labels=tuple(sorted(labels - {null}, key=natural_key)))
        recording = read_pair(truth, prediction, options)
        if with_second:
            other = read_pair(truth, path, replace(options, prediction_column=column))
    begin, end = recording.span
    ticks = recording.task.slice_ticks
    count = -(-(end - begin) // ticks)
    names = _names(options, prediction, path, second_column)
    labels_b = None
    if other is not None:
        labels_b = labels_at(other.prediction, begin + _shift(recording, other, path), count, ticks)
        recording.notes.warnings += [w for w in other.notes.warnings if w not in recording.notes.warnings]
    sure = None
    if confidence_column is not None:
        sure = _at_slices(_confidences(prediction, options, confidence_column), recording, options, count)
    return recording, Others(names, labels_b, sure, table.set_of(recording) if table else None)


def _names(
    options: ReadOptions, prediction: str | os.PathLike[str], second: str | os.PathLike[str], column: object
) -> tuple[str, str]:
    """Columns where they tell the two apart, else files."""
    files = Path(prediction).name, Path(second).name
    if column is not None and column != options.prediction_column:
        first = options.prediction_column
        return (files[0] if first is None else str(first)).replace("_", " "), str(column).replace("_", " ")
    if files[0] == files[1]:
        files = str(prediction), str(second)
    return files


def _shift(recording: Recording, other: Recording, file: str | os.PathLike[str]) -> int:
    """Return what to add to a tick of the recording to have the same time in the other one."""
    if recording.task.tick_seconds != other.task.tick_seconds:
        raise InputError(
            f"has ticks of {other.task.tick_seconds} s, the prediction of {recording.task.tick_seconds} s",
            file=file,
            remedy="Give --tick",
        )
    if recording.task.origin is None or other.task.origin is None:
        return 0
    apart = datetime.fromisoformat(recording.task.origin) - datetime.fromisoformat(other.task.origin)
    return round(apart.total_seconds() / (recording.task.tick_seconds or 1.0))


def _confidences(path: str | os.PathLike[str], options: ReadOptions, column: Column) -> Labels:
    """Return a confidence a row, 0 to 255."""
    name = os.fspath(path)
    table = read_table(name, options.delimiter, one_a_row=True)
    table, texts = label_series(table, column, "--confidence-column")
    values = np.empty(len(texts))
    for i, text in enumerate(texts):
        try:
            values[i] = float(text)
        except ValueError:
            values[i] = np.nan
    known = np.isfinite(values) & (values >= 0)
    whole = known & (values <= 255) & (values == np.floor(values))
    # 0 and 1 alone are shares: certain or not at all.
    in_bytes = bool((whole & (values > 1)).any())
    good = whole if in_bytes else known & (values <= 1)
    if not good.all():
        bad = int(np.flatnonzero(~good)[0])
        expected = "a whole number from 0 to 255, as in other rows," if in_bytes else "a number from 0 to 1"
        raise InputError(
            f"the confidence is {texts[bad]!r} ({expected} was expected)", file=name, row=table.lines[bad]
        )
    return np.floor((values if in_bytes else values * 255) + 0.5).astype(np.uint8)


def _at_slices(rows: Labels, recording: Recording, options: ReadOptions, count: int) -> Labels:
    """Return the value of the row in which each slice begins; 0 beyond the last."""
    task = recording.task
    a_row = round(1 / float(options.rate or 1) / (task.tick_seconds or 1))
    at = (recording.span[0] + task.slice_ticks * np.arange(count, dtype=np.int64)) // a_row
    held = (at >= 0) & (at < len(rows))
    return np.where(held, rows[np.clip(at, 0, len(rows) - 1)], 0).astype(np.uint8)


class _HoldoutTable:
    """The file of a holdout set, before its labels have ids."""

    def __init__(self, path: str | os.PathLike[str], options: ReadOptions) -> None:
        self.file = os.fspath(path)
        table = read_table(self.file, options.delimiter, one_a_row=True)
        header = [cell.strip() for cell in table.rows[0]] if len(table) else []
        if len(header) < 2:
            raise InputError(
                "has no header of a truth and at least one scoring (such as truth,1000,2000, where the "
                "numbers are records of the stream)",
                file=self.file,
                row=1,
            )
        self.null, self.unknown = options.null, options.unknown
        self.records: list[int] = []
        for i, name in enumerate(header[1:], 2):
            if not name.isdecimal() or int(name) <= (self.records[-1] if self.records else 0):
                raise InputError(
                    f"column {i} is headed {name!r} (the records of the stream at that scoring, a whole "
                    "number that grows from column to column, was expected)",
                    file=self.file,
                    row=1,
                )
            self.records.append(int(name))
        self.lines: Sequence[int] = table.lines[1:]
        for line, row in zip(self.lines, table.rows[1:], strict=True):
            if len(row) != len(header):
                raise InputError(
                    f"has {len(row)} cells (one a column of the header, {len(header)}, were expected)",
                    file=self.file,
                    row=line,
                )
        self.columns = [[row[i].strip() for row in table.rows[1:]] for i in range(len(header))]
        if not self.lines:
            raise InputError("has no rows (one item of the holdout set a row was expected)", file=self.file)

    @property
    def labels(self) -> set[str]:
        return {name for column in self.columns for name in column} - {"", self.unknown}

    def set_of(self, recording: Recording) -> HoldoutSet:
        ids = {name: i for i, name in enumerate(recording.task.labels)}
        ids[""] = 0
        arrays = []
        for number, column in enumerate(self.columns, 1):
            for line, name in zip(self.lines, column, strict=True):
                if name not in ids:
                    raise InputError(
                        f"column {number} is {name!r} (one of {', '.join(recording.task.labels[:8])} was "
                        "expected)",
                        file=self.file,
                        row=line,
                    )
            arrays.append(np.array([ids[name] for name in column], dtype=np.uint8))
        return HoldoutSet(arrays[0], tuple(zip(self.records, arrays[1:], strict=True)))

"""How files are to be read, and what is to be told about the reading."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from fractions import Fraction

from streamgauge.errors import InputError

SKIPPED_KEPT = 20  # reasons kept word for word; enough to see a pattern, few enough to print

_CHOICES = {
    "time": ("auto", "ticks", "seconds", "iso"),
    "gaps": ("null", "unknown"),
    "overlaps": ("flatten", "keep", "refuse"),
}
_UNITS = {
    "ns": Fraction(1, 1_000_000_000),
    "us": Fraction(1, 1_000_000),
    "ms": Fraction(1, 1000),
    "s": Fraction(1),
    "min": Fraction(60),
    "h": Fraction(3600),
    "d": Fraction(86400),
}
_DURATION = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([a-z]*)\s*")

Column = str | int


@dataclass(frozen=True)
class ReadOptions:
    """How to read a truth and a prediction.

    Attributes
    ----------
    tick : float, str or None
        Length of a tick: seconds, or text such as ``"10ms"``. None: see `time`.
    slice : int, str or None
        Length of a slice: ticks, or text with a unit such as ``"60s"``. None: one row where files hold one
        label a row; one tick where they count ticks; 0.1 s for seconds and 60 s for timestamps (one tick if
        that is longer).
    rate : float, str or None
        Rows a second: the files hold one label a row.
    time : {"auto", "ticks", "seconds", "iso"}
        What the times are. Auto: integers throughout both files are ticks; other numbers seconds, in ticks of
        1 ms unless `tick` is given; timestamps are counted from the earliest, in ticks of 1 s, or 1 ms if any
        has a fraction.
    closed : bool
        The rows mean ``[start, end]``, not ``[start, end)``.
    null, unknown : str
        Names of the NULL label and of UNKNOWN truth.
    gaps : {"null", "unknown"}
        What the truth is where no row covers the time.
    span : (start, end) or None
        The assessed time: ticks, or texts as in the files. None: from the earliest start to the latest end.
    overlaps : {"flatten", "keep", "refuse"}
        Overlapping rows of one file: the later start has the time; partial overlaps are kept for the
        alignment alone; or they are refused.
    lenient : bool
        Skip and count rows that cannot be used instead of refusing the file.
    sort : bool
        Sort rows by start instead of refusing rows out of order.
    labels : tuple of str or None
        The task's labels in order, with or without NULL. None: all labels of both files, sorted.
    delimiter : str or None
        ``","``, ``";"``, ``"tab"`` or ``"space"``; None finds it.
    columns : tuple or None
        Start, end and label column (or time and label), by header name or by number from 1.
    truth_column, prediction_column : str, int or None
        The label column of each file where files hold one label a row.
    recording : str or None
        The one recording to read from files that hold several.
    """

    tick: float | str | None = None
    slice: int | str | None = None
    rate: float | str | None = None
    time: str = "auto"
    closed: bool = False
    null: str = "NULL"
    unknown: str = "UNKNOWN"
    gaps: str = "null"
    span: tuple[int | str, int | str] | None = None
    overlaps: str = "flatten"
    lenient: bool = False
    sort: bool = False
    labels: tuple[str, ...] | None = None
    delimiter: str | None = None
    columns: tuple[Column, ...] | None = None
    truth_column: Column | None = None
    prediction_column: Column | None = None
    recording: str | None = None


@dataclass
class Notes:
    """What happened while reading that the reader of a report should know.

    Attributes
    ----------
    flattened_truth, flattened_prediction : int
        Rows that began while an earlier row of the same file still ran.
    skipped : int
        Rows left out because they could not be used (`ReadOptions.lenient`).
    skipped_rows : list of str
        Why, for the first of them.
    rounded_times : int
        Starts and ends that were not whole ticks and moved to the nearest one, half a tick up.
    warnings : list of str
        Readings that are allowed and may still be a mistake.
    """

    flattened_truth: int = 0
    flattened_prediction: int = 0
    skipped: int = 0
    skipped_rows: list[str] = field(default_factory=list)
    rounded_times: int = 0
    warnings: list[str] = field(default_factory=list)


@dataclass
class Judge:
    """Decides what becomes of a bad row: refuse the file, or skip the row and count it."""

    file: str
    lenient: bool
    notes: Notes

    def reject(self, row: int, message: str, remedy: str | None = None) -> None:
        """Raise InputError for the row, or note that it was skipped."""
        error = InputError(
            message, file=self.file, row=row, remedy=remedy or "Correct it, or skip such rows with --lenient"
        )
        if not self.lenient:
            raise error
        self.notes.skipped += 1
        if len(self.notes.skipped_rows) < SKIPPED_KEPT:
            self.notes.skipped_rows.append(f"{self.file}, row {row}: {message}")


def check_options(options: ReadOptions) -> None:
    """Raise InputError for an option no file can make sense of."""
    for name, allowed in _CHOICES.items():
        value = getattr(options, name)
        if value not in allowed:
            raise InputError(f"{name} is {value!r} (expected {', '.join(allowed[:-1])} or {allowed[-1]})")
    if options.null == options.unknown:
        raise InputError(
            f"NULL and UNKNOWN are both named {options.null!r} (two names were expected)",
            remedy="Choose others with --null and --unknown",
        )
    if options.columns is not None and len(options.columns) not in (2, 3):
        raise InputError(
            "columns names neither start, end and label nor time and label (3 or 2 were expected)"
        )


def seconds(value: float | str, what: str) -> Fraction:
    """Return a length of time in seconds, exactly.

    Parameters
    ----------
    value : float or str
        Seconds, or text with a unit: ns, us, ms, s, min, h or d. Text without a unit means seconds.
    what : str
        The option's name, for the message.
    """
    if isinstance(value, str):
        match = _DURATION.fullmatch(value.lower())
        unit = _UNITS.get(match[2] or "s") if match else None
        length = Fraction(match[1]) * unit if match and unit else Fraction(0)
    else:
        length = Fraction(str(value)) if math.isfinite(value) else Fraction(0)
    if length <= 0:
        raise InputError(
            f"{what} is {value!r} (a length of time above 0 was expected, such as 0.5, 10ms or 1min)"
        )
    return length


def slice_ticks(value: int | str, tick: Fraction | None) -> int:
    """Return the length of a slice in ticks.

    Parameters
    ----------
    value : int or str
        Ticks, or text with a unit.
    tick : Fraction or None
        Length of a tick in seconds, where it is known.
    """
    text = str(value).strip()
    if re.fullmatch(r"\d+", text):
        ticks = Fraction(int(text))
    elif tick is None:
        raise InputError(
            f"slice is {value!r}, but the length of a tick is not known (a number of ticks was expected)",
            remedy="Give --tick as well, or the slice in ticks",
        )
    else:
        ticks = seconds(text, "slice") / tick
    if ticks < 1 or ticks.denominator != 1:
        raise InputError(
            f"slice is {value!r}, {float(ticks):g} ticks (a whole number of ticks, at least 1, was expected)",
            remedy="Choose another --slice or --tick",
        )
    return int(ticks)

"""Figures as people read them. What is missing is printed as `-`."""

from __future__ import annotations

import math
from itertools import pairwise

_UNITS = ((86400.0, "d"), (3600.0, "h"), (60.0, "min"), (1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))
_ENOUGH = {"d": 3.0, "h": 2.0, "min": 2.0, "s": 1.0, "ms": 1.0}  # 90 min say more than 1.5 h


def missing(value: float | None) -> bool:
    """Whether there is nothing to print."""
    return value is None or math.isnan(value)


def count(value: int | None) -> str:
    """A whole number, thousands apart."""
    return "-" if value is None else f"{value:,}"


def score(value: float | None) -> str:
    """A figure between 0 and 1."""
    return "-" if value is None or math.isnan(value) else f"{value:.3f}"


def percent(value: float | None) -> str:
    """A share as per cent, without the sign; a dot for none at all."""
    if value is None or math.isnan(value):
        return "-"
    return "·" if value == 0 else f"{100 * value:.1f}"


def number(value: float | None, *, signed: bool = False) -> str:
    """A figure in four digits."""
    if value is None or math.isnan(value):
        return "-"
    sign = "+" if signed and value > 0 else ""
    digits = max(0, 3 - math.floor(math.log10(abs(value)))) if value else 0
    text = f"{value:,.{min(digits, 6)}f}"
    return sign + (text.rstrip("0").rstrip(".") if "." in text else text)


def duration(ticks: float | None, tick_seconds: float | None, *, signed: bool = False) -> str:
    """A length of time in three digits, or in ticks where their length is not known."""
    if ticks is None or math.isnan(ticks):
        return "-"
    if tick_seconds is None:
        return number(ticks, signed=signed)
    seconds = ticks * tick_seconds
    sign = "+" if signed and seconds > 0 else "-" if seconds < 0 else ""
    size = abs(seconds)
    if size == 0:
        return "0 s"
    length, unit = next(
        ((length, unit) for length, unit in _UNITS if size >= length * _ENOUGH.get(unit, 0.0)), _UNITS[-1]
    )
    value = size / length
    if value == round(value):
        return f"{sign}{value:.0f} {unit}"
    digits = max(0, 2 - math.floor(math.log10(value))) if value >= 1e-6 else 6
    return f"{sign}{value:.{min(digits, 6)}f} {unit}"


def long_time(seconds: float) -> str:
    """A long time in its two largest units, `27 d 16 h`."""
    if seconds < 120:
        return duration(seconds, 1.0)
    for (length, unit), (smaller, below) in pairwise(_UNITS[:4]):
        if seconds >= length:
            whole, rest = divmod(round(seconds / smaller), round(length / smaller))
            return f"{whole} {unit}" + (f" {rest} {below}" if rest else "")
    return duration(seconds, 1.0)


def size(value: int) -> str:
    """Bytes, as memory is counted."""
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if value >= unit:
            return f"{value / unit:.1f} {name}"
    return f"{value} B"

"""Times as files write them, as exact whole numbers, and their rounding to ticks.

No float takes part: a decimal is read as an integer of small units, so half a tick is half a tick.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from streamgauge.errors import InputError

RANGE = 2**53  # |ticks| below this stay exact as float64, which the statistics use

_INTEGER = re.compile(r"[+-]?[0-9]+")
_DECIMAL = re.compile(r"([+-]?)(?=\.?[0-9])([0-9]*)\.?([0-9]*)(?:[eE]([+-]?[0-9]+))?")
_NO_NUMBER = {"nan", "na", "n/a", "inf", "infinity", "none", "null", "<na>", ""}
_NAMED_MONTH = re.compile(r"([0-9]{1,2})-([A-Za-z]{3})-([0-9]{4})")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_EPOCH = datetime(1970, 1, 1)
_MICROSECOND = timedelta(microseconds=1)

_FINE = 18  # decimals kept of a time in seconds: float reprs have up to 17 significant digits
_LONG = 60  # digits of a time in those units that is beyond any range
_COARSE = 9  # decimals that almost all files stay within; then times fit int64


class BadTime(ValueError):
    """A cell that is no time; the text says why."""


def kind_of(text: str) -> str | None:
    """Return "ticks", "seconds" or "iso", "bad" for a missing number, or None for what is no time."""
    text = text.strip()
    if _INTEGER.fullmatch(text):
        return "ticks"
    if _DECIMAL.fullmatch(text):
        return "seconds"
    if text.lower().lstrip("+-") in _NO_NUMBER:
        return "bad"
    try:
        _stamp(text)
    except ValueError:
        return None
    return "iso"


def is_time(text: str) -> bool:
    """Whether a cell is a time of any kind."""
    return kind_of(text) in ("ticks", "seconds", "iso")


@dataclass(frozen=True)
class Clock:
    """One way of writing times, shared by both files.

    Attributes
    ----------
    kind : {"ticks", "seconds", "iso"}
    aware : bool
        Timestamps have a time zone (iso only).
    """

    kind: str
    aware: bool = False

    @property
    def scale(self) -> int:
        """Units a second of what `parse` returns; 1 for ticks, which have no known length here."""
        return {"ticks": 1, "seconds": 10**_FINE, "iso": 10**6}[self.kind]

    @property
    def expected(self) -> str:
        """What a cell should hold, for messages."""
        return {
            "ticks": "a whole number of ticks",
            "seconds": "a number of seconds",
            "iso": "a timestamp such as 2008-02-25 00:22:46",
        }[self.kind]

    def parse(self, text: str) -> int:
        """Return one time in units, or raise BadTime."""
        text = text.strip()
        if not text:
            raise BadTime(f"is empty ({self.expected} was expected)")
        if self.kind == "iso":
            try:
                return _microseconds(_stamp(text), self.aware)
            except BadTime:
                raise
            except ValueError:
                raise BadTime(f"{text!r} is not a time ({self.expected} was expected)") from None
        if text.lower().lstrip("+-") in _NO_NUMBER:
            raise BadTime(f"{text!r} is not a number ({self.expected} was expected)")
        pattern = _INTEGER if self.kind == "ticks" else _DECIMAL
        if not pattern.fullmatch(text):
            raise BadTime(f"{text!r} is not a time ({self.expected} was expected)")
        if self.kind == "ticks":
            return int(text) if len(text) < 40 else RANGE * (-1 if text[0] == "-" else 1)
        return _exact(text)

    def parse_all(self, texts: Sequence[str]) -> tuple[list[int], int] | None:
        """Return all times and their scale, quickly; None if any needs `parse` to be judged."""
        try:
            if self.kind == "ticks":
                if "_" in "".join(texts):  # int() reads 1_000
                    return None
                return list(map(int, texts)), 1
            if self.kind == "iso":
                return [_microseconds(_stamp(text), self.aware) for text in texts], self.scale
            if "_" in "".join(texts):
                return None
            return [_coarse(text) for text in texts], 10**_COARSE
        except ValueError:
            return None


def choose_clock(option: str, columns: Sequence[tuple[str, Sequence[str]]]) -> Clock:
    """Return the clock that reads all files.

    Parameters
    ----------
    option : str
        `ReadOptions.time`.
    columns : sequence of (file, cells)
        Every time cell of each file.
    """
    kinds = {}
    for file, cells in columns:
        kinds[file] = _kinds(cells)
    stamped = [file for file, found in kinds.items() if "iso" in found]
    counted = [file for file, found in kinds.items() if found and "iso" not in found]
    if option == "auto" and stamped and counted:
        raise InputError(
            f"holds timestamps while {counted[0]} holds numbers (one way to tell the time was expected)",
            file=stamped[0],
            remedy="Convert one of them",
        )
    found = set().union(*kinds.values()) if kinds else set()
    kind = option
    if option == "auto":
        kind = "iso" if "iso" in found else "seconds" if "seconds" in found else "ticks"
    if kind != "iso":
        return Clock(kind)
    first = next((cell for _, cells in columns for cell in cells if kind_of(cell) == "iso"), None)
    return Clock(kind, aware=first is not None and _stamp(first.strip()).tzinfo is not None)


def to_ticks(
    units: Sequence[int], scale: int, tick: Fraction, origin: int = 0
) -> tuple[npt.NDArray[np.int64], int]:
    """Round times to the nearest tick, half a tick up.

    Parameters
    ----------
    units : sequence of int
        Times in units.
    scale : int
        Units a second.
    tick : Fraction
        Length of a tick in seconds.
    origin : int
        The time of tick 0, in units.

    Returns
    -------
    ticks : np.ndarray, shape=(n,), int64
        Clamped to +-RANGE, which is beyond what may be assessed.
    moved : int
        How many were not whole ticks.
    """
    length = tick * scale
    above, below = length.numerator, length.denominator
    if below == 1 and above < 2**61:
        try:
            near = np.array(units, dtype=np.int64) - np.int64(origin)
            if len(near) == 0 or max(-int(near.min()), int(near.max())) < 2**61:
                ticks = (near + above // 2) // above if above % 2 == 0 else (2 * near + above) // (2 * above)
                return np.clip(ticks, -RANGE, RANGE), int(np.count_nonzero(near % above))
        except OverflowError:
            pass
    scaled = [(unit - origin) * below for unit in units]
    exact = [min(max((2 * value + above) // (2 * above), -RANGE), RANGE) for value in scaled]
    return np.array(exact, dtype=np.int64), sum(1 for value in scaled if value % above)


def iso_text(units: int, clock: Clock) -> str:
    """Return the ISO 8601 text of a timestamp in units."""
    return (_EPOCH + units * _MICROSECOND).isoformat() + ("+00:00" if clock.aware else "")


def span_ticks(
    span: tuple[int | str, int | str] | None, clock: Clock, tick: Fraction, origin: int
) -> tuple[int, int] | None:
    """Return `ReadOptions.span` in ticks: integers are ticks, texts are times as the files write them."""
    if span is None:
        return None
    bounds = []
    for bound in span:
        try:
            moment = clock.parse(bound) if isinstance(bound, str) else None
        except BadTime as error:
            raise InputError(f"span: {error}") from None
        bounds.append(bound if moment is None else int(to_ticks([moment], clock.scale, tick, origin)[0][0]))
    begin, stop = int(bounds[0]), int(bounds[1])
    if not 0 <= begin < stop < RANGE:
        raise InputError(f"span is {span[0]} to {span[1]} (an end after a start of 0 or later was expected)")
    return begin, stop


def _kinds(cells: Sequence[str]) -> set[str]:
    """Return the kinds of time among the cells; what is no time does not count."""
    first = next((kind for kind in map(kind_of, cells) if kind is not None and kind != "bad"), None)
    if first == "iso":
        return {first}
    try:
        list(map(int, cells))
        return {"ticks"} if cells else set()
    except ValueError:
        pass
    try:
        list(map(float, cells))
        if any("." in cell for cell in cells):
            return {"seconds"}
    except ValueError:
        pass
    kinds = map(kind_of, cells)
    return {kind for kind in kinds if kind in ("ticks", "seconds")}


def _exact(text: str) -> int:
    """Return a decimal of any form in units of the finest scale, half a unit up."""
    match = _DECIMAL.fullmatch(text)
    assert match is not None
    sign, whole, fraction, power = match[1], match[2], match[3] or "", match[4] or "0"
    digits = (whole + fraction).lstrip("0")
    if not digits:
        return 0
    shift = int(power[:_LONG]) - len(fraction) + _FINE  # cut short, a power still is far beyond the range
    if len(digits) + shift > _LONG:
        return (-1 if sign == "-" else 1) * 10**_LONG
    kept = digits[: max(0, len(digits) + shift + 1)]  # and one digit to round by
    value = int(kept or "0") * 10 ** max(0, shift) if shift >= 0 else (int(kept or "0") + 5) // 10
    return -value if sign == "-" else value


def _coarse(text: str) -> int:
    whole, _, fraction = text.strip().partition(".")
    if len(fraction) > _COARSE:
        raise ValueError
    return int(whole + fraction) * 10 ** (_COARSE - len(fraction))


def _stamp(text: str) -> datetime:
    """Read an ISO timestamp, one with slashes, or one such as ``25-Feb-2008 00:22:46``."""
    if text[4:5] == "/":
        text = text.replace("/", "-")
    if text[4:5] in "-0123456789" and ("-" in text or ":" in text):
        try:
            return datetime.fromisoformat(text)
        except ValueError:
            pass
    length = text.find(" ") if " " in text else len(text)
    return datetime.fromisoformat(_named_date(text[:length]) + text[length:])


@lru_cache(maxsize=4096)  # a day's rows share their date
def _named_date(text: str) -> str:
    match = _NAMED_MONTH.fullmatch(text)
    if not match or match[2].lower() not in _MONTHS:
        raise ValueError(text)
    return f"{match[3]}-{_MONTHS.index(match[2].lower()) + 1:02d}-{int(match[1]):02d}"


def _microseconds(moment: datetime, aware: bool) -> int:
    if (moment.tzinfo is not None) is not aware:
        raise BadTime("has no time zone, others have one" if aware else "has a time zone, others have none")
    if aware:
        moment = moment.astimezone(UTC).replace(tzinfo=None)
    return (moment - _EPOCH) // _MICROSECOND

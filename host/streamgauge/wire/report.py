"""A node's report line: what it says, and the figures that follow from it."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from ..prequential import Estimate
from .line import decode_name, unseal

# Values a reader of version 1 needs of each field; a node may say more.
_NEEDED = {
    "n": 1,
    "b": 1,
    "e": 1,
    "k": 5,
    "t": 3,
    "a": 3,
    "q": 5,
    "f": 3,
    "s": 8,
    "g": 11,
    "y": 6,
    "c": 2,
    "x": 6,
    "l": 7,
    "w": 4,
    "m": 3,
}
_CATEGORIES = ("correct", "S", "D", "U", "F", "I", "O", "M")
_LABELS_AT_MOST = 32  # of a node, NULL included
_LARGEST = 1 << 60
_FIELD = re.compile(r"([A-Za-z0-9._]+)=(.*)")
_NUMBER = re.compile(r"-?\d{1,19}")

Numbers = tuple[int, ...]


class Newer(Exception):
    """A line of a later major version."""


@dataclass(frozen=True)
class Row:
    """Slices of one label: its id and name, ticks in truth and inferred, ticks correct."""

    label: int
    name: str
    ground: int
    inferred: int
    correct: int


@dataclass(frozen=True)
class Alarms:
    """What a drift detector has raised: alarms so far, the last one's direction (1 up, 2 down) and record."""

    count: int
    direction: int
    record: int


@dataclass(frozen=True)
class Report:
    """A report line that was whole.

    Attributes
    ----------
    fields : dict of str to tuple of int
        The fields this version knows, by key, without the two below.
    layout : str or None
        Layout hash, 8 hexadecimal digits.
    row : Row or None
        The label this line tells of.
    alarms : dict of str to Alarms
        By detector.
    """

    fields: dict[str, Numbers]
    layout: str | None
    row: Row | None
    alarms: dict[str, Alarms]

    def get(self, key: str) -> Numbers | None:
        """Return a field's values; None where the node does not report it."""
        return self.fields.get(key)

    @property
    def number(self) -> int:
        """Number of the line since boot."""
        return self.fields["n"][0]

    @property
    def boots(self) -> int | None:
        """Boots of the node's life."""
        return self._first("b")

    @property
    def epoch(self) -> int | None:
        """Number of the recording."""
        return self._first("e")

    @property
    def tick_seconds(self) -> float | None:
        """Length of a tick; None where the node's ticks have none, or it does not say."""
        k = self.fields.get("k")
        return k[2] / 1e6 if k and k[2] > 0 else None

    @property
    def categories(self) -> dict[str, int] | None:
        """Ticks by category of slices; the ground-truth and the inferred side do not add up to one whole."""
        s = self.fields.get("s")
        return dict(zip(_CATEGORIES, s, strict=False)) if s else None

    @property
    def distance(self) -> float | None:
        """The alignment's distance with C0 = 2."""
        g = self.fields.get("g")
        return 2.0 * (g[3] + g[4] + g[6]) + g[9] - g[10] / (1 << 26) if g else None

    @property
    def mean_error(self) -> Estimate | None:
        """Mean of all losses."""
        q = self.fields.get("q")
        return self._estimate(q[1], q[0], float(q[0])) if q else None

    @property
    def window_error(self) -> Estimate | None:
        """Mean of the losses in the window."""
        q = self.fields.get("q")
        return self._estimate(q[4], q[3], float(q[3])) if q else None

    @property
    def faded_error(self) -> Estimate | None:
        """Faded mean of the losses; its bounds are a guide, not a proof (see `streamgauge.prequential`)."""
        q, f = self.fields.get("q"), self.fields.get("f")
        if not q or not f or not 0 < f[2] < 1 << 30 or not 0 <= f[1] <= 62 or q[0] < 0:
            return None
        alpha, n = 1 - f[2] / (1 << 30), q[0]
        weight = -math.expm1(n * math.log(alpha)) / (1 - alpha)
        squares = -math.expm1(2 * n * math.log(alpha)) / (1 - alpha * alpha)
        return self._estimate(f[0] / (1 << f[1]), weight, weight * weight / squares if squares else 0.0)

    @property
    def latency_ticks(self) -> float | None:
        """Mean latency of correct matches."""
        y = self.fields.get("y")
        return y[1] / y[0] / 2 if y and y[0] > 0 else None

    @property
    def confusion_row(self) -> tuple[int, Numbers] | None:
        """True label's id and the counts of its row of the alignment's confusion matrix."""
        c = self.fields.get("c")
        return (c[0], c[1:]) if c and 0 <= c[0] < _LABELS_AT_MOST else None

    def _first(self, key: str) -> int | None:
        values = self.fields.get(key)
        return values[0] if values else None

    def _estimate(self, total: float, weight: float, n_eff: float) -> Estimate:
        if weight <= 0 or n_eff <= 0:
            return Estimate(None, 0.0, None, None)
        k = self.fields.get("k")
        delta = k[4] / 1e6 if k and 0 < k[4] < 1_000_000 else 0.05
        value = total / weight
        scale = math.log(2 / delta) / n_eff
        return Estimate(value, n_eff, math.sqrt(scale / 2), math.sqrt(max(0.0, 3 * value * scale)))


def parse_report(line: bytes) -> Report | None:
    """Return what a report line says; None for any other line, and for one that says nothing of use.

    Raises
    ------
    Newer
        The line is whole and of a later major version.
    """
    if not line.startswith(b"SG") or (body := unseal(line)) is None:
        return None
    magic, *words = body.rstrip(" ").split(" ")
    if magic != "SG1":
        if re.fullmatch(r"SG\d+", magic):
            raise Newer(f"the node reports in version {magic[2:]}; this streamgauge reads version 1")
        return None
    fields: dict[str, Numbers] = {}
    alarms: dict[str, Alarms] = {}
    layout: str | None = None
    row: Row | None = None
    for word in words:
        match = _FIELD.fullmatch(word)
        if match is None:
            continue
        key, text = match[1], match[2]
        if key == "h":
            layout = text if re.fullmatch(r"[0-9A-F]{8}", text) else None
        elif key == "r":
            row = _row(text)
        elif (numbers := _numbers(text)) is None:
            continue
        elif key.startswith("d.") and len(numbers) >= 3:
            alarms[key[2:]] = Alarms(*numbers[:3])
        elif len(numbers) >= _NEEDED.get(key, len(numbers) + 1):
            fields[key] = numbers
    return Report(fields, layout, row, alarms) if "n" in fields else None


def _numbers(text: str) -> Numbers | None:
    parts = text.split(",")
    if not all(_NUMBER.fullmatch(part) for part in parts):
        return None
    numbers = tuple(int(part) for part in parts)
    return numbers if all(-_LARGEST < number < _LARGEST for number in numbers) else None


def _row(text: str) -> Row | None:
    label, _, rest = text.partition(",")
    name, _, counts = rest.partition(",")
    numbers = _numbers(f"{label},{counts}")
    known = decode_name(name)
    if numbers is None or len(numbers) < 4 or known is None or not 0 <= numbers[0] < _LABELS_AT_MOST:
        return None
    return Row(numbers[0], known, *numbers[1:4])

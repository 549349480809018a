"""Page-Hinkley, DDM and ADWIN as their texts read: one record at a time, everything kept, nothing clever."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction


@dataclass
class Found:
    """An alarm: the record's index, "up" or "down", the statistic."""

    index: int
    direction: str
    value: float


def page_hinkley(
    losses: list[float],
    delta: float,
    threshold: float,
    a: float = 1.0,
    direction: str = "up",
    warmup: int = 30,
) -> list[Found]:
    """``m_t = a m_{t-1} + (x_t - mean_t - delta)``; the minimum kept, fading with the sum."""
    found = []
    n, total = 0, Fraction(0)
    m_up = min_up = m_down = min_down = 0.0
    for index, x in enumerate(losses):
        n += 1
        total += Fraction(x)
        mean = float(total / n)
        m_up = a * m_up + (x - mean - delta)
        min_up = min(a * min_up, m_up)
        m_down = a * m_down + (mean - x - delta)
        min_down = min(a * min_down, m_down)
        if n < warmup:
            continue
        alarm = None
        if direction in ("up", "both") and m_up - min_up > threshold:
            alarm = Found(index, "up", m_up - min_up)
        elif direction in ("down", "both") and m_down - min_down > threshold:
            alarm = Found(index, "down", m_down - min_down)
        if alarm:
            found.append(alarm)
            n, total = 0, Fraction(0)
            m_up = min_up = m_down = min_down = 0.0
    return found


def ddm(losses: list[float], level: float, warmup: int) -> list[Found]:
    """Alarm when p + s exceeds p_min + level * s_min, (p_min, s_min) where p + s was smallest."""
    found = []
    n, total = 0, Fraction(0)
    best: tuple[float, float] | None = None
    for index, x in enumerate(losses):
        n += 1
        total += Fraction(x)
        if n <= warmup:
            continue
        p = float(total / n)
        s = math.sqrt(max(0.0, p * (1 - p)) / n)
        if best is None or p + s < sum(best):
            best = p, s
        if p + s > best[0] + level * best[1]:
            found.append(Found(index, "up", max(0.0, p - best[0])))
            n, total, best = 0, Fraction(0), None
    return found


class Adwin:
    """The exponential histogram as lists of buckets, newest row first, each row's oldest bucket last."""

    def __init__(self, confidence: float, rows: int, per_row: int, grain: int) -> None:
        self.confidence, self.per_row, self.grain = confidence, per_row, grain
        # A bucket is the list of its records.
        self.rows: list[list[list[float]]] = [[] for _ in range(rows)]
        self.loose: list[float] = []
        self.found: list[Found] = []
        self.seen = self.whole = 0

    def take(self, x: float) -> None:
        """Add a record; where it completes a bucket, test the rows whose turn it is."""
        self.seen += 1
        self.loose.append(x)
        if len(self.loose) < self.grain:
            return
        self.rows[0].insert(0, self.loose)
        self.loose = []
        for row, buckets in enumerate(self.rows):
            if len(buckets) <= self.per_row:
                break
            if row == len(self.rows) - 1:
                buckets.pop()
            else:
                oldest, older = buckets.pop(), buckets.pop()
                self.rows[row + 1].insert(0, oldest + older)
        self.whole += 1
        for row in range(1, len(self.rows)):
            if self.whole % 2**row == 2 ** (row - 1):
                self._test(row)

    def window(self) -> list[float]:
        """All records kept, newest bucket first."""
        return [x for buckets in self.rows for bucket in buckets for x in bucket]

    def _test(self, row: int) -> None:
        everything = self.window()
        n = len(everything)
        newer = [x for buckets in self.rows[:row] for bucket in buckets for x in bucket]
        for at, bucket in enumerate(self.rows[row]):
            newer = newer + bucket
            older = everything[len(newer) :]
            if not older:
                continue
            n1, n0 = len(newer), len(older)
            rise = sum(newer) / n1 - sum(older) / n0
            m = 1 / (1 / n0 + 1 / n1)
            p = sum(everything) / n
            log = math.log(2 * n.bit_length() / self.confidence)
            if abs(rise) > math.sqrt(2 / m * max(0.0, p * (1 - p)) * log) + 2 / (3 * m) * log:
                self.found.append(Found(self.seen - 1, "up" if rise > 0 else "down", rise))
                self.rows[row] = self.rows[row][: at + 1]
                for older_row in range(row + 1, len(self.rows)):
                    self.rows[older_row] = []
                return


def adwin(
    losses: list[float], confidence: float, rows: int = 9, per_row: int = 5, grain: int = 8
) -> list[Found]:
    """All alarms of a stream."""
    detector = Adwin(confidence, rows, per_row, grain)
    for x in losses:
        detector.take(x)
    return detector.found


def faded_error(losses: list[float], alpha: float) -> list[float]:
    """S / B with ``S = L + alpha S``, ``B = 1 + alpha B``, record by record."""
    figures = []
    s = b = 0.0
    for x in losses:
        s, b = x + alpha * s, 1 + alpha * b
        figures.append(s / b)
    return figures


def windowed_error(losses: list[float], window: int) -> list[float]:
    """The mean of the last `window` losses, record by record."""
    return [sum(losses[max(0, i + 1 - window) : i + 1]) / min(window, i + 1) for i in range(len(losses))]

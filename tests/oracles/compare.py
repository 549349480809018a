"""McNemar, the lead and the Q statistic as their texts read, record by record."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass
class Test:
    """Counts, M and the first record of the present lead."""

    n01: float
    n10: float
    m: float
    since: int | None


def m_statistic(n01: float, n10: float) -> float:
    """``sign(n01 - n10) (n01 - n10)^2 / (n01 + n10)``; 0 without evidence."""
    if n01 + n10 == 0:
        return 0.0
    sign = (n01 > n10) - (n01 < n10)
    return sign * (n01 - n10) ** 2 / (n01 + n10)


def faded(losses_a: list[float], losses_b: list[float], alpha: float, chi2: float = 3.841) -> Test:
    """Faded counts."""
    n01 = n10 = m = 0.0
    since, side = None, 0
    for index, (a, b) in enumerate(zip(losses_a, losses_b, strict=True)):
        n01 = (a > b) + alpha * n01
        n10 = (b > a) + alpha * n10
        m = m_statistic(n01, n10)
        since, side = lead(m, chi2, index, since, side)
    return Test(n01, n10, m, since)


def windowed(losses_a: list[float], losses_b: list[float], window: int, chi2: float = 3.841) -> Test:
    """Counts of the last `window` records."""
    n01 = n10 = 0
    m = 0.0
    since, side = None, 0
    everything = list(zip(losses_a, losses_b, strict=True))
    for index in range(len(everything)):
        pairs = everything[max(0, index + 1 - window) : index + 1]
        n01 = sum(a > b for a, b in pairs)
        n10 = sum(b > a for a, b in pairs)
        m = m_statistic(n01, n10)
        since, side = lead(m, chi2, index, since, side)
    return Test(n01, n10, m, since)


def lead(m: float, chi2: float, index: int, since: int | None, side: int) -> tuple[int | None, int]:
    """Where the present unbroken, significant lead began, and whose it is."""
    now = 1 if m > chi2 else -1 if m < -chi2 else 0
    if now == 0:
        return None, 0
    return (since if now == side else index), now


def q(losses_a: list[float], losses_b: list[float], alpha: float) -> float:
    """``ln(S_A / S_B)`` of faded sums; less than a 10^-9th of a record is none."""
    s_a = s_b = 0.0
    for a, b in zip(losses_a, losses_b, strict=True):
        s_a = a + alpha * s_a
        s_b = b + alpha * s_b
    s_a, s_b = (s if s >= 1e-9 else 0.0 for s in (s_a, s_b))
    if s_a == s_b:
        return 0.0
    if s_b == 0:
        return math.inf
    return math.log(s_a / s_b) if s_a else -math.inf

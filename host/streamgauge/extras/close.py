"""Which alarms a node must raise, whatever it rounds: detectors that know how far off a node may be.

A node computes with 15 to 30 fraction bits. Where a decision is closer than what that rounds, node and host
may differ in it, and in all that follows. These functions say what every correct node raises, or that a
decision is too close to tell.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..drift import ADWIN, DOWN, UP, PageHinkley

Losses = npt.NDArray[np.float64]

# What the faded or windowed error on the node may be off by: S and B are cut to 14 bits and more, their
# quotient to 15.
_SMOOTHED = 2.0**-13


@dataclass(frozen=True)
class Sure:
    """Alarms as (record, direction, value), and how far a node's value of the last one may be off."""

    alarms: tuple[tuple[int, str, float], ...]
    bound: float


def page_hinkley(detector: PageHinkley, values: Losses, bits: int, smoothed: bool) -> Sure | None:
    """Follow g and how far a node's may lie from it.

    With f fraction bits the node's mean is cut (2^-f), delta rounded (2^-(f+1)), and with a < 1 the decay cut
    (2^-f; a itself is rounded to 31 bits): each record adds these to what g was off by, and where g falls to
    0 by more than it may be off, node and host agree again.
    """
    unit = 2.0**-bits
    step_error = 1.5 * unit + (2 * _SMOOTHED if smoothed else 0.0)
    if detector.fading != 1.0:
        step_error += unit + detector.threshold * 2.0**-31
    limit_error = unit
    alarms: list[tuple[int, str, float]] = []
    ways = [(name, 1.0 if name == UP else -1.0) for name in detector.directions]
    n, total, bound = 0, 0.0, 0.0
    g = [0.0] * len(ways)
    off = [0.0] * len(ways)
    for index, x in enumerate(values.tolist()):
        n += 1
        total += x
        deviation = x - total / n
        fired = None
        for k, (name, sign) in enumerate(ways):
            value = detector.fading * g[k] + sign * deviation - detector.delta
            error = detector.fading * off[k] + step_error
            if value + error <= 0:
                g[k] = off[k] = 0.0
                continue
            g[k], off[k] = max(0.0, value), error
            if n < detector.warmup:
                continue
            if abs(value - detector.threshold) <= error + limit_error:
                return None
            if value > detector.threshold and fired is None:
                fired = name, value
                bound = error
        if fired is not None:
            alarms.append((index, *fired))
            n, total = 0, 0.0
            g = [0.0] * len(ways)
            off = [0.0] * len(ways)
    return Sure(tuple(alarms), bound)


def _root_error(p: float, s: float, n: int) -> float:
    """How far a node's p + s may lie from the exact one.

    It cuts p to 20 bits; for s^2 = p (1 - p) / n it takes p to 15 bits, cuts the quotient to 30, and from
    2^16 records on divides by n with the last 8 bits cut; a root above 2^-5 has 15 bits, others 20.
    """
    square = abs(1 - 2 * p) * 2.0**-15 / n + 2.0**-30 / n + 2.0**-29
    if n >= 1 << 16:
        square += s * s / ((n >> 8) - 1) + 2.0**-28
    root = min(math.sqrt(square), square / s) if s else math.sqrt(square)
    return root + (2.0**-14 if s >= 2.0**-5 else 2.0**-19) + 2.0**-20


def ddm(level: float, warmup: int, values: Losses) -> Sure | None:
    """Follow DDM and how far a node's p + s and its limit may lie from it.

    Where it is too close to tell which record had the best level, both limits are kept.
    """
    level = round(level * 256) / 256
    alarms: list[tuple[int, str, float]] = []
    n, total = 0, 0.0
    best = low = high = math.inf
    off = 0.0  # of the best level
    rises = (0.0, 0.0)
    bound = 0.0
    for index, x in enumerate(values.tolist()):
        n += 1
        total += x
        if n <= warmup:
            continue
        p = total / n
        s = math.sqrt(max(0.0, p * (1.0 - p)) / n)
        error = _root_error(p, s, n)
        if p + s < best + error + off:
            limit = p + level * s
            wide = level * error
            if p + s < best - error - off:
                low, high = limit - wide, limit + wide
                rises = p, p
                off = error
            else:
                low, high = min(low, limit - wide), max(high, limit + wide)
                rises = min(rises[0], p), max(rises[1], p)
                off = max(off, error)
            best = min(best, p + s)
        if p + s > high + error:
            alarms.append((index, UP, max(0.0, p - rises[0])))
            bound = rises[1] - rises[0] + 2.0**-18
            n, total = 0, 0.0
            best = low = high = math.inf
        elif p + s > low - error and p + s > best + error + off:
            return None
    return Sure(tuple(alarms), bound)


class _Scaled(ADWIN):
    def __init__(self, values: Mapping[str, Any], factor: float) -> None:
        super().__init__(**values)
        self._log = self._log * factor


def adwin(values: Mapping[str, Any], losses: Losses) -> Sure | None:
    """Run ADWIN with its limit, with one that a node's never reaches, and with one it always does.

    The node's limit is met to within a hundredth and an eighth of a record. L raised by a share c raises the
    limit by at least c / 2 of it and by 2 c L / 3 records, L being at least ln(4 / confidence).
    """
    least = math.log(4 / values["confidence"])
    share = 0.0202 + 0.1875 / least
    found = []
    for factor in (1.0, 1.0 + share, 1.0 - share):
        detector = _Scaled(values, factor)
        detector.update(losses)
        found.append([(alarm.index, alarm.direction) for alarm in detector.alarms])
        if factor == 1.0:
            alarms = tuple((a.index, a.direction, float(a.value)) for a in detector.alarms)
    return Sure(alarms, 1e-12) if found[0] == found[1] == found[2] else None


WAYS = {1: UP, 2: DOWN}

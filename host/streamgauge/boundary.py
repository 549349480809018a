"""How well the places where segments begin and end are found: hits within a tolerance, and median deviations.

Conventions
-----------
A **boundary** is any time at which a segment starts or ends, each counted once. Times are integer ticks
(exact) or floats; a tolerance is in the same unit and inclusive: a hit is ``|truth - prediction| <=
tolerance``. With decimals a difference of exactly the tolerance depends on binary rounding; with ticks it
does not.

`trim` leaves the first and the last boundary of each side out: a recording's start and end are given, not
found.

Metrics
-------
- `detection`: precision, recall and F, each boundary matched at most once, as many as possible.
- `deviation`: median distance from each true boundary to the nearest predicted one, and the other way round.

References: Turnbull et al., ISMIR 2007 (detection, deviation); numbers as ``mir_eval.segment`` gives them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .errors import InputError
from .hierarchy import f_measure
from .hierarchy_frames import Times, as_intervals


@dataclass(frozen=True)
class Detection:
    """Boundaries found within one tolerance.

    Attributes
    ----------
    tolerance : int or float
        Inclusive, in the unit of the times.
    precision, recall, f : float
        0 where either side has no boundary, as mir_eval does.
    hits, truth, prediction : int
        Size of the largest matching, and the number of boundaries of each side.
    """

    tolerance: float
    precision: float
    recall: float
    f: float
    hits: int
    truth: int
    prediction: int


@dataclass(frozen=True)
class Deviation:
    """Median distances to the nearest boundary of the other side, None where either side has none.

    Attributes
    ----------
    truth_to_prediction, prediction_to_truth : float or None
        In the unit of the times.
    """

    truth_to_prediction: float | None
    prediction_to_truth: float | None


def boundaries(segments: Any, *, trim: bool = False, side: str = "segments") -> Times:
    """Times at which segments start or end, ascending, each once.

    Parameters
    ----------
    segments : array of shape (n, 2), or an object with ``start`` and ``end``
        Half-open ``[start, end)``.
    trim : bool
        Leave out the first and the last.
    side : str
        What to call the segments in an error.

    Returns
    -------
    ndarray, shape (k,)

    Raises
    ------
    InputError
        A shape other than (n, 2), a time that is no number, or a segment without length.
    """
    array = as_intervals(segments, side)
    empty = array[:, 1] <= array[:, 0]
    if empty.any():
        bad = int(np.argmax(empty))
        raise InputError(f"{side}, segment {bad + 1}: [{array[bad, 0]}, {array[bad, 1]}) has no length")
    times = np.unique(array)
    return times[1:-1] if trim else times


def count_hits(truth: Times, prediction: Times, tolerance: float) -> int:
    """Size of the largest one-to-one matching of ascending times at most `tolerance` apart.

    Taking the earliest pair that fits is optimal: with one tolerance for all, a later partner can never serve
    a boundary whose earlier partner would be left over.
    """
    a, b = truth.tolist(), prediction.tolist()
    i = j = hits = 0
    while i < len(a) and j < len(b):
        distance = a[i] - b[j]
        if distance > tolerance:
            j += 1
        elif -distance > tolerance:
            i += 1
        else:
            hits += 1
            i += 1
            j += 1
    return hits


def detection(
    truth: Any, prediction: Any, tolerances: float | Iterable[float], *, trim: bool = False, beta: float = 1.0
) -> list[Detection]:
    """Precision, recall and F of boundaries at each tolerance.

    Parameters
    ----------
    truth, prediction : segments
        See `boundaries`.
    tolerances : number or iterable of numbers
        In the unit of the times; inclusive.
    trim : bool
        Leave out the first and the last boundary of each side.
    beta : float
        Weight of recall in F.

    Returns
    -------
    list of Detection
        One a tolerance, in the given order.

    Raises
    ------
    InputError
        A negative tolerance, or segments that `boundaries` refuses.
    """
    a = boundaries(truth, trim=trim, side="truth")
    b = boundaries(prediction, trim=trim, side="prediction")
    found = []
    for tolerance in tolerances if isinstance(tolerances, Iterable) else [tolerances]:
        if not tolerance >= 0:
            raise InputError(f"tolerance is {tolerance} (expected 0 or more)")
        hits = count_hits(a, b, tolerance)
        precision = hits / len(b) if len(a) and len(b) else 0.0
        recall = hits / len(a) if len(a) and len(b) else 0.0
        f = f_measure(precision, recall, beta)
        found.append(Detection(tolerance, precision, recall, f, hits, len(a), len(b)))
    return found


def _median_to_nearest(times: Times, others: Times) -> float:
    after = np.searchsorted(others, times)
    left = np.abs(times - others[np.maximum(after - 1, 0)])
    right = np.abs(times - others[np.minimum(after, len(others) - 1)])
    return float(np.median(np.minimum(left, right)))


def deviation(truth: Any, prediction: Any, *, trim: bool = False) -> Deviation:
    """Median distance to the nearest boundary of the other side, both ways.

    Parameters
    ----------
    truth, prediction : segments
        See `boundaries`.
    trim : bool
        Leave out the first and the last boundary of each side.

    Returns
    -------
    Deviation
        Both None where either side has no boundary.
    """
    a = boundaries(truth, trim=trim, side="truth")
    b = boundaries(prediction, trim=trim, side="prediction")
    if len(a) == 0 or len(b) == 0:
        return Deviation(None, None)
    return Deviation(_median_to_nearest(a, b), _median_to_nearest(b, a))

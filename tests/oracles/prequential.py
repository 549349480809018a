"""Prequential error, one record after the other.

Source: Gama, Sebastião, Rodrigues, *On evaluating stream learning algorithms* (2013). A record is its loss,
or None where the truth is not known. Use `Fraction` losses and factors for exact results, `Decimal` for long
streams.
"""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple

UNKNOWN = 255


class Assessed(NamedTuple):
    """The three estimates after the last record; None where no record had a loss."""

    count: int
    unlabelled: int
    mean: Any
    window: Any
    window_count: int
    fading: Any
    fading_n_eff: Any


def prequential(losses: list[Any], *, window: int, alpha: Any) -> Assessed:
    zero = alpha * 0
    count = unlabelled = 0
    total = faded = weight = squares = zero
    last: deque[Any] = deque(maxlen=window)
    for loss in losses:
        if loss is None:
            unlabelled += 1
            continue
        count += 1
        total += loss
        last.append(loss)
        faded = loss + alpha * faded
        weight = 1 + alpha * weight
        squares = 1 + alpha * alpha * squares
    if count == 0:
        return Assessed(0, unlabelled, None, None, 0, None, None)
    return Assessed(
        count,
        unlabelled,
        total / count,
        sum(last, zero) / len(last),
        len(last),
        faded / weight,
        weight * weight / squares,
    )


def losses(truth: list[int], prediction: list[int], slice_ticks: int) -> list[int | None]:
    """0-1 loss of each slice, sampled at its first tick; None for UNKNOWN truth."""
    return [
        None if truth[t] == UNKNOWN else int(truth[t] != prediction[t])
        for t in range(0, len(truth), slice_ticks)
    ]

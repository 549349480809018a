"""The slice categories, tick by tick.

Source: van Kasteren, Alemdar, Ersoy, *Effective performance metrics for evaluating activity recognition
methods* (2011). Truth and prediction are lists with one label a tick; 0 is NULL, 255 in the truth is UNKNOWN.
"""

from __future__ import annotations

from fractions import Fraction

NULL = 0
UNKNOWN = 255

NAMES = ("correct", "S", "D", "U", "F", "I", "O", "M", "unknown")


def categories(truth: list[int], prediction: list[int]) -> list[str]:
    """The category of every tick."""
    assert len(truth) == len(prediction)
    found = []
    for t, (g, p) in enumerate(zip(truth, prediction, strict=True)):
        if g == UNKNOWN:
            found.append("unknown")
        elif g == p:
            found.append("correct")
        elif g != NULL and p != NULL:
            found.append("S")
        elif p == NULL:
            found.append(_position(truth, prediction, truth, t, "DUF"))
        else:
            found.append(_position(truth, prediction, prediction, t, "IOM"))
    return found


def _position(truth: list[int], prediction: list[int], segments_of: list[int], t: int, names: str) -> str:
    """Where tick t lies among its segment's ticks where both agree: none, an end, between."""
    whole, end, between = names
    before = _agrees(truth, prediction, segments_of, t, -1)
    after = _agrees(truth, prediction, segments_of, t, +1)
    if before and after:
        return between
    return end if before or after else whole


def _agrees(truth: list[int], prediction: list[int], segments_of: list[int], t: int, step: int) -> bool:
    label = segments_of[t]
    while 0 <= t < len(truth) and segments_of[t] == label and truth[t] != UNKNOWN:
        if truth[t] == prediction[t]:
            return True
        t += step
    return False


def counts(truth: list[int], prediction: list[int], labels: int) -> dict[str, list[int]]:
    """Ticks by label: TP, SG, D, U, F, NG of the truth's label, SI, I, O, M, NI of the predicted."""
    found = {name: [0] * labels for name in ("TP", "SG", "SI", "D", "U", "F", "I", "O", "M", "NG", "NI")}
    for g, p, category in zip(truth, prediction, categories(truth, prediction), strict=True):
        if category == "unknown":
            continue
        found["NG"][g] += 1
        found["NI"][p] += 1
        if category == "correct":
            found["TP"][g] += 1
        elif category == "S":
            found["SG"][g] += 1
            found["SI"][p] += 1
        elif category in "DUF":
            found[category][g] += 1
        else:
            found[category][p] += 1
    return found


def totals(truth: list[int], prediction: list[int]) -> dict[str, int]:
    """Ticks in each category over all labels, UNKNOWN ones left out."""
    found = categories(truth, prediction)
    return {name: found.count(name) for name in NAMES if name != "unknown"}


def precision_recall(
    truth: list[int], prediction: list[int], labels: int, include_null: bool = True
) -> tuple[Fraction | None, Fraction | None]:
    """Precision and recall averaged over labels, with the conventions for labels that are absent."""
    c = counts(truth, prediction, labels)
    precisions, recalls = [], []
    for label in range(0 if include_null else 1, labels):
        if c["NI"][label] > 0:
            precisions.append(Fraction(c["TP"][label], c["NI"][label]))
        elif c["NG"][label] > 0:
            precisions.append(Fraction(0))
        if c["NG"][label] > 0:
            recalls.append(Fraction(c["TP"][label], c["NG"][label]))
    return (
        sum(precisions, Fraction(0)) / len(precisions) if precisions else None,
        sum(recalls, Fraction(0)) / len(recalls) if recalls else None,
    )

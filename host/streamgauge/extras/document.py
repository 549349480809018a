"""These figures in the JSON document, and what its keys mean."""

from __future__ import annotations

import math
from typing import Any

from ..compare import McNemar
from .figures import Extras

_TESTS = (
    ("faded", "with fading"),
    ("windowed", "of the last records"),
    ("overall", "of all records"),
)

KEYS: tuple[tuple[str, str], ...] = (
    ("drift", "null where a recording has too many records; so are the next ones"),
    ("drift.<detector>.settings", "of page_hinkley always, of ddm and adwin where the profile has them on"),
    ("drift.<detector>.alarms[].record", "records with truth before the one that raised it"),
    ("drift.<detector>.alarms[].tick", "where that one begins"),
    ("drift.<detector>.alarms[].direction", "up: errors grew; down: they fell"),
    (
        "drift.<detector>.alarms[].value",
        "page_hinkley: rise summed up; ddm: rise of the error; adwin: new mean less old",
    ),
    ("forgetting.alpha", "fading factor a record"),
    ("forgetting.count", "records with truth"),
    ("forgetting.unlabelled", "records without"),
    ("forgetting.weight", "sum of the matrix, in faded records"),
    ("forgetting.matrix[][]", "faded records [truth][prediction] in the order of labels"),
    ("forgetting.accuracy", ""),
    ("forgetting.kappa", "accuracy beyond chance; null where chance agreement is certain"),
    ("forgetting.precision", "mean over labels with half a faded record or more"),
    ("forgetting.recall", "mean over labels"),
    ("forgetting.f1", "harmonic mean of these two"),
    ("forgetting.per_label.<label>.support", "faded records of the truth"),
    ("forgetting.per_label.<label>.precision", ""),
    ("forgetting.per_label.<label>.recall", ""),
    ("forgetting.per_label.<label>.f1", ""),
    ("compare", "null without a second recogniser"),
    ("compare.names[]", "the prediction (A) and the second one (B)"),
    ("compare.records", "records with truth"),
    ("compare.verdict", "which is ahead, since when and how surely, in words"),
    ("compare.errors[]", "faded error of each"),
    ("compare.q", "ln of the quotient of the faded losses, above 0: B is ahead; null where one has none"),
    ("compare.alpha", "fading factor a record"),
    ("compare.window", "records the window holds"),
    *(
        (f"compare.{test}.{name}", what if name in ("since", "ahead") else f"{what} {of}")
        for test, of in _TESTS
        for name, what in (
            ("n01", "only A wrong,"),
            ("n10", "only B wrong,"),
            ("discordant", "both together,"),
            ("m", "McNemar's M, above 0: B is ahead,"),
            ("p", "chance of an M as large between equals,"),
            ("level", "0.99, 0.95, or 0 where not significant,"),
            ("ahead", "name of the one with fewer errors of its own; null if level"),
            ("since", "first record of the present significant lead; null without one"),
        )
    ),
    ("reliability", "null without confidences"),
    ("reliability.alpha", "fading factor a record; 1 forgets nothing"),
    ("reliability.labelled", "records with truth"),
    ("reliability.unlabelled", "records without"),
    ("reliability.calibration_error", "mean distance of confidence and share of right labels, by bin"),
    (
        "reliability.estimate.value",
        "accuracy of the records without truth; estimate is null without any",
    ),
    ("reliability.estimate.low", "bound"),
    ("reliability.estimate.high", "bound"),
    ("reliability.estimate.unsupported", "share of these records whose bin has no truth"),
    ("reliability.bins[].labelled", "faded records with truth of the bin; bins share out 0 to 255"),
    ("reliability.bins[].right", "of them right"),
    ("reliability.bins[].confidence", "sum of their confidences, 0 to 255 each"),
    ("reliability.bins[].without", "faded records without truth"),
    ("holdout", "null without a holdout set"),
    ("holdout.size", "items"),
    ("holdout.scored", "scorings; the last ones are listed"),
    ("holdout.half_width", "Hoeffding half-width of an accuracy"),
    ("holdout.beyond", "scorings after the last record, left out"),
    ("holdout.scores[].records", "records with truth before it"),
    ("holdout.scores[].correct", "items recognised"),
    ("holdout.scores[].accuracy", "share of the items"),
    ("holdout.scores[].prequential", "faded error of the stream at that moment"),
)

_PARTS = ("drift", "forgetting", "compare", "reliability", "holdout")


def extras_document(extras: Extras | None, labels: tuple[str, ...]) -> dict[str, Any]:
    """Return the entries of the JSON document.

    Parameters
    ----------
    extras : Extras or None
    labels : tuple of str
        Names by label id.
    """
    if extras is None:
        return dict.fromkeys(_PARTS)
    return {
        "drift": {
            name: {"settings": dict(found.settings), "alarms": [vars(event) for event in found.alarms]}
            for name, found in extras.drift.items()
        },
        "forgetting": _forgetting(extras, labels),
        "compare": _compare(extras),
        "reliability": _reliability(extras),
        "holdout": _holdout(extras),
    }


def _forgetting(extras: Extras, labels: tuple[str, ...]) -> dict[str, Any]:
    found = extras.forgetting
    scores = found.scores
    return {
        "alpha": found.alpha,
        "count": found.count,
        "unlabelled": found.unlabelled,
        "weight": scores.weight,
        "matrix": found.matrix.tolist(),
        "accuracy": scores.accuracy,
        "kappa": scores.kappa,
        "precision": scores.mean_precision,
        "recall": scores.mean_recall,
        "f1": scores.mean_f1,
        "per_label": {
            name: {
                "support": scores.support[i],
                "precision": scores.precision[i],
                "recall": scores.recall[i],
                "f1": scores.f1[i],
            }
            for i, name in enumerate(labels)
        },
    }


def _compare(extras: Extras) -> dict[str, Any] | None:
    found = extras.compare
    if found is None:
        return None
    return {
        "names": list(found.names),
        "records": found.records,
        "verdict": found.verdict(),
        "errors": list(found.errors),
        "q": found.q if math.isfinite(found.q) else None,
        "alpha": found.alpha,
        "window": found.window,
        **{test: _test(getattr(found, test)) for test, _ in _TESTS},
    }


def _test(test: McNemar) -> dict[str, Any]:
    return {
        "n01": test.n01,
        "n10": test.n10,
        "discordant": test.discordant,
        "m": test.value,
        "p": test.p_value,
        "level": test.level,
        "ahead": test.ahead,
        "since": test.since,
    }


def _reliability(extras: Extras) -> dict[str, Any] | None:
    found = extras.reliability
    if found is None:
        return None
    table, estimate = found.table, found.estimate
    return {
        "alpha": found.alpha,
        "labelled": found.labelled,
        "unlabelled": found.unlabelled,
        "calibration_error": found.calibration_error,
        "estimate": None
        if estimate is None
        else {name: getattr(estimate, name) for name in ("value", "low", "high", "unsupported")},
        "bins": [
            {"labelled": a, "right": b, "confidence": c, "without": d}
            for a, b, c, d in zip(
                table.labelled.tolist(),
                table.right.tolist(),
                table.confidence.tolist(),
                table.unlabelled.tolist(),
                strict=True,
            )
        ],
    }


def _holdout(extras: Extras) -> dict[str, Any] | None:
    found = extras.holdout
    if found is None:
        return None
    return {
        "size": found.size,
        "scored": found.scored,
        "half_width": found.half_width,
        "beyond": found.beyond,
        "scores": [
            {
                "records": score.records,
                "correct": score.correct,
                "accuracy": score.accuracy,
                "prequential": score.prequential,
            }
            for score in found.scores
        ],
    }

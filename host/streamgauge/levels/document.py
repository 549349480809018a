"""The figures of two hierarchies as a JSON document; `KEYS` says what its keys mean."""

from __future__ import annotations

from typing import Any

from ..hierarchy import Ranking, TMeasure
from .figures import LevelFigures

_SCORES = (("precision", ""), ("recall", ""), ("f", "harmonic mean of these two"))
_RANKINGS = (("of_truth", "recall"), ("of_prediction", "precision"))
_MEASURES = (
    ("reduced", "T-measure over pairs of frames one level apart in the reference"),
    ("full", "T-measure over pairs any number of levels apart"),
    ("labels", "L-measure: labels instead of segments, without a window"),
    ("gained", "T-measure with the given gain per level gap; null without one"),
)

KEYS: tuple[tuple[str, str], ...] = (
    ("hierarchy.truth[]", "files, coarse to fine"),
    ("hierarchy.prediction[]", "files, coarse to fine"),
    ("hierarchy.tick_seconds", "length of a tick; null where the files count in a unit of their own"),
    ("hierarchy.span[]", "first tick and end"),
    ("hierarchy.gaps", "some level leaves time without a segment"),
    ("hierarchy.frame_ticks", "length of a frame"),
    ("hierarchy.window_ticks", "to each side of a frame; null compares with all"),
    ("hierarchy.rounding", "ticks, or mir_eval"),
    ("hierarchy.depth", "coarsest levels used; null is all"),
    ("hierarchy.gain[]", "as given; null without one"),
    ("hierarchy.trim", "boundaries without the first and last of each side"),
    ("hierarchy.frames", "frames of the span"),
    ("hierarchy.skipped", "rows left out (--lenient)"),
    *(
        key
        for measure, what in _MEASURES
        for key in (
            *((f"hierarchy.{measure}.{name}", note or what) for name, note in _SCORES),
            *(
                (f"hierarchy.{measure}.{side}.{name}", f"{note} behind the {figure}")
                for side, figure in _RANKINGS
                for name, note in (
                    ("queries", "frames with comparable pairs"),
                    ("pairs", "comparable pairs"),
                    ("concordant", "pairs ordered alike"),
                )
            ),
        )
    ),
    ("hierarchy.levels[].truth", "number of the true level, 1 the coarsest"),
    ("hierarchy.levels[].prediction", "number of the predicted level beside it"),
    *((f"hierarchy.levels[].auc.{name}", note or "flat AUC") for name, note in _SCORES),
    ("hierarchy.levels[].boundaries[].tolerance_ticks", "inclusive"),
    *((f"hierarchy.levels[].boundaries[].{name}", note or "of boundaries") for name, note in _SCORES),
    ("hierarchy.levels[].boundaries[].hits", "largest one-to-one matching"),
    ("hierarchy.levels[].boundaries[].truth", "true boundaries"),
    ("hierarchy.levels[].boundaries[].prediction", "predicted boundaries"),
    ("hierarchy.levels[].deviation.truth_to_prediction", "median distance to the nearest, in ticks"),
    ("hierarchy.levels[].deviation.prediction_to_truth", "the same the other way round"),
)


def figures_document(found: LevelFigures) -> dict[str, Any]:
    """Return the figures as plain dicts, lists, texts and numbers."""
    levels, settings = found.levels, found.settings
    return {
        "truth": list(levels.truth_files),
        "prediction": list(levels.prediction_files),
        "tick_seconds": None if levels.tick is None else float(levels.tick),
        "span": list(levels.span),
        "gaps": levels.gaps,
        "frame_ticks": settings.frame,
        "window_ticks": settings.window,
        "rounding": settings.rounding,
        "depth": settings.depth,
        "gain": None if settings.gain is None else list(settings.gain),
        "trim": settings.trim,
        "frames": found.full.frames,
        "skipped": levels.notes.skipped,
        "reduced": _measure(found.reduced),
        "full": _measure(found.full),
        "labels": _measure(found.labels),
        "gained": None if found.gained is None else _measure(found.gained),
        "levels": [
            {
                "truth": pair.truth,
                "prediction": pair.prediction,
                "auc": _scores(pair.auc),
                "boundaries": [
                    {
                        "tolerance_ticks": hit.tolerance,
                        **_scores(hit),
                        "hits": hit.hits,
                        "truth": hit.truth,
                        "prediction": hit.prediction,
                    }
                    for hit in pair.detections
                ],
                "deviation": vars(pair.deviation),
            }
            for pair in found.pairs
        ],
    }


def _scores(found: Any) -> dict[str, float]:
    return {"precision": found.precision, "recall": found.recall, "f": found.f}


def _measure(found: TMeasure) -> dict[str, Any]:
    return {
        **_scores(found),
        "of_truth": _ranking(found.of_truth),
        "of_prediction": _ranking(found.of_prediction),
    }


def _ranking(found: Ranking) -> dict[str, int]:
    return {"queries": found.queries, "pairs": found.pairs, "concordant": found.concordant}

"""The report on two hierarchies, for people and as a JSON document (`KEYS` says what its keys mean)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from .. import __version__, formats
from ..hierarchy import Ranking, TMeasure
from ..node_run import NodeRun
from ..parity import Parity
from ..report import engine_text, verdict
from ..report.grid import Grid, facts, indented, title
from ..report.node import memory_section
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
    ("streamgauge", "version of the program"),
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
    ("node.engine", "node is null without --node; the other keys are those of `assess --json-keys`"),
    ("node.version", "of its MicroPython"),
    ("node.state_bytes", "taken by its state"),
    ("node.ledger_bytes", "of it the ledger's arrays"),
    ("node.code_bytes", "taken by its code, machine code included"),
    ("node.allocated_by_updates", "bytes asked for by all updates together"),
    ("node.updates", "calls of its entries"),
    ("node.raw", "all its figures as whole numbers"),
    ("parity.compared", "numbers compared; parity is null without --node"),
    ("parity.different", "numbers that do not agree"),
    ("parity.worst", "largest share of its bound that a rounded number is off by"),
    ("parity.first[]", "the first that do not agree, in words"),
    ("parity.remarks[]", "what was not compared, and why"),
)


def document(
    found: LevelFigures, node: NodeRun | None = None, parity: Parity | None = None
) -> dict[str, Any]:
    """Return the report as plain dicts, lists, texts and numbers."""
    levels, settings = found.levels, found.settings
    return {
        "streamgauge": __version__,
        "hierarchy": {
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
        },
        "node": None if node is None else _node(node),
        "parity": None
        if parity is None
        else {
            "compared": parity.compared,
            "different": parity.different,
            "worst": parity.worst,
            "first": [str(difference) for difference in parity.first],
            "remarks": list(parity.remarks),
        },
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


def _node(node: NodeRun) -> dict[str, Any]:
    return {
        "engine": node.engine,
        "version": node.version,
        "state_bytes": node.memory.state,
        "ledger_bytes": node.memory.ledger,
        "code_bytes": node.memory.code,
        "allocated_by_updates": node.memory.allocated_by_updates,
        "updates": node.updates,
        "raw": node.raw,
    }


def text(found: LevelFigures, node: NodeRun | None = None, parity: Parity | None = None) -> str:
    """Return the report as JSON text."""
    return json.dumps(document(found, node, parity), indent=1, allow_nan=False, ensure_ascii=False)


def key_table() -> str:
    """Return `KEYS` as text, one key a line."""
    width = max(len(key) for key, _ in KEYS)
    return "\n".join(f"{key:<{width}}  {what}".rstrip() for key, what in KEYS)


def sections(
    found: LevelFigures, node: NodeRun | None, parity: Parity | None, profile: str, width: int
) -> Iterator[RenderableType]:
    """The report's parts.

    Parameters
    ----------
    found : LevelFigures
    node, parity
        Both None where the host worked alone.
    profile : str
        The memory profile's name.
    width : int
        Columns there are.
    """
    yield from _heading(found, width)
    window = found.settings.window
    around = "the whole span" if window is None else f"± {_time(window, found)}"
    yield title("Hierarchy", f"which frames belong together, GAUC, {around}")
    yield from _measures(found, width)
    yield title("Boundaries", "level by level")
    yield from _boundaries(found, width)
    if node is not None:
        yield title("Node memory", engine_text(node, profile))
        yield from memory_section(node, width)
    if parity is not None:
        yield title("Parity", "the node's numbers against the host's and its model's")
        yield from verdict(parity)


def _time(ticks: float | None, found: LevelFigures) -> str:
    tick = found.levels.tick
    if tick is None and ticks is not None:
        return f"{formats.number(ticks)} ticks"
    return formats.duration(ticks, None if tick is None else float(tick))


def _heading(found: LevelFigures, width: int) -> Iterator[RenderableType]:
    levels = found.levels
    yield Text.assemble(
        ("streamgauge  ", "bold cyan"),
        (f"{len(levels.prediction)} levels", "bold"),
        " of the prediction against ",
        (f"{len(levels.truth)} levels", "bold"),
        " of the truth",
    )
    yield facts(
        width,
        ("", _time(levels.span[1] - levels.span[0], found)),
        ("frame", _time(found.settings.frame, found)),
        ("frames", formats.count(found.full.frames)),
        ("rounding", found.settings.rounding),
        ("gaps", "yes" if levels.gaps else "no"),
        ("skipped", formats.count(levels.notes.skipped)),
    )
    for line in (*levels.notes.skipped_rows, *levels.notes.warnings):
        yield Text(f"note: {line}", "yellow")


def _measures(found: LevelFigures, width: int) -> Iterator[RenderableType]:
    grid = Grid("", "precision", "recall", "F", "frames scored", "pairs", left=(0,), drop=(5, 4))
    for name, measure in (
        ("T-measure, reduced", found.reduced),
        ("T-measure, full", found.full),
        ("T-measure, own gain", found.gained),
        ("L-measure (no window)", found.labels),
    ):
        if measure is not None:
            grid.add(
                name,
                f"{measure.precision:.4f}",
                f"{measure.recall:.4f}",
                Text(f"{measure.f:.4f}", "bold"),
                formats.count(measure.of_truth.queries),
                formats.count(measure.of_truth.pairs),
            )
    yield indented(grid.fit(width - 2))


def _boundaries(found: LevelFigures, width: int) -> Iterator[RenderableType]:
    grid = Grid("levels", "within", "precision", "recall", "F", "hits", "true", "predicted", left=(0,))
    for pair in found.pairs:
        for hit in pair.detections:
            grid.add(
                f"{pair.truth} and {pair.prediction}",
                _time(hit.tolerance, found),
                f"{hit.precision:.4f}",
                f"{hit.recall:.4f}",
                Text(f"{hit.f:.4f}", "bold"),
                *map(formats.count, (hit.hits, hit.truth, hit.prediction)),
            )
    yield indented(grid.fit(width - 2))
    yield Text()
    grid = Grid("levels", "flat AUC F", "median to prediction", "median to truth", left=(0,))
    for pair in found.pairs:
        grid.add(
            f"{pair.truth} and {pair.prediction}",
            f"{pair.auc.f:.4f}",
            _time(pair.deviation.truth_to_prediction, found),
            _time(pair.deviation.prediction_to_truth, found),
        )
    yield indented(grid.fit(width - 2))

"""The report as one JSON document. `KEYS` documents every key; `streamgauge assess --json-keys` prints it.

Keys are stable: new ones may come, none changes its meaning. `null` is what a report prints as ``-``: a
figure over nothing. Times and lengths are in ticks; ``recording.tick_seconds`` says how long a tick is.
"""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from . import __version__
from .extras.document import KEYS as EXTRAS_KEYS
from .extras.document import extras_document
from .levels.document import KEYS as LEVELS_KEYS
from .levels.document import figures_document
from .outcome import Outcome
from .prequential import Estimate
from .scores import Stat

SCHEMA = 1

# <label> stands for each label's name, [] for the items of a list.
KEYS: tuple[tuple[str, str], ...] = (
    ("streamgauge", "version of the program"),
    ("schema", "version of this document; a change of meaning would raise it"),
    ("recording.truth", "file, as it was named"),
    ("recording.prediction", "file, as it was named"),
    ("recording.span[]", "first tick and end of the assessed time"),
    ("recording.tick_seconds", "length of a tick; null where the files count in a unit of their own"),
    ("recording.slice_ticks", "length of a slice"),
    ("recording.closed", "the rows meant [start, end]"),
    ("recording.origin", "time of tick 0 where the files hold timestamps"),
    ("recording.flattened.truth", "rows that began while an earlier one of the file still ran"),
    ("recording.flattened.prediction", "the same of the prediction"),
    ("recording.skipped", "rows left out because they could not be used (--lenient)"),
    ("recording.skipped_rows[]", "why, for the first of them"),
    ("recording.rounded_times", "starts and ends that moved to the nearest tick"),
    ("recording.warnings[]", "readings that may be a mistake"),
    ("profile", "memory profile: window, fading factor and bounds come from it, and the node's room"),
    ("notes[]", "what else the reader should know"),
    ("labels[]", "names by label id, NULL first"),
    ("alignment.distance", "SLTSS distance"),
    ("alignment.cost", "of it, the sum of 1 - IoU over matches of one label"),
    ("alignment.forced", "decisions the node had to take too early; 0 without a node: the host never has to"),
    ("alignment.segments.truth", "segments aligned, NULL included"),
    ("alignment.segments.prediction", "the same of the prediction"),
    ("alignment.unmatched.truth", "of these without a match"),
    ("alignment.unmatched.prediction", "of these without a match"),
    (
        "alignment.confusion[][]",
        "segments [truth][prediction] in the order of labels; row 0 invented, column 0 missed",
    ),
    ("alignment.accuracy", "share of the confusion matrix on its diagonal"),
    ("alignment.maa", "mean over labels of one label against all others"),
    ("alignment.map", "mean precision over labels, without NULL"),
    ("alignment.mar", "mean recall over labels, without NULL"),
    ("alignment.maf1", "harmonic mean of these two"),
    ("alignment.latency.count", "correct matches, without NULL"),
    ("alignment.latency.mean", "middle of the prediction less middle of the truth; negative is early"),
    ("alignment.latency.std", "spread (of the population)"),
    ("alignment.latency.min", "earliest"),
    ("alignment.latency.max", "latest"),
    *(
        (f"alignment.{name}.{part}", what)
        for name, what in (
            ("early", "of the latencies below 0"),
            ("late", "of the latencies above 0"),
            ("onset_latency", "start of the prediction less start of the truth"),
            ("offset_latency", "end less end"),
            ("overlap", "time common to both"),
            ("prediction_duration", "length of the prediction"),
            ("iou", "overlap by union"),
        )
        for part in ("count", "mean", "std", "min", "max")
    ),
    ("alignment.repetitions.split", "unmatched predictions inside a truth that has its match"),
    ("alignment.repetitions.merge", "unmatched truths inside a prediction that has its match"),
    ("alignment.repetitions.total", "both"),
    ("alignment.per_label.<label>.tp", "correct matches"),
    ("alignment.per_label.<label>.fp", "predictions that were invented or meant something else"),
    ("alignment.per_label.<label>.fn", "truths that were missed or called something else"),
    ("alignment.per_label.<label>.tn", "the rest of the confusion matrix"),
    ("alignment.per_label.<label>.precision", ""),
    ("alignment.per_label.<label>.recall", ""),
    ("alignment.per_label.<label>.f1", ""),
    ("alignment.per_label.<label>.split", "repetitions"),
    ("alignment.per_label.<label>.merge", "repetitions"),
    ("slices.known", "ticks assessed"),
    ("slices.unknown", "ticks of unknown truth"),
    ("slices.include_null", "whether NULL takes part in averages"),
    ("slices.weights", "weight of each label in averages, NULL's first; null is a plain mean"),
    ("slices.accuracy", "share of the known ticks that are correct"),
    ("slices.precision", "mean over labels"),
    ("slices.recall", "mean over labels"),
    ("slices.f1", "harmonic mean of these two"),
    *(
        (f"slices.totals.{name}", f"ticks of {what}")
        for name, what in (
            ("correct", "one label in both"),
            ("S", "substitution"),
            ("D", "deletion"),
            ("I", "insertion"),
            ("U", "underfill"),
            ("O", "overfill"),
            ("F", "fragmentation"),
            ("M", "merge"),
        )
    ),
    *(
        (f"slices.{row}.{column}", what)
        for row, what in (
            ("ground", "share of the truth's ticks, mean over labels"),
            ("inferred", "share of the prediction's ticks, mean over labels"),
            ("average", "harmonic mean of these two"),
        )
        for column in ("correct", "substitution", "occurrence", "timing", "segmentation")
    ),
    ("slices.per_label.<label>.ground", "known ticks in the truth"),
    ("slices.per_label.<label>.inferred", "known ticks in the prediction"),
    ("slices.per_label.<label>.correct", "ticks in both"),
    ("slices.per_label.<label>.S_ground", "ticks called something else"),
    ("slices.per_label.<label>.S_inferred", "ticks that were something else"),
    *((f"slices.per_label.<label>.{name}", "ticks in this category") for name in "DUFIOM"),
    ("slices.per_label.<label>.precision", ""),
    ("slices.per_label.<label>.recall", ""),
    ("slices.per_label.<label>.f1", ""),
    ("prequential.count", "records with truth"),
    ("prequential.unlabelled", "records without"),
    ("prequential.delta", "probability that a bound fails"),
    ("prequential.loss_max", "largest possible loss"),
    *(
        (f"prequential.{name}.{part}", what)
        for name in ("mean", "window", "fading")
        for part, what in (
            ("value", "mean loss"),
            ("n_eff", "records behind it"),
            ("hoeffding", "half-width of the interval around it"),
            ("chernoff", "half-width, narrower for rare errors"),
        )
    ),
    ("prequential.window.size", "records the window holds"),
    ("prequential.fading.alpha", "fading factor a record"),
    *EXTRAS_KEYS,
    ("hierarchy", "null without levels (--truth-level, --prediction-level)"),
    *LEVELS_KEYS,
    ("node.engine", "x64, arm or a board's port; node is null without --node"),
    ("node.version", "of its MicroPython"),
    ("node.bits", "width of its machine word"),
    ("node.heap_bytes", "heap it was given"),
    ("node.code_bytes", "of the heap taken by its code (on a board machine code lies in the heap too)"),
    ("node.state_bytes", "taken by its state"),
    ("node.high_water_bytes", "most of the heap that was in use, with the program that feeds it"),
    ("node.on_board_bytes", "the same with the machine code that unix builds keep beside their heap"),
    ("node.allocated_by_updates", "bytes asked for by all updates together"),
    ("node.machine_code_bytes", "machine code of its kernels; unix builds keep it beside the heap"),
    ("node.ledger_bytes", "of the state, the ledger's arrays as 32-bit nodes hold them"),
    ("node.updates", "calls of its entries"),
    (
        "node.fed",
        "how labels were told: records (segment by segment), slices (batches of labels) or samples (one by one)",
    ),
    ("node.unassessed_ticks", "time it could not assess"),
    ("node.raw", "all its figures as whole numbers (DESIGN.md)"),
    ("parity.compared", "numbers compared; parity is null without --node"),
    ("parity.with_host", "of these with the host's"),
    ("parity.with_model", "of these with the node's model, which must be equal"),
    ("parity.different", "numbers that do not agree"),
    ("parity.worst", "largest share of its bound that a rounded number is off by"),
    ("parity.worst_name", "which number that is"),
    ("parity.first[].name", "a number that does not agree"),
    ("parity.first[].node", "the node's"),
    ("parity.first[].expected", "the other one"),
    ("parity.first[].bound", "how far apart they may be"),
    ("parity.first[].against", "host or model"),
    ("parity.remarks[]", "what was not compared, and why"),
)


def document(outcome: Outcome) -> dict[str, Any]:
    """Return the report as plain dicts, lists, texts and numbers."""
    assessment = outcome.assessment
    return {
        "streamgauge": __version__,
        "schema": SCHEMA,
        "recording": _recording(outcome),
        "profile": outcome.profile.name,
        "notes": list(outcome.notes),
        "labels": list(assessment.recording.task.labels),
        "alignment": _alignment(outcome),
        "slices": _slices(outcome),
        "prequential": _prequential(outcome),
        **extras_document(assessment.extras, assessment.recording.task.labels),
        "hierarchy": None if assessment.hierarchy is None else figures_document(assessment.hierarchy),
        "node": _node(outcome),
        "parity": _parity(outcome),
    }


def text(outcome: Outcome) -> str:
    """Return the report as JSON text."""
    return json.dumps(document(outcome), indent=1, allow_nan=False, ensure_ascii=False)


def key_table() -> str:
    """Return `KEYS` as text, one key a line."""
    width = max(len(key) for key, _ in KEYS)
    return "\n".join(f"{key:<{width}}  {what}".rstrip() for key, what in KEYS)


def _recording(outcome: Outcome) -> dict[str, Any]:
    recording = outcome.assessment.recording
    task, notes = recording.task, recording.notes
    return {
        "truth": outcome.truth,
        "prediction": outcome.prediction,
        "span": [int(bound) for bound in recording.span],
        "tick_seconds": task.tick_seconds,
        "slice_ticks": task.slice_ticks,
        "closed": task.closed,
        "origin": task.origin,
        "flattened": {"truth": notes.flattened_truth, "prediction": notes.flattened_prediction},
        "skipped": notes.skipped,
        "skipped_rows": notes.skipped_rows,
        "rounded_times": notes.rounded_times,
        "warnings": notes.warnings,
    }


def _alignment(outcome: Outcome) -> dict[str, Any]:
    found = outcome.assessment.alignment
    node = outcome.node.raw.get("align") if outcome.node else None
    split, merge = found.repetitions_split, found.repetitions_merge
    return {
        "distance": found.distance,
        "cost": found.cost_sum,
        "forced": node["forced"] if node else found.forced,
        "segments": {"truth": found.true_segments, "prediction": found.pred_segments},
        "unmatched": {"truth": found.unmatched_truth, "prediction": found.unmatched_prediction},
        "confusion": found.confusion.tolist(),
        "accuracy": found.accuracy,
        "maa": found.maa,
        "map": found.map,
        "mar": found.mar,
        "maf1": found.maf1,
        "latency": _stat(found.latency),
        "early": _stat(found.early),
        "late": _stat(found.late),
        "onset_latency": _stat(found.onset_latency),
        "offset_latency": _stat(found.offset_latency),
        "overlap": _stat(found.overlap),
        "prediction_duration": _stat(found.prediction_duration),
        "iou": _stat(found.iou),
        "repetitions": {
            "split": int(split.sum()),
            "merge": int(merge.sum()),
            "total": int(split.sum() + merge.sum()),
        },
        "per_label": _by_label(
            outcome,
            {
                "tp": found.tp,
                "fp": found.fp,
                "fn": found.fn,
                "tn": found.tn,
                "precision": found.precision,
                "recall": found.recall,
                "f1": found.f1,
                "split": split,
                "merge": merge,
            },
        ),
    }


def _slices(outcome: Outcome) -> dict[str, Any]:
    found = outcome.assessment.slices
    names = outcome.assessment.recording.task.labels
    return {
        "known": found.known,
        "unknown": found.unknown,
        "include_null": found.include_null,
        "weights": None if found.weights is None else found.weights.tolist(),
        "accuracy": found.accuracy,
        "precision": found.precision,
        "recall": found.recall,
        "f1": found.f1,
        "totals": found.totals,
        **found.matrix,
        "per_label": {
            name: {key: value for key, value in row.items() if key != "label"}
            for name, row in zip(names, found.per_label, strict=True)
        },
    }


def _prequential(outcome: Outcome) -> dict[str, Any]:
    found = outcome.assessment.prequential
    return {
        "count": found.count,
        "unlabelled": found.unlabelled,
        "delta": found.delta,
        "loss_max": found.loss_max,
        "mean": _estimate(found.mean),
        "window": {**_estimate(found.window), "size": found.window_size},
        "fading": {**_estimate(found.fading), "alpha": found.alpha},
    }


def _node(outcome: Outcome) -> dict[str, Any] | None:
    node = outcome.node
    if node is None:
        return None
    return {
        "engine": node.engine,
        "version": node.version,
        "bits": node.bits,
        "heap_bytes": node.memory.heap,
        "code_bytes": node.memory.code - node.memory.beside,
        "state_bytes": node.memory.state,
        "high_water_bytes": node.memory.high_water,
        "on_board_bytes": node.memory.with_machine_code,
        "allocated_by_updates": node.memory.allocated_by_updates,
        "machine_code_bytes": node.memory.machine_code,
        "ledger_bytes": node.memory.ledger,
        "updates": node.updates,
        "fed": node.mode,
        "unassessed_ticks": node.raw["join"]["unassessed"],
        "raw": node.raw,
    }


def _parity(outcome: Outcome) -> dict[str, Any] | None:
    parity = outcome.parity
    if parity is None:
        return None
    return {
        "compared": parity.compared,
        "with_host": parity.with_host,
        "with_model": parity.with_model,
        "different": parity.different,
        "worst": _finite(parity.worst),
        "worst_name": parity.worst_name,
        "first": [
            {
                "name": difference.name,
                "node": difference.node,
                "expected": difference.expected,
                "bound": difference.bound,
                "against": difference.against,
            }
            for difference in parity.first
        ],
        "remarks": list(parity.remarks),
    }


def _stat(stat: Stat) -> dict[str, Any]:
    return {"count": stat.count, "mean": stat.mean, "std": stat.std, "min": stat.min, "max": stat.max}


def _estimate(estimate: Estimate) -> dict[str, Any]:
    return {
        "value": estimate.value,
        "n_eff": estimate.n_eff,
        "hoeffding": estimate.hoeffding,
        "chernoff": estimate.chernoff,
    }


def _by_label(outcome: Outcome, columns: dict[str, np.ndarray[Any, Any]]) -> dict[str, dict[str, Any]]:
    names = outcome.assessment.recording.task.labels
    listed = {key: values.tolist() for key, values in columns.items()}
    return {
        name: {key: _finite(values[index]) for key, values in listed.items()}
        for index, name in enumerate(names)
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None

"""What may stand in a memory profile: one table, from which schema, checks, messages and defaults follow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

ESTIMATORS = (
    "align",
    "slices",
    "prequential",
    "page_hinkley",
    "ddm",
    "adwin",
    "compare",
    "forgetting",
    "reliability",
    "holdout",
    "hierarchy",
)
DETECTORS = ("page_hinkley", "ddm", "adwin")
# Figures that an alarm may restart. A holdout's scores and a hierarchy's are not of single records.
RESTARTABLE = ("align", "slices", "prequential", "compare", "forgetting", "reliability")

REQUIRED = object()


def _whole(least: int, most: int, meaning: str) -> dict[str, Any]:
    return {"type": "integer", "minimum": least, "maximum": most, "description": meaning}


def _power(least: int, most: int, meaning: str) -> dict[str, Any]:
    """A ring's size: the node finds a slot by the low bits of a count."""
    powers = [2**n for n in range(32) if least <= 2**n <= most]
    return {**_whole(least, most, meaning), "enum": powers}


def _number(least: float, most: float, meaning: str) -> dict[str, Any]:
    return {"type": "number", "minimum": least, "maximum": most, "description": meaning}


def _text(meaning: str) -> dict[str, Any]:
    return {"type": "string", "minLength": 1, "description": meaning}


def _one_of(choices: tuple[str, ...], meaning: str) -> dict[str, Any]:
    return {"type": "string", "enum": list(choices), "description": meaning}


def _some_of(choices: tuple[str, ...], meaning: str, least: int = 1) -> dict[str, Any]:
    items = {"type": "string", "enum": list(choices)}
    return {"type": "array", "items": items, "minItems": least, "uniqueItems": True, "description": meaning}


@dataclass(frozen=True)
class Key:
    """One key of a profile.

    Attributes
    ----------
    path : str
        Table and key, ``"capacity.runs"``.
    schema : dict
        JSON schema of the value; its description is the key's documentation.
    config : str or None
        The entry of the node's configuration it becomes. The keys of further estimators become that
        estimator's options instead (`profile_options`).
    encode : callable
        From the value to that entry, which is a whole number, a text or a list.
    default : object
        The value of a profile that leaves the key out; without one the key is required.
    """

    path: str
    schema: dict[str, Any]
    config: str | None = None
    encode: Callable[[Any], Any] = lambda value: value
    default: Any = REQUIRED


def decay(alpha: float) -> int:
    """Return ``1 - alpha`` with 30 fraction bits."""
    return round((1 - alpha) * 2**30)


# A decay of 2^10 or more is what the node's growing weights are made for: alpha up to 1 - 2^-20.
_SLOWEST = 0.999999

KEYS = (
    Key("name", _text("what reports call it")),
    Key("description", _text("one line for people")),
    Key("tier", _text("Kirkby's environment, or a board")),
    Key("heap.bytes", _whole(4096, 2**40, "heap the node program runs in, code and state together")),
    Key(
        "heap.state_bytes",
        _whole(0, 2**31 - 1, "most the ledger may hand out; 0: no limit but the heap"),
        "state_bytes",
        default=0,
    ),
    Key(
        "code.form",
        _one_of(
            ("mpy", "bytecode", "frozen"), "how code comes: machine code, bytecode alone, in the firmware"
        ),
        default="mpy",
    ),
    Key("capacity.labels", _whole(1, 31, "most labels besides NULL a task may have")),
    Key(
        "capacity.runs",
        _power(4, 1024, "runs a side that wait for the other side; truth later than that is unassessed"),
        "runs",
    ),
    Key(
        "capacity.pending",
        _power(4, 512, "segments a side that the alignment keeps undecided; beyond, decisions are forced"),
        "pending",
    ),
    Key("capacity.window", _whole(1, 2**20, "records of the sliding window, one bit each"), "window"),
    Key(
        "capacity.group",
        _whole(0, 1024, "slices handed to the estimators at once; 0: 16, or 1 where alarms restart parts"),
        default=0,
    ),
    Key("prequential.alpha", _number(0.5, 0.9999, "fading factor a record"), "alpha_q30", decay),
    Key(
        "prequential.delta",
        _number(1e-6, 0.5, "share of bounds that may fail"),
        "delta_ppm",
        lambda d: round(d * 1e6),
    ),
    Key(
        "prequential.loss_max",
        _whole(0, 2**16 - 1, "largest loss of node.loss(x); 0: not used"),
        "loss_max",
        default=0,
    ),
    Key("estimators.on", _some_of(ESTIMATORS, "what the node computes"), "estimators"),
    Key(
        "estimators.restart",
        _some_of(RESTARTABLE, "parts of it that start anew at an alarm of a detector", 0),
        default=[],
    ),
    Key("hierarchy.levels_truth", _whole(1, 4, "levels of true boundaries"), default=3),
    Key("hierarchy.levels_prediction", _whole(1, 4, "levels of predicted boundaries"), default=3),
    Key(
        "hierarchy.window", _whole(1, 4095, "frames to each side that a frame is compared with"), default=150
    ),
    Key("hierarchy.frame_slices", _whole(1, 2**20, "slices of a frame"), default=1),
    Key(
        "hierarchy.boundaries",
        _whole(1, 4096, "boundaries a level's ring holds; those that find it full are counted and lost"),
        default=32,
    ),
    Key("page_hinkley.delta", _number(0, 1, "change of the error that is tolerated"), default=0.05),
    Key("page_hinkley.threshold", _number(0.001, 500, "lambda: an alarm above it"), default=22.0),
    Key(
        "page_hinkley.fading",
        _number(0.5, 1, "fading factor a record of the test itself; 1: it forgets nothing"),
        default=1.0,
    ),
    Key(
        "page_hinkley.direction",
        _one_of(("up", "down", "both"), "which change alarms; up: errors grew"),
        default="up",
    ),
    Key("page_hinkley.warmup", _whole(0, 2**20, "records before the first alarm is possible"), default=30),
    Key(
        "page_hinkley.source",
        _one_of(
            ("loss", "fading", "window"),
            "what it watches: the loss, the error faded by prequential.alpha, or that in capacity.window",
        ),
        default="loss",
    ),
    Key("ddm.level", _number(1.01, 7.99, "standard deviations above the best error that alarm"), default=4.0),
    Key("ddm.warmup", _whole(0, 2**20, "records before the first alarm is possible"), default=200),
    Key("adwin.confidence", _number(1e-6, 0.5, "the paper's delta: share of false cuts"), default=0.002),
    Key("adwin.rows", _whole(2, 13, "rows of buckets; each doubles the longest window"), default=9),
    Key("adwin.per_row", _whole(2, 32, "buckets a row"), default=5),
    Key("adwin.grain", _whole(1, 1024, "records of a bucket in the first row"), default=8),
    Key("compare.window", _whole(1, 2**15 - 1, "records of the window, two bits each"), default=1000),
    Key("compare.alpha", _number(0.5, _SLOWEST, "fading factor a record"), default=0.999),
    Key("forgetting.alpha", _number(0.5, _SLOWEST, "fading factor a record"), default=0.999),
    Key(
        "reliability.bins",
        _power(2, 64, "bins of the confidence"),
        default=16,
    ),
    Key("reliability.alpha", _number(0.5, 1, "fading factor a record; 1: nothing is forgotten"), default=1.0),
    Key(
        "reliability.changes",
        _power(
            2, 2**16, "changes of the confidence that wait for their truth; more, and the oldest are lost"
        ),
        default=64,
    ),
    Key("holdout.size", _whole(1, 2**16, "records of the labelled set, a byte each"), default=100),
    Key("holdout.every", _whole(1, 2**29, "records from one scoring to the next"), default=1000),
    Key("holdout.capacity", _whole(1, 2**16, "scores kept"), default=16),
)

"""The further estimators' part of a node's configuration, and what their keys demand of each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .errors import InputError
from .profile_keys import DETECTORS, decay
from .task import Task

Values = Mapping[str, Any]

_GROUP = 16  # slices; what more would save is below the cost of a call
_SLOWEST_DECAY = 2**10
_ADWIN_RECORDS = 2**15
_SIDES = {"up": 1, "down": 2, "both": 3}
_SOURCES = {"loss": 0, "fading": 1, "window": 2}


def check_together(values: Values) -> tuple[str, str] | None:
    """Return the first key whose value is impossible beside the others, and what was expected; or None."""
    on = values["estimators.on"]
    restart = values["estimators.restart"]
    for name in restart:
        if name not in on:
            return "estimators.restart", f"{name} is to restart, so it was expected in estimators.on"
    if restart and not any(name in on for name in DETECTORS):
        return "estimators.restart", f"one of {', '.join(DETECTORS)} was expected in estimators.on"
    if "holdout" in on and "prequential" not in on:
        return "estimators.on", "holdout counts prequential's records, so prequential was expected too"
    records = values["adwin.grain"] * values["adwin.per_row"] * (2 ** values["adwin.rows"] - 1)
    if records >= _ADWIN_RECORDS:
        return "adwin.rows", f"grain * per_row * (2^rows - 1) was expected below 2^15, it is {records}"
    if 0 < decay(values["reliability.alpha"]) < _SLOWEST_DECAY:
        return "reliability.alpha", "at most 0.999999, or 1, was expected"
    return None


def group(values: Values) -> int:
    """Return how many slices are handed on together.

    An alarm restarts parts when the slices in hand are through, so they are handed on singly there.
    """
    return int(values["capacity.group"]) or (1 if values["estimators.restart"] else _GROUP)


def _hierarchy(values: Values, task: Task) -> dict[str, Any]:
    return {
        "levels_truth": values["hierarchy.levels_truth"],
        "levels_prediction": values["hierarchy.levels_prediction"],
        "window_frames": values["hierarchy.window"],
        "frame_ticks": values["hierarchy.frame_slices"] * task.slice_ticks,
        "boundaries": values["hierarchy.boundaries"],
    }


def _page_hinkley(values: Values, task: Task) -> dict[str, Any]:
    source = values["page_hinkley.source"]
    memory = {"loss": 0, "fading": decay(values["prequential.alpha"]), "window": values["capacity.window"]}
    return {
        "delta": round(values["page_hinkley.delta"] * 1e6),
        "threshold": round(values["page_hinkley.threshold"] * 1e6),
        "fading": decay(values["page_hinkley.fading"]),
        "sides": _SIDES[values["page_hinkley.direction"]],
        "warmup": values["page_hinkley.warmup"],
        "source": _SOURCES[source],
        "memory": memory[source],
        "ticks": task.slice_ticks,
    }


def _ddm(values: Values, task: Task) -> dict[str, Any]:
    return {
        "level": round(values["ddm.level"] * 256),
        "warmup": values["ddm.warmup"],
        "ticks": task.slice_ticks,
    }


def _adwin(values: Values, task: Task) -> dict[str, Any]:
    return {
        "confidence": round(values["adwin.confidence"] * 1e6),
        "rows": values["adwin.rows"],
        "per_row": values["adwin.per_row"],
        "grain": values["adwin.grain"],
        "ticks": task.slice_ticks,
    }


def _compare(values: Values, task: Task) -> dict[str, Any]:
    return {"window": values["compare.window"], "decay": decay(values["compare.alpha"])}


def _forgetting(values: Values, task: Task) -> dict[str, Any]:
    return {"labels": len(task.labels), "decay": decay(values["forgetting.alpha"])}


def _reliability(values: Values, task: Task) -> dict[str, Any]:
    return {
        "bins": values["reliability.bins"],
        "decay": decay(values["reliability.alpha"]),
        "changes": values["reliability.changes"],
    }


_OPTIONS: dict[str, Callable[[Values, Task], dict[str, Any]]] = {
    "hierarchy": _hierarchy,
    "page_hinkley": _page_hinkley,
    "ddm": _ddm,
    "adwin": _adwin,
    "compare": _compare,
    "forgetting": _forgetting,
    "reliability": _reliability,
}


def options(values: Values, task: Task, holdout: bytes | None) -> dict[str, dict[str, Any]]:
    """Return the keyword arguments of every further estimator that is on, as the node's classes take them.

    Parameters
    ----------
    values : mapping
        Values by key (`Profile.values`).
    task : Task
    holdout : bytes or None
        Labels of the holdout set.

    Raises
    ------
    InputError
        The holdout set is missing, has another size than the profile has room for, or other labels than the
        task.
    """
    on = values["estimators.on"]
    found = {name: _OPTIONS[name](values, task) for name in on if name in _OPTIONS}
    if "holdout" in on:
        found["holdout"] = {
            "truth": _holdout_labels(values["holdout.size"], task, holdout),
            "every": values["holdout.every"],
            "capacity": values["holdout.capacity"],
        }
    return found


def _holdout_labels(size: int, task: Task, labels: bytes | None) -> list[int]:
    if labels is None:
        raise InputError(
            "the profile scores a holdout set, and none was given",
            remedy="Give its labels, or take holdout out of estimators.on",
        )
    if len(labels) != size:
        raise InputError(
            f"the holdout set has {len(labels)} labels (holdout.size is {size})",
            remedy="Set holdout.size of the profile to the set's size",
        )
    if max(labels) >= len(task.labels):
        raise InputError(
            f"the holdout set holds label {max(labels)} (the task's are 0 to {len(task.labels) - 1})"
        )
    return list(labels)

"""How a second recogniser, confidences and a holdout set are told to a node: one call a sample.

Batches carry labels alone. So where something comes beside them, every slice is told by `predict_b`,
`predict` or `predict_with`, and `truth`, as a program on a node would. That needs every boundary on the slice
grid; elsewhere, and where something is not given, the node does without the estimator that reads it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ..errors import InputError
from ..feed import TICK_MASK, Feed, _on_grid
from ..files import Recording
from ..levels.feed import level_values
from ..profile import Profile
from .others import Others
from .records import labels_at

ROW = 4  # bytes a slice: prediction, second recogniser, confidence, truth
_ROWS_A_READ = 32


@dataclass(frozen=True, eq=False)
class SampleFeed(Feed):
    """A recording told sample by sample.

    The plan is ``{"mode": "samples", "start", "ticks", "slices", "chunk", "second", "confidence", "holdout",
    "size"}``: which of the row's bytes mean something, after how many slices the holdout set is scored, and
    its size. `data` holds the rows, and where it is scored the labels given to the set.
    """

    def reads(self, node: Any) -> Iterator[None]:
        """Feed a node of this Python, one step for each read of the file."""
        plan = self.plan
        t, at, done = plan["start"], 0, 0
        for stop in (*plan["holdout"], plan["slices"]):
            while done < stop:
                size = min(plan["chunk"], stop - done)
                self._tell(node, t, self.data[at : at + size * ROW])
                t = (t + size * plan["ticks"]) & TICK_MASK
                at += size * ROW
                done += size
                yield
            if at < len(self.data):
                node.holdout(self.data[at : at + plan["size"]])
                at += plan["size"]

    def _tell(self, node: Any, t: int, rows: bytes) -> None:
        for at in range(0, len(rows), ROW):
            prediction, second, confidence, truth = rows[at : at + ROW]
            if self.plan["second"]:
                node.predict_b(t, second)
            if self.plan["confidence"]:
                node.predict_with(t, prediction, confidence)
            else:
                node.predict(t, prediction)
            node.truth(t, truth)
            t = (t + self.plan["ticks"]) & TICK_MASK


def tellable(recording: Recording) -> bool:
    """Whether the recording can be told sample by sample without changing a figure."""
    overlaps = any(
        (side.start[1:] < side.end[:-1]).any() for side in (recording.truth_raw, recording.prediction_raw)
    )
    return not overlaps and _on_grid(recording)


def fit(profile: Profile, recording: Recording, others: Others) -> Profile:
    """Return the profile with the estimators on for which there is something to read, and no others.

    Raises
    ------
    InputError
        Nothing is left for the node to do.
    """
    told = tellable(recording)
    on = [name for name in profile["estimators.on"] if name != "hierarchy"]
    values: dict[str, Any] = {}
    for name, given in (
        ("compare", others.second is not None),
        ("reliability", others.confidence is not None),
        ("holdout", others.holdout is not None),
    ):
        if given and told:
            on += [name] if name not in on else []
        elif name in on:
            on.remove(name)
    if "holdout" in on and others.holdout is not None:
        values["holdout.size"] = len(others.holdout.truth)
        on += ["prequential"] if "prequential" not in on else []
    if others.hierarchies is not None:
        on.append("hierarchy")
        values |= level_values(others.hierarchies, recording.task.slice_ticks)
    if not on:
        raise InputError(
            "the profile's estimators need more than truth and prediction",
            remedy="Put another one into estimators.on, or give what they read",
        )
    if on != list(profile["estimators.on"]):
        values["estimators.on"] = on
        values["estimators.restart"] = [name for name in profile["estimators.restart"] if name in on]
    return profile.with_values(values) if values else profile


def lay_out_samples(recording: Recording, others: Others) -> SampleFeed | None:
    """Return the feed; None where nothing but labels is to be told, or samples cannot tell the recording."""
    told = others.second, others.confidence, others.holdout
    if all(part is None for part in told) or not tellable(recording):
        return None
    begin, stop = recording.span
    ticks = recording.task.slice_ticks
    count = (stop - begin) // ticks
    rows = np.zeros((count, ROW), dtype=np.uint8)
    rows[:, 0] = labels_at(recording.prediction, begin, count, ticks)
    if others.second is not None:
        rows[:, 1] = others.second
    if others.confidence is not None:
        rows[:, 2] = others.confidence
    rows[:, 3] = labels_at(recording.truth, begin, count, ticks)
    data, places = _with_holdout(rows, others)
    plan: dict[str, Any] = {
        "mode": "samples",
        "start": begin & TICK_MASK,
        "ticks": ticks,
        "slices": count,
        "chunk": _ROWS_A_READ,
        "second": int(others.second is not None),
        "confidence": int(others.confidence is not None),
        "holdout": places,
        "size": len(others.holdout.truth) if others.holdout else 0,
    }
    updates = count * (2 + plan["second"]) + len(places)
    ends = _ends((*places, count))
    return SampleFeed(plan, data, updates, overlap=False, reached=begin + ticks * ends)


def _ends(stops: Sequence[int]) -> np.ndarray[Any, Any]:
    """Return after how many slices each read ends: no read goes beyond a scoring of the holdout set."""
    ends = [
        done
        for begin, stop in pairwise((0, *stops))
        for done in (*range(begin + _ROWS_A_READ, stop, _ROWS_A_READ), *([stop] if stop > begin else []))
    ]
    return np.array(ends, dtype=np.int64)


def _with_holdout(rows: np.ndarray[Any, Any], others: Others) -> tuple[bytes, list[int]]:
    """Put the holdout's labels where the stream has as many records with truth as they were scored after."""
    places: list[int] = []
    pieces = []
    done = 0
    if others.holdout is not None:
        known = np.flatnonzero(rows[:, 3] != 255)
        for records, labels in others.holdout.scorings:
            if records > len(known):
                break
            place = int(known[records - 1]) + 1
            pieces += [rows[done:place].tobytes(), labels.tobytes()]
            places.append(place)
            done = place
    return b"".join([*pieces, rows[done:].tobytes()]), places

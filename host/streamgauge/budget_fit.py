"""The largest windows and rings that fit into so many bytes, and what is traded for them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .budget import Budget, many_labels, state_bytes
from .errors import InputError
from .formats import count
from .profile import Profile
from .profile_keys import KEYS

_SCHEMAS = {key.path: key.schema for key in KEYS}
# Rings and windows by the estimator that keeps them (None: the node does), in the order in which they grow.
_SIZES = (
    ("capacity.pending", "align"),
    ("capacity.runs", None),
    ("hierarchy.boundaries", "hierarchy"),
    ("compare.window", "compare"),
    ("capacity.window", "prequential"),
)
_WINDOW = "capacity.window"
_DOUBLINGS = range(12, -13, -1)


@dataclass(frozen=True)
class Fit:
    """A profile that fits.

    Attributes
    ----------
    profile : Profile
    room, taken : int
        Bytes that the state may take, and takes.
    values : dict
        Every ring and window by its key.
    traded : list of str
        What differs from the profile that was asked about, one sentence each.
    """

    profile: Profile
    room: int
    taken: int
    values: dict[str, int]
    traded: list[str]


def fit(profile: Profile, room: int, labels: int | None = None) -> Fit:
    """Size a profile's rings and windows for `room` bytes of state.

    All grow or shrink by one factor, a power of two, so that the profile's proportions stay; then single ones
    are doubled while that fits; then the window takes what is left.

    Parameters
    ----------
    profile : Profile
    room : int
        Bytes for arrays, objects and configuration.
    labels : int, optional
        Labels besides NULL; by default the most that the profile takes.

    Raises
    ------
    InputError
        Not even the smallest sizes fit; the message says what would help, and how much.
    """
    task = many_labels(profile, labels)
    on = profile["estimators.on"]
    keys = [key for key, part in _SIZES if part is None or part in on or _watches_window(profile, key)]
    start = {key: int(profile[key]) for key in keys}

    def taken(values: dict[str, int]) -> int:
        return state_bytes(profile.with_values(values), task)

    scaled = ({key: _scaled(key, value, n) for key, value in start.items()} for n in _DOUBLINGS)
    values = next((values for values in scaled if taken(values) <= room), {})
    if not values:
        least = {key: _scaled(key, value, _DOUBLINGS[-1]) for key, value in start.items()}
        raise _refusal(profile, room, taken(least), labels)
    for key in keys:
        while True:
            larger = {**values, key: _scaled(key, values[key], 1)}
            if larger == values or taken(larger) > room:
                break
            values = larger
    if _WINDOW in values:
        most = _SCHEMAS[_WINDOW]["maximum"]
        window = _largest(values[_WINDOW], most, lambda w: taken({**values, _WINDOW: w}) <= room)
        values = {**values, _WINDOW: window}
    found = profile.with_values(values)
    traded = [_trade(profile, key, start[key], values[key]) for key in keys if values[key] != start[key]]
    return Fit(found, room, taken(values), values, traded)


def room_for_state(budget: Budget, heap: int, leave: int) -> int:
    """Return what is left of `heap` bytes for the state, beside MicroPython, code and the user's program."""
    form = budget.code[budget.profile["code.form"]]
    return heap - (budget.interpreter or 0) - form.bytes - leave


def _watches_window(profile: Profile, key: str) -> bool:
    """Say whether a key's ring is there for another part than its own."""
    if key != _WINDOW:
        return False
    on = profile["estimators.on"]
    watched = "page_hinkley" in on and profile["page_hinkley.source"] == "window"
    return watched or bool(profile["prequential.loss_max"])


def _scaled(key: str, value: int, doublings: int) -> int:
    schema = _SCHEMAS[key]
    value = value << doublings if doublings >= 0 else value >> -doublings
    return int(min(max(value, schema["minimum"]), _most(schema)))


def _most(schema: dict[str, Any]) -> int:
    return int(schema.get("enum", [schema["maximum"]])[-1])


def _largest(low: int, high: int, fits: Callable[[int], bool]) -> int:
    """Return the largest number from `low`, which fits, to `high` that fits."""
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low


_MEANING = {
    "capacity.pending": "so many segments a side may be undecided before the alignment forces a decision",
    "capacity.runs": "so many runs of the prediction may pass before truth is too late and time unassessed",
    "hierarchy.boundaries": "so many boundaries of a level may lie in the window before some are lost",
}


def _trade(profile: Profile, key: str, before: int, after: int) -> str:
    change = f"{key} {count(before)} -> {count(after)}: "
    if key in _MEANING:
        return change + _MEANING[key]
    scale = math.log(2 / profile["prequential.delta"]) / 2
    wide, was = (math.sqrt(scale / size) for size in (after, before))
    what = "the windowed error" if key == _WINDOW else "the windowed comparison"
    return change + (
        f"{what} rests on {count(after)} records, so that its Hoeffding half-width is {wide:.4f} (it was "
        f"{was:.4f}), and shows a change as much {'later' if after > before else 'sooner'}"
    )


def _refusal(profile: Profile, room: int, least: int, labels: int | None) -> InputError:
    task = many_labels(profile, labels)
    on = profile["estimators.on"]
    savings = []
    for name in on:
        rest = [other for other in on if other != name]
        if rest and not (name == "prequential" and "holdout" in rest):
            smaller = profile.with_values({"estimators.on": rest, "estimators.restart": []})
            savings.append(f"{name} ({count(state_bytes(profile, task) - state_bytes(smaller, task))} bytes)")
    hint = f"take an estimator off: {', '.join(savings)}; " if savings else ""
    return InputError(
        f"the state takes {count(least)} bytes with the smallest rings and windows, and "
        f"{count(max(0, room))} are left for it",
        remedy=f"Allow fewer labels, {hint}or freeze the code into the firmware (code.form)",
    )

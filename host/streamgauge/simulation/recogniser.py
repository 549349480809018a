"""A recogniser with the errors such things make: late, early, missed, invented, confused, fragmented, merged,
offline.

It says one label every ten seconds. From two thirds of the recording on its kitchen sensor is failing, so
that its error grows: what a fading factor is for.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from streamgauge.segments import Segments, flatten
from streamgauge.simulation.dice import DAY, HOUR, MINUTE, Dice
from streamgauge.simulation.resident import Row

STEP = 10  # seconds between two labels
_KITCHEN = ("prepare_breakfast", "prepare_meal", "wash_dishes", "get_drink")
_INVENTED = {"use_toilet": 4.0, "get_drink": 3.0, "prepare_breakfast": 1.0, "wash_dishes": 1.0, "relax": 1.0}


@dataclass(frozen=True)
class _Trait:
    """How well an activity is recognised."""

    missed: float  # probability
    confused: float  # probability
    like: dict[str, float]  # what it is taken for
    late: tuple[int, int]  # seconds until it is noticed
    breaks: float  # interruptions an hour


_TRAITS = {
    "sleep": _Trait(0.0, 0.02, {"relax": 1}, (120, 1200), 0.10),
    "use_toilet": _Trait(0.16, 0.08, {"take_shower": 1, "brush_teeth": 2}, (5, 60), 0.0),
    "take_shower": _Trait(0.06, 0.06, {"use_toilet": 1}, (20, 120), 0.5),
    "brush_teeth": _Trait(0.25, 0.20, {"use_toilet": 3, "take_shower": 1}, (10, 60), 0.0),
    "prepare_breakfast": _Trait(0.08, 0.15, {"prepare_meal": 3, "get_drink": 1}, (20, 150), 0.8),
    "prepare_meal": _Trait(0.05, 0.12, {"prepare_breakfast": 2, "wash_dishes": 1}, (30, 240), 0.8),
    "eat": _Trait(0.18, 0.15, {"relax": 4, "work": 1}, (60, 300), 0.5),
    "wash_dishes": _Trait(0.18, 0.18, {"prepare_meal": 1}, (30, 180), 0.5),
    "get_drink": _Trait(0.30, 0.12, {"prepare_breakfast": 1, "prepare_meal": 1}, (5, 60), 0.0),
    "relax": _Trait(0.03, 0.07, {"work": 3, "eat": 1}, (60, 480), 0.5),
    "work": _Trait(0.04, 0.14, {"relax": 1}, (60, 420), 0.5),
    "leave_house": _Trait(0.01, 0.0, {"sleep": 1}, (30, 240), 0.06),
}
LABELS = tuple(_TRAITS)


def recognise(rows: list[Row], days: int, dice: Dice) -> list[Row]:
    """Return what a recogniser makes of the activities.

    Parameters
    ----------
    rows : list of Row
        What happened, ordered by start; rows may be nested.
    days : int
    dice : Dice
    """
    canvas = _Canvas(days * DAY)
    actual = _one_at_a_time(rows)
    failing = days * DAY * 2 // 3
    joined: str | None = None  # the label under which the last activity runs on into this one
    for i, (start, end, name) in enumerate(actual):
        trait = _TRAITS[name]
        before, after = actual[max(i - 1, 0)], actual[min(i + 1, len(actual) - 1)]
        inside = before[1] == start and after[0] == end and before[2] == after[2]
        worse = 4.0 if name in _KITCHEN and start >= failing else 1.0
        if not joined and dice.chance(trait.missed * worse):
            if inside:
                canvas.paint(start, end, before[2])
            continue
        said = dice.pick(trait.like) if dice.chance(trait.confused * worse) else name
        begin, stop = _bounds(start, end, trait, dice)
        if joined:
            begin, said = start, joined
        canvas.paint(begin, stop, said)
        _break(canvas, begin, stop, trait, dice)
        joined = None
        if after[2] == name and 0 < after[0] - end < 25 * MINUTE and dice.chance(0.6):
            canvas.paint(stop, after[0], said)
            joined = said
    _invent(canvas, actual, days, dice)
    for _ in range(max(1, days // 14)):
        begin = dice.flat(0, days * DAY - 12 * HOUR)
        canvas.paint(begin, begin + dice.bell(3 * HOUR, 12 * HOUR), None)
    return canvas.rows()


def _invent(canvas: _Canvas, actual: list[Row], days: int, dice: Dice) -> None:
    """Say some activity now and then that nobody did, at any time or where nothing happened."""
    for day in range(days):
        for share in (0.9, 0.5):
            if dice.chance(share):
                begin = day * DAY + dice.flat(0, DAY)
                canvas.paint(begin, begin + dice.skewed(MINUTE, 9 * MINUTE), dice.pick(_INVENTED))
    for (_, end, _), (start, _, _) in pairwise(actual):
        if start - end > 3 * MINUTE and dice.chance(0.15):
            begin = dice.flat(end, (end + start) // 2)
            canvas.paint(begin, begin + dice.skewed(MINUTE, start - begin), dice.pick(_INVENTED))


def _bounds(start: int, end: int, trait: _Trait, dice: Dice) -> tuple[int, int]:
    """Return when an activity is said to begin and end."""
    length = end - start
    if dice.chance(0.15):
        start -= dice.bell(10, 240)
    else:
        start += min(dice.bell(*trait.late), length // 2)
    if dice.chance(0.4):
        end += dice.skewed(10, 360)
    else:
        end -= dice.skewed(0, min(240, length // 3) + 1)
    return start, end


def _break(canvas: _Canvas, begin: int, stop: int, trait: _Trait, dice: Dice) -> None:
    """Interrupt a recognised activity now and then, by nothing or by what it is confused with."""
    for hour in range(begin, stop, HOUR):
        span = min(HOUR, stop - hour)
        if dice.chance(trait.breaks * span / HOUR):
            at = hour + dice.flat(0, span)
            gap = min(dice.skewed(30, 12 * MINUTE), max(0, stop - STEP - at))
            canvas.paint(at, at + gap, dice.pick(trait.like) if dice.chance(0.4) else None)


def _one_at_a_time(rows: list[Row]) -> list[Row]:
    flat, _ = flatten(Segments.from_rows([(LABELS.index(name), start, end) for start, end, name in rows]))
    return [(start, end, LABELS[label]) for label, start, end in flat]


class _Canvas:
    """One label a step; painting again covers what was there."""

    def __init__(self, seconds: int) -> None:
        self._steps = bytearray(seconds // STEP)

    def paint(self, start: int, end: int, name: str | None) -> None:
        """Say `name` (None: nothing) from the step that holds `start` to the one that holds `end`."""
        first = max(0, start // STEP)
        last = min(len(self._steps), end // STEP)
        value = 0 if name is None else LABELS.index(name) + 1
        self._steps[first:last] = bytes([value]) * max(0, last - first)

    def rows(self) -> list[Row]:
        """Return the stretches with one label, ordered by start."""
        stretches = Segments.from_labels(memoryview(self._steps), STEP)
        return [(start, end, LABELS[label - 1]) for label, start, end in stretches if label]

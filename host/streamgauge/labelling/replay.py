"""A file of truth, told to a node segment by segment, as if it came to be known while the node works."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from ..files import Recording
from ..segments import NULL, UNKNOWN
from ..wire.messages import TIME, Answer, Code
from .teller import Teller

# A node takes at most 2^28 ticks at once.
LONGEST = 1 << 28
_LOOK_AGAIN = 0.25


@dataclass(frozen=True)
class Told:
    """One segment on its way: a label's name, or the id of NULL or UNKNOWN; start and end as in the file."""

    label: str | int
    start: int
    end: int


@dataclass
class Outcome:
    """What became of the segments.

    Attributes
    ----------
    accepted : int
    refused : Counter of int
        By code of the answer.
    first_refused : list of (Told, Answer)
        The first ten, to show.
    waiting : int
        Labels that the node still keeps back.
    """

    accepted: int = 0
    refused: Counter[int] = field(default_factory=Counter)
    first_refused: list[tuple[Told, Answer]] = field(default_factory=list)
    waiting: int = 0

    def add(self, told: Told, answer: Answer) -> None:
        """Count one answer."""
        self.waiting = answer.waiting
        if answer.code == Code.ACCEPTED:
            self.accepted += 1
            return
        self.refused[answer.code] += 1
        if len(self.first_refused) < 10:
            self.first_refused.append((told, answer))


def segments(recording: Recording) -> Iterator[Told]:
    """Yield what to tell of a recording's truth: every tick of its span, gaps too, in pieces a node takes."""
    names = recording.task.labels
    for label, start, end in recording.truth:
        name: str | int = label if label in (NULL, UNKNOWN) else names[label]
        for begin in range(start, end, LONGEST):
            yield Told(name, begin, min(end, begin + LONGEST))


def after_node(teller: Teller, at: int, begin: int, late: int) -> Callable[[Told], None]:
    """Return a pace: wait until the node's own present has passed a segment's end, by `late` ticks.

    Parameters
    ----------
    at : the node's tick at which the file's first tick, `begin`, lies.
    """

    def wait(told: Told) -> None:
        due = (at + told.end - begin + late) % TIME
        while (teller.ask().now - due) % TIME >= TIME // 2:
            time.sleep(_LOOK_AGAIN)

    return wait


def after_clock(begin: int, tick_seconds: float, speed: float, late: int) -> Callable[[Told], None]:
    """Return a pace: the file runs `speed` times as fast as this host's clock."""
    started = time.monotonic()

    def wait(told: Told) -> None:
        due = started + (told.end - begin + late) * tick_seconds / speed
        time.sleep(max(0.0, due - time.monotonic()))

    return wait


def at_once(told: Told) -> None:
    """A pace: as fast as the node answers."""


def replay(
    teller: Teller,
    recording: Recording,
    at: int,
    pace: Callable[[Told], None],
    progress: Callable[[Told, Answer], None] = lambda told, answer: None,
) -> Outcome:
    """Tell a node the truth of a recording.

    Parameters
    ----------
    at : the node's tick at which the recording's span begins.
    pace : called before each segment is told; returns when it is time.
    progress : is told every answer.

    Raises
    ------
    Refused, InputError
        As `Teller.label`.
    """
    begin, end = recording.span
    closed = int(recording.task.closed)
    outcome = Outcome()
    for told in segments(recording):
        pace(told)
        shift = at - begin
        # In closed mode a message names the last tick, not the one after it.
        answer = teller.label(told.label, told.start + shift, told.end + shift - closed)
        outcome.add(told, answer)
        progress(told, answer)
    outcome.waiting = teller.complete(end - begin + at).waiting
    return outcome

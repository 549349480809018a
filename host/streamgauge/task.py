"""What is being recognised: the labels and the clock that truth, prediction and node share."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Task:
    """The labels and the clock of one recognition task.

    Attributes
    ----------
    labels : tuple of str
        Names by label id; ``labels[0]`` is the NULL label. UNKNOWN is no label and is not listed.
    tick_seconds : float or None
        Length of one tick; None where the files count in a unit of their own.
    slice_ticks : int
        Length of a slice, the unit of the prequential record and of the node's one-sample entries.
    closed : bool
        The files meant ``[start, end]`` (the paper's convention), not ``[start, end)``. Segments in memory
        are half-open all the same, one tick longer; the alignment takes that tick off again.
    gaps_unknown : bool
        Time that no truth segment covers is UNKNOWN, not NULL.
    origin : str or None
        ISO 8601 text of tick 0, where the files hold timestamps.
    """

    labels: tuple[str, ...]
    tick_seconds: float | None = None
    slice_ticks: int = 1
    closed: bool = False
    gaps_unknown: bool = False
    origin: str | None = None

    def __post_init__(self) -> None:
        if not self.labels:
            raise ValueError("a task has at least the NULL label")
        if len(self.labels) > 255:
            raise ValueError("a label id is one byte and 255 is UNKNOWN: at most 254 labels besides NULL")
        if self.slice_ticks < 1:
            raise ValueError("a slice is at least one tick")

"""Assessment of a stream on the host, in memory that does not grow with it.

`Streaming` is told truth and prediction as they come, in parts of any size, and gives the figures that
`streamgauge.assess` gives for the whole: slices and prequential error always, the alignment as long as no
commit is forced. It keeps what is undecided and a window of losses, nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..assess import Settings
from ..errors import InputError
from ..prequential import Prequential
from ..scores import label_weights
from ..segments import UNKNOWN, Segments, clip
from ..slices import Pieces, Slices
from ..task import Task
from .align import StreamedAlignment, StreamingAlignment
from .join import Join, Joined
from .prequential import SlicedLosses, StreamingPrequential
from .slices import StreamingSlices

__all__ = ["Streamed", "StreamedAlignment", "Streaming"]

_FIRST = np.iinfo(np.int64).min
_PART = 1 << 16  # segments, or labels, that are worked on at once


@dataclass(frozen=True, eq=False)
class Streamed:
    """The figures of a stream so far.

    Attributes
    ----------
    alignment : StreamedAlignment
        Over the segments that are decided.
    slices : Slices
        Settled as if the stream ended now. Time that was given up counts as unknown there.
    prequential : Prequential
    unassessed : int
        Ticks that one side was told of too late.
    """

    alignment: StreamedAlignment
    slices: Slices
    prequential: Prequential
    unassessed: int


class Streaming:
    """Assesses a stream.

    Parameters
    ----------
    task : Task
        Labels, slice, whether gaps of the truth are UNKNOWN; half-open segments only.
    settings : Settings, optional
        Window, alpha, delta, weights.
    pending : int
        Segments a side that the alignment keeps undecided before it forces a decision.
    late : int
        Segments a side that wait for the other side before their time is given up.

    Raises
    ------
    InputError
        The task is in closed mode, or a setting out of range.
    """

    def __init__(
        self, task: Task, settings: Settings | None = None, *, pending: int = 4096, late: int = 1 << 17
    ) -> None:
        if task.closed:
            raise InputError("a stream has half-open segments (the task is in closed mode)")
        if pending < 2 or late < 2:
            raise InputError(f"pending is {pending} and late {late} (2 or more were expected)")
        self._settings = settings or Settings()
        labels = len(task.labels)
        self._join = Join(task.slice_ticks, task.gaps_unknown, late)
        self._losses = SlicedLosses(task.slice_ticks)
        self.slices = StreamingSlices(labels)
        self.alignment = StreamingAlignment(labels, pending)
        self.prequential = StreamingPrequential(
            self._settings.window, self._settings.alpha, delta=self._settings.delta
        )
        self._labels = labels
        self._weights = label_weights(self._settings.weights, labels)
        self._block = _FIRST  # where known time begins, after UNKNOWN
        self._unassessed = 0

    def truth(self, segs: Segments) -> None:
        """Take true segments, ordered and without overlaps; label 255 is UNKNOWN."""
        for at in range(0, len(segs), _PART):
            self._join.truth.segments(segs.take(slice(at, at + _PART)))
            self._advance(self._join.take())

    def prediction(self, segs: Segments) -> None:
        """Take predicted segments, ordered and without overlaps."""
        for at in range(0, len(segs), _PART):
            self._join.prediction.segments(segs.take(slice(at, at + _PART)))
            self._advance(self._join.take())

    def truth_labels(self, labels: npt.ArrayLike, start: int | None = None) -> None:
        """Take true labels, one a slice, from tick `start` on (by default from where the truth ends)."""
        self._join.truth.labels(labels, start)
        self._advance(self._join.take())

    def prediction_labels(self, labels: npt.ArrayLike, start: int | None = None) -> None:
        """Take predicted labels, one a slice, from tick `start` on (by default from where they end)."""
        self._join.prediction.labels(labels, start)
        self._advance(self._join.take())

    def finish(self) -> Streamed:
        """The stream ends: everything is decided. Nothing can be told any more."""
        self._advance(self._join.finish())
        self.alignment.cut()
        return self.result()

    def result(self) -> Streamed:
        """Return the figures so far."""
        settings = self._settings
        return Streamed(
            self.alignment.result(),
            self.slices.result(self._weights, settings.include_null),
            self.prequential.result(),
            self._unassessed,
        )

    def _advance(self, joined: list[Joined]) -> None:
        for part in joined:
            self._check(part.pieces)
            self.slices.feed(part.pieces)
            self.prequential.feed(self._losses.feed(part.pieces))
            self._align(part)
            if part.given_up:
                self._unassessed += part.until - part.begin

    def _check(self, pieces: Pieces) -> None:
        for name, label in (("truth", pieces.truth), ("prediction", pieces.prediction)):
            wrong = (label < 0) | (label >= self._labels)
            if name == "truth":
                wrong &= label != UNKNOWN
            if wrong.any():
                at = int(np.argmax(wrong))
                raise InputError(
                    f"{name} of a stream holds label {int(label[at])} at tick {int(pieces.start[at])} (ids "
                    f"from 0 to {self._labels - 1} were expected)"
                )

    def _align(self, part: Joined) -> None:
        """Hand the segments that ended to the alignment, cut at UNKNOWN time."""
        unknown = part.truth.label == UNKNOWN
        known = part.truth.take(~unknown)
        if unknown.any():
            holes = part.truth.take(unknown)
            there = Segments(
                np.concatenate([part.prediction.label, part.going_on.label]),
                np.concatenate([part.prediction.start, part.going_on.start]),
                np.concatenate([part.prediction.end, part.going_on.end]),
            )
            for begin, end in zip(holes.start.tolist(), holes.end.tolist(), strict=True):
                if begin > self._block:
                    self.alignment.feed(*(clip(side, self._block, begin) for side in (known, there)))
                    self.alignment.cut()
                self._block = end
        self.alignment.feed(*(clip(side, self._block, part.until) for side in (known, part.prediction)))

"""How a recording is told to a node: in which order, through which entries, as which bytes.

Two ways. Where every boundary lies on the slice grid and a change of label is the only boundary there is, one
label a slice through the batch entries, as a node at work gets them. Otherwise segment by segment, in the
order in which their ends come.

A segment-wise entry learns of a segment at its end, so a long one holds up the other side, whose segments
wait in a ring meanwhile. Two rewordings that change no figure keep the ring short: UNKNOWN time may be told
in parts, and a segment may be told sample by sample if it lasts a slice or more.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from .files import Recording
from .segments import UNKNOWN, Segments, runs

TICK_MASK = (1 << 30) - 1  # the node's times are modulo 2^30

TRUTH, PREDICTION = 0, 1
SEGMENT, SAMPLE = 0, 2

_RECORD_WORDS = 3
_RECORDS_A_READ = 32
_MOST_SLICES = 10_000_000  # a file of 20 MB; beyond, segments are the shorter way
_MOST_SAMPLES = 1_000_000
_BATCH = 64

Words = npt.NDArray[np.int32]
Ticks = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Feed:
    """A recording as the node program reads it.

    Attributes
    ----------
    plan : dict
        What `feed.bin` holds: ``{"mode": "records", "words": ...}`` or ``{"mode": "slices", "start": ...,
        "ticks": ..., "slices": ..., "chunk": ...}``.
    data : bytes
        Records: three little-endian int32 each, ``kind << 8 | label, start, end`` with kind 0 a true segment,
        1 a predicted one, 2 a true sample, 3 a predicted one. Slices: alternately a chunk of predictions and
        one of truth, a byte a slice.
    updates : int
        Calls of the node's entries.
    overlap : bool
        Segments of one side overlap: the node must be configured for it.
    reached : ndarray of int64
        The tick that is reached with each read of `feed.bin`, for what is told beside it.
    """

    plan: dict[str, Any]
    data: bytes
    updates: int
    overlap: bool
    reached: Ticks = field(default_factory=lambda: np.empty(0, np.int64))

    @property
    def files(self) -> dict[str, bytes]:
        """What the node program reads."""
        return {"plan.json": json.dumps(self.plan).encode(), "feed.bin": self.data}

    def into(self, node: Any) -> None:
        """Feed a node of this Python, as the node program feeds one on an engine."""
        for _ in self.reads(node):
            pass

    def reads(self, node: Any) -> Iterator[None]:
        """Feed a node of this Python, one step for each read of the file."""
        return self._slices(node) if self.plan["mode"] == "slices" else self._records(node)

    def _records(self, node: Any) -> Iterator[None]:
        words = np.frombuffer(self.data, dtype="<i4").reshape(-1, _RECORD_WORDS)
        a_read = self.plan["words"] // _RECORD_WORDS
        for at in range(0, len(words), a_read):
            _tell(node, words[at : at + a_read].tolist())
            yield

    def _slices(self, node: Any) -> Iterator[None]:
        t, at, left = self.plan["start"], 0, self.plan["slices"]
        while left:
            size = min(self.plan["chunk"], left)
            node.predict_batch(t, self.data[at : at + size])
            node.truth_batch(t, self.data[at + size : at + 2 * size])
            t = (t + size * self.plan["ticks"]) & TICK_MASK
            at += 2 * size
            left -= size
            yield


def _tell(node: Any, records: list[list[int]]) -> None:
    for tag, start, end in records:
        kind, label = divmod(tag, 256)
        if kind == TRUTH:
            node.truth_segment(label, start, end)
        elif kind == PREDICTION:
            node.predict_segment(label, start, end)
        elif kind == TRUTH + SAMPLE:
            node.truth(start, label)
        else:
            node.predict(start, label)


def lay_out(recording: Recording, ring: int) -> Feed:
    """Return the feed of a recording.

    Parameters
    ----------
    recording : Recording
        No segment lasts 2^28 ticks or more (`profile.check_node_range`).
    ring : int
        Runs a side that the node keeps while the other side is late.
    """
    sides = (recording.truth_raw, recording.prediction_raw)
    if any((side.start[1:] < side.end[:-1]).any() for side in sides):
        return _records(recording, ring, overlap=True)
    return _slices(recording, ring) if _on_grid(recording) else _records(recording, ring, overlap=False)


def _on_grid(recording: Recording) -> bool:
    """Whether labels a slice tell all there is to tell."""
    ticks = recording.task.slice_ticks
    begin, stop = recording.span
    if (stop - begin) % ticks or (stop - begin) // ticks > _MOST_SLICES:
        return False
    return all(
        not ((side.start - begin) % ticks).any() and len(runs(side)) == len(side)
        for side in (recording.truth_raw, recording.prediction_raw)
    )


def _slices(recording: Recording, ring: int) -> Feed:
    ticks = recording.task.slice_ticks
    begin, stop = recording.span
    count = (stop - begin) // ticks
    chunk = min(_BATCH, ring // 2)  # all labels of a chunk may differ, and wait for the other side's
    prediction, truth = (
        np.repeat(side.label, (side.end - side.start) // ticks).astype(np.uint8)
        for side in (recording.prediction_raw, recording.truth_raw)
    )
    whole = count // chunk * chunk
    alternating = np.stack((prediction[:whole].reshape(-1, chunk), truth[:whole].reshape(-1, chunk)), axis=1)
    data = alternating.tobytes() + prediction[whole:].tobytes() + truth[whole:].tobytes()
    plan = {
        "mode": "slices",
        "start": begin & TICK_MASK,
        "ticks": ticks,
        "slices": count,
        "chunk": chunk,
    }
    reached = begin + ticks * np.minimum(chunk * np.arange(1, -(-count // chunk) + 1, dtype=np.int64), count)
    return Feed(plan, data, 2 * len(reached), overlap=False, reached=reached)


def _records(recording: Recording, ring: int, *, overlap: bool) -> Feed:
    closed = int(recording.task.closed)
    sides = (recording.truth_raw, recording.prediction_raw)
    crowd = max(1, ring // 4)
    parts = []
    for side, (segs, other) in enumerate((sides, sides[::-1])):
        split = _split_unknown(segs, other, crowd)
        if not overlap:
            parts.append(_with_samples(split, other, side, recording.task.slice_ticks, crowd, closed))
        else:
            parts.append(_as_segments(split, side, closed))
    known = np.concatenate([until for until, _ in parts])
    words = np.concatenate([rows for _, rows in parts])
    # Stable: records of one side keep their order, and truth comes before prediction at one end.
    order = np.argsort(known, kind="stable")
    known, words = known[order], words[order]
    last = np.arange(_RECORDS_A_READ - 1, len(known) + _RECORDS_A_READ - 1, _RECORDS_A_READ)
    reached = known[np.minimum(last, len(known) - 1)]
    plan = {"mode": "records", "words": _RECORD_WORDS * _RECORDS_A_READ}
    return Feed(plan, words.astype("<i4").tobytes(), len(words), overlap, reached)


def _crowded(segs: Segments, other: Segments, crowd: int) -> npt.NDArray[np.bool_]:
    """Whether more than `crowd` segments of the other side end inside each segment."""
    first = np.searchsorted(other.end, segs.start, side="right")
    last = np.searchsorted(other.end, segs.end, side="left")
    return np.asarray(last - first > crowd)


def _split_unknown(segs: Segments, other: Segments, crowd: int) -> Segments:
    """Tell crowded UNKNOWN time in parts that end where every `crowd`-th segment of the other side does."""
    crowded = (segs.label == UNKNOWN) & _crowded(segs, other, crowd)
    if not crowded.any():
        return segs
    rows = []
    for (label, start, end), split in zip(segs, crowded.tolist(), strict=True):
        inside = (
            other.end[(other.end > start) & (other.end < end)][crowd - 1 :: crowd] if split else other.end[:0]
        )
        edges = np.unique([start, *inside.tolist(), end]).tolist()
        rows += [(label, a, b) for a, b in pairwise(edges)]
    return Segments.from_rows(rows)


def _as_segments(segs: Segments, side: int, closed: int) -> tuple[npt.NDArray[np.int64], Words]:
    """Return when each record becomes known, and the records."""
    words = np.empty((len(segs), _RECORD_WORDS), dtype=np.int32)
    words[:, 0] = side << 8 | segs.label.astype(np.int32) & 255
    words[:, 1] = segs.start & TICK_MASK
    words[:, 2] = (segs.end - closed) & TICK_MASK
    return segs.end, words


def _with_samples(
    segs: Segments, other: Segments, side: int, ticks: int, crowd: int, closed: int
) -> tuple[npt.NDArray[np.int64], Words]:
    """As `_as_segments`, crowded segments sample by sample.

    The last sample begins a slice before the segment's end and so may begin inside the one before: the node
    takes of it what is new. What follows must be of another label or a segment, which ends the run.
    """
    known, words = _as_segments(segs, side, closed)
    crowded = _crowded(segs, other, crowd) & (segs.end - segs.start >= ticks)
    if len(segs) > 1:
        # Of two touching segments of one label the second would go on where it should begin.
        crowded[1:] &= segs.label[1:] != segs.label[:-1]
    if int((-(-(segs.end - segs.start) // ticks))[crowded].sum()) > _MOST_SAMPLES:
        return known, words
    pieces_known, pieces = [], []
    at = 0
    for index in np.flatnonzero(crowded).tolist():
        label, start, end = int(segs.label[index]), int(segs.start[index]), int(segs.end[index])
        begins = np.append(np.arange(start, end - ticks, ticks), end - ticks)
        samples = np.zeros((len(begins), _RECORD_WORDS), dtype=np.int32)
        samples[:, 0] = (side + SAMPLE) << 8 | label & 255
        samples[:, 1] = begins & TICK_MASK
        pieces_known += [known[at:index], begins + ticks]
        pieces += [words[at:index], samples]
        at = index + 1
    return np.concatenate([*pieces_known, known[at:]]), np.concatenate([*pieces, words[at:]])

"""Segments of labels: the slices' categories beside pyannote's identification error and ward-metrics' ones."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from streamgauge.segments import NULL, UNKNOWN, Segments, clip, clip_to_known, runs
from streamgauge.slices import Slices, slices

from .measure import Case, Check, Contestant, peer
from .node import Engines, NodeWork, Stream, configuration

MOST_LABELS = 50_000  # ticks that are played as one label each
SIDES = ("truth", "prediction")


@dataclass(frozen=True)
class Pair:
    """Truth and prediction over one span, without gaps and overlaps."""

    name: str
    truth: Segments
    prediction: Segments
    labels: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.truth) + len(self.prediction)

    @property
    def ticks(self) -> int:
        """Length of the span."""
        return int(self.truth.end[-1] - self.truth.start[0])

    @property
    def stream(self) -> Stream:
        """A label a tick."""
        sides = [
            bytes(np.repeat(side.label, side.end - side.start).astype(np.uint8))
            for side in (self.truth, self.prediction)
        ]
        return Stream(self.name, *sides, len(self.labels))

    @property
    def one_against_the_rest(self) -> Pair:
        """The label with most true segments as the only one, from its first segment to its last.

        Of a truth with unknown time, the longest known stretch: the peer knows nothing of it.
        """
        blocks = clip_to_known(self.truth, self.prediction)
        known = max(blocks, key=lambda block: int(block[0].end[-1] - block[0].start[0]))
        often = int(np.bincount(known[0].label[known[0].label != NULL]).argmax())
        sides = [
            runs(Segments((side.label == often).astype(np.int16), side.start, side.end)) for side in known
        ]
        held = [side.take(side.label == 1) for side in sides]
        span = min(int(h.start[0]) for h in held), max(int(h.end[-1]) for h in held)
        truth, prediction = (clip(side, *span) for side in sides)
        name = f"{self.name}, {self.labels[often]} alone"
        return replace(self, name=name, truth=truth, prediction=prediction, labels=("NULL", "label"))


def _case(pair: Pair, what: str, engines: Engines, peers: list[Contestant], notes: list[str]) -> Case:
    """The node's and the host's slices, and the peers beside them."""

    def ours() -> Slices:
        return slices(pair.truth, pair.prediction, len(pair.labels))

    told = sorted(
        (end, side, label, start)
        for side, name in enumerate(SIDES)
        for label, start, end in getattr(pair, name)
    )
    words = array("i", [word for end, side, label, start in told for word in (side, label, start, end)])
    files = {"segments.bin": words.tobytes()}
    config = configuration(len(pair.labels), ["slices"])
    found = ours()
    whole = len(pair), "slices", engines
    node = [NodeWork("node, a call a segment", "segments", config, files, *whole)]
    if pair.ticks <= MOST_LABELS:
        stream = pair.stream
        labels = {"truth.bin": stream.truth, "prediction.bin": stream.prediction}
        chunk = {"CHUNK": stream.chunk}
        node.append(NodeWork("node, arrays of labels", "batch", config, labels, *whole, chunk))
    return Case(
        what=what,
        input=f"{pair.name}, {len(pair):,} segments of both sides with NULL's, {pair.ticks:,} ticks",
        unit="segment",
        node=node,
        hosts=[Contestant("host, all segments", ours, len(pair))],
        peers=peers,
        check_node=lambda raw: [node_check(raw["slices"], found)],
        notes=notes,
    )


def node_check(raw: dict[str, list[int]], host: Slices) -> Check:
    """Whether all nine categories of all labels are the host's."""
    want = {
        "tp": host.correct,
        "sg": host.substituted_ground,
        "si": host.substituted_inferred,
        "d": host.deletion,
        "u": host.underfill,
        "f": host.fragmentation,
        "i": host.insertion,
        "o": host.overfill,
        "m": host.merge,
    }
    same = all(raw[name] == ticks.tolist() for name, ticks in want.items())
    return Check("node and host: ticks of every category and label", same, "exactly")


def identification_case(pair: Pair, engines: Engines) -> Case:
    """Beside pyannote's confusion, missed detection, false alarm and correct.

    Raises
    ------
    PeerAbsent
        pyannote.metrics is not installed.
    """
    core, identification = peer("pyannote.core"), peer("pyannote.metrics.identification")
    told = []
    for side in (pair.truth, pair.prediction):
        annotation = core.Annotation()
        for label, start, end in side:
            if label not in (NULL, UNKNOWN):
                annotation[core.Segment(start, end)] = pair.labels[label]
        told.append(annotation)
    span = core.Timeline(
        [core.Segment(start, end) for label, start, end in pair.truth if label != UNKNOWN]
    ).support()

    def theirs() -> Any:
        metric = identification.IdentificationErrorRate()
        metric(*told, uem=span)
        return metric

    def check() -> list[Check]:
        metric, found = theirs(), slices(pair.truth, pair.prediction, len(pair.labels))
        return [identification_check(metric, found)]

    return _case(
        pair,
        "what is confused, missed, false or right",
        engines,
        [Contestant("pyannote IdentificationErrorRate", theirs, len(pair), check=check)],
        [
            "pyannote counts four totals, node and host nine categories by label that add up to them. NULL is "
            "the absence of an annotation there. Making annotations of the segments is not in its time.",
            "Host and peer take the whole recording, so their bytes are the most held meanwhile, the input not "
            "counted; the node keeps no segment.",
        ],
    )


def identification_check(metric: Any, found: Slices) -> Check:
    """Whether pyannote's totals are sums of ours."""
    totals = found.totals
    ours = {
        "confusion": totals["S"],
        "missed detection": totals["D"] + totals["U"] + totals["F"],
        "false alarm": totals["I"] + totals["O"] + totals["M"],
        "correct": int(found.correct[1:].sum()),
        "total": int(found.ground[1:].sum()),
    }
    same = all(metric[name] == ticks for name, ticks in ours.items())
    return Check("host and pyannote: confusion, missed, false alarm, correct, total", same, "exactly")


def ward_case(pair: Pair, engines: Engines) -> Case:
    """Beside ward-metrics' segment categories; the pair has one label and NULL.

    Raises
    ------
    PeerAbsent
        ward-metrics is not installed.
    """
    methods = peer("wardmetrics.core_methods")

    def events(side: Segments) -> list[tuple[int, int]]:
        return [(start, end) for label, start, end in side if label != NULL]

    told = [events(side) for side in (pair.truth, pair.prediction)]

    def theirs() -> Any:
        # It joins touching events in the lists that it is given.
        return methods.eval_segments(list(told[0]), list(told[1]))

    def check() -> list[Check]:
        counts, found = theirs()[2], slices(pair.truth, pair.prediction, len(pair.labels))
        return [ward_check(counts, found)]

    return _case(
        pair,
        "categories of one label against the rest",
        engines,
        [Contestant("ward-metrics eval_segments", theirs, len(pair), check=check)],
        [
            "ward-metrics tells under- and overfill at the start from those at the end: added up here. It has "
            "one class and so no substitution; with several it would count a substituted tick twice, as missed "
            "in the one class and as false in the other. So one label is compared.",
        ],
    )


def ward_check(counts: dict[str, Any], found: Slices) -> Check:
    """Whether ward-metrics' ticks are ours, category by category."""
    theirs = {
        "correct": counts["TN"] + counts["TP"],
        "S": 0,
        "D": counts["D"],
        "I": counts["I"],
        "U": counts["Us"] + counts["Ue"],
        "O": counts["Os"] + counts["Oe"],
        "F": counts["F"],
        "M": counts["M"],
    }
    same = found.totals == theirs and found.correct.tolist() == [counts["TN"], counts["TP"]]
    return Check("host and ward-metrics: TP, TN, D, I, F, M, Us + Ue, Os + Oe", same, "exactly")

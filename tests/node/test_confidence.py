"""Each record has the confidence that holds where its slice begins, however late its truth comes."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from node.harness import UNKNOWN, config

from streamgauge import firmware

BINS = 16
WRAP = 1 << 30


@dataclass
class Literal:
    """A dictionary of ticks, and the rules of a sample read literally."""

    slice: int
    label: dict[int, int] = field(default_factory=dict)
    confidence: dict[int, int] = field(default_factory=dict)
    truth: dict[int, int] = field(default_factory=dict)
    end: int | None = None
    last: int = 0
    begin: int | None = None
    open: bool = False
    said: int = 0
    held: int = 0  # what the newest tick has

    def sample(self, t: int, label: int, confidence: int | None, labels: int) -> None:
        """The recogniser's sample."""
        if not 0 <= label < labels:
            return
        if self.end is None:
            self.end, self.begin, self.last = t, t, t - 1
        if t < self.end and (t <= self.last or self.end - t >= self.slice):
            return
        if confidence is not None:
            self.said = (confidence & (256 - 256 // BINS)) + 128 // BINS
        bridged = self.open and t - self.end < self.slice
        for tick in range(self.end, t):
            self.confidence[tick] = self.held if bridged else 0
            self.label[tick] = self.label[self.end - 1] if bridged else 0
        for tick in range(max(t, self.end), t + self.slice):
            self.confidence[tick] = self.held = self.said
            self.label[tick] = label
        self.last = t
        self.end = t + self.slice
        self.open = True

    def table(self, until: int) -> dict[str, Any]:
        """What the node's table says when the recording ends at `until`."""
        rows = {name: [0] * BINS for name in ("labelled", "right", "confidence", "without")}
        begin = min(t for t in (self.begin, *list(self.truth)[:1]) if t is not None)
        for tick in range(begin, until, self.slice):
            sure = self.confidence.get(tick, 0)
            bin_ = sure * BINS >> 8
            truth = self.truth.get(tick, 0)
            if truth == UNKNOWN:
                rows["without"][bin_] += 256
                continue
            rows["labelled"][bin_] += 256
            rows["right"][bin_] += 256 * (truth == self.label.get(tick, 0))
            rows["confidence"][bin_] += sure
        return rows


def play(seed: int, changes: int, late: int, slice_: int, bad: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """A recogniser's samples with truth that comes `late` slices after: the node's table and the literal one."""
    rng = Random(seed)
    made = config(4, slice=slice_, runs=256, pending=256)
    made["estimators"] = ["prequential", "reliability"]
    made["options"] = {"reliability": {"bins": BINS, "changes": changes}}
    node = firmware.node_model().Node(made)
    here = Literal(slice_)
    origin = WRAP - rng.randrange(2000)
    truth_at = rng.randrange(3 * slice_)
    t = rng.randrange(3 * slice_)
    for _ in range(rng.randrange(1, 150)):
        label = rng.randrange(4) if not bad or rng.random() < 0.9 else rng.choice([4, 200, 255])
        if rng.random() < 0.8:
            confidence = rng.randrange(256)
            node.predict_with((origin + t) % WRAP, label, confidence)
        else:
            confidence = None
            node.predict((origin + t) % WRAP, label)
        here.sample(t, label, confidence, 4)
        while truth_at + (late + 1) * slice_ <= t:
            value = rng.choice([0, 1, 2, 3, UNKNOWN])
            for _ in range(rng.randrange(1, 5)):
                node.truth((origin + truth_at) % WRAP, value)
                here.truth |= dict.fromkeys(range(truth_at, truth_at + slice_), value)
                truth_at += slice_
        t += slice_
        if bad and rng.random() < 0.2:
            t = max(t + rng.randrange(-2 * slice_, 3 * slice_), 0)
    node.finish()
    ends = [here.end or 0, truth_at if here.truth else 0]
    return node.raw()["reliability"], here.table(max(ends)) if here.begin is not None else {}


@given(st.integers(0, 2**32), st.sampled_from([0, 1, 7, 40]), st.sampled_from([1, 3, 60]), st.booleans())
@settings(max_examples=300)
def test_every_record_has_the_confidence_of_its_first_tick(seed, late, slice_, bad):
    raw, want = play(seed, 256, late, slice_, bad)
    assert raw["missed"] == 0
    assert {name: raw[name] for name in want} == want


@given(st.integers(0, 2**32), st.sampled_from([7, 40]), st.sampled_from([1, 3]))
@settings(max_examples=60)
def test_a_ring_too_small_misses_records_and_miscounts_none(seed, late, slice_):
    raw, _ = play(seed, 4, late, slice_, True)
    whole, _ = play(seed, 256, late, slice_, True)
    missing = sum(whole["labelled"]) + sum(whole["without"]) - sum(raw["labelled"]) - sum(raw["without"])
    assert missing == 256 * raw["missed"]
    for name in ("labelled", "right", "confidence", "without"):
        assert all(some <= every for some, every in zip(raw[name], whole[name], strict=True))


def test_a_ring_too_small_is_seen_to_miss():
    raw, _ = play(3, 4, 40, 1, False)
    assert raw["missed"] > 20


def test_changing_confidences_cut_no_runs():
    # Two hundred slices wait for their truth; labels alone would fit the ring of four runs.
    made = config(4, runs=4)
    made["estimators"] = ["slices", "reliability"]
    made["options"] = {"reliability": {"bins": BINS, "changes": 256}}
    node = firmware.node_model().Node(made)
    for t in range(200):
        node.predict_with(t, 1, 16 * (t % 16))
    for t in range(200):
        node.truth(t, 1)
    node.finish()
    raw = node.raw()
    assert raw["join"]["unassessed"] == 0
    assert raw["slices"]["tp"][1] == 200
    assert raw["reliability"]["labelled"] == [256 * (12 + (i < 8)) for i in range(BINS)]


def test_samples_that_waited_bring_their_confidence_along():
    made = config(4)
    made["estimators"] = ["slices", "reliability"]
    made["options"] = {"reliability": {"bins": BINS}}
    node = firmware.node_model().Node(made)
    node.predict_with(0, 1, 0)
    node._join[56] = 1  # an update is under way
    for t in range(1, 6):
        node.predict_with(t, 1, 16 * t)
    node._join[56] = 0
    for t in range(6):
        node.truth(t, 1)
    node.finish()
    assert node.raw()["reliability"]["labelled"][:7] == [256] * 6 + [0]


def test_a_confidence_that_is_no_number_is_counted_and_nothing_else_happens():
    made = config(4)
    made["estimators"] = ["slices", "reliability"]
    made["options"] = {"reliability": {"bins": BINS}}
    node = firmware.node_model().Node(made)
    node.predict_with(0, 1, 99)
    node.predict_with(1, 1, "sure")
    node.truth(0, 1)
    node.truth(1, 1)
    node.finish()
    raw = node.raw()
    assert raw["counters"]["label"] == 1
    assert sum(raw["reliability"]["labelled"]) == 2 * 256

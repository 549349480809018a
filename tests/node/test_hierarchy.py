"""The node's hierarchy: equal to the host in every whole number, on CPython, on 32 and on 64 bits."""

from __future__ import annotations

import random
import struct
from dataclasses import dataclass
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gauge import hierarchy as kernel
from gauge.hierarchy import Hierarchy
from gauge.ledger import Ledger
from oracles import hierarchy as oracle
from streamgauge import firmware
from streamgauge.hierarchy import t_measure

WRAP = 1 << 30
TRUTH, PREDICTION, ADVANCE, FINISH, BEGIN = range(5)
MEASURES = ("recall_reduced", "precision_reduced", "recall_full", "precision_full")

# Plays a file of events (kind, level, tick) to a node; the same text runs under CPython.
PLAY = """
import struct
from gauge.hierarchy import Hierarchy
from gauge.ledger import Ledger

def play(path, node, buffer):
    with open(path, "rb") as file:
        while file.readinto(buffer) == 12:
            kind, level, tick = struct.unpack("<iii", buffer)
            if kind == 0:
                node.truth(level, tick)
            elif kind == 1:
                node.prediction(level, tick)
            elif kind == 2:
                node.advance(tick)
            elif kind == 3:
                node.finish(tick)
            else:
                node.begin(tick)
"""


@dataclass
class Recording:
    """Two hierarchies without gaps, in ticks from 0 to `ticks`, and how a node is to hear of them."""

    truth: list[list[tuple[int, int]]]
    prediction: list[list[tuple[int, int]]]
    ticks: int
    window: int
    frame: int = 1
    origin: int = 0

    def events(self, rng: random.Random, rarely: int = 1) -> list[tuple[int, int, int]]:
        """Boundaries as they close, in any order among the levels, and a clock that follows them."""
        told = []
        for kind, levels in ((TRUTH, self.truth), (PREDICTION, self.prediction)):
            for level, rows in enumerate(levels):
                told += [(end, kind, level) for _, end in rows]
        told.sort(key=lambda event: (event[0], rng.random()))
        events = [(BEGIN, 0, self.origin % WRAP)]
        clock = 0
        for end, kind, level in told:
            while clock < end and rng.randrange(rarely) == 0:
                clock = rng.randint(clock + 1, end)
                events.append((ADVANCE, 0, (self.origin + clock) % WRAP))
            events.append((kind, level, (self.origin + end) % WRAP))
        events.append((FINISH, 0, (self.origin + self.ticks) % WRAP))
        return events

    def node(self, boundaries: int = 64) -> Hierarchy:
        return Hierarchy(Ledger(), len(self.truth), len(self.prediction), self.window, self.frame, boundaries)

    def host(self) -> dict[str, list[int]]:
        """What the host counts: queries, concordant and comparable pairs of each measure."""
        found = {}
        for gain in ("reduced", "full"):
            score = t_measure(
                self.truth, self.prediction, window=self.window * self.frame, frame=self.frame, gain=gain
            )
            for name, side in (("recall", score.of_truth), ("precision", score.of_prediction)):
                found[f"{name}_{gain}"] = [side.queries, side.concordant, side.pairs, side.share]
        return found


def play(events, node):
    for kind, level, tick in events:
        if kind == TRUTH:
            node.truth(level, tick)
        elif kind == PREDICTION:
            node.prediction(level, tick)
        elif kind == ADVANCE:
            node.advance(tick)
        elif kind == FINISH:
            node.finish(tick)
        else:
            node.begin(tick)


def assert_equals_host(raw, recording, frames=None):
    assert raw["frames"] == (recording.ticks // recording.frame if frames is None else frames)
    for name, (queries, concordant, pairs, share) in recording.host().items():
        assert raw[name][:3] == [queries, concordant, pairs], name
        if queries:
            # Each share is cut off after 20 bits.
            assert 0 <= share - raw[name][3] / queries / (1 << 20) < 2**-20 + 1e-12


def random_rows(rng, ticks, cuts):
    times = sorted({0, ticks, *(rng.randrange(1, ticks) for _ in range(cuts))})
    return list(pairwise(times))


def random_recording(rng, ticks, window, frame=1, origin=0, most=12):
    sides = [
        [random_rows(rng, ticks, rng.randint(0, most)) for _ in range(rng.randint(1, 4))] for _ in range(2)
    ]
    return Recording(*sides, ticks, window, frame, origin)


@st.composite
def small_recordings(draw):
    ticks = draw(st.integers(2, 14))

    def levels():
        cuts = st.sets(st.integers(1, ticks - 1), max_size=5)
        return [list(pairwise([0, *sorted(draw(cuts)), ticks])) for _ in range(draw(st.integers(1, 4)))]

    return Recording(levels(), levels(), ticks, draw(st.integers(1, 16)))


@given(small_recordings(), st.integers(0, 2**32).map(random.Random))
def test_every_number_equals_the_loop_over_triples(recording, rng):
    node = recording.node()
    play(recording.events(rng), node)
    raw = node.raw()
    truth = oracle.depth_by_segments(recording.truth)
    prediction = oracle.depth_by_segments(recording.prediction)
    for name in MEASURES:
        reference, other = (truth, prediction) if name.startswith("recall") else (prediction, truth)
        gain = oracle.reduced if name.endswith("reduced") else oracle.full
        found = oracle.queries(reference, other, recording.ticks, recording.window, gain)
        assert raw[name] == [
            sum(pairs > 0 for *_, pairs in found),
            sum(concordant for _, _, concordant, _ in found),
            sum(pairs for *_, pairs in found),
            sum((concordant << 20) // pairs for _, _, concordant, pairs in found if pairs),
        ]
    assert raw["frames"] == recording.ticks


@given(
    st.integers(20, 400),
    st.integers(1, 160),
    st.integers(1, 9),
    st.sampled_from([0, 12345, WRAP - 1, WRAP - 150]),
    st.integers(1, 3),
    st.integers(0, 2**32).map(random.Random),
)
def test_counts_equal_the_hosts_at_any_frame_size_and_across_the_wrap(
    ticks, window, frame, origin, rarely, rng
):
    recording = random_recording(rng, ticks, window, frame, origin)
    node = recording.node()
    play(recording.events(rng, rarely), node)
    raw = node.raw()
    assert (raw["late"], raw["order"], raw["level"]) == (0, 0, 0)
    if ticks >= frame:
        assert_equals_host(raw, recording)


@st.composite
def nested_recordings(draw):
    """Coarse boundaries are fine ones too, as annotations have them; some levels have none at all."""
    ticks = draw(st.integers(2, 160))

    def levels():
        cuts = draw(st.lists(st.integers(1, ticks), max_size=14))
        found = []
        for _ in range(draw(st.integers(1, 4))):
            found.insert(0, list(pairwise(sorted({0, ticks, *cuts}))))
            cuts = cuts[: draw(st.integers(0, len(cuts)))]
        return found

    return Recording(levels(), levels(), ticks, draw(st.integers(1, 100)))


@given(nested_recordings(), st.integers(0, 2**32).map(random.Random))
def test_the_frames_of_one_advance_count_as_those_of_many(recording, rng):
    """However often one asks, at the window's pace or all at the end, and whatever is read in between."""
    events = recording.events(rng, rarely=10**9)
    at_once = recording.node()
    play(events, at_once)
    assert_equals_host(at_once.raw(), recording)
    one_by_one, looked_at = recording.node(), recording.node()
    for node in (one_by_one, looked_at):
        clock = 0
        for event in events:
            until = recording.ticks if event[0] == FINISH else event[2]
            while clock < until:
                clock += 1
                node.advance(clock)
                if node is looked_at and rng.randrange(3) == 0:
                    if rng.randrange(2):
                        node.settle()
                    else:
                        node.raw()
            play([event], node)
    assert one_by_one.raw() == looked_at.raw() == at_once.raw()


@given(nested_recordings(), st.integers(0, 160), st.integers(0, 2**32).map(random.Random))
def test_a_settled_state_does_not_tell_how_it_came_about(recording, until, rng):
    events = [event for event in recording.events(rng) if event[0] != FINISH and event[2] <= until]
    often, once = recording.node(), recording.node()
    for event in events:
        play([event], often)
        often.settle()
    play(events, once)
    once.settle()
    # Words of the last query are scratch.
    kept = [i for i in range(len(once.w)) if not kernel._SUMS_END <= i < kernel._LEVELS]
    kept = [i for i in kept if i >= kernel._RINGS or (i - kernel._LEVELS) % 4 != kernel._L_RIGHT]
    assert [once.w[i] for i in kept] == [often.w[i] for i in kept]
    assert once.w[kernel._SAME] == once.w[kernel._LAG] == 0
    assert all(0 <= word < WRAP for word in once.w)


def test_a_query_is_worked_out_only_where_a_segment_around_it_has_changed(monkeypatch):
    asked = []
    query = kernel._query
    monkeypatch.setattr(kernel, "_query", lambda *args: (asked.append(1), query(*args)))
    rows = [list(pairwise(range(0, 1001, every))) for every in (100, 20, 10)]
    late = [[(max(0, a - 3), min(1000, b - 3) if b < 1000 else 1000) for a, b in level] for level in rows]
    recording = Recording(rows, late, 1000, 150)
    node = recording.node(128)
    node.begin(0)
    for now in range(1, 1001):
        for side, levels in ((0, recording.truth), (1, recording.prediction)):
            for level, segments in enumerate(levels):
                if any(end == now for _, end in segments):
                    (node.prediction if side else node.truth)(level, now)
        node.advance(now)
    # The window grows for 150 frames; behind them each boundary's frame is a change, at most.
    assert len(asked) <= 150 + 2 * 70 + 10
    node.finish(1000)
    assert_equals_host(node.raw(), recording)


def test_a_query_is_answered_when_its_window_is_told():
    recording = Recording([[(0, 10), (10, 40)]], [[(0, 12), (12, 40)]], 40, window=5)
    node = recording.node()
    node.begin(0)
    node.truth(0, 10)
    node.prediction(0, 12)
    for now in range(41):
        node.advance(now)
        assert node.raw()["frames"] == max(0, now - 4)
    node.finish(40)
    assert_equals_host(node.raw(), recording)


def test_recordings_add_up():
    rng = random.Random(3)
    first, second = (random_recording(rng, 200, 30) for _ in range(2))
    second = Recording(first.truth, second.truth[:1] * len(first.prediction), 200, 30, 1, 10**6)
    node = first.node()
    play(first.events(rng), node)
    alone = node.raw()
    play(second.events(rng), node)
    both = node.raw()
    other = second.node()
    play(second.events(rng), other)
    for name in MEASURES:
        sums = [a + b for a, b in zip(alone[name], other.raw()[name], strict=True)]
        assert both[name] == sums
    assert both["frames"] == 400


def test_a_reset_forgets_everything():
    rng = random.Random(4)
    recording = random_recording(rng, 200, 30)
    node = recording.node()
    fresh = list(node.w)
    events = recording.events(rng)
    play(events, node)
    assert list(node.w) != fresh
    node.reset()
    assert list(node.w) == fresh
    play(events, node)
    assert_equals_host(node.raw(), recording)


def test_without_begin_a_recording_begins_with_the_first_time_heard_of():
    node = Hierarchy(Ledger(), 1, 1, 5, 1, 8)
    node.advance(1000)
    node.truth(0, 1010)
    node.prediction(0, 1012)
    node.finish(1040)
    assert_equals_host(node.raw(), Recording([[(0, 10), (10, 40)]], [[(0, 12), (12, 40)]], 40, 5))


def test_a_full_ring_loses_and_counts_the_new_boundary_alone():
    node = Hierarchy(Ledger(), 1, 1, 50, 1, 3)
    node.begin(0)
    for end in (5, 10, 15, 20, 25):
        node.truth(0, end)
    node.prediction(0, 12)
    node.finish(40)
    raw = node.raw()
    assert (raw["overflow_truth"], raw["overflow_prediction"]) == (2, 0)
    kept = [[(0, 5), (5, 10), (10, 15), (15, 40)]]
    assert_equals_host(raw, Recording(kept, [[(0, 12), (12, 40)]], 40, 50))


def test_looking_at_the_figures_makes_no_room_in_a_ring():
    nodes = [Hierarchy(Ledger(), 1, 1, 5, 1, 1) for _ in range(2)]
    for node in nodes:
        node.begin(0)
        node.truth(0, 10)
        node.advance(14)  # the next query is the frame that this segment ends with
        if node is nodes[0]:
            node.raw()
            node.settle()
        node.truth(0, 15)
        node.finish(20)
    assert nodes[0].raw() == nodes[1].raw()
    assert nodes[0].raw()["overflow_truth"] == 1


def test_what_comes_too_late_or_in_no_order_is_counted_and_left_out():
    node = Hierarchy(Ledger(), 2, 1, 5, 1, 8)
    node.begin(100)
    node.truth(0, 110)
    node.truth(0, 108)
    node.truth(2, 110)
    node.prediction(1, 110)
    node.prediction(0, 99)
    node.advance(120)
    node.truth(1, 119)
    node.advance(119)
    node.truth(1, 120)
    node.finish(140)
    raw = node.raw()
    assert (raw["order"], raw["level"], raw["late"]) == (1, 2, 3)
    assert_equals_host(raw, Recording([[(0, 10), (10, 40)], [(0, 20), (20, 40)]], [[(0, 40)]], 40, 5))


def test_frames_without_a_boundary_in_sight_cost_nothing(monkeypatch):
    asked = []
    query = kernel._query
    monkeypatch.setattr(kernel, "_query", lambda *args: (asked.append(1), query(*args)))
    half = 10**6
    recording = Recording(
        [[(0, half), (half, 2 * half)]], [[(0, half + 2), (half + 2, 2 * half)]], 2 * half, 50
    )
    node = recording.node()
    play(recording.events(random.Random(1)), node)
    assert_equals_host(node.raw(), recording)
    assert len(asked) < 110


def test_sums_pass_thirty_bits():
    rng = random.Random(8)
    ticks = 1200
    levels = [[random_rows(rng, ticks, 3 + 5 * i) for i in range(4)] for _ in range(2)]
    recording = Recording(*levels, ticks, 4095)
    node = recording.node()
    play(recording.events(rng), node)
    raw = node.raw()
    assert raw["recall_full"][2] > 1 << 28
    for _ in range(6):
        node.begin(0)
        play(recording.events(rng)[1:], node)
    again = node.raw()
    assert again["recall_full"][2] == 7 * raw["recall_full"][2] > WRAP
    assert again["recall_full"][3] == 7 * raw["recall_full"][3] > WRAP
    assert all(0 <= word < WRAP for word in node.w)
    assert_equals_host(raw, recording)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((0, 1, 5, 1, 8), "1 to 4 levels"),
        ((1, 5, 5, 1, 8), "1 to 4 levels"),
        ((1, 1, 0, 1, 8), "the window has 1 to 4095 frames"),
        ((1, 1, 4096, 1, 8), "the window has 1 to 4095 frames"),
        ((1, 1, 5, 0, 8), "at least 1 tick"),
        ((1, 1, 5, 1, 0), "at least 1 boundary"),
    ],
)
def test_what_cannot_work_is_refused_at_construction(arguments, text):
    with pytest.raises(ValueError, match=text):
        Hierarchy(Ledger(), *arguments)


def test_four_and_four_levels_with_a_window_of_150_frames_fit_into_4_kilobytes():
    ledger = Ledger()
    Hierarchy(ledger, 4, 4, 150, 1, 110)
    assert ledger.used <= 4096


def recordings_for_engines():
    rng = random.Random(11)
    for window, frame, origin in (
        (150, 1, 0),
        (150, 5, WRAP - 700),
        (3, 1, 7),
        (724, 1, 0),
        (725, 1, 0),
        (4095, 2, 9),
    ):
        yield random_recording(rng, 1500, window, frame, origin, most=40)


def package(engine):
    """The two modules alone: what a node needs for a hierarchy and nothing else."""
    sources = firmware.sources()
    names = ("gauge/hierarchy.py", "gauge/ledger.py")
    built = {n[:-3] + ".mpy": firmware.compile_source(n, sources[n], engine.march) for n in names}
    return {"gauge/__init__.py": b"", **built}


@pytest.fixture(params=["arm", "x64"])
def engine(request):
    return request.getfixturevalue(request.param)


def test_a_node_equals_its_model_and_the_host(engine):
    rng = random.Random(12)
    files = package(engine)
    script, expected = [PLAY], []
    for number, recording in enumerate(recordings_for_engines()):
        events = recording.events(rng, rarely=2)
        files[f"{number}.bin"] = b"".join(struct.pack("<iii", *event) for event in events)
        sides = f"{len(recording.truth)}, {len(recording.prediction)}"
        script += [
            f"node = Hierarchy(Ledger(), {sides}, {recording.window}, {recording.frame}, 64)",
            f"play('{number}.bin', node, bytearray(12))",
            "print(node.raw())",
        ]
        model = recording.node()
        play(events, model)
        expected.append(model.raw())
        assert_equals_host(model.raw(), recording)
    output = engine.run("\n".join(script), files, heap_bytes=96 * 1024, timeout=120)
    assert [eval(line) for line in output.stdout.splitlines()] == expected


ALLOCATION = """
import micropython
from gauge.hierarchy import Hierarchy
from gauge.ledger import Ledger

node = Hierarchy(Ledger(), 4, 4, 150, 1, 64)

def run(node, begin, end):
    t = begin
    while t < end:
        if t % 7 == 0:
            node.truth(3, t)
            node.prediction(3, t + 1)
        if t % 40 == 0:
            node.truth(2, t)
            node.prediction(1, t + 3)
        node.advance(t)
        t += 1

def rest(node):
    node.truth(9, 1)
    node.truth(0, 1)
    node.finish(3000)
    node.begin(5000)
    node.advance(5400)
    node.reset()

node.begin(0)
run(node, 0, 400)
before = micropython.mem_total()
before = micropython.mem_total()
run(node, 400, 2500)
rest(node)
after = micropython.mem_total()
print(after - before)
node.begin(0)
run(node, 0, 400)
micropython.heap_lock()
try:
    run(node, 400, 1000)
finally:
    micropython.heap_unlock()
print(node.raw()["frames"])
"""


def test_nothing_is_allocated_after_construction(arm):
    output = arm.run(ALLOCATION, package(arm), heap_bytes=96 * 1024)
    assert output.stdout.split() == ["0", "850"]

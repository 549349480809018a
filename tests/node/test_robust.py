"""What a node lives through: interrupts in the middle of anything, clocks that jump, nonsense, floods."""

from __future__ import annotations

import ast
import json
import random
import sys
from collections.abc import Callable
from typing import Any

import pytest
from nodelife import Flash, Wire, config, gauge, sealed

from streamgauge import firmware
from streamgauge.engines import Engine

from gauge.line import Line  # isort: skip
from gauge.snapshot import Store  # isort: skip

WRAP = 1 << 30
MILLION = 1_000_000
STEPS = (
    *(MILLION,) * 6,
    0,
    -MILLION,
    MILLION // 2,
    1,
    3 * MILLION // 2,
    30 * MILLION,
    -30 * MILLION,
    WRAP // 3,
    WRAP // 2,
    -WRAP // 4,
)
BUSY = 56


# Interrupts. A hard interrupt can come between any two machine instructions; here it comes at every line of
# every function of the node, which is as fine as an interpreter can be stopped.


def interrupted(main: Callable[[], Any], handler: Callable[[], Any], at: int) -> bool:
    """Run `main`, and `handler` before the `at`-th line that runs in the node's package; whether it came."""
    left = at

    def trace(frame: Any, event: str, _: Any) -> Any:
        nonlocal left
        if "/gauge/" not in frame.f_code.co_filename:
            return None
        if event == "line":
            left -= 1
            if left == -1:
                sys.settrace(None)
                handler()
                sys.settrace(trace)
        return trace

    sys.settrace(trace)
    try:
        main()
    finally:
        sys.settrace(None)
    return left < 0


def everywhere(make: Callable[[], Callable[[], Any]], most: int = 150) -> list[int]:
    """Where to interrupt what `make` makes: at every line; of a long run at its first lines and others."""
    count = 1
    while interrupted(make(), lambda: None, 2 * count):
        count *= 2
    low, high = count, 2 * count + 1
    while low < high:
        middle = (low + high) // 2
        if interrupted(make(), lambda: None, middle):
            low = middle + 1
        else:
            high = middle
    if low <= most:
        return list(range(low))
    return sorted({*range(most // 3), *random.Random(1).sample(range(low), 2 * most // 3), low - 1})


def ready(**more: Any) -> Any:
    """A node that has had truth and prediction up to 400, and predictions up to 500."""
    node = gauge.Node(config(group=2, **more))
    for t in range(0, 500, 10):
        node.predict(t, t // 30 % 3)
        if t < 400:
            node.truth(t, t // 50 % 3)
    return node


def line_of(node: Any) -> None:
    import io

    Line(node).write(io.BytesIO())


MAIN: dict[str, Callable[[Any], Any]] = {
    "the same label": lambda node: node.truth(400, 2),
    "another label": lambda node: node.truth(400, 1),
    "a gap": lambda node: node.truth(450, 1),
    "a segment": lambda node: node.truth_segment(1, 400, 490),
    "a batch": lambda node: node.truth_batch(400, b"\1\1\2\0\0\2"),
    "a rejected sample": lambda node: node.truth(100, 1),
    "an unknown label": lambda node: node.truth(400, 77),
    "a read-out": lambda node: node.raw(),
    "a report line": line_of,
}


@pytest.mark.parametrize("name", MAIN)
def test_a_prediction_that_interrupts_anything_counts_as_if_it_came_after(name: str) -> None:
    main = MAIN[name]
    after = ready()
    main(after)
    for t in (500, 510):
        after.predict(t, 2)
    expected = after.raw()

    def handler(node: Any) -> Callable[[], None]:
        return lambda: [node.predict(t, 2) for t in (500, 510)] and None

    def making() -> Callable[[], Any]:
        node = ready()
        return lambda: main(node)

    places = everywhere(making)
    for at in places:
        node = ready()
        assert interrupted(lambda node=node: main(node), handler(node), at)
        assert node.raw() == expected, f"line {at}"
    assert len(places) > 10


def test_a_prediction_that_interrupts_a_save_waits_and_the_file_is_whole() -> None:
    probe = ready()
    Store(probe, "g", Flash()).save()
    probe.predict(500, 2)
    expected = probe.raw()

    def saving() -> Callable[[], Any]:
        return Store(ready(), "g", Flash()).save

    for at in everywhere(saving):
        node = ready()
        flash = Flash()
        store = Store(node, "g", flash)
        before = node.raw()
        assert interrupted(store.save, lambda node=node: node.predict(500, 2), at)
        assert node.raw() == expected
        again = gauge.Node(node.config)
        assert Store(again, "g", Flash(flash.files)).resume(now=520)
        assert again.raw() in (before, expected)


def test_an_interrupt_may_be_interrupted_by_nothing_but_its_like_comes_again() -> None:
    node = ready()
    for t in range(500, 900, 10):
        assert interrupted(lambda t=t: node.truth(t - 100, 1), lambda t=t: node.predict(t, 1), t % 7)
    raw = node.raw()
    assert raw["join"]["assessed"] == 800
    assert raw["counters"]["overrun"] == 0


def test_more_than_eight_samples_that_wait_are_counted_as_lost() -> None:
    node = ready()
    node._join[BUSY] = 1
    for t in range(500, 620, 10):
        node.predict(t, 1)
    assert node._join[59] == 4
    raw = node.raw()
    assert raw["counters"]["overrun"] == 4
    assert raw["prequential"]["n"] == 40
    node.truth_segment(1, 400, 600)
    assert node.raw()["join"]["assessed"] == 580


def test_segments_do_not_wait_they_are_counted() -> None:
    node = ready()
    node._join[BUSY] = 1
    node.truth_segment(1, 400, 500)
    node.truth_batch(400, b"\1\1")
    node.raw()
    assert node.raw()["counters"]["overrun"] == 3


def test_a_label_that_makes_no_sense_is_rejected_while_the_node_is_busy_too() -> None:
    node = ready()
    node._join[BUSY] = 1
    for label in (-1, 1 << 24, 77):
        node.predict(500, label)
    node.predict(500, None)
    node.raw()
    assert node.raw()["counters"]["label"] == 4


WAITS = """
import gauge, micropython
node = gauge.Node(gauge.load("config.json"))

def run(t, stop):
    while t < stop:
        node.predict(t, t // 70 % 4)
        node.truth(t, t // 110 % 4)
        t += 10

def interrupting(t):
    # As from a handler: the node is busy, the samples wait, and are taken when it is done.
    w = node._join
    n = 0
    while n < 10:
        w[56] = 1
        node.predict(t, n & 3)
        node.truth(t, n & 1)
        w[56] = 0
        node.predict(t + 10, n & 3)
        t += 20
        n += 1

def taken():
    before = micropython.mem_total()
    interrupting(9000)
    return micropython.mem_total() - before

run(0, 9000)
print(taken(), node.raw()["counters"])
"""


def test_a_sample_that_waits_allocates_nothing(arm: Engine) -> None:
    files = {**firmware.build(arm.march), "config.json": json.dumps(config()).encode()}
    taken, counters = arm.run(WAITS, files, heap_bytes=200_000).stdout.split(" ", 1)
    assert int(taken) == 0
    assert sum(ast.literal_eval(counters).values()) == 0


# Clocks.


def identities(node: Any) -> None:
    """What must hold whatever a node was told."""
    raw = node.raw()
    s = raw["slices"]
    known = sum(sum(s[k]) for k in ("tp", "sg", "d", "u", "f", "i", "o", "m"))
    assert known == raw["join"]["assessed"]
    assert sum(s["sg"]) == sum(s["si"])
    for _, data in node.ledger.entries:
        if not isinstance(data, bytearray):
            assert all(word >= 0 for word in data)
    a = raw["align"]
    assert sum(map(sum, a["confusion"])) <= a["truth"] + a["prediction"]


def feed(node: Any, samples: list[tuple[int, int, int]], shift: int = 0) -> dict[str, Any]:
    for side, t, label in samples:
        (node.predict if side else node.truth)((t + shift) & 0x3FFFFFFF, label)
    node.finish()
    return node.raw()


def walk(rng: random.Random, count: int, jumps: bool) -> list[tuple[int, int, int]]:
    at = [0, 0]
    found = []
    for _ in range(count):
        side = rng.randrange(2)
        if jumps and rng.random() < 0.05:
            at[side] += rng.choice((-500, -10, -3, 7, 33, 400, 5000))
        found.append((side, at[side], rng.choice((0, 1, 1, 2, 3))))
        at[side] += 10
    return found


@pytest.mark.parametrize("number", range(20))
def test_where_the_circle_of_times_closes_nothing_changes(number: int) -> None:
    rng = random.Random(number)
    samples = walk(rng, 400, jumps=number % 2 == 1)
    plain = feed(gauge.Node(config()), samples, 10_000)
    for shift in (WRAP - 10, WRAP - 1000, WRAP - 1, WRAP // 2):
        assert feed(gauge.Node(config()), samples, shift) == plain


def test_a_clock_that_steps_back_is_counted_and_the_stream_goes_on() -> None:
    node = ready()
    for t in (490, 300, 0, 495):
        node.predict(t, 1)
    assert node.raw()["counters"]["order"] == 3
    node.predict(500, 1)
    node.truth_segment(1, 400, 510)
    assert node.raw()["join"]["assessed"] == 510


def test_a_clock_that_jumps_forward_leaves_a_gap() -> None:
    node = ready()
    node.predict(10_000, 1)
    node.truth_segment(1, 400, 10_010)
    raw = node.raw()
    assert raw["join"]["assessed"] == 10_010
    assert sum(raw["slices"]["f"]) >= 9_500


def test_a_clock_that_jumps_half_way_round_is_a_clock_that_steps_back() -> None:
    node = ready()
    node.predict(500 + WRAP // 2, 1)
    assert node.raw()["counters"]["order"] == 1


@pytest.mark.parametrize("number", range(30))
def test_whatever_the_clock_does_the_sums_agree(number: int) -> None:
    rng = random.Random(number)
    # Slices of a million ticks, because each slice of a jump is a record.
    node = gauge.Node(config(runs=4, pending=4, slice=MILLION))
    t = 0
    for _ in range(400):
        t += rng.choice(STEPS)
        entry = rng.choice((node.predict, node.truth))
        entry(t & 0x3FFFFFFF, rng.choice((0, 1, 2, 3, 4, 255, -1)))
        if rng.random() < 0.02:
            node.finish()
    identities(node)


JUMPS = """
import json
from array import array
import gauge

node = gauge.Node(gauge.load("config.json"))
row = array("i", bytes(12))
with open("rows.bin", "rb") as file:
    while file.readinto(row):
        if row[0] == 2:
            node.finish()
        else:
            (node.predict if row[0] else node.truth)(row[1], row[2])
print(json.dumps(node.raw()))
"""


@pytest.mark.parametrize("name", ["arm", "x64"])
def test_an_engine_lives_through_the_same(name: str, request: pytest.FixtureRequest) -> None:
    from array import array

    engine: Engine = request.getfixturevalue(name)
    rng = random.Random(9)
    settings = config(runs=4, pending=4, slice=MILLION)
    rows = array("i")
    node = gauge.Node(settings)
    t = 0
    for _ in range(5000):
        t += rng.choice(STEPS)
        kind = rng.choice((0, 1, 0, 1, 0, 1, 2)) if rng.random() < 0.1 else rng.randrange(2)
        label = rng.choice((0, 1, 2, 3, 4, 255, -1))
        rows.extend((kind, t & 0x3FFFFFFF, label))
        if kind == 2:
            node.finish()
        else:
            (node.predict if kind else node.truth)(t & 0x3FFFFFFF, label)
    identities(node)
    files = {
        **firmware.build(engine.march),
        "config.json": json.dumps(settings).encode(),
        "rows.bin": rows.tobytes(),
    }
    assert json.loads(engine.run(JUMPS, files, heap_bytes=200_000).stdout) == node.raw()


# Floods and nonsense.


@pytest.mark.parametrize("label", [-1, 4, 254, 256, 1 << 20, 1 << 40, -(1 << 40), "walk", None, 1.5, b"x"])
def test_a_label_the_node_does_not_know_is_counted(label: Any) -> None:
    node = ready()
    before = node.raw()
    node.predict(500, label)
    node.truth(400, label)
    raw = node.raw()
    if label == 1.5:
        # A number with a fraction is the label before the point, as int() has it.
        return
    assert raw["counters"]["label"] == 2
    raw["counters"]["label"] = 0
    assert raw == before


def test_a_flood_of_changes_forces_decisions_or_loses_time_but_counts_both() -> None:
    node = gauge.Node(config(runs=4, pending=4))
    for t in range(0, 200_000, 10):
        node.predict(t, t // 10 & 1)
    node.truth_batch(0, bytes(20_000))
    raw = node.raw()
    assert raw["join"]["assessed"] + raw["join"]["unassessed"] == 200_000
    assert raw["join"]["unassessed"] > 199_000
    identities(node)


def test_a_flood_on_the_line_takes_nothing_but_time() -> None:
    wire = Wire(ready())
    before = wire.node.raw()
    for _ in range(300):
        wire.send(b"x" * 997 + b"\n")
        wire.send(sealed("SGL1 1 2 walk 0 10 -"))
    assert wire.node.raw() == before
    assert wire.labels.w[5] == 300 and wire.labels.w[4] == 300


def test_a_full_file_system_does_not_stop_the_node() -> None:
    node = ready()
    flash = Flash(room=10)
    store = Store(node, "g", flash)
    assert [store.save() for _ in range(3)] == [False] * 3
    assert (store.failed, flash.files) == (3, {})
    node.predict(500, 1)
    assert node.raw()["counters"]["overrun"] == 0


def test_an_exception_half_way_does_not_keep_the_node_busy_for_ever() -> None:
    node = ready()
    node._join[BUSY] = 1
    node.predict(500, 1)
    node.raw()
    node.predict(510, 1)
    node.truth_segment(1, 400, 520)
    assert node.raw()["join"]["assessed"] == 520

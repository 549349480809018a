"""Labels over the wire: each message and its answer, order, keys, and whatever else may be on a line."""

from __future__ import annotations

import ast
import io
import json
import os
import random
import zlib
from typing import Any

import pytest
from nodelife import EPOCH, Answer, Wire, answers, config, gauge, sealed, signed

from streamgauge import firmware
from streamgauge.engines import Engine

from gauge import crc  # isort: skip

KEY = bytes(range(16))
LAST, ACCEPTED, DUPLICATES, FORGED, REFUSED, NOISE = range(6)


def wire(until: int = 1000, key: bytes | None = None, **more: Any) -> Wire:
    """A node that predicted `walk` up to a tick, and its line."""
    found = Wire(gauge.Node(config(**more)), key)
    found.node._join[EPOCH] = 91735
    for t in range(0, until, 10):
        found.node.predict(t, 1)
    return found


def counts(on: Wire) -> list[int]:
    return list(on.labels.w)


def ask(on: Wire, body: str, code: int) -> Answer:
    """Send an unsigned message that gets this answer."""
    (answer,) = on.send(sealed(body))
    assert answer.code == code, body
    return answer


# Messages and answers.


def test_a_question_is_answered_with_where_the_node_is() -> None:
    on = wire()
    assert ask(on, "SGQ1 7", 0) == Answer(7, 0, 0, 91735, 0, 0, 1000, 0)
    on.tell("walk", 0, 300)
    on.tell("walk", 400, 500)
    assert ask(on, "SGQ1 1073741823", 0) == Answer(1073741823, 0, 2, 91735, 300, 300, 1000, 1)
    assert counts(on) == [2, 2, 0, 0, 0, 0]


def test_a_label_is_applied_once() -> None:
    on = wire()
    assert on.tell("walk", 0, 300).code == 0
    raw = on.node.raw()
    assert raw["slices"]["tp"] == [0, 300, 0, 0]
    for number in (1, 1, 0):
        on.number = number - 1
        answer = on.tell("kitchen", 300, 400) if number else ask(on, "SGL1 91735 0 walk 0 1 -", 3)
        assert (answer.code, answer.last) == (1 if number else 3, 1)
    assert on.node.raw() == raw
    assert counts(on) == [1, 1, 2, 0, 1, 0]


def test_sequence_numbers_rise_and_may_leave_gaps() -> None:
    on = wire()
    on.number = 16
    assert on.tell("walk", 0, 10).last == 17
    on.number = 99
    assert on.tell("walk", 10, 20).last == 100
    on.number = 97
    assert on.tell("walk", 20, 30).code == 1


@pytest.mark.parametrize("name", ["kitchen", "#2"])
def test_a_label_is_told_by_name_or_number(name: str) -> None:
    on = wire()
    assert on.tell(name, 0, 100).code == 0
    assert on.node.raw()["slices"]["sg"] == [0, 0, 100, 0]


def test_names_come_percent_encoded() -> None:
    on = wire()
    assert on.tell("c%2C%20d%20%C3%A9", 0, 100).code == 0
    assert on.node.raw()["slices"]["sg"] == [0, 0, 0, 100]


def test_unknown_is_a_truth_that_nobody_knows() -> None:
    on = wire()
    assert on.tell("#255", 0, 100).code == 0
    assert on.node.raw()["join"] == {"assessed": 0, "unknown": 100, "unassessed": 0}


@pytest.mark.parametrize(
    ("body", "code", "number"),
    [
        ("SGL1 91735 1 walk 0 100", 3, 0),
        ("SGL1 91735 1 walk 0 100 - -", 3, 0),
        ("SGL1 91735  1 walk 0 100 -", 3, 0),
        ("SGL1 91735 1 walk 0 100 ", 3, 0),
        ("SGL1 91735 x walk 0 100 -", 3, 0),
        ("SGL1 91735 0 walk 0 100 -", 3, 0),
        ("SGL1 91735 1073741824 walk 0 100 -", 3, 0),
        ("SGL1 91735 99999999999999999999 walk 0 100 -", 3, 0),
        ("SGL1 91735 1 walk -1 100 -", 3, 1),
        ("SGL1 91735 1 walk 0 1073741824 -", 3, 0),
        ("SGL1 91735 1 walk 0 100 abcd", 3, 1),
        ("SGL1 91735 1 walk 0 100 " + "A" * 32, 3, 1),
        ("SGL1", 3, 0),
        ("SGQ1", 3, 0),
        ("SGQ1 x", 3, 0),
        ("SGQ1 1 2", 3, 0),
        ("SGF1 91735 1 100", 3, 0),
        ("SGF1 91735 1 x -", 3, 0),
        ("SGL1 91735 1 run 0 100 -", 4, 1),
        ("SGL1 91735 1 Walk 0 100 -", 4, 1),
        ("SGL1 91735 1 wal 0 100 -", 4, 1),
        ("SGL1 91735 1 walks 0 100 -", 4, 1),
        ("SGL1 91735 1 #4 0 100 -", 4, 1),
        ("SGL1 91735 1 #254 0 100 -", 4, 1),
        ("SGL1 91735 1 #256 0 100 -", 4, 1),
        ("SGL1 91735 1 # 0 100 -", 4, 1),
        ("SGL1 91735 1 #x 0 100 -", 4, 1),
        ("SGL1 91735 1 walk 100 100 -", 5, 1),
        ("SGL1 91735 1 walk 100 90 -", 5, 1),
        ("SGL1 91735 1 walk 0 268435457 -", 5, 1),
        ("SGL1 91736 1 walk 0 100 -", 8, 1),
        ("SGF1 91736 1 100 -", 8, 1),
        ("SGL1 91735 1 walk 268435000 268435500 -", 9, 1),
        ("SGF1 91735 1 268435500 -", 9, 1),
        ("SGL2 91735 1 walk 0 100 -", 10, 0),
        ("SGL12 91735 1 walk 0 100 -", 10, 0),
        ("SGQ2 1", 10, 0),
        ("SGL 91735", 10, 0),
    ],
)
def test_what_is_wrong_with_a_message_is_said(body: str, code: int, number: int) -> None:
    on = wire()
    raw = on.node.raw()
    assert ask(on, body, code) == Answer(number, code, 0, 91735, 0, 0, 1000, 0)
    assert on.node.raw() == raw
    assert counts(on) == [0, 0, 0, 0, 1, 0]
    assert on.tell("walk", 0, 100).code == 0


def test_an_unreadable_field_is_reported_before_a_wrong_epoch() -> None:
    ask(wire(), "SGL1 1 1 nobody 5 x -", 3)


def test_truth_that_has_its_place_taken_is_too_late() -> None:
    on = wire()
    on.tell("walk", 100, 300)
    on.complete(300)
    for start, end in ((0, 100), (0, 400), (250, 260), (299, 310)):
        answer = on.tell("walk", start, end)
        assert answer.code == 6, (start, end)
    assert on.tell("walk", 300, 310).code == 0


def test_truth_for_what_was_given_up_is_too_late_but_reaching_beyond_it_is_not() -> None:
    on = Wire(gauge.Node(config(runs=4)))
    for i in range(20):
        on.node.predict_segment(i % 3, 100 * i, 100 * i + 100)
    assert on.node.raw()["join"]["unassessed"] == 1600
    answer = on.tell("walk", 0, 1500)
    assert (answer.code, answer.position, answer.truth) == (6, 1600, 1600)
    assert on.tell("walk", 500, 1700).truth == 1700
    assert on.node.raw()["join"] == {"assessed": 100, "unknown": 0, "unassessed": 1600}


def test_truth_may_begin_before_the_first_prediction() -> None:
    on = Wire(gauge.Node(config()))
    for t in range(500, 1000, 10):
        on.node.predict(t, 1)
    assert on.tell("walk", 300, 700).code == 0
    raw = on.node.raw()
    assert raw["join"]["assessed"] == 400
    assert raw["slices"]["u"] == [0, 200, 0, 0]


def test_in_closed_mode_both_ends_belong_to_the_label() -> None:
    on = Wire(gauge.Node(config(closed=1, slice=1)))
    on.node.predict_segment(1, 0, 99)
    assert on.tell("walk", 0, 49).truth == 50
    assert on.tell("walk", 50, 50).truth == 51
    assert on.tell("walk", 60, 59).code == 5
    assert on.tell("walk", 51, 99).truth == 100


# Order.


def test_a_label_ahead_waits_for_what_is_before_it() -> None:
    on = wire()
    assert on.tell("walk", 200, 300).waiting == 1
    assert on.tell("walk", 400, 500).waiting == 2
    assert on.tell("walk", 100, 200).waiting == 3
    assert on.node.raw()["join"]["assessed"] == 0
    answer = on.tell("walk", 0, 100)
    assert (answer.waiting, answer.truth, answer.position) == (1, 300, 300)
    assert on.node.raw()["join"]["assessed"] == 300


def test_a_label_that_overlaps_one_that_waits_is_refused() -> None:
    on = wire()
    on.tell("walk", 200, 300)
    for start, end in ((199, 201), (200, 300), (250, 260), (299, 400), (100, 400)):
        assert on.tell("kitchen", start, end).code == 11, (start, end)
    assert on.tell("kitchen", 300, 400).code == 0
    assert on.tell("kitchen", 100, 200).code == 0


def test_where_segments_may_overlap_so_may_labels() -> None:
    on = Wire(gauge.Node(config(overlap=1)))
    on.node.predict_segment(1, 0, 500)
    on.node.predict_segment(1, 500, 600)
    assert on.tell("walk", 200, 320).waiting == 1
    assert on.tell("kitchen", 300, 400).waiting == 2
    assert on.tell("walk", 0, 220).code == 0
    on.node.finish()
    raw = on.node.raw()
    assert raw["align"]["truth"] == 3
    assert raw["counters"]["order"] == raw["counters"]["overlap"] == 0


def test_when_the_ring_is_full_the_earliest_goes_and_the_hole_is_a_gap() -> None:
    on = wire(reorder=2)
    on.tell("walk", 200, 300)
    on.tell("walk", 400, 500)
    answer = on.tell("walk", 600, 700)
    assert (answer.waiting, answer.truth) == (2, 300)
    assert on.node.raw()["join"] == {"assessed": 100, "unknown": 200, "unassessed": 0}
    assert on.tell("kitchen", 0, 100).code == 6
    answer = on.tell("kitchen", 320, 330)
    assert (answer.waiting, answer.truth) == (2, 330)


def test_without_a_ring_every_label_is_applied_at_once() -> None:
    on = wire(reorder=0, gaps_unknown=0)
    assert on.tell("walk", 200, 300).truth == 300
    assert on.node.raw()["slices"]["i"][1] + on.node.raw()["slices"]["o"][1] == 200


def test_complete_truth_applies_what_waits_and_fills_up() -> None:
    on = wire()
    on.tell("walk", 200, 300)
    on.tell("walk", 600, 700)
    answer = on.complete(500)
    assert (answer.code, answer.truth, answer.waiting) == (0, 500, 1)
    assert on.node.raw()["join"] == {"assessed": 100, "unknown": 400, "unassessed": 0}
    assert on.complete(650).truth == 700
    assert on.complete(100).truth == 700


def test_complete_truth_of_a_node_that_heard_nothing_is_nothing() -> None:
    on = Wire(gauge.Node(config()))
    assert on.complete(500).truth == 0
    assert on.node.raw()["join"]["unknown"] == 0


def test_when_the_recording_ends_what_waits_is_applied() -> None:
    on = wire()
    on.tell("walk", 200, 300)
    on.node.finish()
    assert on.node.raw()["join"] == {"assessed": 100, "unknown": 900, "unassessed": 0}


def test_a_reset_empties_the_ring_but_remembers_what_was_applied() -> None:
    on = wire()
    on.tell("walk", 200, 300)
    on.node.reset()
    assert ask(on, "SGQ1 1", 0).waiting == 0
    on.number = 0
    assert on.tell("walk", 0, 100).code == 1


def test_what_waits_goes_before_predictions_are_lost() -> None:
    on = Wire(gauge.Node(config(runs=8)))
    on.node.predict_segment(0, 0, 100)
    for i in range(1, 6):
        on.tell("#1", 100 * i, 100 * i + 100)
    for i in range(1, 40):
        on.node.predict_segment(i % 3, 100 * i, 100 * i + 100)
        on.tell("#1", 100 * (i + 5), 100 * (i + 6))
        on.labels.waiting.relieve()
    raw = on.node.raw()
    assert raw["join"] == {"assessed": 3900, "unknown": 100, "unassessed": 0}


@pytest.mark.parametrize("number", range(40))
def test_the_order_of_arrival_within_the_ring_does_not_matter(number: int) -> None:
    rng = random.Random(number)
    room = rng.choice((1, 2, 5, 8))
    on = Wire(gauge.Node(config(reorder=room, runs=64)))
    plain = gauge.Node(config(runs=64))
    t = first = (1 << 30) - rng.choice((0, 700))
    rows = []
    for _ in range(60):
        end = t + rng.randrange(5, 60)
        rows.append((rng.choice((0, 1, 2, 3, 255)), t & 0x3FFFFFFF, end & 0x3FFFFFFF))
        t = end
    for start in range(first, t, 50):
        label = rng.randrange(4)
        for node in (on.node, plain):
            node.predict_segment(label, start & 0x3FFFFFFF, (start + 50) & 0x3FFFFFFF)
    to_come = list(range(60))
    while to_come:
        waiting = sum(i > to_come[0] for i in range(60) if i not in to_come)
        i = to_come.pop(rng.randrange(min(len(to_come), room + 1)) if waiting < room else 0)
        assert on.tell(f"#{rows[i][0]}", rows[i][1], rows[i][2]).code == 0
    for label, start, end in rows:
        plain.truth_segment(label, start, end)
    assert on.node.raw() == plain.raw()


# Keys.


def test_with_a_key_only_signed_labels_count() -> None:
    on = wire(key=KEY)
    raw = on.node.raw()
    body = "SGL1 91735 17 kitchen 0 100"
    whole = signed(body, KEY)
    forged = [
        sealed(f"{body} -"),
        signed(body, KEY[:-1]),
        signed(body, b"another key"),
        sealed(f"{body} " + "0" * 32),
        # The tag of one message under another's words.
        *(
            sealed(f"{other} {whole.split()[6].decode()}")
            for other in (
                "SGL1 91735 18 kitchen 0 100",
                "SGL1 91735 17 walk 0 100",
                "SGL1 91735 17 kitchen 0 101",
                "SGL1 91735 17 kitchen 1 100",
                "SGL1 91735 017 kitchen 0 100",
            )
        ),
        sealed("SGF1 91735 17 100 " + whole.split()[6].decode()),
    ]
    for number, line in enumerate(forged):
        (answer,) = on.send(line)
        assert answer.code == 7, line
        assert counts(on)[FORGED] == number + 1
    assert on.node.raw() == raw and counts(on)[LAST] == 0
    (answer,) = on.send(whole)
    assert answer.code == 0
    (answer,) = on.send(whole)
    assert answer.code == 1
    assert counts(on) == [17, 1, 1, len(forged), 0, 0]


def test_every_changed_digit_of_a_tag_is_seen() -> None:
    on = wire(key=KEY)
    line = signed("SGL1 91735 1 kitchen 0 100", KEY)
    body, tag = line.decode().split(" *")[0].rsplit(" ", 1)
    for i in range(32):
        for digit in "0123456789abcdef":
            if digit != tag[i]:
                (answer,) = on.send(sealed(f"{body} {tag[:i]}{digit}{tag[i + 1 :]}"))
                assert answer.code == 7
    assert on.send(line)[0].code == 0


@pytest.mark.parametrize("length", [1, 16, 32, 64, 65, 200])
def test_keys_of_any_length_are_those_of_rfc_2104(length: int) -> None:
    key = bytes(i * 7 & 255 for i in range(length))
    assert wire(key=key).tell("walk", 0, 100).code == 0


def test_completeness_is_signed_too() -> None:
    on = wire(key=KEY)
    ask(on, "SGF1 91735 1 100 -", 7)
    assert on.complete(100).code == 0


def test_a_question_needs_no_key() -> None:
    assert ask(wire(key=KEY), "SGQ1 4", 0).number == 4


def test_a_node_without_a_key_ignores_a_tag() -> None:
    on = wire()
    (answer,) = on.send(signed("SGL1 91735 1 kitchen 0 100", KEY))
    assert answer.code == 0


# Noise.


@pytest.mark.parametrize(
    ("data", "noise", "answered"),
    [
        (b"\n\r\n\n", 0, []),
        (b"hello\n", 1, []),
        (b"SG\n", 1, []),
        (b">>> import gauge\r\n", 1, []),
        (b"SGL1 91735 1 walk 0 100 - *00000000\n", 1, [2]),
        (b"SGL1 91735 1 walk 0 100 -\n", 1, [2]),
        (b"SGQ\n", 1, []),
        (b"SGQ1\n", 1, [2]),
        (b"SGL1 91735 1 walk 0 1", 0, []),
        (b"x" * 160 + b"\n", 1, []),
        (b"x" * 10000 + b"\n", 1, []),
        (b"SGL1 " + b"x" * 156 + b"\n", 1, []),
        (b"SGA1 1 0 1 91735 0 0 0 0 *00000000\n", 1, []),
        (bytes(range(256)) * 2, 2, []),
    ],
)
def test_noise_is_counted_and_answered_only_where_it_was_meant_for_the_node(
    data: bytes, noise: int, answered: list[int]
) -> None:
    on = wire()
    assert [answer.code for answer in on.send(data)] == answered
    assert counts(on)[NOISE] == noise
    on.send(b"\n")
    assert on.tell("walk", 0, 100).code == 0


def test_a_line_may_end_as_terminals_end_theirs() -> None:
    on = wire()
    (answer,) = on.send(sealed("SGQ1 5").replace(b"\n", b"\r\n"))
    assert (answer.number, answer.code) == (5, 0)


def test_the_longest_line_has_160_bytes() -> None:
    for extra, codes in ((0, [3]), (1, [])):
        on = wire()
        line = sealed("SGL1 " + "9" * (160 - 5 - 10 + extra))
        assert len(line) == 161 + extra
        assert [answer.code for answer in on.send(line)] == codes


def fuzz(rng: random.Random, good: list[bytes], accepted: list[bytes]) -> bytes:
    """What must change nothing: noise, and damaged, forged, replayed or senseless messages."""
    kind = rng.randrange(8)
    line = bytearray(rng.choice(good))
    if kind == 0:
        return rng.randbytes(rng.randrange(1, 200))
    if kind == 1:
        for _ in range(rng.randrange(1, 4)):
            line[rng.randrange(len(line) - 1)] ^= 1 << rng.randrange(8)
        # Two flips of one bit are none.
        return b"" if bytes(line) in good else bytes(line)
    if kind == 2:
        at = rng.randrange(len(line) - 1)
        return bytes(line[:at] + line[at + rng.randrange(1, 4) :]) + b"\n"
    if kind == 3:
        at = rng.randrange(len(line) - 1)
        return b"\n" + bytes(line[:at] + rng.randbytes(rng.choice((1, 2, 300))) + line[at:]) + b"\n"
    if kind == 4:
        return b"\n" + rng.choice(accepted)
    numbers = (
        "0",
        "1",
        "-1",
        "100",
        "1073741823",
        "1073741824",
        "9" * 20,
        "",
        "x",
        "#1",
        "walk",
        "-",
        "0" * 32,
    )
    fields = [rng.choice(("SGL1", "SGF1", "SGL2", "SGQ1", "SGA1", "SG1")), "91735"]
    fields += [rng.choice(numbers) for _ in range(rng.randrange(8))]
    body = " ".join(fields)
    if kind == 5:
        return b"\n" + signed(body, b"wrong")
    return b"\n" + (sealed(body) if kind == 6 else bytes(line[:-3]) + b"\r\n")


@pytest.mark.parametrize("key", [KEY, None], ids=["signed", "open"])
def test_a_million_bytes_of_anything_change_no_score(
    key: bytes | None, monkeypatch: pytest.MonkeyPatch, record_property: Any
) -> None:
    def update(s: Any, b: Any, i: int, end: int) -> None:
        after = zlib.crc32(bytes(b[i:end]), (s[0] | s[1] << 16) ^ 0xFFFFFFFF) ^ 0xFFFFFFFF
        s[0], s[1] = after & 0xFFFF, after >> 16

    monkeypatch.setattr(crc, "update", update)
    rng = random.Random(1)
    on = wire(key=key)
    accepted = []
    for number, start in ((5, 0), (9, 100), (10, 300)):
        body = f"SGL1 91735 {number} kitchen {start} {start + 100}"
        accepted.append(signed(body, key) if key else sealed(f"{body} -"))
        assert on.send(accepted[-1])[0].code == 0
    good = [*accepted, sealed("SGQ1 5"), sealed("SGL1 91735 4 walk 200 300 -"), sealed("SGF1 91735 3 900 -")]
    before = on.node.raw()
    size = messages = 0
    while size < 10_000 * int(os.environ.get("STREAMGAUGE_EXAMPLES", "100")):
        data = fuzz(rng, good, accepted)
        if not key and data.startswith(b"\nSG"):
            # What an open node would rightly take is not for this test.
            data = data.replace(b"SGL1 91735 1", b"SGL1 91734 1").replace(b"SGF1 91735 1", b"SGF1 91734 1")
        size += len(data)
        messages += data.count(b"\n")
        on.send(data)
    assert on.node.raw() == before
    assert on.labels.w[LAST] == 10 and on.labels.w[ACCEPTED] == 3
    assert min(counts(on)[DUPLICATES:]) > 0 if key else True
    on.send(b"\n")
    on.number = 10
    assert on.tell("walk", 200, 300).code == 0
    record_property("bytes", size)
    print(f"fuzzed: {size} bytes, {messages} lines, counters {counts(on)}")


# Engines.

TALK = """
import gauge, micropython
from gauge.labels import Labels

class Kept:
    def __init__(self):
        self.buffer = bytearray(200)
        self.n = 0
    def write(self, b, n):
        i = 0
        while i < n:
            self.buffer[i] = b[i]
            i += 1
        self.n = n
        return n

node = gauge.Node(gauge.load("config.json"))
labels = Labels(node, KEY)
node._join[60] = 91735
for t in range(0, 5000, 10):
    node.predict(t, t // 700 % 4)
out = Kept()
part = bytearray(64)
with open("said.bin", "rb") as said, open("answers.bin", "wb") as file:
    while True:
        n = said.readinto(part)
        if not n:
            break
        i = 0
        while i < n:
            labels.byte(part[i], out)
            i += 1
            if out.n:
                file.write(out.buffer[: out.n])
                out.n = 0
print(list(labels.w), list(labels.waiting.w))
print(node.raw())
"""


def conversation(key: bytes | None) -> list[bytes]:
    rng = random.Random(8)
    lines: list[bytes] = []
    number = 0
    t = 0
    rows = []
    while t < 5000:
        end = t + rng.randrange(10, 300)
        rows.append((rng.choice(("walk", "kitchen", "#0", "#255", "c%2C%20d%20%C3%A9")), t, end))
        t = end + rng.choice((0, 0, 0, 20))
    for i in range(0, len(rows) - 3, 3):
        rows[i : i + 3] = rng.sample(rows[i : i + 3], 3)
    for label, start, end in rows:
        number += rng.choice((1, 1, 5))
        body = f"SGL1 91735 {number} {label} {start} {end}"
        line = signed(body, key) if key else sealed(f"{body} -")
        lines += [line] * rng.choice((1, 1, 2))
    good = [*lines[:3], sealed("SGQ1 1"), sealed("SGF1 91735 3 900 -")]
    for _ in range(1000):
        lines.insert(rng.randrange(len(lines)), b"\n" + fuzz(rng, good, good[:1]) + b"\n")
    return lines


@pytest.mark.parametrize("name", ["arm", "x64"])
@pytest.mark.parametrize("key", [KEY, None], ids=["signed", "open"])
def test_an_engine_answers_as_the_model_does(
    name: str, key: bytes | None, request: pytest.FixtureRequest
) -> None:
    engine: Engine = request.getfixturevalue(name)
    said = b"".join(conversation(key))
    on = wire(0, key=key)
    for t in range(0, 5000, 10):
        on.node.predict(t, t // 700 % 4)
    out = io.BytesIO()
    for byte in said:
        on.labels.byte(byte, out)
    files = {
        **firmware.build(engine.march),
        "config.json": json.dumps(config()).encode(),
        "said.bin": said,
    }
    script = TALK.replace("KEY", repr(key)) + "\nprint(open('answers.bin', 'rb').read())"
    words, raw, told = engine.run(script, files, heap_bytes=400_000, timeout=120).stdout.splitlines()
    assert ast.literal_eval(told) == out.getvalue()
    assert words == f"{counts(on)} {list(on.labels.waiting.w)}"
    assert ast.literal_eval(raw) == on.node.raw()
    assert len(answers(out.getvalue())) > 100


TAKEN = """
import gauge, micropython
from gauge.labels import Labels

class Away:
    def write(self, b, n):
        return n

node = gauge.Node(gauge.load("config.json"))
labels = Labels(node, KEY)
node._join[60] = 91735
for t in range(0, 5000, 10):
    node.predict(t, t // 700 % 4)
out = Away()

def say(line):
    for c in line:
        labels.byte(c, out)

def taken(line):
    before = micropython.mem_total()
    say(line)
    return micropython.mem_total() - before

def locked(line):
    micropython.heap_lock()
    try:
        say(line)
    finally:
        micropython.heap_unlock()

lines = LINES
say(lines[0])
print([taken(line) for line in lines[1:]])
locked(EXTRA)
"""


def test_a_message_allocates_nothing(arm: Engine) -> None:
    """But for the frames of the segment entry, which are taken from the heap and given back at once."""
    lines = [
        sealed(body)
        for body in (
            "SGL1 91735 1 walk 0 100 -",
            "SGQ1 7",
            "SGL1 91735 1 walk 0 100 -",
            "SGL1 91735 2 nobody 100 200 -",
            "SGL1 91735 2 walk 100 100 -",
            "SGL1 91735 2 walk 300 400 -",
            "SGL1 91735 3 walk 400 500 -",
            "SGL1 91735 4 walk 450 600 -",
            "SGL1 1 4 walk 450 600 -",
            "SGL1 91735 4 walk 0 10 -",
            "SGL2 1",
            "SGL1 1",
        )
    ]
    lines += [b"SGL1 noise\n", b"x" * 500 + b"\n", sealed("SGQ1 8")]
    script = TAKEN.replace("KEY", "None").replace("LINES", repr(lines))
    script = script.replace("EXTRA", repr(sealed("SGL1 91735 3 walk 100 300 -")))
    files = {**firmware.build(arm.march), "config.json": json.dumps(config()).encode()}
    taken = ast.literal_eval(arm.run(script, files, heap_bytes=200_000).stdout)
    assert taken == [0] * (len(lines) - 1)


def test_a_signed_message_allocates_its_hashes_alone(arm: Engine) -> None:
    key = bytes(range(16))
    lines = [signed(f"SGL1 91735 {n} walk {300 * n} {300 * n + 100}", key) for n in range(1, 6)]
    script = TAKEN.replace("KEY", repr(key)).replace("LINES", repr(lines)).replace("EXTRA", "b''")
    files = {**firmware.build(arm.march), "config.json": json.dumps(config()).encode()}
    taken = ast.literal_eval(arm.run(script, files, heap_bytes=200_000).stdout)
    assert len(set(taken)) == 1 and 0 < taken[0] < 700

"""Labels told to a node: the lines, the conversation over a bad line, times, and files replayed."""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge import firmware
from streamgauge.cli import main
from streamgauge.errors import InputError
from streamgauge.files import ReadOptions, Recording, read_pair
from streamgauge.labelling import replay
from streamgauge.labelling.teller import Refused, Teller
from streamgauge.labelling.times import moment
from streamgauge.profile import compile_config, load_profile
from streamgauge.task import Task
from streamgauge.wire.keys import read_key
from streamgauge.wire.messages import Answer, Code, TooLong, flush_line, label_line, parse_answer, query
from streamgauge.wire.port import Port, PortLost

gauge = firmware.node_model()
Labels = importlib.import_module("gauge.labels").Labels
Line = importlib.import_module("gauge.line").Line

KEY = bytes(range(16))
TASK = Task(("NULL", "kitchen", "sleep", "bad, *name* #é"), 1.0, 60)


def test_messages_are_those_of_the_specification_byte_for_byte() -> None:
    assert query(5) == b"SGQ1 5 *71FACBA1\n"
    assert label_line(91735, 17, "kitchen", 1000, 61000) == b"SGL1 91735 17 kitchen 1000 61000 - *79953CD2\n"
    assert label_line(91735, 17, "kitchen", 1000, 61000, KEY) == (
        b"SGL1 91735 17 kitchen 1000 61000 a04097cc22b11e05bbab59a76517619b *E0827E4D\n"
    )
    assert label_line(91735, 18, 255, 61000, 75000) == b"SGL1 91735 18 #255 61000 75000 - *8E5B5C02\n"
    assert flush_line(91735, 19, 90000) == b"SGF1 91735 19 90000 - *5F7E6EB6\n"


def test_answers_are_read_as_specified_and_later_fields_passed_over() -> None:
    assert parse_answer(b"SGA1 5 0 16 91735 1000 1000 88000 2 *38C56E06") == Answer(
        5, 0, 16, 91735, 1000, 1000, 88000, 2
    )
    assert parse_answer(b"SGA1 17 1 17 91735 61000 61000 88000 0 *95B96D3F\r\n") is not None
    from streamgauge.wire.line import seal

    assert parse_answer(seal("SGA1 1 99 2 3 4 5 6 7 8 nine ")) == Answer(1, 99, 2, 3, 4, 5, 6, 7)
    for line in ("SGA1 1 2 3 4 5 6 7 ", "SGA1 1 2 3 4 5 6 7 x ", "SGA2 1 2 3 4 5 6 7 8 ", "SGL1 1 "):
        assert parse_answer(seal(line)) is None
    assert "does not know" in Answer(1, 99, 2, 3, 4, 5, 6, 7).meaning


def test_a_name_too_long_for_a_message_is_refused_before_it_is_sent() -> None:
    with pytest.raises(TooLong, match="a node takes 160"):
        label_line(1, 1, "é" * 40, 0, 1)


class Wire:
    """A port with the node's model at its other end, and a line that can be made bad.

    `up` and `down` change what travels to the node and what it answers.
    """

    name = "/dev/model"

    def __init__(self, node: Any, key: bytes | None = None) -> None:
        self.node = node
        self.labels = Labels(node, key)
        self.line = Line(node)
        self.up: Callable[[bytes], bytes] = lambda data: data
        self.down: Callable[[bytes], bytes] = lambda data: data
        self.sent: list[bytes] = []
        self._said = bytearray()

    def write(self, data: bytes | str) -> None:
        """From the host: hand on to the node; from the node: keep for the host."""
        assert isinstance(data, bytes)
        self.sent.append(data)
        output = _Output()
        for byte in self.up(data):
            self.labels.byte(byte, output)
        self._said += self.down(bytes(output.data))

    def read(self) -> bytes:
        """What the node has said."""
        said = bytes(self._said)
        self._said.clear()
        return said

    def say(self, data: bytes) -> None:
        """Something else comes over the line."""
        self._said += data


class _Output:
    def __init__(self) -> None:
        self.data = bytearray()

    def write(self, data: Any, *size: int) -> int:
        """Keep what is written."""
        data = bytes(data)[: size[0]] if size else bytes(data)
        self.data += data
        return len(data)


def living(slices: int = 100, key: bytes | None = None, **more: Any) -> Wire:
    """A node that has predicted kitchen for some slices, and nothing of the truth yet."""
    config = {**compile_config(load_profile("sensor"), TASK), **more}
    node = gauge.Node(config)
    wire = Wire(node, key)
    for i in range(slices):
        node.predict(i * 60, 1)
    return wire


def teller(wire: Any, **how: Any) -> Teller:
    """A conversation that does not wait long."""
    return Teller(wire, answer_within=0.02, **how)


def test_a_label_is_accepted_and_counts() -> None:
    wire = living()
    answer = teller(wire).label("kitchen", 0, 600)
    assert (answer.code, answer.truth, answer.now) == (Code.ACCEPTED, 600, 6000)
    raw = wire.node.raw()
    assert (raw["join"]["assessed"], raw["prequential"]["sum"]) == (600, 0)


def test_null_and_unknown_have_no_name_of_their_own() -> None:
    wire = living()
    told = teller(wire)
    assert told.label(255, 0, 600).code == Code.ACCEPTED
    assert told.label(0, 600, 1200).code == Code.ACCEPTED
    assert wire.node.raw()["join"]["unknown"] == 600


def test_a_name_with_every_sign_that_means_something_arrives() -> None:
    wire = living()
    assert teller(wire).label("bad, *name* #é", 0, 600).code == Code.ACCEPTED
    assert wire.node.raw()["slices"]["sg"][3] == 600


@pytest.mark.parametrize(
    ("label", "start", "end", "code"),
    [
        ("dance", 0, 60, Code.LABEL),
        ("kitchen", 60, 60, Code.RANGE),
        ("kitchen", 60, 0, Code.RANGE),
    ],
)
def test_a_label_that_cannot_be_is_refused_for_itself(label: str, start: int, end: int, code: Code) -> None:
    wire = living()
    told = teller(wire)
    assert told.label(label, start, end).code == code
    assert told.label("kitchen", 0, 600).code == Code.ACCEPTED


def test_late_labels_wait_for_those_before_them_until_the_truth_is_complete() -> None:
    wire = living()
    told = teller(wire)
    assert told.label("sleep", 1200, 1800).waiting == 1
    assert told.label("kitchen", 0, 600).waiting == 1
    assert told.label("kitchen", 600, 1200).waiting == 0
    assert told.label("sleep", 2400, 3000).waiting == 1
    assert told.complete(3600).waiting == 0
    assert told.label("kitchen", 0, 60).code == Code.LATE


def test_the_wrong_key_and_none_are_refused_and_the_right_one_is_not() -> None:
    wire = living(key=KEY)
    for wrong in (None, b"x"):
        with pytest.raises(Refused, match="signed with its key"):
            teller(wire, key=wrong).label("kitchen", 0, 600)
    assert teller(wire, key=KEY).label("kitchen", 0, 600).code == Code.ACCEPTED
    assert wire.labels.w[3] == 2


def test_a_message_that_the_line_damages_is_sent_again_and_counts_once() -> None:
    wire = living()
    told = teller(wire)
    told.ask()
    damaged = iter([True, True])
    wire.up = lambda data: data.replace(b"kit", b"kat") if next(damaged, False) else data
    assert told.label("kitchen", 0, 600).code == Code.ACCEPTED
    assert told.repeated == 2
    assert wire.node.raw()["join"]["assessed"] == 600


def test_an_answer_that_is_lost_does_not_make_the_label_count_twice() -> None:
    wire = living()
    told = teller(wire)
    told.ask()
    lost = iter([True])
    wire.down = lambda data: b"" if next(lost, False) else data
    assert told.label("kitchen", 0, 600).code == Code.ACCEPTED
    assert wire.sent[-1] == wire.sent[-2]
    assert (wire.labels.w[1], wire.labels.w[2]) == (1, 1)
    assert told.label("sleep", 600, 1200).code == Code.ACCEPTED


def test_a_number_that_somebody_else_used_is_not_taken_for_an_answer() -> None:
    wire = living()
    first, second = teller(wire), teller(wire)
    first.ask()
    second.ask()
    assert first.label("kitchen", 0, 600).code == Code.ACCEPTED
    assert second.label("sleep", 600, 1200).code == Code.ACCEPTED
    assert wire.node.raw()["join"]["assessed"] == 1200


def test_reports_and_noise_between_answers_are_heard_and_passed_over() -> None:
    wire = living()
    heard: list[bytes] = []
    told = teller(wire, hear=heard.append)
    wire.down = lambda data: b"\xff\0noise\nSG1 n=1 *00000000\n" + data
    assert told.label("kitchen", 0, 600).code == Code.ACCEPTED
    assert heard.count(b"SG1 n=1 *00000000") == 2


def test_a_node_that_restarted_is_noticed_before_a_label_is_told_to_it() -> None:
    wire = living()
    told = teller(wire)
    told.ask()
    wire.node._join[60] += 1
    with pytest.raises(Refused, match="restarted") as caught:
        told.label("kitchen", 0, 600)
    assert caught.value.answer.code == Code.EPOCH
    assert wire.node.raw()["join"]["assessed"] == 0


def test_a_node_that_does_not_answer_is_given_up_with_what_to_do() -> None:
    wire = living()
    wire.down = lambda data: b""
    with pytest.raises(InputError, match=r"does not answer \(3 times asked\).*labels\.poll"):
        teller(wire, tries=3).ask()


def test_a_port_that_goes_away_is_told() -> None:
    wire = living()

    def gone(data: bytes) -> bytes:
        raise PortLost("cable")

    wire.up = gone
    with pytest.raises(InputError, match=r"/dev/model: the port went away \(cable\)"):
        teller(wire).ask()


def test_over_a_line_that_loses_and_damages_every_third_message_all_labels_count_once() -> None:
    dice = random.Random(4)
    wire = living(slices=2000, runs=1024)

    def bad(data: bytes) -> bytes:
        kind = dice.randrange(9)
        if kind == 0 or not data:
            return b""
        if kind == 1:
            at = dice.randrange(len(data))
            return data[:at] + bytes([data[at] ^ 1 << dice.randrange(8)]) + data[at + 1 :]
        if kind == 2:
            return data + data
        return data

    wire.up = wire.down = bad
    told = Teller(wire, answer_within=0.002, tries=50)  # type: ignore[arg-type]
    truth = []
    for i in range(150):
        truth.append((dice.choice((0, 1, 2, 3)), i * 600, i * 600 + 600))
        assert told.label(truth[-1][0], *truth[-1][1:]).code == Code.ACCEPTED
    other = living(slices=2000, runs=1024)
    for label, start, end in truth:
        other.node.truth_segment(label, start, end)
    assert told.repeated > 20
    mine, reference = wire.node.raw(), other.node.raw()
    for part in ("join", "slices", "prequential", "align"):
        assert mine[part] == reference[part], part


# Times


@pytest.mark.parametrize(
    ("text", "tick"),
    [
        ("0", 0),
        ("61000", 61000),
        ("now", 5000),
        ("now-600", 4400),
        ("-600", 4400),
        ("now+5", 5005),
        ("now-10min", 5000 - 1200),
        ("-1.5s", 4997),
        ("2h", 14400),
        (" NOW ", 5000),
        ("-6000", 2**30 - 1000),
    ],
)
def test_times_are_ticks_the_present_or_a_while_from_it(text: str, tick: int) -> None:
    assert moment(text, 5000, 0.5, "--from") == tick


@pytest.mark.parametrize("text", ["", "soon", "now-", "1.5", "--5", "now-5parsec", str(2**30), "12:30"])
def test_other_times_are_refused_with_the_options_name(text: str) -> None:
    with pytest.raises(InputError, match="--from"):
        moment(text, 5000, 0.5, "--from")


def test_a_unit_needs_the_length_of_a_tick() -> None:
    with pytest.raises(InputError, match="length of the node's ticks is not known.*--tick"):
        moment("now-10min", 0, None, "--from")


# Files


def recording(tmp_path: Path, text: str, **options: Any) -> Recording:
    """The recording in a file of truth."""
    path = tmp_path / "truth.csv"
    path.write_text(text)
    return read_pair(path, path, ReadOptions(**options))


def test_a_file_is_told_without_holes_and_in_pieces_a_node_takes(tmp_path: Path) -> None:
    rows = f"start,end,label\n10,20,a\n30,{30 + 2**28 + 5},b\n"
    told = list(replay.segments(recording(tmp_path, rows)))
    assert [(part.label, part.start, part.end) for part in told] == [
        ("a", 10, 20),
        (0, 20, 30),
        ("b", 30, 30 + 2**28),
        ("b", 30 + 2**28, 35 + 2**28),
    ]
    unknown = list(replay.segments(recording(tmp_path, "10,20,a\n30,40,b\n", gaps="unknown")))
    assert [part.label for part in unknown] == ["a", 255, "b"]


def test_a_replayed_file_gives_the_figures_of_the_same_truth(tmp_path: Path) -> None:
    truth = recording(tmp_path, "start,end,label\n0,1200,kitchen\n1500,3000,sleep\n3000,4000,kitchen\n")
    wire, other = living(), living()
    outcome = replay.replay(teller(wire), truth, 0, replay.at_once)
    assert (outcome.accepted, outcome.waiting, sum(outcome.refused.values())) == (4, 0, 0)
    for label, start, end in ((1, 0, 1200), (0, 1200, 1500), (2, 1500, 3000), (1, 3000, 4000)):
        other.node.truth_segment(label, start, end)
    assert wire.node.raw()["slices"] == other.node.raw()["slices"]


def test_labels_a_node_has_not_are_counted_and_the_replay_goes_on(tmp_path: Path) -> None:
    truth = recording(tmp_path, "start,end,label\n0,600,dance\n600,1200,kitchen\n")
    outcome = replay.replay(teller(living()), truth, 0, replay.at_once)
    assert outcome.accepted == 1
    assert outcome.refused == {Code.LABEL: 1}
    assert outcome.first_refused[0][0].label == "dance"


def test_in_step_a_segment_is_told_when_the_nodes_present_has_passed_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wire = living(slices=1)
    told = teller(wire)
    truth = recording(tmp_path, "start,end,label\n0,600,kitchen\n600,1200,sleep\n")
    moments: list[int] = []

    def sleep(seconds: float) -> None:
        now = told.ask().now
        wire.node.predict(now, 1)

    monkeypatch.setattr(replay.time, "sleep", sleep)
    replay.replay(
        told,
        truth,
        0,
        replay.after_node(told, 0, 0, 120),
        lambda part, answer: moments.append(answer.now),
    )
    assert moments == [720, 1320]


def test_by_the_clock_a_segment_is_told_when_its_end_is_due(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        clock[0] += seconds

    monkeypatch.setattr(replay.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(replay.time, "sleep", sleep)
    wait = replay.after_clock(0, 0.5, 60.0, 0)
    for end in (1200, 3600, 2400):
        wait(replay.Told("a", 0, end))
    assert slept == [10.0, 20.0, 0.0]


# Keys


@pytest.mark.parametrize(
    ("text", "key"),
    [("00ff", b"\0\xff"), (" 0A0b \n", b"\n\v"), ("ab" * 64, b"\xab" * 64)],
)
def test_a_key_file_holds_hexadecimal_text(tmp_path: Path, text: str, key: bytes) -> None:
    path = tmp_path / "label.key"
    path.write_text(text)
    assert read_key(path) == key


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "cannot be read"),
        (b"", "a key of 0 bytes"),
        (b"abc", "holds no key"),
        (b"secret", "holds no key"),
        (b"ab" * 65, "a key of 65 bytes"),
        (b"\xff\xfe", "holds no key"),
    ],
)
def test_what_is_no_key_is_refused_with_how_to_make_one(
    tmp_path: Path, text: bytes | None, said: str
) -> None:
    path = tmp_path / "label.key"
    if text is not None:
        path.write_bytes(text)
    with pytest.raises(InputError, match=rf"{said}.*Make one with"):
        read_key(path)


# The command


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["/dev/ttyX"], "either a label"),
        (["/dev/ttyX", "kitchen", "--file", "x"], "either a label"),
        (["/dev/ttyX", "kitchen", "--from", "1"], "needs --from and --to"),
        (["/dev/ttyNOSUCH", "kitchen", "--from", "1", "--to", "2"], "there is no such port"),
        (["/dev/ttyX", "a", "--from", "1", "--to", "2", "--key-file", "/nosuch"], "cannot be read"),
    ],
)
def test_what_cannot_be_told_is_said(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["label", *arguments]) == 2
    assert said in capsys.readouterr().err


@pytest.fixture
def wired(monkeypatch: pytest.MonkeyPatch) -> Iterator[Wire]:
    """The command talks to a node's model instead of a port."""
    wire = living(slices=200)
    monkeypatch.setattr(Port, "open", lambda self: None)
    monkeypatch.setattr(Port, "read", lambda self: wire.read())
    monkeypatch.setattr(Port, "write", lambda self, data: wire.write(data))
    yield wire


def test_the_command_tells_one_label(wired: Wire, capsys: pytest.CaptureFixture[str]) -> None:
    one = ["label", "/dev/model", "--tick", "1s"]
    assert main([*one, "kitchen", "--from", "0", "--to", "now-100min"]) == 0
    assert "kitchen from tick 0 to 6000: accepted" in capsys.readouterr().out
    assert main([*one, "sleep", "--from", "8000", "--to", "now"]) == 0
    assert "1 wait for what is before them" in capsys.readouterr().out
    assert main([*one, "#2", "--from", "6000", "--to", "7000", "--complete"]) == 0
    assert main([*one, "UNKNOWN", "--from", "7000", "--to", "7500"]) == 0
    assert main([*one, "dance", "--from", "0", "--to", "1"]) == 1
    assert "no such label" in capsys.readouterr().out


def test_the_command_replays_a_file_as_fast_as_the_node_answers(
    wired: Wire, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "truth.csv"
    path.write_text("start,end,label\n0,600,kitchen\n900,1200,dance\n1200,1800,sleep\n")
    assert main(["label", "/dev/model", "--file", str(path), "--speed", "0", "--tick", "1s"]) == 1
    out = capsys.readouterr().out
    assert "3 labels accepted, 1 refused, 0 wait" in out
    assert "dance from 900 to 1200 of the file: the node has no such label" in out


@given(st.binary(max_size=200))
def test_no_bytes_make_an_answer_by_chance(data: bytes) -> None:
    assert parse_answer(data) is None

"""Watching a node: report lines, figures that follow from them, events, recordings, the view, the curves."""

from __future__ import annotations

import io
import json
import math
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from streamgauge import firmware
from streamgauge.cli import main
from streamgauge.errors import InputError
from streamgauge.monitor import summary
from streamgauge.monitor.figure import draw
from streamgauge.monitor.history import History
from streamgauge.monitor.listen import Listener, read_recording, stamp
from streamgauge.monitor.marks import bar, shared_out, spark, striped, thinned
from streamgauge.monitor.view import Status, fitting, view
from streamgauge.prequential import prequential
from streamgauge.profile import compile_config, load_profile
from streamgauge.task import Task
from streamgauge.wire.line import LineCutter, decode_name, encode_name, seal, unseal
from streamgauge.wire.report import Newer, Report, parse_report

gauge = firmware.node_model()

EXAMPLE = (
    b"SG1 n=42 b=1 e=91735 h=5F1C03AA k=4,1000,1000,1000,50000 t=61000,61000,88000 a=60000,0,0 q=60,9,0,60,9 "
    b"f=9214773,20,1073742 s=51000,4000,1000,2000,0,0,2000,0 r=2,kitchen,15000,14000,12000 "
    b"g=9,8,0,2,1,5,0,1,0,6,371482911 y=5,-340,3,2,-900,420 c=2,1,0,3,0 x=0,0,0,0,0,0 l=17,17,0,0,0,0,0 "
    b"w=3,0,24,9184 m=61232,34128,8976 *A4A21A28"
)


def parsed(line: bytes) -> Report:
    """The report that a line is."""
    report = parse_report(line)
    assert report is not None
    return report


def changed(**fields: str) -> bytes:
    """The example line with other fields; one that is empty is left out."""
    words = dict(word.split("=", 1) for word in EXAMPLE.decode().split(" ")[1:-1]) | fields
    return seal("SG1 " + "".join(f"{key}={value} " for key, value in words.items() if value))


# Lines


def test_the_specifications_example_is_read_field_by_field() -> None:
    report = parsed(EXAMPLE)
    assert (report.number, report.boots, report.epoch, report.layout) == (42, 1, 91735, "5F1C03AA")
    assert report.tick_seconds == 0.001
    assert report.categories == dict(
        zip(("correct", *"SDUFIOM"), (51000, 4000, 1000, 2000, 0, 0, 2000, 0), strict=True)
    )
    assert report.row is not None and (report.row.name, report.row.ground) == ("kitchen", 15000)
    assert report.confusion_row == (2, (1, 0, 3, 0))
    assert report.latency_ticks == -34
    # By hand: 2 (2 + 1 + 0) + 6 - 371482911 / 2^26.
    assert report.distance == pytest.approx(6.464473262)
    assert report.mean_error is not None and report.mean_error.value == 0.15
    assert report.get("m") == (61232, 34128, 8976)


@given(st.lists(st.booleans(), min_size=1, max_size=300), st.floats(0.5, 0.9999))
def test_estimates_and_bounds_are_those_of_the_hosts_prequential(losses: list[bool], alpha: float) -> None:
    found = prequential([float(loss) for loss in losses], window=50, alpha=alpha)
    decay = round((1 - alpha) * 2**30)
    line = changed(
        k="4,1000,1000,50,50000",
        q=f"{found.count},{found.loss_sum:.0f},0,{found.window_count},{found.window_sum:.0f}",
        f=f"{round(found.fading_sum * 2**40)},40,{decay}",
    )
    report = parsed(line)
    for mine, host in (
        (report.mean_error, found.mean),
        (report.window_error, found.window),
        (report.faded_error, found.fading),
    ):
        assert mine is not None and mine.value is not None
        assert mine.value == pytest.approx(host.value, abs=1e-5)
        assert mine.n_eff == pytest.approx(host.n_eff, rel=1e-4)
        assert mine.hoeffding == pytest.approx(host.hoeffding, rel=1e-4)
        assert mine.chernoff == pytest.approx(host.chernoff, rel=1e-3, abs=1e-4)


def test_a_line_with_one_byte_changed_is_noise() -> None:
    for at in range(len(EXAMPLE)):
        for flip in (1, 32):
            damaged = bytearray(EXAMPLE)
            damaged[at] ^= flip
            assert parse_report(bytes(damaged)) is None, at


def test_fields_and_values_of_later_versions_are_passed_over() -> None:
    line = changed(q="60,9,0,60,9,777", zz="1,2", m="1,2,3,4,5", new="x=y")
    report = parsed(line)
    assert report.mean_error is not None and report.mean_error.value == 0.15
    assert report.get("zz") is None


def test_a_field_that_is_too_short_or_no_number_is_left_out_alone() -> None:
    report = parsed(changed(q="60,9", g="a,b", s="1,2,3,4,5,6,7,9999999999999999999999", t=""))
    assert report.mean_error is None and report.distance is None and report.categories is None
    assert report.get("t") is None
    assert report.latency_ticks == -34


def test_a_line_of_a_newer_major_version_is_refused_in_words() -> None:
    with pytest.raises(Newer, match="reports in version 2; this streamgauge reads version 1"):
        parse_report(seal("SG2 n=1 "))
    with pytest.raises(Newer, match="version 10"):
        parse_report(seal("SG10 n=1 "))


def test_a_line_without_its_number_says_nothing() -> None:
    assert parse_report(changed(n="")) is None


@given(st.text(min_size=1, max_size=40))
def test_any_name_survives_a_line(name: str) -> None:
    try:
        encoded = encode_name(name)
    except UnicodeEncodeError:  # a lone surrogate is no text
        return
    assert not set(encoded) & set(" ,*#=\n")
    assert encoded.isascii()
    assert decode_name(encoded) == name


@pytest.mark.parametrize("text", ["", "a b", "%4", "%zz", "%61", "caf\u00e9", "%FF"])
def test_a_name_that_no_node_writes_is_none(text: str) -> None:
    assert decode_name(text) is None


@given(st.lists(st.binary(max_size=60).filter(lambda data: b"\n" not in data), max_size=20), st.data())
def test_lines_are_the_same_however_the_stream_is_cut(lines: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(line + b"\n" for line in lines)
    cutter, found, at = LineCutter(), [], 0
    while at < len(stream):
        size = data.draw(st.integers(1, 50))
        found += list(cutter.feed(stream[at : at + size]))
        at += size
    assert found == [line.removesuffix(b"\r") for line in lines]


def test_what_is_too_long_to_be_a_line_is_dropped_once_and_the_next_one_is_taken() -> None:
    cutter = LineCutter()
    found = list(cutter.feed(b"x" * 5000))
    found += list(
        cutter.feed(b"y" * 5000 + b"\n" + EXAMPLE + b"\n" + b"z" * 2000 + b"\n" + EXAMPLE + b"\r\n")
    )
    assert found == [EXAMPLE, EXAMPLE]
    assert cutter.dropped == 2


# A million bytes of noise


def node_lines(count: int = 60) -> list[bytes]:
    """Real lines of a node with every estimator that a line tells of."""
    profile = load_profile("sensor").with_values(
        {"estimators.on": ["align", "slices", "prequential", "page_hinkley", "ddm"]}
    )
    node = gauge.Node(compile_config(profile, Task(("NULL", "walk", "a, b é", "run"), 0.02, 50)))
    from gauge.labels import Labels
    from gauge.line import Line
    from gauge.snapshot import Store

    Labels(node)
    Store(node)
    line = Line(node)
    dice = random.Random(5)
    out = io.BytesIO()
    for i in range(20 * count):
        g = i // 13 % 4
        node.predict(i * 50, g if dice.random() < 0.7 else dice.randrange(4))
        node.truth(i * 50, g)
        if i % 20 == 19:
            line.write(out)
    return out.getvalue().splitlines()


@pytest.fixture(scope="module")
def real() -> list[bytes]:
    """Lines of a node."""
    lines = node_lines()
    assert len(lines) == 60
    return lines


def mutations(lines: list[bytes], dice: random.Random) -> Iterator[tuple[bytes, bool]]:
    """Pieces of a bad line's stream; whether each is a whole report line."""
    while True:
        line = bytearray(dice.choice(lines))
        kind = dice.randrange(7)
        if kind == 0:
            yield bytes(line) + b"\n", True
        elif kind == 1:  # bits flip
            for _ in range(dice.randint(1, 6)):
                line[dice.randrange(len(line))] ^= 1 << dice.randrange(8)
            yield bytes(line).replace(b"\n", b"?") + b"\n", False
        elif kind == 2:  # bytes go missing
            at = dice.randrange(len(line))
            del line[at : at + dice.randint(1, 20)]
            yield bytes(line) + b"\n", False
        elif kind == 3:  # two lines run into each other
            cut = dice.randrange(1, len(line))
            yield bytes(line[:cut]) + dice.choice(lines) + b"\n", False
        elif kind == 4:  # another speed
            yield dice.randbytes(dice.randint(1, 800)).replace(b"\n", b"?") + b"\n", False
        elif kind == 5:  # the program's own words
            yield b"Traceback (most recent call last):\r\n>>> SG1 \r\n*\r\n\r\n", False
        else:  # a line in two halves with noise between
            cut = dice.randrange(1, len(line))
            yield bytes(line[:cut]) + b"\xff\x00" + bytes(line[cut:]) + b"\n", False


def test_of_a_million_bytes_of_noise_exactly_the_whole_lines_are_taken(real: list[bytes]) -> None:
    dice = random.Random(2)
    history = History()
    listener = Listener(history)
    fed = whole = 0
    stream = bytearray()
    for piece, good in mutations(real, dice):
        stream += piece
        whole += good
        if len(stream) > 4000:
            while stream:
                size = dice.randint(1, 700)
                listener.feed(bytes(stream[:size]), at=float(fed))
                fed += min(size, len(stream))
                del stream[:size]
        if fed >= 1_000_000:
            break
    listener.feed(bytes(stream))
    assert fed >= 1_000_000
    assert whole > 300
    assert history.lines == whole
    assert history.damaged > 300 and history.other > 300


def sealed_nonsense(dice: random.Random, lines: list[bytes]) -> bytes:
    """A line whose checksum fits and whose fields are anything."""
    keys = [word.split("=")[0] for word in lines[-1].decode().split(" ")[1:-1]]
    words = []
    for key in dice.sample(keys, dice.randint(0, len(keys))):
        if sum(map(len, words)) > 700:
            break
        kind = dice.randrange(6)
        if kind == 0:
            words.append(f"{key}=" + "".join(chr(dice.randint(33, 126)) for _ in range(dice.randint(0, 30))))
        else:
            size = dice.choice((1, 3, 31, 59, 70))
            values = [str(dice.randint(-(2**size), 2**size)) for _ in range(dice.choice((0, 3, 9, 40)))]
            words.append(f"{key}=" + ",".join(values))
    words.append(f"n={dice.randint(-3, 2**40)}")
    words.append(f"r={dice.randint(-1, 33)},%20{dice.choice('ab%')},{dice.randint(-9, 9)},3,4")
    tick, delta = dice.choice((0, -5, 7, 2**59)), dice.randint(-1, 2**21)
    words.append(f"k={dice.randint(-1, 40)},{dice.randint(0, 9)},{tick},9,{delta}")
    dice.shuffle(words)
    return seal("SG1 " + " ".join(words).replace("*", "+") + " ")


def test_lines_that_are_whole_and_mean_nonsense_break_nothing(real: list[bytes]) -> None:
    dice = random.Random(3)
    history = History()
    listener = Listener(history)
    fed = 0
    number = 0
    while fed < 500_000:
        line = sealed_nonsense(dice, real)
        listener.feed(line, at=1e9 + number)
        fed += len(line)
        number += 1
        if number % 40 == 0:
            console = Console(width=dice.randint(20, 200), height=dice.randint(3, 60), file=io.StringIO())
            console.print(fitting(history, Status("port", now=1e9 + number), console))
            json.loads(summary.text(history, Status("port")))
    assert history.lines > 400


# What a history notices


def history_of(*lines: bytes) -> History:
    """A history of lines that arrive ten seconds apart."""
    history = History()
    listener = Listener(history)
    for i, line in enumerate(lines):
        assert listener.feed(line.removesuffix(b"\n") + b"\n", at=1e9 + 10 * i) == 1
    return history


def events(history: History) -> list[tuple[str, str]]:
    """Kinds and texts."""
    return [(event.kind, event.text) for event in history.events]


def test_restarts_lost_lines_and_new_configurations_are_events() -> None:
    history = history_of(
        changed(n="5"),
        changed(n="6"),
        changed(n="9"),
        changed(n="1", b="2", e="17"),
        changed(n="1", b="2", e="17"),
        changed(n="2", b="2", e="99"),
        changed(n="3", b="2", e="99", h="00000000"),
    )
    assert events(history) == [
        ("line", "2 lines did not arrive"),
        ("restart", "the node restarted (boot 2)"),
        ("restart", "the node counts its lines anew: it restarted without its saved state"),
        ("restart", "a new recording began (99)"),
        ("config", "another configuration: 5F1C03AA became 00000000"),
    ]


def test_an_alarm_is_an_event_when_its_count_grows() -> None:
    history = history_of(
        changed(n="1", **{"d.ddm": "0,0,0"}),
        changed(n="2", **{"d.ddm": "1,1,310"}),
        changed(n="3", **{"d.ddm": "1,1,310"}),
        changed(n="4", **{"d.ddm": "3,2,2000"}),
    )
    assert events(history) == [
        ("alarm", "ddm: error up at record 310"),
        ("alarm", "ddm: error down at record 2,000"),
    ]


def test_rows_come_together_line_by_line_and_go_with_another_configuration(real: list[bytes]) -> None:
    history = history_of(*real[:4])
    assert list(history.names.values()) == ["NULL", "walk", "a, b é", "run"]
    assert sorted(history.confusion) == [0, 1, 2, 3]
    Listener(history).feed(changed(h="00000000", n="5"))
    assert list(history.rows) == [2]


def test_the_truths_delay_is_measured_across_the_wrap_of_the_clock() -> None:
    history = history_of(changed(t=f"{2**30 - 500},{2**30 - 500},1500"))
    assert history.points[0].lag == pytest.approx(2.0)


# Recordings


def test_a_recording_holds_every_whole_line_with_its_time_and_reads_back(
    tmp_path: Path, real: list[bytes]
) -> None:
    path = tmp_path / "node.log"
    with open(path, "a", encoding="ascii") as file:
        listener = Listener(History(), file)
        for i, line in enumerate(real):
            listener.feed(b"garbage\xff\n" + line[: 50 * (i % 3)] + b"\n" + line + b"\n", at=1e9 + i)
    assert path.read_text().splitlines()[7] == f"{stamp(1e9 + 7)} {real[7].decode()}"
    history, timed = read_recording(path)
    assert timed
    assert (history.lines, history.damaged, history.other) == (len(real), 0, 0)
    assert [point.at for point in history.points] == [1e9 + i for i in range(len(real))]


def test_a_recording_cut_off_or_damaged_in_the_middle_is_read_around_it(
    tmp_path: Path, real: list[bytes]
) -> None:
    path = tmp_path / "node.log"
    lines = [f"{stamp(1e9 + i)} ".encode() + line + b"\n" for i, line in enumerate(real)]
    lines[3] = lines[3][:100]
    lines[10] = b"2031-99-99T00:00:00.000Z " + lines[10][25:]
    path.write_bytes(b"".join(lines)[:-30])
    history, _ = read_recording(path)
    # The fourth took the fifth with it, the last has no end.
    assert history.lines == len(real) - 4


def test_bytes_captured_from_a_port_are_read_as_well(tmp_path: Path, real: list[bytes]) -> None:
    path = tmp_path / "capture"
    path.write_bytes(b"boot\r\n" + b"\r\n".join(real) + b"\r\n")
    history, timed = read_recording(path)
    assert not timed
    assert history.lines == len(real)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot be read"),
        (b"", "holds no report line"),
        (b"hello\n", "holds no report line"),
        (seal("SG2 n=1 "), "version 2"),
    ],
)
def test_a_file_without_a_report_is_refused_with_a_remedy(
    tmp_path: Path, content: bytes | None, said: str
) -> None:
    path = tmp_path / "node.log"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=said):
        read_recording(path)


# What is shown


def text_of(history: History, width: int, status: Status | None = None) -> str:
    """The view as plain text."""
    console = Console(width=width, file=io.StringIO(), _environ={})
    with console.capture() as captured:
        console.print(view(history, status or Status("/dev/ttyX", now=1e9 + 600), width))
    return captured.get()


def test_the_view_shows_the_figures_of_the_line() -> None:
    shown = text_of(history_of(EXAMPLE), 120)
    for text in (
        "85.0 %",
        "± 17.5",
        "n 60",
        "6.464",
        "kitchen",
        "-34 ms",
        "60 s",
        "59.8 KiB",
        "24",
        "8.8 KiB",
    ):
        assert text in shown, text
    assert "truth is behind by 27 s" in shown


@pytest.mark.parametrize("width", [40, 60, 80, 104, 140, 200])
def test_no_line_of_the_view_is_wider_than_the_terminal(real: list[bytes], width: int) -> None:
    for line in text_of(history_of(*real), width).splitlines():
        assert len(line) <= width


def test_a_low_terminal_gets_less_detail_and_no_cut_figures(real: list[bytes]) -> None:
    history = history_of(*real)
    heights = []
    for height in (60, 43, 20):
        console = Console(width=90, height=height, file=io.StringIO(), _environ={})
        screen = fitting(history, Status("port", now=1e9), console)
        heights.append(len(console.render_lines(screen, console.options)))
    assert heights[0] > heights[1] > heights[2]
    assert heights[0] <= 60 and heights[1] <= 43


def test_the_view_says_when_the_line_is_silent_or_gone(real: list[bytes]) -> None:
    history = history_of(*real)
    assert "600 s ago" in text_of(history, 120, Status("port", now=history.received_at + 600))
    assert "not there: no such file" in text_of(history, 120, Status("port", lost="no such file"))
    assert "waiting for the node's first report line" in text_of(History(), 120)


def test_a_node_without_estimators_is_shown_all_the_same() -> None:
    shown = text_of(history_of(seal("SG1 n=1 k=3,10,0,0,50000 m=1000,2000,300 ")), 100)
    assert "not among the node's estimators" in shown
    assert "1000 B" in shown


def test_bars_and_curves_fill_exactly_the_cells_they_are_given() -> None:
    for share in (None, -1.0, 0.0, 0.3, 0.999, 1.0, 7.0):
        assert len(bar(share, 20, "red")) == 20
    assert spark([0.0, None, 1.0, 0.5], 0.0, 1.0, "").plain == "▁ █▅"
    assert spark([0.5, 0.5], 0.5, 0.5, "").plain == "▄▄"
    assert thinned([1.0, 3.0, None, 5.0], 2) == [2.0, 5.0]
    assert len(striped([(1, "a", ""), (0, "b", ""), (10**9, "c", "")], 30)) == 30


@given(st.lists(st.integers(-5, 10**12), min_size=1, max_size=9), st.integers(9, 80))
def test_what_is_there_gets_a_cell_and_all_cells_are_shared_out(parts: list[int], width: int) -> None:
    cells = shared_out(parts, width)
    if any(part > 0 for part in parts):
        assert sum(cells) == width
        assert all(count >= 1 for part, count in zip(parts, cells, strict=True) if part > 0)
    assert all(count == 0 for part, count in zip(parts, cells, strict=True) if part <= 0)


# The command


def recorded(path: Path, lines: list[bytes]) -> str:
    """Write a recording."""
    path.write_bytes(
        b"".join(f"{stamp(1e9 + 60 * i)} ".encode() + line + b"\n" for i, line in enumerate(lines))
    )
    return str(path)


def test_the_command_shows_a_recording_and_draws_its_curves(
    tmp_path: Path, real: list[bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    log = recorded(tmp_path / "node.log", real)
    assert main(["monitor", "--from", log]) == 0
    assert "60 lines" in capsys.readouterr().out
    for name, magic in (("curves.png", b"\x89PNG"), ("curves.svg", b"<?xml"), ("curves.pdf", b"%PDF")):
        assert main(["monitor", "--from", log, "--plot", str(tmp_path / name)]) == 0
        assert (tmp_path / name).read_bytes().startswith(magic)
    assert capsys.readouterr().out == ""


def test_the_json_document_holds_the_figures(
    tmp_path: Path, real: list[bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["monitor", "--from", recorded(tmp_path / "node.log", [EXAMPLE]), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["error"]["mean"]["value"] == 0.15
    assert document["labels"] == [
        {"label": 2, "name": "kitchen", "ground": 15000, "inferred": 14000, "correct": 12000}
    ]
    assert document["fields"]["g"][-1] == 371482911
    assert document["received"] == stamp(1e9)


@pytest.mark.parametrize("lines", [1, 2, 5])
def test_curves_of_few_lines_can_be_drawn(tmp_path: Path, real: list[bytes], lines: int) -> None:
    for chosen in (real[:lines], [seal("SG1 n=1 ")] * lines):
        history = History()
        listener = Listener(history)
        for i, line in enumerate(chosen):
            listener.feed(line.removesuffix(b"\n") + b"\n", at=float(i))
        draw(history, tmp_path / "few.png", timed=False, title="few")
        assert (tmp_path / "few.png").stat().st_size > 5000


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "name a port, or a file"),
        (["/dev/ttyX", "--from", "x"], "name a port, or a file"),
        (["--from", "x", "--record", "y"], "records from a port"),
        (["/dev/ttyNOSUCH", "--once"], "/dev/ttyNOSUCH: cannot be opened (there is no such port)"),
    ],
)
def test_what_cannot_be_watched_is_said(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["monitor", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_a_picture_of_an_unknown_kind_is_refused(
    tmp_path: Path, real: list[bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    log = recorded(tmp_path / "node.log", real)
    assert main(["monitor", "--from", log, "--plot", str(tmp_path / "curves.xyz")]) == 2
    assert "the picture cannot be written" in capsys.readouterr().err


def test_unsealing_needs_the_star_the_blank_and_the_digits() -> None:
    assert unseal(EXAMPLE) is not None
    assert unseal(EXAMPLE.lower()) is None
    assert unseal(EXAMPLE.replace(b" *", b"*")) is None
    assert unseal(b"*D202EF8D") is None
    assert not math.isnan(parsed(EXAMPLE).distance or math.nan)

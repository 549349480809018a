"""A node's life through the real command line: flashed, watched, told the truth, cut off, read.

The node is MicroPython's unix port behind a pty that restarts it as a board would, so everything here is
what a user types, with mpremote's own transport in between.
"""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from life.ptynode import PtyNode

from conftest import absent
from streamgauge import firmware
from streamgauge.labelling.teller import Refused, Teller
from streamgauge.monitor.history import History
from streamgauge.monitor.listen import Listener, read_recording
from streamgauge.segments import Segments
from streamgauge.slices import slices
from streamgauge.wire.port import open_port
from streamgauge.wire.report import Report

FIRMWARE = Path(__file__).resolve().parents[2] / "firmware"
COMMAND = [sys.executable, "-c", "import sys; from streamgauge.cli import main; sys.exit(main())"]
MPREMOTE = [sys.executable, "-m", "mpremote"]

TICKS_A_LABEL = 200  # ms: the test's recogniser says NULL, walk and run in turn, for so long each
TASK = ["--labels", "walk,run", "--tick", "1ms", "--slice", "20ms"]
FLASH = [*TASK, "--report-every", "1s", "--save-every", "1s"]
KEY = "000102030405060708090a0b0c0d0e0f"


def run(*arguments: str, timeout: float = 90.0, ok: int | None = 0) -> subprocess.CompletedProcess[str]:
    """Run the command line as a user does."""
    done = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=timeout)
    if ok is not None:
        assert done.returncode == ok, f"{arguments}: {done.stdout}\n{done.stderr}"
    return done


@pytest.fixture(scope="module")
def program() -> str:
    """A MicroPython with a raw REPL."""
    found = Path(sys.executable).parent / "micropython"
    if sys.platform == "win32" or not found.is_file():
        absent("the emulated node needs the pip package's micropython (Python 3.11 on x86-64 Linux)")
    return str(found)


@pytest.fixture(scope="module")
def main_py(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The example program with a recogniser whose labels follow from the tick alone."""
    text = (firmware.source_root() / "main.py").read_text()
    assert text.count("recognise(sensor())") == 1
    path = tmp_path_factory.mktemp("program") / "main.py"
    path.write_text(text.replace("recognise(sensor())", f"t // {TICKS_A_LABEL} % 3"))
    return str(path)


@pytest.fixture(scope="module")
def node(program: str, main_py: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[PtyNode]:
    """A board that was flashed."""
    board = PtyNode(program, tmp_path_factory.mktemp("boards") / "board")
    try:
        done = run("flash", board.port, *FLASH, "--main", main_py)
        assert "numbers as expected" in done.stdout
        yield board
    finally:
        board.close()


def reboot(node: PtyNode, *, key: str = "", forget: bool = True) -> None:
    """Power off and on; with nothing saved unless told otherwise."""
    node.power_off()
    if forget:
        for path in node.folder.glob("gauge.*"):
            path.unlink()
    key_file = node.folder / "label.key"
    key_file.unlink(missing_ok=True)
    if key:
        key_file.write_text(key)
    node.power_on()


def listen(node: PtyNode, until: Callable[[Report], bool] = lambda report: True) -> Report:
    """Listen until a report line says so; return it."""
    history = History()
    listener = Listener(history)
    end = time.monotonic() + 40
    with open_port(node.port) as port:
        while time.monotonic() < end:
            if listener.feed(port.read()) and history.last is not None and until(history.last):
                return history.last
    raise AssertionError(f"it did not happen; the last line was {history.last}")


def told_until(ticks: int) -> Callable[[Report], bool]:
    """Whether the predictions of a report go that far."""
    return lambda report: report.fields["t"][2] > ticks


def wait_until(what: Callable[[], bool], seconds: float = 30.0) -> None:
    """Wait for something to become true."""
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)


# Flash


def test_a_dry_run_shows_the_board_and_writes_nothing(program: str, tmp_path: Path) -> None:
    board = PtyNode(program, tmp_path / "board")
    try:
        done = run("flash", board.port, *FLASH, "--dry-run")
        assert re.search(r"MicroPython 1\.\d+\.\d+, machine code for x64", done.stdout)
        assert "files to write" in done.stdout and "nothing was written" in done.stdout
        assert list(board.folder.iterdir()) == []
    finally:
        board.close()


def test_a_heap_too_small_is_refused_with_numbers_before_anything_is_written(
    program: str, tmp_path: Path
) -> None:
    board = PtyNode(program, tmp_path / "board", heap=80_000)
    try:
        done = run("flash", board.port, *FLASH, ok=2)
        assert re.search(r"does not fit: [\d,]+ bytes of heap are needed .* of [\d,]+ are free", done.stderr)
        assert list(board.folder.iterdir()) == []
    finally:
        board.close()


def test_what_was_flashed_is_there_whole(node: PtyNode) -> None:
    for name, content in firmware.build("x64").items():
        assert (node.folder / "lib" / name).read_bytes() == content
    config = json.loads((node.folder / "config.json").read_text())
    assert (config["labels"], config["report_s"], config["save_s"]) == (["NULL", "walk", "run"], 1, 1)


def test_a_second_flash_writes_nothing_and_keeps_the_snapshot_or_forgets_it_when_told(node: PtyNode) -> None:
    reboot(node)
    wait_until(lambda: (node.folder / "gauge.1").is_file())
    done = run("flash", node.port)
    assert "0 files to write" in done.stdout and "kept: " in done.stdout
    assert (node.folder / "gauge.1").is_file()
    assert listen(node).boots == 2
    done = run("flash", node.port, "--erase-snapshot")
    assert "removed: " in done.stdout
    assert listen(node).boots == 1


def test_a_changed_module_is_written_and_a_source_in_its_way_removed(node: PtyNode) -> None:
    package = node.folder / "lib" / "gauge"
    whole = (package / "slices.mpy").read_bytes()
    (package / "slices.mpy").write_bytes(whole[:-1] + b"?")
    (package / "slices.py").write_text("raise ValueError('an old source')")
    done = run("flash", node.port)
    assert "1 files to write" in done.stdout and "1 to remove" in done.stdout
    assert (package / "slices.mpy").read_bytes() == whole
    assert not (package / "slices.py").exists()


def test_a_kernel_that_computes_wrongly_fails_the_self_test(node: PtyNode) -> None:
    """The stored vectors are changed on the board behind flash's back, as a faulty board would compute."""
    selftest = node.folder / "lib" / "gauge" / "selftest.mpy"
    whole = selftest.read_bytes()
    from streamgauge.flash.board import identify
    from streamgauge.flash.link import Link
    from streamgauge.flash.verdict import self_test

    with Link(node.port) as link:
        board = identify(link)
        text = (FIRMWARE / "gauge" / "selftest.py").read_text()
        stored = re.search(r'"prequential": "(\d+) ', text)
        assert stored is not None
        selftest.unlink()
        wrong = selftest.with_suffix(".py")
        wrong.write_text(text.replace(stored[0], f'"prequential": "{int(stored[1]) + 1} '))
        verdict = self_test(link, board, "config.json")
        wrong.unlink()
        selftest.write_bytes(whole)
        assert not verdict.passed
        (failed,) = [result for result in verdict.results if result.different]
        assert (failed.part, failed.different, failed.first) == (
            "prequential",
            1,
            (0, int(stored[1]) + 1, int(stored[1])),
        )
        link.restart()


def test_flash_with_resume_leaves_the_interpreter_running(node: PtyNode) -> None:
    reboot(node)
    boots = node.boots
    done = run("flash", node.port, "--resume")
    assert "numbers as expected" in done.stdout
    assert node.boots == boots
    reboot(node)


def test_build_asks_the_board_what_it_takes(node: PtyNode, tmp_path: Path) -> None:
    done = run("build", "--board", node.port, "--out", str(tmp_path))
    assert "machine code for x64" in done.stdout
    assert (tmp_path / "x64" / "gauge" / "node.mpy").is_file()


# mpremote's own commands on the emulated node


def test_mpremote_itself_copies_runs_mounts_resumes_and_resets(node: PtyNode, tmp_path: Path) -> None:
    def mpremote(*arguments: str) -> str:
        done = subprocess.run(
            [*MPREMOTE, "connect", node.port, *arguments],
            capture_output=True,
            text=True,
            timeout=60,
            cwd=tmp_path,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    (tmp_path / "hello.py").write_text("print('hello', 6 * 7)")
    mpremote("cp", "hello.py", ":copied.py")
    assert (node.folder / "copied.py").read_text() == "print('hello', 6 * 7)"
    assert "copied.py" in mpremote("ls")
    assert "hello 42" in mpremote("run", "hello.py")
    assert "hello 42" in mpremote("mount", ".", "exec", "import hello")
    mpremote("exec", "kept = 5")
    assert mpremote("resume", "exec", "print(kept)").strip() == "5"
    mpremote("soft-reset")
    assert mpremote("resume", "exec", "print('kept' in globals())").strip() == "False"
    mpremote("rm", ":copied.py")
    reboot(node)


def test_mpremote_mip_installs_what_build_wrote(program: str, tmp_path: Path) -> None:
    run("build", "--arch", "x64", "--out", str(tmp_path / "mpy"))
    board = PtyNode(program, tmp_path / "board")
    try:
        package = str(tmp_path / "mpy" / "x64" / "package.json")
        done = subprocess.run(
            [*MPREMOTE, "connect", board.port, "mip", "install", "--target", "lib", package],
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        shown = subprocess.run(
            [*MPREMOTE, "connect", board.port, "exec", "import gauge; print(gauge.__version__)"],
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert shown.stdout.strip() == firmware.node_model().__version__
    finally:
        board.close()


# Monitor


def test_the_monitor_records_whole_lines_and_draws_them(node: PtyNode, tmp_path: Path) -> None:
    reboot(node)
    log, picture = tmp_path / "node.log", tmp_path / "node.png"
    done = run("monitor", node.port, "--lines", "3", "--record", str(log), "--plot", str(picture))
    assert "Accuracy" in done.stdout and "walk" in done.stdout
    history, timed = read_recording(log)
    assert (history.lines, timed) == (3, True)
    assert list(history.names.values()) == ["NULL", "walk", "run"]
    assert picture.stat().st_size > 10_000


def test_the_monitor_survives_unplugging_and_garbage(node: PtyNode, tmp_path: Path) -> None:
    reboot(node)
    log = tmp_path / "node.log"
    arguments = ["monitor", node.port, "--lines", "6", "--record", str(log), "--json"]
    watching = subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.PIPE, text=True)
    try:
        wait_until(lambda: log.is_file() and log.read_text().count("\n") >= 2)
        node.disturb(b"\xff\x00garbage\r\nSG1 n=1 *00000000\r\n" + bytes(range(256)) + b"\n")
        wait_until(lambda: log.read_text().count("\n") >= 3)
        node.unplug()
        time.sleep(1.5)
        node.plug_in()
        out, _ = watching.communicate(timeout=60)
    finally:
        watching.kill()
        watching.wait()
    assert watching.returncode == 0
    document = json.loads(out)
    texts = [event["text"] for event in document["events"]]
    assert any(text.startswith("the port is gone") for text in texts)
    assert "the port is back" in texts
    assert document["lines"] == 6
    assert document["damaged"] >= 1
    assert read_recording(log)[0].lines == 6


def test_the_monitor_sees_a_power_cut_and_the_boot_after_it(node: PtyNode, tmp_path: Path) -> None:
    reboot(node)
    log = tmp_path / "node.log"
    arguments = ["monitor", node.port, "--lines", "5", "--record", str(log), "--json"]
    watching = subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.PIPE, text=True)
    try:
        wait_until(lambda: log.is_file() and log.read_text().count("\n") >= 2)
        reboot(node, forget=False)
        out, _ = watching.communicate(timeout=60)
    finally:
        watching.kill()
        watching.wait()
    assert "the node restarted (boot 2)" in [event["text"] for event in json.loads(out)["events"]]


def test_on_a_terminal_the_view_is_live_until_it_is_interrupted(node: PtyNode) -> None:
    reboot(node)
    outer, inner = pty.openpty()
    watching = subprocess.Popen(
        [*COMMAND, "monitor", node.port],
        stdin=inner,
        stdout=inner,
        stderr=inner,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "120", "LINES": "40"},
    )
    shown = b""
    try:
        end = time.monotonic() + 40
        while time.monotonic() < end and b"Accuracy" not in shown:
            if select.select([outer], [], [], 0.2)[0]:
                shown += os.read(outer, 65536)
        assert b"Accuracy" in shown
        watching.send_signal(signal.SIGINT)
        end = time.monotonic() + 20
        while watching.poll() is None and time.monotonic() < end:
            if select.select([outer], [], [], 0.1)[0]:
                shown += os.read(outer, 65536)
        assert watching.returncode == 0
    finally:
        watching.kill()
        watching.wait()
        os.close(outer)
        os.close(inner)


def test_a_port_that_says_nothing_ends_with_1_after_the_timeout(program: str, tmp_path: Path) -> None:
    board = PtyNode(program, tmp_path / "board")
    try:
        done = run("monitor", board.port, "--once", "--timeout", "1", ok=1)
        assert "no report line came" in done.stderr
    finally:
        board.close()


# Truth from outside


def expected_slices(truth: list[tuple[int, int, int]]) -> dict[str, int]:
    """The host's totals for this truth and the test's recogniser; times are multiples of its second."""
    end = truth[-1][2]
    said = [(t // TICKS_A_LABEL % 3, t, t + TICKS_A_LABEL) for t in range(0, end, TICKS_A_LABEL)]
    return slices(Segments.from_rows(truth), Segments.from_rows(said), 3).totals


def test_labels_one_by_one_out_of_order_give_the_hosts_figures(node: PtyNode) -> None:
    reboot(node)
    listen(node, told_until(1400))
    said = run("label", node.port, "run", "--from", "800", "--to", "1200").stdout
    assert "1 wait for what is before them" in said
    run("label", node.port, "walk", "--from", "0", "--to", "500")
    assert "too late" in run("label", node.port, "run", "--from", "0", "--to", "500", ok=1).stdout
    run("label", node.port, "NULL", "--from", "500", "--to", "800")
    run("label", node.port, "UNKNOWN", "--from", "1200", "--to", "1400")
    found = listen(node)
    assert found.categories == expected_slices([(1, 0, 500), (0, 500, 800), (2, 800, 1200)])
    assert found.get("a") == (1200, 200, 0)
    assert found.fields["l"][1:5] == (4, 0, 0, 1)


def test_a_file_is_replayed_in_step_and_gives_the_hosts_figures(node: PtyNode, tmp_path: Path) -> None:
    reboot(node)
    booted = time.monotonic()
    rows = [(1, 0, 400), (0, 400, 600), (2, 600, 800), (1, 800, 1200)]
    names = ("NULL", "walk", "run")
    path = tmp_path / "truth.csv"
    path.write_text("start,end,label\n" + "".join(f"{a},{b},{names[i]}\n" for i, a, b in rows if i))
    done = run("label", node.port, "--file", str(path), "--at", "0", "--late", "4s")
    assert "4 labels accepted, 0 refused, 0 wait" in done.stdout
    # In step: the last label ends 1.2 s after the node's start, and was to be told 4 s later.
    assert time.monotonic() - booted > 5.2
    assert listen(node).categories == expected_slices(rows)


def test_with_a_key_unsigned_and_forged_labels_are_refused_and_counted(node: PtyNode, tmp_path: Path) -> None:
    reboot(node, key=KEY)
    right, wrong = tmp_path / "right", tmp_path / "wrong"
    right.write_text(KEY)
    wrong.write_text(KEY[::-1])
    one = ["label", node.port, "walk", "--from", "0", "--to", "500"]
    for arguments in (one, [*one, "--key-file", str(wrong)]):
        assert "signed with its key" in run(*arguments, ok=1).stdout
    assert listen(node).get("a") == (0, 0, 0)
    run(*one, "--key-file", str(right))
    found = listen(node)
    assert found.fields["a"][0] == 500
    assert found.fields["l"][:5] == (1, 1, 0, 2, 0)
    reboot(node)


def test_the_key_is_flashed_where_the_node_reads_it(node: PtyNode, tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text(KEY.upper() + "\n")
    run("flash", node.port, "--key-file", str(key))
    assert (node.folder / "label.key").read_text().strip() == KEY
    assert "signed" in run("label", node.port, "walk", "--from", "0", "--to", "50", ok=1).stdout
    reboot(node)


def test_a_port_in_use_is_said(node: PtyNode) -> None:
    watching = subprocess.Popen(
        [*COMMAND, "monitor", node.port, "--lines", "100"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        said: list[str] = []

        def refused() -> bool:
            done = run("label", node.port, "walk", "--from", "0", "--to", "50", ok=None)
            said.append(done.stderr)
            return done.returncode == 2

        wait_until(refused)
        assert "another program holds it" in said[-1]
    finally:
        watching.kill()
        watching.wait()


# Saved, killed, resumed, read


def test_save_kill_resume_and_read_keep_every_figure(node: PtyNode) -> None:
    reboot(node)
    listen(node, told_until(1000))
    run("label", node.port, "walk", "--from", "0", "--to", "600")
    run("label", node.port, "run", "--from", "600", "--to", "800")
    before = listen(node)
    saves = before.fields["w"][0]
    listen(node, lambda report: report.fields["w"][0] > saves + 1)
    reboot(node, forget=False)
    after = listen(node)
    assert after.boots == 2
    assert after.epoch != before.epoch
    assert after.categories == before.categories
    assert after.fields["l"][0] == before.fields["l"][0]
    # All but the records without truth: what was predicted and can be told no truth any more is one of them.
    assert [after.fields["q"][i] for i in (0, 1, 3, 4)] == [before.fields["q"][i] for i in (0, 1, 3, 4)]
    assert after.fields["a"][0] == before.fields["a"][0]
    assert after.fields["a"][2] > 0

    slots = sorted(str(path) for path in node.folder.glob("gauge.?"))
    assert len(slots) == 2
    document = json.loads(run("read", *slots, "--json").stdout)
    assert document["slices"]["totals"] == before.categories
    assert document["prequential"]["count"] == before.fields["q"][0]
    assert "Alignment" in run("read", *slots).stdout


def test_a_label_for_the_recording_before_the_power_cut_is_not_taken_for_this_one(node: PtyNode) -> None:
    reboot(node)
    listen(node, lambda report: report.fields["w"][0] >= 1)
    with open_port(node.port) as port:
        teller = Teller(port)
        teller.ask()
        reboot(node, forget=False)
        with pytest.raises(Refused, match="restarted"):
            teller.label("walk", 0, 500)


def test_the_state_of_other_labels_is_refused_and_the_node_starts_anew(node: PtyNode) -> None:
    reboot(node)
    wait_until(lambda: (node.folder / "gauge.0").is_file())
    mine = (node.folder / "config.json").read_bytes()
    run("flash", node.port, "--labels", "walk,run,jump", *FLASH[2:])
    found = listen(node)
    assert (found.boots, found.fields["k"][0]) == (1, 4)
    (node.folder / "config.json").write_bytes(mine)

"""Flashing without a board: what it would take, what is refused, what changes."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from streamgauge import firmware
from streamgauge.cli import main
from streamgauge.engines import Engine, EngineFailed
from streamgauge.engines.base import Implementation
from streamgauge.errors import InputError
from streamgauge.flash import ports
from streamgauge.flash.board import Board, identify
from streamgauge.flash.needs import code_bytes, needs
from streamgauge.flash.plan import Wanted, config_text, make_plan
from streamgauge.flash.verdict import Result, Verdict, self_test
from streamgauge.flash.write import carry_out
from streamgauge.profile import compile_config, load_profile
from streamgauge.task import Task

ARMV6M = 4 << 10 | 3 << 8 | 6
CONFIG = compile_config(load_profile("sensor"), Task(("NULL", "a", "b"), 1.0, 60))


def board(**facts: Any) -> Board:
    """A board with enough of everything."""
    given: dict[str, Any] = {
        "port": "/dev/ttyX",
        "machine": "Raspberry Pi Pico with RP2040",
        "unique_id": "e661",
        "implementation": Implementation((1, 25, 0), ARMV6M, 32),
        "heap": 200_000,
        "heap_free": 190_000,
        "disk_free": 800_000,
        "home": "/",
        "lib": "/lib",
        "files": {},
        "package": {},
    }
    return Board(**{**given, **facts})


class FakeLink:
    """A board's file system without a board; `faulty` names files whose first so many writes go wrong."""

    port = "/dev/ttyX"
    resume = False

    def __init__(self, files: dict[str, bytes] | None = None, faulty: dict[str, int] | None = None) -> None:
        self.files = dict(files or {})
        self.faulty = dict(faulty or {})
        self.log: list[str] = []

    def run(self, program: str, timeout: float = 0) -> str:
        """Take the two programs that a plan is carried out with."""
        self.log.append(program)
        if "os.remove" in program:
            del self.files[program.split("'")[1]]
        else:
            assert "mkdir" in program
        return ""

    def write(self, path: str, content: bytes, progress: Any = None, heap: int = 0) -> None:
        """Keep the content, or something else."""
        if self.faulty.get(path, 0) > 0:
            self.faulty[path] -= 1
            content = content[:-1] + b"?"
        self.files[path] = content
        progress(len(content))

    def read(self, path: str) -> bytes:
        """Return the content."""
        return self.files[path]

    def digest(self, path: str) -> str:
        """Return its SHA-256."""
        return hashlib.sha256(self.files[path]).hexdigest()


def plan_of(link: Any, wanted: Wanted, found: Board | None = None) -> Any:
    """The plan for a board that holds the link's files."""
    package = {
        path.removeprefix("/lib/gauge/"): len(content)
        for path, content in link.files.items()
        if path.startswith("/lib/gauge/")
    }
    home = {path[1:]: len(content) for path, content in link.files.items() if path.count("/") == 1}
    return make_plan(link, found or board(files=home, package=package), wanted)


def test_the_package_goes_where_mip_puts_packages_and_the_rest_to_the_root() -> None:
    plan = plan_of(FakeLink(), Wanted(config=CONFIG, key=b"00ff\n", main=b"print(1)"))
    built = firmware.build("armv6m")
    assert {path: plan.write[path] for path in plan.write if path.startswith("/lib")} == {
        f"/lib/{name}": content for name, content in built.items()
    }
    assert plan.write["/label.key"] == b"00ff\n"
    assert json.loads(plan.write["/config.json"]) == CONFIG
    # The program comes last: a flash that breaks off must not leave a new one with an old package.
    assert list(plan.write)[-2:] == ["/config.json", "/main.py"]


def test_a_second_flash_writes_what_differs_and_removes_what_would_shadow_it() -> None:
    link = FakeLink()
    plan = plan_of(link, Wanted(config=CONFIG))
    carry_out(link, plan, lambda path, count: None)  # type: ignore[arg-type]
    assert plan_of(link, Wanted()).write == {}
    link.files["/lib/gauge/align.py"] = b"an old source, found before align.mpy"
    link.files["/lib/gauge/gone.mpy"] = b"M"
    link.files["/lib/gauge/node.mpy"] = bytes(len(link.files["/lib/gauge/node.mpy"]))
    plan = plan_of(link, Wanted())
    assert list(plan.write) == ["/lib/gauge/node.mpy"]
    assert sorted(plan.remove) == ["/lib/gauge/align.py", "/lib/gauge/gone.mpy"]
    carry_out(link, plan, lambda path, count: None)  # type: ignore[arg-type]
    assert plan_of(link, Wanted()).write == {} and not plan_of(link, Wanted()).remove


def test_snapshots_stay_unless_told_otherwise() -> None:
    files = {"/gauge.0": b"0", "/gauge.1": b"1", "/config.json": config_text(CONFIG), "/main.py": b"x"}
    plan = plan_of(FakeLink(files), Wanted())
    assert plan.snapshots == ("/gauge.0", "/gauge.1")
    assert plan.remove == ()
    plan = plan_of(FakeLink(files), Wanted(erase_snapshot=True))
    assert plan.snapshots == ()
    assert plan.remove == ("/gauge.0", "/gauge.1")


def test_configuration_and_program_of_the_board_stay_where_no_others_are_given() -> None:
    link = FakeLink({"/config.json": config_text({**CONFIG, "save_s": 60}), "/main.py": b"mine"})
    plan = plan_of(link, Wanted())
    assert plan.config["save_s"] == 60
    assert not any(path in plan.write for path in ("/config.json", "/main.py"))


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"labels": 3}'])
def test_a_configuration_that_is_none_is_refused_with_what_to_do(content: bytes) -> None:
    with pytest.raises(InputError, match=r"config\.json is no configuration.*--labels"):
        plan_of(FakeLink({"/config.json": content}), Wanted())
    with pytest.raises(InputError, match=r"has no config\.json yet.*--labels"):
        plan_of(FakeLink(), Wanted())


def test_a_heap_that_is_too_small_is_refused_with_the_numbers() -> None:
    need = needs(CONFIG, firmware.build("armv6m"), 32)
    short = board(heap_free=need.total - 1)
    with pytest.raises(InputError) as caught:
        plan_of(FakeLink(), Wanted(config=CONFIG), short)
    for number in (need.total, need.code, need.state, need.working, need.total - 1):
        assert f"{number:,}" in str(caught.value)
    plan_of(FakeLink(), Wanted(config=CONFIG), board(heap_free=need.total))


def test_what_the_program_is_to_keep_counts_too() -> None:
    need = needs(CONFIG, firmware.build("armv6m"), 32)
    with pytest.raises(InputError, match=r"working memory 6\d,\d{3}"):
        plan_of(FakeLink(), Wanted(config=CONFIG, working=60_000), board(heap_free=need.total))


def test_a_full_file_system_is_refused_with_the_numbers() -> None:
    with pytest.raises(InputError, match=r"more bytes are needed and 20,000 are free"):
        plan_of(FakeLink(), Wanted(config=CONFIG), board(disk_free=20_000))
    # What is replaced or removed makes room.
    link = FakeLink()
    carry_out(link, plan_of(link, Wanted(config=CONFIG)), lambda path, count: None)  # type: ignore[arg-type]
    for path in link.files:
        link.files[path] = bytes(len(link.files[path]))
    link.files["/config.json"] = config_text(CONFIG)
    package = {path[11:]: len(content) for path, content in link.files.items() if path.startswith("/lib/")}
    full = board(disk_free=0, files={"config.json": len(config_text(CONFIG))}, package=package)
    assert len(plan_of(link, Wanted(), full).write) == len(package)


def test_a_profile_that_the_node_refuses_is_refused_before_anything_is_written() -> None:
    with pytest.raises(InputError, match=r"a node refuses this configuration.*asks for .* bytes"):
        plan_of(FakeLink(), Wanted(config={**CONFIG, "state_bytes": 1000}))


def test_a_file_that_arrives_damaged_is_written_again_and_then_given_up() -> None:
    written: list[int] = []
    link = FakeLink(faulty={"/lib/gauge/node.mpy": 1})
    plan = plan_of(link, Wanted(config=CONFIG))
    carry_out(link, plan, lambda path, count: written.append(count))  # type: ignore[arg-type]
    assert sum(written) == plan.write_bytes
    link = FakeLink(faulty={"/lib/gauge/node.mpy": 2})
    with pytest.raises(InputError, match=r"/lib/gauge/node\.mpy differs from what was sent, 2 times"):
        carry_out(link, plan_of(link, Wanted(config=CONFIG)), lambda path, count: None)  # type: ignore[arg-type]


class Telling(FakeLink):
    """A board that answers programs with what it is told to."""

    def __init__(self, *answers: str) -> None:
        super().__init__()
        self.answers = list(answers)

    def run(self, program: str, timeout: float = 0) -> str:
        """Return the next answer."""
        return self.answers.pop(0)

    def fresh(self) -> None:
        """Nothing to forget."""


def test_a_copy_of_the_package_that_lies_before_ours_is_noticed() -> None:
    link = Telling("P '.frozen/gauge/__init__.py'\nV '0.0.9'\nR ('align', 3, 0, None)\n", "M (1, 2)\n")
    with pytest.raises(InputError, match=r"imports gauge from \.frozen.*not from /lib/gauge/__init__\.mpy"):
        self_test(link, board(), "/config.json")  # type: ignore[arg-type]


def test_a_kernel_that_computes_wrongly_fails_the_verdict() -> None:
    told = "P '/lib/gauge/__init__.mpy'\nV '0.1.0'\nR ('align', 3, 1, (2, 5, 6))\nR ('join', 3, 0, None)\n"
    verdict = self_test(Telling(told, "M (5000, 90000)\n"), board(), "/config.json")  # type: ignore[arg-type]
    assert not verdict.passed
    assert verdict.results[0] == Result("align", 3, 1, (2, 5, 6))
    assert (verdict.state_bytes, verdict.heap_left) == (5000, 90000)
    assert not Verdict("0.1.0", (), 0, 0).passed


@pytest.mark.parametrize("answer", ["", "hello", "{}", "{'name': 'circuitpython'}", "login:"])
def test_what_is_no_micropython_is_refused(answer: str) -> None:
    with pytest.raises(InputError, match="not MicroPython"):
        identify(Telling(answer))  # type: ignore[arg-type]


def engine_needs(engine: Engine, modules: str) -> int:
    """Bytes of heap that an import takes on an engine, machine code left out as these keep it elsewhere."""
    program = (
        "import gc\ngc.collect()\nbefore = gc.mem_alloc()\n"
        f"import {modules}\ngc.collect()\nprint(gc.mem_alloc() - before)"
    )
    return int(engine.run(program, firmware.build(engine.march), heap_bytes=400_000).stdout)


@pytest.mark.parametrize(
    "modules", ["gauge", "gauge, gauge.labels, gauge.line, gauge.snapshot", "gauge.report"]
)
def test_the_code_worked_out_is_what_engines_measure(arm: Engine, x64: Engine, modules: str) -> None:
    for engine in (arm, x64):
        built = firmware.build(engine.march)
        loaded = engine.run(
            f"import sys, {modules}\nprint(' '.join(sys.modules))", built, heap_bytes=400_000
        ).stdout.split()
        files = {
            name: content
            for name, content in built.items()
            if name.removesuffix(".mpy").removesuffix("/__init__").replace("/", ".") in loaded
        }
        machine_code = sum(map(firmware.machine_code_bytes, files.values()))
        assert code_bytes(files, engine.bits) - machine_code == pytest.approx(
            engine_needs(engine, modules), rel=0.1
        )


@pytest.mark.parametrize("labels", [3, 31])
def test_a_node_starts_in_the_heap_that_was_worked_out(arm: Engine, labels: int) -> None:
    names = ("NULL", *(f"label {i}" for i in range(labels)))
    config = {**compile_config(load_profile("sensor"), Task(names, 1.0, 60)), "report_s": 1}
    built = firmware.build(arm.march)
    need = needs(config, built, 32)
    machine_code = sum(firmware.machine_code_bytes(built[name]) for name in need.modules)
    program = (
        "import gc, gauge, gauge.labels, gauge.line, gauge.snapshot\n"
        "gc.collect()\n"
        "node = gauge.Node(gauge.load('config.json'))\n"
        "parts = gauge.labels.Labels(node), gauge.snapshot.Store(node), gauge.line.Line(node)\n"
        "print(node.ledger.used)"
    )
    files = {**built, "config.json": config_text(config)}
    # What MicroPython itself takes of a heap comes on top: a board's free heap is without it.
    heap = need.total - machine_code + 2000
    assert int(arm.run(program, files, heap_bytes=heap).stdout) == need.state
    # Not much more than it takes either: a board that would do is not refused.
    with pytest.raises(EngineFailed, match="MemoryError|LedgerFull"):
        arm.run(program, files, heap_bytes=heap * 3 // 4)


# The command


def test_without_a_port_the_candidates_are_listed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import serial.tools.list_ports

    class Info:
        """What pyserial tells of a port."""

        def __init__(self, device: str, vid: int | None, pid: int | None, maker: str | None) -> None:
            self.device, self.vid, self.pid, self.manufacturer = device, vid, pid, maker
            self.product = "Board in FS mode" if maker else None
            self.description = "n/a" if maker else "ttyS0"
            self.serial_number = "e66" if maker else None

    found = [Info("/dev/ttyS0", None, None, None), Info("/dev/ttyACM0", 0x2E8A, 5, "MicroPython")]
    monkeypatch.setattr(serial.tools.list_ports, "comports", lambda: found)
    assert [candidate.port for candidate in ports.candidates()] == ["/dev/ttyACM0", "/dev/ttyS0"]
    assert main(["flash"]) == 0
    out = capsys.readouterr().out
    assert "/dev/ttyACM0  2e8a:0005  MicroPython Board in FS mode" in out
    assert "(no USB device)" in out
    assert ports.resolve("auto") == "/dev/ttyACM0"
    assert ports.resolve("id:e66") == "/dev/ttyACM0"
    assert ports.resolve("COM3") == "COM3"
    with pytest.raises(InputError, match="no board has the serial number 17"):
        ports.resolve("id:17")
    monkeypatch.setattr(serial.tools.list_ports, "comports", lambda: [found[1], found[1]])
    with pytest.raises(InputError, match="several boards: /dev/ttyACM0, /dev/ttyACM0"):
        ports.resolve("auto")
    monkeypatch.setattr(serial.tools.list_ports, "comports", lambda: [])
    assert main(["flash", "auto"]) == 2
    assert "there is no board" in capsys.readouterr().err
    assert main(["flash"]) == 0
    assert "no serial port" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--labels", "a", "--example"], "one of --labels, --example and --config"),
        (["--report-every", "5s"], "--report-every change the configuration"),
        (["--labels", "a,a"], "'a' is given twice"),
        (["--labels", "a", "--tick", "soon"], "tick is 'soon'"),
        (["--labels", "a", "--slice", "7.5s", "--tick", "1s"], "slice is '7.5s'"),
        (["--labels", "a", "--report-every", "0.5s"], "whole seconds"),
        (["--labels", "a", "--set", "capacity.runs=3"], "capacity.runs"),
        (["--labels", "a", "--profile", "sensro"], "Did you mean sensor"),
        (["--labels", ",".join(f"l{i}" for i in range(40))], "40 labels"),
        (["--config", "/nosuch"], "cannot be read"),
        (["--main", "/nosuch"], "cannot be read"),
        (["--key-file", "/nosuch"], "Make one with"),
        (["--labels", "a"], "/dev/ttyNOSUCH: cannot be opened"),
    ],
)
def test_what_cannot_be_flashed_is_said_before_the_board_is_touched(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["flash", "/dev/ttyNOSUCH", *arguments]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("content", ["{", "[1]", "{}"])
def test_a_file_that_is_no_configuration_is_refused(
    tmp_path: Path, content: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "config.json"
    path.write_text(content)
    assert main(["flash", "/dev/ttyNOSUCH", "--config", str(path)]) == 2
    assert str(path) in capsys.readouterr().err

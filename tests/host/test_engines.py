"""Engines: what is run, what comes back, and what a user is told when it cannot be."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import absent
from ptyboard import PtyBoard
from streamgauge import firmware
from streamgauge.engines import (
    Engine,
    EngineFailed,
    EngineMissing,
    EngineOutOfMemory,
    EngineTimeout,
    board,
    fetch,
    get_engine,
    unix,
)
from streamgauge.engines.base import Implementation, checked_path
from streamgauge.engines.fetch import Source, debian_archive, parse_deb822, parse_list


@pytest.fixture(scope="module")
def pty_board(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PtyBoard]:
    """An emulated board; only the pip package's MicroPython has the raw REPL that a board has."""
    program = Path(sys.executable).parent / "micropython"
    if sys.platform == "win32" or not program.is_file():
        absent("the emulated board needs the pip package's micropython (Python 3.11 on x86-64 Linux)")
    emulated = PtyBoard((str(program),), tmp_path_factory.mktemp("board"))
    yield emulated
    emulated.close()


@pytest.fixture(params=["arm", "x64", "board"])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    """Each engine in turn."""
    if request.param == "board":
        with get_engine(request.getfixturevalue("pty_board").port) as emulated:
            yield emulated
    else:
        yield request.getfixturevalue(request.param)


def test_a_program_runs_among_its_files_and_nothing_else(engine: Engine) -> None:
    program = "import os, pack.part\nprint(sorted(os.listdir('pack')), open('data.bin', 'rb').read())"
    files = {"pack/part.py": b"print('imported')", "data.bin": bytes(range(256))}
    output = engine.run(program, files)
    assert output.stdout == f"imported\n['part.py'] {bytes(range(256))!r}\n"
    assert (output.stderr, output.returncode) == ("", 0)
    later = engine.run("import os\nprint('pack' in os.listdir(), 'data.bin' in os.listdir())")
    assert later.stdout == "False False\n"


def test_a_change_of_one_file_is_seen_by_the_next_run(engine: Engine) -> None:
    for value in (1, 2):
        files = {"value.py": f"X = {value}".encode(), "same.py": b"Y = 7"}
        assert engine.run("import value, same\nprint(value.X + same.Y)", files).stdout == f"{value + 7}\n"


def test_megabytes_of_output_come_back_whole(engine: Engine) -> None:
    output = engine.run("for i in range(40000):\n    print('%049d' % i)", heap_bytes=100_000)
    assert output.stdout == "".join(f"{i:049d}\n" for i in range(40000))


def test_an_exception_fails_with_the_traceback_and_what_was_written_before(engine: Engine) -> None:
    with pytest.raises(EngineFailed, match="ZeroDivisionError") as caught:
        engine.run("print('before')\n1 // 0")
    assert not isinstance(caught.value, EngineOutOfMemory | EngineTimeout)
    assert caught.value.output.stdout == "before\n"
    assert caught.value.output.stderr.startswith("Traceback (most recent call last):")


def test_running_out_of_heap_is_told_from_other_failures(engine: Engine) -> None:
    with pytest.raises(EngineOutOfMemory, match="ran out of memory"):
        engine.run("x = [0] * 100\nwhile True:\n    x = x + x", heap_bytes=100_000)


def test_an_allocation_under_heap_lock_is_not_running_out_of_heap(engine: Engine) -> None:
    with pytest.raises(EngineFailed, match="heap is locked") as caught:
        engine.run("import micropython\nmicropython.heap_lock()\nx = [1, 2, 3] + [4]")
    assert not isinstance(caught.value, EngineOutOfMemory)


def test_a_program_that_does_not_end_is_stopped_and_the_engine_goes_on(engine: Engine) -> None:
    with pytest.raises(EngineTimeout, match=r"within 1 s") as caught:
        engine.run("print('here')\nwhile True:\n    pass", timeout=1.0)
    assert engine.name in str(caught.value)
    assert engine.run("print(5)").stdout == "5\n"


def test_an_exit_code_is_a_failure_that_keeps_its_number(x64: Engine) -> None:
    with pytest.raises(EngineFailed, match="exit code 3") as caught:
        x64.run("import sys\nsys.exit(3)")
    assert caught.value.output.returncode == 3


def test_the_heap_has_the_size_asked_for(arm: Engine) -> None:
    for size in (32_768, 98_304):
        free = int(arm.run("import gc\nprint(gc.mem_free())", heap_bytes=size).stdout)
        # Allocation tables and the program itself take a few per cent.
        assert 0.93 * size < free < size


def test_the_users_own_micropython_libraries_are_not_imported_from(
    x64: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library = tmp_path / ".micropython" / "lib"
    library.mkdir(parents=True)
    (library / "stray.py").write_text("")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("MICROPYPATH", str(library))
    with pytest.raises(EngineFailed, match="no module named 'stray'"):
        x64.run("import stray")


@pytest.mark.parametrize("path", ["/etc/passwd", "../up.py", "a/../../b", "", "a\\b", "c:d"])
def test_a_file_outside_the_programs_folder_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match="relative path"):
        checked_path(path)


def test_arm_is_32_bit_and_takes_code_for_the_smallest_boards(arm: Engine) -> None:
    assert (arm.name, arm.bits, arm.march) == ("arm", 32, "armv6m")


def test_a_board_writes_only_files_that_changed_and_starts_from_a_reset(
    pty_board: PtyBoard, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mpremote.transport_serial import SerialTransport

    written: list[str] = []
    original = SerialTransport.fs_writefile

    def recorded(self: SerialTransport, dest: str, data: bytes, *rest: object) -> None:
        written.append(dest.rsplit("/", 1)[1])
        original(self, dest, data, *rest)

    monkeypatch.setattr(SerialTransport, "fs_writefile", recorded)
    with get_engine(pty_board.port) as engine:
        engine.run("left = 1", {"a.py": b"A = 1", "deep/b.py": b"B = 1"})
        assert sorted(written) == ["a.py", "b.py"]
        written.clear()
        resets = pty_board.resets
        output = engine.run(
            "import a\nprint(a.A, 'left' in globals())", {"a.py": b"A = 2", "deep/b.py": b"B = 1"}
        )
        assert (output.stdout, written) == ("2 False\n", ["a.py"])
        assert pty_board.resets > resets
        assert engine.run(f"import os\nprint(os.listdir('../{board.FOLDER}'))").stdout == "[]\n"


def test_a_port_where_nothing_answers_is_named(tmp_path: Path) -> None:
    with pytest.raises(EngineMissing, match="/dev/ttyNOSUCH.*cable"):
        get_engine("/dev/ttyNOSUCH")


def test_an_unknown_engine_names_the_choices() -> None:
    with pytest.raises(EngineMissing, match="'armv9'.*arm, x64, auto"):
        get_engine("armv9")


def test_a_missing_arm_engine_says_what_to_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STREAMGAUGE_ENGINES", str(tmp_path))
    with pytest.raises(EngineMissing, match="make engines"):
        get_engine("arm")


def test_an_old_micropython_on_path_is_passed_over_with_its_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = tmp_path / "micropython"
    old.write_text("#!/bin/sh\necho 1 22 1 2566 9223372036854775807\n")
    old.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("STREAMGAUGE_ENGINES", str(tmp_path))
    monkeypatch.setattr(unix.sys, "executable", str(tmp_path / "elsewhere" / "python"))
    old.write_text("#!/bin/sh\necho 1 22 1 2566 9223372036854775807\n")
    with pytest.raises(EngineMissing, match=r"1\.22\.1, which loads \.mpy 6\.2; the firmware needs 6\.3"):
        get_engine("x64")


@pytest.mark.parametrize(
    ("line", "march", "bits", "fits"),
    [
        ("1 25 0 8966 2147483647", "armv7emdp", 32, True),
        ("1 29 0 4870 2147483647", "armv6m", 32, True),
        ("1 29 0 2822 9223372036854775807", "x64", 64, True),
        ("1 29 0 774 9223372036854775807", None, 64, True),
        ("1 26 0 6 2147483647", None, 32, True),
        ("1 22 1 4614 2147483647", "armv6m", 32, False),
        ("1 18 0 5 2147483647", None, 32, False),
        ("1 9 2 0 2147483647", None, 32, False),
    ],
)
def test_an_interpreters_answer_tells_architecture_width_and_fitness(
    line: str, march: str | None, bits: int, fits: bool
) -> None:
    found = Implementation.parse(line)
    assert (found.march, found.bits, found.trouble() is None) == (march, bits, fits)


def test_a_one_line_source_list_is_read_with_its_options() -> None:
    text = (
        "# deb http://commented.example/debian trixie main\n"
        "deb-src http://source.example/debian trixie main\n"
        "deb [ arch=amd64 signed-by=/k/x.gpg ] http://mirror.example/debian/ trixie main contrib # why\n"
        "deb http://plain.example/debian bookworm main\n"
    )
    assert list(parse_list(text)) == [
        Source(
            "http://mirror.example/debian/",
            ("trixie",),
            ("main", "contrib"),
            {"signed-by": "/k/x.gpg"},
        ),
        Source("http://plain.example/debian", ("bookworm",), ("main",)),
    ]


def test_a_deb822_source_list_is_read_stanza_by_stanza() -> None:
    text = (
        "Types: deb\n# why\nURIs: http://a.example/debian http://b.example/debian\n"
        "Suites: bookworm bookworm-updates\n"
        "Components: main\nSigned-By:\n -----BEGIN KEY-----\n .\n abc\n\n"
        "Enabled: no\nTypes: deb\nURIs: http://off.example/debian\nSuites: trixie\nComponents: main\n\n\n"
        "Types: deb-src\nURIs: http://src.example/debian\nSuites: trixie\nComponents: main\n"
    )
    key = {"signed-by": "\n -----BEGIN KEY-----\n .\n abc"}
    suites = ("bookworm", "bookworm-updates")
    assert list(parse_deb822(text)) == [
        Source("http://a.example/debian", suites, ("main",), key),
        Source("http://b.example/debian", suites, ("main",), key),
    ]


def test_the_archive_is_debians_own_and_not_another_vendors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(fetch.MIRROR_VARIABLE, raising=False)
    sources = [
        Source("http://vendor.example/apt", ("nodistro",), ("main",)),
        Source("http://mirror.example/debian-security", ("bookworm-security",), ("main",)),
        Source("http://mirror.example/debian", ("bookworm", "bookworm-updates"), ("main",)),
    ]
    assert debian_archive(sources) is sources[2]
    with pytest.raises(fetch.FetchError, match=fetch.MIRROR_VARIABLE):
        debian_archive([Source("http://ubuntu.example/ubuntu", ("noble",), ("main", "universe"))])
    monkeypatch.setenv(fetch.MIRROR_VARIABLE, "http://named.example/debian")
    assert debian_archive([]).uri == "http://named.example/debian"


def test_a_machine_without_apt_gets_one_clear_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    troubles = fetch.fetch(tmp_path / "engines", ["arm"])
    assert len(troubles) == 1
    assert "no apt-get" in troubles[0]
    assert "board" in troubles[0]


VIPER = '''"""Docstring."""
import micropython
from array import array


@micropython.viper
def total(p: ptr32, n: int,
          step: int) -> int:
    s = 0
    q = ptr32(p)
    for i in range(n):
        s += q[i] * step
    return s


@micropython.native
def twice(x): return x + x


def kept(x: int) -> int: return x


print(total(array("i", [1, 2, 3]), 3, 5), twice(4), kept(1))
'''


def test_the_bytecode_variant_computes_the_same_as_the_native_one(arm: Engine, x64: Engine) -> None:
    plain = firmware.without_viper(VIPER)
    assert "viper" not in plain.replace("import micropython", "")
    assert plain.count("\n") == VIPER.count("\n")
    assert "def kept(x: int) -> int" in plain
    for engine in (arm, x64):
        for text, march in ((VIPER, engine.march), (plain, None)):
            compiled = firmware.compile_source("module.py", text, march)
            assert engine.run("import module", {"module.mpy": compiled}).stdout == "30 8 1\n"


def test_a_source_that_does_not_compile_is_named_with_its_line() -> None:
    with pytest.raises(firmware.FirmwareError, match=r"(?s)gauge/bad\.py does not compile.*line 2"):
        firmware.compile_source("gauge/bad.py", "x = 1\ndef f(:\n", None)


def test_compiled_code_does_not_depend_on_where_the_sources_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = []
    for name in ("one", "two"):
        folder = tmp_path / name / firmware.PACKAGE
        folder.mkdir(parents=True)
        (folder / "kernel.py").write_text(VIPER)
        (folder / firmware.HOST_ONLY).write_text("X = 1")
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / name / "cache"))
        results.append(firmware.build("armv6m", root=tmp_path / name))
    assert results[0] == results[1]
    assert list(results[0]) == ["gauge/kernel.mpy"]


def test_the_whole_firmware_compiles_for_every_kind_of_node() -> None:
    for march in ("armv6m", "armv7m", "x64", "xtensawin", None):
        built = firmware.build(march)
        assert built
        assert not any(name.endswith("_cpython.mpy") for name in built)

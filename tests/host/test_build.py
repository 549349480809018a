"""The package compiled for boards: files, formats, versions, and what installs it."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from streamgauge import firmware
from streamgauge.cli import main
from streamgauge.engines import Engine
from streamgauge.engines.base import Implementation
from streamgauge.errors import InputError
from streamgauge.flash.board import Board
from streamgauge.flash.mpy import MpyFile

FIRMWARE = Path(__file__).resolve().parents[2] / "firmware"


def board(mpy: int, version: tuple[int, int, int] = (1, 25, 0)) -> Board:
    """A board that tells this `.mpy` version and architecture."""
    found = Implementation(version, mpy, 32)
    return Board("/dev/ttyX", "a board", "", found, 100_000, 90_000, None, "/", "/lib", {}, {})


def test_each_architecture_gets_a_folder_with_a_package_that_mip_installs(tmp_path: Path) -> None:
    assert main(["build", "--arch", "armv6m", "--arch", "bytecode", "--out", str(tmp_path)]) == 0
    for arch, march in (("armv6m", "armv6m"), ("bytecode", None)):
        folder = tmp_path / arch
        listed = json.loads((folder / "package.json").read_text())
        built = firmware.build(march)
        assert [source for _, source in listed["urls"]] == list(built)
        for name, content in built.items():
            assert (folder / name).read_bytes() == content


def test_a_module_of_an_earlier_version_does_not_stay_in_the_folder(tmp_path: Path) -> None:
    stale = tmp_path / "bytecode" / "gauge" / "gone.mpy"
    stale.parent.mkdir(parents=True)
    stale.write_bytes(b"M")
    assert main(["build", "--arch", "bytecode", "--out", str(tmp_path)]) == 0
    assert not stale.exists()


@pytest.mark.parametrize("arguments", [[], ["--arch", "armv6m", "--board", "/dev/ttyX"]])
def test_it_must_be_said_what_for(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["build", *arguments]) == 2
    assert "--arch or --board" in capsys.readouterr().err


def test_an_unknown_architecture_is_refused_with_the_choices(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["build", "--arch", "armv9"]) == 2
    assert "'armv6m'" in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert main(["build", "--arch", "bytecode", "--out", str(tmp_path / "file")]) == 2
    assert "cannot be written" in capsys.readouterr().err


@pytest.mark.parametrize("march", ["armv6m", "armv7m", "x64", "xtensawin", "rv32imc", None])
def test_a_compiled_file_tells_version_architecture_and_machine_code(march: str | None) -> None:
    found = {name: MpyFile.parse(content) for name, content in firmware.build(march).items()}
    assert {file.version for file in found.values()} == {6}
    align = found["gauge/align.mpy"]
    assert align.march == march
    assert (align.machine_code > align.size / 2) if march else (align.machine_code == 0)
    # Its source's functions and the module's own code; the bytecode variant defines viper's casts besides.
    tree = ast.parse((FIRMWARE / "gauge" / "align.py").read_text())
    functions = sum(
        isinstance(node, ast.FunctionDef | ast.ClassDef | ast.ListComp) for node in ast.walk(tree)
    )
    assert align.functions == functions + (1 if march else 2)


@pytest.mark.parametrize("cut", [0, 3, 4, 50, -1])
def test_a_compiled_file_that_is_cut_off_is_refused(cut: int) -> None:
    content = firmware.build("armv6m")["gauge/align.mpy"]
    with pytest.raises(ValueError, match="mpy file"):
        MpyFile.parse(content[:cut])


@pytest.mark.parametrize(
    ("mpy", "version", "said"),
    [
        (5 << 10 | 2 << 8 | 6, (1, 22, 1), r"MicroPython 1\.22\.1, which loads \.mpy 6\.2; .* needs 6\.3"),
        (5, (1, 18, 0), r"MicroPython 1\.18\.0, which loads \.mpy 5\.0"),
        (0, (1, 9, 2), r"MicroPython 1\.9\.2, which loads no \.mpy files"),
    ],
)
def test_a_board_whose_micropython_is_too_old_is_told_so(
    mpy: int, version: tuple[int, int, int], said: str
) -> None:
    with pytest.raises(InputError, match=rf"/dev/ttyX: the board is {said}.*newer MicroPython"):
        board(mpy, version).refuse_unfit()


def test_a_board_without_a_native_emitter_takes_the_bytecode() -> None:
    plain = board(6)
    plain.refuse_unfit()
    assert plain.implementation.march is None
    assert "bytecode only" in plain.what


def test_the_bytecode_variant_computes_what_the_machine_code_does(arm: Engine, x64: Engine) -> None:
    program = "from gauge import selftest\nprint(selftest.run())"
    told = {
        engine.run(program, firmware.build(march), heap_bytes=400_000).stdout
        for engine in (arm, x64)
        for march in (engine.march, None)
    }
    assert len(told) == 1


def test_package_json_and_manifest_list_the_sources() -> None:
    names = list(firmware.sources())
    package = json.loads((FIRMWARE / "package.json").read_text())
    assert sorted(source for _, source in package["urls"]) == names
    assert all(target == source for target, source in package["urls"])
    frozen: list[str] = []

    def freeze(name: str, files: tuple[str, ...], **rest: Any) -> None:
        frozen.extend(f"{name}/{file}" for file in files)

    exec((FIRMWARE / "manifest.py").read_text(), {"package": freeze})
    assert sorted(frozen) == names


def test_package_json_names_the_packages_version() -> None:
    package = json.loads((FIRMWARE / "package.json").read_text())
    assert package["version"] == firmware.node_model().__version__


def signatures(path: Path) -> dict[str, list[str]]:
    """Argument names by qualified name of what is public in a module."""
    found: dict[str, list[str]] = {}
    for node in ast.parse(path.read_text()).body:
        inside = node.body if isinstance(node, ast.ClassDef) else [node]
        prefix = f"{node.name}." if isinstance(node, ast.ClassDef) else ""
        if prefix.startswith("_"):
            continue
        for item in inside:
            if not isinstance(item, ast.FunctionDef):
                continue
            if item.name == "__init__" or not item.name.startswith("_"):
                found[prefix + item.name] = [argument.arg for argument in item.args.args]
    return found


def closures(module: str, factory: str) -> dict[str, list[str]]:
    """Argument names of the functions that another one makes."""
    tree = ast.parse((FIRMWARE / "gauge" / f"{module}.py").read_text())
    (made,) = (n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == factory)
    return {
        item.name: [argument.arg for argument in item.args.args]
        for item in made.body
        if isinstance(item, ast.FunctionDef)
    }


@pytest.mark.parametrize("stub", sorted(path.name for path in (FIRMWARE / "gauge").glob("*.pyi")))
def test_the_types_for_editors_say_what_the_sources_have(stub: str) -> None:
    typed = signatures(FIRMWARE / "gauge" / stub)
    source = signatures((FIRMWARE / "gauge" / stub).with_suffix(".py"))
    if stub == "__init__.pyi":
        source |= {
            name: arguments
            for name, arguments in signatures(FIRMWARE / "gauge" / "node.py").items()
            if name.startswith("Node.")
        }
        # Entries are closures that a node keeps as attributes.
        made = {
            "loss": closures("loss", "entry")["loss"],
            "levels_until": closures("hierarchy", "watermark")["advance"],
            **dict.fromkeys(("truth_segment", "predict_segment"), closures("samples", "segments")["tell"]),
            **dict.fromkeys(("truth_level", "predict_level"), closures("hierarchy", "taker")["tell"]),
            **closures("samples", "entries"),
        }
        source |= {f"Node.{name}": ["self", *arguments] for name, arguments in made.items()}
    assert typed == source

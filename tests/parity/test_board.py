"""A board on a port assesses a recording: the pip package's MicroPython behind a pty stands for it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import absent
from ptyboard import PtyBoard
from streamgauge.cli import main


@pytest.fixture
def port(tmp_path: Path) -> Iterator[str]:
    program = Path(sys.executable).parent / "micropython"
    if not program.is_file():
        absent("the emulated board needs the pip package's micropython (Python 3.11 on x86-64 Linux)")
    board = PtyBoard((str(program),), tmp_path)
    yield board.port
    board.close()


def test_a_board_assesses_and_agrees(capsys: pytest.CaptureFixture[str], port: str) -> None:
    assert main(["assess", "--table1", "--node", port, "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    document = json.loads(out)
    node = document["node"]
    assert node["engine"] == port
    assert document["parity"]["different"] == 0
    assert document["parity"]["with_model"] > 100
    assert node["allocated_by_updates"] == 0
    # Its heap is its own, and its machine code is told as part of it.
    assert 190_000 < node["heap_bytes"] < 204_800
    assert node["on_board_bytes"] == node["high_water_bytes"]


def test_what_does_not_fit_a_board_is_said(capsys: pytest.CaptureFixture[str], port: str) -> None:
    big = ["--set", "capacity.window=1048576"]
    assert main(["assess", "--table1", "--node", port, *big]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "prequential asks for 139" in err
    assert "--heap" not in err

"""What a node will take of a board's heap, worked out before anything is written."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .. import firmware
from ..errors import InputError
from .mpy import MpyFile

# Fitted to what importing each module of the package alone takes on the 32-bit and on the 64-bit engine, as
# machine code and as bytecode: within 6 % of every one (tests/host/test_flash.py holds it to 10 %).
_BYTE = {32: 0.97, 64: 0.94}  # of heap for a byte of the file that is not machine code
_FUNCTION = {32: 47, 64: 104}  # bytes of heap for a function's objects and table
_MODULE = {32: 200, 64: 410}
_BLOCK = 16  # machine code is rounded up to it: half a block a function, on the average

# The node, its configuration and buffers for lines, messages and saves, besides its arrays: measured too.
_OBJECTS = {32: 6144, 64: 9216}

# Loading a module and making the arrays take more for a moment than what stays.
WORKING = 10240

_MODEL = """
import json, sys
sys.path.insert(0, sys.argv[1])
import gauge, gauge.labels, gauge.line, gauge.snapshot
node = gauge.Node(json.load(sys.stdin))
gauge.labels.Labels(node)
gauge.snapshot.Store(node)
gauge.line.Line(node)
loaded = [name for name in sys.modules if name == 'gauge' or name.startswith('gauge.')]
sizes = [len(data) * getattr(data, 'itemsize', 1) for name, data in node.ledger.entries]
print(json.dumps({'state': node.ledger.used, 'sizes': sizes, 'modules': loaded}))
"""


@dataclass(frozen=True)
class Needs:
    """Bytes of heap.

    Attributes
    ----------
    code : int
        The modules a node with this configuration loads, machine code included.
    state : int
        All arrays, as the node's ledger counts them.
    objects : int
        The node itself and its configuration.
    working : int
        For a moment while it starts, and then for the program's own use: what was asked for and the largest
        array once more.
    modules : tuple of str
        Files of the package that are loaded.
    """

    code: int
    state: int
    objects: int
    working: int
    modules: tuple[str, ...]

    @property
    def total(self) -> int:
        """All of it."""
        return self.code + self.state + self.objects + self.working


def code_bytes(files: Mapping[str, bytes], bits: int) -> int:
    """Return the heap that loaded modules keep, machine code included.

    Parameters
    ----------
    files : contents of `.mpy` files by name.
    bits : word size of the board.
    """
    total = 0.0
    for content in files.values():
        module = MpyFile.parse(content)
        total += _BYTE[bits] * (module.size - module.machine_code)
        total += _FUNCTION[bits] * module.functions + _MODULE[bits]
        if module.machine_code:
            total += module.machine_code + _BLOCK / 2 * module.functions
    return round(total)


def needs(
    config: Mapping[str, Any], built: Mapping[str, bytes], bits: int, *, working: int = WORKING
) -> Needs:
    """Work out what a node with this configuration takes.

    The package itself, run by this Python, tells which modules it loads and what its ledger books, for a node
    as `firmware/main.py` has it: with labels over the wire, report lines and saves.

    Parameters
    ----------
    config : as `compile_config` makes it.
    built : the package compiled for the board, by path.
    bits : word size of the board.

    Raises
    ------
    InputError
        The node refuses the configuration.
    """
    done = subprocess.run(
        [sys.executable, "-c", _MODEL, str(firmware.source_root())],
        input=json.dumps(config),
        capture_output=True,
        text=True,
    )
    if done.returncode:
        said = done.stderr.strip().splitlines()[-1:] or ["no reason given"]
        raise InputError(
            f"a node refuses this configuration ({said[0]})",
            remedy="Correct the profile or the configuration",
        )
    told = json.loads(done.stdout)
    loaded = {name.replace(".", "/") for name in told["modules"]}
    files = {
        path: content
        for path, content in built.items()
        if path.removesuffix(".mpy").removesuffix("/__init__") in loaded
    }
    # The ledger counts as 32-bit boards do; elsewhere an array's object is twice the size.
    state = told["state"] + (48 * len(told["sizes"]) if bits == 64 else 0)
    # An array is made from as many zeros, and both at once want a place in one piece.
    working += max(told["sizes"])
    return Needs(code_bytes(files, bits), state, _OBJECTS[bits], working, tuple(sorted(files)))

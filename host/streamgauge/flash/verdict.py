"""What the node says of itself once it is flashed: its kernels against stored vectors, its memory."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from ..errors import InputError
from .board import Board
from .link import Link

# The self-test's own module and its node are gone before the real one is made, as in the node's own program.
_TEST = """
import gc
import gauge.selftest
print('P', repr(gauge.__file__ if hasattr(gauge, '__file__') else ''))
print('V', repr(gauge.__version__))
for _r in gauge.selftest.run(gauge.load({!r})):
    print('R', repr(_r))
"""

_START = """
import gc, gauge, gauge.labels, gauge.line, gauge.snapshot
gc.collect()
_n = gauge.Node(gauge.load({!r}))
_o = (gauge.labels.Labels(_n), gauge.snapshot.Store(_n), gauge.line.Line(_n))
gc.collect()
print('M', repr((_n.ledger.used, gc.mem_free())))
del _n, _o
"""


@dataclass(frozen=True)
class Result:
    """One part's kernels: how many numbers were compared, and the first that differs."""

    part: str
    compared: int
    different: int
    first: tuple[int, int, int] | None  # place, expected, got


@dataclass(frozen=True)
class Verdict:
    """The board's answers.

    Attributes
    ----------
    version : str
        Of the package that the board imports.
    results : tuple of Result
        By part of the node.
    state_bytes, heap_left : int
        What the configured node's arrays take, and the heap that is free beside it.
    """

    version: str
    results: tuple[Result, ...]
    state_bytes: int
    heap_left: int

    @property
    def passed(self) -> bool:
        """Whether every number was as it should be."""
        return bool(self.results) and not any(result.different for result in self.results)


def self_test(link: Link, board: Board, config_path: str) -> Verdict:
    """Run the kernels against stored vectors and start the node as configured.

    Raises
    ------
    InputError
        The package cannot be imported, another copy of it is imported, or the node cannot be made.
    """
    link.fresh()
    told: dict[str, list[Any]] = {"P": [], "V": [], "R": [], "M": []}
    _collect(link.run(_TEST.format(config_path), timeout=120.0), told)
    # Frozen into the image, a package has no folder of its own.
    where, expected = str(told["P"][0]), board.package_path("gauge/__init__.mpy")
    if where.lstrip("./") != expected.lstrip("./"):
        raise InputError(
            f"the board imports gauge from {where or 'its firmware image'}, not from {expected}",
            file=board.port,
            remedy="Remove the other copy",
        )
    link.fresh()
    _collect(link.run(_START.format(config_path)), told)
    results = [Result(*entry) for entry in told["R"]]
    memory: Any = told["M"][0]
    return Verdict(str(told["V"][0]), tuple(results), *memory)


def _collect(output: str, told: dict[str, list[Any]]) -> None:
    for line in output.splitlines():
        kind, _, literal = line.partition(" ")
        if kind in told:
            told[kind].append(ast.literal_eval(literal))

"""The report on two hierarchies, for people and as a JSON document (`KEYS` says what its keys mean)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from .. import __version__, formats
from ..node_run import NodeRun
from ..parity import Parity
from ..report import engine_text, verdict
from ..report.grid import facts, title
from ..report.node import memory_section
from .document import KEYS as FIGURES_KEYS
from .document import figures_document
from .figures import LevelFigures
from .tables import boundaries, heading, measures, time_text

KEYS: tuple[tuple[str, str], ...] = (
    ("streamgauge", "version of the program"),
    *FIGURES_KEYS,
    ("node.engine", "node is null without --node; the other keys are those of `assess --json-keys`"),
    ("node.version", "of its MicroPython"),
    ("node.state_bytes", "taken by its state"),
    ("node.ledger_bytes", "of it the ledger's arrays"),
    ("node.code_bytes", "taken by its code, machine code included"),
    ("node.allocated_by_updates", "bytes asked for by all updates together"),
    ("node.updates", "calls of its entries"),
    ("node.raw", "all its figures as whole numbers"),
    ("parity.compared", "numbers compared; parity is null without --node"),
    ("parity.different", "numbers that do not agree"),
    ("parity.worst", "largest share of its bound that a rounded number is off by"),
    ("parity.first[]", "the first that do not agree, in words"),
    ("parity.remarks[]", "what was not compared, and why"),
)


def document(
    found: LevelFigures, node: NodeRun | None = None, parity: Parity | None = None
) -> dict[str, Any]:
    """Return the report as plain dicts, lists, texts and numbers."""
    return {
        "streamgauge": __version__,
        "hierarchy": figures_document(found),
        "node": None if node is None else _node(node),
        "parity": None
        if parity is None
        else {
            "compared": parity.compared,
            "different": parity.different,
            "worst": parity.worst,
            "first": [str(difference) for difference in parity.first],
            "remarks": list(parity.remarks),
        },
    }


def _node(node: NodeRun) -> dict[str, Any]:
    return {
        "engine": node.engine,
        "version": node.version,
        "state_bytes": node.memory.state,
        "ledger_bytes": node.memory.ledger,
        "code_bytes": node.memory.code,
        "allocated_by_updates": node.memory.allocated_by_updates,
        "updates": node.updates,
        "raw": node.raw,
    }


def text(found: LevelFigures, node: NodeRun | None = None, parity: Parity | None = None) -> str:
    """Return the report as JSON text."""
    return json.dumps(document(found, node, parity), indent=1, allow_nan=False, ensure_ascii=False)


def key_table() -> str:
    """Return `KEYS` as text, one key a line."""
    width = max(len(key) for key, _ in KEYS)
    return "\n".join(f"{key:<{width}}  {what}".rstrip() for key, what in KEYS)


def sections(
    found: LevelFigures, node: NodeRun | None, parity: Parity | None, profile: str, width: int
) -> Iterator[RenderableType]:
    """The report's parts.

    Parameters
    ----------
    found : LevelFigures
    node, parity
        Both None where the host worked alone.
    profile : str
        The memory profile's name.
    width : int
        Columns there are.
    """
    yield from _heading(found, width)
    yield title(*heading(found))
    yield from measures(found, width)
    yield title("Boundaries", "level by level")
    yield from boundaries(found, width)
    if node is not None:
        yield title("Node memory", engine_text(node, profile))
        yield from memory_section(node, width)
    if parity is not None:
        yield title("Parity", "the node's numbers against the host's and its model's")
        yield from verdict(parity)


def _heading(found: LevelFigures, width: int) -> Iterator[RenderableType]:
    levels = found.levels
    yield Text.assemble(
        ("streamgauge  ", "bold cyan"),
        (f"{len(levels.prediction)} levels", "bold"),
        " of the prediction against ",
        (f"{len(levels.truth)} levels", "bold"),
        " of the truth",
    )
    yield facts(
        width,
        ("", time_text(levels.span[1] - levels.span[0], found)),
        ("frame", time_text(found.settings.frame, found)),
        ("frames", formats.count(found.full.frames)),
        ("rounding", found.settings.rounding),
        ("gaps", "yes" if levels.gaps else "no"),
        ("skipped", formats.count(levels.notes.skipped)),
    )
    for line in (*levels.notes.skipped_rows, *levels.notes.warnings):
        yield Text(f"note: {line}", "yellow")

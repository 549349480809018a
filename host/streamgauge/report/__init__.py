"""The report people read: one module a section, each a function from an `Outcome` to what rich can print.

Colour repeats what signs and numbers say, so plain text loses nothing; what is missing is printed as ``-``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from rich.console import Console, RenderableType

from streamgauge.extras.report import extras_sections
from streamgauge.levels.tables import hierarchy_section
from streamgauge.outcome import Outcome

from .alignment import alignment_section
from .grid import title
from .heading import heading
from .node import engine_text, memory_section, verdict
from .prequential import prequential_section
from .slices import slices_section

__all__ = ["PLAIN_WIDTH", "engine_text", "figures", "render", "show", "terminal", "verdict"]

PLAIN_WIDTH = 100  # where output goes into a file or a pipe


def terminal() -> Console:
    """Return a console on the standard output: as wide as the terminal, else `PLAIN_WIDTH` and plain."""
    console = Console(highlight=False)
    if not console.is_terminal and not os.environ.get("COLUMNS"):
        console = Console(highlight=False, width=PLAIN_WIDTH)
    return console


def render(outcome: Outcome, console: Console | None = None, *, brief: bool = False) -> None:
    """Print the report.

    Parameters
    ----------
    outcome : Outcome
    console : rich.console.Console, optional
        By default `terminal()`.
    brief : bool
        Without the tables by label.
    """
    console = console or terminal()
    show(_sections(outcome, console.width, brief), console)


def show(parts: Iterable[RenderableType], console: Console) -> None:
    """Print parts of a report; where no terminal is, without blanks at the ends of lines."""
    if console.is_terminal:
        for part in parts:
            console.print(part)
        return
    with console.capture() as captured:
        for part in parts:
            console.print(part)
    # Tables fill their lines up with blanks, which files do not need.
    for line in captured.get().splitlines():
        console.out(line.rstrip(), highlight=False)


def _sections(outcome: Outcome, width: int, brief: bool) -> Iterator[RenderableType]:
    yield from heading(outcome, width)
    yield from figures(outcome, width, brief)
    if outcome.node is not None:
        yield title("Node memory", engine_text(outcome.node, outcome.profile.name))
        yield from memory_section(outcome.node, width)
    if outcome.parity is not None:
        yield title("Parity", "the node's numbers against the host's and its model's")
        yield from verdict(outcome.parity)


def figures(outcome: Outcome, width: int, brief: bool) -> Iterator[RenderableType]:
    """The sections of figures, without what was assessed and by which node."""
    yield title("Alignment", "segments in order, SLTSS")
    yield from alignment_section(outcome, width, brief)
    yield title("Slices", "every tick in one category, van Kasteren")
    yield from slices_section(outcome, width, brief)
    yield title("Prequential error", "tested before its truth is known, Gama")
    yield from prequential_section(outcome, width)
    task = outcome.assessment.recording.task
    yield from extras_sections(outcome.assessment.extras, task, width, brief)
    if outcome.assessment.hierarchy is not None:
        yield from hierarchy_section(outcome.assessment.hierarchy, width, brief)

"""The terminal's view of a node: one screen, made anew from the history each time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from .. import formats
from . import panels
from .history import History

MOST_DETAIL = 2

_DIM = "bright_black"
_TWO_COLUMNS = 104  # from that width on
_GAP = 4
_EVENTS = 4
_TIMES_FROM = 1e8  # smaller ones are numbers of lines: that many lines nobody records
_STALE = 3.0  # intervals without a line before the view says so
_COLOURS = {"alarm": "bold yellow", "restart": "yellow", "config": "yellow", "link": "red", "line": "red"}


@dataclass(frozen=True)
class Status:
    """The state of the line.

    Attributes
    ----------
    source : str
        Port or file.
    lost : str
        Why the port is not there; empty while it is.
    now : float
        Seconds, the clock of the history's times.
    live : bool
        False for a recording.
    newer : str
        What to say of lines that are of a later version.
    """

    source: str
    lost: str = ""
    now: float = 0.0
    live: bool = True
    newer: str = ""


def view(history: History, status: Status, width: int, detail: int = MOST_DETAIL) -> RenderableType:
    """Return the screen, `width` columns wide; with less detail it is shorter."""
    report = history.last
    parts: list[RenderableType] = [_heading(history, status)]
    if status.newer:
        parts.append(Text(status.newer, "bold red"))
    if report is None:
        parts.append(Text("\n  waiting for the node's first report line", _DIM))
    elif width >= _TWO_COLUMNS:
        half = (width - _GAP) // 2
        grid = Table.grid(padding=(0, _GAP, 0, 0), pad_edge=False)
        grid.add_column(width=half)
        grid.add_column(width=half)
        grid.add_row(
            Group(*panels.how_good(history, report, half, detail), *_events(history, status, detail)),
            Group(*panels.how_it_fares(history, report, half, detail)),
        )
        parts.append(grid)
    else:
        parts += panels.how_good(history, report, width, detail)
        parts += panels.how_it_fares(history, report, width, detail)
        parts += _events(history, status, detail)
    parts.append(_counts(history, detail))
    return Group(*parts)


def fitting(history: History, status: Status, console: Console) -> RenderableType:
    """Return the screen with as much detail as the console has lines for."""
    for detail in range(MOST_DETAIL, 0, -1):
        screen = view(history, status, console.width, detail)
        if len(console.render_lines(screen, console.options, pad=False)) <= console.height:
            return screen
    return view(history, status, console.width, 0)


def _heading(history: History, status: Status) -> RenderableType:
    report = history.last
    line = Text.assemble(("streamgauge  ", "bold cyan"), (status.source, "bold"), "   ")
    if not status.live:
        line.append(f"{formats.count(history.lines)} lines", _DIM)
    elif status.lost:
        line.append(f"● not there: {status.lost}", "bold red")
    elif report is None:
        line.append("● connected", "yellow")
    else:
        age = max(0.0, status.now - history.received_at)
        late = age > _STALE * _interval(history)
        line.append(f"● {age:.0f} s ago" if age >= 1 else "● now", "yellow" if late else "green")
    if report is not None:
        facts = [f"line {formats.count(report.number)}"]
        facts += [f"boot {report.boots}"] if report.boots is not None else []
        facts += [f"recording {report.epoch}"] if report.epoch is not None else []
        facts += [f"config {report.layout}"] if report.layout is not None else []
        line.append("   " + " · ".join(facts), _DIM)
    # What matters stands first; the rest gives way on a narrow terminal.
    line.no_wrap, line.overflow = True, "ellipsis"
    return line


def _interval(history: History) -> float:
    """Seconds between lines, as the last ones came."""
    times = [point.at for point in history.points[-6:]]
    gaps = sorted(b - a for a, b in pairwise(times))
    return max(1.0, gaps[len(gaps) // 2]) if gaps else 10.0


def _events(history: History, status: Status, detail: int) -> Iterator[RenderableType]:
    if not history.events:
        return
    if detail:
        yield panels.title("Events")
    for event in list(history.events)[-_EVENTS if detail else -1 :]:
        yield Text.assemble(
            (f"{_clock(event.at, status.now)}  ", _DIM), (event.text, _COLOURS.get(event.kind, ""))
        )


def _clock(at: float, now: float) -> str:
    """A time of day, with its date where that is not today's; a number of a line as it is."""
    if at < _TIMES_FROM:
        return f"{at:.0f}"
    moment = datetime.fromtimestamp(at)
    today = moment.date() == datetime.fromtimestamp(max(now, _TIMES_FROM)).date()
    return moment.strftime("%H:%M:%S" if today else "%Y-%m-%d %H:%M")


def _counts(history: History, detail: int) -> RenderableType:
    blank = "\n" if detail else ""
    return Text(
        f"{blank}{formats.count(history.lines)} lines taken, {formats.count(history.damaged)} damaged, "
        f"{formats.count(history.other)} other",
        _DIM,
    )

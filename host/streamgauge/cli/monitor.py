"""`streamgauge monitor`: a node watched while it works."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TextIO

import click
from rich.console import Console
from rich.live import Live

from streamgauge.errors import InputError
from streamgauge.monitor import summary
from streamgauge.monitor.figure import draw
from streamgauge.monitor.history import History
from streamgauge.monitor.listen import Listener, read_recording
from streamgauge.monitor.view import Status, fitting, view
from streamgauge.report import show, terminal
from streamgauge.wire.port import Port, PortLost, open_port

_RETRY = 0.5  # seconds between attempts to find a port that is gone
_REFRESH = 4  # times a second
_PATIENCE = 60.0
NOTHING_CAME = 1


@click.command(
    "monitor",
    epilog="""\b
Examples:
  streamgauge monitor /dev/ttyACM0
  streamgauge monitor /dev/ttyACM0 --record week.log --plot week.png
  streamgauge monitor /dev/ttyACM0 --once --json
  streamgauge monitor --from week.log --plot week.png""",
)
@click.argument("port", required=False)
@click.option("--from", "recording", metavar="FILE", help="Show lines recorded earlier instead of a port.")
@click.option("--record", metavar="FILE", help="Append every whole line to this file, with its time.")
@click.option("--plot", metavar="FILE", help="Draw the curves at the end: .png, .svg or .pdf.")
@click.option("--once", is_flag=True, help="Wait for one line, print the view and end.")
@click.option("--lines", type=click.IntRange(1), metavar="N", help="End after N lines.")
@click.option(
    "--timeout",
    type=click.FloatRange(0.1),
    metavar="S",
    help="End after so many seconds without a line (60 with --once and --lines).",
)
@click.option("--json", "as_json", is_flag=True, help="Print the figures as one JSON document at the end.")
def command(
    port: str | None,
    recording: str | None,
    record: str | None,
    plot: str | None,
    once: bool,
    lines: int | None,
    timeout: float | None,
    as_json: bool,
) -> int:
    """Watch the node on PORT: a live view of its report lines, until Ctrl-C.

    Only reads, so the node is not disturbed; goes on by itself when the cable was out or the node restarted.
    Lines that do not arrive whole are counted and left out.
    """
    if (port is None) == (recording is None):
        raise click.UsageError("name a port, or a file with --from", click.get_current_context())
    if recording is not None:
        if record is not None:
            raise click.UsageError("--record records from a port", click.get_current_context())
        history, timed = read_recording(recording)
        status = Status(recording, now=history.received_at, live=False)
        name = Path(recording).name
    else:
        assert port is not None
        most = 1 if once else lines
        live = not (once or as_json) and terminal().is_terminal
        history, status = _watch(port, record, most, timeout or (_PATIENCE if most else None), live=live)
        timed, name = True, port
    if history.last is None:
        click.echo(f"streamgauge: no report line came from {name}.", err=True)
        return NOTHING_CAME
    if plot is not None:
        draw(history, plot, timed=timed, title=f"{name}: {history.lines:,} report lines")
    if as_json:
        click.echo(summary.text(history, status))
    elif recording is None or plot is None:
        console = terminal()
        show([view(history, status, console.width)], console)
    return 0


def _watch(
    port: str, record: str | None, most: int | None, timeout: float | None, *, live: bool
) -> tuple[History, Status]:
    """Listen until enough lines came, none came for too long, or Ctrl-C."""
    history = History()
    with ExitStack() as stack:
        file = stack.enter_context(_recorder(record)) if record is not None else None
        link = stack.enter_context(open_port(port))
        port = link.name
        listener = Listener(history, file)
        screen = stack.enter_context(_screen(history, port)) if live else None
        status = Status(port, now=time.time())
        begin = time.time()
        try:
            while most is None or history.lines < most:
                lost = _receive(link, listener)
                status = Status(port, lost, time.time(), newer=listener.newer)
                if screen is not None:
                    screen.update(fitting(history, status, screen.console))
                if timeout is not None and time.time() - max(begin, history.received_at) > timeout:
                    break
        except KeyboardInterrupt:
            pass
    return history, status


def _receive(link: Port, listener: Listener) -> str:
    """Take what has come; return why the port is not there, if it is not."""
    try:
        if not link.is_open:
            link.open()
            listener.history.event(time.time(), "link", "the port is back")
        listener.feed(link.read())
    except PortLost as lost:
        events = listener.history.events
        if not events or events[-1].kind != "link" or "back" in events[-1].text:
            listener.history.event(time.time(), "link", f"the port is gone: {lost}")
        time.sleep(_RETRY)
        return str(lost)
    return ""


@contextmanager
def _recorder(path: str) -> Iterator[TextIO]:
    try:
        file = open(path, "a", encoding="ascii", newline="\n")  # noqa: SIM115 - closed below
    except OSError as error:
        raise InputError(f"cannot be written ({error.strerror})", file=path) from None
    with file:
        yield file


@contextmanager
def _screen(history: History, port: str) -> Iterator[Live]:
    console = Console(highlight=False)
    first = fitting(history, Status(port, now=time.time()), console)
    with Live(first, console=console, screen=True, refresh_per_second=_REFRESH) as live:
        yield live

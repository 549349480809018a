"""`streamgauge label`: the truth, told to a node that is at work."""

from __future__ import annotations

import time
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from streamgauge import formats
from streamgauge.errors import InputError
from streamgauge.files import ReadOptions, Recording, read_pair
from streamgauge.labelling.replay import Outcome, Told, after_clock, after_node, at_once, replay, segments
from streamgauge.labelling.teller import Refused, Teller
from streamgauge.labelling.times import moment
from streamgauge.reading.options import seconds
from streamgauge.wire.keys import read_key
from streamgauge.wire.messages import MEANING, Answer, Code
from streamgauge.wire.port import Port, open_port
from streamgauge.wire.report import Newer, parse_report

REFUSED = 1
_LINE_WITHIN = 15.0


@click.command(
    "label",
    epilog="""\b
Examples:
  streamgauge label /dev/ttyACM0 kitchen --from now-10min --to now
  streamgauge label /dev/ttyACM0 UNKNOWN --from 61000 --to 75000
  streamgauge label /dev/ttyACM0 --file truth.csv --tick 1s
  streamgauge label /dev/ttyACM0 --file truth.csv --speed 60 --key-file label.key""",
)
@click.argument("port")
@click.argument("label", required=False)
@click.option("--from", "start", metavar="TIME", help="Start: a tick of the node, now, now-10min.")
@click.option("--to", "end", metavar="TIME", help="End, not included (included in closed mode).")
@click.option("--file", "path", metavar="FILE", help="Replay the truth of a file, in step with the node.")
@click.option("--at", metavar="TIME", help="Where on the node's clock the file begins; where its truth ends.")
@click.option("--late", metavar="TIME", help="Tell each segment of the file so much after its end.")
@click.option(
    "--speed",
    type=click.FloatRange(0.0),
    metavar="X",
    help="Replay by this computer's clock, X times as fast; 0: as fast as the node answers.",
)
@click.option("--tick", metavar="TIME", help="Length of the node's ticks; a report line tells it otherwise.")
@click.option(
    "--gaps", type=click.Choice(["null", "unknown"]), default="null", help="What gaps of the file are."
)
@click.option("--closed", is_flag=True, help="Rows of the file mean [start, end], as the node's labels do.")
@click.option("--null", default="NULL", metavar="NAME", help="Name of the NULL label (NULL).")
@click.option("--unknown", default="UNKNOWN", metavar="NAME", help="Name of truth nobody knows (UNKNOWN).")
@click.option("--complete", is_flag=True, help="Say as well that no truth before --to will come.")
@click.option("--key-file", metavar="FILE", help="Key that the node wants labels signed with.")
def command(port: str, label: str | None, path: str | None, **given: Any) -> int:
    """Tell the node on PORT what LABEL was true, or replay a file of truth.

    The truth may come late, and out of order as far as the node has room for it. Every message is numbered
    and acknowledged, and repeated until it is; one that arrives twice counts once.
    """
    context = click.get_current_context()
    if (label is None) == (path is None):
        raise click.UsageError("give either a label with --from and --to, or --file", context)
    if label is not None and (given["start"] is None or given["end"] is None):
        raise click.UsageError("a label needs --from and --to", context)
    key = read_key(given["key_file"]) if given["key_file"] else None
    console = Console(highlight=False, soft_wrap=True)
    with open_port(port) as link:
        clock = _Clock(link, given["tick"])
        teller = Teller(link, key, hear=clock.hear)
        try:
            if path is not None:
                return _replay(console, teller, clock, path, given)
            assert label is not None
            return _one(console, teller, clock, label, given)
        except Refused as refused:
            remedy = {
                Code.KEY: " Give the node's key with --key-file.",
                Code.EPOCH: " Ask for its time anew: times told before mean nothing to it.",
                Code.VERSION: " Update the node with `streamgauge flash`.",
            }.get(Code(refused.answer.code), "")
            console.print(f"refused: {refused}.{remedy}", style="red")
            return REFUSED


class _Clock:
    """The length of the node's ticks: as given, or as a report line tells."""

    def __init__(self, port: Port, given: str | None) -> None:
        self._port = port
        self._seconds = float(seconds(given, "--tick")) if given else None

    def hear(self, line: bytes) -> None:
        """Take a line that may be a report."""
        try:
            report = parse_report(line)
        except Newer:
            return
        if report is not None and self._seconds is None:
            self._seconds = report.tick_seconds

    def seconds(self, teller: Teller, *needed_for: str | None) -> float | None:
        """The length, waiting for a report line where one of the texts has a unit."""
        end = time.monotonic() + _LINE_WITHIN
        while self._seconds is None and any(map(_has_unit, needed_for)) and time.monotonic() < end:
            teller.listen(0.5)
        return self._seconds


def _has_unit(text: str | None) -> bool:
    return text is not None and text.strip()[-1:].isalpha() and text.strip().lower() != "now"


def _one(console: Console, teller: Teller, clock: _Clock, label: str, given: dict[str, Any]) -> int:
    tick = clock.seconds(teller, given["start"], given["end"])
    now = teller.ask().now
    start, end = (
        moment(given[name], now, tick, option) for name, option in (("start", "--from"), ("end", "--to"))
    )
    what: str | int = label
    if label == given["unknown"]:
        what = 255
    elif label == given["null"]:
        what = 0
    elif label.startswith("#") and label[1:].isdecimal() and int(label[1:]) < 256:
        what = int(label[1:])
    answer = teller.label(what, start, end)
    if answer.code == Code.ACCEPTED and given["complete"]:
        answer = teller.complete(end)
    done = answer.code == Code.ACCEPTED
    console.print(
        f"{label} from tick {start} to {end}: {answer.meaning}"
        + (f"; {answer.waiting} wait for what is before them" if done and answer.waiting else ""),
        style="" if done else "red",
        markup=False,
    )
    return 0 if done else REFUSED


def _replay(console: Console, teller: Teller, clock: _Clock, path: str, given: dict[str, Any]) -> int:
    tick = clock.seconds(teller, "1s")
    reading = ReadOptions(
        tick=None if tick is None else f"{tick:.9f}s",
        gaps=given["gaps"],
        closed=given["closed"],
        null=given["null"],
        unknown=given["unknown"],
    )
    recording = read_pair(path, path, reading)
    begin = recording.span[0]
    answer = teller.ask()
    at = answer.truth if given["at"] is None else moment(given["at"], answer.now, tick, "--at")
    late = 0 if given["late"] is None else moment(given["late"], 0, tick, "--late")
    if given["speed"] is None:
        pace = after_node(teller, at, begin, late)
    elif given["speed"] == 0:
        pace = at_once
    elif recording.task.tick_seconds is None:
        raise InputError("--speed needs the length of a tick", remedy="Give --tick")
    else:
        pace = after_clock(begin, recording.task.tick_seconds, given["speed"], late)
    outcome = _with_bar(console, teller, recording, at, pace, Path(path).name)
    return _summary(console, outcome, recording, teller)


def _with_bar(
    console: Console, teller: Teller, recording: Recording, at: int, pace: Any, name: str
) -> Outcome:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with ExitStack() as stack:
        bar = stack.enter_context(
            Progress(*columns, console=console) if console.is_terminal else nullcontext(None)
        )
        task = bar.add_task(name, total=sum(1 for _ in segments(recording))) if bar else None

        def told(told: Told, answer: Answer) -> None:
            if bar is not None and task is not None:
                bar.advance(task)

        return replay(teller, recording, at, pace, told)


def _summary(console: Console, outcome: Outcome, recording: Recording, teller: Teller) -> int:
    refused = sum(outcome.refused.values())
    console.print(
        f"{formats.count(outcome.accepted)} labels accepted, {formats.count(refused)} refused, "
        f"{formats.count(outcome.waiting)} wait; {formats.count(teller.repeated)} messages were sent again"
    )
    for told, answer in outcome.first_refused:
        console.print(
            f"  {told.label} from {told.start} to {told.end} of the file: {answer.meaning}",
            style="red",
            markup=False,
        )
    for code, count in sorted(outcome.refused.items()):
        if refused > len(outcome.first_refused):
            meaning = MEANING.get(Code(code)) if code in set(Code) else f"code {code}"
            console.print(f"  {formats.count(count)} times: {meaning}", style="red", markup=False)
    return REFUSED if refused else 0

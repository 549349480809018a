"""`streamgauge flash`: a board becomes a node."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from streamgauge import example, firmware, formats
from streamgauge.errors import InputError
from streamgauge.files import read_pair
from streamgauge.flash.board import Board, identify
from streamgauge.flash.link import Link
from streamgauge.flash.plan import CONFIG, MAIN, Plan, Wanted, make_plan
from streamgauge.flash.ports import candidates
from streamgauge.flash.verdict import Verdict, self_test
from streamgauge.flash.write import carry_out
from streamgauge.profile import compile_config, profile_names
from streamgauge.reading.labels import label_names
from streamgauge.reading.options import ReadOptions, seconds, slice_ticks
from streamgauge.task import Task
from streamgauge.wire.keys import read_key

from ._options import byte_count, read_profile

FAILED = 1


@click.command(
    "flash",
    epilog="""\b
Examples:
  streamgauge flash                                  lists the ports there are
  streamgauge flash auto --labels sleep,kitchen,toilet --tick 1s --slice 60s --main example
  streamgauge flash /dev/ttyACM0                     a new version; configuration and snapshot stay
  streamgauge flash /dev/ttyACM0 --example --dry-run""",
)
@click.argument("port", required=False)
@click.option("--labels", metavar="A,B,...", help="Labels besides NULL, in this order.")
@click.option("--example", "as_example", is_flag=True, help="Labels and slices of the built-in example.")
@click.option("--config", "config_path", metavar="FILE", help="A configuration compiled earlier (JSON).")
@click.option("--null", default="NULL", show_default=True, metavar="NAME", help="Name of the NULL label.")
@click.option("--tick", default="1s", show_default=True, metavar="TIME", help="Length of a tick.")
@click.option(
    "--slice", "slice_", default="60s", show_default=True, metavar="TIME", help="Length of a slice."
)
@click.option(
    "--gaps",
    type=click.Choice(["null", "unknown"]),
    default="null",
    show_default=True,
    help="What the truth is where nobody tells it.",
)
@click.option(
    "--profile",
    "profile_name",
    default="sensor",
    show_default=True,
    metavar="NAME|FILE",
    help=f"Memory profile: {', '.join(profile_names())} or a file.",
)
@click.option(
    "--set", "changes", multiple=True, metavar="KEY=VALUE", help="Another value for a profile's key."
)
@click.option("--report-every", metavar="TIME", help="Interval of the report line (10s).")
@click.option("--save-every", metavar="TIME", help="Interval of saves (1h); 0: never.")
@click.option("--reserve", metavar="BYTES", help="Heap to leave to the program; 8k.")
@click.option(
    "--main",
    "main_path",
    metavar="FILE|example",
    help="Copy this program as main.py; example is the one that comes with streamgauge.",
)
@click.option("--key-file", metavar="FILE", help="Key that labels over the wire must be signed with.")
@click.option("--erase-snapshot", is_flag=True, help="Forget the saved state instead of keeping it.")
@click.option("--dry-run", is_flag=True, help="Show what would happen; write nothing.")
@click.option("--resume", is_flag=True, help="Do not reset the board (as `mpremote resume`).")
def command(port: str | None, **given: Any) -> int:
    """Put the package, its configuration and, if you like, a program on a MicroPython board.

    Shows what the board is and refuses what does not fit before anything is written; copies what differs,
    verifies it by hash, and lets the node test its kernels against stored numbers. A saved state stays.
    Without PORT it lists the ports there are.
    """
    console = Console(highlight=False, soft_wrap=True)
    if port is None:
        _list_ports(console)
        return 0
    wanted = Wanted(
        config=_config(given),
        key=f"{read_key(given['key_file']).hex()}\n".encode() if given["key_file"] else None,
        main=_program(given["main_path"]),
        erase_snapshot=given["erase_snapshot"],
        **({"working": byte_count(given["reserve"])} if given["reserve"] else {}),
    )
    with Link(port, resume=given["resume"]) as link:
        board = identify(link)
        _show_board(console, board)
        plan = make_plan(link, board, wanted)
        _show_plan(console, plan)
        if given["dry_run"]:
            console.print("nothing was written (--dry-run)")
            link.restart()
            return 0
        _copy(console, link, plan)
        verdict = self_test(link, board, board.path(CONFIG))
        link.restart()
    _show_verdict(console, plan, verdict)
    return 0 if verdict.passed else FAILED


def _list_ports(console: Console) -> None:
    found = candidates()
    if not found:
        console.print("There is no serial port. Connect a board, or name its port: streamgauge flash PORT")
        return
    for candidate in found:
        mark = "" if candidate.likely else "  (no USB device)"
        console.print(f"{candidate.port}  {candidate.usb or '-'}  {candidate.what or '-'}{mark}")


def _config(given: dict[str, Any]) -> dict[str, Any] | None:
    """Return the configuration that was asked for; None to keep the board's."""
    asked = [name for name in ("labels", "as_example", "config_path") if given[name]]
    if len(asked) > 1:
        raise click.UsageError("give one of --labels, --example and --config", click.get_current_context())
    if given["config_path"]:
        return _with_intervals(_read_config(given["config_path"]), given)
    if not asked:
        tuned = [f"--{name.replace('_', '-')}" for name in ("report_every", "save_every") if given[name]]
        tuned += ["--set"] if given["changes"] else []
        if tuned:
            raise click.UsageError(
                f"{' and '.join(tuned)} change the configuration: say which with --labels or --config",
                click.get_current_context(),
            )
        return None
    empty = dict.fromkeys(("heap", "window", "alpha", "delta"))
    profile, _ = read_profile(
        {"profile_name": given["profile_name"], "changes": given["changes"], **empty}, for_node=True
    )
    return _with_intervals(compile_config(profile, _task(given)), given)


def _task(given: dict[str, Any]) -> Task:
    if given["as_example"]:
        return read_pair(*example.builtin()).task
    tick = seconds(given["tick"], "tick")
    return Task(
        labels=label_names(given["labels"].split(","), given["null"], ReadOptions().unknown, ()),
        tick_seconds=float(tick),
        slice_ticks=slice_ticks(given["slice_"], tick),
        gaps_unknown=given["gaps"] == "unknown",
    )


def _with_intervals(config: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    for name, key, default in (("report_every", "report_s", 10), ("save_every", "save_s", 3600)):
        text = given[name]
        if text:
            length = 0 if text.strip() == "0" else seconds(text, f"--{name.replace('_', '-')}")
            if length != int(length):
                raise InputError(
                    f"--{name.replace('_', '-')} is {text!r} (whole seconds were expected, such as 10s or 1h)"
                )
            config[key] = int(length)
        # Written out, so that the file on the board says it.
        config.setdefault(key, default)
    return config


def _read_config(path: str) -> dict[str, Any]:
    try:
        config = json.loads(_bytes(path))
    except ValueError as error:
        raise InputError(f"is not JSON ({error})", file=path) from None
    if not isinstance(config, dict) or not isinstance(config.get("labels"), list):
        raise InputError("is no configuration of a node (an object with labels was expected)", file=path)
    return config


def _program(path: str | None) -> bytes | None:
    if path is None:
        return None
    return _bytes(str(firmware.source_root() / MAIN) if path == "example" else path)


def _bytes(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", file=path, remedy="Check the path") from None


def _show_board(console: Console, board: Board) -> None:
    disk = f", {formats.size(board.disk_free)} free on its file system" if board.disk_free is not None else ""
    console.print(f"{board.port}: {board.what}", markup=False)
    console.print(
        f"  heap {formats.size(board.heap_free)} free of {formats.size(board.heap)}{disk}", markup=False
    )


def _show_plan(console: Console, plan: Plan) -> None:
    need, board = plan.needs, plan.board
    after = board.heap_free - need.total + need.working
    console.print(
        f"  node with {len(plan.config['labels']) - 1} labels: code {formats.count(need.code)} B at most, "
        f"state {formats.count(need.state)} B; about {formats.size(after)} of heap will be left"
    )
    code = f"machine code for {plan.march}" if plan.march else "bytecode"
    console.print(
        f"  {len(plan.write)} files to write ({code}, {formats.count(plan.write_bytes)} bytes), "
        f"{len(plan.same)} are there already, {len(plan.remove)} to remove"
    )
    for path in plan.snapshots:
        console.print(f"  kept: {path}", markup=False)
    for path in plan.remove:
        console.print(f"  removed: {path}", markup=False)


def _copy(console: Console, link: Link, plan: Plan) -> None:
    columns = (
        TextColumn("  {task.description:<28}"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(compact=True),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=plan.write_bytes)

        def through(path: str, count: int) -> None:
            progress.update(task, advance=count, description=path[-28:])

        carry_out(link, plan, through)
    console.print(f"  written and verified by SHA-256: {len(plan.write)} files")


def _show_verdict(console: Console, plan: Plan, verdict: Verdict) -> None:
    compared = sum(result.compared for result in verdict.results)
    if verdict.passed:
        console.print(f"self-test of gauge {verdict.version}: {compared} numbers as expected", style="green")
    else:
        console.print(f"self-test of gauge {verdict.version} FAILED", style="bold red")
    for result in verdict.results:
        if result.first is not None:
            place, expected, got = result.first
            console.print(
                f"  {result.part}: {result.different} of {result.compared} differ, the first is number "
                f"{place}: {expected} was expected, {got} came",
                style="red",
            )
    console.print(
        f"the node starts: state {formats.count(verdict.state_bytes)} B, "
        f"{formats.size(verdict.heap_left)} of heap left"
    )

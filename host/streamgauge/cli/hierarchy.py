"""`streamgauge hierarchy`: how well one hierarchy of segments tells what belongs together in another."""

from __future__ import annotations

from typing import Any

import click

from streamgauge.engines import EngineMissing, get_engine
from streamgauge.errors import InputError
from streamgauge.files import ReadOptions
from streamgauge.levels import report
from streamgauge.levels.figures import LevelSettings, level_figures
from streamgauge.levels.node import run_levels
from streamgauge.levels.read import Levels, read_levels
from streamgauge.node_run import NodeRun
from streamgauge.parity import Parity
from streamgauge.report import show, terminal

from ._levels import ticks
from ._options import _column, read_profile

# Usual for music: McFee et al. 2015; boundaries as Turnbull et al. 2007.
_SECONDS = {"frame": "100ms", "window": "15s", "tolerance": ("500ms", "3s")}
_TICKS = {"frame": "1", "window": "150", "tolerance": ("5", "30")}


@click.command(
    "hierarchy",
    short_help="Two hierarchies of segments: T-measure, L-measure, boundaries.",
    epilog="""\b
Examples:
  streamgauge hierarchy --truth a_coarse.lab --truth a_fine.lab \\
      --prediction b_coarse.lab --prediction b_fine.lab --fit --node auto
  streamgauge hierarchy --truth a.lab --prediction b.lab --window none --tolerance 500ms --trim""",
)
@click.option("--truth", metavar="FILE", multiple=True, help="A true level; once a level, coarse to fine.")
@click.option("--prediction", metavar="FILE", multiple=True, help="A predicted level; coarse to fine.")
@click.option("--tick", metavar="TIME", help="Length of a tick (1ms, or 1ns with mir_eval's rounding).")
@click.option("--frame", metavar="TIME", help="Length of a frame (100ms).")
@click.option(
    "--window",
    "--level-window",
    "level_window",
    metavar="TIME|none",
    help="Time to each side of a frame (15s).",
)
@click.option("--tolerance", metavar="TIME", multiple=True, help="For boundaries, any number (500ms and 3s).")
@click.option("--trim", is_flag=True, help="Boundaries without the first and last of each side.")
@click.option("--depth", type=int, metavar="N", help="Use the N coarsest levels of each side.")
@click.option("--gain", metavar="A,B,...", help="T-measure with these gains per level gap as well.")
@click.option("--fit", is_flag=True, help="Clip and fill the edges of both to the span of the truth.")
@click.option("--span", nargs=2, metavar="START END", help="The span; levels may leave gaps at its edges.")
@click.option(
    "--rounding",
    type=click.Choice(["ticks", "mir_eval"]),
    default="ticks",
    show_default=True,
    help="How times become frames: whole ticks, or floats as mir_eval rounds them.",
)
@click.option("--lenient", is_flag=True, help="Skip and count rows that cannot be used.")
@click.option("--sort", is_flag=True, help="Sort rows by start instead of refusing them.")
@click.option("--delimiter", metavar="SIGN", help='"," ";" tab or space; found by itself.')
@click.option("--columns", metavar="A,B,C", help="Start, end and label column: names or numbers.")
@click.option(
    "--node",
    metavar="x64|arm|auto|PORT",
    help="Also run a node: an engine, auto for the best there is, or a board's port.",
)
@click.option(
    "--profile",
    "profile_name",
    metavar="NAME|FILE",
    default="sensor",
    show_default=True,
    help="Memory profile.",
)
@click.option("--heap", metavar="BYTES", help="Heap of the node, such as 64k.")
@click.option(
    "--set",
    "changes",
    multiple=True,
    metavar="KEY=VALUE",
    help="Another value for a key of the profile, hierarchy.boundaries=128.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")
@click.option("--json-keys", is_flag=True, help="Print what the keys of the JSON document mean.")
def command(**given: Any) -> int:
    """Compare two hierarchies of segments, one file a level, coarse to fine.

    Files are rows of start, end and label, or of time and label. Tells the T-measure (reduced and full) and
    L-measure, and for each pair of levels boundaries found within tolerances, median deviations and flat AUC.
    With --node a MicroPython node computes the T-measure as boundaries come in, and its counts are compared.
    `streamgauge assess --truth-level` compares hierarchies beside labels.
    """
    if given.pop("json_keys"):
        print(report.key_table())
        return 0
    as_json, node = given.pop("as_json"), given.pop("node")
    files = given.pop("truth"), given.pop("prediction")
    missing = next(
        (name for name, side in zip(("truth", "prediction"), files, strict=True) if not side), None
    )
    if missing:
        raise click.UsageError(f"give --{missing} at least once", click.get_current_context())
    if given["tick"] is None and given["rounding"] == "mir_eval":
        given["tick"] = "1ns"
    levels = read_levels(*files, _read_options(given), fit=given.pop("fit"))
    settings = _settings(given, levels)
    given |= dict.fromkeys(("window", "alpha", "delta"))  # of the sliding window: not for hierarchies
    profile, _ = read_profile(given, for_node=node is not None)
    found = level_figures(levels, settings)
    run: NodeRun | None = None
    parity: Parity | None = None
    if node is not None:
        try:
            engine = get_engine(node)
        except EngineMissing as trouble:
            if node != "auto":
                raise
            levels.notes.warnings.append(f"no node, so the host worked alone: {trouble}")
        else:
            with engine:
                run, parity = run_levels(levels, settings, profile, engine)
    if as_json:
        print(report.text(found, run, parity))
    else:
        console = terminal()
        show(report.sections(found, run, parity, profile.name, console.width), console)
    return 0


def _read_options(given: dict[str, Any]) -> ReadOptions:
    columns = given.pop("columns")
    return ReadOptions(
        tick=given.pop("tick"),
        span=given.pop("span") or None,
        lenient=given.pop("lenient"),
        sort=given.pop("sort"),
        delimiter=given.pop("delimiter"),
        columns=None if columns is None else tuple(_column(part.strip()) for part in columns.split(",")),
    )


def _settings(given: dict[str, Any], levels: Levels) -> LevelSettings:
    usual: dict[str, Any] = _TICKS if levels.tick is None else _SECONDS
    window = given.pop("level_window") or usual["window"]
    gain = given.pop("gain")
    return LevelSettings(
        frame=ticks("frame", given.pop("frame") or usual["frame"], levels),
        window=None if window == "none" else ticks("window", window, levels),
        tolerances=tuple(
            ticks("tolerance", text, levels) for text in given.pop("tolerance") or usual["tolerance"]
        ),
        trim=given.pop("trim"),
        depth=given.pop("depth"),
        gain=None if gain is None else tuple(_gain(part) for part in gain.split(",")),
        rounding=given.pop("rounding"),
    )


def _gain(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"--gain holds {text!r} (numbers, one a level gap, were expected)") from None

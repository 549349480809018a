"""`streamgauge exactness`: what each byte of a ring or window buys."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import click
from rich.console import RenderableType

from streamgauge import exactness, exactness_picture
from streamgauge.budget_report import table_of
from streamgauge.files import read_pair
from streamgauge.report import show, terminal

_KINDS = {
    "pending": (
        "alignment ring, capacity.pending",
        {"forced": "forced %", "distance_error": "distance off %"},
    ),
    "runs": ("late-truth ring, capacity.runs", {"unassessed": "unassessed %"}),
    "window": ("window, capacity.window", {"apart": "apart from faded", "hoeffding": "Hoeffding"}),
    "boundaries": ("boundary ring, hierarchy.boundaries", {"lost": "lost %", "t_error": "T-measure off"}),
}


@click.command(
    "exactness",
    short_help="What each byte of a ring or window buys.",
    epilog="""\b
Examples:
  streamgauge exactness --plot docs/exactness.png --plot docs/exactness.svg
  streamgauge exactness --pair house truth.csv prediction.csv --json""",
)
@click.option(
    "--pair",
    "pairs",
    nargs=3,
    multiple=True,
    metavar="NAME TRUTH PREDICTION",
    help="A recording of your own beside the built-in example.",
)
@click.option("--plot", "plots", multiple=True, metavar="FILE", help="Save the picture (png, svg, pdf).")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")
def command(pairs: tuple[tuple[str, str, str], ...], plots: tuple[str, ...], as_json: bool) -> None:
    """Run recordings over a range of sizes: the built-in example, the same with a recogniser that decides
    slice by slice, and what --pair names.

    The node's own code, run by this Python, is compared with the exact figures.
    """
    home = exactness.home()
    recordings = {"home": home, "unsmoothed": exactness.unsmoothed(home)}
    recordings |= {name: read_pair(truth, prediction) for name, truth, prediction in pairs}
    found = exactness.measure(recordings)
    if plots:
        exactness_picture.draw(found, [Path(name) for name in plots])
    if as_json:
        print(json.dumps(found.document(), indent=2))
    else:
        show(_tables(found), terminal())


def _tables(found: exactness.Exactness) -> Iterator[RenderableType]:
    for kind, (title, columns) in _KINDS.items():
        yield f"\n{title}"
        for curve in found.curves[kind]:
            rows = [
                [
                    f"{point.size:,}",
                    f"{point.bytes:,}",
                    *(_figure(point.values[name], what) for name, what in columns.items()),
                ]
                for point in curve.points
            ]
            yield table_of((f"  {curve.name}", "bytes", *columns.values()), rows)


def _figure(value: float, what: str) -> str:
    return f"{100 * value:.3f}" if what.endswith("%") else f"{value:.4f}"

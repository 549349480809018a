"""`streamgauge soak`: does a node's heap stay flat?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from streamgauge import soak_picture
from streamgauge.engines import get_engine
from streamgauge.formats import count
from streamgauge.profile import load_profile
from streamgauge.soak import FIGURES, document, soak

_UNITS = {"fragmentation": "%"}


@click.command(
    "soak",
    short_help="Feed a node for hours of its time, and look whether its heap stays flat.",
    epilog="""\b
Examples:
  streamgauge soak --slices 1000000
  streamgauge soak --slices 10000000 --plot docs/soak.png --plot docs/soak.svg""",
)
@click.option("--slices", type=int, default=1_000_000, show_default=True, metavar="N", help="Slices to tell.")
@click.option("--looks", type=int, default=100, show_default=True, metavar="N", help="Looks at the heap.")
@click.option("--profile", "name", default="sensor", show_default=True, metavar="NAME|FILE", help="Profile.")
@click.option("--node", default="arm", show_default=True, metavar="arm|x64|PORT", help="What runs the node.")
@click.option("--plot", "plots", multiple=True, metavar="FILE", help="Save the picture (png, svg, pdf).")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")
def command(**given: Any) -> int:
    """Tell a node the built-in example over and over, one label a slice, and look at its heap now and then.

    The exit code is 1 where any figure moved.
    """
    with get_engine(given["node"]) as engine:
        found = soak(engine, load_profile(given["name"]), given["slices"], given["looks"])
    if given["plots"]:
        soak_picture.draw(found, [Path(name) for name in given["plots"]])
    if given["as_json"]:
        print(json.dumps(document(found), indent=2))
        return int(not found.flat)
    last = found.looks[-1]
    print(f"{count(last.slices)} slices, {found.hours:,.0f} hours of node time, on {found.engine}")
    print(f"profile {found.profile.name}, heap of {count(found.heap)} bytes, {len(found.looks)} looks")
    for name in FIGURES:
        unit = _UNITS.get(name, "bytes")
        moved = found.grown[name]
        verdict = "flat" if moved == 0 else f"moved by {count(moved)}"
        print(f"  {name.replace('_', ' '):14s} {count(getattr(last, name)):>9s} {unit:5s}  {verdict}")
    for name, number in found.counted.items():
        print(f"  {name:14s} {count(number):>9s}")
    return int(not found.flat)

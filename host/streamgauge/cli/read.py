"""`streamgauge read`: what a node saved, as a report."""

from __future__ import annotations

import json

import click

from streamgauge.report import show, terminal
from streamgauge.snapshot.assessed import assessed, missing
from streamgauge.snapshot.figures import figures, merge
from streamgauge.snapshot.file import newest
from streamgauge.snapshot.report import document, outcome_of, sections

from ._options import label_weights


@click.command(
    "read",
    epilog="""\b
Examples:
  mpremote cp :gauge.0 :gauge.1 .
  streamgauge read gauge.0 gauge.1                  the newer of a node's two slots
  streamgauge read hall/gauge.0 attic/gauge.1       two nodes together
  streamgauge read gauge.0 --json > node.json

\b
In Python: from streamgauge import snapshot; snapshot.arrays("gauge.0")["slices.4"]""",
)
@click.argument("snapshots", nargs=-1, required=True, metavar="SNAPSHOT...")
@click.option("--ended", is_flag=True, help="As if the recordings had ended: decide what is pending.")
@click.option("--own-clocks", is_flag=True, help="The nodes' clocks are not one: fade nothing further.")
@click.option("--weights", metavar="A=2,B=0", help="Weights of labels in the averages of the slices.")
@click.option("--without-null", is_flag=True, help="Leave NULL out of the averages of the slices.")
@click.option("--brief", is_flag=True, help="Leave out the tables by label.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")
def command(
    snapshots: tuple[str, ...],
    ended: bool,
    own_clocks: bool,
    weights: str | None,
    without_null: bool,
    brief: bool,
    as_json: bool,
) -> None:
    """Report what nodes saved, in the form of `streamgauge assess`.

    Of a node's two slots the newer is taken. Several nodes add up: counts and times are summed, faded sums
    are faded to the time of the latest save, extremes are the extremes of all.
    """
    found, notes = newest(snapshots)
    together = merge(figures(snapshot, ended=ended) for snapshot in found)
    assessment = assessed(
        together,
        weights=label_weights(weights, tuple(together.config["labels"])),
        include_null=not without_null,
        own_clocks=own_clocks,
    )
    outcome = outcome_of(assessment, [*notes, *missing(together)])
    if as_json:
        print(json.dumps(document(outcome, found, together), indent=1, allow_nan=False, ensure_ascii=False))
        return
    console = terminal()
    show(sections(outcome, found, together, console.width, brief), console)

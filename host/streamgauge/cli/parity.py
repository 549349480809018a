"""`streamgauge parity`: does a node give the host's numbers?"""

from __future__ import annotations

import json
from typing import Any

import click

from streamgauge import jsonreport
from streamgauge.engines import get_engine
from streamgauge.outcome import Outcome, assess_on
from streamgauge.report import engine_text, terminal, verdict

from ._levels import levels_options, read_beside_levels
from ._options import node_options, read_profile, read_source, recording_options
from ._others import estimators_change, others_options, read_beside


@click.command("parity", short_help="Whether a node's numbers are the host's.")
@recording_options
@others_options
@levels_options
@node_options("auto", "The node: an engine, auto for the best there is, or a board's port.")
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON and nothing else.")
def command(**given: Any) -> int:
    """Compare every number of a node with the host's, for one recording.

    Exits with 0 where all agree, and with 1 where some do not; the first of those are shown.
    """
    as_json, node = given.pop("as_json"), given.pop("node")
    source, others = read_beside(given, read_source(given))
    others = read_beside_levels(given, source, others)
    estimators_change(given)
    profile, settings = read_profile(given, for_node=True)
    with get_engine(node) as engine:
        assessment, run, parity = assess_on(source.recording, settings, profile, engine, others)
    outcome = Outcome(source.truth, source.prediction, profile, assessment, run, parity)
    if as_json:
        print(json.dumps(jsonreport.document(outcome)["parity"], indent=1, allow_nan=False))
    else:
        console = terminal()
        console.print(
            f"{source.prediction} against {source.truth} on {engine_text(run, profile.name)}", soft_wrap=True
        )
        for line in verdict(parity):
            console.print(line)
    return 0 if parity.agrees else 1

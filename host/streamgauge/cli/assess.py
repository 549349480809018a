"""`streamgauge assess`: all figures of one recording."""

from __future__ import annotations

import sys
from dataclasses import replace
from textwrap import shorten
from typing import Any

import click

from streamgauge import jsonreport
from streamgauge.assess import assess
from streamgauge.engines import Engine, EngineMissing, get_engine
from streamgauge.outcome import Outcome, assess_on
from streamgauge.picture import save_picture
from streamgauge.report import render

from ._levels import levels_notes, levels_options, read_beside_levels
from ._options import label_weights, node_options, read_profile, read_source, recording_options
from ._others import estimators_change, others_options, read_beside

_TITLE = 90  # letters that a picture has room for


@click.command(
    "assess",
    short_help="All figures of a recording, on this host and on a node.",
    epilog="""\b
Examples:
  streamgauge assess --example --node auto
  streamgauge assess truth.csv prediction.csv --tick 1s --slice 60s
  streamgauge assess labels.csv labels.csv --rate 50 --truth-column truth --prediction-column knn
  streamgauge assess stream.csv stream.csv --rate 1 --truth-column truth \\
      --prediction-column naive_bayes --second-column hoeffding_tree --node auto
  streamgauge assess truth.csv prediction.csv --second other.csv --estimators all --heap 256k
  streamgauge assess a.lab b.lab --truth-level a_coarse.lab --truth-level a.lab \\
      --prediction-level b_coarse.lab --prediction-level b.lab --fit --node auto
  streamgauge assess truth.csv prediction.csv --node /dev/ttyACM0 --json > report.json""",
)
@recording_options
@others_options
@levels_options
@node_options(None, "Also run a node: an engine, auto for the best there is, or a board's port.")
@click.option("--weights", metavar="A=2,B=0", help="Weights of labels in the averages of the slices.")
@click.option("--without-null", is_flag=True, help="Leave NULL out of the averages of the slices.")
@click.option("--brief", is_flag=True, help="Leave out the tables by label.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")
@click.option("--json-keys", is_flag=True, help="Print what the keys of the JSON document mean.")
@click.option("--svg", metavar="FILE", help="Save the report as a picture too.")
def command(**given: Any) -> None:
    """Assess a PREDICTION against its TRUTH: alignment, slices and prequential error.

    Files are CSV, TSV or .lab with start, end and label a row, or one label a row (--rate). With --node a
    MicroPython node assesses the same recording in a fixed heap, and every number of it is compared with
    this host's.

    With levels (--truth-level, --prediction-level) two hierarchies of segments are compared as well, as
    `streamgauge hierarchy` compares them, and the same node is told their boundaries. Levels are the files
    named so and no others; times are read on the clock of TRUTH and PREDICTION.
    """
    if given.pop("json_keys"):
        print(jsonreport.key_table())
        return
    as_json, brief, svg = given.pop("as_json"), given.pop("brief"), given.pop("svg")
    weights, include_null = given.pop("weights"), not given.pop("without_null")
    node = given.pop("node")
    source, others = read_beside(given, read_source(given))
    others = read_beside_levels(given, source, others)
    estimators_change(given)
    profile, settings = read_profile(given, for_node=node is not None)
    settings = replace(
        settings,
        weights=label_weights(weights, source.recording.task.labels),
        include_null=include_null,
    )
    engine, notes = _engine(node)
    notes += levels_notes(others)
    named = (source.truth, source.prediction, profile)
    if engine is None:
        outcome = Outcome(*named, assess(source.recording, settings, others), notes=notes)
    else:
        with engine:
            found = assess_on(source.recording, settings, profile, engine, others)
        outcome = Outcome(*named, *found, notes=notes)
    if svg is not None:
        save_picture(outcome, svg, _title(svg), brief=brief)
    if as_json:
        print(jsonreport.text(outcome))
    else:
        render(outcome, brief=brief)


def _title(svg: str) -> str:
    """The command line, without what asks for the picture itself."""
    words = [word for word in sys.argv[1:] if word not in ("--svg", svg, f"--svg={svg}")]
    return shorten(" ".join(["streamgauge", *words]), _TITLE, placeholder=" …")


def _engine(node: str | None) -> tuple[Engine | None, tuple[str, ...]]:
    """Return the engine asked for; with `auto`, None and why where there is none."""
    if node is None:
        return None, ()
    try:
        return get_engine(node), ()
    except EngineMissing as missing:
        if node != "auto":
            raise
        return None, (f"no node, so the host worked alone: {missing}",)

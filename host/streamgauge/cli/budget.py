"""`streamgauge budget`: what a memory profile takes, and what fits."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from streamgauge import budget as budgets
from streamgauge import budget_report
from streamgauge.budget_fit import Fit, fit, room_for_state
from streamgauge.engines import Engine, EngineMissing, get_engine
from streamgauge.profile import Profile, load_profile, profile_names
from streamgauge.report import show, terminal

from ._options import byte_count

_FOR_THE_PROGRAM = 8  # of a heap to be fitted, the part that is left unless said otherwise


@click.command(
    "budget",
    short_help="What a memory profile takes of a heap, predicted and measured; what fits.",
    epilog="""\b
Examples:
  streamgauge budget                        every profile in a line
  streamgauge budget sensor                 every part of one
  streamgauge budget sensor --labels 10 --json
  streamgauge budget sensor --fit 64k --leave 16k
  streamgauge budget mine.toml --node none  predicted alone""",
)
@click.argument("profile", required=False)
@click.option("--labels", type=int, metavar="N", help="Labels besides NULL (the most the profile takes).")
@click.option("--fit", "fit_into", metavar="BYTES", help="Find the largest windows and rings for this heap.")
@click.option("--leave", metavar="BYTES", help="With --fit: what your program shall have (an eighth).")
@click.option(
    "--node",
    metavar="arm|PORT|none",
    default="auto",
    help="What measures: arm where it is there, or a board's port.",
)
@click.option("--no-run", is_flag=True, help="Measure parts and code, but do not run the example.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")
@click.option("--markdown", is_flag=True, help="Print the page docs/budget.md.")
@click.option("--keys", is_flag=True, help="Print what may stand in a profile, the page docs/profiles.md.")
def command(**given: Any) -> int:
    """What a memory PROFILE takes: every part's bytes as its numbers predict, and as a node's heap shows.

    PROFILE is a name or a .toml file; without it all that come with streamgauge are listed. The exit code is
    1 where the built-in example does not run in a profile's heap.
    """
    if given["keys"]:
        print(budget_report.key_page(), end="")
        return 0
    names = [given["profile"]] if given["profile"] else profile_names()
    if given["fit_into"] and not given["profile"]:
        raise click.UsageError("--fit needs a profile to begin with", click.get_current_context())
    profiles = [load_profile(name) for name in names]
    engine = _engine(given["node"])
    labels, run = given["labels"], not given["no_run"]
    found = [_budget(profile, engine, labels, run and not given["fit_into"]) for profile in profiles]
    fitted = _fit(found[0], given) if given["fit_into"] else None
    _print(found, fitted, given)
    return int(any(budget.trouble for budget in found))


def _engine(node: str) -> Engine | None:
    if node == "none":
        return None
    try:
        return get_engine("arm" if node == "auto" else node)
    except EngineMissing as missing:
        if node != "auto":
            raise
        print(f"streamgauge: nothing is measured: {missing}", file=sys.stderr)
        return None


def _budget(profile: Profile, engine: Engine | None, labels: int | None, run: bool) -> budgets.Budget:
    if engine is None:
        return budgets.predict(profile, labels)
    return budgets.measure(profile, engine, labels, run=run)


def _fit(budget: budgets.Budget, given: dict[str, Any]) -> tuple[Fit, int]:
    heap = byte_count(given["fit_into"], "--fit")
    leave = byte_count(given["leave"], "--leave") if given["leave"] else heap // _FOR_THE_PROGRAM
    return fit(budget.profile, room_for_state(budget, heap, leave), given["labels"]), heap


def _print(found: list[budgets.Budget], fitted: tuple[Fit, int] | None, given: dict[str, Any]) -> None:
    if given["as_json"]:
        documents = [budget_report.document(budget, fitted[0] if fitted else None) for budget in found]
        print(json.dumps(documents[0] if given["profile"] else documents, indent=2))
    elif given["markdown"]:
        print(budget_report.markdown(found), end="")
    elif given["profile"]:
        show(budget_report.sections(found[0]), terminal())
        if fitted:
            show(budget_report.fitted(*fitted), terminal())
    else:
        show(budget_report.summary(found), terminal())

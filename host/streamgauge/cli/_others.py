"""Options of what comes beside truth and prediction, for the commands that assess."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import click

from streamgauge.errors import InputError
from streamgauge.extras.others import Others, read_others
from streamgauge.profile_keys import ESTIMATORS

from ._options import Source, _column

Command = TypeVar("Command", bound=Callable[..., Any])


def others_options(command: Command) -> Command:
    """Add the second recogniser, confidences, the holdout set and the choice of estimators."""
    for option in reversed(
        (
            click.option("--second", metavar="FILE", help="A second recogniser's PREDICTION, to compare."),
            click.option("--second-column", metavar="COLUMN", help="Its label column (--rate)."),
            click.option(
                "--confidence-column",
                metavar="COLUMN",
                help="How sure the prediction is, 0 to 1 or 0 to 255 (--rate).",
            ),
            click.option(
                "--holdout",
                metavar="FILE",
                help="A labelled set: a column of truth, then one of labels for each scoring, headed by the "
                "records of the stream before it.",
            ),
            click.option(
                "--estimators",
                metavar="all|A,B,...",
                help="What the node computes, instead of the profile's estimators.on.",
            ),
        )
    ):
        command = option(command)
    return command


def read_beside(given: dict[str, Any], source: Source) -> tuple[Source, Others]:
    """Take these options out of `given`; return the source, read again where needed, and what they name."""
    named = {name: given.pop(name) for name in ("second", "holdout")}
    columns = {name: given.pop(name) for name in ("second_column", "confidence_column")}
    if not any(value is not None for value in (*named.values(), *columns.values())):
        return source, Others()
    columns = {name: None if text is None else _column(text) for name, text in columns.items()}
    recording, others = read_others(source.truth, source.prediction, source.options, **named, **columns)
    return replace(source, recording=recording), others


def estimators_change(given: dict[str, Any]) -> None:
    """Turn `--estimators` into a change of the profile (`_options.read_profile` takes those)."""
    text = given.pop("estimators")
    if text is None:
        return
    names = list(ESTIMATORS) if text == "all" else [name.strip() for name in text.split(",")]
    wrong = next((name for name in names if name not in ESTIMATORS), None)
    if wrong is not None or len(set(names)) < len(names):
        what = f"names {wrong!r}" if wrong is not None else "names one twice"
        raise InputError(f"--estimators {what} (all, or some of {', '.join(ESTIMATORS)}, was expected)")
    quoted = ", ".join(f'"{name}"' for name in names)
    given["changes"] = (*given["changes"], f"estimators.on=[{quoted}]")

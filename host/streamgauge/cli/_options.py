"""Options that several commands share: which recording, how to read it, which memory profile, which node."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

import click

from streamgauge import example as examples
from streamgauge.assess import Settings
from streamgauge.errors import InputError
from streamgauge.files import ReadOptions, Recording, read_pair
from streamgauge.profile import Profile, load_profile, profile_names

Command = TypeVar("Command", bound=Callable[..., Any])

_SIZE = re.compile(r"(\d+)\s*(?:([kmg])(?:i?b)?|b)?", re.IGNORECASE)
_FACTORS = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


def recording_options(command: Command) -> Command:
    """Add the files, the examples, and how to read."""
    for option in reversed(
        (
            click.argument("truth", required=False),
            click.argument("prediction", required=False),
            click.option("--example", is_flag=True, help="Take the built-in example, four weeks of a home."),
            click.option("--table1", is_flag=True, help="Take the pair of the SLTSS paper's Table 1."),
            click.option("--tick", metavar="TIME", help="Length of a tick, such as 1s or 10ms."),
            click.option("--slice", metavar="TIME", help="Length of a slice: ticks, or with a unit, 60s."),
            click.option("--rate", metavar="HZ", help="The files hold one label a row, at so many a second."),
            click.option(
                "--time",
                type=click.Choice(["auto", "ticks", "seconds", "iso"]),
                help="What the times are; auto looks at them.",
            ),
            click.option("--closed", is_flag=True, help="Rows mean [start, end], as in the SLTSS paper."),
            click.option("--null", metavar="NAME", help="Name of the NULL label (NULL)."),
            click.option("--unknown", metavar="NAME", help="Name of truth that nobody knows (UNKNOWN)."),
            click.option(
                "--gaps",
                type=click.Choice(["null", "unknown"]),
                help="What the truth is where no row covers the time (null).",
            ),
            click.option(
                "--overlaps",
                type=click.Choice(["flatten", "keep", "refuse"]),
                help="Rows that overlap: the later start wins (flatten), partial overlaps are kept for the "
                "alignment, or they are refused.",
            ),
            click.option("--span", nargs=2, metavar="START END", help="Assess this time only."),
            click.option("--labels", metavar="A,B,...", help="The labels there may be, in this order."),
            click.option("--lenient", is_flag=True, help="Skip and count rows that cannot be used."),
            click.option("--sort", is_flag=True, help="Sort rows by start instead of refusing them."),
            click.option("--delimiter", metavar="SIGN", help='"," ";" tab or space; found by itself.'),
            click.option("--columns", metavar="A,B,C", help="Start, end and label column: names or numbers."),
            click.option("--truth-column", metavar="COLUMN", help="Label column of the truth (--rate)."),
            click.option("--prediction-column", metavar="COLUMN", help="Label column of the prediction."),
            click.option("--recording", metavar="NAME", help="The one recording to read of several."),
        )
    ):
        command = option(command)
    return command


def node_options(default: str | None, why: str) -> Callable[[Command], Command]:
    """Add the memory profile and the node."""

    def add(command: Command) -> Command:
        for option in reversed(
            (
                click.option("--node", metavar="x64|arm|auto|PORT", default=default, help=why),
                click.option(
                    "--profile",
                    "profile_name",
                    metavar="NAME|FILE",
                    default="sensor",
                    show_default=True,
                    help=f"Memory profile: {', '.join(profile_names())} or a file.",
                ),
                click.option("--heap", metavar="BYTES", help="Heap of the node, such as 64k."),
                click.option("--window", type=int, metavar="N", help="Records of the sliding window."),
                click.option("--alpha", type=float, help="Fading factor a record."),
                click.option("--delta", type=float, help="Probability that a bound fails."),
                click.option(
                    "--set",
                    "changes",
                    multiple=True,
                    metavar="KEY=VALUE",
                    help="Another value for a key of the profile, capacity.runs=128.",
                ),
            )
        ):
            command = option(command)
        return command

    return add


@dataclass(frozen=True)
class Source:
    """A recording, the names it was asked for by, and how it was read."""

    truth: str
    prediction: str
    recording: Recording
    options: ReadOptions


def read_source(given: dict[str, Any]) -> Source:
    """Take the options of `recording_options` out of `given`, and read what they name.

    Raises
    ------
    click.UsageError
        No recording, or more than one, is named.
    InputError
        It cannot be read.
    """
    truth, prediction = given.pop("truth"), given.pop("prediction")
    chosen = {name: given.pop(name) for name in ("example", "table1")}
    reading = {field.name: given.pop(field.name) for field in fields(ReadOptions) if field.name in given}
    if sum(chosen.values()) + (truth is not None) > 1:
        raise click.UsageError("give either two files, --example or --table1", click.get_current_context())
    if any(chosen.values()):
        truth_path, prediction_path, options = examples.table1() if chosen["table1"] else examples.builtin()
        truth, prediction = str(truth_path), str(prediction_path)
    elif prediction is not None:
        options = ReadOptions()
    else:
        raise click.UsageError(
            "the prediction is missing: give a truth and a prediction"
            if truth is not None
            else "there is nothing to assess: give a truth and a prediction, or try --example",
            click.get_current_context(),
        )
    options = replace(options, **_asked(reading))
    return Source(truth, prediction, read_pair(truth, prediction, options), options)


def _asked(reading: Mapping[str, Any]) -> dict[str, Any]:
    """Return the reading options that were given, as `ReadOptions` holds them."""
    asked = {name: value for name, value in reading.items() if value not in (None, False, ())}
    for name in ("labels", "columns"):
        if name in asked:
            asked[name] = tuple(part.strip() for part in asked[name].split(","))
    if "columns" in asked:
        asked["columns"] = tuple(map(_column, asked["columns"]))
    for name in ("truth_column", "prediction_column"):
        if name in asked:
            asked[name] = _column(asked[name])
    return asked


def _column(text: str) -> str | int:
    return int(text) if text.isdecimal() else text


def read_profile(given: dict[str, Any], *, for_node: bool) -> tuple[Profile, Settings]:
    """Take the options of `node_options` but the node out of `given`; return profile and settings.

    Without a node the window and alpha need not fit one.
    """
    profile = load_profile(given.pop("profile_name"))
    changes: dict[str, Any] = {}
    heap = given.pop("heap")
    if heap is not None:
        changes["heap.bytes"] = byte_count(heap)
    for change in given.pop("changes"):
        key, equals, value = change.partition("=")
        if not equals:
            raise InputError(f"--set {change} sets nothing (KEY=VALUE was expected)")
        changes[key.strip()] = _toml(value.strip())
    asked = {name: given.pop(name) for name in ("window", "alpha", "delta")}
    asked = {name: value for name, value in asked.items() if value is not None}
    if for_node:
        keys = {"window": "capacity.window", "alpha": "prequential.alpha", "delta": "prequential.delta"}
        changes.update((keys[name], value) for name, value in asked.items())
    profile = profile.with_values(changes) if changes else profile
    return profile, replace(Settings.of(profile), **asked)


def byte_count(text: str, option: str = "--heap") -> int:
    """Return a size such as `65536`, `64k` or `1M` in bytes."""
    match = _SIZE.fullmatch(text.strip())
    if not match:
        raise InputError(f"{option} is {text!r} (a number of bytes was expected, such as 65536 or 64k)")
    return int(match[1]) * _FACTORS.get((match[2] or "").lower(), 1)


def _toml(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def label_weights(text: str | None, names: tuple[str, ...]) -> tuple[float, ...] | None:
    """Return the weights that `A=2,B=0` gives; labels that are not named weigh 1."""
    if text is None:
        return None
    weights = dict.fromkeys(names, 1.0)
    for part in text.split(","):
        name, equals, value = part.rpartition("=")
        name = name.strip()
        try:
            weight = float(value)
        except ValueError:
            equals = ""
        if not equals:
            raise InputError(f"--weights holds {part!r} (LABEL=NUMBER was expected, such as {names[-1]}=2)")
        if name not in weights:
            raise InputError(f"--weights names {name!r} (one of {', '.join(names)} was expected)")
        weights[name] = weight
    return tuple(weights.values())

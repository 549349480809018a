"""Memory profiles: what a node has room for, and how profile and task become what the node loads.

A profile is a TOML file. `KEYS` (profile_keys.py) is the one list of what may stand in it: a new key is a new
line there, and the schema, the checks, the messages and the defaults follow from it.
"""

from __future__ import annotations

import difflib
import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from streamgauge.errors import InputError
from streamgauge.files import Recording
from streamgauge.profile_keys import ESTIMATORS, KEYS, REQUIRED, Key
from streamgauge.profile_options import check_together, group, options
from streamgauge.task import Task

__all__ = [
    "ESTIMATORS",
    "KEYS",
    "Key",
    "Profile",
    "check_node_range",
    "compile_config",
    "load_profile",
    "profile_names",
    "profile_schema",
]

# The node's time is modulo 2^30; a quarter of that keeps sums of two durations in 31 bits.
NODE_SEGMENT_TICKS = 2**28

_BY_PATH = {key.path: key for key in KEYS}


@dataclass(frozen=True)
class Profile:
    """A checked memory profile.

    Attributes
    ----------
    values : dict of str to object
        Every key of `KEYS` by its path, defaults filled in.
    source : str
        The file it came from.
    """

    values: Mapping[str, Any]
    source: str = ""

    def __getitem__(self, path: str) -> Any:
        return self.values[path]

    @property
    def name(self) -> str:
        """What reports call the profile."""
        return str(self.values["name"])

    @property
    def heap_bytes(self) -> int:
        """Heap the node program runs in."""
        return int(self.values["heap.bytes"])

    def with_values(self, changes: Mapping[str, Any]) -> Profile:
        """Return the profile with other values for some keys, checked like a file's."""
        values = _check(_nested({**self.values, **changes}), None, [])
        return replace(self, values=values)


def profile_names() -> list[str]:
    """Return the names of the profiles that come with streamgauge."""
    return sorted(path.stem for path in _folder().glob("*.toml"))


def load_profile(name_or_path: str | Path) -> Profile:
    """Read a memory profile.

    Parameters
    ----------
    name_or_path : str or Path
        One of `profile_names`, or a TOML file.

    Raises
    ------
    InputError
        No such profile, not TOML, or a key that is unknown, missing or impossible; the message names it.
    """
    text = str(name_or_path)
    path = Path(text)
    if path.suffix != ".toml" and "/" not in text:
        if text not in profile_names():
            known = profile_names()
            near = difflib.get_close_matches(text, known, 1)
            raise InputError(
                f"no memory profile is named {text!r} ({', '.join(known)} or a .toml file was expected)",
                remedy=f"Did you mean {near[0]}" if near else None,
            )
        path = _folder() / f"{text}.toml"
    try:
        lines = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise InputError(f"cannot be read ({reason})", file=path, remedy="Check the path") from None
    try:
        document = tomllib.loads(lines)
    except tomllib.TOMLDecodeError as error:
        at = re.search(r"line (\d+)", str(error))
        raise InputError(
            f"is not TOML, {str(error).split(' (')[0].lower()}", file=path, row=int(at[1]) if at else None
        ) from None
    return Profile(_check(document, str(path), lines.split("\n")), str(path))


def profile_schema() -> dict[str, Any]:
    """Return the JSON schema of a profile."""
    tables: dict[str, dict[str, Any]] = {"": _table()}
    for key in KEYS:
        table, _, name = key.path.rpartition(".")
        if table not in tables:
            tables[table] = tables[""]["properties"][table] = _table()
        tables[table]["properties"][name] = key.schema
        if key.default is REQUIRED:
            tables[table]["required"].append(name)
            if table and table not in tables[""]["required"]:
                tables[""]["required"].append(table)
    dialect = Draft202012Validator.META_SCHEMA["$id"]
    return {"$schema": dialect, "title": "streamgauge memory profile", **tables[""]}


def compile_config(
    profile: Profile, task: Task, *, overlap: bool = False, holdout: bytes | None = None
) -> dict[str, Any]:
    """Return what the node loads: whole numbers, texts and lists only, so that it survives JSON.

    Parameters
    ----------
    profile : Profile
    task : Task
    overlap : bool
        Segments of one side may partially overlap (segment-wise entries only).
    holdout : bytes, optional
        Labels of the holdout set, where the profile has holdout on.

    Raises
    ------
    InputError
        The task or the holdout set does not fit the profile or the node.
    """
    room = profile["capacity.labels"]
    if len(task.labels) - 1 > room:
        raise InputError(
            f"the task has {len(task.labels) - 1} labels besides {task.labels[0]} (at most {room} fit the "
            f"profile {profile.name}, and 31 any node)",
            remedy="Merge labels" if room == 31 else "Raise its capacity.labels, or merge labels",
        )
    if task.slice_ticks >= NODE_SEGMENT_TICKS:
        raise InputError(
            f"a slice lasts {task.slice_ticks} ticks (less than 2^28 were expected on a node)",
            remedy="Choose a shorter --slice or a longer --tick",
        )
    config: dict[str, Any] = {
        "version": 1,
        "labels": list(task.labels),
        "tick_us": _microseconds(task.tick_seconds),
        "slice": task.slice_ticks,
        "closed": int(task.closed),
        "overlap": int(overlap),
        "gaps_unknown": int(task.gaps_unknown),
    }
    config.update((key.config, key.encode(profile[key.path])) for key in KEYS if key.config)
    config["group"] = group(profile.values)
    further = options(profile.values, task, holdout)
    if further:
        config["options"] = further
    if profile["estimators.restart"]:
        config["restart"] = list(profile["estimators.restart"])
    return config


def check_node_range(recording: Recording) -> None:
    """Raise InputError for a recording whose segments are too long for the node's 30-bit time."""
    sides = (("truth", recording.truth_raw), ("prediction", recording.prediction_raw))
    for what, segments in sides:
        length = segments.end - segments.start
        if len(length) and int(length.max()) >= NODE_SEGMENT_TICKS:
            longest = int(np.argmax(length))
            raise InputError(
                f"a segment of the {what} lasts {int(length[longest])} ticks, from tick "
                f"{int(segments.start[longest])} on (less than 2^28 were expected on a node)",
                remedy="Choose a longer --tick, or assess it without --node",
            )


def _folder() -> Path:
    """Return where the profiles are: inside the installed package, or beside the sources."""
    installed = Path(__file__).with_name("_profiles")
    return installed if installed.is_dir() else Path(__file__).parents[2] / "memory_profiles"


def _table() -> dict[str, Any]:
    return {"type": "object", "properties": {}, "required": [], "additionalProperties": False}


def _nested(values: Mapping[str, Any]) -> dict[str, Any]:
    document: dict[str, Any] = {}
    for path, value in values.items():
        table, _, name = path.rpartition(".")
        (document.setdefault(table, {}) if table else document)[name] = value
    return document


def _check(document: dict[str, Any], file: str | None, lines: list[str]) -> dict[str, Any]:
    """Return the values of a profile by path, or raise InputError for the first key that is wrong."""
    errors = list(Draft202012Validator(profile_schema()).iter_errors(document))
    if errors:  # an unknown key first: it may be why another one is missing
        first = min(errors, key=lambda error: error.validator != "additionalProperties")
        raise _explain(first, document, file, lines)
    values = {}
    for key in KEYS:
        found: Any = document
        for name in key.path.split("."):
            found = found.get(name, key.default) if isinstance(found, dict) else found
        # What a JSON schema lets pass: 64.0 is an integer to it, and nan is within all limits.
        if isinstance(found, float) and (key.schema["type"] == "integer" or not math.isfinite(found)):
            raise InputError(
                f"{key.path} is {found} ({_expected(key.path)})", file=file, row=_row(lines, key.path)
            )
        values[key.path] = found
    wrong = check_together(values)
    if wrong:
        path, expected = wrong
        raise InputError(f"{path} is {values[path]} ({expected})", file=file, row=_row(lines, path))
    return values


def _explain(
    error: ValidationError, document: dict[str, Any], file: str | None, lines: list[str]
) -> InputError:
    place = [part for part in error.absolute_path if isinstance(part, str)]  # without places inside a list
    here: Any = document
    for part in place:
        here = here[part]
    schema: Any = error.schema
    if error.validator == "additionalProperties":
        extra = next(name for name in here if name not in schema["properties"])
        path = ".".join([*place, extra])
        known = [*_BY_PATH, *{key.path.partition(".")[0] for key in KEYS}]
        near = difflib.get_close_matches(path, known, 1) or difflib.get_close_matches(extra, known, 1, 0.4)
        return InputError(
            f"{path} is no key of a memory profile",
            file=file,
            row=_row(lines, path),
            remedy=f"Did you mean {near[0]}" if near else f"Known keys are {', '.join(_BY_PATH)}",
        )
    if error.validator == "required":
        missing = next(name for name in schema["required"] if name not in here)
        path = ".".join([*place, missing])
        return InputError(f"{path} is missing ({_expected(path)})", file=file)
    path = ".".join(place)
    return InputError(f"{path} is {here!r} ({_expected(path)})", file=file, row=_row(lines, path))


def expected_value(schema: Mapping[str, Any]) -> str:
    """Say in words what a key may be."""
    if schema["type"] == "array":
        return f"a list of {', '.join(schema['items']['enum'])}, each once"
    if schema["type"] == "string":
        choices = schema.get("enum")
        return f"{', '.join(choices[:-1])} or {choices[-1]}" if choices else "a text"
    what = "a number"
    if schema["type"] == "integer":
        what = "a power of two" if "enum" in schema else "a whole number"
    return f"{what} from {schema['minimum']} to {schema['maximum']}"


def _expected(path: str) -> str:
    if path not in _BY_PATH:
        return f"a table [{path}] was expected"
    schema = _BY_PATH[path].schema
    comma = "," if schema["type"] == "array" else ""
    return f"{expected_value(schema)}{comma} was expected"


def _row(lines: list[str], path: str) -> int | None:
    """Return the line a key or table stands on, as far as a look at the text can tell."""
    table, _, name = path.rpartition(".")
    inside = ""
    for number, line in enumerate(lines, 1):
        header = re.match(r"\s*\[([^\]]+)\]", line)
        if header:
            inside = header[1].strip()
            if inside == path:
                return number
        elif inside == table and re.match(rf"\s*{re.escape(name)}\s*=", line):
            return number
    return None


def _microseconds(tick_seconds: float | None) -> int:
    """Return the tick in whole microseconds; 0 where it has no known length or is no whole number of them."""
    if tick_seconds is None:
        return 0
    whole = round(tick_seconds * 1e6)
    return whole if whole and abs(tick_seconds * 1e6 - whole) < 1e-6 * whole else 0

"""Label names and their ids."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from streamgauge.errors import InputError
from streamgauge.reading.options import Judge
from streamgauge.segments import NULL, UNKNOWN

MOST = 254  # ids are one byte: 0 is NULL and 255 UNKNOWN


def natural_key(name: str) -> list[tuple[int, int, str]]:
    """Sort key by which ``label 9`` comes before ``label 10``."""
    parts = re.split(r"([0-9]+)", name)
    return [
        (0, int(part), part) if part.isascii() and part.isdigit() else (1, 0, part) for part in parts if part
    ]


def label_names(
    given: Sequence[str] | None,
    null: str,
    unknown: str,
    files: Iterable[tuple[str, Sequence[str], Sequence[int]]],
) -> tuple[str, ...]:
    """Return the task's label names, NULL first.

    Parameters
    ----------
    given : sequence of str or None
        The task's labels, if the user names them; NULL may be among them.
    null, unknown : str
        See `ReadOptions`.
    files : iterable of (file, labels, lines)
        Every label of each file with its line, stripped.

    Raises
    ------
    InputError
        More labels than ids, or a name given twice.
    """
    if given is not None:
        names = [name.strip() for name in given]
        twice = next((name for i, name in enumerate(names) if name in names[:i]), None)
        if twice is not None or unknown in names:
            what = f"{twice!r} is given twice" if twice is not None else f"{unknown!r} is UNKNOWN, no label"
            raise InputError(f"labels: {what} (each label once was expected)", remedy="Correct --labels")
        names = [name for name in names if name != null]
        if len(names) > MOST:
            raise InputError(f"{len(names)} labels are given (at most {MOST} were expected)")
        return (null, *names)
    listed = list(files)
    seen = {name: None for _, labels, _ in listed for name in labels if name not in ("", null, unknown)}
    if len(seen) > MOST:
        extra = list(seen)[MOST]
        file, labels, lines = next(entry for entry in listed if extra in entry[1])
        raise InputError(
            f"label {extra!r} is one too many of {len(seen)} (an id is one byte: at most {MOST})",
            file=file,
            row=lines[list(labels).index(extra)],
            remedy="Check which column holds the labels, or merge rare ones",
        )
    return (null, *sorted(seen, key=natural_key))


def label_ids(names: Sequence[str], unknown: str, *, empty_is_null: bool) -> dict[str, int]:
    """Return the id of each name as files write it."""
    ids = {name: i for i, name in enumerate(names)}
    ids[unknown] = UNKNOWN
    if empty_is_null:
        ids[""] = NULL
    return ids


def suspicious(names: Sequence[str], null: str, unknown: str) -> list[str]:
    """Return a warning for each label that differs from NULL or UNKNOWN in its case alone."""
    found = []
    for special, option in ((null, "--null"), (unknown, "--unknown")):
        found += [
            f"{name!r} is taken as a label like any other; if it means {special}, give {option} {name}"
            for name in names[1:]
            if name.lower() == special.lower() and name != special
        ]
    return found


def reject_foreign(judge: Judge, row: int, name: str, names: Sequence[str]) -> None:
    """Reject a row whose label is not in the task."""
    known = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
    judge.reject(
        row,
        f"label {name!r} is not in the task (one of {known} was expected)",
        "Correct it, or add it to --labels",
    )


def reject_unknown(judge: Judge, row: int, name: str, names: Sequence[str]) -> None:
    """Reject a row that predicts UNKNOWN."""
    judge.reject(
        row,
        f"predicts {name!r}, which only a truth can be (a label or {names[0]!r} was expected)",
        "Name what was predicted, or rename UNKNOWN with --unknown",
    )

"""Brings a plan onto the board and proves that it is there."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import partial

from ..errors import InputError
from .link import Link
from .plan import Plan

_MAKE = """
import os
try:
    os.mkdir({!r})
except OSError as _e:
    if _e.errno != 17:
        raise
"""
_TRIES = 2


def carry_out(link: Link, plan: Plan, progress: Callable[[str, int], None]) -> None:
    """Remove, write and verify.

    Parameters
    ----------
    progress : is told the path and how many more of its bytes are through; a file that has to be written
        again takes back what it had counted.

    Raises
    ------
    InputError
        A file on the board differs from what was sent, twice; or the link broke.
    """
    for path in plan.remove:
        link.run(f"import os\nos.remove({path!r})")
    if plan.write:
        for folder in plan.folders:
            if folder not in ("", "/"):
                link.run(_MAKE.format(folder))
    for path, content in plan.write.items():
        wanted = hashlib.sha256(content).hexdigest()
        for attempt in range(1, _TRIES + 1):
            link.write(path, content, partial(progress, path), plan.board.heap_free)
            if link.digest(path) == wanted:
                break
            if attempt == _TRIES:
                raise InputError(
                    f"{path} differs from what was sent, {_TRIES} times in a row",
                    file=plan.board.port,
                    remedy="The board's file system or the cable is faulty; try another cable, or format it",
                )
            progress(path, -len(content))

"""Bytes of a port, or of a file recorded earlier, become reports in a history."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from ..errors import InputError
from ..wire.line import LineCutter, unseal
from ..wire.report import Newer, parse_report
from .history import History

# A recorded line is the node's own behind the time of its arrival; a bare capture of a port is read as well.
_STAMPED = re.compile(rb"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) (.*)")


class Listener:
    """Feeds a history from a stream of bytes.

    Attributes
    ----------
    history : History
    newer : str
        What to tell the user when the node speaks a later version; empty otherwise.
    """

    def __init__(self, history: History, record: TextIO | None = None) -> None:
        self.history = history
        self.newer = ""
        self._record = record
        self._cutter = LineCutter()

    def feed(self, received: bytes, at: float | None = None) -> int:
        """Take bytes that arrived at `at` (now, if not given); return how many reports they completed."""
        at = time.time() if at is None else at
        dropped = self._cutter.dropped
        taken = sum(self.line(line, at) for line in self._cutter.feed(received))
        self.history.other += self._cutter.dropped - dropped
        return taken

    def line(self, line: bytes, at: float) -> bool:
        """Take one line; whether it was a report."""
        try:
            report = parse_report(line)
        except Newer as newer:
            self.newer = str(newer)
            report = None
        if report is None:
            if re.match(rb"SG\d+ ", line) and unseal(line) is None:
                self.history.damaged += 1
            elif line:
                self.history.other += 1
            return False
        self.history.take(report, at)
        if self._record is not None:
            self._record.write(f"{stamp(at)} {line.decode('ascii')}\n")
            # At once: a recording is read when something went wrong.
            self._record.flush()
        return True


def stamp(at: float) -> str:
    """Return a time as recorded lines carry it."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def read_recording(path: str | Path) -> tuple[History, bool]:
    """Read a file of recorded lines, or of bytes captured from a port.

    Returns
    -------
    history : History
    timed : bool
        The lines carry the time of their arrival; otherwise line numbers stand for it.

    Raises
    ------
    InputError
        The file cannot be read, or holds no report line.
    """
    history = History()
    listener = Listener(history)
    cutter = LineCutter(longest=2048)
    timed = False
    number = 0
    try:
        with open(path, "rb") as file:
            # A last line without an end was cut off in the middle of being written.
            while chunk := file.read(1 << 20):
                for line in cutter.feed(chunk):
                    number += 1
                    at, said = _unstamp(line)
                    timed = timed or at is not None
                    listener.line(said, float(number) if at is None else at)
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", file=path, remedy="Check the path") from None
    if listener.newer:
        raise InputError(listener.newer, file=path, remedy="Update streamgauge")
    if history.last is None:
        raise InputError(
            "holds no report line (lines that begin with SG1 were expected)",
            file=path,
            remedy="Record one with: streamgauge monitor PORT --record FILE",
        )
    return history, timed


def _unstamp(line: bytes) -> tuple[float | None, bytes]:
    """Return the time in front of a recorded line, if there is one, and the rest."""
    stamped = _STAMPED.fullmatch(line)
    if stamped is None:
        return None, line
    try:
        return datetime.fromisoformat(stamped[1].decode("ascii")).timestamp(), stamped[2]
    except (ValueError, OverflowError):
        return None, line

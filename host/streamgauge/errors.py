"""The one exception that means: what was given cannot be used, and here is what to do about it."""

from __future__ import annotations

import os


class InputError(Exception):
    """Input that cannot be assessed: a file, a row, an option or a profile.

    ``str()`` reads ``FILE, row N: what is wrong (what was expected). Remedy.`` The command line prints it
    after ``streamgauge: error:`` and exits with 2.

    Parameters
    ----------
    message : str
        What is wrong and, in parentheses, what was expected; no full stop at the end.
    file : str or path-like, optional
        The file as the user named it.
    row : int, optional
        Line of the file, counted from 1 as editors do.
    remedy : str, optional
        What the user can do, as a sentence without its full stop.
    """

    def __init__(
        self,
        message: str,
        *,
        file: str | os.PathLike[str] | None = None,
        row: int | None = None,
        remedy: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.file = None if file is None else os.fspath(file)
        self.row = row
        self.remedy = remedy

    def __str__(self) -> str:
        where = [] if self.file is None else [self.file]
        if self.row is not None:
            where.append(f"row {self.row}")
        text = ", ".join(where) + ": " if where else ""
        text += self.message.rstrip(".") + "."
        if self.remedy:
            text += f" {self.remedy.rstrip('.')}."
        return text

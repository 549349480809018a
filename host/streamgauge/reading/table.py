"""From a file's bytes to rows of cells that know their line."""

from __future__ import annotations

import csv
import gzip
import os
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from streamgauge.errors import InputError
from streamgauge.reading.times import is_time

_DELIMITERS = {",": ",", ";": ";", "tab": "\t", "\t": "\t", "space": " ", " ": " "}
_IDLE_STARTS = {"", "#", ";", " ", "\t", "\v", "\f"}  # of lines that may be blank or a comment


@dataclass(frozen=True)
class Table:
    """The rows of a file.

    Attributes
    ----------
    file : str
        The file as the user named it.
    rows : list of list of str
        Cells, not yet stripped.
    lines : sequence of int
        The line each row begins on, from 1.
    """

    file: str
    rows: list[list[str]]
    lines: Sequence[int]

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, index: Sequence[int]) -> Table:
        """Return the table with only the rows at `index`."""
        return Table(self.file, [self.rows[i] for i in index], [self.lines[i] for i in index])


def read_table(
    path: str | os.PathLike[str], delimiter: str | None = None, *, one_a_row: bool = False
) -> Table:
    """Read a delimited text file, gzipped or not.

    Parameters
    ----------
    path : str or path-like
    delimiter : str, optional
        See `ReadOptions.delimiter`.
    one_a_row : bool
        Every line is a moment of time: an empty line is a row with one empty cell, lines are not split at
        blanks, and only comments before the first row are dropped.

    Raises
    ------
    InputError
        Missing, a directory, unreadable, binary, not UTF-8, or with an unclosed quote.
    """
    lines = read_text(path).split("\n")
    if lines[-1] == "":
        lines.pop()
    before = 0
    if one_a_row:
        before = next((i for i, line in enumerate(lines) if not line.startswith("#")), len(lines))
        lines = lines[before:]
        mark = _chosen(delimiter) or next((mark for mark in "\t,;" if mark in "".join(lines[:1])), "\n")
    else:
        mark = _chosen(delimiter) or _sniff(next((line for line in lines if not _idle(line)), ""))
    table = _split(os.fspath(path), lines, mark, before)
    if one_a_row or {line[:1] for line in lines}.isdisjoint(_IDLE_STARTS):
        return table
    return table.take([i for i, line in enumerate(table.lines) if not _idle(lines[line - 1])])


def read_text(path: str | os.PathLike[str]) -> str:
    """Return the text of a UTF-8 (or marked UTF-16) file with ``\\n`` line ends, unpacked if gzipped."""
    file = os.fspath(path)
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        raise InputError("does not exist (a file was expected)", file=file, remedy="Check the path") from None
    except IsADirectoryError:
        raise InputError(
            "is a directory (a file was expected)", file=file, remedy="Name a file in it"
        ) from None
    except OSError as error:
        raise InputError(
            f"cannot be read ({error.strerror})", file=file, remedy="Check its permissions"
        ) from None
    if data[:2] == b"\x1f\x8b":
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error):
            raise InputError(
                "is a damaged gzip file", file=file, remedy="Copy or download it again"
            ) from None
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        encoding = "utf-16"
    elif b"\0" in data:
        raise InputError(
            "is not a text file, it holds zero bytes (CSV, TSV or the like was expected)",
            file=file,
            remedy="Export it as CSV",
        )
    else:
        encoding = "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise InputError(
            f"byte 0x{data[error.start]:02x} is not text (UTF-8 was expected)",
            file=file,
            row=data.count(b"\n", 0, error.start) + 1,
            remedy="Save the file as UTF-8",
        ) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _split(file: str, lines: list[str], mark: str, before: int) -> Table:
    """Split lines, of which the file has `before` more above them, into cells."""
    if mark == " ":
        rows = [_words(line) for line in lines]
    elif any('"' in line for line in lines):
        return _quoted(file, lines, mark, before)
    else:
        rows = [line.split(mark) for line in lines]
    return Table(file, rows, range(before + 1, before + len(rows) + 1))


def _quoted(file: str, lines: list[str], mark: str, before: int) -> Table:
    """Read with the csv module: quoted cells may hold delimiters and line ends."""
    if mark == "\n":
        mark = "\t"  # a column of its own; the module wants a mark all the same
    reader = csv.reader((line + "\n" for line in lines), delimiter=mark, strict=True)
    rows, numbers, line = [], [], 0
    try:
        for row in reader:
            rows.append(row or [""])
            numbers.append(before + line + 1)
            line = reader.line_num
    except csv.Error as error:
        raise InputError(
            f"cannot be split into columns ({error})",
            file=file,
            row=before + line + 1,
            remedy="Close or remove its quotes",
        ) from None
    return Table(file, rows, numbers)


def _idle(line: str) -> bool:
    """Whether a line of a segment file is blank or a comment (``#`` as in .lab files, ``;`` as in RTTM)."""
    return not line or line[0] in "#;" or line.isspace()


def _chosen(delimiter: str | None) -> str | None:
    if delimiter is None:
        return None
    if delimiter not in _DELIMITERS:
        raise InputError(f"delimiter is {delimiter!r} (expected comma, semicolon, tab or space)")
    return _DELIMITERS[delimiter]


def _sniff(line: str) -> str:
    if "\t" in line:
        return "\t"
    words = _words(line)
    if len(words) > 2 and is_time(words[0]) and is_time(words[1]):
        return " "  # a comma may then be part of a label
    return next((mark for mark in ",;" if mark in line), " ")


def _words(line: str) -> list[str]:
    """Split at blanks, but not between a date and its time, nor inside the label behind two times or one."""
    words = line.split()
    cells: list[str] = []
    while words and len(cells) < 2:
        stamp = " ".join(words[:2])
        taken = 2 if len(words) > 1 and ":" in words[1] and is_time(stamp) else 1
        if not is_time(stamp if taken == 2 else words[0]):
            break
        cells.append(" ".join(words[:taken]))
        words = words[taken:]
    if not cells:
        return words or [""]
    return [*cells, " ".join(words)] if words else cells

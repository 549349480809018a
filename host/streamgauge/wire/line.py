"""Lines with a checksum: ``...everything before *XXXXXXXX``, the CRC-32 of every byte before the star."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from urllib.parse import unquote_to_bytes

# Longest line either side sends, and as much again: what is longer without an end is no line.
LONGEST = 1024
_SAFE = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.+/()")
_ESCAPED = re.compile(rb"(?:[A-Za-z0-9\-_.+/()]|%[0-9A-F]{2})+")


def seal(body: str) -> bytes:
    """Return the line for `body`, which ends with a space: the checksum and the line's end added."""
    data = body.encode("ascii")
    return b"%s*%08X\n" % (data, zlib.crc32(data))


def unseal(line: bytes) -> str | None:
    """Return what a line says, up to the star; None where its checksum does not fit."""
    line = line.removesuffix(b"\n").removesuffix(b"\r")
    body, star, digits = line.rpartition(b"*")
    if not star or not body.endswith(b" ") or b"*" in body:
        return None
    if not re.fullmatch(rb"[ -~]*", body) or digits != b"%08X" % zlib.crc32(body):
        return None
    return body.decode("ascii")


def encode_name(name: str) -> str:
    """Return a label's name as it stands in a line, with ``%XX`` for what could be mistaken."""
    return "".join(chr(byte) if byte in _SAFE else f"%{byte:02X}" for byte in name.encode())


def decode_name(text: str) -> str | None:
    """Return the name that `encode_name` made `text` of; None for what it never makes."""
    data = text.encode("ascii", "replace")
    if not _ESCAPED.fullmatch(data):
        return None
    try:
        name = unquote_to_bytes(text).decode()
    except UnicodeDecodeError:
        return None
    return name if encode_name(name) == text else None


class LineCutter:
    """Cuts a stream of bytes into lines; never holds more than one line's length.

    Attributes
    ----------
    dropped : int
        Stretches without a line's end that were too long to be one.
    """

    def __init__(self, longest: int = LONGEST) -> None:
        self.dropped = 0
        self._longest = longest
        self._held = bytearray()
        self._skipping = False

    def feed(self, received: bytes) -> Iterator[bytes]:
        """Yield the lines that `received` completes, without their ends."""
        *complete, rest = received.split(b"\n")
        for part in complete:
            line = bytes(self._held + part)
            self._held.clear()
            if self._skipping or len(line) > self._longest + 1:
                self.dropped += not self._skipping
                self._skipping = False
            else:
                yield line.removesuffix(b"\r")
        if not self._skipping:
            self._held += rest
            if len(self._held) > self._longest + 1:
                self._held.clear()
                self._skipping = True
                self.dropped += 1

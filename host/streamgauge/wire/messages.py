"""Truth on its way to a node, and what the node answers."""

from __future__ import annotations

import hashlib
import hmac
import re
from dataclasses import dataclass
from enum import IntEnum

from .line import encode_name, seal, unseal

TIME = 1 << 30  # ticks, sequence numbers and epochs are below it
LONGEST_MESSAGE = 160
UNKNOWN_ID, NULL_ID = 255, 0


class Code(IntEnum):
    """What a node made of a message."""

    ACCEPTED = 0
    DUPLICATE = 1
    CHECKSUM = 2
    UNREADABLE = 3
    LABEL = 4
    RANGE = 5
    LATE = 6
    KEY = 7
    EPOCH = 8
    AHEAD = 9
    VERSION = 10
    OVERLAP = 11


class TooLong(ValueError):
    """A message that no node would take whole."""


MEANING = {
    Code.ACCEPTED: "accepted",
    Code.DUPLICATE: "a message with this number was taken before; nothing changed",
    Code.CHECKSUM: "the line arrived damaged",
    Code.UNREADABLE: "the node cannot read the message",
    Code.LABEL: "the node has no such label",
    Code.RANGE: "the label ends before it starts, or lasts longer than 2^28 ticks",
    Code.LATE: "too late: that time has its truth already, or was given up",
    Code.KEY: "the node wants labels signed with its key",
    Code.EPOCH: "the node restarted and counts time anew",
    Code.AHEAD: "too far ahead of what the node has joined (2^28 ticks at most)",
    Code.VERSION: "the node is older and does not know this version of the protocol",
    Code.OVERLAP: "it overlaps a label that waits for its turn",
}


@dataclass(frozen=True)
class Answer:
    """A node's answer.

    Attributes
    ----------
    sequence : int
        Of the message answered; the nonce of a query; 0 where the node could not read it.
    code : Code or int
        An int for a code of a later version.
    last : int
        Greatest sequence number accepted so far.
    epoch : int
        The recording the node's times belong to.
    joined, truth, now : int
        Ticks: everything before is joined; truth is told up to; predictions are known up to.
    waiting : int
        Labels that wait for one before them.
    """

    sequence: int
    code: int
    last: int
    epoch: int
    joined: int
    truth: int
    now: int
    waiting: int

    @property
    def meaning(self) -> str:
        """The code in words."""
        try:
            return MEANING[Code(self.code)]
        except ValueError:
            return f"the node said code {self.code}, which this version does not know"


def query(nonce: int) -> bytes:
    """Return the line that asks how far a node is."""
    return seal(f"SGQ1 {nonce} ")


def label_line(
    epoch: int, sequence: int, label: str | int, start: int, end: int, key: bytes | None = None
) -> bytes:
    """Return the line that tells a node the truth of ``[start, end)``, modulo 2^30.

    Parameters
    ----------
    label : a name, or a label's id: 0 is NULL, 255 UNKNOWN.
    key : the node's key, for a node that has one.

    Raises
    ------
    TooLong
        The line is longer than a node takes.
    """
    text = f"#{label}" if isinstance(label, int) else encode_name(label)
    return _signed(f"SGL1 {epoch} {sequence} {text} {start % TIME} {end % TIME} ", key)


def flush_line(epoch: int, sequence: int, upto: int, key: bytes | None = None) -> bytes:
    """Return the line that says that all truth before `upto` is told."""
    return _signed(f"SGF1 {epoch} {sequence} {upto % TIME} ", key)


def _signed(fields: str, key: bytes | None) -> bytes:
    mac = "-"
    if key is not None:
        mac = hmac.new(key, fields.encode("ascii"), hashlib.sha256).digest()[:16].hex()
    line = seal(f"{fields}{mac} ")
    if len(line) > LONGEST_MESSAGE:
        raise TooLong(f"a message of {len(line)} bytes; a node takes {LONGEST_MESSAGE}")
    return line


def parse_answer(line: bytes) -> Answer | None:
    """Return a node's answer; None for any other line."""
    body = unseal(line)
    if body is None or not body.startswith("SGA1 "):
        return None
    words = body.split(" ")[1:-1]
    if len(words) < 8 or not all(re.fullmatch(r"\d{1,10}", word) for word in words[:8]):
        return None
    numbers = [int(word) for word in words[:8]]
    return Answer(*numbers)

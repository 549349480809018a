"""A node's life without a board: a small node, messages for it, and a flash whose power can be cut."""

from __future__ import annotations

import hashlib
import hmac
import io
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from streamgauge import firmware

gauge = firmware.node_model()

EPOCH = 60  # word of the join that holds the recording's number


def config(**more: Any) -> dict[str, Any]:
    """A node's configuration with every estimator that every profile has, and small rings."""
    found = {
        "version": 1,
        "labels": ["NULL", "walk", "kitchen", "c, d é"],
        "tick_us": 1000,
        "slice": 10,
        "closed": 0,
        "overlap": 0,
        "gaps_unknown": 1,
        "runs": 16,
        "pending": 16,
        "window": 100,
        "alpha_q30": 1073742,
        "loss_max": 0,
        "delta_ppm": 50000,
        "state_bytes": 0,
        "estimators": ["align", "slices", "prequential"],
        "options": {},
        "save_s": 3600,
    }
    return {**found, **more}


def sealed(body: str) -> bytes:
    """A line with its checksum; the blank before the star is added."""
    data = f"{body} ".encode()
    return b"%s*%08X\n" % (data, zlib.crc32(data))


def signed(body: str, key: bytes) -> bytes:
    """A message with its tag and checksum."""
    tag = hmac.new(key, f"{body} ".encode(), hashlib.sha256).hexdigest()[:32]
    return sealed(f"{body} {tag}")


@dataclass(frozen=True)
class Answer:
    """What a node says to a message; `more` are fields of later versions."""

    number: int
    code: int
    last: int
    epoch: int
    position: int
    truth: int
    now: int
    waiting: int


def answers(said: bytes) -> list[Answer]:
    """The answers in what a node wrote; every line must be one, and whole."""
    found = []
    for line in said.splitlines():
        body, digits = line.rsplit(b"*", 1)
        assert digits == b"%08X" % zlib.crc32(body), line
        kind, *fields = body.decode("ascii").rstrip(" ").split(" ")
        assert kind == "SGA1" and body.endswith(b" "), line
        found.append(Answer(*map(int, fields)))
    return found


class Wire:
    """A node with labels, spoken to over its line."""

    def __init__(self, node: Any, key: bytes | None = None) -> None:
        from gauge.labels import Labels

        self.node = node
        self.labels = Labels(node, key)
        self.key = key
        self.number = 0

    def send(self, data: bytes) -> list[Answer]:
        """The answers to these bytes."""
        out = io.BytesIO()
        for byte in data:
            self.labels.byte(byte, out)
        return answers(out.getvalue())

    @property
    def epoch(self) -> int:
        """The recording's number."""
        return int(self.node._join[EPOCH])

    def tell(self, label: str, start: int, end: int) -> Answer:
        """A label message with the next sequence number."""
        return self._numbered(f"SGL1 {self.epoch} {{}} {label} {start} {end}")

    def complete(self, until: int) -> Answer:
        """The message that all truth before `until` is told."""
        return self._numbered(f"SGF1 {self.epoch} {{}} {until}")

    def _numbered(self, body: str) -> Answer:
        self.number += 1
        body = body.format(self.number)
        (answer,) = self.send(signed(body, self.key) if self.key else sealed(f"{body} -"))
        return answer


class PowerCut(BaseException):
    """The power is gone; nothing catches it."""


@dataclass
class Flash:
    """A file system that remembers what was done to it.

    files: what is on it. log: what was done, in order. room: bytes that may still be written, None for
    no limit. renames: False where it cannot rename.
    """

    files: dict[str, bytes] = field(default_factory=dict)
    log: list[tuple[Any, ...]] = field(default_factory=list)
    room: int | None = None
    renames: bool = True

    def open(self, name: str, mode: str) -> Any:
        if mode == "rb":
            if name not in self.files:
                raise OSError(2, name)
            return io.BytesIO(self.files[name])
        self.files[name] = b""
        self.log.append(("open", name))
        return _File(self, name)

    def sync(self, file: Any) -> None:
        self.log.append(("sync", file.name))

    def rename(self, old: str, new: str) -> None:
        if not self.renames:
            raise OSError(1, "no rename here")
        self.log.append(("rename", old, new))
        self.files[new] = self.files.pop(old)

    def remove(self, name: str) -> None:
        if name not in self.files:
            raise OSError(2, name)
        self.log.append(("remove", name))
        del self.files[name]


class _File:
    def __init__(self, flash: Flash, name: str) -> None:
        self._flash, self.name = flash, name

    def write(self, data: Any) -> int:
        flash, data = self._flash, bytes(data)
        if flash.room is not None:
            fits = data[: flash.room]
            flash.room -= len(fits)
            if len(fits) < len(data):
                flash.files[self.name] += fits
                raise OSError(28, "no space left")
        flash.files[self.name] += data
        flash.log.append(("write", self.name, data))
        return len(data)

    def close(self) -> None:
        self._flash.log.append(("sync", self.name))


def cuts(before: dict[str, bytes], log: list[tuple[Any, ...]]) -> Iterator[dict[str, bytes]]:
    """What may be on the flash when the power goes, at every byte and at every operation of `log`.

    What was not synced yet may be there as far as it was written (FAT), be there in length but not in
    content (a size written before the data), or not be there at all (littlefs, where a file changes when it
    is synced). A rename is whole, or (FAT) has removed the old file and not yet named the new one.
    """
    synced = dict(before)
    pending: dict[str, bytes] = {}

    for step in log:
        kind, name = step[0], step[1]
        if kind == "open":
            pending[name] = b""
            yield dict(synced)
            yield {**synced, name: b""}
        elif kind == "write":
            for byte in step[2]:
                pending[name] += bytes([byte])
                yield {**synced, name: pending[name]}
                yield {**synced, name: b"\xff" * len(pending[name])}
        elif kind == "sync":
            if name in pending:
                synced[name] = pending.pop(name)
            yield dict(synced)
        elif kind == "remove":
            synced.pop(name, None)
            yield dict(synced)
        else:
            without = {key: data for key, data in synced.items() if key != step[2]}
            yield without
            synced = {**without, step[2]: without[name]}
            yield dict(synced)
            synced.pop(name)
            yield dict(synced)

"""A snapshot file, byte by byte.

All numbers are little-endian: magic ``SGSN``, major and minor version, length H of what stands before the
payload, layout hash, sequence number, length P of the payload, present tick, boots, epoch, length T of a JSON
text and the text, padding up to H; then the arrays; then a CRC-32 of everything before it.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InputError

MAGIC = b"SGSN"
MAJOR = 1
_FIXED = struct.Struct("<4sBBHIIIIIII")
_NOTHING_HEARD = 0xFFFFFFFF


@dataclass(frozen=True)
class Part:
    """One array: `kind` is ``"i"`` for int32 words or ``"b"`` for bytes, `count` its elements."""

    name: str
    kind: str
    count: int

    @property
    def size(self) -> int:
        """Bytes without padding."""
        return self.count * (4 if self.kind == "i" else 1)

    @property
    def padding(self) -> int:
        """Zero bytes behind it."""
        return -self.size % 4


@dataclass(frozen=True)
class Snapshot:
    """The saved state of a node.

    Attributes
    ----------
    source : str
        The file.
    minor : int
    layout : int
        CRC-32 of `text`: nodes with the same configuration and firmware have the same.
    sequence : int
        Number of the save over the node's life, from 1.
    now : int or None
        Latest tick known when it was written, modulo 2^30; None: nothing was heard yet.
    boots : int
        Of the node's life, from 1.
    epoch : int
        Number of the recording.
    text : bytes
        The JSON text as it is in the file.
    config : dict
        The node's configuration.
    state : int
        Version of the meaning of the arrays' words.
    parts : tuple of Part
    payload : bytes
    content : bytes
        The whole file.
    """

    source: str
    minor: int
    layout: int
    sequence: int
    now: int | None
    boots: int
    epoch: int
    text: bytes
    config: dict[str, Any]
    state: int
    parts: tuple[Part, ...]
    payload: bytes
    content: bytes

    @property
    def dtype(self) -> np.dtype[np.void]:
        """The payload as one structured type; field names are ``NAME.K``, K the place among all arrays."""
        fields: list[tuple[str, str, int]] = []
        for k, part in enumerate(self.parts):
            fields.append((f"{part.name}.{k}", "<i4" if part.kind == "i" else "u1", part.count))
            if part.padding:
                fields.append((f"pad.{k}", "u1", part.padding))
        return np.dtype(fields)

    def record(self) -> np.void:
        """The payload as one structured record; ``record()["slices.2"]`` is an array of int32."""
        return np.frombuffer(self.payload, self.dtype, count=1)[0]

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """The arrays by name, without padding."""
        record = self.record()
        names = record.dtype.names or ()
        return {name: record[name] for name in names if not name.startswith("pad.")}


def arrays(path: str | Path) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of a snapshot file by name, ``NAME.K``: int32 words or uint8 bytes.

    Raises
    ------
    InputError
        As `read`.
    """
    return read(path).arrays()


def read(path: str | Path) -> Snapshot:
    """Read a snapshot file.

    Raises
    ------
    InputError
        It cannot be read, is no snapshot, is damaged, or was written by a newer version.
    """
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", file=path, remedy="Check the path") from None
    return parse(content, str(path))


def parse(content: bytes, source: str = "<bytes>") -> Snapshot:
    """Return the snapshot that `content` holds; raises InputError as `read`."""
    if content[:4] != MAGIC:
        raise InputError(
            "is no snapshot (one begins with SGSN)",
            file=source,
            remedy="Copy one from the node: mpremote cp :gauge.0 :gauge.1 .",
        )
    if len(content) < _FIXED.size + 4:
        raise _damaged(source, f"{len(content)} bytes are too few")
    _, major, minor, head, layout, sequence, size, now, boots, epoch, length = _FIXED.unpack_from(content)
    if major != MAJOR:
        raise InputError(
            f"is a snapshot of version {major} (this streamgauge reads version {MAJOR})",
            file=source,
            remedy="Update streamgauge" if major > MAJOR else None,
        )
    if len(content) != head + size + 4:
        raise _damaged(source, f"{head + size + 4} bytes were expected, there are {len(content)}")
    if zlib.crc32(content[:-4]) != int.from_bytes(content[-4:], "little"):
        raise _damaged(source, "its checksum does not fit")
    text = content[_FIXED.size : _FIXED.size + length]
    if head != (_FIXED.size + length + 3) & ~3 or zlib.crc32(text) != layout:
        raise _damaged(source, "its text does not fit its header")
    config, state, parts = _described(text, source)
    if size != sum(part.size + part.padding for part in parts):
        raise _damaged(source, "its arrays do not fit its length")
    return Snapshot(
        source=source,
        minor=minor,
        layout=layout,
        sequence=sequence,
        now=None if now == _NOTHING_HEARD else now,
        boots=boots,
        epoch=epoch,
        text=text,
        config=config,
        state=state,
        parts=parts,
        payload=content[head:-4],
        content=content,
    )


def newest(paths: Iterable[str | Path]) -> tuple[list[Snapshot], list[str]]:
    """Read snapshots, of the two slots of one node (``gauge.0`` and ``gauge.1``) only the newer.

    Returns
    -------
    snapshots : list of Snapshot
    notes : list of str
        Which slots were left out, and why.

    Raises
    ------
    InputError
        A file cannot be read, or of two slots neither.
    """
    slots: dict[str, list[Path]] = {}
    for path in map(Path, paths):
        node = path.with_suffix("") if path.suffix in (".0", ".1") else path
        slots.setdefault(str(node), []).append(path)
    found: list[Snapshot] = []
    notes: list[str] = []
    for files in slots.values():
        whole: list[Snapshot] = []
        troubles: list[InputError] = []
        for path in dict.fromkeys(files):
            try:
                whole.append(read(path))
            except InputError as trouble:
                troubles.append(trouble)
        if not whole:
            raise troubles[0]
        best = max(whole, key=lambda snapshot: snapshot.sequence)
        found.append(best)
        notes += [f"left out: {trouble}" for trouble in troubles]
        notes += [
            f"{other.source} holds save {other.sequence} of the same node; save {best.sequence} is newer"
            for other in whole
            if other is not best
        ]
    return found, notes


def _described(text: bytes, source: str) -> tuple[dict[str, Any], int, tuple[Part, ...]]:
    try:
        told = json.loads(text.decode())
        parts = tuple(Part(str(name), str(kind), int(count)) for name, kind, count in told["parts"])
        config, state = told["config"], told["state"]
        if not isinstance(config, dict) or not isinstance(state, int):
            raise ValueError
        if any(part.kind not in ("i", "b") or part.count < 0 for part in parts):
            raise ValueError
    except (ValueError, KeyError, TypeError):
        raise _damaged(source, "its text says not what it holds") from None
    return config, state, parts


def _damaged(source: str, why: str) -> InputError:
    return InputError(
        f"is damaged: {why}",
        file=source,
        remedy="Take the node's other slot; one of the two is whole",
    )

"""What a flash would change on a board, and whether it fits; nothing is written here."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from .. import firmware
from ..errors import InputError
from .board import Board
from .link import Link
from .needs import WORKING, Needs, needs

CONFIG = "config.json"
KEY = "label.key"
MAIN = "main.py"
SNAPSHOTS = ("gauge.0", "gauge.1", "gauge.tmp")
# A file system hands out whole blocks; the largest common ones have 4096 bytes.
_DISK_BLOCK = 4096
# What MicroPython itself has in its heap after a reset: 1.5 to 2.5 KiB, measured.
_INTERPRETER = 4096


@dataclass(frozen=True)
class Wanted:
    """What should be on the board afterwards.

    Attributes
    ----------
    config : dict or None
        The node's configuration; None keeps the board's.
    key : bytes or None
        Key for labels, as the hexadecimal text of its file; None keeps what there is.
    main : bytes or None
        The program `main.py`; None keeps what there is.
    erase_snapshot : bool
        Stored snapshots are removed.
    working : int
        Heap to be left over for the program's own use.
    """

    config: dict[str, Any] | None = None
    key: bytes | None = None
    main: bytes | None = None
    erase_snapshot: bool = False
    working: int = WORKING


@dataclass(frozen=True)
class Plan:
    """What will happen.

    Attributes
    ----------
    board : Board
    config : dict
        The configuration the node will run with.
    march : str or None
        What the package was compiled for; None is bytecode.
    write : dict of str to bytes
        Contents by path on the board, in the order they are written.
    same : tuple of str
        Paths that hold already what they should.
    remove : tuple of str
        Paths that go.
    folders : tuple of str
        Folders that may have to be made.
    needs : Needs
    snapshots : tuple of str
        Stored snapshots that stay.
    """

    board: Board
    config: dict[str, Any]
    march: str | None
    write: dict[str, bytes]
    same: tuple[str, ...]
    remove: tuple[str, ...]
    folders: tuple[str, ...]
    needs: Needs
    snapshots: tuple[str, ...]

    @property
    def write_bytes(self) -> int:
        """Bytes that go over the line."""
        return sum(map(len, self.write.values()))


def make_plan(link: Link, board: Board, wanted: Wanted) -> Plan:
    """Work out what to write, and refuse what the board cannot run or hold.

    Raises
    ------
    InputError
        The board's MicroPython is too old, it has no configuration and none was given, or heap or file system
        do not suffice: with the numbers.
    """
    board.refuse_unfit()
    config = _configuration(link, board, wanted)
    march = board.implementation.march
    built = firmware.build(march)
    need = needs(config, built, board.implementation.bits, working=wanted.working)
    # Without a reset the heap still holds what ran before; a node will start in a heap without it.
    _check_heap(board, need, board.heap - _INTERPRETER if link.resume else board.heap_free)

    contents = {board.package_path(name): content for name, content in built.items()}
    if wanted.key is not None:
        contents[board.path(KEY)] = wanted.key
    if wanted.config is not None:
        contents[board.path(CONFIG)] = config_text(config)
    if wanted.main is not None:
        contents[board.path(MAIN)] = wanted.main

    sizes = {board.package_path(f"{firmware.PACKAGE}/{name}"): size for name, size in board.package.items()}
    sizes |= {board.path(name): size for name, size in board.files.items()}
    same = [
        path
        for path, content in contents.items()
        if sizes.get(path) == len(content) and link.digest(path) == hashlib.sha256(content).hexdigest()
    ]
    write = {path: content for path, content in contents.items() if path not in same}
    # A module's .py would be found before its .mpy, and a module of an earlier version might be imported.
    package = board.package_path(firmware.PACKAGE)
    stale = [path for path in sizes if str(PurePosixPath(path).parent) == package and path not in contents]
    stored = [board.path(name) for name in SNAPSHOTS if name in board.files]
    remove = [*stale, *(stored if wanted.erase_snapshot else [])]
    _check_disk(board, write, {path: sizes[path] for path in sizes if path in remove or path in write})
    return Plan(
        board=board,
        config=config,
        march=march,
        write=write,
        same=tuple(same),
        remove=tuple(remove),
        folders=tuple(dict.fromkeys((board.lib, package))),
        needs=need,
        snapshots=() if wanted.erase_snapshot else tuple(stored),
    )


def config_text(config: Mapping[str, Any]) -> bytes:
    """Return the configuration as it is stored on a board."""
    return (json.dumps(config, separators=(",", ":"), ensure_ascii=False) + "\n").encode()


def _configuration(link: Link, board: Board, wanted: Wanted) -> dict[str, Any]:
    if wanted.config is not None:
        return wanted.config
    remedy = (
        "Say which labels the node has with --labels, give a configuration with --config, or try --example"
    )
    if CONFIG not in board.files:
        raise InputError(f"the board has no {CONFIG} yet", file=board.port, remedy=remedy)
    try:
        config = json.loads(link.read(board.path(CONFIG)))
        if not isinstance(config, dict) or not isinstance(config.get("labels"), list):
            raise ValueError("no labels in it")
    except ValueError as trouble:
        raise InputError(
            f"the board's {CONFIG} is no configuration ({trouble})", file=board.port, remedy=remedy
        ) from None
    return config


def _check_heap(board: Board, need: Needs, free: int) -> None:
    if need.total > free:
        raise InputError(
            f"the node does not fit: {need.total:,} bytes of heap are needed (code {need.code:,}, state "
            f"{need.state:,}, objects {need.objects:,}, working memory {need.working:,}) and "
            f"{free:,} of {board.heap:,} are free",
            file=board.port,
            remedy="Choose a smaller profile, switch estimators off, or freeze the package into the firmware "
            "image (firmware/manifest.py)",
        )


def _check_disk(board: Board, write: Mapping[str, bytes], replaced: Mapping[str, int]) -> None:
    if board.disk_free is None:
        return

    def blocks(size: int) -> int:
        return -(-size // _DISK_BLOCK) * _DISK_BLOCK

    more = sum(blocks(len(content)) for content in write.values()) - sum(map(blocks, replaced.values()))
    if more > board.disk_free:
        raise InputError(
            f"the files do not fit: {more:,} more bytes are needed and {board.disk_free:,} are free",
            file=board.port,
            remedy="Remove files from the board (mpremote rm)",
        )

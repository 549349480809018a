"""The numbers a snapshot stands for, and those of several nodes together.

What the arrays' words mean only the node's own code says: here its model takes a snapshot up as a node would
at a boot, and tells its figures as whole numbers (`Node.raw()`).

Figures of several nodes add up exactly, in any order and grouping: counts, ticks and sums are whole numbers,
extrema are extrema. A faded sum has no meaning without its time, so each is kept with it; only the report
fades them to a common time, ``alpha`` once for each slice between.
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Any

from .. import firmware
from ..errors import InputError
from .file import Snapshot

TIME = 1 << 30

# What must be the same for figures to be of one kind.
_ALIKE = (
    "labels",
    "slice",
    "tick_us",
    "closed",
    "gaps_unknown",
    "window",
    "alpha_q30",
    "delta_ppm",
    "loss_max",
)
_FADING = ("fading_s", "fading_bits", "alpha_q30")
_SUMMED = ("counters", "join", "align", "slices", "prequential", "loss", "hierarchy")
_NOT_ADDED = ("version", "alpha_q30", "fading_bits", "largest")


@dataclass(frozen=True, order=True)
class Faded:
    """A faded sum and what it takes to fade it further.

    Attributes
    ----------
    now : int
        Tick of the snapshot, modulo 2^30; -1 where nothing was heard yet.
    total, bits : int
        The sum is ``total / 2^bits``.
    records : int
        Behind it: its weight is ``(1 - alpha^records) / (1 - alpha)``.
    """

    now: int
    total: int
    bits: int
    records: int


@dataclass(frozen=True, order=True)
class Origin:
    """Where figures come from: the recording's number, the save's, and the file."""

    epoch: int
    sequence: int
    source: str


@dataclass(frozen=True)
class Figures:
    """Figures of one node or of several.

    Attributes
    ----------
    config : dict
        What the nodes have in common.
    raw : dict
        As `Node.raw()`, without faded sums where they are of several nodes.
    faded : dict of str to tuple of Faded
        By part (``prequential``, ``loss``), in order.
    origins : tuple of Origin
        In order.
    left_out : tuple of str
        Parts that do not add up; they are in `raw` for a single node alone.
    """

    config: dict[str, Any]
    raw: dict[str, Any]
    faded: dict[str, tuple[Faded, ...]]
    origins: tuple[Origin, ...]
    left_out: tuple[str, ...] = ()


def figures(snapshot: Snapshot, *, ended: bool = False) -> Figures:
    """Return the figures of one snapshot.

    Parameters
    ----------
    ended : bool
        As if the recording had ended at the save: segments that the alignment keeps undecided are decided.

    Raises
    ------
    InputError
        It was written by other firmware, whose arrays this version cannot tell the meaning of.
    """
    node = _resumed(snapshot)
    if ended:
        node.finish()
    raw: dict[str, Any] = node.raw()
    now = -1 if snapshot.now is None else snapshot.now
    faded: dict[str, tuple[Faded, ...]] = {
        name: (Faded(now, part["fading_s"], part["fading_bits"], part["n"]),)
        for name, part in raw.items()
        if isinstance(part, dict) and "fading_s" in part
    }
    origin = Origin(snapshot.epoch, snapshot.sequence, snapshot.source)
    return Figures(snapshot.config, raw, faded, (origin,))


def merge(several: Iterable[Figures]) -> Figures:
    """Return the figures of several nodes together; any order and grouping gives the same.

    Raises
    ------
    InputError
        There are none, the nodes do not assess the same thing, or one recording is there twice.
    """
    listed = list(several)
    if not listed:
        raise InputError("there is nothing to merge (at least one snapshot was expected)")
    return reduce(_pair, listed)


def _pair(a: Figures, b: Figures) -> Figures:
    for key in _ALIKE:
        if a.config.get(key) != b.config.get(key):
            raise InputError(
                f"differs from {a.origins[0].source} in its {key} ({_shown(b.config.get(key))}, not "
                f"{_shown(a.config.get(key))})",
                file=b.origins[0].source,
                remedy="Figures add up only for nodes with the same labels and clock",
            )
    twice = {origin.epoch for origin in a.origins} & {origin.epoch for origin in b.origins}
    if twice:
        both = [next(o.source for o in side.origins if o.epoch in twice) for side in (a, b)]
        raise InputError(
            f"holds the same recording as {both[0]} ({min(twice)}); it would count twice",
            file=both[1],
            remedy="Give the newest snapshot of each node",
        )
    raw: dict[str, Any] = {"version": a.raw["version"]}
    for name in _SUMMED:
        if name in a.raw and name in b.raw:
            raw[name] = _added(a.raw[name], b.raw[name], name)
    others = {name for side in (a, b) for name in (*side.raw, *side.left_out) if name not in raw}
    faded = {
        name: tuple(sorted(a.faded[name] + b.faded[name]))
        for name in a.faded
        if name in b.faded and name in raw
    }
    return Figures(
        {key: a.config.get(key) for key in _ALIKE},
        raw,
        faded,
        tuple(sorted(a.origins + b.origins)),
        tuple(sorted(others)),
    )


def _added(a: Any, b: Any, key: str) -> Any:
    if isinstance(a, dict):
        added = {name: _added(a[name], b[name], name) for name in a if name not in _FADING}
        return {**added, **{name: a[name] for name in _FADING[1:] if name in a}}
    if isinstance(a, list) and key in _STATISTICS:
        return _statistics(a, b)
    if isinstance(a, list):
        return [_added(x, y, key) for x, y in zip(a, b, strict=True)]
    return a if key in _NOT_ADDED else a + b


_STATISTICS = ("latency", "onset", "offset", "overlap", "duration", "iou")


def _statistics(a: list[int], b: list[int]) -> list[int]:
    """Count, sum, sum of squares, minimum and maximum of both."""
    if a[0] == 0 or b[0] == 0:
        return list(a if b[0] == 0 else b)
    return [a[0] + b[0], a[1] + b[1], a[2] + b[2], min(a[3], b[3]), max(a[4], b[4])]


def latest(terms: Iterable[Faded]) -> int:
    """Return the latest of some times modulo 2^30: the one before the largest gap of their circle."""
    times = sorted({term.now for term in terms if term.now >= 0})
    if not times:
        return -1
    gaps = [(times[(i + 1) % len(times)] - time) % TIME or TIME for i, time in enumerate(times)]
    return times[gaps.index(max(gaps))]


def _resumed(snapshot: Snapshot) -> Any:
    """Return the model of a node that has taken the snapshot up."""
    package = firmware.node_model()
    from importlib import import_module

    store_module = import_module(f"{package.__name__}.snapshot")
    try:
        node = package.Node(snapshot.config)
        if any(part.name == "labels" for part in snapshot.parts):
            import_module(f"{package.__name__}.labels").Labels(node)
        store = store_module.Store(node, "snapshot", _OneFile(snapshot.content))
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise _foreign(snapshot, f"its configuration is not understood ({error})") from None
    taken_up = store.resume(snapshot.now) if snapshot.now is not None else store.resume(0)
    if not taken_up:
        raise _foreign(snapshot, "its arrays are laid out otherwise")
    return node


def _foreign(snapshot: Snapshot, why: str) -> InputError:
    version = firmware.node_model().__version__
    return InputError(
        f"was written by other firmware than gauge {version}: {why}",
        file=snapshot.source,
        remedy="Read it with the streamgauge of the node's own version; numpy can look into it all the same",
    )


class _OneFile:
    """A file system that holds one snapshot, in the slot its number belongs to."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def open(self, name: str, mode: str) -> io.BytesIO:
        """Open the snapshot, under the name of the first slot only."""
        if not name.endswith(".0") or mode != "rb":
            raise OSError(2, "no such file")
        return io.BytesIO(self._content)

    def rename(self, old: str, new: str) -> None:
        """Nothing is written here."""
        raise OSError(30, "read only")

    def remove(self, name: str) -> None:
        """Nothing is removed here."""
        raise OSError(30, "read only")

    def sync(self, file: object) -> None:
        """Nothing is written here."""


def _shown(value: Any) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return text if len(text) <= 60 else text[:59] + "…"

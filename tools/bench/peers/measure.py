"""Time, bytes and agreement of everyone who works on one input."""

from __future__ import annotations

import gc
import importlib
import math
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any

from .node import NodeWork

PACKAGES = {
    "river": "river",
    "mir_eval": "mir_eval",
    "pyannote": "pyannote.metrics",
    "wardmetrics": "ward-metrics",
}
SETTLES = 64  # instances, until CPython has learned how many attributes one of the class has
SLOW = 0.5  # seconds; who takes longer takes part in fewer rounds
SLOW_ROUNDS = 3
LEAST_TIMED = 2e-3  # seconds; shorter work is repeated, so that the clock's steps do not count


class PeerAbsent(Exception):
    """A peer is not installed; the message says how it gets here."""


def peer(module: str) -> ModuleType:
    """Import a peer's module; raises PeerAbsent where there is none."""
    try:
        return importlib.import_module(module)
    except ImportError as trouble:
        name = PACKAGES[module.partition(".")[0]]
        raise PeerAbsent(
            f"{name} cannot be imported ({trouble}), so nothing is compared with it. "
            "Install it with: pip install 'streamgauge[bench]'"
        ) from None


@dataclass(frozen=True)
class Check:
    """Whether two programs give the same number, and in what sense."""

    what: str
    holds: bool
    how: str


@dataclass(frozen=True)
class Contestant:
    """One program on the input.

    Attributes
    ----------
    name : str
    run : callable
        The whole input, from an object made anew; returns what then holds the state.
    units : int
        Records, frames or segments it is told.
    new : callable, optional
        Makes one that was told nothing, where it is told piece by piece: its state is then what `run`
        returns. Otherwise it takes the whole input, and its state is the most that it holds meanwhile.
    check : callable, optional
        Compares its numbers with ours.
    """

    name: str
    run: Callable[[], Any]
    units: int
    new: Callable[[], Any] | None = None
    check: Callable[[], list[Check]] | None = None


@dataclass(frozen=True)
class Case:
    """One input, and all who work on it.

    Attributes
    ----------
    what, input, unit : str
    node : list of NodeWork
        The node, told in one way or another.
    hosts, peers : list of Contestant
        Ratios are against the first of the hosts.
    check_node : callable
        Compares what a node says with the host.
    notes : list of str
    """

    what: str
    input: str
    unit: str
    node: list[NodeWork]
    hosts: list[Contestant]
    peers: list[Contestant]
    check_node: Callable[[dict[str, Any]], list[Check]]
    notes: list[str] = field(default_factory=list)


@dataclass
class Row:
    """What was measured of one of them; None where it could not be, or makes no sense."""

    who: str
    bytes: int
    bytes_are: str
    ns: float | None = None
    instructions: float | None = None
    bytes_ratio: float | None = None
    ns_ratio: float | None = None
    node_ns_ratio: float | None = None
    checks: list[Check] = field(default_factory=list)


def weighed(one: Contestant) -> int:
    """Bytes of its state, by tracemalloc; the input was there before and is not counted.

    It ran before: what is made once for all, such as caches of modules, is no state.
    """
    if one.new:
        for _ in range(SETTLES):
            one.new()
    gc.collect()
    tracemalloc.start()
    try:
        kept = one.run()
        most = tracemalloc.get_traced_memory()[1]
        gc.collect()
        return tracemalloc.get_traced_memory()[0] if one.new else most
    finally:
        tracemalloc.stop()
        del kept


def _seconds(run: Callable[[], Any], times: int) -> float:
    begin = time.perf_counter()
    for _ in range(times):
        run()
    return (time.perf_counter() - begin) / times


def timed(contestants: list[Contestant], nodes: list[NodeWork], rounds: int) -> list[float]:
    """Best ns a unit of everyone; they take turns, so that what else the machine does falls on all."""
    first = [_seconds(c.run, 1) for c in contestants]
    times = [max(1, int(LEAST_TIMED / max(seconds, 1e-6))) for seconds in first]
    best = [math.inf] * len(contestants)
    gc.collect()
    for number in range(rounds):
        for i, one in enumerate(contestants):
            if number < SLOW_ROUNDS or first[i] < SLOW:
                best[i] = min(best[i], _seconds(one.run, times[i]) / one.units * 1e9)
        for node in nodes:
            node.time_x64()
    return best


def node_checks(case: Case, work: NodeWork) -> list[Check]:
    """The node's numbers on every engine beside the host's; what engines say alike is one check."""
    found: dict[Check, list[str]] = {}
    for engine, raw in work.said.items():
        for check in case.check_node(raw):
            found.setdefault(check, []).append(engine)
    return [replace(check, how=f"{check.how} ({', '.join(on)})") for check, on in found.items()]


def measure(case: Case, rounds: int) -> list[Row]:
    """Time, weigh and compare everyone of one case; the node's rows first, then the host's, then the peers'."""
    everyone = [*case.hosts, *case.peers]
    times = timed(everyone, case.node, rounds)
    rows = []
    for work in case.node:
        instructions = work.arm_instructions()
        checks = node_checks(case, work)
        rows.append(Row(work.name, work.state_bytes, "ledger", work.x64_ns, instructions, checks=checks))
    node, host = rows[0], times[0]
    # The slower way of telling the node: whoever is told record by record has no faster one either.
    node_ns = max((row.ns for row in rows if row.ns is not None), default=None)
    for one, ns in zip(everyone, times, strict=True):
        row = Row(one.name, weighed(one), "held" if one.new else "peak", ns)
        if one in case.peers:
            row.ns_ratio = ns / host
            row.bytes_ratio = row.bytes / node.bytes
            row.node_ns_ratio = ns / node_ns if node_ns else None
        row.checks = one.check() if one.check else []
        rows.append(row)
    return rows

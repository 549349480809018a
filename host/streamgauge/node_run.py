"""Runs the node over a recording: on an engine, and as a model under this Python.

`run_node` brings the compiled firmware, the configuration, the recording and the program
`node_programs/assess_node.py` to an engine and returns the figures as whole numbers, with what they took of
the heap. `run_model` gives the same figures from the same sources without MicroPython.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import firmware
from .engines import Engine, EngineError, EngineOutOfMemory
from .errors import InputError
from .extras.feed import fit, lay_out_samples
from .extras.others import Others
from .feed import Feed, lay_out
from .files import Recording
from .levels.feed import with_levels
from .profile import Profile, check_node_range, compile_config

PROGRAM = "assess_node"
# What to lower where a part's arrays do not fit.
_KEYS = {
    "join": "capacity.runs",
    "align": "capacity.pending, or merge labels",
    "slices": "the number of labels",
    "prequential": "capacity.window",
    "loss": "capacity.window",
    "page_hinkley": "capacity.window",
    "adwin": "adwin.rows or adwin.per_row",
    "compare": "compare.window",
    "forgetting": "the number of labels",
    "reliability": "reliability.bins",
    "holdout": "holdout.size or holdout.capacity",
    "hierarchy": "hierarchy.boundaries",
}
_STAGES = {
    "driver": "the program that feeds it",
    "code": "its code",
    "config": "its configuration",
    "state": "its state",
    "updates": "the buffer it is fed from",
    "figures": "telling its figures",
}
_LEAST_HEAP = 6 * 1024


@dataclass(frozen=True)
class NodeMemory:
    """What a node took of its heap, in bytes.

    Attributes
    ----------
    heap : int
        What it was given.
    code : int
        Modules in the heap, and machine code.
    state : int
        Taken by `Node(...)`: the arrays and the objects around them.
    ledger : int
        Of it the arrays, as the node's ledger books them for 32 bits.
    high_water : int
        Most of the heap that was in use at the moments looked at, garbage not collected yet included.
    allocated_by_updates : int
        Bytes that all updates together asked for.
    machine_code : int
        Of `code`.
    beside : int
        Of the machine code what lies beside the heap: all of it in the unix builds, nothing on a board.
    """

    heap: int
    code: int
    state: int
    ledger: int
    high_water: int
    allocated_by_updates: int
    machine_code: int
    beside: int

    @property
    def with_machine_code(self) -> int:
        """What a board's heap would have held at high water."""
        return self.high_water + self.beside


@dataclass(frozen=True)
class NodeRun:
    """A node's figures over one recording.

    Attributes
    ----------
    engine, version, bits
        What ran it (see `Engine`).
    config : dict
        What the node loaded.
    raw : dict
        `Node.raw()`.
    memory : NodeMemory
    updates : int
        Calls of the node's entries.
    mode : {"records", "slices", "samples", "levels"}
        How the labels were told (see `feed`); levels: there were none, but boundaries alone.
    """

    engine: str
    version: str
    bits: int
    config: dict[str, Any]
    raw: dict[str, Any]
    memory: NodeMemory
    updates: int
    mode: str


def prepare(
    recording: Recording,
    profile: Profile,
    holdout: bytes | None = None,
    others: Others | None = None,
) -> tuple[dict[str, Any], Feed]:
    """Return the configuration and the feed of a recording; `holdout`: labels of a holdout set.

    Where `others`, what comes beside truth and prediction, is given, the node has the estimators on for which
    there is something to read, and no others.

    Raises
    ------
    InputError
        The task does not fit the profile, or the recording the node's range of time.
    """
    check_node_range(recording)
    feed: Feed | None = None
    if others is not None:
        profile = fit(profile, recording, others)
        feed = lay_out_samples(recording, others)
        if "holdout" in profile["estimators.on"] and others.holdout is not None:
            holdout = others.holdout.truth.tobytes()
    feed = feed or lay_out(recording, profile["capacity.runs"])
    if others is not None and others.hierarchies is not None:
        feed = with_levels(feed, others.hierarchies)
    return compile_config(profile, recording.task, overlap=feed.overlap, holdout=holdout), feed


def run_model(config: dict[str, Any], feed: Feed) -> dict[str, Any]:
    """Return `Node.raw()` of the node's own sources, run by this Python."""
    node = firmware.node_model().Node(config)
    feed.into(node)
    node.finish()
    raw: dict[str, Any] = node.raw()
    return raw


def run_node(
    engine: Engine, config: dict[str, Any], feed: Feed, heap_bytes: int, timeout: float | None = None
) -> NodeRun:
    """Run the node over a recording on an engine.

    Parameters
    ----------
    engine : Engine
    config, feed
        Of `prepare`.
    heap_bytes : int
        A board's heap is what it is.
    timeout : float, optional
        Seconds; by default two minutes and what the length of the recording adds.

    Raises
    ------
    InputError
        The heap, or the ledger's limit, does not suffice; the message says for what.
    EngineError
        The engine could not do it.
    """
    built = firmware.build(engine.march)
    loaded = firmware.loaded_files(firmware.estimator_modules(config))
    told = feed.files
    machine_code = sum(
        firmware.machine_code_bytes(built[name.removesuffix(".py") + ".mpy"]) for name in loaded
    )
    on_board = engine.name not in ("arm", "x64")
    beside = 0 if on_board else machine_code
    files = {
        **built,
        PROGRAM + ".mpy": _program(),
        **{name + ".mpy": _program(name) for name in _further_programs(feed.plan)},
        "config.json": json.dumps(config).encode(),
        **told,
    }
    if not on_board and heap_bytes < _LEAST_HEAP:
        raise _too_small(heap_bytes, f"MicroPython itself hardly starts below {_LEAST_HEAP}")
    try:
        output = engine.run(
            f"import {PROGRAM}\n{PROGRAM}.run()\n",
            files,
            heap_bytes=heap_bytes,
            timeout=timeout or 120 + sum(map(len, told.values())) / 2000,
        )
    except EngineOutOfMemory:
        raise _too_small(heap_bytes, "not even the program that feeds the node fits") from None
    answer = _answer(engine, output.stdout)
    if "trouble" in answer:
        heap = answer["trouble"]["memory"].get("total", heap_bytes) if on_board else heap_bytes
        raise _explain(answer["trouble"], config, heap, more="" if on_board else "give it more with --heap")
    memory = answer["memory"]
    return NodeRun(
        engine=engine.name,
        version=engine.version,
        bits=engine.bits,
        config=config,
        raw=answer["raw"],
        memory=NodeMemory(
            heap=memory["total"] if on_board else heap_bytes,
            code=memory["code"] + beside,
            state=memory["state"],
            ledger=memory["ledger"],
            high_water=memory["peak"],
            allocated_by_updates=memory["allocated"],
            machine_code=machine_code,
            beside=beside,
        ),
        updates=feed.updates,
        mode=feed.plan["mode"],
    )


def _further_programs(plan: dict[str, Any]) -> Iterator[str]:
    """What `PROGRAM` imports for what is not told in segments or batches of labels."""
    if plan["mode"] == "samples":
        yield "assess_samples"
    if "levels" in plan:
        yield "assess_levels"


@functools.cache
def _program(name: str = PROGRAM) -> bytes:
    path = Path(__file__).with_name("node_programs") / f"{name}.py"
    return firmware.compile_source(path.name, path.read_text(encoding="utf-8"), None)


def _answer(engine: Engine, stdout: str) -> dict[str, Any]:
    for line in reversed(stdout.splitlines()):
        if line.startswith("{"):
            try:
                answer = json.loads(line)
            except ValueError:
                break
            if isinstance(answer, dict):
                return answer
    raise EngineError(f"The node program on {engine.name} gave no answer, but: {stdout.strip()[-300:]!r}.")


def _explain(trouble: dict[str, Any], config: dict[str, Any], heap: int, more: str) -> InputError:
    """Say what did not fit, and what to lower; `more`: how the heap grows, where it can."""
    if "part" in trouble:
        part, asked, left = (trouble[key] for key in ("part", "asked", "left"))
        limit = config["state_bytes"]
        if limit and trouble["free"] > left:
            of, more = f"of the profile's heap.state_bytes, {limit}", "raise heap.state_bytes"
        else:
            # An array is made from a copy of itself, in one piece.
            of = f"of a heap of {heap}, for the array and a copy"
        lower = f"lower {_KEYS[part]}" if part in _KEYS else ""
        return InputError(
            f"the node's state does not fit: {part} asks for {asked} bytes and {left} are left ({of})",
            remedy=", or ".join(filter(None, (lower, more))).capitalize(),
        )
    what = _STAGES.get(trouble["stage"], trouble["stage"])
    return _too_small(heap, f"{what} does not fit into the {trouble['free']} that are left")


def _too_small(heap_bytes: int, why: str) -> InputError:
    return InputError(
        f"the node does not fit into a heap of {heap_bytes} bytes: {why}",
        remedy="Give it more with --heap, or lower a capacity of the profile",
    )

"""Does a node's heap stay flat? A long run on an engine, with a look at the heap now and then.

The built-in example is told over and over, one label a slice through the batch entries, in the heap of a
memory profile.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from . import example, firmware
from .engines import Engine
from .engines.unix import UnixEngine
from .errors import InputError
from .files import read_pair
from .profile import Profile, compile_config

PROGRAM = "soak_node"
FIGURES = ("free", "largest", "used", "high_water", "fragmentation", "allocated")
_CHUNK = 64


@dataclass(frozen=True)
class Look:
    """The heap at one moment, in bytes.

    Attributes
    ----------
    slices : int
        Told so far.
    free, used, largest : int
        After a collection: free, in use, and the largest free block.
    fragmentation : int
        Per cent of what is free that lies outside that block.
    high_water : int
        Most that was in use so far at any look.
    allocated : int
        Bytes that all updates asked for so far.
    """

    slices: int
    free: int
    used: int
    largest: int
    fragmentation: int
    high_water: int
    allocated: int


@dataclass(frozen=True)
class Soak:
    """A long run.

    Attributes
    ----------
    engine : str
    profile : Profile
    heap : int
        Bytes the engine was given.
    hours : float
        Time that the slices stand for.
    looks : tuple of Look
    counted : dict of str to int
        What the node counted in the end: ticks assessed and unassessed, records, forced commits, segments.
    """

    engine: str
    profile: Profile
    heap: int
    hours: float
    looks: tuple[Look, ...]
    counted: dict[str, int]

    @property
    def grown(self) -> dict[str, int]:
        """By figure, how far it moved from the first look on (the most of all looks)."""
        first = self.looks[0]
        return {
            name: max(abs(getattr(look, name) - getattr(first, name)) for look in self.looks)
            for name in FIGURES
        }

    @property
    def flat(self) -> bool:
        """Whether nothing moved, and updates asked for nothing."""
        return not any(self.grown.values())


def soak(engine: Engine, profile: Profile, slices: int, looks: int = 100) -> Soak:
    """Tell a node the built-in example until it had so many slices.

    Parameters
    ----------
    engine : Engine
    profile : Profile
        Its heap is what the node gets, less machine code where the engine keeps that beside its heap.
    slices : int
    looks : int
        How often the heap is looked at.

    Raises
    ------
    InputError
        The number of slices or looks makes no sense.
    EngineError
        The node did not run to its end.
    """
    if looks < 1 or slices < looks * _CHUNK:
        raise InputError(f"{slices} slices and {looks} looks (at least {_CHUNK} slices a look were expected)")
    truth, prediction, options = example.builtin()
    recording = read_pair(truth, prediction, options)
    ticks = recording.task.slice_ticks
    config = compile_config(profile, recording.task, holdout=bytes(profile["holdout.size"]))
    begin, stop = recording.span
    at = np.arange(begin, stop - ticks + 1, ticks)
    at = at[: len(at) // _CHUNK * _CHUNK]
    sides = [
        side.label[np.searchsorted(side.end, at, side="right")].astype(np.uint8).reshape(-1, _CHUNK)
        for side in (recording.prediction, recording.truth)
    ]
    built = firmware.build(engine.march)
    heap = profile.heap_bytes
    if isinstance(engine, UnixEngine):
        loaded = firmware.loaded_files([*firmware.estimator_modules(config), "memory"])
        heap -= sum(firmware.machine_code_bytes(built[name.removesuffix(".py") + ".mpy"]) for name in loaded)
    path = Path(__file__).with_name("node_programs") / f"{PROGRAM}.py"
    every = slices // looks
    plan = {"slices": slices, "chunk": _CHUNK, "step": _CHUNK * ticks, "every": every}
    output = engine.run(
        f"import {PROGRAM}\n{PROGRAM}.run()\n",
        {
            **built,
            f"{PROGRAM}.mpy": firmware.compile_source(path.name, path.read_text(encoding="utf-8"), None),
            "config.json": json.dumps(config).encode(),
            "plan.json": json.dumps(plan).encode(),
            "feed.bin": np.stack(sides, axis=1).tobytes(),
        },
        heap_bytes=heap,
        timeout=120 + slices / 20_000,
    )
    # The first look is the one at which everything happens for the first time.
    told: list[dict[str, Any]] = [json.loads(line) for line in output.stdout.splitlines()[1:]]
    return Soak(
        engine=f"{engine.name}, MicroPython {engine.version}",
        profile=profile,
        heap=heap,
        hours=slices * ticks * (recording.task.tick_seconds or 1.0) / 3600,
        looks=tuple(Look(**{name: line[name] for name in Look.__dataclass_fields__}) for line in told[:-1]),
        counted=told[-1]["counted"],
    )


def document(found: Soak) -> dict[str, Any]:
    """Return the run for `--json`."""
    return {
        "engine": found.engine,
        "profile": found.profile.name,
        "heap_bytes": found.heap,
        "slices": found.looks[-1].slices,
        "hours": found.hours,
        "flat": found.flat,
        "grown": found.grown,
        "counted": found.counted,
        "looks": [asdict(look) for look in found.looks],
    }

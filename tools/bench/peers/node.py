"""The node's own code on an input: instructions on the arm engine, nanoseconds on this machine's engine."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from node_bench import BIG_HEAP, MARK, Stream, configuration, count_micropython, program  # noqa: E402

from streamgauge import firmware  # noqa: E402
from streamgauge.engines import EngineMissing  # noqa: E402
from streamgauge.engines.unix import UnixEngine, arm_engine, x64_engine  # noqa: E402
from streamgauge.ledger_model import ledger_bytes, parts  # noqa: E402

__all__ = ["Engines", "NodeWork", "Stream", "configuration"]

# `mark()` of a run that is timed, and what tells the times.
CLOCK = """
from time import ticks_us as _ticks
_times = []
def mark():
    _times.append(_ticks())
"""
TELL = "\nprint(json.dumps(_times))\n"


@dataclass
class Engines:
    """The engines there are; `missing` says in sentences what is not."""

    arm: UnixEngine | None = None
    x64: UnixEngine | None = None
    missing: list[str] = field(default_factory=list)

    @classmethod
    def found(cls) -> Engines:
        """Look for both."""
        engines = cls()
        try:
            engines.arm = arm_engine()
        except EngineMissing as trouble:
            engines.missing.append(f"No instructions of the node: {trouble}")
        try:
            engines.x64 = x64_engine()
        except EngineMissing as trouble:
            engines.missing.append(f"No nanoseconds of the node: {trouble}")
        return engines


@dataclass
class NodeWork:
    """A node program that plays one input between marks.

    The last stretch between two marks is the work, the one before it whatever is to be taken off: the loop
    without the calls, or nothing.

    Attributes
    ----------
    name : str
    script : str
        Name in `node_programs`; `constants` are set before it.
    config : dict
    files : dict of str to bytes
    units : int
        Records, frames or segments played.
    part : str
        The estimator whose arrays are its state.
    said : dict
        What the node said, by engine, once it ran there.
    """

    name: str
    script: str
    config: dict[str, Any]
    files: Mapping[str, bytes]
    units: int
    part: str
    engines: Engines
    constants: dict[str, int] = field(default_factory=dict)
    said: dict[str, dict[str, Any]] = field(default_factory=dict)
    # Least microseconds of all runs, of the work and of what is taken off: apart, so that a run in which
    # only the latter was disturbed does not make the work look short.
    _work: float = math.inf
    _around: float = math.inf

    @property
    def state_bytes(self) -> int:
        """The estimator's arrays, as a 32-bit node's ledger books them."""
        return parts(self.config)[self.part]

    @property
    def other_bytes(self) -> int:
        """The node's other arrays: what joins truth and prediction, for all estimators alike."""
        return ledger_bytes(self.config) - self.state_bytes

    def _files(self, march: str | None) -> dict[str, bytes]:
        return {**firmware.build(march), "config.json": json.dumps(self.config).encode(), **self.files}

    def arm_instructions(self) -> float | None:
        """Instructions a unit; None where they cannot be counted."""
        if self.engines.arm is None:
            return None
        script = MARK + program(self.script, **self.constants)
        try:
            counts = count_micropython(
                script, self._files("armv6m"), heap_bytes=BIG_HEAP, engine=self.engines.arm
            )
        except EngineMissing as trouble:
            # An emulator that takes no plugins: said once.
            self.engines.missing.append(f"No instructions of the node: {trouble}")
            self.engines.arm = None
            return None
        self.said["arm"] = json.loads(counts.output.stdout)
        *_, around, work = counts.between
        return (work - around) / self.units

    def time_x64(self) -> None:
        """Run once more on this machine's engine, where there is one."""
        engine = self.engines.x64
        if engine is None:
            return
        script = CLOCK + program(self.script, **self.constants) + TELL
        raw, times = engine.run(script, self._files(engine.march), BIG_HEAP).stdout.splitlines()
        self.said["x64"] = json.loads(raw)
        *_, before, begin, end = json.loads(times)
        self._around = min(self._around, begin - before)
        self._work = min(self._work, end - begin)

    @property
    def x64_ns(self) -> float | None:
        """Nanoseconds a unit, the best of the runs; None without a run."""
        return (self._work - self._around) * 1000 / self.units if "x64" in self.said else None

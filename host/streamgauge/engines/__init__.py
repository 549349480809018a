"""Engines run node programs: MicroPython for x86-64 or 32-bit ARM on this machine, or a board on a port.

`get_engine("arm")` names one; `get_engine("auto")` takes the best that is there. All offer `Engine.run`.
"""

from __future__ import annotations

import re

from .base import (
    Engine,
    EngineError,
    EngineFailed,
    EngineMissing,
    EngineOutOfMemory,
    EngineTimeout,
    RunOutput,
)
from .unix import arm_engine, x64_engine

__all__ = [
    "Engine",
    "EngineError",
    "EngineFailed",
    "EngineMissing",
    "EngineOutOfMemory",
    "EngineTimeout",
    "RunOutput",
    "get_engine",
]


def get_engine(spec: str) -> Engine:
    """The engine that `spec` names.

    Parameters
    ----------
    spec : `arm`, `x64`, `auto` (arm, else x64), or a board's port (`/dev/ttyACM0`, `COM3`, a pty, a
        pyserial URL).

    Raises
    ------
    EngineMissing
        It is not there, does not answer, or cannot load the firmware; the message says what to do.
    """
    if spec == "arm":
        return arm_engine()
    if spec == "x64":
        return x64_engine()
    if spec == "auto":
        try:
            return arm_engine()
        except EngineMissing:
            return x64_engine()
    if spec.startswith("/dev/") or "://" in spec or re.fullmatch(r"COM\d+", spec, re.IGNORECASE):
        from .board import BoardEngine

        return BoardEngine(spec)
    raise EngineMissing(
        f"No engine is named {spec!r}. Choose arm, x64, auto, or a board's port such as /dev/ttyACM0 or COM3."
    )

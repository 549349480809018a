"""What every engine offers: run one MicroPython program in a fresh folder with a heap of a given size."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from types import TracebackType

MPY_VERSION, MPY_SUBVERSION = 6, 3
# By bits 10 and up of `sys.implementation._mpy`; the names are those of `mpy-cross -march=`.
MARCHES = (
    None,
    "x86",
    "x64",
    "armv6",
    "armv6m",
    "armv7m",
    "armv7em",
    "armv7emsp",
    "armv7emdp",
    "xtensa",
    "xtensawin",
    "rv32imc",
    "rv64imc",
)


@dataclass(frozen=True)
class RunOutput:
    """What a program wrote, and its exit code (a board has none: 0, or 1 after an uncaught exception)."""

    stdout: str
    stderr: str
    returncode: int


class EngineError(Exception):
    """An engine could not do what was asked; the message is for the user."""


class EngineMissing(EngineError):
    """The engine is not on this machine, or cannot load what mpy-cross emits; the message says what to do."""


class EngineFailed(EngineError):
    """The program died. `output` holds all that it wrote before."""

    def __init__(self, message: str, output: RunOutput) -> None:
        super().__init__(message)
        self.output = output


class EngineOutOfMemory(EngineFailed):
    """The program asked for more heap than it was given."""


class EngineTimeout(EngineFailed):
    """The program did not end in time."""


@dataclass(frozen=True)
class Implementation:
    """What a MicroPython says of itself.

    `mpy` is `sys.implementation._mpy` (version in bits 0-7, sub-version in 8-9, architecture from 10), 0
    where there is none; `bits` is the width of a machine word, from `sys.maxsize`.
    """

    version: tuple[int, int, int]
    mpy: int
    bits: int

    @classmethod
    def parse(cls, line: str) -> Implementation:
        """Read the line that `PROBE` prints; raises ValueError when it is something else."""
        words = [int(word) for word in line.split()]
        if len(words) != 5:
            raise ValueError(f"not a probe's answer: {line!r}")
        return cls((words[0], words[1], words[2]), words[3], 64 if words[4] > 0x7FFFFFFF else 32)

    @property
    def march(self) -> str | None:
        """The `-march` to compile native code with; None where only bytecode loads."""
        index = self.mpy >> 10
        return MARCHES[index] if index < len(MARCHES) else None

    def trouble(self) -> str | None:
        """Why this MicroPython cannot load the firmware; None where it can."""
        major, minor = self.mpy & 0xFF, (self.mpy >> 8) & 3
        wanted = major == MPY_VERSION and (minor == MPY_SUBVERSION or not self.mpy >> 10)
        if wanted:
            return None
        has = f".mpy {major}.{minor}" if self.mpy else "no .mpy files"
        needed = f"{MPY_VERSION}.{MPY_SUBVERSION} (1.23 or newer)"
        return f"is MicroPython {self.text}, which loads {has}; the firmware needs {needed}"

    @property
    def text(self) -> str:
        """The version as text, `1.25.0`."""
        return ".".join(str(part) for part in self.version)


PROBE = (
    "import sys\n"
    "i = sys.implementation\n"
    "print(i.version[0], i.version[1], i.version[2], getattr(i, '_mpy', 0), sys.maxsize)\n"
)


class Engine(ABC):
    """One MicroPython that runs node programs.

    Attributes
    ----------
    name : the engine's name for reports, `x64`, `arm` or the board's port.
    bits : width of a machine word, 32 or 64.
    march : architecture for mpy-cross, None for bytecode only.
    version : MicroPython's version, `1.25.0`.
    """

    name: str
    bits: int
    march: str | None
    version: str

    @abstractmethod
    def run(
        self,
        script: str,
        files: Mapping[str, bytes] | None = None,
        heap_bytes: int = 1 << 20,
        timeout: float = 120.0,
    ) -> RunOutput:
        """Run a program to its end.

        Parameters
        ----------
        script : the program's text. It works in, and imports from, a fresh folder.
        files : what that folder holds, by relative path with `/` (`gauge/node.mpy`).
        heap_bytes : size of the garbage-collected heap; a board's heap is what it is, and this is ignored.
        timeout : seconds.

        Raises
        ------
        EngineOutOfMemory, EngineTimeout, EngineFailed
            The program ran out of heap, of time, or ended with another exception, exit code or signal.
        """

    def close(self) -> None:
        """Give back what the engine holds; only a board's port is held."""
        return None

    def __enter__(self) -> Engine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _judge(self, output: RunOutput, what: str) -> RunOutput:
        """Return the output of a program that ended well; raise the fitting error for one that did not."""
        if output.returncode == 0:
            return output
        tail = "\n".join(output.stderr.strip().splitlines()[-12:]) or "it wrote no error"
        # A locked heap raises MemoryError too, and there is plenty of memory then.
        if "MemoryError" in tail and "heap is locked" not in tail:
            raise EngineOutOfMemory(f"The program ran out of memory on {self.name} ({what}):\n{tail}", output)
        raise EngineFailed(
            f"The program failed on {self.name} ({what}, exit code {output.returncode}):\n{tail}", output
        )


def checked_path(path: str) -> PurePosixPath:
    """A path for `files` that stays inside the program's folder; raises ValueError otherwise."""
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts or not pure.parts or re.search(r'[\\:*?"<>|\x00-\x1f]', path):
        raise ValueError(f"{path!r} is not a relative path of plain names")
    return pure

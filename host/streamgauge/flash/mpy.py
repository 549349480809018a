"""What is inside a `.mpy` file: its version, its architecture, and how much of it is machine code.

Source: MicroPython's `py/persistentcode.c`. A file is a header (``M``, version, sub-version and architecture,
small-int bits), the counts of names and constants, these, and one function that holds all others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..engines.base import MARCHES

_ARCH_FLAGS = 0x40
_BYTECODE, _NATIVE, _VIPER, _ASSEMBLER = range(4)
_WITHOUT_LENGTH = range(5)  # the native function table, None, False, True, ...
_STRING, _BYTES, _TUPLE = 5, 6, 10


@dataclass(frozen=True)
class MpyFile:
    """A compiled module.

    Attributes
    ----------
    version, subversion : int
        6 and 3 for MicroPython 1.23 and later; the sub-version matters to machine code alone.
    march : str or None
        The architecture of its machine code; None where it holds bytecode only.
    size : int
        Bytes of the file.
    machine_code : int
        Bytes of machine code among them: a board keeps these in its heap as they are, the unix port outside.
    functions : int
        Functions in it, the module's own code included.
    """

    version: int
    subversion: int
    march: str | None
    size: int
    machine_code: int
    functions: int

    @classmethod
    def parse(cls, data: bytes) -> MpyFile:
        """Read a file's contents; raises ValueError where it is no `.mpy` file of version 6."""
        if len(data) < 4 or data[:1] != b"M" or data[1] != 6:
            raise ValueError("not a .mpy file of version 6")
        reader = _Reader(data, 4)
        if data[2] & _ARCH_FLAGS:
            reader.number()
        names, constants = reader.number(), reader.number()
        for _ in range(names):
            length = reader.number()
            if not length & 1:  # otherwise a name every MicroPython has
                reader.skip((length >> 1) + 1)
        for _ in range(constants):
            reader.constant()
        functions = list(reader.functions())
        if reader.at != len(data):
            raise ValueError("a .mpy file that ends in the middle, or goes on after its end")
        arch = (data[2] & ~_ARCH_FLAGS) >> 2
        march = MARCHES[arch] if arch < len(MARCHES) else None
        return cls(data[1], data[2] & 3, march, len(data), sum(functions), len(functions))


class _Reader:
    def __init__(self, data: bytes, at: int) -> None:
        self.data, self.at = data, at

    def skip(self, count: int) -> None:
        self.at += count

    def number(self) -> int:
        """Return a number of seven bits a byte, the highest first."""
        value = 0
        while True:
            if self.at >= len(self.data):
                raise ValueError("a .mpy file that ends in the middle")
            byte = self.data[self.at]
            self.at += 1
            value = value << 7 | byte & 0x7F
            if not byte & 0x80:
                return value

    def constant(self) -> None:
        kind = self.number()
        if kind in _WITHOUT_LENGTH:
            return
        length = self.number()
        if kind == _TUPLE:
            for _ in range(length):
                self.constant()
        else:
            self.skip(length + (kind in (_STRING, _BYTES)))

    def functions(self) -> Iterator[int]:
        """Walk a function and those inside it; yield the bytes of machine code of each."""
        head = self.number()
        kind, length = head & 3, head >> 3
        self.skip(length)
        if kind in (_NATIVE, _VIPER):
            self.number()  # where its prelude is, or its flags
        elif kind == _ASSEMBLER:
            for _ in range(3):  # flags, arguments, types
                self.number()
        yield 0 if kind == _BYTECODE else length
        if head & 4:
            for _ in range(self.number()):
                yield from self.functions()

"""A MicroPython board on a port, through mpremote's transport: run, read, write, restart."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import io
import struct
import time
from collections.abc import Callable, Iterator
from typing import Any

from ..errors import InputError
from .ports import resolve

_READ_CHUNK = 256
# As base64, which is less for the board to parse, and for the line, than a literal. Larger ones are faster:
# each costs a few round trips; but the board holds one three or four times over while it takes it in.
_LEAST_CHUNK, _MOST_CHUNK = 384, 3072
_SHARE_OF_HEAP = 48
_TRIES = 3

_DIGEST = """
import hashlib
_h = hashlib.sha256()
_b = bytearray(256)
with open({!r}, 'rb') as _f:
    while True:
        _n = _f.readinto(_b)
        if not _n:
            break
        _h.update(memoryview(_b)[:_n])
print(''.join('%02x' % _c for _c in _h.digest()))
"""


class Link:
    """A board in its raw REPL.

    Parameters
    ----------
    port : a serial device, a pty or a pyserial URL, ``auto`` or ``id:SERIAL``: what mpremote takes.
    resume : leave the interpreter as it is instead of a soft reset, as `mpremote resume` does.

    Raises
    ------
    InputError
        Nothing answers there, or what answers is no MicroPython.
    """

    def __init__(self, port: str, *, resume: bool = False) -> None:
        from mpremote.transport import TransportError
        from mpremote.transport_serial import SerialTransport

        self.port = port = resolve(port)
        self.resume = resume
        # A link that breaks in the middle shows in several ways.
        self._trouble = (TransportError, OSError, struct.error)
        try:
            with _silence():
                self._transport: Any = SerialTransport(port, baudrate=115200, timeout=2)
        except self._trouble as trouble:
            raise InputError(
                f"cannot be opened ({trouble})",
                file=port,
                remedy="Check the cable, the port's name and that no other program holds it; "
                "`streamgauge flash` without a port lists what there is",
            ) from None
        for attempt in range(_TRIES):
            try:
                self.enter(soft_reset=not resume)
                return
            except self._trouble as trouble:
                # Opening the port resets some boards, which hear nothing while they start.
                time.sleep(0.5 + attempt)
                last = trouble
        self.close()
        raise InputError(
            f"no MicroPython prompt answers ({last})",
            file=port,
            remedy="Check that the board runs MicroPython and that its program lets Ctrl-C through; "
            "press its reset button and try again",
        )

    def enter(self, *, soft_reset: bool) -> None:
        """Interrupt whatever runs and enter the raw REPL."""
        with _silence():
            self._transport.enter_raw_repl(soft_reset=soft_reset)

    def fresh(self) -> None:
        """Forget what earlier programs left behind: a soft reset, or without one the loaded package."""
        if not self.resume:
            self._guarded(lambda: self.enter(soft_reset=True))
        self.run(
            "import sys\n"
            "for _k in list(sys.modules):\n"
            "    if _k == 'gauge' or _k.startswith('gauge.'):\n"
            "        del sys.modules[_k]\n"
        )

    def run(self, program: str, timeout: float = 20.0) -> str:
        """Return what a program prints; `timeout` is the longest silence in seconds.

        Raises
        ------
        InputError
            The program raised something (the message holds the last line of its traceback), or the link
            broke.
        """
        output, error = self._guarded(lambda: self._execute(program, timeout))
        if error:
            lines = error.decode("utf-8", "replace").strip().splitlines()
            raise BoardRefused(lines[-1] if lines else "an error without a message", self.port)
        return str(output.decode("utf-8", "replace").replace("\r\n", "\n"))

    def write(
        self, path: str, content: bytes, progress: Callable[[int], None] = lambda count: None, heap: int = 0
    ) -> None:
        """Write a file to a board with so much heap; `progress` is told how many more bytes are through."""
        size = max(_LEAST_CHUNK, min(_MOST_CHUNK, heap // _SHARE_OF_HEAP // 3 * 3))
        self.run(f"import binascii\n_a = binascii.a2b_base64\n_f = open({path!r}, 'wb')\n_w = _f.write")
        for at in range(0, len(content), size):
            chunk = content[at : at + size]
            self.run(f"_w(_a('{base64.b64encode(chunk).decode()}'))")
            progress(len(chunk))
        self.run("_f.close()")

    def read(self, path: str) -> bytes:
        """Return a file's content."""
        output = self.run(
            f"_b = bytearray({_READ_CHUNK})\n"
            f"with open({path!r}, 'rb') as _f:\n"
            "    while True:\n"
            "        _n = _f.readinto(_b)\n"
            "        if not _n:\n"
            "            break\n"
            "        print(''.join('%02x' % _c for _c in memoryview(_b)[:_n]))\n"
        )
        return bytes.fromhex(output.replace("\n", ""))

    def digest(self, path: str) -> str:
        """Return the SHA-256 of a file, computed by the board where it can, else of what is read back."""
        try:
            return self.run(_DIGEST.format(path)).strip()
        except BoardRefused as refused:
            if "hashlib" not in refused.message and "sha256" not in refused.message:
                raise
            return hashlib.sha256(self.read(path)).hexdigest()

    def restart(self) -> None:
        """Leave the raw REPL; after a soft reset the board's own program starts."""

        def leave() -> None:
            self._transport.exit_raw_repl()
            if not self.resume:
                self._transport.serial.write(b"\x04")

        self._guarded(leave)

    def close(self) -> None:
        """Give the port back."""
        with contextlib.suppress(Exception):
            self._transport.close()

    def __enter__(self) -> Link:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _execute(self, program: str, timeout: float) -> tuple[bytes, bytes]:
        with _silence():
            output, error = self._transport.exec_raw(program, timeout=timeout)
        return bytes(output), bytes(error)

    def _guarded(self, step: Callable[[], Any]) -> Any:
        try:
            return step()
        except self._trouble as trouble:
            raise InputError(
                f"the link to the board broke ({trouble})",
                file=self.port,
                remedy="Check the cable and run the command again: files that are already there are kept",
            ) from None


class BoardRefused(InputError):
    """A program on the board raised something."""

    def __init__(self, said: str, port: str) -> None:
        super().__init__(f"the board said {said}", file=port)


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """mpremote prints what it received when a link breaks; the error says enough."""
    with contextlib.redirect_stdout(io.StringIO()):
        yield

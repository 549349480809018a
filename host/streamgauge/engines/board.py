"""A board on a serial port, through mpremote's transport."""

from __future__ import annotations

import contextlib
import hashlib
import io
import struct
import time
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from .base import (
    PROBE,
    Engine,
    EngineError,
    EngineMissing,
    EngineTimeout,
    Implementation,
    RunOutput,
    checked_path,
)

# The folder on the board's file system, inside the one where a reset leaves it (/, or /flash on a pyboard).
FOLDER = "streamgauge_run"
_QUIET = 10.0

# Prints one line for each entry below a folder, what a folder holds before the folder itself: `d` and its
# path, or a file's SHA-256 (`-` where the board cannot compute it) and its path.
_LIST = """
import os
def _walk(top, inside):
    for entry in os.ilistdir(top):
        path, name = top + '/' + entry[0], inside + entry[0]
        if entry[1] & 0x4000:
            _walk(path, name + '/')
            print('d', name)
            continue
        try:
            import hashlib
            h = hashlib.sha256()
            b = bytearray(256)
            with open(path, 'rb') as f:
                while True:
                    n = f.readinto(b)
                    if not n:
                        break
                    h.update(memoryview(b)[:n])
            print(''.join('%02x' % c for c in h.digest()), name)
        except (ImportError, AttributeError):
            print('-', name)
"""

_MAKE = """
import os
try:
    os.mkdir({!r})
except OSError as e:
    if e.errno != 17:
        raise
"""

_ENTER = """
import os, sys
os.chdir({!r})
if '' not in sys.path:
    sys.path.insert(0, '')
del os, sys
"""


class BoardEngine(Engine):
    """A board that runs programs from its raw REPL, with the files of a run kept in one folder of its own.

    Files are copied only where their SHA-256 differs from what the board holds, and others in that folder
    are removed. Every run starts from a soft reset: the heap is whole, nothing is left of an earlier run.
    """

    def __init__(self, port: str) -> None:
        from mpremote.transport import TransportError

        self.name = port
        self._port = port
        # A link that breaks in the middle shows in several ways.
        self._trouble = (TransportError, OSError, struct.error)
        self._link: Any = None
        try:
            self._open()
            output = self._execute(PROBE, 20.0)
            self._home = self._expect("import os\nprint(os.getcwd())").strip().rstrip("/") + "/" + FOLDER
        except (*self._trouble, EngineError) as trouble:
            self.close()
            raise EngineMissing(
                f"No MicroPython board answers on {port} ({trouble}). Check the cable, the port's name "
                "and that no other program holds it."
            ) from None
        try:
            implementation = Implementation.parse(output.stdout)
        except ValueError:
            self.close()
            raise EngineMissing(
                f"What answers on {port} is not MicroPython: {output.stdout[:100]!r}."
            ) from None
        unfit = implementation.trouble()
        if unfit is not None:
            self.close()
            raise EngineMissing(f"The board on {port} {unfit}. Update its MicroPython.")
        self.bits = implementation.bits
        self.march = implementation.march
        self.version = implementation.text

    def run(
        self,
        script: str,
        files: Mapping[str, bytes] | None = None,
        heap_bytes: int = 0,
        timeout: float = 120.0,
    ) -> RunOutput:
        """See `Engine.run`; the heap is the board's own, whatever `heap_bytes` says."""
        try:
            self._open()
            self._copy({str(checked_path(name)): content for name, content in (files or {}).items()})
            self._reset()
            self._expect(_ENTER.format(self._home))
            output = self._execute(script, timeout)
        except self._trouble as trouble:
            self.close()
            raise EngineError(f"The link to the board on {self._port} broke: {trouble}") from None
        return self._judge(output, "the board's own heap")

    def close(self) -> None:
        """Leave the raw REPL and close the port."""
        link, self._link = self._link, None
        if link is None:
            return
        with contextlib.suppress(Exception):
            link.exit_raw_repl()
        with contextlib.suppress(Exception):
            link.close()

    def _open(self) -> None:
        if self._link is not None:
            return
        from mpremote.transport_serial import SerialTransport

        with _silence():
            # mpremote reads a pty without asking whether something came, so reads need an end of their own.
            self._link = SerialTransport(self._port, baudrate=115200, timeout=2)
        try:
            self._reset()
        except self._trouble:
            # Opening the port resets some boards, which hear nothing while they start.
            time.sleep(2.0)
            self._reset()

    def _reset(self) -> None:
        with _silence():
            self._link.enter_raw_repl(soft_reset=True)

    def _execute(self, program: str, timeout: float) -> RunOutput:
        """Run a program in the raw REPL; raises EngineTimeout after interrupting it."""
        with _silence():
            self._link.exec_raw_no_follow(program)
        parts = [bytearray()]
        in_time = self._follow(parts, timeout)
        if not in_time:
            self._link.serial.write(b"\r\x03")
            if not self._follow(parts, 3.0):
                self.close()
        if self._link is not None:
            # A new prompt, because the transport wants to read one before it sends the next command.
            self._link.serial.write(b"\r\x01")
            self._link.read_until(1, b"raw REPL; CTRL-B to exit\r\n", timeout=_QUIET)
        if not in_time:
            partial = RunOutput(_text(parts[0]), "", -1)
            raise EngineTimeout(f"The program did not end within {timeout:g} s on {self.name}.", partial)
        stderr = _text(parts[1])
        return RunOutput(_text(parts[0]), stderr, 1 if stderr else 0)

    def _follow(self, parts: list[bytearray], timeout: float) -> bool:
        """Receive what a program writes, its traceback and the prompt; False when they are late.

        Byte 0x04 ends the first two.
        mpremote's own loop takes one byte at a time, too slow for a megabyte of output.
        """
        serial = self._link.serial
        end = time.monotonic() + timeout
        while len(parts) < 3 or not parts[2].endswith(b">"):
            if time.monotonic() > end:
                return False
            waiting = serial.inWaiting()
            if not waiting:
                time.sleep(0.002)
                continue
            first, *others = serial.read(waiting).split(b"\x04")
            parts[-1] += first
            parts += [bytearray(other) for other in others]
        return True

    def _expect(self, program: str) -> str:
        output = self._execute(program, 60.0)
        if output.returncode:
            raise EngineError(
                f"The board on {self._port} refused a step of preparation:\n{output.stderr.strip()}"
            )
        return output.stdout

    def _copy(self, files: dict[str, bytes]) -> None:
        """Make the board's folder hold exactly these files, writing only what differs."""
        home = self._home
        folders = {str(parent) for path in files for parent in PurePosixPath(path).parents} - {"."}
        self._expect(_MAKE.format(home))
        held: dict[str, str] = {}
        for line in self._expect(_LIST + f"_walk({home!r}, '')\n").splitlines():
            digest, _, path = line.partition(" ")
            if digest == "d":
                if path in folders:
                    folders.discard(path)
                else:
                    self._expect(f"import os\nos.rmdir({home + '/' + path!r})")
            elif path in files:
                held[path] = digest
            else:
                self._expect(f"import os\nos.remove({home + '/' + path!r})")
        for folder in sorted(folders):
            self._expect(_MAKE.format(f"{home}/{folder}"))
        for path, content in files.items():
            if held.get(path) != hashlib.sha256(content).hexdigest():
                with _silence():
                    self._link.fs_writefile(f"{home}/{path}", content)


def _text(received: bytearray) -> str:
    return received.decode("utf-8", "replace").replace("\r\n", "\n")


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """mpremote prints what it received when a link breaks; the error says enough."""
    with contextlib.redirect_stdout(io.StringIO()):
        yield

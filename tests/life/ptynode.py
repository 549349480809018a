"""A node without a board: MicroPython's unix port behind a pty, with what a board does around it.

Beside `PtyBoard` (restart at a soft reset, raw REPL) it runs `main.py` at a boot that does not end in the raw
REPL, can lose its power at any moment, and can be unplugged and plugged in again under the same name.
"""

from __future__ import annotations

import contextlib
import os
import pty
import select
import signal
import subprocess
import threading
import time
import tty
from pathlib import Path

_BOOT = 0.4  # seconds


class PtyNode:
    """Serve one emulated board on `port` until closed.

    Parameters
    ----------
    program : path of a MicroPython with a raw REPL.
    folder : the board's file system; the port is a link beside it, so that it keeps its name.
    heap : bytes of heap.
    """

    def __init__(self, program: str, folder: Path, heap: int = 200_000) -> None:
        self.folder = folder
        self.port = str(folder.with_name(folder.name + ".port"))
        self.boots = 0
        self._program, self._heap = program, heap
        self._stop = threading.Event()
        self._lock = threading.RLock()
        self._raw = False
        self._outer = self._slave = -1
        self._child: subprocess.Popen[bytes] | None = None
        self._inner = -1
        folder.mkdir(parents=True, exist_ok=True)
        self.plug_in()
        self.power_on()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def plug_in(self) -> None:
        """Give the port a new pty, as a board that comes back on USB gets a new device."""
        with self._lock:
            self._outer, self._slave = pty.openpty()
            tty.setraw(self._slave)
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.port)
            os.symlink(os.ttyname(self._slave), self.port)

    def unplug(self) -> None:
        """Take the cable out; the program goes on, and what it writes is lost."""
        with self._lock:
            os.unlink(self.port)
            for descriptor in (self._outer, self._slave):
                os.close(descriptor)
            self._outer = self._slave = -1

    def power_on(self) -> None:
        """Boot: `main.py` runs where there is one, unless a soft reset came out of the raw REPL."""
        with self._lock:
            self._inner, slave = pty.openpty()
            tty.setraw(slave)
            command = [self._program, "-X", f"heapsize={self._heap}"]
            main = not self._raw and (self.folder / "main.py").is_file()
            if main:
                command += ["-i", "main.py"]
            self._child = subprocess.Popen(
                command,
                stdin=slave,
                stdout=slave,
                stderr=slave,
                cwd=self.folder,
                env={**os.environ, "MICROPYPATH": ":.frozen:lib", "TERM": "dumb"},
                start_new_session=True,
            )
            os.close(slave)
            self._began = time.monotonic()
            self.boots += 1
            self._last = b""
            if not main:
                # Bytes that come before the prompt would be lost, or a Ctrl-C among them end the program.
                banner = b""
                while not banner.endswith(b">>> "):
                    banner += os.read(self._inner, 4096)
                self._last = b">"
                if self._raw:
                    os.write(self._inner, b"\r\x01")

    def power_off(self) -> None:
        """Stop at once, whatever it is doing."""
        with self._lock:
            if self._child is not None:
                self._child.kill()
                self._child.wait()
                os.close(self._inner)
                self._child, self._raw = None, False

    def disturb(self, noise: bytes) -> None:
        """Put bytes on the line to the host that the node did not write."""
        with self._lock:
            self._to_host(noise)

    def close(self) -> None:
        """End the program and give the pty back."""
        self._stop.set()
        self._thread.join()
        self.power_off()
        with contextlib.suppress(OSError):
            self.unplug()

    def _serve(self) -> None:
        while not self._stop.is_set():
            # Waits without the lock, so that others may change what is waited for; then looks again with it.
            with contextlib.suppress(OSError, ValueError):
                if not select.select(self._open_ones(), [], [], 0.02)[0]:
                    continue
            with self._lock:
                self._serve_once()

    def _open_ones(self) -> list[int]:
        child = [self._inner] if self._child is not None else []
        return child if self._outer < 0 else [self._outer, *child]

    def _serve_once(self) -> None:
        ready, _, _ = select.select(self._open_ones(), [], [], 0)
        if self._outer >= 0 and self._outer in ready:
            self._to_child(os.read(self._outer, 4096))
        if self._child is not None and self._inner in ready:
            try:
                said = os.read(self._inner, 65536)
            except OSError:
                said = b""
            if said:
                self._last = said.rstrip(b" ")[-1:]
                self._to_host(said)
            else:
                self._child.wait()
                os.close(self._inner)
                self._child = None
                self._to_host(b"MPY: soft reboot\r\n")
                self.power_on()

    def _to_host(self, said: bytes) -> None:
        if self._outer < 0:
            return
        # A reader that is away must not stop the node: what the pty cannot hold is lost, as on a UART.
        _, writable, _ = select.select([], [self._outer], [], 0)
        if writable:
            os.write(self._outer, said)

    def _to_child(self, received: bytes) -> None:
        for byte in received:
            if byte in (1, 2):
                self._raw = byte == 1
        if self._child is None:
            return
        # The unix port leaves the terminal raw while it runs a program, so that Ctrl-C is no signal.
        if b"\x03" in received and self._last != b">":
            # A process that has just begun dies of the signal, where a board would still be booting.
            time.sleep(max(0.0, self._began + _BOOT - time.monotonic()))
            self._child.send_signal(signal.SIGINT)
            received = received.replace(b"\x03", b"")
            self._wait_for_prompt()
        if received:
            os.write(self._inner, received)

    def _wait_for_prompt(self) -> None:
        """Keep back what follows a Ctrl-C until the program has given way to the prompt."""
        said, end = b"", time.monotonic() + 3
        while not said.endswith(b">") and not said.endswith(b">>> ") and time.monotonic() < end:
            ready, _, _ = select.select([self._inner], [], [], 0.05)
            if ready:
                said += os.read(self._inner, 65536)
        self._last = said.rstrip(b" ")[-1:]
        self._to_host(said)

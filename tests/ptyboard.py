"""A board without a board: MicroPython's unix port behind a pty, restarted at every soft reset.

The unix port ends at Ctrl-D where a board restarts its interpreter and says so. This stands between a pty
that a serial library opens and the program, starts it anew, says `MPY: soft reboot` as a board does, and
returns to the raw REPL when it was in the raw REPL before.
"""

from __future__ import annotations

import contextlib
import os
import pty
import select
import signal
import subprocess
import threading
import tty
from pathlib import Path


class PtyBoard:
    """Serve one emulated board on `port` until closed; its file system is `folder`."""

    def __init__(self, command: tuple[str, ...], folder: Path) -> None:
        self.resets = 0
        self._command, self._folder = command, folder
        self._outer, self._slave = pty.openpty()
        tty.setraw(self._slave)
        self.port = os.ttyname(self._slave)
        self._raw = False
        self._stop = threading.Event()
        self._start()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _start(self) -> None:
        self._inner, slave = pty.openpty()
        tty.setraw(slave)
        environment = {**os.environ, "MICROPYPATH": ".frozen", "TERM": "dumb"}
        self._child = subprocess.Popen(
            [*self._command, "-X", "heapsize=200k"],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=self._folder,
            env=environment,
            start_new_session=True,
        )
        os.close(slave)
        # Bytes that come before the prompt would be lost, or a Ctrl-C among them end the program.
        banner = b""
        while not banner.endswith(b">>> "):
            banner += os.read(self._inner, 4096)
        self._last = banner[-1:]

    def _serve(self) -> None:
        while not self._stop.is_set():
            ready, _, _ = select.select([self._outer, self._inner], [], [], 0.05)
            if self._outer in ready:
                received = os.read(self._outer, 4096)
                for mode, byte in ((True, b"\x01"), (False, b"\x02")):
                    if byte in received:
                        self._raw = mode
                # The unix port leaves the terminal raw while it runs a program, so that Ctrl-C is no signal.
                if b"\x03" in received and self._last != b">":
                    self._child.send_signal(signal.SIGINT)
                    received = received.replace(b"\x03", b"")
                os.write(self._inner, received)
            if self._inner in ready:
                try:
                    said = os.read(self._inner, 65536)
                except OSError:
                    said = b""
                if said:
                    self._last = said[-1:]
                    os.write(self._outer, said)
                else:
                    self._restart()

    def _restart(self) -> None:
        self._child.wait()
        os.close(self._inner)
        self.resets += 1
        os.write(self._outer, b"MPY: soft reboot\r\n")
        self._start()
        if self._raw:
            os.write(self._inner, b"\r\x01")

    def close(self) -> None:
        """End the program and give the pty back."""
        self._stop.set()
        self._thread.join()
        self._child.kill()
        self._child.wait()
        for descriptor in (self._inner, self._outer, self._slave):
            with contextlib.suppress(OSError):
                os.close(descriptor)

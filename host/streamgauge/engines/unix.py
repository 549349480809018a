"""Engines that are programs of this machine: MicroPython for x86-64, and for 32-bit ARM under qemu-arm."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from ..places import engines_root
from . import fetch
from .base import PROBE, Engine, EngineMissing, EngineTimeout, Implementation, RunOutput, checked_path

PROGRAM = "program.py"


class UnixEngine(Engine):
    """A MicroPython of the unix port, started anew for every run."""

    def __init__(
        self, name: str, command: tuple[str, ...], implementation: Implementation, march: str | None
    ) -> None:
        self.name = name
        self.command = command
        self.implementation = implementation
        self.bits = implementation.bits
        self.version = implementation.text
        self.march = march

    def under(self, *options: str) -> UnixEngine:
        """This arm engine with more options for qemu-arm."""
        at = self.command.index("-L")
        command = (*self.command[:at], *options, *self.command[at:])
        return UnixEngine(self.name, command, self.implementation, self.march)

    def run(
        self,
        script: str,
        files: Mapping[str, bytes] | None = None,
        heap_bytes: int = 1 << 20,
        timeout: float = 120.0,
    ) -> RunOutput:
        """See `Engine.run`. `heap_bytes` is the heap's whole area, out of which its own tables come."""
        try:
            output = _start(self.command, script, files or {}, heap_bytes, timeout)
        except subprocess.TimeoutExpired as late:
            partial = RunOutput(_text(late.stdout), _text(late.stderr), -1)
            raise EngineTimeout(
                f"The program did not end within {timeout:g} s on {self.name}.", partial
            ) from None
        return self._judge(output, f"heap of {heap_bytes} bytes")


def _start(
    command: tuple[str, ...], script: str, files: Mapping[str, bytes], heap_bytes: int, timeout: float
) -> RunOutput:
    """Run a program in a fresh folder."""
    with tempfile.TemporaryDirectory(prefix="streamgauge-") as folder:
        home = Path(folder)
        for name, content in files.items():
            path = home / checked_path(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        (home / PROGRAM).write_text(script, encoding="utf-8", newline="\n")
        # Only the folder itself is imported from: not ~/.micropython/lib, whatever the user keeps there.
        environment = {**os.environ, "MICROPYPATH": ".frozen", "HOME": folder}
        done = subprocess.run(
            [*command, "-X", f"heapsize={int(heap_bytes)}", PROGRAM],
            cwd=home,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout,
        )
    stdout, stderr = _text(done.stdout), _text(done.stderr)
    if done.returncode and not stderr:
        # The pip package's build writes tracebacks where the program writes.
        at = stdout.rfind("Traceback (most recent call last):\n")
        if at >= 0:
            stdout, stderr = stdout[:at], stdout[at:]
    return RunOutput(stdout, stderr, done.returncode)


def _text(received: str | bytes | None) -> str:
    return received.decode("utf-8", "replace") if isinstance(received, bytes) else received or ""


@functools.cache
def _probe(command: tuple[str, ...]) -> Implementation | str:
    """What a MicroPython says of itself, or why it says nothing."""
    try:
        output = _start(command, PROBE, {}, 64 * 1024, 60.0)
    except OSError as trouble:
        return f"does not start ({trouble.strerror})"
    except subprocess.TimeoutExpired:
        return "does not answer"
    try:
        return Implementation.parse(output.stdout)
    except ValueError:
        return "does not run a MicroPython program: " + (output.stderr.strip()[-200:] or output.stdout[:200])


def _x64_candidates() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Programs to try: on PATH, the pip package's (its folder need not be on PATH), the unpacked one."""
    seen = set()
    beside = str(Path(sys.executable).parent)
    for where in (None, beside):
        found = shutil.which("micropython", path=where)
        if found and found not in seen:
            seen.add(found)
            yield found, (found,)
    root = engines_root() / "x64"
    if (root / fetch.STAMP).is_file():
        yield str(root), tuple(fetch.commands("x64", root))


def x64_engine() -> UnixEngine:
    """The MicroPython of this machine's own processor; raises EngineMissing where none fits."""
    refused = []
    for where, command in _x64_candidates():
        found = _probe(command)
        trouble = found if isinstance(found, str) else found.trouble()
        if trouble is None and isinstance(found, Implementation):
            return UnixEngine("x64", command, found, found.march)
        refused.append(f"{where} {trouble}.")
    raise EngineMissing(
        " ".join(["There is no MicroPython for this machine that loads the firmware.", *refused])
        + " Run `make engines`, or put a `micropython` of 1.23 or newer on PATH."
    )


def arm_engine() -> UnixEngine:
    """The 32-bit ARM MicroPython under qemu-arm; raises EngineMissing where it was not fetched."""
    root = engines_root() / "arm"
    if not (root / fetch.STAMP).is_file():
        raise EngineMissing(
            f"The arm engine is not in {root}. Run `make engines` (a Debian machine fetches it)."
        )
    try:
        command = tuple(fetch.commands("arm", root))
    except fetch.FetchError as trouble:
        raise EngineMissing(f"The arm engine is in {root}, but {trouble}") from None
    found = _probe(command)
    trouble_text = found if isinstance(found, str) else found.trouble()
    if trouble_text is not None or isinstance(found, str):
        raise EngineMissing(
            f"The arm engine in {root} {trouble_text}. Delete that folder and run `make engines`."
        )
    # The build would take armv7 code; armv6m runs on the smallest boards too, so that is what is measured.
    return UnixEngine("arm", command, found, "armv6m")

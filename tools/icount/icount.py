"""Count the ARM instructions that a MicroPython program or a C program executes, from mark to mark.

A program marks a point with a call that fails at once: in MicroPython

    try:
        os.remove("@")
    except OSError:
        pass

and in C `unlink("@")`. The count is the same in every run, whatever the machine does besides. A mark
costs instructions itself, so a cost is taken as a difference: of two sizes of one loop, or of a loop and an
empty one.

    python tools/icount/icount.py program.py [--heap BYTES]
    python tools/icount/icount.py program.c [--flags "-O2 -mthumb"]
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from streamgauge.engines import EngineError, EngineMissing, RunOutput
from streamgauge.engines.fetch import FetchError, qemu_arm
from streamgauge.engines.unix import UnixEngine, arm_engine
from streamgauge.places import cache, engines_root

HERE = Path(__file__).resolve().parent
CROSS_COMPILER = "arm-linux-gnueabihf-gcc"
# What a Cortex-M build would be made with: small Thumb code; static, so that no loader is counted.
FLAGS = ("-Os", "-mthumb", "-march=armv7-a+fp", "-static")

# For MicroPython programs: `mark()` marks a point. One bound name less to look up keeps its own cost down.
MARK = """
from os import remove as _remove
def mark():
    try:
        _remove("@")
    except OSError:
        pass
"""


@dataclass(frozen=True)
class Counts:
    """Instructions executed from the program's start to each mark, and to its end."""

    marks: tuple[int, ...]
    total: int
    output: RunOutput

    @property
    def between(self) -> tuple[int, ...]:
        """Instructions from each mark to the next one; the mark's own cost is in them."""
        return tuple(later - earlier for earlier, later in zip(self.marks, self.marks[1:], strict=False))


def _qemu_version(qemu: Sequence[str]) -> int:
    said = subprocess.run([*qemu, "--version"], capture_output=True, text=True).stdout
    found = re.search(r"version (\d+)", said)
    if not found:
        raise EngineMissing(f"{' '.join(qemu)} does not say its version.")
    return int(found[1])


def plugin() -> Path:
    """The compiled plugin for this machine's qemu-arm, built when it is not there yet.

    Raises
    ------
    EngineMissing
        There is no qemu-arm or gcc, or this qemu-arm takes no plugins (Debian 13's is built without).
    """
    try:
        qemu = qemu_arm(engines_root())
    except FetchError as trouble:
        raise EngineMissing(str(trouble)) from None
    version = _qemu_version(qemu)
    if "-plugin" not in subprocess.run([*qemu, "--help"], capture_output=True, text=True).stdout:
        raise EngineMissing(
            f"qemu-arm {version} of this machine takes no plugins, so instructions cannot be counted here; "
            "that of Debian 12 does."
        )
    source = HERE / "marks.c"
    interface = 1 if version < 9 else 2
    key = hashlib.sha256(source.read_bytes() + bytes([interface])).hexdigest()[:16]
    built = cache() / "icount" / f"marks-{key}.so"
    if not built.is_file():
        compiler = shutil.which("gcc") or shutil.which("cc")
        if not compiler:
            raise EngineMissing("The plugin that counts instructions needs a C compiler: install gcc.")
        built.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=built.parent) as folder:
            part = Path(folder) / "marks.so"
            _compile(
                [
                    compiler,
                    "-O2",
                    "-shared",
                    "-fPIC",
                    f"-DPLUGIN_API={interface}",
                    str(source),
                    "-o",
                    str(part),
                ]
            )
            part.replace(built)
    return built


def _compile(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise EngineError(f"{command[-1]} does not compile:\n{done.stderr.strip()[-2000:]}")


def _read(path: Path, output: RunOutput) -> Counts:
    counts = [int(line) for line in path.read_text().split()]
    return Counts(tuple(counts[:-1]), counts[-1], output)


def count_micropython(
    script: str,
    files: Mapping[str, bytes] | None = None,
    *,
    heap_bytes: int = 1 << 20,
    timeout: float = 300.0,
    engine: UnixEngine | None = None,
) -> Counts:
    """Run a MicroPython program on the arm engine and count; `MARK` before the script gives it `mark()`."""
    engine = engine or arm_engine()
    with tempfile.TemporaryDirectory(prefix="streamgauge-") as folder:
        counts = Path(folder) / "counts"
        # The environment lies on the program's stack, and what it holds moves counts by a few instructions.
        bare = [option for name in os.environ if name != "MICROPYPATH" for option in ("-U", name)]
        counting = engine.under(*bare, "-plugin", f"{plugin()},out={counts}")
        output = counting.run(script, files, heap_bytes, timeout)
        return _read(counts, output)


def compile_c(sources: Sequence[Path], target: Path, flags: Sequence[str] = FLAGS) -> None:
    """Compile a C program for 32-bit ARM; raises EngineMissing without the cross compiler."""
    if not shutil.which(CROSS_COMPILER):
        raise EngineMissing(
            f"There is no {CROSS_COMPILER}: install gcc-arm-linux-gnueabihf and libc6-dev-armhf-cross."
        )
    _compile([CROSS_COMPILER, *flags, *map(str, sources), "-o", str(target), "-lm"])


def count_c(
    sources: Sequence[Path],
    arguments: Sequence[str] = (),
    *,
    flags: Sequence[str] = FLAGS,
    timeout: float = 300.0,
) -> Counts:
    """Compile a C program for 32-bit ARM, run it and count."""
    with tempfile.TemporaryDirectory(prefix="streamgauge-") as folder:
        program, counts = Path(folder) / "program", Path(folder) / "counts"
        compile_c(sources, program, flags)
        command = [*qemu_arm(engines_root()), "-plugin", f"{plugin()},out={counts}", str(program), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, cwd=folder)
        if done.returncode:
            raise EngineError(
                f"{sources[0]} ended with exit code {done.returncode}:\n{done.stderr.strip()[-2000:]}"
            )
        return _read(counts, RunOutput(done.stdout, done.stderr, done.returncode))


def main() -> int:
    parser = argparse.ArgumentParser(description="Count executed ARM instructions from mark to mark.")
    parser.add_argument("program", type=Path, help="a MicroPython program (.py) or a C program (.c)")
    parser.add_argument("argument", nargs="*", help="arguments of a C program")
    parser.add_argument("--heap", type=int, default=1 << 20, help="bytes of heap for MicroPython")
    parser.add_argument("--flags", default=" ".join(FLAGS), help="flags for the C compiler (%(default)s)")
    options = parser.parse_args()
    try:
        if options.program.suffix == ".c":
            counts = count_c([options.program], options.argument, flags=options.flags.split())
        else:
            counts = count_micropython(MARK + options.program.read_text(), heap_bytes=options.heap)
    except (EngineError, OSError) as trouble:
        print(f"icount: {trouble}", file=sys.stderr)
        return 1
    sys.stdout.write(counts.output.stdout)
    for number, instructions in enumerate(counts.between):
        print(f"mark {number} to {number + 1}: {instructions:,} instructions")
    print(f"whole run: {counts.total:,} instructions")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""`streamgauge build`: the node's package, compiled for a board."""

from __future__ import annotations

import json
from pathlib import Path

import click

from streamgauge import firmware, formats
from streamgauge.engines.base import MARCHES
from streamgauge.errors import InputError
from streamgauge.flash.board import identify
from streamgauge.flash.link import Link
from streamgauge.flash.mpy import MpyFile

BYTECODE = "bytecode"
NAMES = (*(march for march in MARCHES if march), BYTECODE)


@click.command(
    "build",
    epilog="""\b
Examples:
  streamgauge build --board /dev/ttyACM0
  streamgauge build --arch armv6m --out build/mpy
  mpremote mip install build/mpy/armv6m/package.json""",
)
@click.option(
    "--arch",
    type=click.Choice(NAMES),
    metavar="ARCH",
    multiple=True,
    help=f"Architecture: {', '.join(NAMES)}. May be given several times.",
)
@click.option("--board", metavar="PORT", help="Ask the board on this port what it takes.")
@click.option(
    "--out",
    default="build/mpy",
    show_default=True,
    metavar="DIR",
    help="Where to; each architecture gets a folder of its own.",
)
@click.option("--resume", is_flag=True, help="Do not reset the board (as `mpremote resume`).")
def command(arch: tuple[str, ...], board: str | None, out: str, resume: bool) -> None:
    """Compile the package `gauge` to .mpy files that a board loads without compiling.

    Machine code for an architecture, or with `--arch bytecode` the same sources for ports without a native
    emitter. Beside the files stands a package.json, so that `mpremote mip install` takes them.
    """
    if bool(arch) == bool(board):
        raise click.UsageError("say what for: --arch or --board", click.get_current_context())
    chosen = list(arch)
    if board is not None:
        with Link(board, resume=resume) as link:
            found = identify(link)
            link.restart()
        found.refuse_unfit()
        click.echo(f"{board}: {found.what}")
        chosen = [found.implementation.march or BYTECODE]
    for name in dict.fromkeys(chosen):
        folder = Path(out) / name
        built = firmware.build(None if name == BYTECODE else name)
        _write(folder, built)
        click.echo(f"{folder}: {_described(built)}")


def _described(built: dict[str, bytes]) -> str:
    headers = [MpyFile.parse(content) for content in built.values()]
    size = f"{len(built)} files, {formats.count(sum(map(len, built.values())))} bytes"
    native = sum(header.machine_code for header in headers)
    if not native:
        return f"{size}, bytecode alone (.mpy {headers[0].version})"
    minor = max(header.subversion for header in headers)
    return (
        f"{size}, {formats.count(native)} of them machine code "
        f"(.mpy {headers[0].version}.{minor}, for MicroPython 1.23 and newer)"
    )


def _write(folder: Path, built: dict[str, bytes]) -> None:
    """Make the folder hold exactly this build: a module of an earlier version would be installed with it."""
    package = {"urls": [[name, name] for name in built], "version": _version()}
    try:
        for stale in (folder / firmware.PACKAGE).glob("*.mpy"):
            if f"{firmware.PACKAGE}/{stale.name}" not in built:
                stale.unlink()
        for name, content in built.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        (folder / "package.json").write_text(json.dumps(package, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        where = error.filename or folder
        raise InputError(f"cannot be written ({error.strerror})", file=where) from None


def _version() -> str:
    return str(firmware.node_model().__version__)

"""What a board is: its MicroPython, its heap, its file system, what is already on it."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from ..engines.base import Implementation
from ..errors import InputError
from .link import Link

# Everything in one answer, the literal of a dict. The free heap comes first: what follows takes some of it.
_PROBE = """
import gc
gc.collect()
_d = {'free': gc.mem_free()}
_d['heap'] = _d['free'] + gc.mem_alloc()
import sys, os
_i = sys.implementation
_d['name'] = _i.name
_d['version'] = tuple(_i.version)[:3]
_d['mpy'] = getattr(_i, '_mpy', 0)
_d['word'] = sys.maxsize > 0x7fffffff
_d['machine'] = getattr(_i, '_machine', sys.platform)
_d['home'] = os.getcwd()
_d['path'] = list(sys.path)
try:
    _s = os.statvfs(_d['home'])
    _d['disk'] = (_s[1] * _s[3], _s[1] * _s[2])
except (AttributeError, OSError):
    _d['disk'] = None
try:
    import machine
    _d['id'] = ''.join('%02x' % c for c in machine.unique_id())
except (ImportError, AttributeError):
    _d['id'] = ''
def _l(path):
    found = {}
    try:
        for e in os.ilistdir(path):
            if not e[1] & 0x4000:
                found[e[0]] = e[3] if len(e) > 3 else os.stat(path + '/' + e[0])[6]
    except OSError:
        pass
    return found
_d['files'] = _l(_d['home'])
for _p in _d['path']:
    if _p != '' and _p.endswith('lib'):
        _d['lib'] = _p
        _d['package'] = _l(_p + '/gauge')
        break
_d['beside'] = _l(_d['home'] + '/gauge' if _d['home'] != '/' else '/gauge')
print(repr(_d))
"""


@dataclass(frozen=True)
class Board:
    """A board's answers.

    Attributes
    ----------
    port, machine, unique_id : str
    implementation : Implementation
        MicroPython's version, `.mpy` version, architecture and word size.
    heap, heap_free : int
        Bytes.
    disk_free : int or None
        Bytes free in the file system; None where the board does not tell.
    home : str
        Where a reset leaves the current folder: `main.py`, the configuration and snapshots lie here.
    lib : str
        The folder the package goes into: the one `mip` uses where there is one, else `home`.
    files, package : dict of str to int
        Sizes by name of what `home` and the package's folder hold.
    """

    port: str
    machine: str
    unique_id: str
    implementation: Implementation
    heap: int
    heap_free: int
    disk_free: int | None
    home: str
    lib: str
    files: dict[str, int]
    package: dict[str, int]

    @property
    def what(self) -> str:
        """One line for people."""
        march = self.implementation.march
        code = f"machine code for {march}" if march else "bytecode only"
        return f"{self.machine}, MicroPython {self.implementation.text}, {code}"

    def path(self, name: str) -> str:
        """Path of a file that lies in `home`."""
        return str(PurePosixPath(self.home) / name)

    def package_path(self, name: str) -> str:
        """Path of a file of the package, from its path in a build (`gauge/node.mpy`)."""
        return str(PurePosixPath(self.lib) / name)

    def refuse_unfit(self) -> None:
        """Raise InputError where this MicroPython cannot load what is built."""
        trouble = self.implementation.trouble()
        if trouble is not None:
            raise InputError(
                f"the board {trouble}",
                file=self.port,
                remedy="Put a newer MicroPython on it, from micropython.org/download",
            )


def identify(link: Link) -> Board:
    """Ask a board what it is."""
    text = link.run(_PROBE).strip()
    try:
        told: dict[str, Any] = ast.literal_eval(text)
        version = told["version"]
        implementation = Implementation(
            (int(version[0]), int(version[1]), int(version[2])), told["mpy"], 64 if told["word"] else 32
        )
        home = told["home"]
        with_lib = "lib" in told
        return Board(
            port=link.port,
            machine=told["machine"],
            unique_id=told["id"],
            implementation=implementation,
            heap=told["heap"],
            heap_free=told["free"],
            disk_free=told["disk"][0] if told["disk"] else None,
            home=home,
            lib=told["lib"] if with_lib else home,
            files=told["files"],
            package=told["package"] if with_lib else told["beside"],
        )
    except (ValueError, SyntaxError, KeyError, TypeError, IndexError):
        raise InputError(
            f"what answers is not MicroPython ({text[:80]!r})", file=link.port, remedy="Check the port"
        ) from None

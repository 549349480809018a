"""What code takes of the heap when it is frozen into the firmware: an estimate from the sources.

Bytecode, machine code, names and constants of a frozen module stay in flash. What is made when it is imported
does not: the module with its dict, a closure of four words for each function, a type of fifteen words and a
dict for each class, and what its statements build. Layouts as in `heap_model`; a test compares the estimate
with what the frozen modules of the engine take.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from . import heap_model as heap

_WORD = 4
_FUNCTION_WORDS = 4
_TYPE_WORDS = 15
_NAMES_OF_MODULE = 2  # __name__, __file__
_NAMES_OF_CLASS = 2  # __module__, __qualname__
_LOADED = 2 * _WORD  # the module's place in the table of those loaded


@dataclass
class Shape:
    """What an imported module holds.

    Attributes
    ----------
    names : int
        Entries of its dict, those that every module has included.
    functions : list of int
        For each function, methods too, how many default values it keeps.
    classes : list of int
        For each class, the entries of its dict, those that every class has included.
    built : int
        Bytes of dicts and lists that its statements leave.
    """

    names: int
    functions: list[int] = field(default_factory=list)
    classes: list[int] = field(default_factory=list)
    built: int = 0

    @property
    def bytes(self) -> int:
        """What it takes."""
        functions = sum(heap.blocks(_WORD * (_FUNCTION_WORDS + defaults)) for defaults in self.functions)
        classes = sum(heap.blocks(_WORD * _TYPE_WORDS) + heap.dictionary(entries) for entries in self.classes)
        module = heap.blocks(4 * _WORD) + heap.dictionary(self.names) + _LOADED
        return module + functions + classes + self.built


def shape_of(source: str) -> Shape:
    """Return the shape of a module from its source (the branch for MicroPython where it asks)."""
    names: set[str] = set()
    shape = Shape(0)
    for statement in _statements(ast.parse(source).body):
        _take(statement, names, shape)
    shape.names = len(names) + _NAMES_OF_MODULE
    return shape


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        if isinstance(statement, ast.If):
            # `if sys.implementation.name == "micropython"`, the only question modules of the node ask.
            yield from _statements(statement.body)
        else:
            yield statement


def _take(statement: ast.stmt, names: set[str], shape: Shape) -> None:
    if isinstance(statement, ast.Import | ast.ImportFrom):
        names.update((alias.asname or alias.name).split(".")[0] for alias in statement.names)
    elif isinstance(statement, ast.FunctionDef):
        names.add(statement.name)
        shape.functions.append(len(statement.args.defaults))
    elif isinstance(statement, ast.ClassDef):
        names.add(statement.name)
        inside: set[str] = set()
        for inner in statement.body:
            _take(inner, inside, shape)
        shape.classes.append(len(inside) + _NAMES_OF_CLASS)
    elif isinstance(statement, ast.Assign):
        if _is_private_constant(statement):
            return
        for target in statement.targets:
            names.update(node.id for node in ast.walk(target) if isinstance(node, ast.Name))
        shape.built += _built(statement.value)


def _is_private_constant(statement: ast.Assign) -> bool:
    """Say whether it is `_NAME = const(...)`, which the compiler puts where it is used."""
    value, target = statement.value, statement.targets[0]
    return (
        isinstance(value, ast.Call)
        and isinstance(value.func, ast.Name)
        and value.func.id == "const"
        and isinstance(target, ast.Name)
        and target.id.startswith("_")
    )


def _built(value: ast.expr) -> int:
    if isinstance(value, ast.Dict):
        return heap.dictionary(len(value.keys), len(value.keys))
    if isinstance(value, ast.List):
        return heap.appended_list(len(value.elts))
    return 0

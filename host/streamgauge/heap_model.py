"""What objects take of a 32-bit MicroPython's heap, in bytes.

The heap is handed out in blocks of four words, 16 bytes. Layouts: `py/obj*.h`, `py/map.c` and `py/objlist.c`
of MicroPython 1.25.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

BLOCK = 16
_WORD = 4

# `mp_map` takes the next of these sizes when it is full (above 17 in steps of about a quarter).
_MAP_SIZES = (0, 2, 4, 6, 8, 10, 12, 17, 23, 29, 37, 47, 59, 73, 97, 127, 167, 223, 293, 389, 521, 691)
_LEAST_LIST = 4


def blocks(size: int) -> int:
    """Return what `size` bytes take in whole blocks."""
    return -(-size // BLOCK) * BLOCK


def array_words(count: int) -> int:
    """Return what `array('i', bytes(4 * count))` takes: its object, and the words."""
    return blocks(4 * _WORD) + blocks(_WORD * count)


def byte_array(count: int) -> int:
    """Return what `bytearray(count)` takes."""
    return blocks(4 * _WORD) + blocks(count)


def map_table(entries: int, reserved: int = 0) -> int:
    """Return the table of a dict, module or instance that grew to `entries` from `reserved` places."""
    places = next(size for size in (reserved, *_MAP_SIZES) if size >= max(entries, reserved))
    return blocks(2 * _WORD * places)


def instance(attributes: int) -> int:
    """Return an instance of a class written in Python, with so many attributes."""
    return blocks(4 * _WORD) + map_table(attributes)


def closure(variables: int) -> int:
    """Return a function defined inside another, of which it uses so many variables."""
    return blocks(4 * _WORD) + blocks((3 + variables) * _WORD)


def cell() -> int:
    """Return the place of a variable that inner functions use."""
    return blocks(2 * _WORD)


def dictionary(entries: int, literal: int = 0) -> int:
    """Return a dict that began with `literal` entries and grew to `entries`."""
    return blocks(4 * _WORD) + map_table(entries, literal)


def appended_list(items: int) -> int:
    """Return a list that began empty and was appended to: it doubles."""
    places = _LEAST_LIST
    while places < items:
        places *= 2
    return blocks(4 * _WORD) + blocks(_WORD * places)


def fixed_tuple(items: int) -> int:
    """Return a tuple; the empty one is shared."""
    return blocks((2 + items) * _WORD) if items else 0


def text(value: str) -> int:
    """Return a str object with its bytes (and the 0 behind them); the empty one is shared."""
    data = value.encode()
    return blocks(4 * _WORD) + blocks(len(data) + 1) if data else 0


def whole_number(value: int) -> int:
    """Return an int: up to 31 bits it lies in the word that points to it."""
    return 0 if -(2**30) <= value < 2**30 else 2 * BLOCK


def parsed_json(value: Any, known: Callable[[str], bool]) -> int:
    """Return what `json.load` leaves.

    Parameters
    ----------
    value : object
        The document: dicts, lists, texts and whole numbers.
    known : callable
        Whether MicroPython holds a text as a name already; such a text takes nothing.
    """
    if isinstance(value, dict):
        inside = sum(parsed_json(item, known) for pair in value.items() for item in pair)
        return dictionary(len(value)) + inside
    if isinstance(value, list):
        return appended_list(len(value)) + sum(parsed_json(item, known) for item in value)
    if isinstance(value, str):
        return 0 if known(value) else text(value)
    return whole_number(value)

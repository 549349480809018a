"""What a node's state will take, from its configuration alone: no node is built.

Every part is counted in the words it needs for what it keeps; `heap_model` says what arrays and objects of
these sizes take of a 32-bit heap. The node's code is not asked: what it books (`Node.ledger`) and what the
heap then shows are compared with these figures.

Words, with L labels (NULL included):

============  ===========================================================================================
join          84 for clock, sides, queue and counters; two for each run a side, and one more each where
              segments may overlap; with reliability on 6, and two for each change of the confidence
entries       16 entries of 8 words between join and estimators, and a count of alarms
align         16 of settings and clock, 2 sides of 6, 5 counters and 2 for the sum of IoU, six statistics
              of 9 (two sums of 2, a sum of squares of 3, least and most) and 6 values of the match at hand;
              four for each pending segment a side; L x L for the confusion, L splits, L merges. Besides, a
              byte each for twice as many cells
slices        9 for the two open runs; nine categories of L two-word counters
prequential   19, a table of 17; a bit a record of the window, 30 in a word
loss          15, and two bytes a record of the window
page_hinkley  36, and a bit a record of its window where it watches one
ddm           21
adwin         24 of settings and counters, 16 logarithms; per row 3 for its ring, and a word a bucket
compare       a clock that fades: 7 and a table of 17; 26 of sums, leads and counters; two bits a record
              of its window, 15 in a word
forgetting    a clock; 6; per label the halvings its row has paid, and L cells
reliability   a clock, and 4 more for that of records without truth; 5; four columns of bins. Besides, 8 entries
              of 8 words, each record's confidence in them
holdout       the set, a byte a record; 5, and three words a score kept
hierarchy     116 for settings, sums and levels; a word a boundary and level
============  ===========================================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from . import heap_model as heap

Config = Mapping[str, Any]

OBJECTS = "objects"
CONFIG = "config"

_RECORDS_A_WORD = 30  # a word keeps clear of its two upper bits
_CODES_A_WORD = 15
_FADING_CLOCK = 7 + 17


@dataclass(frozen=True)
class Array:
    """One array of the ledger.

    Attributes
    ----------
    part : str
        Who asks for it.
    words, count : int
        32-bit words, or bytes where `words` is 0.
    """

    part: str
    words: int
    count: int = 0

    @property
    def bytes(self) -> int:
        """What it takes of the heap."""
        return heap.array_words(self.words) if self.words else heap.byte_array(self.count)


def _words(records: int, a_word: int) -> int:
    return -(-records // a_word)


def _hierarchy(o: Config) -> Iterator[Array]:
    yield Array("hierarchy", 116 + o["boundaries"] * (o["levels_truth"] + o["levels_prediction"]))


def _page_hinkley(o: Config) -> Iterator[Array]:
    window = o["memory"] if o["source"] == 2 else 0
    yield Array("page_hinkley", 36 + _words(window, _RECORDS_A_WORD))


def _ddm(o: Config) -> Iterator[Array]:
    yield Array("ddm", 21)


def _adwin(o: Config) -> Iterator[Array]:
    yield Array("adwin", 24 + 16 + o["rows"] * (3 + o["per_row"]))


def _compare(o: Config) -> Iterator[Array]:
    yield Array("compare", _FADING_CLOCK + 26 + _words(o["window"], _CODES_A_WORD))


def _forgetting(o: Config) -> Iterator[Array]:
    yield Array("forgetting", _FADING_CLOCK + 6 + o["labels"] * (o["labels"] + 1))


def _reliability(o: Config) -> Iterator[Array]:
    yield Array("reliability", _FADING_CLOCK + 4 + 5 + 4 * o["bins"])
    yield Array("reliability", 8 * 8)


def _holdout(o: Config) -> Iterator[Array]:
    yield Array("holdout", 0, len(o["truth"]))
    yield Array("holdout", 5 + 3 * o["capacity"])


_FURTHER: dict[str, Callable[[Config], Iterator[Array]]] = {
    "hierarchy": _hierarchy,
    "page_hinkley": _page_hinkley,
    "ddm": _ddm,
    "adwin": _adwin,
    "compare": _compare,
    "forgetting": _forgetting,
    "reliability": _reliability,
    "holdout": _holdout,
}


def arrays(config: Config) -> list[Array]:
    """Return every array that a node with this configuration takes, in the order it asks for them."""
    return list(_arrays(config))


def _arrays(config: Config) -> Iterator[Array]:
    on = config["estimators"]
    labels = len(config["labels"])
    changes = config["options"]["reliability"]["changes"] if "reliability" in on else 0
    yield Array(
        "join",
        84 + config["runs"] * 2 * (3 if config["overlap"] else 2) + (6 + 2 * changes if changes else 0),
    )
    yield Array("entries", 16 * 8 + 1)
    if "align" in on:
        pending = config["pending"]
        statistics = 6 * (2 + 2 + 3 + 2) + 6
        fixed = 16 + 2 * 6 + 5 + 2 + statistics
        yield Array("align", fixed + 2 * 4 * pending + labels * labels + 2 * labels)
        yield Array("align", 0, 2 * pending)
    if "slices" in on:
        yield Array("slices", 9 + 9 * 2 * labels)
    if "prequential" in on:
        yield Array("prequential", 19 + 17 + _words(config["window"], _RECORDS_A_WORD))
    if config["loss_max"]:
        yield Array("loss", 15)
        yield Array("loss", 0, 2 * config["window"])
    for name in on:
        if name in _FURTHER:
            yield from _FURTHER[name](config["options"][name])


def parts(config: Config) -> dict[str, int]:
    """Return the bytes of each part's arrays, in the order the node asks for them."""
    found: dict[str, int] = {}
    for array in arrays(config):
        found[array.part] = found.get(array.part, 0) + array.bytes
    return found


def ledger_bytes(config: Config) -> int:
    """Return the bytes of all arrays, as the node's ledger adds them up."""
    return sum(array.bytes for array in arrays(config))


# Attributes of the node's objects: the array; align has its cells besides, loss its ring, holdout its set.
_ATTRIBUTES = {"align": 2, "loss": 2, "holdout": 2}
_ON_BOARD = ("align", "slices", "prequential", "loss")
# Parts that take records, so that the node keeps their update and their array.
_FED = ("page_hinkley", "ddm", "adwin", "compare", "forgetting", "reliability")


def objects_bytes(config: Config) -> int:
    """Return what `Node(config)` takes besides the arrays: node, ledger, parts and their lists."""
    taken = arrays(config)
    on = [name for name in config["estimators"] if name in _ON_BOARD or name in _FURTHER]
    made = [*on, *(["loss"] if config["loss_max"] else [])]
    further = [name for name in on if name in _FURTHER]
    fed = sum(name in _FED for name in further)
    # config, ledger, join, parts, arrays, and entries: of labels, of segments, and those of two parts.
    labels = 2 * heap.cell() + 5 * heap.closure(2) + heap.closure(1)
    by_itself = 2 * heap.cell() + heap.closure(2)
    node = heap.instance(5 + 6 + 2 + ("loss" in made) + 3 * ("hierarchy" in on)) + labels + 2 * by_itself
    if "loss" in made:
        node += by_itself
    if "hierarchy" in on:
        node += 2 * by_itself + heap.cell() + heap.closure(1)
    ledger = heap.instance(3) + heap.appended_list(len(taken)) + len(taken) * heap.fixed_tuple(2)
    confidence = heap.fixed_tuple(3) if "reliability" in on else 0
    listed = heap.dictionary(len(_ON_BOARD) + len(further), len(_ON_BOARD)) + heap.fixed_tuple(7)
    return (
        node
        + ledger
        + listed
        + heap.fixed_tuple(2 * fed)
        + confidence
        + sum(heap.instance(_ATTRIBUTES.get(name, 1)) for name in made)
    )


def config_bytes(config: Config, known: Callable[[str], bool]) -> int:
    """Return what the configuration takes that the node keeps.

    known : whether MicroPython holds a text as a name already (`firmware.names_in`).
    """
    return heap.parsed_json(dict(config), known)

"""The node's files repeat constants, because MicroPython's `const` does not cross files: they must agree."""

from __future__ import annotations

import ast
from collections import defaultdict

import pytest

from streamgauge import firmware

# They read and write the words of the join's state by the same names.
JOIN = ("runs", "join", "node", "samples", "pump")
# Meant alike wherever they stand.
EVERYWHERE = ("_M", "_H", "_UNKNOWN", "_ENTRY")


def constants(module: str) -> dict[str, int]:
    """The names a module gives to `const(...)`, with their values."""
    found: dict[str, int] = {}
    for node in ast.parse(firmware.sources()[f"gauge/{module}.py"]).body:
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Call)
            and isinstance(node.value.func, ast.Name)
            and node.value.func.id == "const"
        ):
            (target,) = node.targets
            assert isinstance(target, ast.Name)
            assert target.id not in found, f"{module} gives {target.id} twice"
            text = ast.unparse(node.value.args[0])
            found[target.id] = eval(text, {"__builtins__": {}}, dict(found))
    return found


ALL = {name.removeprefix("gauge/").removesuffix(".py"): None for name in firmware.sources()}
MODULES = {module: constants(module) for module in ALL}


def test_the_constants_are_found():
    assert len(MODULES["join"]) > 50 and len(MODULES["runs"]) > 25 and len(MODULES["samples"]) > 25


def values(modules: tuple[str, ...]) -> dict[str, dict[int, list[str]]]:
    """For each name, which modules give it which value."""
    found: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    for module in modules:
        for name, value in MODULES[module].items():
            found[name][value].append(module)
    return found


def test_files_that_share_the_joins_state_mean_the_same_by_the_same_name():
    differing = {name: dict(found) for name, found in values(JOIN).items() if len(found) > 1}
    assert differing == {}
    shared = [name for name, found in values(JOIN).items() if sum(map(len, found.values())) > 1]
    assert len(shared) > 30


@pytest.mark.parametrize("name", EVERYWHERE)
def test_what_all_files_share_has_one_value(name):
    assert len(values(tuple(MODULES))[name]) == 1


def test_the_longest_run_is_everywhere_the_same():
    assert list(values(tuple(MODULES))["_LONGEST"]) == [1 << 28]


def test_the_nodes_names_for_the_two_sides_are_the_joins():
    join, samples = MODULES["join"], MODULES["samples"]
    assert samples["_T"] == join["_SIDE"]
    assert samples["_Q"] == join["_SIDE"] + join["_WORDS"]
    assert MODULES["align"]["_Q"] == MODULES["align"]["_T"] + MODULES["align"]["_WORDS"]


def test_no_word_of_the_joins_state_has_two_meanings():
    join, samples = MODULES["join"], MODULES["samples"]
    # Each name below the ring is one word; these are more, and these are none.
    more = {"_OVER": 2, "_ASSESSED": 2, "_UNKNOWN_TICKS": 2, "_UNASSESSED": 2, "_SIDE": 2 * join["_WORDS"]}
    in_a_side = ("_STATE", "_LABEL", "_START", "_END", "_LAST", "_HEAD", "_TAIL", "_FIRST", "_LEAD", "_RAW")
    no_words = ("_M", "_H", "_UNKNOWN", "_GOES_ON", "_ENTRY", "_WORDS", "_OPEN", "_GOES", "_UNTOLD", "_ENDS")
    in_the_changes = ("_CHANGES_HEAD", "_CHANGES_TAIL", "_SAID", "_NOW", "_MISSED", "_CHANGES")
    no_words += ("_LEAVES", "_STALE", "_LONGEST", "_RING", *in_a_side, *in_the_changes)
    taken: dict[int, str] = {}
    for name, first in join.items():
        if name in no_words:
            continue
        for word in range(first, first + more.get(name, 1)):
            assert word not in taken, f"{name} and {taken[word]}"
            assert word < join["_RING"]
            taken[word] = name
    queue = range(samples["_QUEUE"], samples["_QUEUE"] + 2 * (samples["_QUEUE_MASK"] + 1))
    assert not set(queue) & set(taken)
    assert queue.stop <= join["_RING"]
    assert sorted(join[name] for name in in_a_side) == list(range(join["_WORDS"]))


def test_numbers_of_an_entry_fit_the_nodes_buffer():
    pump = MODULES["pump"]
    assert pump["_RAISED"] == pump["ROOM"] * pump["ENTRY"]
    assert pump["ENTRY"] == MODULES["join"]["_ENTRY"]


def test_the_ring_of_changes_has_one_layout():
    confidence, join, runs = MODULES["confidence"], MODULES["join"], MODULES["runs"]
    for other in (join, runs, MODULES["samples"]):
        assert other["_SURE"] == confidence["_SURE"]
        assert other["_CHANGES"] == confidence["_CHANGES"]
        assert other["_NOW"] == confidence["_NOW"]
        assert (other["_CHANGES_HEAD"], other["_CHANGES_TAIL"]) == (confidence["_HEAD"], confidence["_TAIL"])
    assert join["_MISSED"] == confidence["_MISSED"]
    assert runs["_LOST_CHANGE"] == MODULES["samples"]["_LOST_CHANGE"] == confidence["_LOST"]
    assert [confidence[name] for name in ("_SLICE", "_POS", "_PHASE", "_RECORDS")] == [
        join[name] for name in ("_SLICE", "_POS", "_PHASE", "_RECORDS")
    ]


@pytest.mark.parametrize("module", ["align", "slices"])
def test_the_report_lines_figures_read_the_words_of_the_estimators(module):
    prefix = f"_{module[0].upper()}_"
    read = {n: v for n, v in MODULES["figures"].items() if n.startswith(prefix)}
    assert len(read) > 10
    assert read == {n: MODULES[module]["_" + n.removeprefix(prefix)] for n in read}

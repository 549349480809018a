"""The bytes that a configuration's numbers predict are the bytes that a node takes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamgauge import firmware, frozen_model, heap_model, ledger_model
from streamgauge.engines import Engine
from streamgauge.profile import ESTIMATORS, compile_config, load_profile
from streamgauge.task import Task

POWERS = [2**n for n in range(2, 11)]


@st.composite
def configs(draw: st.DrawFn) -> dict[str, Any]:
    on = draw(st.lists(st.sampled_from(ESTIMATORS), min_size=1, unique=True))
    if "holdout" in on and "prequential" not in on:
        on.append("prequential")
    values = {
        "estimators.on": on,
        "capacity.runs": draw(st.sampled_from(POWERS)),
        "capacity.pending": draw(st.sampled_from(POWERS[:-1])),
        "capacity.window": draw(st.integers(1, 5000)),
        "prequential.loss_max": draw(st.sampled_from([0, 1, 65535])),
        "hierarchy.levels_truth": draw(st.integers(1, 4)),
        "hierarchy.levels_prediction": draw(st.integers(1, 4)),
        "hierarchy.boundaries": draw(st.integers(1, 200)),
        "page_hinkley.source": draw(st.sampled_from(["loss", "fading", "window"])),
        "adwin.rows": draw(st.integers(2, 8)),
        "adwin.per_row": draw(st.integers(2, 9)),
        "compare.window": draw(st.integers(1, 3000)),
        "reliability.bins": draw(st.sampled_from([2, 8, 64])),
        "holdout.size": draw(st.integers(1, 300)),
        "holdout.capacity": draw(st.integers(1, 50)),
    }
    task = Task(tuple(f"L{n}" for n in range(draw(st.integers(1, 32)))), slice_ticks=draw(st.integers(1, 99)))
    profile = load_profile("sensor").with_values(values)
    overlap = draw(st.booleans())
    return compile_config(profile, task, overlap=overlap, holdout=bytes(values["holdout.size"]))


@given(configs())
@settings(max_examples=200)
def test_every_array_is_predicted_without_building_the_node(config: dict[str, Any]) -> None:
    node = firmware.node_model().Node(config)
    booked = [(part, len(data), isinstance(data, bytearray)) for part, data in node.ledger.entries]
    predicted = ledger_model.arrays(config)
    assert [(a.part, a.words or a.count, a.words == 0) for a in predicted] == booked
    assert ledger_model.ledger_bytes(config) == node.ledger.used
    assert sum(ledger_model.parts(config).values()) == node.ledger.used


# What each statement leaves on the heap, and what the model says of it.
OBJECTS = [
    ("array('i', bytes(4 * 49))", heap_model.array_words(49)),
    ("bytearray(100)", heap_model.byte_array(100)),
    ("C0()", heap_model.instance(0)),
    ("C5()", heap_model.instance(5)),
    ("{'a': 1, 'b': 2, 'c': 3, 'd': 4}", heap_model.dictionary(4, 4)),
    ("grown({}, 16)", heap_model.dictionary(16)),
    ("appended(5)", heap_model.appended_list(5)),
    ("(n, n)", heap_model.fixed_tuple(2)),
    ("'ab' * n", heap_model.text("ab" * 20)),
    ("1 << 30 + n - 20", heap_model.whole_number(2**30)),
    ("(1 << 30 + n - 20) - 1", heap_model.whole_number(2**30 - 1)),
    (
        "json.loads(DOCUMENT)",
        heap_model.parsed_json({"zz": ["label1", 5], "yy": "x" * 40}, lambda name: False),
    ),
]

PROGRAM = """
import gc, json
from array import array

class C0: pass
class C5:
    def __init__(self):
        self.a = self.b = self.c = self.d = self.e = 0

NAMES = tuple("k%d" % i for i in range(20))
DOCUMENT = '{"zz": ["label1", 5], "yy": "' + "x" * 40 + '"}'

def grown(d, n):
    for i in range(n):
        d[NAMES[i]] = i
    return d

def appended(n):
    out = []
    for i in range(n):
        out.append(i)
    return out

def used():
    gc.collect()
    gc.collect()
    return gc.mem_alloc()

def measure(make):
    keep = [None] * 4
    n = 20
    make(n)
    keep[0] = make(n)
    before = used()
    keep[1] = make(n)
    return used() - before
"""


def test_objects_take_what_the_model_of_the_heap_says(arm: Engine) -> None:
    lines = [f"print(measure(lambda n: {expression}))" for expression, _ in OBJECTS]
    output = arm.run(PROGRAM + "\n".join(lines) + "\n", heap_bytes=200_000)
    measured = [int(line) for line in output.stdout.split()]
    assert dict(zip([e for e, _ in OBJECTS], measured, strict=True)) == dict(OBJECTS)


SHAPES = """
import gc, json, sys

def f(): pass
def g(): yield
KINDS = (type(f), type(g))

def shape(module):
    functions, classes = 0, []
    for value in module.__dict__.values():
        if isinstance(value, KINDS):
            functions += 1
        elif type(value) is type and value.__dict__:
            classes.append(len(value.__dict__))
            functions += sum(isinstance(inner, KINDS) for inner in value.__dict__.values())
    return len(module.__dict__), functions, classes

def go():
    taken = {}
    for names in (("mip", "requests"), ("asyncio", "asyncio.core")):
        gc.collect(); gc.collect()
        before = gc.mem_alloc()
        __import__(names[0])
        gc.collect(); gc.collect()
        taken[names[0]] = gc.mem_alloc() - before, [shape(sys.modules[name]) for name in names]
    print(json.dumps(taken))

go()
"""


def test_a_frozen_module_takes_about_what_is_estimated(arm: Engine) -> None:
    """The engine has modules frozen in; their shapes are looked up in it, default values unseen."""
    import json

    taken = json.loads(arm.run(SHAPES, heap_bytes=400_000).stdout)
    # asyncio hands its core's functions on under names of its own.
    taken["asyncio"][1][0][1:] = [0, []]
    for name, (measured, shapes) in taken.items():
        estimate = sum(
            frozen_model.Shape(names, [0] * count, classes).bytes for names, count, classes in shapes
        )
        assert 0.75 * measured <= estimate <= 1.05 * measured, (name, measured, estimate)


def test_the_shape_of_a_source_is_what_importing_it_leaves() -> None:
    shape = frozen_model.shape_of(
        'import sys\nif sys.implementation.name == "micropython":\n    from micropython import const\n'
        "else:\n    from other import a, b, c\n_X = const(3)\nY = const(4)\nTABLE = {1: 2}\n"
        "def f(a, b=1, c=2):\n    pass\nclass A:\n    z = 1\n    def m(self):\n        pass\n"
    )
    # sys, const, Y, TABLE, f, A and two that every module has; z, m and two that every class has.
    assert shape == frozen_model.Shape(8, [2, 0], [4], heap_model.dictionary(1, 1))


@pytest.mark.parametrize("name", ["align", "node"])
def test_frozen_code_is_estimated_below_what_it_takes_as_a_file(name: str) -> None:
    source = firmware.sources()[f"gauge/{name}.py"]
    compiled = firmware.build(None)[f"gauge/{name}.mpy"]
    assert 0 < frozen_model.shape_of(source).bytes < len(compiled) / 2

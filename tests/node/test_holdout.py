"""The node's holdout set against the host, on CPython, on 32 and on 64 bits."""

from __future__ import annotations

import json

import kernels
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gauge.holdout import Holdout
from gauge.ledger import Ledger
from streamgauge import holdout as host

WRAP = 1 << 30


@given(st.integers(0, 2**32), st.integers(1, 80), st.integers(1, 12))
def test_scores_and_history_equal_the_hosts(seed, size, scorings):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 5, size)
    node, other = Holdout(Ledger(), bytes(truth.tolist()), 100, 4), host.Holdout(truth, 100, 4)
    records = 0
    for _ in range(scorings):
        records += int(rng.integers(0, 250))
        assert node.due(records) == other.due(records)
        labels = rng.integers(0, 5, size)
        accuracy = other.score(labels, records, 0.5)
        assert node.score(bytes(labels.tolist()), records, 512) == round(accuracy * size)
    raw = node.raw()
    assert (raw["size"], raw["scored"]) == (size, other.scored)
    assert raw["history"] == [[s.records, s.correct, 512] for s in other.history]


def test_the_count_of_records_may_wrap():
    node = Holdout(Ledger(), b"\x01", 100)
    node.score(b"\x01", WRAP - 10)
    assert not node.due(50)
    assert node.due(90)


def test_an_answer_of_the_wrong_length_is_not_scored():
    node = Holdout(Ledger(), b"\x01\x02", 100)
    assert node.score(b"\x01", 5) == -1
    assert node.raw()["scored"] == 0


def test_a_reset_forgets_the_scores_and_keeps_the_set():
    node = Holdout(Ledger(), b"\x01\x02", 100, 2)
    for records in (10, 20, 30):
        node.score(b"\x01\x01", records)
    node.reset()
    assert node.raw() == {"size": 2, "scored": 0, "history": []}
    assert node.score(b"\x01\x01", 40) == 1


PROGRAM = """
import json
import micropython
from gauge.holdout import Holdout
from gauge.ledger import Ledger

node = Holdout(Ledger(), bytes([i % 7 for i in range(200)]), 50, 3)
right = bytes([i % 7 for i in range(200)])
some = bytes([i % 5 for i in range(200)])

def run(n):
    records = 0
    while records < n:
        if node.due(records):
            node.score(some if records % 100 else right, records, records)
        records += 10

run(100)
node.reset()
before = micropython.mem_total()
before = micropython.mem_total()
run(1000)
after = micropython.mem_total()
print(json.dumps([node.raw(), after - before]))
"""


@pytest.mark.parametrize("spec", ["arm", "x64"])
def test_a_node_equals_its_model_and_allocates_nothing(request, spec):
    engine = request.getfixturevalue(spec)
    output = engine.run(PROGRAM, kernels.modules(engine, "holdout"), heap_bytes=64 * 1024)
    model = Holdout(Ledger(), bytes(i % 7 for i in range(200)), 50, 3)
    right, some = bytes(i % 7 for i in range(200)), bytes(i % 5 for i in range(200))
    for records in range(0, 1000, 10):
        if model.due(records):
            model.score(some if records % 100 else right, records, records)
    assert json.loads(output.stdout) == [model.raw(), 0]

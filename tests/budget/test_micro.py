"""The reduced node of one file counts as the whole one does, and fits where a micro:bit's would."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.engines import Engine
from streamgauge.prequential import prequential
from streamgauge.segments import Segments
from streamgauge.slices import slices

SOURCE = Path(__file__).parents[2] / "firmware" / "micro" / "gauge_micro.py"
# A micro:bit has 9,392 bytes free at its prompt; the engine, six years newer, takes 800 for itself.
HEAP = 10_240


def micro() -> Any:
    spec = importlib.util.spec_from_file_location("gauge_micro", SOURCE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TOTALS = ("correct", "S", "D", "U", "F", "I", "O", "M")
labels = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from([0, 1, 1, 2, 3, 255])), min_size=1, max_size=200
)


@given(labels)
def test_the_reduced_node_counts_what_the_host_counts(pairs: list[tuple[int, int]]) -> None:
    node = micro().Node(window=16, decay=64)
    for label, truth in pairs:
        node.score(label, truth)
    predicted, true = (Segments.from_labels([pair[side] for pair in pairs]) for side in (0, 1))
    totals = slices(true, predicted, 4).totals
    assert dict(zip(TOTALS, node.slices(), strict=True)) == totals
    losses = np.array([np.nan if t == 255 else float(p != t) for p, t in pairs])
    exact = prequential(losses, window=16, alpha=1 - 64 / 1024)
    assert node.c[10] == exact.unlabelled
    if exact.count == 0:
        assert node.errors() is None
        return
    mean, window, fading = node.errors()
    assert mean == exact.mean.value
    assert window == exact.window.value
    assert fading == pytest.approx(exact.fading.value, abs=2**-12)


def test_the_faded_error_does_not_drift() -> None:
    node = micro().Node(window=8, decay=1)
    for n in range(50_000):
        node.score(1, 1 + (n % 5 == 0))
    assert node.errors()[2] == pytest.approx(0.2, abs=5e-4)


PROGRAM = """
import gc
gc.collect()
before = gc.mem_alloc()
import gauge_micro
gc.collect()
code = gc.mem_alloc() - before
node = gauge_micro.Node()
gc.collect()
state = gc.mem_alloc() - before - code
for i in range(3000):
    truth = (i // 7) % 4
    node.score(truth if i % 5 else (i // 11) % 4, truth)
gc.collect()
print(code, state, gc.mem_alloc() - before - code - state, node.slices())
"""


def test_it_is_compiled_and_runs_in_as_little_as_a_microbit_has(arm: Engine) -> None:
    output = arm.run(PROGRAM, {"gauge_micro.py": SOURCE.read_bytes()}, heap_bytes=HEAP).stdout
    code, state, grown, *counted = output.replace("[", "").replace("]", "").replace(",", "").split()
    assert int(code) < 2500
    assert int(state) < 500
    assert int(grown) <= 32  # the last numbers printed
    assert sum(map(int, counted)) == 3000

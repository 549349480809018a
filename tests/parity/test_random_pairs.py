"""Thousands of random recordings: node, host and oracle, and the node on every engine.

The oracle is a literal transcription, the host float64 arrays, the node small integers; no code is shared.
Among the cases are overlapping segments, zero length in closed mode, UNKNOWN truth, truth that comes late,
and every entry of the node. STREAMGAUGE_PAIRS asks for more than the 10,000.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from fractions import Fraction
from itertools import groupby
from pathlib import Path

import pytest

from parity import pairs
from streamgauge import firmware
from streamgauge.assess import Settings, assess
from streamgauge.engines import Engine
from streamgauge.node_run import run_model
from streamgauge.parity import compare, faded_bound, faded_mean

PAIRS = int(os.environ.get("STREAMGAUGE_PAIRS", "10000"))
CHUNK = 500
ON_ENGINES = 2000
ALPHA = 0.9


@pytest.mark.parametrize("first", range(0, PAIRS, CHUNK))
def test_node_host_and_oracle_agree(first: int) -> None:
    settings = Settings(window=pairs.WINDOW, alpha=ALPHA)
    for case in pairs.cases_from(first, CHUNK):
        raw = run_model(case.config, case.feed)
        assessment = assess(case.recording, settings)
        parity = compare(raw, assessment, case.config)
        assert parity.agrees, (case.number, list(map(str, parity.first)))
        assert not parity.remarks, (case.number, parity.remarks)
        oracle = pairs.oracle(case.recording, Fraction(9, 10))
        assert pairs.node_says(raw) == oracle.align, case.number
        assert raw["slices"] == oracle.slices, case.number
        assert assessment.alignment.distance == pytest.approx(oracle.distance, rel=1e-12), case.number
        said = raw["prequential"]
        expected = oracle.prequential
        assert (said["n"], said["unlabelled"], said["window_n"]) == (
            expected.count,
            expected.unlabelled,
            expected.window_count,
        ), case.number
        if expected.count:
            assert Fraction(said["window_sum"], said["window_n"]) == expected.window, case.number
            assert abs(faded_mean(said) - float(expected.fading)) <= faded_bound(said), case.number


def test_the_cases_hold_all_that_is_difficult() -> None:
    told: Counter[str] = Counter()
    holds: Counter[str] = Counter()
    for case in pairs.cases_from(0, 2000):
        told[case.told] += 1
        sides = (case.recording.truth_raw, case.recording.prediction_raw)
        closed = case.recording.task.closed
        holds["overlap"] += case.feed.overlap and not closed
        holds["unknown"] += bool((sides[0].label == 255).any())
        holds["unknown and overlap"] += case.feed.overlap and bool((sides[0].label == 255).any())
        holds["no length"] += closed and any((side.end - side.start == 1).any() for side in sides)
        holds["slices"] += case.feed.plan["mode"] == "slices"
    assert min(told[name] for name in ("as laid out", "late", "shuffled", "samples")) >= 20, told
    assert min(holds.values()) >= 50, holds


@pytest.mark.parametrize("name", ["arm", "x64"])
def test_an_engine_gives_every_bit_of_what_this_python_gives(
    name: str, request: pytest.FixtureRequest
) -> None:
    engine: Engine = request.getfixturevalue(name)
    cases = [case for case in pairs.cases_from(0, ON_ENGINES) if case.feed.plan["mode"] == "records"]
    cases.sort(key=_group)
    told = engine.run(
        "import pairs_node\npairs_node.run()\n",
        {**firmware.build(engine.march), **_files(cases)},
        heap_bytes=1 << 20,
        timeout=600,
    )
    checksums = [int(line) for line in told.stdout.split()]
    program = _program()
    expected = [program.checksum(run_model(case.config, case.feed)) for case in cases]
    wrong = [case.number for case, a, b in zip(cases, checksums, expected, strict=True) if a != b]
    assert not wrong


def _group(case: pairs.Case) -> str:
    return json.dumps(case.config, sort_keys=True)


def _files(cases: list[pairs.Case]) -> dict[str, bytes]:
    """The cases for `programs/pairs_node.py`: groups of one configuration, and all records."""
    groups = [
        (json.loads(config), [len(case.feed.data) // 12 for case in group])
        for config, group in groupby(cases, _group)
    ]
    text = (Path(__file__).parent / "programs" / "pairs_node.py").read_text()
    return {
        "pairs.json": json.dumps(groups).encode(),
        "pairs.bin": b"".join(case.feed.data for case in cases),
        "pairs_node.mpy": firmware.compile_source("pairs_node.py", text, None),
    }


def _program():  # type: ignore[no-untyped-def]
    """The program itself under this Python: its checksum must be one and the same."""
    import importlib.util

    firmware.node_model()
    path = Path(__file__).parent / "programs" / "pairs_node.py"
    spec = importlib.util.spec_from_file_location("pairs_node", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

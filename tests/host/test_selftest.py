"""The vectors a board tests itself with: made from the node's model, held against the host's own formulas."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from streamgauge import firmware
from streamgauge.align import Alignment, align_recording
from streamgauge.engines import Engine
from streamgauge.prequential import LossRuns, losses_from_pieces, prequential
from streamgauge.segments import NULL, Segments
from streamgauge.slices import Slices, slices

TOOL = Path(__file__).resolve().parents[2] / "tools" / "make_selftest.py"

firmware.node_model()
selftest: Any = importlib.import_module("gauge.selftest")
CONFIG = selftest._CONFIG
LABELS = len(CONFIG["labels"])
SLICE = CONFIG["slice"]


def expected(part: str) -> list[int]:
    """The stored numbers of a part."""
    return [int(text) for text in selftest._EXPECTED[part].split()]


def recordings() -> list[tuple[Segments, Segments]]:
    """The three recordings of the stored inputs, truth and prediction, in the order they are told."""
    sides = []
    for data in selftest._SEGMENTS:
        rows, at = [], 0
        for i in range(0, len(data), 3):
            end = at + (data[i + 1] << data[i + 2])
            rows.append((data[i], at, end))
            at = end
        sides.append(Segments.from_rows(rows))
    pairs = [(sides[0], sides[1])]
    for stored in (selftest._SAMPLES, selftest._BATCHES):
        truth, prediction = (Segments.from_labels(list(side), SLICE) for side in stored)
        pairs.append((truth, prediction))
    return pairs


@pytest.fixture(scope="module")
def raw() -> dict[str, Any]:
    """What the model makes of the inputs now."""
    figures: dict[str, Any] = selftest.raw()
    return figures


@pytest.fixture(scope="module")
def alignments() -> list[Alignment]:
    """The host's alignments."""
    return [align_recording(truth, prediction, labels=LABELS) for truth, prediction in recordings()]


def total(found: list[Any], name: str) -> Any:
    """Sum of one attribute."""
    return sum(getattr(part, name) for part in found)


def test_the_inputs_reach_the_limits_of_the_clock_and_every_category(raw: dict[str, Any]) -> None:
    truth, prediction = recordings()[0]
    longest = max(int((side.end - side.start).max()) for side in (truth, prediction))
    assert 2**27 < longest <= 2**28
    # The second recording begins close to where the clock wraps.
    assert 0x3FFF0000 + SLICE * len(selftest._SAMPLES[0]) > 2**30
    assert all(sum(ticks) > 0 for ticks in raw["slices"].values())
    assert sum(raw["align"]["split"]) > 0
    assert raw["join"]["unknown"] > 0
    assert raw["page_hinkley"]["alarms"] > 0
    assert raw["adwin"]["alarms"] > 0
    assert raw["ddm"]["alarms"] > 0


def test_alignment_numbers_are_the_hosts(raw: dict[str, Any], alignments: list[Alignment]) -> None:
    align = raw["align"]
    assert align["confusion"] == total(alignments, "confusion").tolist()
    assert align["split"] == total(alignments, "repetitions_split").tolist()
    assert align["merge"] == total(alignments, "repetitions_merge").tolist()
    for name, attribute in (
        ("truth", "true_segments"),
        ("prediction", "pred_segments"),
        ("unmatched_truth", "unmatched_truth"),
        ("unmatched_prediction", "unmatched_prediction"),
        ("same", "same"),
    ):
        assert align[name] == total(alignments, attribute), name
    assert align["forced"] == 0
    cost = total(alignments, "cost_sum")
    assert abs(align["iou_q26"] / 2**26 - (align["same"] - cost)) <= align["same"] * 2**-26


def test_latencies_are_the_hosts(raw: dict[str, Any], alignments: list[Alignment]) -> None:
    doubled = []
    for found in alignments:
        truth = found.truth.take(found.matches[:, 0])
        prediction = found.prediction.take(found.matches[:, 1])
        correct = (truth.label == prediction.label) & (truth.label != NULL)
        onset, offset = prediction.start - truth.start, prediction.end - truth.end
        doubled += (onset + offset)[correct].tolist()
    stored = raw["align"]["stats"]["latency"]
    assert stored == [
        len(doubled),
        sum(doubled),
        sum(value * value for value in doubled),
        min(doubled),
        max(doubled),
    ]


def test_slices_are_the_hosts(raw: dict[str, Any]) -> None:
    found: list[Slices] = [slices(truth, prediction, LABELS) for truth, prediction in recordings()]
    for name, attribute in (
        ("tp", "correct"),
        ("sg", "substituted_ground"),
        ("si", "substituted_inferred"),
        ("d", "deletion"),
        ("u", "underfill"),
        ("f", "fragmentation"),
        ("i", "insertion"),
        ("o", "overfill"),
        ("m", "merge"),
    ):
        assert raw["slices"][name] == total(found, attribute).tolist(), name
    assert raw["join"]["assessed"] == total(found, "known")
    assert raw["join"]["unknown"] == total(found, "unknown")


def test_the_prequential_error_is_the_hosts(raw: dict[str, Any]) -> None:
    runs = [losses_from_pieces(truth, prediction, SLICE) for truth, prediction in recordings()]
    losses = LossRuns(
        np.concatenate([part.loss for part in runs]), np.concatenate([part.length for part in runs])
    )
    alpha = 1 - CONFIG["alpha_q30"] / 2**30
    found = prequential(losses, window=CONFIG["window"], alpha=alpha)
    node = raw["prequential"]
    assert (node["n"], node["sum"], node["unlabelled"]) == (found.count, found.loss_sum, found.unlabelled)
    assert (node["window_n"], node["window_sum"]) == (found.window_count, found.window_sum)
    faded = node["fading_s"] / 2 ** node["fading_bits"] / found.fading_weight
    # Two units of the sum's last place, spread over its weight.
    assert abs(faded - (found.fading.value or 0)) <= 2 * 2.0 ** -node["fading_bits"] / found.fading_weight


def test_own_losses_are_the_hosts(raw: dict[str, Any]) -> None:
    losses = list(selftest._SAMPLES[0])
    found = prequential(losses, window=CONFIG["window"], alpha=1 - CONFIG["alpha_q30"] / 2**30, R=255)
    node = raw["loss"]
    assert (node["n"], node["sum"], node["rejected"]) == (found.count, found.loss_sum, 0)
    assert (node["window_n"], node["window_sum"]) == (found.window_count, found.window_sum)
    assert node["fading_s"] / 2 ** node["fading_bits"] == pytest.approx(found.fading_sum, abs=1e-3)


def test_two_recognisers_are_compared_as_by_hand(raw: dict[str, Any]) -> None:
    # Only with samples a second recogniser has its say; otherwise it says NULL.
    others = [[], selftest._BATCHES[1], []]
    ahead = [0, 0]
    count = 0
    for (truth, prediction), other in zip(recordings(), others, strict=True):
        span = (int(truth.start[0]), int(truth.end[-1]))
        second = Segments.from_labels(list(other), SLICE) if other else Segments.from_rows([(NULL, *span)])
        a, b = (losses_from_pieces(truth, side, SLICE).records() for side in (prediction, second))
        known = ~np.isnan(a)
        count += int(known.sum())
        ahead[0] += int(((a == 1) & (b == 0))[known].sum())
        ahead[1] += int(((a == 0) & (b == 1))[known].sum())
    compared = raw["compare"]
    assert [compared["n01"], compared["n10"], compared["n"]] == [*ahead, count]


def test_the_stored_numbers_are_what_the_model_computes(raw: dict[str, Any]) -> None:
    assert set(selftest._EXPECTED) == set(raw) - {"version"}
    for part in selftest._EXPECTED:
        assert expected(part) == selftest._numbers(raw[part], []), part


def test_the_file_is_what_the_tool_writes() -> None:
    done = subprocess.run([sys.executable, str(TOOL), "--check"])
    assert done.returncode == 0, "run python tools/make_selftest.py"


def test_every_engine_passes(arm: Engine, x64: Engine) -> None:
    program = "from gauge import selftest\nprint(selftest.run())"
    for engine in (arm, x64):
        told = eval(engine.run(program, firmware.build(engine.march), heap_bytes=400_000).stdout)
        assert [name for name, *_ in told] == sorted(selftest._EXPECTED)
        assert all(different == 0 for _, _, different, _ in told)


def test_a_node_with_few_estimators_tests_these_alone(arm: Engine) -> None:
    program = "from gauge import selftest\nprint(selftest.run({'estimators': ['slices', 'adwin']}))"
    # The whole package does not fit into this heap beside its machine code.
    told = eval(arm.run(program, firmware.build(arm.march), heap_bytes=48_000).stdout)
    assert [name for name, *_ in told] == ["adwin", "counters", "join", "slices"]
    assert all(different == 0 for _, _, different, _ in told)


def test_a_kernel_that_computes_wrongly_is_named_with_its_first_number(arm: Engine) -> None:
    program = (
        "from gauge import selftest\n"
        "part, stored = 'slices', selftest._EXPECTED['slices'].split()\n"
        "stored[3] = '17'\n"
        "selftest._EXPECTED[part] = ' '.join(stored)\n"
        "print([result for result in selftest.run({'estimators': ['slices']}) if result[2]])"
    )
    told = eval(arm.run(program, firmware.build(arm.march), heap_bytes=200_000).stdout)
    assert told == [("slices", len(expected("slices")), 1, (3, 17, expected("slices")[3]))]

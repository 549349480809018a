"""The node at its limits on 32-bit ARM: longest segments, most labels, years of ticks, every alpha, and ten
million records. What is expected is computed here, in whole numbers and floats of Python's own.
"""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

from oracles import align as oracles
from streamgauge import firmware

LONGEST = 1 << 28
WRAP = 1 << 30

FADE = """
import gauge, sys
from array import array
from gauge.ledger import Ledger
from gauge.prequential import Prequential, feed
entry = array("i", [1, 1, 0, 0, 0, 0, 0, 0])
for decay, entries in %r:
    part = Prequential(Ledger(), 1000, decay)
    for i in range(entries):
        entry[0] = 2 if i * 7919 %% 10 < 3 else 1
        entry[4] = 1 + i * 31 %% 1999
        feed(part.w, 0, entry, 1)
    raw = part.raw()
    print(raw["n"], raw["sum"], raw["window_sum"], raw["fading_s"], raw["fading_bits"])
"""

LONG = """
import gauge, json
node = gauge.Node(json.loads(%r))
longest, wrap = 1 << 28, 1 << 30
t = %d
for i in range(%d):
    label = 1 + i %% 31
    e = t + longest
    node.truth_segment(label, t % wrap, e % wrap)
    node.predict_segment(0, t % wrap, (e - 1) % wrap)
    node.predict_segment(label, (e - 1) % wrap, (e + longest - 1) % wrap)
    t = e + longest
    node.truth_segment(0, e % wrap, t % wrap)
    node.predict_segment(0, (t - 1) % wrap, t % wrap)
node.finish()
print(json.dumps(node.raw()))
"""


def run(engine: Any, script: str) -> list[str]:
    files = firmware.build(engine.march)
    return engine.run(script, files, heap_bytes=400_000, timeout=300).stdout.splitlines()


def pattern(entries: int) -> list[tuple[int, int]]:
    """Losses and how often each comes, as the node program makes them."""
    return [(int(i * 7919 % 10 < 3), 1 + i * 31 % 1999) for i in range(entries)]


@pytest.mark.parametrize("alpha", [0.5, 0.75, 0.9, 0.99, 0.999, 0.9999])
def test_ten_million_records_leave_the_faded_mean_within_its_bound(arm: Any, alpha: float) -> None:
    entries = 10_000
    decay = round((1 - alpha) * 2**30)
    n, total, _, faded, bits = map(int, run(arm, FADE % [(decay, entries)])[0].split())
    runs = pattern(entries)
    assert n == sum(k for _, k in runs) >= 9_900_000
    assert total == sum(loss * k for loss, k in runs)
    # By runs in closed form: the sum so far fades by alpha^k, a run of losses adds a geometric series.
    exact = 0.0
    for loss, k in runs:
        exact = exact * alpha**k + loss * (1 - alpha**k) / (1 - alpha)
    weight = (1 - alpha**n) / (1 - alpha)
    of_node = (1 - (1 - decay / 2**30) ** n) / (decay / 2**30)
    bound = 17 / 16 * 2**-31 / (alpha**0.5 * (1 - alpha)) + 2 * 2**-bits / weight
    bound += 2**-23 * (1 - alpha) / (1 - alpha**16) + 1e-12
    assert abs(faded / 2**bits / of_node - exact / weight) < bound


def test_the_sum_stays_below_its_limit_when_every_record_is_a_loss(arm: Any) -> None:
    decays = [round((1 - a) * 2**30) for a in (0.5, 0.9, 0.999, 0.9999)]
    script = FADE.replace("2 if i * 7919 %% 10 < 3 else 1", "2") % [(decay, 200) for decay in decays]
    for line, decay in zip(run(arm, script), decays, strict=True):
        n, total, inside, faded, bits = map(int, line.split())
        assert n == total and inside == 1000
        assert faded < 1 << 30
        assert abs(faded / 2**bits * decay / 2**30 - (1 - (1 - decay / 2**30) ** n)) < 1e-6


@pytest.mark.parametrize("start", [0, WRAP - 5])
def test_longest_segments_of_31_labels_over_years_of_ticks_are_exact(arm: Any, x64: Any, start: int) -> None:
    count = 620
    config = {
        "version": 1, "labels": ["NULL", *(f"l{i}" for i in range(1, 32))], "slice": 1 << 20, "closed": 0,
        "overlap": 0, "gaps_unknown": 0, "runs": 64, "pending": 64, "window": 1000, "alpha_q30": 1073742,
        "loss_max": 0, "estimators": ["align", "slices", "prequential"], "options": {},
    }  # fmt: skip
    script = LONG.replace("% wrap", "%% wrap") % (json.dumps(config), start, count)
    raw, on_x64 = (json.loads(run(engine, script)[0]) for engine in (arm, x64))
    assert raw == on_x64
    latency = LONGEST - 1
    stats = raw["align"]["stats"]
    assert stats["latency"] == [count, 2 * latency * count, 4 * latency**2 * count, 2 * latency, 2 * latency]
    assert stats["overlap"] == [count, count, count, 1, 1]
    assert stats["duration"] == [count, LONGEST * count, LONGEST**2 * count, LONGEST, LONGEST]
    assert all(raw["align"]["confusion"][i][i] == count // 31 for i in range(1, 32))
    assert raw["join"] == {"assessed": 2 * LONGEST * count, "unknown": 0, "unassessed": 0}
    assert sum(raw["slices"]["tp"]) == 2 * count
    assert sum(raw["slices"]["u"]) == sum(raw["slices"]["o"]) == (LONGEST - 1) * count
    assert raw["prequential"]["n"] == 2 * LONGEST * count >> 20
    assert raw["align"]["forced"] == 0 and not any(raw["counters"].values())


@pytest.mark.parametrize("length", [10**7, 5 * 10**7])
def test_segments_of_days_in_milliseconds_keep_every_count(length: int) -> None:
    gauge = firmware.node_model()
    for seed in range(12):
        random = Random(seed)
        sides: list[list[tuple[int, int, int]]] = [[], []]
        for rows in sides:
            t = 0
            for _ in range(60):
                end = t + random.randrange(length // 2, length)
                rows.append((random.randrange(4), t, end))
                t = end
        end = max(rows[-1][2] for rows in sides)
        for rows in sides:
            rows[-1] = (*rows[-1][:2], end)
        if any(e - s > LONGEST for rows in sides for _, s, e in rows):
            continue
        config = {
            "version": 1, "labels": ["NULL", "a", "b", "c"], "slice": 1 << 20, "closed": 0, "overlap": 0,
            "gaps_unknown": 0, "runs": 64, "pending": 64, "window": 50, "alpha_q30": 1073742, "loss_max": 0,
            "estimators": ["align"], "options": {},
        }  # fmt: skip
        node = gauge.Node(config)
        for e, side, label, s in sorted((e, i, label, s) for i in (0, 1) for label, s, e in sides[i]):
            (node.predict_segment if side else node.truth_segment)(label, s % WRAP, e % WRAP)
        node.finish()
        raw, want = node.raw()["align"], oracles.align(*sides, labels=4)
        assert raw["forced"] == 0
        assert raw["confusion"] == want.confusion
        assert (raw["split"], raw["merge"]) == (want.split, want.merge)
        assert raw["stats"]["latency"][1] == 2 * sum(want.latency)

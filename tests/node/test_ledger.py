"""The ledger: it books what the heap gives, and refuses what does not fit, in words that help."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from node.harness import config, run

import gauge
from streamgauge.engines import Engine, EngineFailed, EngineOutOfMemory

BLOCK = 16


def test_what_does_not_fit_is_refused_with_the_part_the_bytes_asked_and_the_bytes_left():
    ledger = gauge.Ledger(200)
    ledger.take("join", 20)
    with pytest.raises(gauge.LedgerFull, match=r"align asks for 416 bytes, 104 are left") as refused:
        ledger.take("align", 100)
    assert (refused.value.part, refused.value.asked, refused.value.left) == ("align", 416, 104)
    assert isinstance(refused.value, MemoryError)


def test_a_refusal_books_nothing_and_what_is_smaller_still_fits():
    ledger = gauge.Ledger(200)
    with pytest.raises(gauge.LedgerFull):
        ledger.take_bytes("align", 1000)
    assert (ledger.used, ledger.entries) == (0, [])
    assert list(ledger.take("align", 44)) == [0] * 44
    assert ledger.used == 192
    with pytest.raises(gauge.LedgerFull, match=r"loss asks for 32 bytes, 8 are left"):
        ledger.take_bytes("loss", 1)


def test_a_ledger_without_a_limit_refuses_nothing():
    ledger = gauge.Ledger()
    ledger.take("join", 10**6)
    assert ledger.used == 4 * 10**6 + BLOCK


def test_at_every_limit_a_node_is_made_whole_or_the_part_that_is_too_much_is_named():
    made = config(runs=4, pending=4, window=100, loss_max=9)
    whole = gauge.Node(made).ledger
    parts = [part for part, _ in whole.entries]
    assert parts == ["join", "entries", "align", "align", "slices", "prequential", "loss", "loss"]
    named = []
    for limit in range(1, whole.used):
        with pytest.raises(gauge.LedgerFull) as refused:
            gauge.Node({**made, "state_bytes": limit})
        error = refused.value
        assert 0 <= error.left < error.asked
        named.append(error.part)
    # The parts ask one after the other, so a larger limit is used up by a later one.
    assert list(dict.fromkeys(named)) == list(dict.fromkeys(parts))
    assert named == sorted(named, key=lambda part: parts.index(part))
    assert gauge.Node({**made, "state_bytes": whole.used}).ledger.used == whole.used


def test_bytes_booked_are_those_the_heap_gives_for_every_array(arm: Engine):
    rng = random.Random(7)
    sizes = [(1, n) for n in range(70)] + [(0, n) for n in range(100)]
    sizes += [(rng.randrange(2), rng.randrange(1, 20_000)) for _ in range(60)]
    plan = {"sizes": sizes, "config": None, "again": False}
    said = run(arm, "heap", {"plan.json": json.dumps(plan).encode()})
    assert len(said) == len(sizes)
    for (words, size), (booked, held) in zip(sizes, said, strict=True):
        assert abs(booked - held) <= BLOCK, (words, size, booked, held)
    # On the whole it is no estimate: what rounds up here does not round down there.
    assert abs(sum(booked - held for booked, held in said)) <= BLOCK * len(said) // 4


@pytest.mark.parametrize(
    ("changes", "part"),
    [({"runs": 1024}, "join"), ({"pending": 512}, "align"), ({"window": 2**20}, "prequential")],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.parametrize("name", ["arm", "x64"])
def test_where_the_heap_itself_ends_the_part_that_asked_is_named(
    request: pytest.FixtureRequest, name: str, changes: dict[str, Any], part: str
):
    engine: Engine = request.getfixturevalue(name)
    # A heap that holds the code and what the parts before take, found from above.
    for heap in range(160 * 1024, 16 * 1024, -6 * 1024):
        plan = {"sizes": [], "config": config(**changes), "again": False}
        try:
            said = run(engine, "heap", {"plan.json": json.dumps(plan).encode()}, heap=heap)
        except EngineOutOfMemory:
            break
        if said:
            told_part, asked, left, text, free = said[0]
            if told_part == part:
                break
    assert told_part == part
    assert text == f"{part} asks for {asked} bytes, {left} are left"
    assert 0 < left < free
    with pytest.raises(EngineFailed, match=f"{part} asks for {asked} bytes"):
        run(engine, "heap", {"plan.json": json.dumps({**plan, "again": True}).encode()}, heap=heap)

"""The benchmark beside other programs compares what it says it compares, and goes on without an absent peer."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from conftest import PROJECT, absent
from streamgauge.engines import Engine
from streamgauge.engines.unix import UnixEngine
from streamgauge.hierarchy import t_measure
from streamgauge.segments import Segments
from streamgauge.slices import slices

sys.path.insert(0, str(PROJECT / "tools" / "bench"))

import node_bench

import peers_bench
from peers.levels import levels_case, made_up, t_measure_check
from peers.measure import Case, Check, Contestant, PeerAbsent, Row, measure, weighed
from peers.node import Engines
from peers.records import ALPHA, FADED, faded_checks, records_case
from peers.segments import Pair, identification_case, identification_check, ward_case, ward_check

STREAM = node_bench.synthetic(1500, 5, 12, 3)
LEVELS = made_up(160, (3, 5), 4)
PEERS = ("river", "mir_eval", "pyannote", "wardmetrics")


def pair() -> Pair:
    """Segments of a made-up stream, with time of unknown truth."""
    sides = [
        Segments.from_labels(np.frombuffer(labels, np.uint8)) for labels in (STREAM.truth, STREAM.prediction)
    ]
    return Pair("made up", *sides, ("NULL", "a", "b", "c", "d"))


MAKERS: dict[str, Callable[[Engines], Case]] = {
    "river": lambda engines: records_case(STREAM, engines),
    "mir_eval": lambda engines: levels_case(LEVELS, engines),
    "pyannote": lambda engines: identification_case(pair(), engines),
    "wardmetrics": lambda engines: ward_case(pair().one_against_the_rest, engines),
}


def made(name: str, engines: Engines | None = None) -> Case:
    try:
        return MAKERS[name](engines or Engines())
    except PeerAbsent as trouble:
        absent(str(trouble))


def without(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Let these packages be missing, whether they are installed or not."""
    for name in names:
        for module in [name, *(m for m in sys.modules if m.startswith(f"{name}."))]:
            monkeypatch.setitem(sys.modules, module, None)


def checks(rows: list[Row]) -> list[Check]:
    return [check for row in rows for check in row.checks]


@pytest.mark.parametrize("name", PEERS)
def test_host_and_peer_give_the_same_numbers(name: str) -> None:
    rows = measure(made(name), rounds=1)
    told = [check for check in checks(rows) if check.what.startswith("host and ")]
    assert told
    assert [check for check in checks(rows) if not check.holds] == []


@pytest.mark.parametrize("name", PEERS)
def test_every_peer_is_timed_and_weighed_beside_the_host_and_the_nodes_ledger(name: str) -> None:
    case = made(name)
    rows = measure(case, rounds=2)
    node, others = rows[: len(case.node)], rows[len(case.node) :]
    assert all(row.ns is None and row.instructions is None for row in node), "there was no engine"
    assert all(row.ns > 0 for row in others)
    for row in others[len(case.hosts) :]:
        assert row.ns_ratio == pytest.approx(row.ns / others[0].ns)
        assert row.bytes_ratio == pytest.approx(row.bytes / node[0].bytes)


@pytest.mark.parametrize("name", PEERS)
def test_the_nodes_code_gives_the_same_numbers_on_this_machine(name: str, x64: Engine) -> None:
    assert isinstance(x64, UnixEngine)
    rows = measure(made(name, Engines(x64=x64)), rounds=2)
    told = [check for check in checks(rows) if check.what.startswith("node and host")]
    assert told
    assert all(check.holds and "(x64)" in check.how for check in told)
    assert all(row.ns_ratio is None or row.node_ns_ratio is not None for row in rows)


def test_a_nodes_instructions_are_counted_on_arm_and_its_numbers_compared(arm: Engine) -> None:
    assert isinstance(arm, UnixEngine)
    engines = Engines(arm=arm)
    rows = measure(made("mir_eval", engines), rounds=1)
    if engines.missing:
        absent(engines.missing[0])
    assert rows[0].instructions > 100
    assert [check.holds for check in rows[0].checks if "(arm)" in check.how] == [True, True]


def test_a_wrong_number_of_a_peer_is_found() -> None:
    found = pair()
    ours = slices(found.truth, found.prediction, len(found.labels))
    totals = ours.totals
    metric = {
        "confusion": totals["S"],
        "missed detection": totals["D"] + totals["U"] + totals["F"],
        "false alarm": totals["I"] + totals["O"] + totals["M"],
        "correct": int(ours.correct[1:].sum()),
        "total": int(ours.ground[1:].sum()),
    }
    assert identification_check(metric, ours).holds
    for name in metric:
        assert not identification_check(metric | {name: metric[name] + 1}, ours).holds

    one = found.one_against_the_rest
    ours = slices(one.truth, one.prediction, 2)
    counts = {
        **{name: ours.totals[name] for name in "DIFM"},
        "TP": int(ours.correct[1]),
        "TN": int(ours.correct[0]),
        "Us": ours.totals["U"] - 1,
        "Ue": 1,
        "Os": ours.totals["O"],
        "Oe": 0,
    }
    assert ward_check(counts, ours).holds
    for name in counts:
        assert not ward_check(counts | {name: counts[name] + 1}, ours).holds

    t = t_measure([[(0, 4), (4, 9)]], [[(0, 5), (5, 9)]])
    assert t_measure_check((t.precision, t.recall, t.f), t).holds
    assert not t_measure_check((t.precision, t.recall, t.f + 1e-11), t).holds


def test_the_faded_means_agree_only_once_the_first_record_has_the_same_weight() -> None:
    losses = np.array([1.0, 0, 0, 1, 1, 0, 0, 0, 1, 0])
    mean, theirs, total, weight, ours = None, [], 0.0, 0.0, []
    for loss in losses:
        mean = loss if mean is None else mean + (1 - ALPHA) * (loss - mean)
        theirs.append(mean)
        total, weight = loss + ALPHA * total, 1 + ALPHA * weight
        ours.append(total / weight)
    assert faded_checks(np.array(theirs), losses, np.array(ours))[0].holds
    assert np.abs(np.subtract(theirs, ours)).max() > 0.4
    theirs[5] += 2 * FADED
    assert not faded_checks(np.array(theirs), losses, np.array(ours))[0].holds


def test_what_is_kept_is_weighed_where_a_program_is_told_piece_by_piece_and_the_peak_elsewhere() -> None:
    def run() -> bytearray:
        passing = bytearray(300_000)
        return bytearray(len(passing) // 10)

    kept, most = (weighed(Contestant("one", run, 1, new)) for new in (bytearray, None))
    assert 30_000 < kept < 31_000
    assert 330_000 < most < 331_000


@pytest.mark.parametrize("name", PEERS)
def test_an_absent_peer_is_one_sentence_that_says_how_to_get_it(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    without(monkeypatch, name)
    with pytest.raises(PeerAbsent, match=r"cannot be imported .*pip install 'streamgauge\[bench\]'"):
        MAKERS[name](Engines())


def run_main(monkeypatch: pytest.MonkeyPatch, makers: list[Callable[[], Case]], *arguments: str) -> int:
    monkeypatch.setattr(peers_bench, "cases", lambda folder, engines: iter(makers))
    return peers_bench.main(["--rounds", "1", "--no-node", *arguments])


def test_the_others_go_on_without_an_absent_peer(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path
) -> None:
    made("mir_eval")
    without(monkeypatch, "river", "pyannote", "wardmetrics")
    makers = [lambda name=name: MAKERS[name](Engines()) for name in ("river", *PEERS)]
    target = tmp_path / "figures.json"
    assert run_main(monkeypatch, makers, "--json", str(target)) == 0
    said = capsys.readouterr().out
    assert said.count("river cannot be imported") == 1
    assert "ward-metrics cannot be imported" in said and "pyannote.metrics cannot be imported" in said
    assert "mir_eval tmeasure" in said and "Traceback" not in said
    written = json.loads(target.read_text())
    assert len(written["absent"]) == 3 and len(written["cases"]) == 1 and written["same"]
    names = [row["who"] for row in written["cases"][0]["rows"]]
    assert names == ["node, a boundary at a time", "host, whole levels", "mir_eval tmeasure"]


def test_numbers_that_must_agree_and_do_not_are_an_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    case = made("mir_eval")

    def wrong() -> list[Check]:
        return [t_measure_check((0.0, 0.0, 0.0), t_measure([[(0, 4), (4, 9)]], [[(0, 5), (5, 9)]]))]

    spoiled = replace(case, peers=[replace(case.peers[0], check=wrong)])
    assert run_main(monkeypatch, [lambda: spoiled]) == 1
    assert "DIFFERENT" in capsys.readouterr().out

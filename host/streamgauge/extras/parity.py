"""Compares a node's alarms, faded matrix, comparison, reliability table and holdout scores with the host's.

Counts of records, the window's counts and the holdout's scores must be equal. Alarms must be equal where no
decision is closer than what the node rounds (`close`). Faded sums on a node share a clock of 30 bits
(fade.py): a record's weight is right to half a unit and every halving rounds by half a unit, the clock's
growth and table are right to 2^-25, and 1 - alpha is rounded to 30 bits. With W units a record,

    ``|sum - host's| <= sum (2^-20 + 3 / (2 W)) + 2^-22 / (1 - alpha) + 2^-31 / (1 - alpha)^2 + 3 / W``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np

from ..compare import CHI2_95, McNemar
from ..fading import faded_sums
from ..reliability import NO_TRUTH, Reliability
from . import close
from .figures import Extras, detector, watched

Number = int | float

_TITLES = {"page_hinkley": "Page-Hinkley", "ddm": "DDM", "adwin": "ADWIN"}
_EPSILON = 2.0**-52
# Leads of which |M| passes 3.841 by less than this share at some record may begin elsewhere on a node.
_CLOSE_LEAD = 1e-3


class Tally(Protocol):
    """What `streamgauge.parity` counts with."""

    remarks: list[str]

    def same(self, name: str, node: Number | None, expected: Number | None) -> None:
        """Two numbers that must be equal."""

    def near(self, name: str, node: float | None, expected: float | None, bound: float) -> None:
        """Two that may be that far apart."""


def compare_extras(tally: Tally, raw: dict[str, Any], extras: Extras | None, config: dict[str, Any]) -> None:
    """Compare all parts that both have.

    Parameters
    ----------
    tally
        Takes the comparisons.
    raw : dict
        `Node.raw()`.
    extras : Extras or None
    config : dict
        What the node loaded.
    """
    if extras is None:
        return
    _left_out(tally, raw, extras)
    restart = config.get("restart", ())
    for name, found in extras.drift.items():
        if name in raw:
            _alarms(tally, name, raw[name], extras, found.settings)
    names = config["labels"]
    for name, compare in (
        ("forgetting", lambda node: _forgetting(tally, node, extras, names)),
        ("compare", lambda node: _comparison(tally, node, extras)),
        ("reliability", lambda node: _reliability(tally, node, extras)),
        ("holdout", lambda node: _holdout(tally, node, extras)),
    ):
        if name not in raw or (name == "compare" and extras.compare is None):
            continue
        if name in restart:
            tally.remarks.append(f"The node's {name} starts anew at alarms: compared with the model alone.")
        else:
            compare(raw[name])


def _left_out(tally: Tally, raw: dict[str, Any], extras: Extras) -> None:
    """Say what the node did not do, and why."""
    for name, given, option in (
        ("compare", extras.others.second is not None, "a second recogniser (--second)"),
        ("reliability", extras.others.confidence is not None, "confidences (--confidence-column)"),
        ("holdout", extras.others.holdout is not None, "a holdout set (--holdout)"),
    ):
        if name in raw:
            continue
        if given:
            tally.remarks.append(
                f"The node left out {name}: it is told sample by sample, and here boundaries lie inside "
                "slices or touching segments have one label."
            )
        elif name in extras.settings.on:
            tally.remarks.append(f"The node left out {name}: it needs {option}.")
    if "hierarchy" in extras.settings.on and "hierarchy" not in raw:
        tally.remarks.append(
            "The node left out hierarchy: it needs levels (--truth-level, --prediction-level)."
        )


def _alarms(tally: Tally, name: str, node: dict[str, Any], extras: Extras, settings: Any) -> None:
    losses = extras.losses
    tally.same(f"drift.{name}.count", node["n"], len(losses))
    values = watched(name, extras.settings, losses)
    sure: close.Sure | None
    if name == "page_hinkley":
        made: Any = detector(name, extras.settings)
        sure = close.page_hinkley(made, values, node["bits"], settings["source"] != "loss")
    elif name == "ddm":
        sure = close.ddm(settings["level"], settings["warmup"], values)
    else:
        sure = close.adwin(settings, values)
    if sure is None:
        found = extras.drift[name].alarms
        last = found[-1] if found else None
        if node["alarms"] != len(found) or (last and node["record"] != last.record):
            tally.remarks.append(
                f"{_TITLES[name]} decided by less than the node rounds ({len(found)} alarms on the host, "
                f"{node['alarms']} on the node): its alarms were compared with the model's alone."
            )
            return
        # All decided alike nevertheless; values then differ by no more than a decision may.
        wide = {"page_hinkley": 0.5, "ddm": 0.05, "adwin": 1e-12}[name]
        sure = close.Sure(tuple((e.record, e.direction, e.value) for e in found), wide)
    tally.same(f"drift.{name}.alarms", node["alarms"], len(sure.alarms))
    if not sure.alarms:
        return
    record, direction, value = sure.alarms[-1]
    tally.same(f"drift.{name}.last.record", node["record"], record)
    tally.same(f"drift.{name}.last.up", int(close.WAYS[node["direction"]] == "up"), int(direction == "up"))
    start = extras.records.tick(record) - extras.records.begin
    tally.same(f"drift.{name}.last.ticks", node["ticks"], start & ((1 << 30) - 1))
    if name == "adwin":
        (n0, s0), (n1, s1) = node["older"], node["newer"]
        tally.near("drift.adwin.last.value", s1 / n1 - s0 / n0, value, sure.bound)
    else:
        tally.near(f"drift.{name}.last.value", node["value"] / (1 << node["bits"]), value, sure.bound)


def _fade_bound(expected: float, weight: float, alpha: float, slack: float = 3.0) -> float:
    if alpha == 1.0:
        return expected * (2.0**-20 + 1.5 / weight)
    still = 2.0**-22 / (1 - alpha) + 2.0**-31 / (1 - alpha) ** 2
    return expected * (2.0**-20 + 1.5 / weight) + still + slack / weight


def _forgetting(tally: Tally, node: dict[str, Any], extras: Extras, names: list[str]) -> None:
    host = extras.forgetting
    tally.same("forgetting.count", node["n"], host.count)
    tally.same("forgetting.unlabelled", node["unlabelled"], host.unlabelled)
    weight = node["weight_q20"] / 2**20
    for g, row in enumerate(host.matrix.tolist()):
        for p, expected in enumerate(row):
            bound = _fade_bound(expected, weight, host.alpha)
            tally.near(
                f"forgetting.matrix[{names[g]}][{names[p]}]", node["cells"][g][p] / weight, expected, bound
            )


def _comparison(tally: Tally, node: dict[str, Any], extras: Extras) -> None:
    host = extras.compare
    assert host is not None
    for name, got, expected in (
        ("records", node["n"], host.records),
        ("unlabelled", node["unlabelled"], len(extras.records.truth) - host.records),
        ("overall.n01", node["n01"], host.overall.n01),
        ("overall.n10", node["n10"], host.overall.n10),
        ("windowed.n01", node["window"][0], host.windowed.n01),
        ("windowed.n10", node["window"][1], host.windowed.n10),
        ("windowed.records", node["window_n"], min(host.window, host.records)),
    ):
        tally.same(f"compare.{name}", got, expected)
    _lead(tally, "compare.windowed", node["window_lead"], host.windowed, host.names)
    weight = node["weight_q20"] / 2**20
    decayed = _faded_weight(host.records, host.alpha)
    losses = [0.0 if error is None else error * decayed for error in host.errors]
    for name, got, wanted in zip(
        ("faded.n01", "faded.n10", "faded.losses_a", "faded.losses_b"),
        [*node["faded"], *node["losses"]],
        [host.faded.n01, host.faded.n10, *losses],
        strict=True,
    ):
        bound = _fade_bound(wanted, weight, host.alpha) + 64 * _EPSILON * decayed
        tally.near(f"compare.{name}", got / weight, wanted, bound)
    side, since = node["lead"]
    if (since if side else None) != host.faded.since and _close_lead(extras, host.alpha):
        tally.remarks.append(
            "The lead of the two recognisers began or ended where McNemar's M passes 3.841 by less than the "
            "node rounds: its beginning was compared with the model's alone."
        )
    else:
        _lead(tally, "compare.faded", node["lead"], host.faded, host.names)


def _lead(tally: Tally, name: str, node: Iterable[int], host: McNemar, names: tuple[str, str]) -> None:
    side, since = node
    expected = 0 if host.since is None else 1 if host.ahead == names[1] else 2
    tally.same(f"{name}.lead", side, expected)
    tally.same(f"{name}.since", since if side else None, host.since)


def _faded_weight(count: int, alpha: float) -> float:
    return float(count) if alpha == 1.0 else -math.expm1(count * math.log(alpha)) / (1 - alpha)


def _close_lead(extras: Extras, alpha: float) -> bool:
    known = extras.records.known
    a, b = (
        (extras.records.truth != side)[known].astype(np.float64)
        for side in (extras.records.prediction, extras.others.second)
    )
    n01, n10 = faded_sums(a > b, alpha), faded_sums(b > a, alpha)
    total = n01 + n10
    m = np.divide((n01 - n10) ** 2, total, out=np.zeros_like(total), where=total > 0)
    return bool((np.abs(m - CHI2_95) < CHI2_95 * _CLOSE_LEAD).any())


def _reliability(tally: Tally, node: dict[str, Any], extras: Extras) -> None:
    host = extras.reliability
    confidence = extras.others.confidence
    if host is None or confidence is None:
        return
    # A node keeps a confidence as the middle of its bin.
    bins = host.table.bins
    kept = (confidence.astype(np.int64) & (256 - 256 // bins)) + 128 // bins
    records = extras.records
    table = Reliability(bins, host.alpha)
    table.update(kept, np.where(records.known, records.truth == records.prediction, NO_TRUTH))
    tally.same("reliability.labelled", node["n"], host.labelled)
    tally.same("reliability.unlabelled", node["unlabelled"], host.unlabelled)
    tally.same("reliability.missed", node["missed"], 0)
    weight, blind = node["weight_q20"] / 2**20, node["blind_weight_q20"] / 2**20
    for name, key, unit, wanted in (
        ("labelled", "labelled", weight, table.labelled),
        ("right", "right", weight, table.right),
        ("confidence", "confidence", weight / 256, table.confidence),
        ("without", "without", blind, table.unlabelled),
    ):
        # Confidences are kept in 256ths, each product rounded to half a unit.
        scale = 256 if name == "confidence" else 1
        for bin_, expected in enumerate(wanted.tolist()):
            got = node[key][bin_] / unit
            bound = _fade_bound(expected, unit * scale, host.alpha, 4.0 * scale)
            if name == "confidence" and host.alpha != 1.0:
                memory = min(host.labelled, 1 / (1 - host.alpha))
                bound += scale * (memory / (unit * scale) + 2.0**-22 / (1 - host.alpha))
                bound += scale * 2.0**-31 / (1 - host.alpha) ** 2
            tally.near(f"reliability.{name}[{bin_}]", got, expected, bound)


def _holdout(tally: Tally, node: dict[str, Any], extras: Extras) -> None:
    host = extras.holdout
    if host is None:
        return
    tally.same("holdout.size", node["size"], host.size)
    tally.same("holdout.scored", node["scored"], host.scored)
    for i, score in enumerate(host.scores):
        records, right, _ = node["history"][i] if i < len(node["history"]) else (None, None, None)
        tally.same(f"holdout.scores[{i}].records", records, score.records & ((1 << 30) - 1))
        tally.same(f"holdout.scores[{i}].correct", right, score.correct)

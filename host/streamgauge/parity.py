"""Compares a node's figures with the host's, and with those of the node's model, number by number.

The host computes from float64 and int64 arrays what the node computes from small integers, by other
algorithms and other code. Counts, ticks and sums of ticks must be equal. What the node rounds must lie within
a bound:

=====================  ===============================================================================
IoU of one pair        ``2^-27``: a quotient rounded to 26 bits
distance, sum of costs ``2^-27`` for each pair of one label
faded mean             ``17/16 R 2^-31 / (sqrt(alpha) (1 - alpha))``, because ``1 - alpha`` and its sixteenth
                       power are rounded to 30 bits, ``2^-23 (1 - alpha) / (1 - alpha^16)`` for the rounded
                       weights of runs, and two units of the faded sum's last bit, divided by its weight
float64                what the host's own rounding adds, a few ``2^-52`` of the figure
=====================  ===============================================================================

Against the model, which is the node's sources under this Python, every number must be equal.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from .align import Alignment
from .assess import Assessment
from .extras.parity import compare_extras
from .levels.parity import compare_levels
from .scores import Stat

IOU_BITS = 26
_HALF_UNIT = 2.0 ** -(IOU_BITS + 1)
_EPSILON = 2.0**-52
_FIRST = 20

Number = int | float


@dataclass(frozen=True)
class Difference:
    """One number that does not agree.

    Attributes
    ----------
    name : str
        ``alignment.confusion[sleep][NULL]``.
    node, expected : int, float or None
    bound : float
        How far they may lie apart; 0 for numbers that must be equal.
    against : {"host", "model"}
        Where the expected number comes from.
    """

    name: str
    node: Number | None
    expected: Number | None
    bound: float
    against: str

    def __str__(self) -> str:
        within = f" (± {self.bound:.3g})" if self.bound else ""
        return f"{self.name}: node {self.node}, {self.against} {self.expected}{within}"


@dataclass(frozen=True)
class Parity:
    """How a node's numbers compare.

    Attributes
    ----------
    with_host, with_model : int
        Numbers compared with the host's and with the model's.
    different : int
        Of both, those that do not agree.
    worst : float
        Largest share of its bound that a rounded number is off by: up to 1 agrees, 0 is exact.
    worst_name : str or None
        Which number that is; None if all are exact.
    first : tuple of Difference
        The first that do not agree.
    remarks : tuple of str
        What was not compared, and why, in sentences.
    """

    with_host: int
    with_model: int
    different: int
    worst: float
    worst_name: str | None
    first: tuple[Difference, ...]
    remarks: tuple[str, ...]

    @property
    def compared(self) -> int:
        """All comparisons."""
        return self.with_host + self.with_model

    @property
    def agrees(self) -> bool:
        """Whether no number differs."""
        return self.different == 0


def compare(
    raw: dict[str, Any], assessment: Assessment, config: dict[str, Any], model: dict[str, Any] | None = None
) -> Parity:
    """Compare a node's raw figures.

    Parameters
    ----------
    raw : dict
        `Node.raw()` of the node.
    assessment : Assessment
        The host's figures, with the window and alpha of the node's profile.
    config : dict
        What the node loaded.
    model : dict, optional
        `Node.raw()` of the model.
    """
    tally = _Tally()
    names = config["labels"]
    _times(tally, raw, assessment)
    align = raw.get("align")
    if align is not None:
        if align["forced"]:
            tally.remarks.append(
                f"The node decided {_times_text(align['forced'])} before it could know for sure, because "
                f"more than {config['pending']} segments of one side were undecided (capacity.pending). Its "
                "alignment may differ from the exact one and was compared with the model's alone."
            )
        else:
            _alignment(tally, align, assessment.alignment, names, config["closed"])
    if "slices" in raw:
        _slices(tally, raw["slices"], assessment, names)
    if "prequential" in raw:
        _prequential(tally, raw["prequential"], assessment)
    compare_extras(tally, raw, assessment.extras, config)
    if "hierarchy" in raw and assessment.hierarchy is not None:
        compare_levels(tally, raw["hierarchy"], assessment.hierarchy)
    with_host = tally.compared
    if model is not None:
        _model(tally, raw, model)
    return tally.parity(with_host)


def node_distance(align: dict[str, Any], c0: int = 2) -> float:
    """Return the distance that a node's raw alignment amounts to."""
    whole = c0 * (align["unmatched_truth"] + align["unmatched_prediction"] + _substitutions(align))
    return float(whole + _cost(align))


def faded_mean(raw: dict[str, Any]) -> float | None:
    """Return the faded mean that a node's raw prequential record amounts to; None before the first record."""
    if raw["n"] == 0:
        return None
    return float(Fraction(raw["fading_s"], 1 << raw["fading_bits"])) / faded_weight(raw)


def faded_weight(raw: dict[str, Any]) -> float:
    """Return the sum of the weights behind a node's faded mean."""
    decay = raw["alpha_q30"] / 2**30
    return -math.expm1(raw["n"] * math.log1p(-decay)) / decay


def faded_bound(raw: dict[str, Any], loss_max: float = 1.0) -> float:
    """Return how far a node's faded mean may lie from the exact one."""
    alpha = 1 - raw["alpha_q30"] / 2**30
    quantised = loss_max * 2.0**-31 / (math.sqrt(alpha) * (1 - alpha))
    runs = 8 * 2.0**-26 * (1 - alpha) / (1 - alpha**16)
    units = 2 * 2.0 ** -raw["fading_bits"] / faded_weight(raw)
    return 17 / 16 * quantised + runs + units + 4 * _EPSILON * loss_max


@dataclass
class _Tally:
    compared: int = 0
    different: int = 0
    worst: float = 0.0
    worst_name: str | None = None
    first: list[Difference] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    against: str = "host"

    def same(self, name: str, node: Number | None, expected: Number | None) -> None:
        self.compared += 1
        if node != expected:
            self._note(Difference(name, node, expected, 0.0, self.against))

    def near(self, name: str, node: float | None, expected: float | None, bound: float) -> None:
        if node is None or expected is None:
            self.same(name, node, expected)
            return
        self.compared += 1
        error = abs(node - expected)
        share = error / bound if bound else math.inf if error else 0.0
        if share > self.worst:
            self.worst, self.worst_name = share, name
        if not share <= 1:  # nan is a difference
            self._note(Difference(name, node, expected, bound, self.against))

    def parity(self, with_host: int) -> Parity:
        return Parity(
            with_host=with_host,
            with_model=self.compared - with_host,
            different=self.different,
            worst=self.worst,
            worst_name=self.worst_name,
            first=tuple(self.first),
            remarks=tuple(self.remarks),
        )

    def _note(self, difference: Difference) -> None:
        self.different += 1
        if len(self.first) < _FIRST:
            self.first.append(difference)


def _times_text(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _times(tally: _Tally, raw: dict[str, Any], assessment: Assessment) -> None:
    slices = assessment.slices
    join = raw["join"]
    if join["unassessed"]:
        tally.remarks.append(
            f"The node could not assess {join['unassessed']} ticks: too many segments of one side ended "
            "while one of the other side went on. Raise capacity.runs."
        )
    tally.same("time.assessed", join["assessed"], slices.known)
    tally.same("time.unknown", join["unknown"], slices.unknown)
    tally.same("time.unassessed", join["unassessed"], 0)
    for reason, count in raw["counters"].items():
        tally.same(f"rejected.{reason}", count, 0)


def _substitutions(align: dict[str, Any]) -> int:
    real = [row[1:] for row in align["confusion"][1:]]
    return sum(map(sum, real)) - sum(row[i] for i, row in enumerate(real))


def _cost(align: dict[str, Any]) -> Fraction:
    return align["same"] - Fraction(align["iou_q26"], 1 << IOU_BITS)


def _alignment(tally: _Tally, node: dict[str, Any], host: Alignment, names: list[str], closed: int) -> None:
    for name, key, expected in (
        ("segments.truth", "truth", host.true_segments),
        ("segments.prediction", "prediction", host.pred_segments),
        ("unmatched.truth", "unmatched_truth", host.unmatched_truth),
        ("unmatched.prediction", "unmatched_prediction", host.unmatched_prediction),
        ("same", "same", host.same),
        ("latency.early", "early", host.early.count),
        ("latency.late", "late", host.late.count),
    ):
        tally.same(f"alignment.{name}", node[key], expected)
    for g, row in enumerate(host.confusion.tolist()):
        for p, expected in enumerate(row):
            tally.same(f"alignment.confusion[{names[g]}][{names[p]}]", node["confusion"][g][p], expected)
    for key, counts in (("split", host.repetitions_split), ("merge", host.repetitions_merge)):
        for label, expected in enumerate(counts.tolist()):
            tally.same(f"alignment.repetitions.{key}[{names[label]}]", node[key][label], expected)
    pairs = host.same * (_HALF_UNIT + _EPSILON)
    tally.near("alignment.cost", float(_cost(node)), host.cost_sum, pairs + _EPSILON * host.cost_sum)
    tally.near("alignment.distance", node_distance(node), host.distance, pairs + 2 * _EPSILON * host.distance)
    _statistics(tally, node["stats"], host, closed)


def _statistics(tally: _Tally, node: dict[str, Any], host: Alignment, closed: int) -> None:
    """Compare the sums over correct matches, and the means and spreads that follow from them."""
    truth = host.truth.take(host.matches[:, 0])
    prediction = host.prediction.take(host.matches[:, 1])
    correct = (truth.label == prediction.label) & (truth.label != 0)
    a, b = truth.take(correct), prediction.take(correct)
    onset, offset = b.start - a.start, b.end - a.end
    overlap = np.minimum(a.end, b.end) - np.maximum(a.start, b.start) - closed
    for name, key, values, unit, stat in (
        ("latency", "latency", onset + offset, 2, host.latency),
        ("onset_latency", "onset", onset, 1, host.onset_latency),
        ("offset_latency", "offset", offset, 1, host.offset_latency),
        ("overlap", "overlap", overlap, 1, host.overlap),
        ("prediction_duration", "duration", b.end - b.start - closed, 1, host.prediction_duration),
    ):
        listed = values.tolist()
        expected = (
            len(listed),
            sum(listed),
            sum(value * value for value in listed),  # whole numbers of this Python: no overflow
            min(listed, default=0),
            max(listed, default=0),
        )
        for what, got, wanted in zip(
            ("count", "sum", "sum_of_squares", "min", "max"), node[key], expected, strict=True
        ):
            tally.same(f"alignment.{name}.{what}", got, wanted)
        _moments(tally, f"alignment.{name}", node[key], unit, stat)
    _iou(tally, node["iou"], host.iou)


def _moments(tally: _Tally, name: str, sums: list[int], unit: int, stat: Stat) -> None:
    count, total, squares, low, high = sums
    if count == 0:
        tally.same(f"{name}.mean", None, stat.mean)
        return
    # Of the host's floats alone: the node's sums are exact.
    scale = 8 * _EPSILON * (1 + max(abs(low), abs(high)) / unit) * math.sqrt(count)
    tally.near(f"{name}.mean", total / (unit * count), stat.mean, scale)
    variance = Fraction(count * squares - total * total, (unit * count) ** 2)
    tally.near(f"{name}.std", math.sqrt(variance), stat.std, scale)


def _iou(tally: _Tally, node: list[int], host: Stat) -> None:
    count, total, _, low, high = node
    tally.same("alignment.iou.count", count, host.count)
    one = 1 << IOU_BITS
    for what, got, expected in (
        ("mean", total / one / count if count else None, host.mean),
        ("min", low / one if count else None, host.min),
        ("max", high / one if count else None, host.max),
    ):
        tally.near(f"alignment.iou.{what}", got, expected, _HALF_UNIT + 4 * _EPSILON)


def _slices(tally: _Tally, node: dict[str, Any], assessment: Assessment, names: list[str]) -> None:
    host = assessment.slices
    for name, key, ticks in (
        ("correct", "tp", host.correct),
        ("S_ground", "sg", host.substituted_ground),
        ("S_inferred", "si", host.substituted_inferred),
        ("D", "d", host.deletion),
        ("U", "u", host.underfill),
        ("F", "f", host.fragmentation),
        ("I", "i", host.insertion),
        ("O", "o", host.overfill),
        ("M", "m", host.merge),
    ):
        for label, expected in enumerate(ticks.tolist()):
            tally.same(f"slices.{name}[{names[label]}]", node[key][label], expected)


def _prequential(tally: _Tally, node: dict[str, Any], assessment: Assessment) -> None:
    host = assessment.prequential
    for name, key, expected in (
        ("count", "n", host.count),
        ("unlabelled", "unlabelled", host.unlabelled),
        ("sum", "sum", host.loss_sum),
        ("window.count", "window_n", host.window_count),
        ("window.sum", "window_sum", host.window_sum),
    ):
        tally.same(f"prequential.{name}", node[key], expected)
    for name, total, count, estimate in (
        ("mean", node["sum"], node["n"], host.mean),
        ("window", node["window_sum"], node["window_n"], host.window),
    ):
        tally.same(f"prequential.{name}", total / count if count else None, estimate.value)
    bound = faded_bound(node) if node["n"] else 0.0
    tally.near("prequential.fading", faded_mean(node), host.fading.value, bound)


def _model(tally: _Tally, raw: dict[str, Any], model: dict[str, Any]) -> None:
    tally.against = "model"
    node, expected = dict(_flat(raw)), dict(_flat(model))
    for name in [*expected, *(name for name in node if name not in expected)]:
        tally.same(f"raw.{name}", node.get(name), expected.get(name))


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, Number | None]]:
    """Walk through all numbers of a raw dict, each with the way to it."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _flat(inner, f"{name}.{key}" if name else str(key))
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            yield from _flat(inner, f"{name}[{index}]")
    else:
        yield name, value

"""Records, right or wrong: the mean error, that of a window and the faded one, beside river's."""

from __future__ import annotations

from typing import Any

import numpy as np

from streamgauge.parity import faded_bound, faded_mean
from streamgauge.prequential import LossRuns, Prequential, curves, losses_from_pieces, prequential
from streamgauge.segments import UNKNOWN, Segments
from streamgauge.streaming.prequential import StreamingPrequential

from .measure import Case, Check, Contestant, peer
from .node import Engines, NodeWork, Stream

ALPHA = 0.999
WINDOW = 1000
ONE_BY_ONE = 2000  # records that the host is told one a call
EXACT = "after every record, exactly"
# What summing in blocks may cost the host's faded curve (`fading.faded_sums`), and as much for river's.
FADED = 2.0**-39


def records_case(stream: Stream, engines: Engines) -> Case:
    """The node's and the host's prequential error, and river's three counterparts, on one stream.

    Raises
    ------
    PeerAbsent
        river is not installed.
    """
    known = np.frombuffer(stream.truth, np.uint8) != UNKNOWN
    truth, prediction = (np.frombuffer(x, np.uint8) for x in (stream.truth, stream.prediction))
    losses = np.where(known, truth != prediction, np.nan)

    def ours() -> Prequential:
        told = losses_from_pieces(Segments.from_labels(truth), Segments.from_labels(prediction), 1)
        return prequential(told, window=WINDOW, alpha=ALPHA)

    part = losses[:ONE_BY_ONE]
    runs = [LossRuns.of([loss]) for loss in part]

    def streaming() -> StreamingPrequential:
        return StreamingPrequential(WINDOW, ALPHA)

    def one_by_one() -> StreamingPrequential:
        told = streaming()
        for run in runs:
            told.feed(run)
        return told

    found = ours()
    same_streaming = Check(
        f"host, record by record: first {len(part):,}",
        one_by_one().result() == prequential(part, window=WINDOW, alpha=ALPHA),
        "every figure, exactly",
    )
    config = stream.config(["prequential"], window=WINDOW)
    files = {"truth.bin": stream.truth, "prediction.bin": stream.prediction}
    whole = "prequential", engines
    node = [
        NodeWork(
            "node, arrays of labels", "batch", config, files, len(stream), *whole, {"CHUNK": stream.chunk}
        ),
        NodeWork("node, a call a label", "single", config, files, len(stream), *whole, {"EACH": 0}),
    ]
    hosts = [
        Contestant("host, arrays of labels", ours, len(stream)),
        Contestant("host, a call a record", one_by_one, len(part), streaming, lambda: [same_streaming]),
    ]
    lists = truth[known].tolist(), prediction[known].tolist()
    return Case(
        what="error of labels: mean, last 1000, faded by 0.999",
        input=f"{stream.name}, {len(stream):,} records",
        unit="record",
        node=node,
        hosts=hosts,
        peers=_river(*lists, losses[known]),
        check_node=lambda raw: _node_checks(raw["prequential"], found),
        notes=[
            "Node and host compute all three at once: their bytes and times are of all three, and so are "
            "river's in its last row.",
            "river is told record by record. A record's `get` is not in the times, neither is the node's report.",
            f"The host's second row is the form for streams, told one record a call ({len(part):,} of them).",
        ],
    )


def _node_checks(raw: dict[str, Any], host: Prequential) -> list[Check]:
    counts = [raw[key] for key in ("n", "sum", "unlabelled", "window_n", "window_sum")]
    want = [host.count, host.loss_sum, host.unlabelled, host.window_count, host.window_sum]
    value = host.fading.value
    off = 0.0 if value is None else abs((faded_mean(raw) or 0.0) - value)
    bound = faded_bound(raw) if raw["n"] else 0.0
    return [
        Check("node and host: records, errors, window", counts == want, "exactly"),
        Check("node and host: faded mean", off <= bound, f"{off:.1e} apart, bound {bound:.1e}"),
    ]


def _river(truth: list[int], prediction: list[int], losses: np.ndarray) -> list[Contestant]:
    metrics, stats, utils = (peer(f"river.{name}") for name in ("metrics", "stats", "utils"))
    pairs = list(zip(truth, prediction, strict=True))
    floats = losses.tolist()
    ours = curves(losses, window=WINDOW, alpha=ALPHA)

    def new_rolling() -> Any:
        return utils.Rolling(metrics.Accuracy, window_size=WINDOW)

    def new_faded() -> Any:
        return stats.EWMean(fading_factor=1 - ALPHA)

    def new_all() -> list[Any]:
        return [metrics.Accuracy(), new_rolling(), new_faded()]

    def accuracy() -> Any:
        metric = metrics.Accuracy()
        for g, p in pairs:
            metric.update(g, p)
        return metric

    def rolling() -> Any:
        metric = new_rolling()
        for g, p in pairs:
            metric.update(g, p)
        return metric

    def faded() -> Any:
        mean = new_faded()
        for loss in floats:
            mean.update(loss)
        return mean

    def all_three() -> list[Any]:
        return [accuracy(), rolling(), faded()]

    def after_each(metric: Any, told: list[Any]) -> np.ndarray:
        values = np.empty(len(told))
        for i, arguments in enumerate(told):
            metric.update(*arguments)
            values[i] = metric.get()
        return values

    def check_accuracy() -> list[Check]:
        theirs = after_each(metrics.Accuracy(), pairs)
        # The curves are errors / n; river divides what is right.
        n = np.arange(1, len(losses) + 1)
        mine = (n - np.rint(ours.mean * n)) / n
        return [Check("host and river: accuracy", bool(np.array_equal(theirs, mine)), EXACT)]

    def check_rolling() -> list[Check]:
        theirs = after_each(new_rolling(), pairs)
        n = np.minimum(np.arange(1, len(losses) + 1), WINDOW)
        mine = (n - np.rint(ours.window * n)) / n
        return [Check("host and river: rolling accuracy", bool(np.array_equal(theirs, mine)), EXACT)]

    def check_faded() -> list[Check]:
        theirs = after_each(new_faded(), [(loss,) for loss in floats])
        return faded_checks(theirs, losses, ours.fading)

    return [
        Contestant("river Accuracy", accuracy, len(pairs), metrics.Accuracy, check_accuracy),
        Contestant(f"river Rolling(Accuracy, {WINDOW})", rolling, len(pairs), new_rolling, check_rolling),
        Contestant(f"river EWMean({1 - ALPHA:.3g})", faded, len(pairs), new_faded, check_faded),
        Contestant("river, all three", all_three, len(pairs), new_all),
    ]


def faded_checks(theirs: np.ndarray, losses: np.ndarray, ours: np.ndarray) -> list[Check]:
    """River's faded mean beside ours, in river's convention.

    river begins with the first record and moves by ``f (x - mean)``, f = 1 - alpha: the first record has the
    weight that all records before it would have had. Ours is S / B, weights that add up to 1 from the first
    record on. With ``S = (1 - alpha^n) / (1 - alpha) * ours``, river's is ``(1 - alpha) S + alpha^n x_1``.
    """
    faded = ALPHA ** np.arange(1, len(losses) + 1, dtype=np.float64)
    converted = (1 - faded) * ours + faded * losses[0]
    off = float(np.abs(converted - theirs).max())
    apart = np.abs(ours - theirs)
    most = int(apart.argmax())
    how = (
        f"after every record within {FADED:.1e} ({off:.1e} apart) once the first record has river's weight; "
        f"as they stand up to {apart[most]:.2g} apart (record {most + 1:,}), {apart[-1]:.1e} after the last"
    )
    return [Check("host and river: faded mean", off <= FADED, how)]

"""The alignment: distance, confusion matrix, scores by label, latencies."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from streamgauge import formats
from streamgauge.align import Alignment
from streamgauge.outcome import Outcome
from streamgauge.scores import Stat

from .grid import Grid, facts, indented

_BAR = 8
_CONFUSED = 12
_GREEN, _RED = (34, 139, 84), (186, 58, 58)


def alignment_section(outcome: Outcome, width: int, brief: bool) -> Iterator[RenderableType]:
    """The section's parts."""
    alignment = outcome.assessment.alignment
    task = outcome.assessment.recording.task
    forced = outcome.node.raw.get("align", {}).get("forced", 0) if outcome.node else alignment.forced
    split, merge = int(alignment.repetitions_split.sum()), int(alignment.repetitions_merge.sum())
    yield facts(
        width,
        ("distance", Text(f"{alignment.distance:,.6f}", "bold")),
        ("true / predicted", f"{alignment.true_segments:,} / {alignment.pred_segments:,}"),
        ("unmatched", f"{alignment.unmatched_truth:,} / {alignment.unmatched_prediction:,}"),
        ("forced commits", Text(formats.count(forced), "yellow" if forced else "")),
    )
    yield facts(
        width,
        ("accuracy", Text(formats.score(alignment.accuracy), "bold")),
        ("MAA", formats.score(alignment.maa)),
        ("MAP", formats.score(alignment.map)),
        ("MAR", formats.score(alignment.mar)),
        ("MAF1", Text(formats.score(alignment.maf1), "bold")),
        ("repetitions, split", formats.count(split)),
        ("merged", formats.count(merge)),
    )
    if not brief:
        yield Text()
        yield indented(_confusion(alignment, task.labels, width - 2))
        yield Text()
        yield indented(_by_label(alignment, task.labels, width - 2))
    yield Text()
    yield indented(_latencies(alignment, task.tick_seconds, width - 2))


def _confusion(alignment: Alignment, names: tuple[str, ...], width: int) -> Table:
    """The confusion matrix where it fits, else what is most often confused."""
    grid = Grid("true, down; predicted, across", *(str(i) for i in range(len(names))), gap=1)
    for g, row in enumerate(alignment.confusion.tolist()):
        cells = [_cell(n, sum(row), good=g == p, nothing=g == p == 0) for p, n in enumerate(row)]
        grid.add(Text.assemble((f"{g:>2} ", "bright_black"), names[g]), *cells)
    return grid.fit(width) if grid.width() <= width else _confused(alignment, names, width)


def _cell(n: int, row: int, *, good: bool, nothing: bool) -> Text:
    """A count on a ground that grows stronger with its share of the row."""
    if n == 0:
        return Text("·", "bright_black")
    if nothing:
        return Text(formats.count(n))
    level = 0.25 + 0.75 * n / row
    ground = ",".join(str(round(48 + (part - 48) * level)) for part in (_GREEN if good else _RED))
    return Text(formats.count(n), f"white on rgb({ground})")


def _confused(alignment: Alignment, names: tuple[str, ...], width: int) -> Table:
    found = [
        (n, names[g], names[p])
        for g, row in enumerate(alignment.confusion.tolist())
        for p, n in enumerate(row)
        if n and g != p
    ]
    grid = Grid("most often confused", "segments", "the matrix needs a wider window, or --json", drop=(2,))
    for n, truth, prediction in sorted(found, key=lambda row: (-row[0], row[1:]))[:_CONFUSED]:
        grid.add(f"{truth} as {prediction}", formats.count(n))
    return grid.fit(width)


def _by_label(alignment: Alignment, names: tuple[str, ...], width: int) -> Table:
    grid = Grid(
        *("label", "true", "TP", "FN", "FP", "precision", "recall", "F1", "", "split", "merged"),
        left=(0, 8),
        drop=(8, 10, 9, 1, 2, 3, 4),
    )
    in_truth = alignment.confusion.sum(axis=1)
    for label in range(1, len(names)):
        f1 = float(alignment.f1[label])
        grid.add(
            names[label],
            *(formats.count(int(v[label])) for v in (in_truth, alignment.tp, alignment.fn, alignment.fp)),
            *(formats.score(float(v[label])) for v in (alignment.precision, alignment.recall)),
            formats.score(f1),
            _bar(f1),
            formats.count(int(alignment.repetitions_split[label])),
            formats.count(int(alignment.repetitions_merge[label])),
        )
    means = map(formats.score, (alignment.map, alignment.mar, alignment.maf1))
    grid.add("mean", "", "", "", "", *means, style="bold")
    return grid.fit(width)


def _bar(share: float) -> Text:
    if formats.missing(share):
        return Text()
    halves = round(share * _BAR * 2)
    text = "━" * (halves // 2) + "╸" * (halves % 2)
    return Text(text, "green" if share >= 0.8 else "yellow" if share >= 0.5 else "red")


def _latencies(alignment: Alignment, tick: float | None, width: int) -> Table:
    grid = Grid("correct matches", "count", "mean", "std", "min", "max", drop=(5, 4, 3))
    for name, stat, signed in (
        ("latency", alignment.latency, True),
        ("  early", alignment.early, True),
        ("  late", alignment.late, True),
        ("onset latency", alignment.onset_latency, True),
        ("offset latency", alignment.offset_latency, True),
        ("overlap", alignment.overlap, False),
        ("prediction duration", alignment.prediction_duration, False),
    ):
        grid.add(name, *_stat(stat, tick, signed=signed))
    iou = alignment.iou
    grid.add("IoU", formats.count(iou.count), *map(formats.score, (iou.mean, iou.std, iou.min, iou.max)))
    return grid.fit(width)


def _stat(stat: Stat, tick: float | None, *, signed: bool) -> list[str]:
    return [
        formats.count(stat.count),
        formats.duration(stat.mean, tick, signed=signed),
        formats.duration(stat.std, tick),
        formats.duration(stat.min, tick, signed=signed),
        formats.duration(stat.max, tick, signed=signed),
    ]

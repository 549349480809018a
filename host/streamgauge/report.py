"""The report people read, and its picture.

`render` prints the sections one after the other; each is a function from an `Outcome` to something rich can
print. Colour repeats what signs and numbers say, so plain text loses nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from . import formats
from .outcome import Outcome
from .prequential import Estimate, curves, losses_from_pieces
from .scores import Stat
from .slices import COLUMNS

PLAIN_WIDTH = 100  # where output goes into a file or a pipe

_CATEGORIES = {  # in the order of the bar: letter, word, style
    "correct": ("C", "correct", "black on green"),
    "S": ("S", "substitution", "black on magenta"),
    "D": ("D", "deletion", "white on red"),
    "U": ("U", "underfill", "black on bright_red"),
    "F": ("F", "fragmentation", "black on yellow"),
    "I": ("I", "insertion", "white on blue"),
    "O": ("O", "overfill", "black on bright_blue"),
    "M": ("M", "merge", "black on cyan"),
}
_SPARKS = "▁▂▃▄▅▆▇█"
_BAR = 8


def terminal() -> Console:
    """Return a console on the standard output: as wide as the terminal, else `PLAIN_WIDTH` and plain."""
    console = Console(highlight=False, soft_wrap=False)
    if not console.is_terminal and not os.environ.get("COLUMNS"):
        console = Console(highlight=False, soft_wrap=False, width=PLAIN_WIDTH)
    return console


def render(outcome: Outcome, console: Console | None = None, *, brief: bool = False) -> None:
    """Print the report.

    Parameters
    ----------
    outcome : Outcome
    console : rich.console.Console, optional
        By default `terminal()`.
    brief : bool
        Without the tables by label.
    """
    console = console or terminal()
    if console.is_terminal:
        for part in _sections(outcome, console.width, brief):
            console.print(part)
        return
    with console.capture() as captured:
        for part in _sections(outcome, console.width, brief):
            console.print(part)
    # Tables fill their lines up with blanks, which files do not need.
    for line in captured.get().splitlines():
        console.out(line.rstrip(), highlight=False)


def _sections(outcome: Outcome, width: int, brief: bool) -> Iterator[RenderableType]:
    yield from _heading(outcome, width)
    yield _title("Alignment", "segments in order, SLTSS")
    yield from _alignment(outcome, width, brief)
    yield _title("Slices", "every tick in one category, van Kasteren")
    yield from _slices(outcome, width, brief)
    yield _title("Prequential error", "tested before its truth is known, Gama")
    yield from _prequential(outcome, width)
    if outcome.node is not None:
        yield _title("Node memory", engine_text(outcome))
        yield from _memory(outcome, width)
    if outcome.parity is not None:
        yield _title("Parity", "the node's numbers against the host's, and its model's bit for bit")
        yield from verdict(outcome)
    yield Text()


def _title(name: str, what: str) -> RenderableType:
    title = Text.assemble((name, "bold"), ("  " + what, "bright_black"))
    return Padding(Rule(title, align="left", style="bright_black"), (1, 0, 0, 0))


def _indented(part: RenderableType) -> RenderableType:
    return Padding(part, (0, 0, 0, 2))


def _table(*columns: str, gap: int = 2) -> Table:
    """A table without lines; numbers stand to the right."""
    table = Table(box=None, padding=(0, gap, 0, 0), header_style="bright_black", pad_edge=False)
    for index, name in enumerate(columns):
        table.add_column(name, justify="left" if index == 0 else "right", no_wrap=True)
    return table


def _facts(width: int, *pairs: tuple[str, str | Text]) -> Text:
    """`name value` pairs, as many a line as fit."""
    lines = [Text()]
    for name, value in pairs:
        pair = Text.assemble((name + " ", "bright_black") if name else "", value)
        if len(lines[-1]) and len(lines[-1]) + 3 + len(pair) > width:
            lines.append(Text())
        if len(lines[-1]):
            lines[-1].append("   ")
        lines[-1].append_text(pair)
    return Text("\n").join(lines)


# Heading


def _heading(outcome: Outcome, width: int) -> Iterator[RenderableType]:
    recording = outcome.assessment.recording
    task, notes = recording.task, recording.notes
    slices = outcome.assessment.slices
    begin, stop = recording.span
    yield Text.assemble(
        ("streamgauge  ", "bold cyan"),
        (Path(outcome.prediction).name, "bold"),
        " against the truth ",
        (Path(outcome.truth).name, "bold"),
    )
    whole = [("", f"{formats.count(stop - begin)} ticks")]
    if task.tick_seconds is not None:
        whole = [
            ("", formats.long_time((stop - begin) * task.tick_seconds)),
            ("tick", formats.duration(1, task.tick_seconds)),
            ("slice", formats.duration(task.slice_ticks, task.tick_seconds)),
            ("ticks", formats.count(stop - begin)),
        ]
    elif task.slice_ticks > 1:
        whole.append(("slice", f"{formats.count(task.slice_ticks)} ticks"))
    named = len(task.labels) - 1
    whole.append(("", f"{named} label{'s' * (named != 1)} and {task.labels[0]}"))
    if task.origin:
        whole.append(("from", task.origin.replace("T", " ")))
    if task.closed:
        whole.append(("", "closed segments"))
    yield _facts(width, *whole)
    total = max(1, stop - begin)
    unassessed = outcome.node.raw["join"]["unassessed"] if outcome.node else 0
    time = [
        ("known", f"{formats.percent(slices.known / total)} %"),
        ("unknown", _share_of(slices.unknown, total)),
    ]
    if outcome.node:
        time.append(("unassessed", _share_of(unassessed, total)))
    time += [
        ("flattened rows", _two(notes.flattened_truth, notes.flattened_prediction)),
        ("skipped", formats.count(notes.skipped)),
        ("rounded times", formats.count(notes.rounded_times)),
    ]
    yield _facts(width, *time)
    for line in notes.skipped_rows[:3]:
        yield Text(f"skipped: {line}", "yellow")
    for line in (*notes.warnings, *outcome.notes):
        yield Text(f"note: {line}", "yellow")


def _share_of(part: int, whole: int) -> str:
    return f"{formats.percent(part / whole)} %" if part else "0"


# Alignment


def _alignment(outcome: Outcome, width: int, brief: bool) -> Iterator[RenderableType]:
    alignment = outcome.assessment.alignment
    forced = outcome.node.raw.get("align", {}).get("forced", 0) if outcome.node else 0
    yield _facts(
        width,
        ("distance", Text(f"{alignment.distance:,.6f}", "bold")),
        ("segments, true / predicted", _two(alignment.true_segments, alignment.pred_segments)),
        ("unmatched", _two(alignment.unmatched_truth, alignment.unmatched_prediction)),
        ("forced commits", Text(formats.count(forced), "yellow" if forced else "")),
    )
    yield _facts(
        width,
        ("accuracy", Text(formats.score(alignment.accuracy), "bold")),
        ("MAA", formats.score(alignment.maa)),
        ("MAP", formats.score(alignment.map)),
        ("MAR", formats.score(alignment.mar)),
        ("MAF1", Text(formats.score(alignment.maf1), "bold")),
        ("repetitions, split", formats.count(int(alignment.repetitions_split.sum()))),
        ("merged", formats.count(int(alignment.repetitions_merge.sum()))),
    )
    if not brief:
        yield Text()
        yield _indented(_confusion(outcome, width - 2))
        yield Text()
        yield _indented(_alignment_labels(outcome))
    yield Text()
    yield _indented(_latencies(outcome))


def _two(one: int, other: int) -> str:
    return f"{formats.count(one)} / {formats.count(other)}"


def _confusion(outcome: Outcome, width: int) -> RenderableType:
    """The confusion matrix where it fits, else what is most often confused."""
    alignment = outcome.assessment.alignment
    names = outcome.assessment.recording.task.labels
    matrix = alignment.confusion
    cell = max(2, len(str(int(matrix.max()))) if matrix.size else 1, len(str(len(names) - 1)))
    if max(map(len, names)) + 4 + (cell + 1) * len(names) > width:
        return _confused(outcome)
    table = _table("true, down; predicted, across", *(str(i) for i in range(len(names))), gap=1)
    for g, row in enumerate(matrix.tolist()):
        whole = sum(row)
        cells = []
        for p, n in enumerate(row):
            if g == p == 0:
                style = ""
            else:
                style = _heat(n / whole, good=g == p) if n else "bright_black"
            cells.append(Text(formats.count(n) if n else "·", style))
        table.add_row(Text.assemble((f"{g:>2} ", "bright_black"), names[g]), *cells)
    return table


def _heat(share: float, *, good: bool) -> str:
    """Background that grows stronger with the share of a row."""
    rgb = (34, 139, 84) if good else (186, 58, 58)
    level = 0.25 + 0.75 * share
    back = ",".join(str(round(48 + (colour - 48) * level)) for colour in rgb)
    return f"white on rgb({back})"


def _confused(outcome: Outcome) -> RenderableType:
    alignment = outcome.assessment.alignment
    names = outcome.assessment.recording.task.labels
    found = [
        (int(n), names[g], names[p])
        for g, row in enumerate(alignment.confusion)
        for p, n in enumerate(row)
        if n and g != p
    ]
    table = _table("most often confused (the whole matrix needs a wider window, or --json)", "segments")
    for n, truth, prediction in sorted(found, key=lambda row: (-row[0], row[1:]))[:12]:
        table.add_row(f"{truth} as {prediction}", formats.count(n))
    return table


def _alignment_labels(outcome: Outcome) -> RenderableType:
    alignment = outcome.assessment.alignment
    names = outcome.assessment.recording.task.labels
    table = _table("label", "true", "TP", "FN", "FP", "precision", "recall", "F1", "", "split", "merged")
    table.columns[8].justify = "left"
    in_truth = alignment.confusion.sum(axis=1)
    for label in range(1, len(names)):
        f1 = float(alignment.f1[label])
        table.add_row(
            names[label],
            *(formats.count(int(v[label])) for v in (in_truth, alignment.tp, alignment.fn, alignment.fp)),
            *(formats.score(float(v[label])) for v in (alignment.precision, alignment.recall)),
            formats.score(f1),
            _bar(f1),
            formats.count(int(alignment.repetitions_split[label])),
            formats.count(int(alignment.repetitions_merge[label])),
        )
    means = map(formats.score, (alignment.map, alignment.mar, alignment.maf1))
    table.add_row("mean", "", "", "", "", *means, style="bold")
    return table


def _bar(share: float) -> Text:
    if formats.missing(share):
        return Text()
    halves = round(share * _BAR * 2)
    text = "━" * (halves // 2) + "╸" * (halves % 2)
    return Text(text, "green" if share >= 0.8 else "yellow" if share >= 0.5 else "red")


def _latencies(outcome: Outcome) -> RenderableType:
    alignment = outcome.assessment.alignment
    tick = outcome.assessment.recording.task.tick_seconds
    table = _table("correct matches", "count", "mean", "std", "min", "max")
    for name, stat, signed in (
        ("latency", alignment.latency, True),
        ("  early", alignment.early, True),
        ("  late", alignment.late, True),
        ("onset latency", alignment.onset_latency, True),
        ("offset latency", alignment.offset_latency, True),
        ("overlap", alignment.overlap, False),
        ("prediction duration", alignment.prediction_duration, False),
    ):
        table.add_row(name, *_stat(stat, tick, signed))
    iou = alignment.iou
    table.add_row("IoU", formats.count(iou.count), *map(formats.score, (iou.mean, iou.std, iou.min, iou.max)))
    return table


def _stat(stat: Stat, tick: float | None, signed: bool) -> list[str]:
    return [
        formats.count(stat.count),
        formats.duration(stat.mean, tick, signed=signed),
        formats.duration(stat.std, tick),
        formats.duration(stat.min, tick, signed=signed),
        formats.duration(stat.max, tick, signed=signed),
    ]


# Slices


def _slices(outcome: Outcome, width: int, brief: bool) -> Iterator[RenderableType]:
    slices = outcome.assessment.slices
    weights = "weighted means" if slices.weights is not None else "means"
    over = f"{weights} over labels, NULL {'included' if slices.include_null else 'left out'}"
    yield _facts(
        width,
        ("accuracy", Text(formats.score(slices.accuracy), "bold")),
        ("precision", formats.score(slices.precision)),
        ("recall", formats.score(slices.recall)),
        ("F1", Text(formats.score(slices.f1), "bold")),
        ("", Text(f"({over})", "bright_black")),
    )
    yield Text()
    yield _indented(_time_bar(outcome, width - 4))
    yield Text()
    yield _indented(_matrix(outcome))
    if not brief:
        yield Text()
        yield _indented(_slice_labels(outcome, width - 2))


def _time_bar(outcome: Outcome, width: int) -> RenderableType:
    """All known time as one bar, and what its colours stand for."""
    slices = outcome.assessment.slices
    tick = outcome.assessment.recording.task.tick_seconds
    totals = slices.totals
    bar = Text()
    for name, cells in zip(_CATEGORIES, _cells([totals[name] for name in _CATEGORIES], width), strict=True):
        bar.append(_CATEGORIES[name][0] * cells, _CATEGORIES[name][2])
    legend = _table(*[""] * 8)
    legend.show_header = False
    entries = [_legend(name, totals[name], slices.known, tick) for name in _CATEGORIES]
    for left, right in zip(entries[:4], entries[4:], strict=True):
        legend.add_row(*left, *right)
    for column in (1, 4, 5):
        legend.columns[column].justify = "left"
    return Group(bar, Text(), legend) if slices.known else Text("no known time", "yellow")


def _legend(name: str, ticks: int, known: int, tick: float | None) -> list[str | Text]:
    letter, word, style = _CATEGORIES[name]
    share = f"{formats.percent(ticks / known)} %" if ticks else "0 %"
    return [Text(f" {letter} ", style), word, Text(share, "bold"), formats.duration(ticks, tick)]


def _cells(parts: Sequence[int], width: int) -> list[int]:
    """Share out cells by size; what is there at all gets one."""
    whole = sum(parts)
    if whole == 0:
        return [0] * len(parts)
    cells = [max(1, round(width * part / whole)) if part else 0 for part in parts]
    largest = cells.index(max(cells))
    cells[largest] = max(1, cells[largest] + width - sum(cells))
    return cells


def _matrix(outcome: Outcome) -> RenderableType:
    table = _table("per cent of", *(name.capitalize() for name in COLUMNS))
    names = {"ground": "ground truth", "inferred": "inferred", "average": "average"}
    for row, values in outcome.assessment.slices.matrix.items():
        style = "bold" if row == "average" else ""
        table.add_row(names[row], *(formats.percent(values[name]) for name in COLUMNS), style=style)
    return table


def _slice_labels(outcome: Outcome, width: int) -> RenderableType:
    recording = outcome.assessment.recording
    names, tick = recording.task.labels, recording.task.tick_seconds
    table = _table(
        "label",
        "true",
        "S",
        "D",
        "U",
        "F",
        "inferred",
        "S",
        "I",
        "O",
        "M",
        "prec.",
        "recall",
        "F1",
        gap=2 if width >= 100 else 1,
    )
    for name, row in zip(names, outcome.assessment.slices.per_label, strict=True):
        ground, inferred = row["ground"] or 0, row["inferred"] or 0
        table.add_row(
            name,
            formats.duration(ground, tick) if ground else "-",
            *(_part(row[key], ground) for key in ("S_ground", "D", "U", "F")),
            formats.duration(inferred, tick) if inferred else "-",
            *(_part(row[key], inferred) for key in ("S_inferred", "I", "O", "M")),
            *(formats.score(row[key]) for key in ("precision", "recall", "f1")),
        )
    return table


def _part(ticks: float | None, whole: float) -> str:
    return formats.percent((ticks or 0) / whole) if whole else "-"


# Prequential


def _prequential(outcome: Outcome, width: int) -> Iterator[RenderableType]:
    assessment = outcome.assessment
    found = assessment.prequential
    yield _facts(
        width,
        ("records", f"{formats.count(found.count)} with truth, {formats.count(found.unlabelled)} without"),
        ("bounds hold with", f"{formats.percent(1 - found.delta)} %"),
    )
    yield Text()
    table = _table("error", "value", "± Hoeffding", "± Chernoff", "records", "")
    table.columns[5].justify = "left"
    for name, estimate, what in (
        ("mean", found.mean, "all"),
        ("window", found.window, f"the last {formats.count(found.window_size)}"),
        ("fading", found.fading, f"alpha {found.alpha:g}; bounds are a guide"),
    ):
        table.add_row(name, *_estimate(estimate), Text(what, "bright_black"))
    yield _indented(table)
    line = _curve(outcome, width - 30)
    if line is not None:
        yield Text()
        yield _indented(line)


def _estimate(estimate: Estimate) -> list[str]:
    return [
        "-" if estimate.value is None else f"{estimate.value:.4f}",
        "-" if estimate.hoeffding is None else f"{estimate.hoeffding:.4f}",
        "-" if estimate.chernoff is None else f"{estimate.chernoff:.4f}",
        formats.number(estimate.n_eff),
    ]


def _curve(outcome: Outcome, width: int) -> RenderableType | None:
    """The faded error over the recording, one sign for a stretch of records."""
    assessment = outcome.assessment
    recording = assessment.recording
    if assessment.prequential.count < 4 * width or width < 10:
        return None
    losses = losses_from_pieces(recording.truth, recording.prediction, recording.task.slice_ticks)
    faded = curves(losses, window=assessment.settings.window, alpha=assessment.settings.alpha).fading
    bounds = [len(faded) * i // width for i in range(width + 1)]
    means = [float(faded[a:b].mean()) for a, b in pairwise(bounds)]
    top = max(means)
    signs = "".join(_SPARKS[min(7, int(mean / top * 8)) if top else 0] for mean in means)
    return Text.assemble(("fading, over time  ", "bright_black"), signs, f" {top:.2f}")


# Node


def engine_text(outcome: Outcome) -> str:
    """Which node that was."""
    node = outcome.node
    assert node is not None
    return f"{node.engine}, {node.bits}-bit MicroPython {node.version}, profile {outcome.profile.name}"


def _memory(outcome: Outcome, width: int) -> Iterator[RenderableType]:
    node = outcome.node
    assert node is not None
    memory = node.memory
    other = max(0, memory.high_water - memory.code - memory.state)
    free = max(0, memory.heap - memory.high_water)
    parts = (
        ("code", memory.code, "white on blue"),
        ("state", memory.state, "black on green"),
        ("other", other, "black on yellow"),
        ("free", free, "bright_black on grey23"),
    )
    bar = Text()
    for (name, _, style), cells in zip(parts, _cells([size for _, size, _ in parts], width - 4), strict=True):
        label = f" {name}" if cells > len(name) + 1 else ""
        bar.append(label.ljust(cells), style)
    yield _indented(bar)
    table = _table("bytes", "", "of the heap", "")
    table.columns[3].justify = "left"
    entry = "batches of labels" if node.mode == "slices" else "segments"
    allocated = memory.allocated_by_updates
    for name, size, note in (
        ("heap given", memory.heap, ""),
        ("code", memory.code, f"{formats.count(memory.machine_code)} of it machine code"),
        ("state", memory.state, f"{formats.count(memory.ledger)} of it in the ledger's arrays"),
        ("high water", memory.high_water, "with the program that feeds the node"),
    ):
        share = f"{formats.percent(size / memory.heap)} %"
        table.add_row(name, formats.count(size), share, Text(note, "bright_black"))
    table.add_row(
        "allocated by updates",
        Text(formats.count(allocated), "bold green" if allocated == 0 else "bold red"),
        "",
        Text(f"in {formats.count(node.updates)} updates, told as {entry}", "bright_black"),
    )
    yield _indented(table)


def verdict(outcome: Outcome) -> Iterator[Text]:
    """How the node's numbers compare, line by line; nothing where there is no node."""
    parity = outcome.parity
    if parity is None:
        return
    compared = (
        f"{formats.count(parity.compared)} numbers compared, {formats.count(parity.with_host)} with the "
        f"host's and {formats.count(parity.with_model)} with the model's: "
    )
    verdict = (
        ("all agree", "bold green")
        if parity.agrees
        else (f"{formats.count(parity.different)} differ", "bold red")
    )
    yield Text.assemble(compared, verdict)
    if parity.worst_name is None:
        yield Text("Every one is exact.")
    else:
        yield Text(f"Rounded numbers reach up to {parity.worst:.2f} of their bound ({parity.worst_name}).")
    for difference in parity.first:
        yield Text(f"  {difference}", "red")
    if parity.different > len(parity.first):
        yield Text(f"  and {formats.count(parity.different - len(parity.first))} more", "red")
    for remark in parity.remarks:
        yield Text(remark, "yellow")

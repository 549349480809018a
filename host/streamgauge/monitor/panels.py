"""The parts of the terminal's view: how good the node's labels are, and how the node itself fares."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from .. import formats
from ..prequential import Estimate
from ..report.slices import CATEGORIES
from ..wire.report import Report
from .history import History
from .marks import bar, heat, shared_out, spark, striped, thinned

_DIM = "bright_black"


def how_good(history: History, report: Report, width: int, detail: int) -> Iterator[RenderableType]:
    """Accuracy, categories of slices, and with detail 2 the labels one by one."""
    yield title("Accuracy", "1 - prequential error, ± Hoeffding", tight=detail == 0)
    yield from _accuracy(history, report, width)
    if report.categories is not None:
        yield title("Slices", "every tick in one category", tight=detail == 0)
        yield from _slices(report, width, brief=detail == 0)
    if history.rows and detail >= 2:
        yield title("Labels", "by time; a line tells of one of them")
        yield _labels(history, report, width)


def how_it_fares(history: History, report: Report, width: int, detail: int) -> Iterator[RenderableType]:
    """Segments and from detail 1 on their confusion, alarms, truth from outside, memory."""
    tight = detail == 0
    if report.get("g") is not None:
        yield title("Alignment", "segments" if tight else "segments: true ↓, predicted →", tight=tight)
        yield from _alignment(history, report, width, with_matrix=not tight)
    if report.alarms:
        yield title("Alarms", tight=tight)
        yield from _alarms(report)
    yield title("Truth and input", tight=tight)
    yield from _truth(report, width)
    yield title("Node", tight=tight)
    yield from _node(report, width, brief=tight)


def title(name: str, what: str = "", *, tight: bool = False) -> RenderableType:
    """A line with a name in it, and a blank one before it where there is room."""
    text = Text.assemble((name, "bold"), ("  " + what if what else "", _DIM))
    return Padding(Rule(text, align="left", style=_DIM), (0 if tight else 1, 0, 0, 0))


def _table(*columns: str, gap: int = 2) -> Table:
    table = Table(box=None, padding=(0, gap, 0, 0), header_style=_DIM, pad_edge=False)
    for index, name in enumerate(columns):
        table.add_column(name, justify="left" if index == 0 else "right", no_wrap=True)
    return table


def _pairs(width: int, *pairs: tuple[str, str | Text]) -> Text:
    """Names and values, as many a line as fit."""
    lines = [Text()]
    for name, value in pairs:
        pair = Text.assemble((f"{name} " if name else "", _DIM), value)
        if len(lines[-1]) and len(lines[-1]) + 3 + len(pair) > width:
            lines.append(Text())
        lines[-1].append("   " if len(lines[-1]) else "")
        lines[-1].append_text(pair)
    return Text("\n").join(lines)


def _accuracy(history: History, report: Report, width: int) -> Iterator[RenderableType]:
    table = _table(*[""] * 5)
    table.show_header = False
    for column in (1, 3):
        table.columns[column].justify = "left"
    for name, estimate in (
        ("faded", report.faded_error),
        ("window", report.window_error),
        ("all", report.mean_error),
    ):
        if estimate is not None:
            table.add_row(*_estimate(name, estimate, max(8, width - 39)))
    if not table.row_count:
        yield Text("the prequential error is not among the node's estimators", _DIM)
        return
    yield table
    shown = [None if point.faded is None else 1 - point.faded for point in history.points]
    curve = thinned(shown, max(10, width - 24))
    known = [value for value in curve if value is not None]
    if len(known) > 1:
        low, high = max(0.0, min(known) - 0.01), min(1.0, max(known) + 0.01)
        yield Text.assemble(
            (f"faded  {formats.percent(low)} ", _DIM),
            spark(curve, low, high, "cyan"),
            (f" {formats.percent(high)} %", _DIM),
        )


def _estimate(name: str, estimate: Estimate, width: int) -> list[RenderableType]:
    if estimate.value is None or estimate.hoeffding is None:
        return [name, bar(None, width, ""), "-", "", Text("no records", _DIM)]
    share = min(1.0, max(0.0, 1 - estimate.value))
    style = "green" if share >= 0.8 else "yellow" if share >= 0.5 else "red"
    return [
        name,
        bar(share, width, style),
        Text(f"{100 * share:.1f} %", "bold"),
        Text(f"± {100 * min(1.0, estimate.hoeffding):.1f}", _DIM),
        Text(f"n {formats.count(round(min(estimate.n_eff, 1e18)))}", _DIM),
    ]


def _slices(report: Report, width: int, *, brief: bool) -> Iterator[RenderableType]:
    ticks = report.categories
    assert ticks is not None
    whole = sum(max(0, part) for part in ticks.values())
    yield striped([(ticks[name], *_mark(name)) for name in CATEGORIES], width)
    names = list(CATEGORIES)
    if brief:
        shares = ((CATEGORIES[name][0], _share(ticks[name], whole)) for name in names)
        yield _pairs(width, *shares)
        return
    for left, right in zip(names[:4], names[4:], strict=True):
        line = _legend(left, ticks, whole, report, width // 2)
        line.append_text(_legend(right, ticks, whole, report, width // 2))
        yield line


def _share(ticks: int, whole: int) -> str:
    return formats.percent(ticks / whole) if whole and ticks else "0"


def _mark(name: str) -> tuple[str, str]:
    letter, _, style = CATEGORIES[name]
    return letter, style


def _legend(name: str, ticks: dict[str, int], whole: int, report: Report, width: int) -> Text:
    """One category in half a line; the time it lasted only where there is room for it."""
    letter, word, style = CATEGORIES[name]
    share = f"{_share(ticks[name], whole)} %"
    text = Text.assemble((f" {letter} ", style), f" {word:<13}", (share.rjust(8), "bold"))
    if width >= 36:
        text.append(formats.duration(ticks[name], report.tick_seconds).rjust(10))
    return Text.assemble(text, " " * max(0, width - len(text)))


def _labels(history: History, report: Report, width: int) -> RenderableType:
    tick = report.tick_seconds
    room = 16 if width >= 60 else 13
    table = _table("label", "true", "found", "prec.", "recall", "F1", gap=2 if width >= 62 else 1)
    table.columns[5].justify = "left"
    for _, row in sorted(history.rows.items()):
        recall = row.correct / row.ground if row.ground > 0 else None
        precision = row.correct / row.inferred if row.inferred > 0 else (0.0 if row.ground > 0 else None)
        f1 = None
        if precision is not None and recall is not None:
            f1 = 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0
        style = "red" if f1 is None or f1 < 0.5 else "yellow" if f1 < 0.8 else "green"
        table.add_row(
            _short(row.name, room),
            formats.duration(row.ground, tick),
            formats.duration(row.inferred, tick),
            formats.score(precision),
            formats.score(recall),
            bar(f1, 8, style) if f1 is not None else "",
        )
    return table


def _short(name: str, most: int) -> str:
    shown = "".join(sign if sign.isprintable() else "?" for sign in name)
    return shown if len(shown) <= most else shown[: most - 1] + "…"


def _alignment(
    history: History, report: Report, width: int, *, with_matrix: bool
) -> Iterator[RenderableType]:
    g, y, tick = report.get("g"), report.get("y"), report.tick_seconds
    assert g is not None
    yield _pairs(
        width,
        ("distance", f"{report.distance:,.3f}"),
        ("segments", f"{formats.count(g[0])} true, {formats.count(g[1])} found"),
        ("correct", formats.count(g[5])),
        ("confused", formats.count(g[6])),
        ("split", formats.count(g[7])),
        ("merged", formats.count(g[8])),
        ("forced", formats.count(g[2])),
    )
    if y is not None and y[0] > 0:
        yield _pairs(
            width,
            ("latency", formats.duration(report.latency_ticks, tick, signed=True)),
            ("early", formats.count(y[2])),
            ("late", formats.count(y[3])),
            (
                "from",
                f"{formats.duration(y[4] / 2, tick, signed=True)} to "
                f"{formats.duration(y[5] / 2, tick, signed=True)}",
            ),
        )
    matrix = _confusion(history, width) if with_matrix else None
    if matrix is not None:
        yield matrix


def _confusion(history: History, width: int) -> RenderableType | None:
    """The matrix as a heat map: with counts where they fit, else shades alone."""
    labels = history.labels
    rows = {label: counts[:labels] for label, counts in history.confusion.items() if label < labels}
    if not rows or not labels:
        return None
    name_width = min(14, max((len(name) for name in history.names.values()), default=1))
    widest = max(len(formats.count(count)) for counts in rows.values() for count in counts)
    cell = max(2, widest)
    counted = (cell + 1) * labels + name_width + 4 <= width
    table = Table(box=None, padding=(0, 1 if counted else 0, 0, 0), pad_edge=False, header_style=_DIM)
    table.add_column("", no_wrap=True)
    for label in range(labels):
        table.add_column(str(label) if counted else str(label % 10), justify="right", no_wrap=True)
    for label in range(labels):
        name = Text.assemble(
            (f"{label:>2} ", _DIM), _short(history.names.get(label, "?"), name_width), "" if counted else " "
        )
        table.add_row(name, *_shades(rows.get(label), label, labels, cell if counted else 0))
    return table


def _shades(counts: tuple[int, ...] | None, label: int, labels: int, cell: int) -> Iterable[Text]:
    if counts is None:
        return [Text("?" if cell else " ", _DIM)] * labels
    whole = sum(max(0, count) for count in counts) or 1
    shades = []
    for predicted, count in enumerate(counts):
        # NULL beside NULL is neither right nor wrong recognition.
        style = heat(count / whole, good=predicted == label) if count > 0 and (predicted or label) else _DIM
        text = (formats.count(count) if count else "·").rjust(cell) if cell else " "
        shades.append(Text(text, style))
    return shades


def _alarms(report: Report) -> Iterator[RenderableType]:
    for name, alarms in sorted(report.alarms.items()):
        direction = {1: "up", 2: "down"}.get(alarms.direction, "")
        last = (
            f"the last: error {direction}, record {formats.count(alarms.record)}" if alarms.count > 0 else ""
        )
        style = "bold yellow" if alarms.count > 0 else ""
        yield Text.assemble(f"{name}  ", (formats.count(alarms.count), style), (f"   {last}", _DIM))


def _truth(report: Report, width: int) -> Iterator[RenderableType]:
    tick = report.tick_seconds
    a, t = report.get("a"), report.get("t")
    if a is not None:
        yield _pairs(
            width,
            ("assessed", formats.duration(a[0], tick)),
            ("unknown", formats.duration(a[1], tick)),
            ("unassessed", formats.duration(a[2], tick)),
            *([("truth is behind by", formats.duration(_behind(t), tick))] if t is not None else []),
        )
    labels = report.get("l")
    if labels is not None:
        refused = (("wrong key", labels[3]), ("other", labels[4]), ("noise", labels[5]))
        yield _pairs(
            width,
            ("labels over the wire", formats.count(labels[1])),
            ("waiting", formats.count(labels[6])),
            ("repeated", formats.count(labels[2])),
            ("refused", _counted(refused)),
        )
    x = report.get("x")
    if x is not None:
        names = ("order", "label", "range", "overlap", "split runs", "lost while busy")
        yield _pairs(width, ("rejected input", _counted(zip(names, x, strict=False))))


def _behind(t: tuple[int, ...]) -> int:
    """Ticks by which the truth is behind the predictions, across the wrap of the clock."""
    return max(0, ((t[2] - t[1] + (1 << 29)) % (1 << 30)) - (1 << 29))


def _counted(counts: Iterable[tuple[str, int]]) -> Text:
    found = ", ".join(f"{what} {formats.count(count)}" for what, count in counts if count)
    return Text(found, "yellow") if found else Text("none")


def _node(report: Report, width: int, *, brief: bool) -> Iterator[RenderableType]:
    m, w = report.get("m"), report.get("w")
    if m is not None:
        free, used, state = (max(0, part) for part in m[:3])
        other = max(0, used - state)
        parts = [
            (state, "state", "black on green"),
            (other, "used", "white on blue"),
            (free, "free", "on grey23"),
        ]
        if not brief:
            yield _memory_bar(parts, width)
        yield _pairs(
            width,
            ("heap free", formats.size(free)),
            ("used", formats.size(used)),
            ("of it state", formats.size(state)),
        )
    if w is not None:
        yield _pairs(
            width,
            ("saves", formats.count(w[0])),
            ("a day", formats.count(w[2]) if w[2] else "none by itself"),
            ("of", formats.size(w[3])),
            ("failed", Text(formats.count(w[1]), "bold red" if w[1] else "")),
        )


def _memory_bar(parts: list[tuple[int, str, str]], width: int) -> RenderableType:
    text = Text()
    cells = shared_out([size for size, _, _ in parts], width)
    for (_, name, style), count in zip(parts, cells, strict=True):
        text.append((f" {name}" if count > len(name) + 1 else "").ljust(count)[:count], style)
    return text

"""The curves of a recording as a picture."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from .history import History, Point

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Hues of the terminal's view, a little softer; the legend has them in the order of the stack.
_PARTS = {
    "S": ("substitution", "#9b6bb3"),
    "D": ("deletion", "#b23a3a"),
    "U": ("underfill", "#e2846f"),
    "F": ("fragmentation", "#d8b04c"),
    "I": ("insertion", "#3f66b5"),
    "O": ("overfill", "#86ade0"),
    "M": ("merge", "#5fb3bd"),
}
_INK, _SOFT = "#22303a", "#7b8794"
_UNITS = ((3 * 86400.0, 86400.0, "days"), (3 * 3600.0, 3600.0, "hours"), (180.0, 60.0, "minutes"))


def draw(history: History, path: str | Path, *, timed: bool, title: str) -> None:
    """Save the curves of a history as a picture; the file's ending says which kind (png, svg, pdf).

    Parameters
    ----------
    timed : bool
        The points carry seconds; otherwise numbers of lines.
    title : str
        Stands over it.

    Raises
    ------
    InputError
        The picture cannot be written.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    at, scale = _axis(history.points, timed)
    figure = Figure(figsize=(11, 8.5), layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle(title, x=0.01, ha="left", fontsize=12, color=_INK)
    # Each half is laid out by itself: long names of labels on the right would tear the curves apart.
    halves: Any = figure.subfigures(1, 2, width_ratios=(2.0, 1.0))
    left, right = halves
    panels = _panels(history)
    heights = [height for _, height in panels]
    rows = left.subplots(len(panels), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
    for axes, (panel, _) in zip(rows, panels, strict=True):
        _plain(axes)
        _mark_events(axes, history, at, named=axes is rows[0])
        panel(axes, history.points, at)
    rows[-1].set_xlabel(scale, fontsize=9, color=_INK)
    upper, lower = right.subplots(2, 1)
    _confusion(upper, history)
    _labels(lower, history)
    try:
        figure.savefig(path, dpi=120)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError(f"the picture cannot be written ({reason})", file=path) from None


Panel = Callable[[Any, list[Point], "np.ndarray[Any, Any]"], None]


def _panels(history: History) -> list[tuple[Panel, float]]:
    """The panels that have something to show, and their heights."""
    points = history.points
    chosen: list[tuple[Panel, float]] = []
    if any(point.mean is not None for point in points):
        chosen.append((_accuracy, 1.6))
    if any(point.parts for point in points):
        chosen.append((_categories, 1.4))
    if any(point.latency is not None for point in points):
        chosen.append((_latency, 0.9))
    chosen.append((_lag, 0.9))
    chosen.append((_memory, 0.9))
    return chosen


def _axis(points: list[Point], timed: bool) -> tuple[np.ndarray[Any, Any], str]:
    at = np.array([point.at for point in points])
    if not timed:
        return at, "line of the file"
    seconds = at - at[0]
    for least, unit, name in _UNITS:
        if seconds[-1] >= least:
            return seconds / unit, name
    return seconds, "seconds"


def _column(points: list[Point], name: str) -> np.ndarray[Any, Any]:
    values = (getattr(point, name) for point in points)
    return np.array([np.nan if value is None else float(value) for value in values])


def _plain(axes: Axes) -> None:
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(_SOFT)
    axes.tick_params(colors=_INK, labelsize=8)
    axes.grid(axis="y", color="#e3e7ea", linewidth=0.8)
    axes.set_axisbelow(True)


def _title(axes: Axes, text: str) -> None:
    axes.set_title(text, loc="left", fontsize=9.5, color=_INK)


def _legend(axes: Axes, place: str, columns: int) -> None:
    handles, names = axes.get_legend_handles_labels()
    where: Any = place
    axes.legend(
        handles, names, loc=where, fontsize=8, ncols=columns, framealpha=0.85, edgecolor="none"
    ).set_zorder(5)


def _accuracy(axes: Axes, points: list[Point], at: np.ndarray[Any, Any]) -> None:
    faded, bound = 100 * (1 - _column(points, "faded")), 100 * _column(points, "bound")
    axes.fill_between(
        at, np.clip(faded - bound, 0, 100), np.clip(faded + bound, 0, 100), color="#2a7f9e", alpha=0.15, lw=0
    )
    axes.plot(at, 100 * (1 - _column(points, "mean")), color=_SOFT, lw=1, ls="--", label="all")
    axes.plot(at, 100 * (1 - _column(points, "window")), color="#d08a3c", lw=1.2, label="window")
    axes.plot(at, faded, color="#2a7f9e", lw=1.8, label="faded, ± Hoeffding")
    axes.set_ylim(*_limits(faded, bound))
    _legend(axes, "lower right", 4)
    _title(axes, "Accuracy, % (1 - prequential error)")


def _limits(faded: np.ndarray[Any, Any], bound: np.ndarray[Any, Any]) -> tuple[float, float]:
    """Where the curve is, once the first records with their wide bounds are past."""
    settled = slice(len(faded) // 10, None)
    low = np.nanmin(np.append((faded - bound)[settled], np.nanmin(np.append(faded, 100.0))))
    return max(0.0, 5 * np.floor((low - 2) / 5)), 100.5


def _categories(axes: Axes, points: list[Point], at: np.ndarray[Any, Any]) -> None:
    whole = np.array([sum(point.parts.values()) or np.nan for point in points], dtype=float)
    shares = {
        name: 100 * np.array([point.parts.get(name, 0) for point in points], dtype=float) / whole
        for name in _PARTS
    }
    axes.stackplot(
        at,
        *shares.values(),
        colors=[colour for _, colour in _PARTS.values()],
        labels=[name for name, _ in _PARTS.values()],
        linewidth=0,
    )
    total = np.sum(list(shares.values()), axis=0)
    settled = total[len(total) // 20 :]
    axes.set_ylim(0, max(1.0, 1.35 * float(np.nanmax(np.append(settled, 0.0)))))
    _legend(axes, "upper right", 4)
    _title(axes, "Time labelled wrongly so far, % of the assessed time, by kind")


def _unit(values: np.ndarray[Any, Any]) -> tuple[float, str]:
    top = float(np.nanmax(np.append(np.abs(values), 0.0)))
    for least, unit, name in ((7200.0, 3600.0, "h"), (120.0, 60.0, "min"), (0.5, 1.0, "s")):
        if top >= least:
            return unit, name
    return 1e-3, "ms"


def _latency(axes: Axes, points: list[Point], at: np.ndarray[Any, Any]) -> None:
    values = _column(points, "latency")
    unit, name = _unit(values)
    axes.axhline(0, color=_SOFT, lw=0.8)
    axes.plot(at, values / unit, color="#5b4b8a", lw=1.4)
    _title(axes, f"Mean latency of correct segments, {name} (below 0: early)")


def _lag(axes: Axes, points: list[Point], at: np.ndarray[Any, Any]) -> None:
    values = _column(points, "lag")
    unit, name = _unit(values)
    axes.fill_between(at, values / unit, color="#c8a24a", alpha=0.5, lw=0, step="post")
    axes.set_ylim(bottom=0)
    _title(axes, f"How far the truth is behind the predictions, {name}")


def _memory(axes: Axes, points: list[Point], at: np.ndarray[Any, Any]) -> None:
    used, free = _column(points, "heap_used") / 1024, _column(points, "heap_free") / 1024
    axes.stackplot(at, used, free, colors=["#5b7fae", "#dfe6ec"], labels=["used", "free"], linewidth=0)
    axes.set_ylim(bottom=0)
    _legend(axes, "lower right", 2)
    _title(axes, "Heap, KiB")


def _mark_events(axes: Axes, history: History, at: np.ndarray[Any, Any], *, named: bool) -> None:
    """Lines where a detector raised an alarm, and where the node or its configuration changed."""
    arrivals = [point.at for point in history.points]
    kinds: set[str] = set()
    for event in history.events:
        if event.kind not in ("alarm", "restart", "config"):
            continue
        alarm = event.kind == "alarm"
        axes.axvline(
            float(np.interp(event.at, arrivals, at)),
            color="#c0392b" if alarm else _INK,
            lw=1.0,
            ls=":" if alarm else "-.",
            label=event.kind if named and event.kind not in kinds else None,
        )
        kinds.add(event.kind)


def _confusion(axes: Axes, history: History) -> None:
    labels = history.labels
    matrix = np.full((labels, labels), np.nan)
    for label, counts in history.confusion.items():
        if label < labels:
            matrix[label, : len(counts)] = counts[:labels]
    names = [history.names.get(label, str(label)) for label in range(labels)]
    _title(axes, "Segments: true ↓, predicted →")
    if not labels or np.isnan(matrix).all():
        axes.set_axis_off()
        axes.text(0.5, 0.5, "no alignment", ha="center", va="center", color=_SOFT)
        return
    whole = np.nansum(matrix, axis=1, keepdims=True)
    axes.imshow(matrix / np.where(whole > 0, whole, 1), cmap="Blues", vmin=0, vmax=1, aspect="auto")
    axes.set_xticks(range(labels), names, rotation=90, fontsize=7)
    axes.set_yticks(range(labels), names, fontsize=7)
    axes.tick_params(length=0, colors=_INK)
    for spine in axes.spines.values():
        spine.set_visible(False)
    if labels <= 16:
        for g in range(labels):
            for p in range(labels):
                if matrix[g, p] > 0:
                    dark = matrix[g, p] > 0.55 * whole[g, 0]
                    text = f"{matrix[g, p]:.0f}"
                    colour = "white" if dark else _INK
                    axes.text(p, g, text, ha="center", va="center", fontsize=6.5, color=colour)


def _labels(axes: Axes, history: History) -> None:
    rows = [row for _, row in sorted(history.rows.items()) if row.ground > 0 or row.inferred > 0]
    _plain(axes)
    _title(axes, "Slices by label, %")
    if not rows:
        axes.set_axis_off()
        return
    y = np.arange(len(rows))
    recall = [100 * row.correct / row.ground if row.ground > 0 else 0.0 for row in rows]
    precision = [100 * row.correct / row.inferred if row.inferred > 0 else 0.0 for row in rows]
    axes.barh(y - 0.2, precision, 0.36, color="#86ade0", label="precision")
    axes.barh(y + 0.2, recall, 0.36, color="#2a7f9e", label="recall")
    axes.set_yticks(y, [row.name for row in rows], fontsize=8)
    axes.invert_yaxis()
    axes.set_xlim(0, 100)
    axes.grid(axis="x", color="#e3e7ea", linewidth=0.8)
    axes.grid(axis="y", visible=False)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.08), fontsize=8, frameon=False, ncols=2)

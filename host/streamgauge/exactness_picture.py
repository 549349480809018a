"""The picture of memory against exactness: one panel a figure, bytes to the right."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from . import plotting
from .exactness import Curve, Exactness, ring_bytes
from .profile import load_profile

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Panel: what is sized, the value, its factor, title, axis, and where its scale turns logarithmic (0: not).
_PANELS = (
    ("pending", "forced", 100, "Alignment ring: forced commits", "% of all segments", 0.1),
    ("pending", "distance_error", 100, "Alignment ring: distance off by", "% of the exact distance", 0.01),
    ("runs", "unassessed", 100, "Late-truth ring: time left unassessed", "% of the recording", 1.0),
    ("window", "apart", 1, "Window: how far from the faded error", "error rate, rms", 0.0),
    ("boundaries", "lost", 100, "Boundary ring: boundaries lost", "% of all", 1.0),
    ("boundaries", "t_error", 1, "Boundary ring: T-measure off by", "F", 0.0),
)
_DEFAULTS = {
    "pending": "capacity.pending",
    "runs": "capacity.runs",
    "window": "capacity.window",
    "boundaries": "hierarchy.boundaries",
}
_FLOOR = {"distance_error": 1e-3, "t_error": 1e-4}  # below it is rounding: drawn at nought
_SHADES = (1.0, 0.6, 0.35)
_RECORDINGS = len(_SHADES)


def draw(found: Exactness, paths: list[Path]) -> None:
    """Save the picture of all curves."""
    figure = plotting.new_figure(
        13, 8, "What each byte buys: figures of a node against exact ones, by the bytes of a ring or window"
    )
    grid = figure.subplots(2, 3)
    for axes, (kind, value, factor, title, left, turn) in zip(grid.flat, _PANELS, strict=True):
        if not found.curves[kind]:
            axes.set_axis_off()
            continue
        _panel(axes, kind, value, factor, found.curves[kind])
        _scales(axes, turn, len(found.curves[kind]))
        plotting.heading(axes, title, _default(axes, kind), left)
        plotting.plain(axes)
        plotting.legend(axes, loc="upper right", ncols=2 if len(found.curves[kind]) > 4 else 1)
    plotting.save(figure, paths)


def _panel(axes: Axes, kind: str, value: str, factor: float, curves: tuple[Curve, ...]) -> None:
    floor = _FLOOR.get(value, 0.0)
    for index, curve in enumerate(curves):
        colour, shade = index, 1.0
        if kind == "runs":
            # Three delays of each recording: one hue, paler by the hour.
            colour, shade = index // _RECORDINGS, _SHADES[index % _RECORDINGS]
        heights = [factor * point.values[value] for point in curve.points]
        axes.plot(
            [point.bytes for point in curve.points],
            [height if height >= floor else 0.0 for height in heights],
            "o-",
            markersize=3.5,
            color=plotting.COLOURS[colour % len(plotting.COLOURS)],
            alpha=shade,
            label=curve.name,
        )
    if value == "apart":
        longest = max(curves, key=lambda curve: len(curve.points))
        axes.plot(
            [point.bytes for point in longest.points],
            [point.values["hoeffding"] for point in longest.points],
            ":",
            color=plotting.SOFT,
            label="Hoeffding half-width of the window",
        )


def _scales(axes: Axes, turn: float, curves: int) -> None:
    """Powers of two to the right; upwards logarithmic from `turn` on, with room for the legend above."""
    from matplotlib.ticker import FixedLocator, NullLocator

    axes.set_xscale("log", base=2)
    low, high = axes.get_xlim()
    powers = [2**n for n in range(2, 20, 2) if low <= 2**n <= high]
    axes.xaxis.set_major_locator(FixedLocator(powers))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(lambda size, _: f"{size:,.0f}")
    top = axes.get_ylim()[1]
    if not turn:
        axes.set_ylim(0, 1.3 * top)
        return
    axes.set_yscale("symlog", linthresh=turn, linscale=0.5)
    marks = [0.0, *(turn * 10**n for n in range(8) if turn * 10**n <= 100)]
    axes.yaxis.set_major_locator(FixedLocator(marks))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set_ylim(0, top * (8 if curves > 4 else 4))


def _default(axes: Axes, kind: str) -> str:
    """Mark what the sensor's profile has; return what the mark means."""
    size = load_profile("sensor")[_DEFAULTS[kind]]
    axes.axvline(ring_bytes(kind, size), color=plotting.INK, linewidth=0.9, linestyle="--")
    return f"bytes (dashed: sensor, {size:,})"

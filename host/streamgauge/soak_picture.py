"""The picture of a soak: lines that should be flat."""

from __future__ import annotations

from pathlib import Path

from . import plotting
from .soak import Soak

_LINES = (
    ("free", "free", "-"),
    ("largest", "largest free block", "-"),
    ("high_water", "high water", "--"),
    ("used", "in use after a collection", "-"),
)


def draw(found: Soak, paths: list[Path]) -> None:
    """Save the heap over a run: what is free and in use, how far it is split, and what updates asked for."""
    slices = [look.slices / 1e6 for look in found.looks]
    figure = plotting.new_figure(
        9,
        6.5,
        f"A node's heap over {found.looks[-1].slices:,} slices, {found.hours:,.0f} hours of its time\n"
        f"{found.engine}, profile {found.profile.name}, heap of {found.heap:,} B",
    )
    heap, split, asked = figure.subplots(3, 1, sharex=True, height_ratios=(4, 1, 1))
    for (name, label, style), colour in zip(_LINES, plotting.COLOURS, strict=False):
        values = [getattr(look, name) for look in found.looks]
        heap.plot(slices, values, style, color=colour, label=f"{label}: {values[-1]:,} B")
    heap.set_ylim(0, 1.25 * max(look.free for look in found.looks))
    plotting.heading(heap, "Heap", left="bytes")
    plotting.legend(heap, loc="upper left", ncols=2)
    split.plot(slices, [look.fragmentation for look in found.looks], color=plotting.COLOURS[4])
    split.set_ylim(0, 100)
    plotting.heading(split, "Fragmentation: free bytes outside the largest block", left="%")
    asked.plot(slices, [look.allocated for look in found.looks], color=plotting.COLOURS[1])
    asked.set_ylim(-5, 100)
    plotting.heading(asked, "Bytes that all updates asked for", "millions of slices", "bytes")
    for axes in (heap, split, asked):
        plotting.plain(axes)
    plotting.save(figure, paths)

"""Bars, curves and shades for terminals."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from rich.text import Text

_SPARKS = "▁▂▃▄▅▆▇█"
_EIGHTHS = " ▏▎▍▌▋▊▉"
_TRACK = "grey19"


def bar(share: float | None, width: int, style: str) -> Text:
    """A bar of `width` cells, filled to `share` of it in eighths of a cell."""
    eighths = 0 if share is None else round(max(0.0, min(1.0, share)) * width * 8)
    full, rest = divmod(eighths, 8)
    text = Text("█" * full + (_EIGHTHS[rest] if rest else ""), f"{style} on {_TRACK}")
    text.append(" " * (width - len(text)), f"on {_TRACK}")
    return text


def spark(values: Sequence[float | None], low: float, high: float, style: str) -> Text:
    """A curve of one sign a value between `low` and `high`; a blank where there is none."""
    span = high - low
    signs = [
        " "
        if value is None
        else _SPARKS[min(7, max(0, int((value - low) / span * 8)))]
        if span > 0
        else _SPARKS[3]
        for value in values
    ]
    return Text("".join(signs), style)


def heat(share: float, *, good: bool) -> str:
    """A style whose background grows stronger with a share of a whole."""
    colour = (34, 139, 84) if good else (186, 58, 58)
    level = 0.25 + 0.75 * max(0.0, min(1.0, share))
    back = ",".join(str(round(48 + (part - 48) * level)) for part in colour)
    return f"white on rgb({back})"


def shared_out(parts: Sequence[int], width: int) -> list[int]:
    """Share `width` cells out by size; what is there at all gets one, where there are cells enough."""
    sizes = [max(0, part) for part in parts]
    whole = sum(sizes)
    if whole == 0 or width < len(sizes):
        return [0] * len(sizes)
    cells = [max(1, round(width * size / whole)) if size else 0 for size in sizes]
    while sum(cells) != width:
        largest = cells.index(max(cells))
        cells[largest] += 1 if sum(cells) < width else -1
    return cells


def striped(parts: Sequence[tuple[int, str, str]], width: int) -> Text:
    """One bar of several parts: size, letter to fill with, style."""
    text = Text()
    for (_, letter, style), cells in zip(
        parts, shared_out([size for size, _, _ in parts], width), strict=True
    ):
        text.append(letter * cells, style)
    return text if len(text) else Text(" " * width, f"on {_TRACK}")


def thinned(values: Sequence[float | None], width: int) -> list[float | None]:
    """Means of `width` stretches of the values, or the values themselves where they are fewer."""
    if len(values) <= width:
        return list(values)
    bounds = [len(values) * i // width for i in range(width + 1)]
    means: list[float | None] = []
    for begin, end in pairwise(bounds):
        known = [value for value in values[begin:end] if value is not None]
        means.append(sum(known) / len(known) if known else None)
    return means

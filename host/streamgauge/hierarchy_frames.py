"""Hierarchies on a grid of frames: reading levels, checking them, and the two ways to turn times into frames.

A **hierarchy** is a sequence of levels, coarse to fine. A **level** is an array of shape (n, 2) with the
half-open ``[start, end)`` of its segments, or any object with ``start`` and ``end`` arrays such as
``Segments``. Segments of one level may leave gaps but not overlap; levels need not nest; every level of both
hierarchies covers the same span.

Times to frames
    ``frames="ticks"`` (default): times, window and frame are integer ticks and a time ``t`` falls into frame
    ``(t - span start) // frame``. Nothing is ever rounded by accident.

    ``frames="mir_eval"``: times, window and frame are floats (seconds), rounded as ``mir_eval`` 0.8 does,
    with ``t - mod(t, frame)`` divided by the frame and truncated. At frame sizes that are no power of two
    this puts exact multiples one frame early (2598 of the 3001 multiples of 0.1 s up to 300 s), so scores
    depend on how a decimal happens to be written in binary. It exists to reproduce published numbers, nothing
    else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import InputError

Times = npt.NDArray[Any]
Ints = npt.NDArray[np.int64]

FRAME_MODES = ("ticks", "mir_eval")


@dataclass(frozen=True)
class Grid:
    """One hierarchy in frames.

    Attributes
    ----------
    start, end : tuple of ndarray, shape (n_level,)
        Frames ``[start, end)`` of the segments of each level, ascending, disjoint; segments shorter than the
        grid can show are left out.
    row : tuple of ndarray, shape (n_level,)
        Which row of the given level each segment is (to find its label).
    count : int
        Number of frames of the span.
    """

    start: tuple[Ints, ...]
    end: tuple[Ints, ...]
    row: tuple[Ints, ...]
    count: int


def as_intervals(level: Any, name: str) -> Times:
    """Return a level as an array of shape (n, 2), refusing what has another shape or is not a finite number.

    Raises
    ------
    InputError
        Naming `name` (for example ``truth level 2``).
    """
    if hasattr(level, "start") and hasattr(level, "end"):
        array = np.column_stack([np.asarray(level.start), np.asarray(level.end)])
    else:
        array = np.asarray(level)
    if array.size == 0:
        return array.reshape(0, 2)
    if array.ndim != 2 or array.shape[1] != 2:
        raise InputError(f"{name} has the shape {array.shape} (expected one row of start and end a segment)")
    if array.dtype.kind not in "iuf":
        raise InputError(f"{name} holds values of type {array.dtype} (expected numbers)")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        bad = int(np.flatnonzero(~np.isfinite(array).all(axis=1))[0])
        raise InputError(f"{name}, segment {bad + 1}: start or end is not a finite number")
    return array


def check_order(array: Times, name: str) -> Ints:
    """Return the order of a level's rows by time; refuse empty and overlapping segments, naming the place."""
    start, end = array[:, 0], array[:, 1]
    empty = end <= start
    if empty.any():
        bad = int(np.argmax(empty))
        raise InputError(
            f"{name}, segment {bad + 1}: [{start[bad]}, {end[bad]}) has no length (expected end > start)",
            remedy="Remove it or give it its real end",
        )
    order = np.argsort(start, kind="stable")
    start, end = start[order], end[order]
    over = start[1:] < end[:-1]
    if over.any():
        i = int(np.argmax(over))
        raise InputError(
            f"{name}, segment {order[i + 1] + 1}: [{start[i + 1]}, {end[i + 1]}) overlaps "
            f"segment {order[i] + 1}, [{start[i]}, {end[i]}) (segments inside one level may not overlap)",
            remedy="Flatten the level, or put the inner segments into a level of their own",
        )
    return order


def _read(levels: Sequence[Any], side: str, depth: int | None) -> tuple[list[str], list[Times], list[Ints]]:
    if depth is not None:
        if depth < 1:
            raise InputError(f"depth cutoff {depth} leaves no level (expected at least 1)")
        levels = levels[:depth]
    if len(levels) == 0:
        raise InputError(f"{side} has no level (expected at least one)")
    names = [f"{side} level {i}" for i in range(1, len(levels) + 1)]
    arrays = [as_intervals(level, name) for level, name in zip(levels, names, strict=True)]
    orders = [check_order(array, name) for array, name in zip(arrays, names, strict=True)]
    return names, arrays, orders


def _common_span(
    names: list[str], arrays: list[Times], span: tuple[Any, Any] | None, close: bool
) -> tuple[Any, Any]:
    """Return the span all levels share, or, where one is given, check that they lie inside it."""
    if span is not None:
        first, last = span
        if last <= first:
            raise InputError(f"the span [{first}, {last}) has no length (expected end > start)")
        for name, array in zip(names, arrays, strict=True):
            if len(array) and (array[:, 0].min() < first or array[:, 1].max() > last):
                raise InputError(
                    f"{name} covers [{array[:, 0].min()}, {array[:, 1].max()}), "
                    f"which leaves the span [{first}, {last})",
                    remedy="Clip it with fit_span, or widen the span",
                )
        return first, last
    spans: list[tuple[Any, Any]] = []
    for name, array in zip(names, arrays, strict=True):
        if len(array) == 0:
            raise InputError(f"{name} has no segments, so its span is not known", remedy="Give the span")
        spans.append((array[:, 0].min(), array[:, 1].max()))
    first, last = spans[0]
    for name, (a, b) in zip(names[1:], spans[1:], strict=True):
        same = bool(np.isclose(a, first) and np.isclose(b, last)) if close else (a == first and b == last)
        if not same:
            raise InputError(
                f"{name} covers [{a}, {b}) but {names[0]} covers [{first}, {last}) (levels share one span)",
                remedy="Clip or fill with fit_span, or give the span to accept gaps at its edges",
            )
    return first, last


def _tick_grid(arrays: list[Times], orders: list[Ints], first: int, last: int, frame: int) -> Grid:
    starts, ends, rows = [], [], []
    count = (last - first) // frame
    for array, order in zip(arrays, orders, strict=True):
        cells = (array[order].astype(np.int64) - first) // frame
        keep = cells[:, 1] > cells[:, 0]
        starts.append(cells[keep, 0])
        ends.append(np.minimum(cells[keep, 1], count))
        rows.append(order[keep])
    return Grid(tuple(starts), tuple(ends), tuple(rows), count)


def _mir_eval_grid(arrays: list[Times], orders: list[Ints], first: float, last: float, frame: float) -> Grid:
    def rounded(t: Any) -> Any:
        return t - np.mod(t, frame)

    count = int((rounded(last) - rounded(first)) / frame)
    starts, ends, rows = [], [], []
    for array, order in zip(arrays, orders, strict=True):
        cells = (rounded(array[order].astype(np.float64)) / frame).astype(np.int64)
        start, end = np.minimum(cells[:, 0], count), np.minimum(cells[:, 1], count)
        # A gap shorter than a frame can turn around when rounded; the earlier segment keeps the frame.
        start[1:] = np.maximum(start[1:], np.maximum.accumulate(end)[:-1])
        keep = end > start
        starts.append(start[keep])
        ends.append(end[keep])
        rows.append(order[keep])
    return Grid(tuple(starts), tuple(ends), tuple(rows), count)


def _ticks(value: Any, what: str) -> int:
    if isinstance(value, bool) or int(value) != value:
        raise InputError(f"{what} is {value!r} (expected a whole number of ticks)")
    return int(value)


def grids(
    truth: Sequence[Any],
    prediction: Sequence[Any],
    *,
    frame: float = 1,
    window: float | None = None,
    span: tuple[Any, Any] | None = None,
    depth: int | None = None,
    frames: str = "ticks",
) -> tuple[Grid, Grid, int | None]:
    """Check two hierarchies and put both on one grid.

    Parameters
    ----------
    truth, prediction : sequence of levels, coarse to fine
        See the module's text.
    frame : int or float
        Length of a frame, in ticks, or in the times' unit with ``frames="mir_eval"``.
    window : int or float, optional
        Half-width of the window, in the same unit; None: no window.
    span : pair, optional
        Accept gaps at the edges of this span; by default all levels must cover one and the same span.
    depth : int, optional
        Use only the `depth` coarsest levels of each side.
    frames : {"ticks", "mir_eval"}
        How times become frames.

    Returns
    -------
    Grid, Grid, int or None
        Truth, prediction, and the window in frames.

    Raises
    ------
    InputError
        Overlap inside a level, spans that differ, times that are no whole ticks, an impossible frame or
        window.
    """
    if frames not in FRAME_MODES:
        raise InputError(f"frames is {frames!r} (expected one of {', '.join(FRAME_MODES)})")
    t_names, t_arrays, t_orders = _read(truth, "truth", depth)
    p_names, p_arrays, p_orders = _read(prediction, "prediction", depth)
    names, arrays = t_names + p_names, t_arrays + p_arrays
    exact = frames == "ticks"
    if exact:
        for name, array in zip(names, arrays, strict=True):
            if array.dtype.kind == "f" and len(array):
                raise InputError(
                    f"{name} holds fractions (expected whole ticks)",
                    remedy='Round the times to ticks, or ask for frames="mir_eval"',
                )
        frame = _ticks(frame, "frame")
    if not frame > 0:
        raise InputError(f"frame is {frame} (expected more than 0)")
    first, last = _common_span(names, arrays, span, close=not exact)
    cells = None
    if window is not None:
        if window < frame:
            raise InputError(
                f"window {window} is shorter than one frame, {frame}", remedy="Widen it, or use None"
            )
        if exact:
            cells = _ticks(window, "window") // int(frame)
        else:
            cells = int((window - np.mod(window, frame)) / frame)
        if cells < 1:
            raise InputError(f"window {window} holds no whole frame of {frame} in mir_eval's rounding")
    if exact:
        a = _tick_grid(t_arrays, t_orders, int(first), int(last), int(frame))
        b = _tick_grid(p_arrays, p_orders, int(first), int(last), int(frame))
    else:
        if span is None and not np.isclose(first, 0.0):
            raise InputError(f"{names[0]} starts at {first} (mir_eval's rounding expects times from 0 on)")
        spans = [
            (array[:, 0].min(), array[:, 1].max()) if span is None else span
            for array in (t_arrays[0], p_arrays[0])
        ]
        a = _mir_eval_grid(t_arrays, t_orders, *spans[0], float(frame))
        b = _mir_eval_grid(p_arrays, p_orders, *spans[1], float(frame))
        if a.count != b.count:
            raise InputError(
                f"truth has {a.count} frames and prediction {b.count} in mir_eval's rounding",
                remedy="Fit both to one span with fit_span",
            )
    return a, b, cells


def fit_span(
    levels: Sequence[Any], span: tuple[Any, Any], labels: Sequence[Sequence[Any]] | None = None
) -> tuple[list[Times], list[list[Any]] | None]:
    """Clip every level to a span and fill its edges with a segment, to compare it with a longer truth.

    Parameters
    ----------
    levels : sequence of levels
    span : pair
        ``[first, last)`` in the unit of the levels.
    labels : sequence of sequences, optional
        One label a row of each level. Filled segments get the labels ``"<before>"`` and ``"<after>"``.

    Returns
    -------
    list of ndarray, shape (n, 2), and list of lists or None

    Raises
    ------
    InputError
        A level that overlaps inside itself, or whose labels do not count its rows.
    """
    first, last = span
    fitted: list[Times] = []
    names: list[list[Any]] = []
    for i, level in enumerate(levels):
        array = as_intervals(level, f"level {i + 1}")
        order = check_order(array, f"level {i + 1}")
        label = list(range(len(array))) if labels is None else list(labels[i])
        if len(label) != len(array):
            raise InputError(f"level {i + 1} has {len(array)} segments but {len(label)} labels")
        clipped = np.clip(array[order], first, last)
        keep = clipped[:, 1] > clipped[:, 0]
        rows, kept = clipped[keep], [label[j] for j in order[keep]]
        if len(rows) == 0:
            rows, kept = np.array([[first, last]]), ["<before>"]
        if rows[0, 0] > first:
            rows, kept = np.vstack([[first, rows[0, 0]], rows]), ["<before>", *kept]
        if rows[-1, 1] < last:
            rows, kept = np.vstack([rows, [rows[-1, 1], last]]), [*kept, "<after>"]
        fitted.append(rows)
        names.append(kept)
    return fitted, None if labels is None else names

"""What a node's report lines said so far: the last one, the labels' rows, curves and events."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from ..wire.report import Report, Row

_EVENTS = 50
_MOST_POINTS = 100_000  # of the curves; then every other one is dropped


@dataclass(frozen=True)
class Point:
    """One line's figures for the curves.

    Attributes
    ----------
    at : float
        Seconds: the time of arrival, or the number of the line where that is not known.
    faded, window, mean : float or None
        Errors.
    bound : float or None
        Hoeffding half-width of the faded error.
    parts : dict of str to int
        Ticks by category of slices.
    latency, lag : float or None
        Mean latency of correct matches, and by how much the truth is behind the predictions: seconds, or
        ticks where a tick has no length.
    heap_free, heap_used : int or None
        Bytes.
    """

    at: float
    faded: float | None
    window: float | None
    mean: float | None
    bound: float | None
    parts: dict[str, int]
    latency: float | None
    lag: float | None
    heap_free: int | None
    heap_used: int | None


@dataclass(frozen=True)
class Event:
    """Something that happened: `kind` is alarm, restart, config, link or line."""

    at: float
    kind: str
    text: str


@dataclass
class History:
    """Reports of one node in order of arrival.

    Attributes
    ----------
    last : Report or None
    received_at : float
        Arrival of the last one, in seconds.
    lines, damaged, other : int
        Report lines taken; lines whose checksum did not fit; other lines, such as what the program prints.
    rows : dict of int to Row
        Slices by label, as each was told of last.
    confusion : dict of int to tuple of int
        Rows of the alignment's confusion matrix.
    points : list of Point
    events : deque of Event
    """

    last: Report | None = None
    received_at: float = 0.0
    lines: int = 0
    damaged: int = 0
    other: int = 0
    rows: dict[int, Row] = field(default_factory=dict)
    confusion: dict[int, tuple[int, ...]] = field(default_factory=dict)
    points: list[Point] = field(default_factory=list)
    events: deque[Event] = field(default_factory=lambda: deque(maxlen=_EVENTS))

    @property
    def names(self) -> dict[int, str]:
        """Names by label id, as far as they were told."""
        return {label: row.name for label, row in sorted(self.rows.items())}

    @property
    def labels(self) -> int:
        """Labels of the node, NULL included, 0 before it said so."""
        k = self.last.get("k") if self.last else None
        return max(0, min(32, k[0])) if k else max([-1, *self.rows]) + 1

    def event(self, at: float, kind: str, text: str) -> None:
        """Note that something happened."""
        self.events.append(Event(at, kind, text))

    def take(self, report: Report, at: float) -> None:
        """Add a report that arrived at `at`."""
        before = self.last
        if before is not None:
            self._compare(before, report, at)
        self.last, self.received_at = report, at
        self.lines += 1
        if report.row is not None:
            self.rows[report.row.label] = report.row
        if report.confusion_row is not None:
            label, counts = report.confusion_row
            self.confusion[label] = counts
        self.points.append(_point(report, at))
        if len(self.points) > _MOST_POINTS:
            del self.points[1::2]

    def _compare(self, before: Report, now: Report, at: float) -> None:
        if before.layout != now.layout and before.layout and now.layout:
            self.event(at, "config", f"another configuration: {before.layout} became {now.layout}")
            self.rows.clear()
            self.confusion.clear()
        if before.boots is not None and now.boots is not None and now.boots != before.boots:
            self.event(at, "restart", f"the node restarted (boot {now.boots})")
        elif now.number <= before.number:
            self.event(at, "restart", "the node counts its lines anew: it restarted without its saved state")
        elif before.epoch != now.epoch and now.epoch is not None:
            self.event(at, "restart", f"a new recording began ({now.epoch})")
        elif now.number > before.number + 1:
            self.event(at, "line", f"{now.number - before.number - 1} lines did not arrive")
        for name, alarms in now.alarms.items():
            earlier = before.alarms[name].count if name in before.alarms else 0
            if alarms.count > earlier:
                direction = {1: "up", 2: "down"}.get(alarms.direction, "?")
                self.event(at, "alarm", f"{name}: error {direction} at record {alarms.record:,}")


def _point(report: Report, at: float) -> Point:
    faded, window, mean = report.faded_error, report.window_error, report.mean_error
    tick = report.tick_seconds or 1.0
    latency, t, m = report.latency_ticks, report.get("t"), report.get("m")
    lag = ((t[2] - t[1] + (1 << 29)) % (1 << 30)) - (1 << 29) if t else None
    return Point(
        at=at,
        faded=faded.value if faded else None,
        window=window.value if window else None,
        mean=mean.value if mean else None,
        bound=faded.hoeffding if faded else None,
        parts=report.categories or {},
        latency=None if latency is None else latency * tick,
        lag=None if lag is None else max(0, lag) * tick,
        heap_free=m[0] if m else None,
        heap_used=m[1] if m else None,
    )

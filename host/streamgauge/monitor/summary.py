"""A history's figures as one JSON document, for scripts."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from ..prequential import Estimate
from .history import History
from .listen import stamp
from .view import Status


def document(history: History, status: Status) -> dict[str, Any]:
    """Return the figures: of the last line, and of the labels as each was told of last.

    Times and lengths are in ticks; `tick_seconds` says how long a tick is. `fields` holds the line's own
    numbers by key, as the format of the report line in DESIGN.md names them.
    """
    report = history.last
    out: dict[str, Any] = {
        "source": status.source,
        "lines": history.lines,
        "damaged": history.damaged,
        "other": history.other,
        "received": stamp(history.received_at) if history.received_at > 1e8 else None,
        "events": [asdict(event) for event in history.events],
    }
    if report is None:
        return out
    out |= {
        "boots": report.boots,
        "epoch": report.epoch,
        "layout": report.layout,
        "tick_seconds": report.tick_seconds,
        "error": {
            "faded": _estimate(report.faded_error),
            "window": _estimate(report.window_error),
            "mean": _estimate(report.mean_error),
        },
        "slices": report.categories,
        "labels": [asdict(row) for _, row in sorted(history.rows.items())],
        "confusion": {str(label): list(counts) for label, counts in sorted(history.confusion.items())},
        "distance": report.distance,
        "latency_mean": report.latency_ticks,
        "alarms": {name: asdict(alarms) for name, alarms in sorted(report.alarms.items())},
        "fields": {key: list(values) for key, values in sorted(report.fields.items())},
    }
    return out


def text(history: History, status: Status) -> str:
    """Return the document as JSON."""
    return json.dumps(document(history, status), indent=1, allow_nan=False, ensure_ascii=False)


def _estimate(estimate: Estimate | None) -> dict[str, float | None] | None:
    return None if estimate is None else asdict(estimate)

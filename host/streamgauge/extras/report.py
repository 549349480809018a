"""The report's sections of these figures."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from .. import formats
from ..compare import McNemar
from ..report.grid import Cell, Grid, facts, indented, title
from ..task import Task
from .figures import Event, Extras

DETECTOR_NAMES = {"page_hinkley": "Page-Hinkley", "ddm": "DDM", "adwin": "ADWIN"}
_LAST_ALARMS = 8
_STATISTIC = {
    "page_hinkley": "rise summed up",
    "ddm": "rise of the error",
    "adwin": "new mean less old",
}


def extras_sections(extras: Extras | None, task: Task, width: int, brief: bool) -> Iterator[RenderableType]:
    """All sections that there are figures for.

    Parameters
    ----------
    extras : Extras or None
    task : Task
    width : int
        Columns there are.
    brief : bool
        Without the tables by label, alarm and bin.
    """
    if extras is None:
        return
    yield title("Drift", "has the error changed?")
    yield from _drift(extras, task, width, brief)
    yield title("Forgetting", "a confusion matrix that fades with time")
    yield from _forgetting(extras, task, width, brief)
    if extras.compare is not None:
        yield title("Two recognisers", "who is ahead, since when, how surely")
        yield from _compare(extras, task, width)
    if extras.reliability is not None:
        yield title("Without truth", "what the confidences say of records that nobody labelled")
        yield from _reliability(extras, width, brief)
    if extras.holdout is not None:
        yield title("Holdout", "a fixed set, beside the faded error of the stream")
        yield from _holdout(extras, width)


def _when(event: Event, extras: Extras, task: Task) -> str:
    since = event.tick - extras.records.begin
    if task.tick_seconds is None:
        return f"tick {event.tick:,}"
    return formats.long_time(since * task.tick_seconds)


def _drift(extras: Extras, task: Task, width: int, brief: bool) -> Iterator[RenderableType]:
    grid = Grid("detector", "alarms", "up", "down", "last at record", "after", left=(0,), drop=(3, 2))
    for name, found in extras.drift.items():
        last = found.alarms[-1] if found.alarms else None
        ups = sum(event.direction == "up" for event in found.alarms)
        grid.add(
            DETECTOR_NAMES[name],
            Text(formats.count(len(found.alarms)), "bold"),
            formats.count(ups),
            formats.count(len(found.alarms) - ups),
            "-" if last is None else f"{last.record:,}",
            "-" if last is None else _when(last, extras, task),
        )
    yield indented(grid.fit(width - 2))
    if brief:
        return
    for name, found in extras.drift.items():
        if not found.alarms:
            continue
        yield Text()
        shown = found.alarms[-_LAST_ALARMS:]
        of = f"the last {len(shown)} of {len(found.alarms):,}" if len(shown) < len(found.alarms) else "alarms"
        table = Grid(f"{DETECTOR_NAMES[name]}, {of}", "direction", _STATISTIC[name], "after", left=(0, 1))
        for event in shown:
            way = "errors grew" if event.direction == "up" else "errors fell"
            table.add(
                f"record {event.record:,}",
                Text(way, "red" if event.direction == "up" else "green"),
                f"{event.value:+.3f}",
                _when(event, extras, task),
            )
        yield indented(table.fit(width - 2))


def _forgetting(extras: Extras, task: Task, width: int, brief: bool) -> Iterator[RenderableType]:
    found = extras.forgetting
    scores = found.scores
    yield facts(
        width,
        ("accuracy", Text(formats.score(scores.accuracy), "bold")),
        ("kappa", Text(formats.score(scores.kappa), "bold")),
        ("precision", formats.score(scores.mean_precision)),
        ("recall", formats.score(scores.mean_recall)),
        ("F1", formats.score(scores.mean_f1)),
        ("", Text(f"(alpha {found.alpha:g}; means over labels with half a record or more)", "bright_black")),
    )
    if brief:
        return
    yield Text()
    grid = Grid("label", "faded records", "prec.", "recall", "F1")
    for name, *values in zip(
        task.labels, scores.support, scores.precision, scores.recall, scores.f1, strict=True
    ):
        grid.add(name, f"{values[0]:,.1f}", *map(formats.score, values[1:]))
    yield indented(grid.fit(width - 2))


def _compare(extras: Extras, task: Task, width: int) -> Iterator[RenderableType]:
    found = extras.compare
    assert found is not None
    yield Text(found.verdict(), "bold")
    yield Text()
    b = found.names[1]
    grid = Grid("records", "only A wrong", "only B wrong", "M", "p", "ahead", "since", left=(0, 5), drop=(4,))
    for name, test in (
        ("faded", found.faded),
        (f"last {min(found.window, found.records):,}", found.windowed),
        (f"all {found.records:,}", found.overall),
    ):
        grid.add(name, *_counts(test), *_verdict(test))
    yield indented(grid.fit(width - 2))
    yield Text()
    yield facts(
        width,
        *(
            (f"{letter}, {name}:", "-" if error is None else f"faded error {error:.4f}")
            for letter, name, error in zip("AB", found.names, found.errors, strict=True)
        ),
        ("alpha", f"{found.alpha:g}"),
        ("Q", f"{found.q:+.3f}"),
        ("", Text(f"(M or Q above 0: {b} is ahead)", "bright_black")),
    )


def _counts(test: McNemar) -> tuple[str, str]:
    form = ",.0f" if isinstance(test.n01, int) else ",.1f"
    return f"{test.n01:{form}}", f"{test.n10:{form}}"


def _verdict(test: McNemar) -> tuple[Cell, ...]:
    if test.discordant == 0:
        return "0", "-", "no evidence", "-"
    chance = "< 0.0001" if test.p_value < 1e-4 else f"{test.p_value:.4f}"
    ahead = Text("neither" if test.ahead is None else test.ahead, "bold" if test.level else "")
    if not test.level:
        ahead.append(" (not significant)", "bright_black")
    return f"{test.value:+.2f}", chance, ahead, "-" if test.since is None else f"record {test.since:,}"


def _reliability(extras: Extras, width: int, brief: bool) -> Iterator[RenderableType]:
    found = extras.reliability
    assert found is not None
    estimate = found.estimate
    error = found.calibration_error
    yield facts(
        width,
        ("records", f"{found.labelled:,} with truth, {found.unlabelled:,} without"),
        ("calibration error", Text("-" if error is None else f"{error:.4f}", "bold")),
    )
    if estimate is None:
        yield Text("Every record has truth: there is nothing to estimate.", "bright_black")
    else:
        share = 1 - extras.settings.delta
        yield Text.assemble(
            "Accuracy of the records without truth: ",
            (f"{estimate.value:.4f}", "bold"),
            f", {formats.percent(share)} % bound {estimate.low:.4f} to {estimate.high:.4f}",
            (f" ({formats.percent(estimate.unsupported)} % of them in bins without truth)", "bright_black")
            if estimate.unsupported
            else "",
        )
        yield Text("It holds while a confidence is right as often without truth as with it.", "bright_black")
    if brief:
        return
    yield Text()
    grid = Grid("confidence", "with truth", "right", "said", "without truth", left=(0,))
    table = found.table
    step = 256 // table.bins
    for bin_ in range(table.bins):
        labelled, blind = float(table.labelled[bin_]), float(table.unlabelled[bin_])
        if labelled or blind:
            grid.add(
                f"{bin_ * step} to {(bin_ + 1) * step - 1}",
                f"{labelled:,.0f}",
                formats.score(table.right[bin_] / labelled if labelled else None),
                formats.score(table.confidence[bin_] / labelled / 255 if labelled else None),
                f"{blind:,.0f}",
            )
    yield indented(grid.fit(width - 2))


def _holdout(extras: Extras, width: int) -> Iterator[RenderableType]:
    found = extras.holdout
    assert found is not None
    yield facts(
        width,
        ("items", f"{found.size:,}"),
        ("scored", f"{found.scored:,} times"),
        ("± Hoeffding", f"{found.half_width:.4f}"),
    )
    if found.beyond:
        yield Text(f"{found.beyond} scorings lie after the last record and were left out.", "yellow")
    grid = Grid("after record", "right", "accuracy", "faded error of the stream")
    for score in found.scores:
        figure = "-" if score.prequential is None else f"{score.prequential:.4f}"
        grid.add(f"{score.records:,}", f"{score.correct:,}", f"{score.accuracy:.4f}", figure)
    yield Text()
    yield indented(grid.fit(width - 2))

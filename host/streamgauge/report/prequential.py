"""The prequential error: three estimates with their bounds, and its course over the recording."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from rich.console import RenderableType
from rich.text import Text

from streamgauge import formats
from streamgauge.assess import Assessment
from streamgauge.outcome import Outcome
from streamgauge.prequential import Estimate, curves, losses_from_pieces

from .grid import Grid, facts, indented

_SPARKS = "▁▂▃▄▅▆▇█"
_LEAST_SPARKS = 10
_MOST_SPARKS = 72


def prequential_section(outcome: Outcome, width: int) -> Iterator[RenderableType]:
    """The section's parts."""
    assessment = outcome.assessment
    found = assessment.prequential
    yield facts(
        width,
        ("records", f"{formats.count(found.count)} with truth, {formats.count(found.unlabelled)} without"),
        ("bounds hold with", f"{formats.percent(1 - found.delta)} %"),
    )
    yield Text()
    grid = Grid("error", "value", "± Hoeffding", "± Chernoff", "records", "", left=(0, 5), drop=(5,))
    for name, estimate, what in (
        ("mean", found.mean, "all"),
        ("window", found.window, f"the last {formats.count(found.window_size)}"),
        ("fading", found.fading, f"alpha {found.alpha:g}; its bounds are a guide"),
    ):
        grid.add(name, *_estimate(estimate), Text(what, "bright_black"))
    yield indented(grid.fit(width - 2))
    course = _course(assessment, min(width - 30, _MOST_SPARKS))
    if course is not None:
        yield Text()
        yield indented(course)


def _estimate(estimate: Estimate) -> list[str]:
    figures = (estimate.value, estimate.hoeffding, estimate.chernoff)
    return [*("-" if figure is None else f"{figure:.4f}" for figure in figures), _records(estimate.n_eff)]


def _records(count: float) -> str:
    return f"{count:,.0f}" if count == round(count) or count >= 1000 else f"{count:,.1f}"


def _course(assessment: Assessment, signs: int) -> Text | None:
    """The faded error over the recording, a sign for a stretch of records.

    None where they are too few, or only the figures are known and not the recording.
    """
    recording = assessment.recording
    if not len(recording.truth):
        return None
    if signs < _LEAST_SPARKS or assessment.prequential.count < 4 * signs:
        return None
    losses = losses_from_pieces(recording.truth, recording.prediction, recording.task.slice_ticks)
    faded = curves(losses, window=assessment.settings.window, alpha=assessment.settings.alpha).fading
    bounds = [len(faded) * i // signs for i in range(signs + 1)]
    means = [float(faded[a:b].mean()) for a, b in pairwise(bounds)]
    top = max(means)
    course = "".join(_SPARKS[min(7, int(mean / top * 8)) if top else 0] for mean in means)
    return Text.assemble(("fading, over time  ", "bright_black"), course, f" {top:.2f}")

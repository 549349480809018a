"""What the project's pictures have in common."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, SOFT = "#22303a", "#7b8794"
COLOURS = ("#3f66b5", "#b23a3a", "#4f9a5f", "#d8a03c", "#9b6bb3", "#5fb3bd", "#7b8794")


def new_figure(width: float, height: float, title: str) -> Figure:
    """Return an empty figure, in inches, with a title at its left."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle(title, x=0.01, ha="left", fontsize=12, color=INK)
    return figure


def plain(axes: Axes) -> None:
    """Leave the axes only the lines that say something."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(SOFT)
    axes.tick_params(colors=SOFT, labelsize=9)
    axes.grid(True, color="#e3e7ea", linewidth=0.8)
    axes.set_axisbelow(True)


def heading(axes: Axes, title: str, below: str = "", left: str = "") -> None:
    """Give the axes a title and say what they measure."""
    axes.set_title(title, loc="left", fontsize=10, color=INK)
    axes.set_xlabel(below, fontsize=9, color=SOFT)
    axes.set_ylabel(left, fontsize=9, color=SOFT)


def legend(axes: Axes, **options: Any) -> None:
    """Add a legend without a frame."""
    axes.legend(frameon=False, fontsize=8.5, labelcolor=INK, **options)


def save(figure: Figure, paths: list[Path]) -> None:
    """Save a figure; a path's ending says which kind (png, svg, pdf).

    Raises
    ------
    InputError
        It cannot be written.
    """
    from matplotlib import rc_context

    for path in paths:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # The same picture gives the same file: no date, and names that do not change.
            with rc_context({"svg.hashsalt": "streamgauge"}):
                figure.savefig(path, dpi=110, metadata={"Date": None} if path.suffix == ".svg" else None)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise InputError(
                f"cannot be written ({reason})", file=path, remedy="End the name in .png, .svg or .pdf"
            ) from None

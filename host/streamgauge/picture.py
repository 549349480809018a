"""The report as a picture (SVG) that needs no fonts from elsewhere."""

from __future__ import annotations

import io
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import TerminalTheme

from .errors import InputError
from .outcome import Outcome
from .report import PLAIN_WIDTH, render

_THEME = TerminalTheme(
    (30, 32, 38),
    (214, 216, 220),
    [
        (30, 32, 38),
        (205, 84, 84),
        (86, 166, 104),
        (206, 158, 64),
        (88, 128, 200),
        (170, 110, 180),
        (84, 170, 180),
        (200, 202, 208),
    ],
    [
        (128, 134, 144),
        (232, 138, 124),
        (130, 200, 140),
        (230, 190, 100),
        (132, 172, 232),
        (200, 150, 210),
        (130, 206, 212),
        (250, 250, 252),
    ],
)
# Rich's own format without the fonts it asks a server for; where Fira Code is absent any monospace will do.
_FORMAT = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
    <style>
    .{unique_id}-matrix {{
        font-family: "Fira Code", "DejaVu Sans Mono", Menlo, Consolas, monospace;
        font-size: {char_height}px;
        line-height: {line_height}px;
    }}
    .{unique_id}-title {{
        font-size: 18px;
        font-weight: bold;
        font-family: sans-serif;
    }}
    {styles}
    </style>
    <defs>
    <clipPath id="{unique_id}-clip-terminal">
      <rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
    </clipPath>
    {lines}
    </defs>
    {chrome}
    <g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
    {backgrounds}
    <g class="{unique_id}-matrix">
    {matrix}
    </g>
    </g>
</svg>
"""


def save_picture(outcome: Outcome, path: str | Path, title: str, *, brief: bool = False) -> None:
    """Save the report as SVG, `PLAIN_WIDTH` columns wide.

    Parameters
    ----------
    outcome : Outcome
    path : str or Path
    title : str
        Stands over it, as a terminal's title.
    brief : bool
        See `report.render`.

    Raises
    ------
    InputError
        The file cannot be written.
    """
    console = Console(
        record=True,
        width=PLAIN_WIDTH,
        file=io.StringIO(),
        force_terminal=True,
        color_system="truecolor",
        highlight=False,
        _environ={},
    )
    render(outcome, console, brief=brief)
    # The id is given, so that one report gives one file.
    text = console.export_svg(title=title, theme=_THEME, code_format=_FORMAT, unique_id="report")
    try:
        Path(path).write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise InputError(f"cannot be written ({error.strerror})", file=path) from None

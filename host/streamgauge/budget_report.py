"""A budget as text, as Markdown and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from .budget import Budget, Code, Part
from .budget_fit import Fit
from .formats import count
from .profile import expected_value
from .profile_keys import KEYS, REQUIRED

FORMS = {
    "py": "sources, compiled on the node",
    "mpy": ".mpy with machine code",
    "bytecode": ".mpy of bytecode alone",
    "frozen": "in the firmware, an estimate",
}

_MEANINGS = {
    "join": "runs that wait for the other side, clock, counters",
    "entries": "what is handed from the join to the estimators",
    "align": "pending segments, confusion, statistics",
    "slices": "ticks by category and label",
    "prequential": "window and sums",
    "loss": "window and sums of the program's own losses",
    "page_hinkley": "drift alarm",
    "ddm": "drift alarm",
    "adwin": "drift alarm, buckets",
    "compare": "two recognisers, window and sums",
    "forgetting": "faded confusion",
    "reliability": "bins of the confidence",
    "holdout": "set and scores",
    "hierarchy": "boundaries of every level, sums",
    "objects": "node, parts, ledger",
    "config": "configuration and label names, which the node keeps",
}


def document(budget: Budget, found: Fit | None = None) -> dict[str, Any]:
    """Return the budget for `--json`; None stands where nothing was measured."""
    out: dict[str, Any] = {
        "profile": budget.profile.name,
        "tier": budget.profile["tier"],
        "labels": budget.labels,
        "engine": budget.engine,
        "heap_bytes": budget.heap,
        "code_form": budget.profile["code.form"],
        "parts": {name: _part(part) for name, part in budget.parts.items()},
        "state": _part(budget.state),
        "code": {name: _code(code) for name, code in budget.code.items()},
        "extras": {name: _code(code) for name, code in budget.extras.items()},
        "interpreter_bytes": budget.interpreter,
        "read_out_bytes": budget.read_out,
        "high_water_bytes": budget.high_water,
        "allocated_by_updates": budget.allocated,
        "left_bytes": budget.left,
        "trouble": budget.trouble,
    }
    if found is not None:
        out["fit"] = {
            "room_bytes": found.room,
            "state_bytes": found.taken,
            "values": found.values,
            "traded": found.traded,
        }
    return out


def _part(part: Part) -> dict[str, int | None]:
    return {"predicted_bytes": part.predicted, "measured_bytes": part.measured}


def _code(code: Code) -> dict[str, int]:
    return {"heap_bytes": code.heap, "machine_code_bytes": code.machine, "bytes": code.bytes}


def fitted(found: Fit, heap: int) -> Iterator[RenderableType]:
    """What fits into `heap` bytes."""
    yield _title("Fits", f"into a heap of {count(heap)} bytes")
    yield f"  state {count(found.taken)} of {count(found.room)} bytes that are left for it"
    for key, value in found.values.items():
        yield f"  {key} = {value}"
    if found.traded:
        yield Text("  Traded against the profile:", "bright_black")
    for sentence in found.traded:
        yield Padding(f"{sentence}.", (0, 0, 0, 4))


def summary(budgets: Sequence[Budget]) -> Iterator[RenderableType]:
    """One line a profile, the smallest heap first."""
    table = _table("profile", "heap", "code", "state", "predicted", "high water", "left", "")
    for budget in sorted(budgets, key=lambda budget: budget.heap):
        form = budget.profile["code.form"]
        code = budget.code.get(form)
        table.add_row(
            budget.profile.name,
            count(budget.heap),
            count(code.bytes if code else None),
            count(budget.state.measured),
            count(budget.state.predicted),
            count(budget.high_water),
            count(budget.left),
            Text(form if budget.trouble is None else f"{form}; does not fit", "bright_black"),
        )
    yield table


def sections(budget: Budget) -> Iterator[RenderableType]:
    """One profile, part by part."""
    profile = budget.profile
    yield Text.assemble(
        (profile.name, "bold"), f"  {profile['description']}, {budget.labels} labels besides NULL"
    )
    yield _title("State", "arrays taken once, at construction")
    table = _table("part", "predicted", "measured", "")
    for name, part in budget.parts.items():
        _row(table, name, part, _MEANINGS[name])
    table.add_section()
    _row(table, "state", budget.state, "", "bold")
    yield _indented(table)
    yield _title("Code", "in its forms" if budget.engine else "in its forms, estimated")
    table = _table("form", "in the heap", "machine code", "together", "")
    for form, what in FORMS.items():
        if form in budget.code:
            code = budget.code[form]
            chosen = form == profile["code.form"]
            numbers = (count(code.heap), count(code.machine), count(code.bytes))
            table.add_row(form, *numbers, Text(what, "bright_black"), style="bold" if chosen else "")
    for name, code in budget.extras.items():
        numbers = (count(code.heap), count(code.machine), count(code.bytes))
        what = "loaded when the program asks for it"
        table.add_row(f"+ {name}", *numbers, Text(what, "bright_black"))
    yield _indented(table)
    if budget.engine is not None:
        yield _title("Heap", f"{budget.engine}, code as {profile['code.form']}")
        yield _indented(_heap(budget))
    if budget.trouble is not None:
        yield Text(f"The built-in example does not run in this heap: {budget.trouble}", "red")


def _heap(budget: Budget) -> Table:
    table = _table("", "bytes", "of the heap", "")
    chosen = budget.code[budget.profile["code.form"]]
    rows = (
        ("heap given", budget.heap, ""),
        ("MicroPython", budget.interpreter, "before the node is there"),
        ("code", chosen.bytes, ""),
        ("state", budget.state.measured, ""),
        ("left for your program", budget.left, ""),
        ("read-out", budget.read_out, "of raw() in passing, garbage afterwards"),
        ("high water", budget.high_water, "over the built-in example, with the program that feeds it"),
        ("allocated by updates", budget.allocated, ""),
    )
    for name, size, what in rows:
        share = "-" if size is None else f"{100 * size / budget.heap:.1f} %"
        style = "bold" if name == "left for your program" else ""
        table.add_row(name, count(size), share, Text(what, "bright_black"), style=style)
    return table


def _row(table: Table, name: str, part: Part, what: str, style: str = "") -> None:
    table.add_row(name, count(part.predicted), count(part.measured), Text(what, "bright_black"), style=style)


def _title(name: str, what: str) -> RenderableType:
    title = Text.assemble((name, "bold"), ("  " + what, "bright_black"))
    return Padding(Rule(title, align="left", style="bright_black"), (1, 0, 0, 0))


def _indented(part: RenderableType) -> RenderableType:
    return Padding(part, (0, 0, 0, 2))


def _table(*columns: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bright_black", pad_edge=False)
    for index, name in enumerate(columns):
        words = index == len(columns) - 1
        table.add_column(name, justify="left" if index == 0 or words else "right", no_wrap=not words)
    return table


def table_of(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """Return a table of numbers without lines."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bright_black", pad_edge=False)
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    return table


def key_page() -> str:
    """Return the page `docs/profiles.md`: every key a profile may hold."""
    lines = [
        "# Keys of a memory profile",
        "",
        "Made by `streamgauge budget --keys`. A profile is a TOML file; `memory_profiles/` holds those that "
        "come with streamgauge, and any command's `--profile` takes a file of your own. A key that is "
        "unknown or impossible is refused by name. The keys of an estimator that is not in `estimators.on` "
        "say nothing.",
        "",
        "| key | value | default | meaning |",
        "|---|---|---|---|",
    ]
    for key in KEYS:
        default = "required" if key.default is REQUIRED else f"`{_toml(key.default)}`"
        lines.append(
            f"| `{key.path}` | {expected_value(key.schema)} | {default} | {key.schema['description']} |"
        )
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def markdown(budgets: Sequence[Budget]) -> str:
    """Return all budgets as the page `docs/budget.md`."""
    budgets = sorted(budgets, key=lambda budget: budget.heap)
    engine = next((budget.engine for budget in budgets if budget.engine), "no engine")
    lines = [
        "# What each memory profile takes",
        "",
        "Made by `streamgauge budget --markdown`. Predicted: from the profile's numbers alone "
        "(`host/streamgauge/ledger_model.py`). Measured: on the heap of " + engine + ". Bytes, with the most "
        "labels each profile takes.",
        "",
        "| profile | heap | code | as | state predicted | measured | high water | left for your program |",
        "|---|--:|--:|---|--:|--:|--:|--:|",
    ]
    for budget in budgets:
        form = budget.profile["code.form"]
        cells = (
            budget.profile.name,
            count(budget.heap),
            count(budget.code[form].bytes if form in budget.code else None),
            form,
            count(budget.state.predicted),
            count(budget.state.measured),
            count(budget.high_water),
            count(budget.left),
        )
        lines.append(f"| {' | '.join(cells)} |")
    lines += [
        "",
        "High water: the most in use while the built-in example runs in that heap, with the program that "
        "feeds the node. Left: the heap less MicroPython's own, code and state.",
    ]
    for budget in budgets:
        lines += ["", f"## {budget.profile.name}", "", f"{budget.profile['description']}.", ""]
        if budget.trouble:
            lines += [f"The built-in example does not run in this heap: {budget.trouble}", ""]
        lines += ["| part | predicted | measured | |", "|---|--:|--:|---|"]
        for name, part in budget.parts.items():
            lines.append(f"| {name} | {count(part.predicted)} | {count(part.measured)} | {_MEANINGS[name]} |")
        total = budget.state
        lines.append(f"| **state** | **{count(total.predicted)}** | **{count(total.measured)}** | |")
        lines += ["", "| code | in the heap | machine code | together | |", "|---|--:|--:|--:|---|"]
        for form, code in budget.code.items():
            numbers = f"{count(code.heap)} | {count(code.machine)} | {count(code.bytes)}"
            lines.append(f"| {form} | {numbers} | {FORMS[form]} |")
        for name, code in budget.extras.items():
            numbers = f"{count(code.heap)} | {count(code.machine)} | {count(code.bytes)}"
            lines.append(f"| + {name} | {numbers} | where the program loads it |")
    return "\n".join(lines) + "\n"

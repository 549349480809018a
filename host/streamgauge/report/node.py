"""The node: what it took of its heap, and whether its numbers are the host's."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from streamgauge import formats
from streamgauge.node_run import NodeRun
from streamgauge.parity import Parity

from .grid import Grid, indented, share_cells

_TOLD = {
    "slices": "batches of labels",
    "records": "segments",
    "samples": "single labels",
    "levels": "boundaries",
}


def engine_text(node: NodeRun, profile: str) -> str:
    """Which node that was."""
    return f"{node.engine}, {node.bits}-bit MicroPython {node.version}, profile {profile}"


def memory_section(node: NodeRun, width: int) -> Iterator[RenderableType]:
    """The section's parts."""
    memory = node.memory
    yield indented(_bar(node, width - 4))
    grid = Grid("bytes", "", "of the heap", "", left=(0, 3), drop=(3,))
    code = f"{formats.count(memory.machine_code)} of it machine code"
    rows = [
        ("heap given", memory.heap, ""),
        ("code", memory.code, code + (", here beside the heap" if memory.beside else "")),
        ("state", memory.state, f"{formats.count(memory.ledger)} of it in the ledger's arrays"),
        ("high water", memory.high_water, "with the program that feeds the node"),
    ]
    if memory.beside and node.bits == 32:
        rows.append(("  on a board", memory.with_machine_code, "with the machine code in its heap"))
    for name, size, note in rows:
        share = f"{formats.percent(size / memory.heap)} %"
        grid.add(name, formats.count(size), share, Text(note, "bright_black"))
    told = _TOLD[node.mode]
    if node.mode != "levels" and "hierarchy" in node.config["estimators"]:
        told += f" and {_TOLD['levels']}"
    allocated = memory.allocated_by_updates
    grid.add(
        "allocated by updates",
        Text(formats.count(allocated), "bold green" if allocated == 0 else "bold red"),
        "",
        Text(f"in {formats.count(node.updates)} updates, told as {told}", "bright_black"),
    )
    yield indented(grid.fit(width - 2))


def _bar(node: NodeRun, width: int) -> Text:
    memory = node.memory
    code = memory.code - memory.beside
    parts = (
        ("code", code, "white on blue"),
        ("state", memory.state, "black on green"),
        ("other", max(0, memory.high_water - code - memory.state), "black on yellow"),
        ("free", max(0, memory.heap - memory.high_water), "white on grey30"),
    )
    bar = Text()
    cells = share_cells([size for _, size, _ in parts], width)
    for (name, _, style), count in zip(parts, cells, strict=True):
        bar.append((f" {name}" if count > len(name) + 1 else "").ljust(count), style)
    return bar


def verdict(parity: Parity) -> Iterator[Text]:
    """How the node's numbers compare, line by line."""
    compared = (
        f"{formats.count(parity.compared)} numbers compared, {formats.count(parity.with_host)} with the "
        f"host's and {formats.count(parity.with_model)} with its model's: "
    )
    if parity.agrees:
        yield Text.assemble(compared, ("all agree", "bold green"))
    else:
        yield Text.assemble(compared, (f"{formats.count(parity.different)} differ", "bold red"))
    if parity.worst_name is None:
        yield Text("Every one is exact.")
    else:
        yield Text(f"Rounded numbers reach up to {parity.worst:.2f} of their bound ({parity.worst_name}).")
    for difference in parity.first:
        yield Text(f"  {difference}", "red")
    if parity.different > len(parity.first):
        yield Text(f"  and {formats.count(parity.different - len(parity.first))} more", "red")
    for remark in parity.remarks:
        yield Text(remark, "yellow")

"""Rewrites docs/instructions.md and .json: what every estimator of the node costs, beside the same work in C.

    make instructions

Instructions on the arm engine, between two marks, for each estimator alone, none (the join alone), the core and
all, through the entries that take one slice and through those that take a batch. Exits with 1 when a limit is
passed, or when node and C do not give the same numbers. docs/instructions.md says what is counted.

tests/node/test_instructions.py counts the node's side again and compares it with docs/instructions.json.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import entry_loops  # noqa: E402
from node_bench import SHARES, Stream, example, synthetic  # noqa: E402

from icount import CROSS_COMPILER  # noqa: E402
from streamgauge.engines.fetch import qemu_arm  # noqa: E402
from streamgauge.engines.unix import arm_engine  # noqa: E402
from streamgauge.places import engines_root  # noqa: E402
from streamgauge.profile_keys import ESTIMATORS  # noqa: E402

DOCS = HERE.parents[1] / "docs"
PAGE = DOCS / "instructions.md"
FIGURES = DOCS / "instructions.json"
INTRO = HERE / "instructions_intro.md"  # with the versions and limits left open
TIMES_C = 4.0
ONE_SAMPLE = 4000
WORSE = 0.05
CORE = ("align", "slices", "prequential")
ROWS: dict[str, tuple[str, ...]] = {
    "none": (),
    **{name: (name,) for name in CORE},
    "loss": ("loss",),
    **{name: (name,) for name in ESTIMATORS if name not in (*CORE, "holdout")},
    "holdout": ("prequential", "holdout"),  # which counts the records between two scorings
    "core": CORE,
    "all": (*ESTIMATORS, "loss"),
}
WITHOUT_BATCH = ("loss",)
WAYS = ("batch", "single")
EACH = 1500  # slices whose calls are counted one by one


def streams() -> dict[str, Stream]:
    """What is played: part of the built-in example, and a stream made up from a seed; no files beside the clone."""
    home = example()
    days = 3 * 24 * 60
    return {
        "example": _first(home, days),
        "synthetic": synthetic(4000, 16, 40, 1),
    }


def _first(stream: Stream, slices: int) -> Stream:
    return Stream(stream.name, stream.truth[:slices], stream.prediction[:slices], stream.labels, stream.slice)


def base(row: str) -> str:
    """The row that has all that this one has but its estimator."""
    return "prequential" if row == "holdout" else "none"


# Measuring


def node_figures(stream: Stream, row: str) -> tuple[dict[str, float], dict[str, dict[str, Any]]]:
    """Instructions a slice of the node, by way, and what its `raw()` said."""
    found, raws = {}, {}
    for way in WAYS:
        if way == "single" or row not in WITHOUT_BATCH:
            run = entry_loops.node_run(stream, ROWS[row], way == "batch")
            found[way] = round(run.instructions / len(stream), 1)
            raws[way] = run.raw
    return found, raws


def calls_a_slice(stream: Stream, row: str) -> float:
    """Calls of the one-sample entries a slice."""
    return round(sum(1 for _ in _names(len(stream), ROWS[row])) / len(stream), 3)


def _names(slices: int, on: tuple[str, ...]) -> Iterator[str]:
    """The entries that a run calls, one by one."""
    entries = entry_loops.entries(on, False)
    for n in range(slices):
        for entry in entries:
            if n % entry.every == entry.late:
                yield entry.name


def entry_figures(stream: Stream) -> dict[str, dict[str, float]]:
    """How the calls of each entry are spread with all on."""
    part = _first(stream, EACH)
    costs = defaultdict(list)
    run = entry_loops.node_run(part, ROWS["all"], False, each=True)
    for name, cost in zip(_names(EACH, ROWS["all"]), run.each, strict=False):
        costs[name].append(cost)
    found = {}
    for name, all_of_it in costs.items():
        ordered = sorted(all_of_it)
        found[name] = {"calls a slice": round(len(ordered) / EACH, 3)}
        found[name]["mean"] = round(sum(ordered) / len(ordered))
        found[name] |= {share: ordered[int(part * (len(ordered) - 1))] for share, part in SHARES}
    return found


def measure(stream: Stream, folder: Path) -> tuple[dict[str, Any], list[str]]:
    """All figures of one stream, and in which rows node and C do not say the same."""
    found: dict[str, Any] = {
        "slices": len(stream),
        "ticks": stream.slice,
        "labels": stream.labels,
        "chunk": stream.chunk,
        "rows": {},
    }
    different = []
    for row, on in ROWS.items():
        node, raws = node_figures(stream, row)
        figures: dict[str, Any] = {}
        for way, cost in node.items():
            c, said = entry_loops.c_run(stream, on, way == "batch", folder)
            figures[way] = {"node": cost, "c": round(c / len(stream), 1)}
            if not entry_loops.agree(raws[way], said) or raws[way]["join"]["unassessed"]:
                different.append(f"{row}, {way}")
        figures["single"]["calls"] = calls_a_slice(stream, row)
        found["rows"][row] = figures
        print(f"  {row}: " + ", ".join(f"{way} {cost:,.1f}" for way, cost in node.items()), flush=True)
    found["entries"] = entry_figures(stream)
    return found, different


def versions() -> dict[str, str]:
    """What the figures depend on besides the code."""
    engine = arm_engine()

    def first_line(command: list[str]) -> str:
        return subprocess.run(command, capture_output=True, text=True).stdout.splitlines()[0]

    return {
        "engine": engine.version,
        "emulator": first_line([*qemu_arm(engines_root()), "--version"]),
        "compiler": first_line([CROSS_COMPILER, "--version"]),
    }


# Judging


def over(figures: dict[str, Any]) -> list[str]:
    """Every figure that passes its limit, in words."""
    found = []
    for name, stream in figures["streams"].items():
        for row, ways in stream["rows"].items():
            if "batch" in ways and ways["batch"]["node"] > TIMES_C * ways["batch"]["c"]:
                times = ways["batch"]["node"] / ways["batch"]["c"]
                found.append(f"{name}, {row}, batch: {times:.2f} times C (at most {TIMES_C:g})")
        a_call = stream["rows"]["all"]["single"]["node"] / stream["rows"]["all"]["single"]["calls"]
        if a_call > ONE_SAMPLE:
            found.append(f"{name}, all, one sample: {a_call:,.0f} a call (at most {ONE_SAMPLE:,})")
    return found


def worse(where: str, committed: dict[str, float], measured: dict[str, float]) -> list[str]:
    """What is more than 5 % above the committed figures, or missing of them, in words."""
    found = []
    for name, now in measured.items():
        if name not in committed:
            found.append(f"{where}, {name}: no figure in {FIGURES.name}; `make instructions` measures it.")
        elif now > committed[name] * (1 + WORSE):
            found.append(
                f"{where}, {name}: {now:,.1f} instructions, {committed[name]:,.1f} in {FIGURES.name} "
                f"({now / committed[name] - 1:+.1%}). If that is meant, `make instructions` writes it down."
            )
    return found


def guarded(node: dict[str, float], less: dict[str, float]) -> dict[str, float]:
    """The figures of a row that are compared, given those of its base too.

    In batch that is also what the estimator adds: what it costs itself is little beside the join. (Sample by
    sample it is not: there the interpreter's cache of names moves the base by as much.)
    """
    if "batch" not in node or node == less:
        return node
    return {**node, "batch, added": round(node["batch"] - less["batch"], 1)}


def missing(figures: dict[str, Any]) -> list[str]:
    """Rows that should be there and are not: one for each estimator there is, and those of several."""
    wanted = (*ROWS, *(name for name in ESTIMATORS if name not in ROWS))
    return [
        f"{name}, {row}: no row; `make instructions` measures it."
        for name in streams()
        for row in wanted
        if row not in figures["streams"].get(name, {}).get("rows", {})
    ]


# The page


ABOUT = {
    "example": "Built-in example, its first three days",
    "synthetic": "Synthetic stream, runs of 40 slices (`synthetic(4000, 16, 40, 1)` of `node_bench.py`)",
}


def _table(head: list[str], rows: list[list[str]]) -> list[str]:
    ruler = ["---", *["--:"] * (len(head) - 1)]
    return ["| " + " | ".join(cells) + " |" for cells in (head, ruler, *rows)]


def _batch(rows: dict[str, Any]) -> list[str]:
    lines = []
    for row, ways in rows.items():
        if "batch" not in ways:
            continue
        node, c = ways["batch"]["node"], ways["batch"]["c"]
        mark = " OVER" if node > TIMES_C * c else ""
        lines.append([row, f"{node:,.1f}", f"{c:,.1f}", f"{node / c:.2f}{mark}", *_adds(rows, row, "batch")])
    return _table(["a slice", "node", "C", f"times C (at most {TIMES_C:g})", "adds, node", "adds, C"], lines)


def _adds(rows: dict[str, Any], row: str, way: str) -> list[str]:
    if row == "none":
        return ["", ""]
    less = rows[base(row)][way]
    return [f"{rows[row][way][side] - less[side]:,.1f}" for side in ("node", "c")]


def _single(rows: dict[str, Any]) -> list[str]:
    lines = []
    for row, ways in rows.items():
        node, c, calls = (ways["single"][key] for key in ("node", "c", "calls"))
        mark = " OVER" if row == "all" and node / calls > ONE_SAMPLE else ""
        lines.append(
            [
                row,
                f"{calls:.2f}",
                f"{node / calls:,.0f}{mark}",
                f"{node:,.0f}",
                f"{c:,.0f}",
                f"{node / c:.2f}",
                *_adds(rows, row, "single"),
            ]
        )
    a_call = f"node, a call (all: at most {ONE_SAMPLE:,})"
    head = ["a slice", "calls", a_call, "node", "C", "times C", "adds, node", "adds, C"]
    return _table(head, lines)


def _entries(entries: dict[str, Any]) -> list[str]:
    head = list(next(iter(entries.values())))
    lines = [
        [f"`{name}`", f"{figures[head[0]]:.3f}", *(f"{figures[key]:,}" for key in head[1:])]
        for name, figures in entries.items()
    ]
    return _table(["a call", *head], lines)


def page(figures: dict[str, Any]) -> str:
    """The page, made of nothing but the figures."""
    limits = {"times_c": f"{TIMES_C:g}", "one_sample": f"{ONE_SAMPLE:,}", "worse": f"{WORSE:.0%}"}
    lines = INTRO.read_text().format(**figures["versions"], **limits).splitlines()
    for name, stream in figures["streams"].items():
        lines += [
            "",
            f"## {ABOUT[name]}",
            "",
            f"{stream['slices']:,} slices of {stream['ticks']} ticks, {stream['labels']} labels.",
            "",
            f"Batch, {stream['chunk']:,} slices at a time:",
            "",
            *_batch(stream["rows"]),
            "",
            "One sample:",
            "",
            *_single(stream["rows"]),
            "",
            f"Single calls with all on, of the first {EACH:,} slices; the marks between them make each some per "
            "cent dearer:",
            "",
            *_entries(stream["entries"]),
        ]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Count, write both files, print and judge."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dry-run", action="store_true", help="print only, write no file")
    options = parser.parse_args()
    figures: dict[str, Any] = {"versions": versions(), "streams": {}}
    different = []
    with tempfile.TemporaryDirectory(prefix="streamgauge-") as folder:
        for name, stream in streams().items():
            print(f"{name}: {len(stream):,} slices, instructions a slice", flush=True)
            figures["streams"][name], unlike = measure(stream, Path(folder))
            different += [f"{name}, {what}: node and C give DIFFERENT NUMBERS" for what in unlike]
    text = page(figures)
    print("\n" + text[text.index("\n## ") + 1 :])
    broken = [*(f"OVER  {what}" for what in over(figures)), *different]
    print("\n".join(broken) or "All within their limits; node and C give the same numbers.")
    if not options.dry_run and not different:
        FIGURES.write_text(json.dumps(figures, indent=1) + "\n")
        PAGE.write_text(text)
        print(f"written: docs/{PAGE.name}, docs/{FIGURES.name}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())

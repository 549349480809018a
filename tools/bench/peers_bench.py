"""The node and the host beside other programs, on the same inputs and in one run.

    python tools/bench/peers_bench.py [--rounds 5] [--no-node] [--json FILE]

Beside river (Accuracy, Rolling, EWMean), mir_eval (T-measure), pyannote.metrics (identification error) and
ward-metrics (segment categories). For each input, of everyone: bytes of state; nanoseconds a record, frame or
segment, the best of some rounds in which all take turns; and whether the numbers are the same. The node's
nanoseconds are of its own code on this machine's MicroPython (x64), its instructions those counted on the arm
engine. Exits with 1 when numbers differ that must not. A peer that is not installed is left out.

Bytes are: `ledger`, the estimator's arrays in the ledger of a 32-bit node; `held`, what a program told piece
by piece keeps after its last record; `peak`, the most that a program which takes the whole input holds
meanwhile, the input itself not counted. The last two are tracemalloc's, so what is allocated outside Python's
allocators is not in them.

Recordings: the electricity market, house A, a song of SALAMI and the recordings of ward-metrics, from the
folder `shared` beside the project or $STREAMGAUGE_SHARED; the built-in example and made-up streams where
there is none.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import platform
import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import node_bench  # noqa: E402

import streamgauge  # noqa: E402
from peers.levels import levels_case, made_up, song  # noqa: E402
from peers.measure import PACKAGES, Case, PeerAbsent, Row, measure  # noqa: E402
from peers.node import Engines  # noqa: E402
from peers.records import records_case  # noqa: E402
from peers.segments import Pair, identification_case, ward_case  # noqa: E402
from streamgauge.files import ReadOptions, read_pair  # noqa: E402

SONG = "636"
Maker = Callable[[], Case]


def installed(package: str) -> str:
    """Its version, or that there is none."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "(absent)"


def pair_of(name: str, truth: Path, prediction: Path, options: ReadOptions) -> Pair:
    """Two files of segments."""
    recording = read_pair(truth, prediction, options)
    return Pair(name, recording.truth, recording.prediction, recording.task.labels)


def cases(folder: Path | None, engines: Engines) -> Iterator[Maker]:
    """What is measured, each to be made when its turn comes: its peer may be absent."""
    if folder:
        data = folder / "data"
        streams = [node_bench.elec2(folder), node_bench.house_a(folder)]
        home = data / "kasteren"
        rooms = "house A in minutes", home / "A_minutes_truth.csv", home / "A_minutes_hmm.csv"
        pairs = [pair_of(*rooms, ReadOptions())]
        track = data / "salami" / SONG / "parsed"
        both = [track / f"textfile{i}_lowercase.txt" for i in (1, 2)]
        pairs.append(pair_of(f"SALAMI {SONG} in ms, two annotators", *both, ReadOptions(tick=0.001)))
        wards = [
            pair_of(f"ward {case} in seconds", *files, ReadOptions(tick=1.0))
            for case in "ab"
            for files in [[data / "ward" / f"ward_{case}_{side}.tsv" for side in ("real", "pred")]]
        ]
        levels = [song(track)]
    else:
        own = Path(streamgauge.__file__).parent / "data"
        files = own / "home_truth.csv", own / "home_prediction.csv"
        pairs = [pair_of("built-in example in seconds", *files, ReadOptions(tick=1.0))]
        streams = [node_bench.example(), node_bench.synthetic(20_000, 16, 40, 1)]
        wards = []
        levels = [made_up(1500, (6, 14, 20), 7)]
    wards.append(pairs[0].one_against_the_rest)
    for stream in streams:
        yield lambda stream=stream: records_case(stream, engines)
    for hierarchies in levels:
        yield lambda hierarchies=hierarchies: levels_case(hierarchies, engines)
    for pair in pairs:
        yield lambda pair=pair: identification_case(pair, engines)
    for pair in wards:
        yield lambda pair=pair: ward_case(pair, engines)


def number(value: float | None, form: str = ",.0f") -> str:
    """A figure, with a digit after the point where it is small; a dash where there is none."""
    if value is None:
        return "-"
    return f"{value:{form if value >= 100 else ',.3g'}}"


def head(unit: str) -> str:
    """Two lines over the columns."""
    what = f"{'':<34}{'bytes':>11}{'':8}{'ns a':>9}{'arm instr.':>12}"
    under = f"{'':<34}{'':11}{'':8}{unit:>9}{'a ' + unit:>12}"
    ratios = f"{'bytes:':>10}{'ns:':>10}{'ns:':>12}"
    told = f"{'peer/node':>10}{'peer/host':>10}{'peer/node':>12}"
    return f"{what}{ratios}\n{under}{told}"


def line(row: Row) -> str:
    """One of them."""
    figures = f"{number(row.bytes):>11} {row.bytes_are:<7}{number(row.ns):>9}{number(row.instructions):>12}"
    ratios = f"{number(row.bytes_ratio):>10}{number(row.ns_ratio):>10}{number(row.node_ns_ratio):>12}"
    return f"{row.who:<34}{figures}{ratios}".rstrip()


def say(text: str) -> None:
    """Print a sentence below a table."""
    print(textwrap.fill(text, 110, initial_indent="  ", subsequent_indent="    "), flush=True)


def show(case: Case, rows: list[Row], noted: set[str]) -> None:
    """Print one case; a note that was printed before is not repeated."""
    print(f"\n{case.what}\n{case.input}")
    print(head(case.unit))
    for row in rows:
        print(line(row))
    print(f"  The node's other arrays, shared by all estimators, take {case.node[0].other_bytes:,} bytes.")
    checks = {check: None for row in rows for check in row.checks}
    for check in checks:
        say(f"{'same' if check.holds else 'DIFFERENT'}  {check.what}: {check.how}")
    for note in case.notes:
        if note not in noted:
            say(note)
            noted.add(note)


def main(arguments: list[str] | None = None) -> int:
    """Measure, print and judge."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5, help="of timing (%(default)s)")
    parser.add_argument("--no-node", action="store_true", help="leave the node's code out")
    parser.add_argument("--json", metavar="FILE", help="write all figures here")
    options = parser.parse_args(arguments)
    if options.rounds < 1:
        parser.error("--rounds is 1 or more")
    engines = Engines() if options.no_node else Engines.found()
    folder = node_bench.shared_folder()
    if folder is None:
        print("No folder of recordings: the built-in example and made-up streams are measured instead.")
    versions = ", ".join(f"{name} {installed(name)}" for name in PACKAGES.values())
    print(f"Python {platform.python_version()} on {platform.machine()}; {versions}")
    print(
        "ns are of this machine and of this run; peer/node is against the node's code on x64, the slower way."
    )
    print("Bytes of the node are those of 32-bit words, all others those of this Python.")
    found: list[dict[str, Any]] = []
    absent: dict[str, None] = {}
    noted: set[str] = set()
    for make in cases(folder, engines):
        try:
            case = make()
        except PeerAbsent as trouble:
            if str(trouble) not in absent:
                print(f"\n{trouble}")
            absent[str(trouble)] = None
            continue
        rows = measure(case, options.rounds)
        show(case, rows, noted)
        found.append(
            {
                "what": case.what,
                "input": case.input,
                "unit": case.unit,
                "other_node_bytes": case.node[0].other_bytes,
                "rows": [asdict(row) for row in rows],
                "notes": case.notes,
            }
        )
    for trouble in engines.missing:
        print(f"\n{trouble}")
    same = all(check["holds"] for case_ in found for row in case_["rows"] for check in row["checks"])
    print(f"\nthe same numbers wherever definitions agree: {'yes' if same else 'NO'}")
    if options.json:
        written = {"cases": found, "absent": list(absent), "missing": engines.missing, "same": same}
        Path(options.json).write_text(json.dumps(written, indent=1) + "\n")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())

"""The recordings that come with streamgauge: four weeks of a made-up home, and the pair of the SLTSS paper's
Table 1.

The home is not measured anywhere: `example` makes it from a seed. Somebody lives by a schedule with a Markov
chain in its free time (`simulation.resident`), an annotator writes it down and is away now and then
(`simulation.annotator`), and a recogniser gets it partly right (`simulation.recogniser`). The same seed gives
the same rows everywhere.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

from streamgauge.errors import InputError
from streamgauge.files import ReadOptions
from streamgauge.simulation.annotator import annotate
from streamgauge.simulation.dice import Dice
from streamgauge.simulation.recogniser import recognise
from streamgauge.simulation.resident import Resident, Row

SEED = 1
DAYS = 28
MOST_DAYS = 3660  # ten years: more is no example any more, and the days are held in memory

_FIRST_MIDNIGHT = datetime(2024, 3, 4)  # a Monday
_DATA = Path(__file__).with_name("data")


def example(seed: int = SEED, days: int = DAYS) -> tuple[list[Row], list[Row]]:
    """Make a recording of a home.

    Parameters
    ----------
    seed : int
        The same seed gives the same recording.
    days : int
        1 to 3660.

    Returns
    -------
    truth, prediction : list of (start, end, label)
        Seconds since the first midnight, half-open, ordered by start. Truth rows may be nested; the truth is
        UNKNOWN where the annotator was away, and where no row is, there is no activity (NULL).
    """
    if not 1 <= days <= MOST_DAYS:
        raise InputError(f"days is {days} (a whole number from 1 to {MOST_DAYS} was expected)")
    resident, annotator, recogniser = (Dice(3 * seed + i) for i in range(3))
    rows = Resident(resident).live(days)
    return annotate(rows, days, annotator), recognise(rows, days, recogniser)


def write_example(folder: str | Path, seed: int = SEED, days: int = DAYS) -> tuple[Path, Path]:
    """Write ``truth.csv`` and ``prediction.csv`` into a folder, made if need be.

    Returns
    -------
    truth, prediction : Path
    """
    truth, prediction = example(seed, days)
    target = Path(folder)
    paths = target / "truth.csv", target / "prediction.csv"
    try:
        target.mkdir(parents=True, exist_ok=True)
        for path, rows in zip(paths, (truth, prediction), strict=True):
            path.write_text(csv_text(rows), encoding="utf-8", newline="\n")
    except OSError as error:
        raise InputError(f"cannot be written ({error.strerror})", file=error.filename or target) from None
    return paths


def csv_text(rows: list[Row]) -> str:
    """Return rows as CSV with a header and ISO timestamps."""
    lines = [f"{_stamp(start)},{_stamp(end)},{name}\n" for start, end, name in rows]
    return "start,end,label\n" + "".join(lines)


def builtin() -> tuple[Path, Path, ReadOptions]:
    """Return the shipped home recording: truth, prediction, and how to read them (slices of 60 s)."""
    return _DATA / "home_truth.csv", _DATA / "home_prediction.csv", ReadOptions(slice="60s")


def table1() -> tuple[Path, Path, ReadOptions]:
    """Return the pair of the SLTSS paper's Table 1: truth, prediction, and how to read them (closed)."""
    return _DATA / "table1_truth.csv", _DATA / "table1_prediction.csv", ReadOptions(closed=True)


def _stamp(second: int) -> str:
    return (_FIRST_MIDNIGHT + timedelta(seconds=second)).isoformat()

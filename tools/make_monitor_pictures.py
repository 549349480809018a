"""Make the pictures of `streamgauge monitor` in docs/ from a node that runs on the arm engine.

python tools/make_monitor_pictures.py [--record FILE]

The node assesses the made-up home: a prediction a minute, the truth 40 minutes late, a report line every ten
minutes. On the fifth day the sensor of one room fails, so that there is something to see. Minutes pass in no
time; the lines get the times at which they would have come.
"""

from __future__ import annotations

import argparse
import io
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from rich.console import Console

from streamgauge import example, firmware
from streamgauge.engines import get_engine
from streamgauge.files import Recording, read_pair
from streamgauge.monitor.figure import draw
from streamgauge.monitor.history import History
from streamgauge.monitor.listen import Listener, stamp
from streamgauge.monitor.view import Status, view
from streamgauge.picture import _FORMAT as FORMAT
from streamgauge.picture import _THEME as THEME
from streamgauge.profile import compile_config, load_profile
from streamgauge.segments import Segments

DOCS = Path(__file__).parents[1] / "docs"
DAYS, FAILS_ON_DAY, LATE_SLICES, SLICES_A_LINE = 9, 5, 40, 10
WIDTH = 118
BEGIN = 1767571200.0  # a Monday, 00:00 UTC

PROGRAM = """
import gc, json, sys
import gauge
from gauge.labels import Labels
from gauge.line import Line
with open("config.json") as file:
    config = json.load(file)
node = gauge.Node(config)
Labels(node)
node._store("gauge")
line = Line(node)
size, late, every = config["slice"], %d, %d
b = bytearray(2)
with open("slices.bin", "rb") as now, open("slices.bin", "rb") as then:
    i = 0
    while now.readinto(b):
        node.predict(i * size, b[1])
        if i >= late:
            then.readinto(b)
            node.truth((i - late) * size, b[0])
        i += 1
        if i %% every == 0:
            gc.collect()
            line.write(sys.stdout)
        if i %% 1440 == 0:
            node.save()
"""


def by_slice(segments: Segments, begin: int, end: int, size: int) -> np.ndarray:
    """Return the label at the first tick of each slice."""
    at = np.searchsorted(segments.start, np.arange(begin, end, size), side="right") - 1
    return segments.label[at].astype(np.uint8)


def lines(recording: Recording) -> Iterator[bytes]:
    """Run the node and yield its report lines."""
    task = recording.task
    begin, end = recording.span
    sides = [by_slice(side, begin, end, task.slice_ticks) for side in (recording.truth, recording.prediction)]
    truth, prediction = (side[: DAYS * 1440] for side in sides)
    fails = np.arange(len(prediction)) >= (FAILS_ON_DAY - 1) * 1440
    awake = np.bincount(truth[truth < len(task.labels)])
    awake[[0, task.labels.index("sleep")]] = 0
    prediction[fails & (prediction == int(np.argmax(awake)))] = 0
    profile = load_profile("sensor").with_values(
        {"estimators.on": ["align", "slices", "prequential", "page_hinkley"]}
    )
    engine = get_engine("arm")
    files = {
        **firmware.build(engine.march),
        "config.json": json.dumps({**compile_config(profile, task), "save_s": 86400}).encode(),
        "slices.bin": np.stack((truth, prediction), axis=1).tobytes(),
    }
    output = engine.run(PROGRAM % (LATE_SLICES, SLICES_A_LINE), files, heap_bytes=profile.heap_bytes)
    yield from (line.encode() for line in output.stdout.splitlines())


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the pictures of the monitor.")
    parser.add_argument("--record", type=Path, help="keep the lines in this file too")
    options = parser.parse_args()
    truth, prediction, reading = example.builtin()
    history, recorded = History(), io.StringIO()
    listener = Listener(history, recorded)
    for number, line in enumerate(lines(read_pair(truth, prediction, reading)), 1):
        at = BEGIN + 60 * SLICES_A_LINE * number
        if not listener.line(line, at):
            raise SystemExit(f"not a report line at {stamp(at)}: {line!r}")
    if options.record is not None:
        options.record.write_text(recorded.getvalue(), encoding="ascii", newline="\n")
    DOCS.mkdir(exist_ok=True)
    status = Status("/dev/ttyACM0", now=history.received_at + 3)
    console = Console(
        record=True,
        width=WIDTH,
        file=io.StringIO(),
        force_terminal=True,
        color_system="truecolor",
        highlight=False,
        _environ={},
    )
    console.print(view(history, status, WIDTH))
    title = "streamgauge monitor /dev/ttyACM0"
    svg = console.export_svg(title=title, theme=THEME, code_format=FORMAT, unique_id="monitor")
    (DOCS / "monitor.svg").write_text(svg, encoding="utf-8", newline="\n")
    draw(history, DOCS / "monitor_curves.png", timed=True, title="/dev/ttyACM0, nine days")
    print(f"{history.lines} lines, {len(history.events)} events; pictures in {DOCS}")


if __name__ == "__main__":
    main()

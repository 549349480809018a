"""Write firmware/gauge/selftest.py: inputs, and the numbers the node's model (CPython) makes of them.

python tools/make_selftest.py          writes it
python tools/make_selftest.py --check  says whether it is as it should be (exit code 1: not)

tests/host/test_selftest.py holds the stored numbers against the host's own formulas, so that a fault of the
model is not carried over to the boards.
"""

from __future__ import annotations

import argparse
import importlib.util
import random
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from streamgauge import firmware
from streamgauge.profile import compile_config, load_profile
from streamgauge.profile_keys import ESTIMATORS
from streamgauge.task import Task

PATH = Path(__file__).parents[1] / "firmware" / "gauge" / "selftest.py"
LABELS = 5
HOLDOUT = 20
# Long, because a port without a native emitter takes its time for every record of segments of 2^28 ticks.
SLICE = 16387
UNKNOWN = 255
SEED = 0

TEMPLATE = '''"""Kernels against stored vectors: `run()` on a board says whether it computes as it should.

Made by tools/make_selftest.py; not to be edited.
"""

from gauge.node import Node

_CONFIG = {config}

# One label a slice, for the one-sample entries and then for the batch entries: truth, prediction.
_SAMPLES = ({samples})
_BATCHES = ({batches})

# Segments, three bytes each: label, and its length in ticks as a number and how far that is shifted left.
# Some last up to 2^28 ticks, and together they pass the end of the clock at 2^30.
_SEGMENTS = ({segments})

# What `Node.raw()` holds afterwards, part by part, keys in order of the alphabet.
_EXPECTED = {{
{expected}}}


def _numbers(value, into):
    if isinstance(value, dict):
        for key in sorted(value):
            _numbers(value[key], into)
    elif isinstance(value, (list, tuple)):
        for item in value:
            _numbers(item, into)
    else:
        into.append(int(value))
    return into


def _segments(node):
    at = [0, 0]
    sides = (node.truth_segment, node.predict_segment)
    i = [0, 0]
    while True:
        # The one that ends first comes first, as in life.
        best = None
        for side in range(2):
            data = _SEGMENTS[side]
            if i[side] < len(data):
                end = at[side] + (data[i[side] + 1] << data[i[side] + 2])
                if best is None or end < best[1]:
                    best = (side, end)
        if best is None:
            return
        side, end = best
        sides[side](_SEGMENTS[side][i[side]], at[side] & 0x3FFFFFFF, end & 0x3FFFFFFF)
        at[side] = end
        i[side] += 3


def _levels(node, side, tell):
    # Boundaries of two levels: where the labels change, and every third of these.
    labels = _SAMPLES[side]
    found = 0
    for i in range(1, len(labels) + 1):
        if i == len(labels) or labels[i] != labels[i - 1]:
            found += 1
            tell(1, i * _CONFIG["slice"])
            if i == len(labels) or found % 3 == 0:
                tell(0, i * _CONFIG["slice"])


def raw(config=_CONFIG):
    """The figures of a node that was told all of the inputs."""
    node = Node(config)
    _segments(node)
    node.finish()
    t = 0x3FFF0000
    for i in range(len(_SAMPLES[0])):
        node.predict_b(t, _BATCHES[1][i] if _BATCHES[1][i] < 5 else 0)
        node.predict_with(t, _SAMPLES[1][i], (i * 37) & 255)
        node.truth(t, _SAMPLES[0][i])
        t = (t + config["slice"]) & 0x3FFFFFFF
    node.finish()
    if "holdout" in node.parts:
        node.holdout(bytes([i % 5 for i in range(20)]))
    if "hierarchy" in node.parts:
        _levels(node, 0, node.truth_level)
        _levels(node, 1, node.predict_level)
        node.levels_end(len(_SAMPLES[0]) * config["slice"])
    node.predict_batch(t, _BATCHES[1])
    node.truth_batch(t, _BATCHES[0])
    node.finish()
    if node.parts["loss"]:
        for x in _SAMPLES[0]:
            node.loss(x)
    return node.raw()


def run(config=_CONFIG):
    """For each part that a node of this config has: its name, the numbers compared, how many differ,
    and of the first that does its place, what was expected and what came (or None)."""
    chosen = dict(_CONFIG)
    chosen["estimators"] = [name for name in _CONFIG["estimators"] if name in config["estimators"]]
    if not config.get("loss_max"):
        chosen["loss_max"] = 0
    figures = raw(chosen)
    results = []
    for part in sorted(_EXPECTED):
        if part not in figures and part in _CONFIG["estimators"] + ["loss"]:
            continue
        expected = [int(text) for text in _EXPECTED[part].split()]
        got = _numbers(figures.get(part, ()), [])
        different = abs(len(expected) - len(got))
        first = None
        for i in range(min(len(expected), len(got))):
            if expected[i] != got[i]:
                different += 1
                if first is None:
                    first = (i, expected[i], got[i])
        if different and first is None:
            first = (min(len(expected), len(got)), len(expected), len(got))
        results.append((part, len(expected), different, first))
    return results
'''


def config() -> dict[str, Any]:
    """Return the configuration of the node that is tested: small rings, all estimators.

    Whatever is not said here is a profile's default, and the file changes with it.
    """
    profile = load_profile("sensor").with_values(
        {
            "heap.state_bytes": 0,
            "capacity.group": 16,
            "capacity.runs": 32,
            "capacity.pending": 32,
            "capacity.window": 50,
            "prequential.alpha": 0.97,
            "prequential.delta": 0.05,
            "prequential.loss_max": 255,
            "estimators.on": list(ESTIMATORS),
            "page_hinkley.delta": 0.05,
            "page_hinkley.threshold": 3.0,
            "page_hinkley.fading": 0.999,
            "page_hinkley.direction": "both",
            "page_hinkley.warmup": 30,
            "page_hinkley.source": "loss",
            "ddm.level": 2.0,
            "ddm.warmup": 30,
            "adwin.confidence": 0.002,
            "adwin.rows": 6,
            "adwin.per_row": 4,
            "adwin.grain": 4,
            "compare.window": 60,
            "compare.alpha": 0.98,
            "forgetting.alpha": 0.99,
            "reliability.bins": 16,
            "reliability.alpha": 0.99,
            "hierarchy.levels_truth": 2,
            "hierarchy.levels_prediction": 2,
            "hierarchy.window": 7,
            "hierarchy.frame_slices": 1,
            "hierarchy.boundaries": 32,
            "holdout.size": HOLDOUT,
            "holdout.every": 10,
            "holdout.capacity": 2,
        }
    )
    task = Task(("NULL", *"abcd"), None, slice_ticks=SLICE)
    return compile_config(profile, task, holdout=bytes(i // 3 % LABELS for i in range(HOLDOUT)))


def inputs() -> tuple[list[bytes], list[bytes], list[bytes]]:
    """Return samples, batches and segments, truth first."""
    random_ = random.Random(SEED)

    def labels(count: int, mean: int) -> bytes:
        made: list[int] = []
        while len(made) < count:
            made += [random_.randrange(LABELS)] * random_.randint(1, 2 * mean - 1)
        return bytes(made[:count])

    def pair(count: int) -> list[bytes]:
        truth = bytearray(labels(count, 6))
        prediction = bytearray(truth[:1] + truth[:-1])
        for i in range(count):
            if random_.random() < 0.12:
                prediction[i] = random_.randrange(LABELS)
        truth[count // 2 : count // 2 + 4] = bytes([UNKNOWN] * 4)
        # Chance seldom makes a merge: one prediction over two true segments of its label.
        truth[30:38], prediction[30:38] = b"\2\2\2\0\0\2\2\2", b"\2" * 8
        return [bytes(truth), bytes(prediction)]

    def segments(count: int) -> list[bytes]:
        sides = [bytearray(), bytearray()]
        for i in range(count):
            label, length = random_.randrange(LABELS), random_.randrange(120, 256)
            shift = 20 if i % 8 == 7 else random_.choice((0, 5, 11))
            sides[0] += bytes((label, length, shift))
            # Of the same length, so that the two do not run apart: late, in two parts, or something else.
            first = random_.randrange(1, length)
            other = random_.choice((label, label, 0, random_.randrange(LABELS)))
            for part, name in ((first, other), (length - first, label)):
                sides[1] += bytes((name, part, shift))
        return [bytes(side) for side in sides]

    return pair(90), pair(90), segments(30)


def text() -> str:
    """Return the module's text."""
    samples, batches, segments = inputs()
    parts: dict[str, Any] = {
        "config": _dict(config()),
        "samples": _sides(samples),
        "batches": _sides(batches),
        "segments": _sides(segments),
    }
    model = _module(TEMPLATE.format(**parts, expected=""))
    raw = {key: value for key, value in model.raw().items() if key != "version"}
    expected = "".join(
        f'    "{part}": {_wrapped(list(map(str, model._numbers(raw[part], []))))},\n' for part in sorted(raw)
    )
    return _formatted(TEMPLATE.format(**parts, expected=expected))


def _formatted(source: str) -> str:
    """Return the text as the project's formatter has it."""
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(PATH), "-"]
    return subprocess.run(command, input=source, capture_output=True, text=True, check=True).stdout


def _module(source: str) -> ModuleType:
    firmware.node_model()
    spec = importlib.util.spec_from_loader("selftest_model", loader=None)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    exec(compile(source, "selftest.py", "exec"), module.__dict__)
    return module


def _dict(values: dict[str, Any]) -> str:
    rows = "".join(f"    {_quoted(key)}: {_literal(value)},\n" for key, value in values.items())
    return "{\n" + rows + "}"


def _literal(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_literal, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_quoted(key)}: {_literal(item)}" for key, item in value.items()) + "}"
    return _quoted(value) if isinstance(value, str) else repr(value)


def _quoted(value: str) -> str:
    return '"' + value + '"'


def _sides(sides: list[bytes]) -> str:
    """Return two bytes literals, cut into lines."""
    made = ""
    for data in sides:
        made += "    (\n"
        for at in range(0, len(data), 24):
            made += '        b"' + "".join(f"\\x{byte:02x}" for byte in data[at : at + 24]) + '"\n'
        made += "    ),\n"
    return "\n" + made


def _wrapped(numbers: list[str], width: int = 90) -> str:
    """Return a text of the numbers, cut into lines where it is long."""
    lines, line = [], ""
    for number in numbers:
        if len(line) + len(number) > width:
            lines.append(line)
            line = ""
        line += number + " "
    lines.append(line.rstrip())
    if len(lines) == 1:
        return f'"{lines[0]}"'
    return "(\n" + "".join(f'        "{line}"\n' for line in lines) + "    )"


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the node's self-test.")
    parser.add_argument("--check", action="store_true", help="only say whether it would change")
    options = parser.parse_args()
    made = text()
    if options.check:
        sys.exit(0 if PATH.is_file() and PATH.read_text(encoding="utf-8") == made else 1)
    PATH.write_text(made, encoding="utf-8", newline="\n")
    print(f"{PATH.name}: {len(made):,} characters")


if __name__ == "__main__":
    main()

"""After construction nothing is allocated: on 32 and 64 bits, whatever comes, on every line of an update.

Three proofs. Long random streams through every entry request 0 bytes in all and pass under a locked heap. They
reach every line that an update can reach. And no function of an update has a frame so large that MicroPython
would take it from the heap, so that no rare path allocates for a moment.
"""

from __future__ import annotations

import ast
import linecache
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from types import CodeType, FrameType
from typing import Any

import pytest
from node.harness import PROGRAMS, UNKNOWN, WRAP, Calls, calls_file, config, play_here, run

from gauge import align, confidence, join, loss, node, prequential, pump, runs, samples, slices
from streamgauge import firmware
from streamgauge.engines import Engine

# Words of state and of exception blocks that MicroPython keeps on the C stack (py/vm.c, objfun.c).
FRAME_WORDS = 11

# Functions that no update calls: construction, and what a read-out says.
NO_UPDATE = {
    "ledger": {"LedgerFull.__init__", "Ledger.__init__", "Ledger._take", "Ledger.take", "Ledger.take_bytes"},
    "runs": {"latest", "behind", "give_up", "_address"},
    "join": {"layout", "new_epoch", "epoch", "position", "heard", "crowded", "told", "figures", "raw"},
    "align": {
        "_long",
        "Align.__init__",
        "Align._stat",
        "Align.row",
        "Align.raw",
    },
    "slices": {"Slices.__init__", "Slices.raw"},
    "prequential": {
        "fraction_bits",
        "present",
        "Prequential.__init__",
        "Prequential.count",
        "Prequential.figures",
        "Prequential.raw",
    },
    "loss": {"Losses.__init__", "Losses.raw"},
    "confidence": {"missed"},
    "pump": set(),
    "samples": {"entries"},
    "node": {
        "Node.__init__",
        "Node._absent",
        "Node._settle",
        "Node.alarm",
        "Node.holdout_due",
        "Node.holdout",
        "Node.save",
        "Node.resume",
        "Node._store",
        "Node.memory",
        "Node.report",
        "Node.raw",
    },
}
# What these streams do not have: levels, labels over a wire.
UNREACHED = (
    'self.parts["hierarchy"]',
    "self.labels.waiting",
    # Only a real interrupt comes between the check at an update's begin and the one at its end.
    "_catch_up(node)",
)


def singly(told: Any, rng: Random, n: int, slice_ticks: int, labels: int, origin: int) -> None:
    """Both sides sample by sample: mostly in step, now and then everything else."""
    at = [origin % WRAP, origin % WRAP]
    label = [0, 0]
    for _ in range(n):
        side = rng.randrange(2)
        if rng.random() < 0.05:
            # One side runs ahead, so that rings fill.
            side = rng.randrange(2)
            for _ in range(rng.randrange(20)):
                label[side] = rng.randrange(labels)
                (told.predict if side else told.truth)(at[side], label[side])
                at[side] = (at[side] + slice_ticks) % WRAP
            continue
        chance = rng.random()
        t = at[side]
        if chance < 0.3:
            label[side] = rng.randrange(labels) if side or rng.random() < 0.8 else UNKNOWN
        elif chance < 0.34:
            t += rng.randrange(1, 4 * slice_ticks)
        elif chance < 0.36:
            t -= rng.randrange(1, 3 * slice_ticks)
        elif chance < 0.365 and slice_ticks > 1 << 16:
            # (With small slices each of these would be millions of records.)
            t += rng.choice([1 << 27, 1 << 28, (1 << 28) + 5, 3 << 27, (1 << 29) - slice_ticks])
        elif chance < 0.375 and slice_ticks > 1 << 16:
            t += rng.choice([1 << 29, (1 << 29) + 1, 3 << 28, -(1 << 28)])
        elif chance < 0.4:
            bad = rng.choice([-1, labels, 200, 254, 256, 1 << 20, WRAP - 1])
            (told.predict if side else told.truth)(t % WRAP, bad)
            continue
        elif chance < 0.45 and side:
            told.predict_b(t % WRAP, rng.choice([0, 1, labels - 1, labels, -1]))
        t %= WRAP
        if side and rng.random() < 0.2:
            told.predict_with(t, label[1], rng.randrange(256))
        else:
            (told.predict if side else told.truth)(t, label[side])
        ahead = (t + slice_ticks - at[side]) % WRAP
        if 0 < ahead < 1 << 29:
            at[side] = (t + slice_ticks) % WRAP
        if rng.random() < 0.001:
            told.finish()


def segments(told: Any, rng: Random, n: int, longest: int, labels: int, origin: int, over: float) -> None:
    """Both sides segment by segment; `over` is how often one begins inside the one before it."""
    end = [origin, origin]
    start = [origin, origin]
    for _ in range(n):
        side = rng.randrange(2) if rng.random() < 0.4 else int((end[1] - end[0]) % WRAP > WRAP // 2)
        a = end[side] + (told.config["closed"] if end[side] > origin else 0)
        chance = rng.random()
        if chance < over:
            a = rng.randint(start[side], end[side])
        elif chance < over + 0.05:
            a += rng.randrange(1, 2 * longest)
        elif chance < over + 0.06 and longest > 1 << 16:
            a += 1 << 28
        b = max(end[side], a + rng.randint(1, longest))
        label = UNKNOWN if side == 0 and rng.random() < 0.1 else rng.randrange(labels)
        segment = told.predict_segment if side else told.truth_segment
        if rng.random() < 0.06:
            # Of no length, too long, out of order, inside the last, of no label.
            far = 1 << 29 if longest > 1 << 16 else 0
            wrong = rng.choice(
                [
                    (label, a, a - 1),
                    (label, a, a + (1 << 28) + 9),
                    (label, start[side] - 9, start[side] - 2),
                    (label, start[side] - 9, b),
                    (label, end[side] - 1, end[side]),
                    (labels, a, b),
                    (-1, a, b),
                    (label, start[side] - 9 + far, start[side] - 2 + far),
                ]
            )
            segment(wrong[0], wrong[1] % WRAP, wrong[2] % WRAP)
        else:
            segment(label, a % WRAP, b % WRAP)
            start[side], end[side] = a, b
        if rng.random() < 0.002:
            told.finish()


def batches(told: Any, rng: Random, n: int, slice_ticks: int, labels: int, origin: int) -> None:
    at = [origin, origin]
    for _ in range(n):
        side = rng.randrange(2)
        series = bytearray()
        for _ in range(rng.randrange(8)):
            label = rng.randrange(labels) if rng.random() < 0.9 else rng.choice([UNKNOWN, labels, 200])
            series += bytes([label]) * rng.choice([1, 2, 3, 8, 40])
        t = at[side]
        if rng.random() < 0.1:
            t += rng.randrange(-3 * slice_ticks, 4 * slice_ticks)
        (told.predict_batch if side else told.truth_batch)(t % WRAP, bytes(series))
        at[side] = t + len(series) * slice_ticks
        if rng.random() < 0.5:
            # The other side follows.
            gone = (at[side] - at[1 - side]) // slice_ticks
            if 0 < gone < 2000:
                series = bytes([rng.randrange(labels)]) * gone
                (told.truth_batch if side else told.predict_batch)(at[1 - side] % WRAP, series)
                at[1 - side] += gone * slice_ticks


def streams() -> Iterator[Calls]:
    rng = Random(31)
    for slice_ticks, runs_, pending in ((1, 4, 4), (7, 64, 16), (1 << 20, 16, 8), (1 << 26, 4, 4)):
        for group in (1, 16):
            made = config(
                5, slice=slice_ticks, runs=runs_, pending=pending, group=group, gaps_unknown=int(group == 1)
            )
            made["estimators"] = [*made["estimators"], "reliability"]
            made["options"] = {"reliability": {"changes": 8 if group == 1 else 64}}
            told = Calls(made)
            singly(told, rng, 1500, slice_ticks, 5, WRAP - 400 * slice_ticks)
            yield told
            told = Calls(made)
            batches(told, rng, 120, slice_ticks, 5, WRAP - 100 * slice_ticks)
            yield told
    for closed, overlap, pending, longest in (
        (0, 0, 4, 9),
        (1, 0, 16, 9),
        (0, 1, 4, 9),
        (1, 1, 8, 1 << 20),
        (0, 1, 64, 1 << 24),
        (0, 0, 8, 1 << 28),
    ):
        made = config(5, closed=closed, overlap=overlap, pending=pending, runs=8, slice=max(1, longest >> 12))
        made["estimators"] = [*made["estimators"], "reliability"]
        made["options"] = {"reliability": {"bins": 4}}
        told = Calls(made)
        segments(told, rng, 1500, longest, 5, WRAP - 500, 0.5 * overlap + 0.01)
        if overlap:
            told.truth(5, 1)
            told.predict_batch(7, bytes([1, 1, 2]))
            told.predict_with(9, 1, 77)
        yield told
    # One long truth with a crowd of predictions inside, and the mirror: commits are forced.
    for side in range(2):
        told = Calls(config(5, pending=4, runs=256, overlap=side))
        for i in range(200):
            (told.truth_segment if side else told.predict_segment)(i % 5, 3 * i, 3 * i + 3)
        (told.predict_segment if side else told.truth_segment)(1, 0, 600)
        told.finish()
        yield told
    told = Calls(config(5, loss_max=1000, window=50))
    for i in range(400):
        if i == 300:
            # As if the window's sum had come down to 2^30: the next loss that leaves it borrows.
            told.poke("loss", loss._INSIDE, 0)
            told.poke("loss", loss._INSIDE + 1, 1)
            # And as if count and sum were about to reach it.
            told.poke("loss", loss._COUNT, WRAP - 1)
            told.poke("loss", loss._SUM, WRAP - 1)
        told.loss(rng.choice([0, 1, 1000, 999, 1001, -1, WRAP - 1, 500]))
    told.reset()
    told.finish()
    yield told
    # More predictions reach on from unknown time than the ring holds.
    told = Calls(config(5, pending=4, overlap=1))
    told.truth_segment(1, 0, 10)
    told.truth_segment(UNKNOWN, 10, 90)
    told.truth_segment(1, 90, 100)
    for i in range(40):
        told.predict_segment(1 + i % 4, 2 * i, 100 + i)
    told.finish()
    yield told
    # Known time that has no tick of its own: the next true segment takes the only one.
    told = Calls(config(3, overlap=1))
    for label, start, end in ((UNKNOWN, 1, 3), (0, 2, 3), (2, 2, 4)):
        told.truth_segment(label, start, end)
    told.predict_segment(0, 2, 3)
    told.truth_segment(UNKNOWN, 4, 6)
    told.predict_segment(2, 2, 3)
    told.finish()
    yield told
    # One side alone, then another recording.
    told = Calls(config(5))
    told.predict(5, 1)
    told.finish()
    told.truth_segment(1, 3, 9)
    told.finish()
    yield told
    # As an interrupt handler meets a node that is busy: samples wait, others are counted.
    made = config(5)
    made["estimators"] = [*made["estimators"], "reliability"]
    made["options"] = {"reliability": {}}
    told = Calls(made)
    for i in range(200):
        told.predict_with(i, i % 3, i)
        told.truth(i, 1)
        told.poke("join", join._BUSY, 1)
        for k in range(i % 11):
            i_later = min(i + 1 + k // 2, 999)
            if k % 4 == 2:
                told.predict_with(i_later, 1 + 255 * (k % 8 == 2), 16 * k)
            else:
                (told.truth if k % 2 else told.predict)(i_later, 1)
        told.predict_segment(1, 5000, 5001)
        told.truth_batch(5000, bytes([1, 2]))
        told.poke("join", join._BUSY, 0)
    told.reset()
    yield told
    # An alarm makes a part start anew.
    made = config(5, group=1, restart=["prequential"])
    made["estimators"] = [*made["estimators"], "page_hinkley"]
    made["options"] = {"page_hinkley": {"delta": 50_000, "threshold": 5_000_000}}
    told = Calls(made)
    for i in range(400):
        told.predict(i, 1)
        told.truth(i, 1 + (i // 100) % 2)
    yield told
    # Steady labels for longer than the longest run, with confidences that change.
    told = Calls(config(5, slice=1 << 24))
    for i in range(80):
        told.predict_with((i << 24) % WRAP, 1, 16 * (i % 3))
        told.truth((i << 24) % WRAP, 1)
    for i in range(80, 140):
        told.predict((i << 24) % WRAP, 2)
    yield told


@pytest.fixture(scope="module")
def calls() -> bytes:
    return calls_file(streams())


@pytest.mark.parametrize("name", ["arm", "x64"])
def test_no_update_allocates_a_byte_and_a_locked_heap_stops_none(request, name, calls):
    engine: Engine = request.getfixturevalue(name)
    files = {"calls.bin": calls, "play.mpy": _player()}
    said = run(engine, "allocate", files, "drift", "reliability", "confidence", heap=2 << 20, timeout=300)
    assert len(said) == sum(1 for _ in streams())
    for number, (_, nothing, taken, trouble, same) in enumerate(said):
        assert (number, nothing, taken, trouble, same) == (number, 0, 0, "", True)


@pytest.mark.parametrize("name", ["arm", "x64"])
def test_what_the_streams_did_is_the_same_on_an_engine(request, name, calls):
    engine: Engine = request.getfixturevalue(name)
    said = run(
        engine, "play", {"calls.bin": calls}, "drift", "reliability", "confidence", heap=2 << 20, timeout=300
    )
    assert [numbers[0] for numbers in said] == [numbers[0] for numbers in play_here(calls)]


def _player() -> bytes:
    return firmware.compile_source("play.py", (PROGRAMS / "play.py").read_text(encoding="utf-8"), None)


# Every line.


def codes(module: Any) -> Iterator[tuple[str, CodeType]]:
    """Functions of a module by qualified name."""
    path = Path(module.__file__)
    compiled = compile(path.read_text(encoding="utf-8"), str(path), "exec")

    def inside(code: CodeType, prefix: str) -> Iterator[tuple[str, CodeType]]:
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                name = prefix + constant.co_name
                yield name, constant
                yield from inside(constant, name + ".")

    yield from inside(compiled, "")


def test_the_streams_reach_every_line_of_an_update(calls):
    modules = (align, confidence, join, loss, node, prequential, pump, runs, samples, slices)
    wanted: dict[tuple[str, int], str] = {}
    for module in modules:
        short = module.__name__.rpartition(".")[2]
        tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
        classes = {n.name for n in ast.walk(tree) if isinstance(n, ast.ClassDef)}
        elsewhere = {line for n in ast.walk(tree) for line in _elsewhere(n)}
        for name, code in codes(module):
            made = name.rpartition(".")[0]
            if (
                name in NO_UPDATE[short]
                or name in classes
                or (made in NO_UPDATE[short] and short != "samples")
            ):
                continue
            for _, _, line in code.co_lines():
                if line and line > code.co_firstlineno and line not in elsewhere:
                    text = linecache.getline(module.__file__, line)
                    if any(part in text for part in UNREACHED):
                        continue
                    wanted[module.__file__, line] = name
    reached: set[tuple[str, int]] = set()
    files = {module.__file__ for module in modules}
    left: dict[CodeType, set[int]] = {}

    def local(frame: FrameType, event: str, _: Any) -> Any:
        lines = left[frame.f_code]
        lines.discard(frame.f_lineno)
        return local if lines else None

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        code = frame.f_code
        if code.co_filename not in files:
            return None
        if code not in left:
            left[code] = {line for _, _, line in code.co_lines() if (code.co_filename, line) in wanted}
        # Functions whose every line was seen run at full speed.
        return local if left[code] else None

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        play_here(calls)
    finally:
        sys.settrace(before)
    for code, lines in left.items():
        seen = {line for _, _, line in code.co_lines() if line} - lines
        reached |= {(code.co_filename, line) for line in seen}
    missed = []
    for (file, line), name in sorted(wanted.items()):
        text = linecache.getline(file, line).strip()
        if (file, line) not in reached:
            missed.append(f"{file}:{line} in {name}: {text}")
    assert not missed, "\n".join(missed)
    assert len(reached) > 700


def _elsewhere(n: ast.AST) -> range:
    """Lines of a value of a wrong type (test_node.py), and of what machine code alone does."""
    if isinstance(n, ast.ExceptHandler):
        return range(n.lineno, n.end_lineno + 1)
    if isinstance(n, ast.If):
        test = ast.unparse(n.test)
        if test in ("quick", "int(_machine_code)"):
            return range(n.body[0].lineno, n.body[-1].end_lineno + 1)
        if test.startswith("type(") and n.orelse:
            return range(n.orelse[0].lineno, n.orelse[-1].end_lineno + 1)
    return range(0)


# Every frame.


def test_no_function_of_an_update_has_a_frame_from_the_heap():
    large = []
    seen = 0
    for module in NO_UPDATE:
        for name, words in frames(module):
            seen += 1
            if words > FRAME_WORDS and name.split(".<")[0] not in NO_UPDATE[module]:
                large.append(f"{module}.{name}: {words} words")
    assert seen > 60
    assert not large, "\n".join(large)


def frames(module: str) -> Iterator[tuple[str, int]]:
    """Bytecode functions of a compiled module with the words their frames take."""
    path = f"gauge/{module}.py"
    text = firmware.sources()[path]
    reader = FrameReader(firmware.compile_source(path, text, "armv6m"))

    def together(
        scope: ast.AST, found: tuple[int | None, list[Any]], prefix: str
    ) -> Iterator[tuple[str, int]]:
        inner = list(scopes(scope))
        assert len(inner) == len(found[1]), prefix
        for node_, part in zip(inner, found[1], strict=True):
            name = prefix + getattr(node_, "name", f"<{type(node_).__name__}>")
            if part[0] is not None:
                yield name, part[0]
            yield from together(node_, part, name + ".")

    yield from together(ast.parse(text), reader.module(), "")


def scopes(node_: ast.AST) -> Iterator[ast.AST]:
    """What has a code object of its own inside a scope, in the order of the source."""
    kinds = (
        ast.FunctionDef,
        ast.ClassDef,
        ast.Lambda,
        ast.ListComp,
        ast.DictComp,
        ast.SetComp,
        ast.GeneratorExp,
    )
    for child in ast.iter_child_nodes(node_):
        if isinstance(child, kinds):
            yield child
        else:
            yield from scopes(child)


class FrameReader:
    """Walks through a .mpy file (version 6) and reads from each bytecode prelude what its frame takes."""

    def __init__(self, data: bytes) -> None:
        assert data[:2] == b"M\x06"
        self.data = data
        self.at = 4

    def module(self) -> tuple[int | None, list[Any]]:
        strings, objects = self._number(), self._number()
        for _ in range(strings):
            size = self._number()
            if not size & 1:
                self.at += (size >> 1) + 1
        for _ in range(objects):
            self._object()
        return self._function()

    def _number(self) -> int:
        value = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value = value << 7 | byte & 0x7F
            if byte < 0x80:
                return value

    def _object(self) -> None:
        kind = self.data[self.at]
        self.at += 1
        if kind < 5:
            return
        size = self._number()
        if kind == 10:
            for _ in range(size):
                self._object()
        else:
            self.at += size + (kind in (5, 6))

    def _function(self) -> tuple[int | None, list[Any]]:
        head = self._number()
        kind, children, size = head & 3, head & 4, head >> 3
        words = self._frame(self.data[self.at : self.at + size]) if kind == 0 else None
        self.at += size
        for _ in range((0, 1, 1, 3)[kind]):
            self._number()
        return words, [self._function() for _ in range(self._number())] if children else []

    @staticmethod
    def _frame(code: bytes) -> int:
        # MP_BC_PRELUDE_SIG_DECODE of py/bc.h: xSSSSEAA, then xFSSKAED as long as the high bit is set.
        byte = code[0]
        state, blocks = byte >> 3 & 15, byte >> 2 & 1
        n = 0
        while byte & 0x80:
            n += 1
            byte = code[n]
            state |= (byte & 0x30) << 2 * (n - 1)
            blocks |= (byte & 0x02) << (n - 1)
        return state + 1 + 3 * blocks


def test_the_frame_reader_reads_what_is_known(tmp_path):
    text = "def small(a, b):\n    return a + b\ndef large(a):\n" + "".join(
        f"    v{i} = a\n" for i in range(20)
    )
    text += "def tried(a):\n    try:\n        a()\n    except OSError:\n        pass\n"
    found = FrameReader(firmware.compile_source("frames.py", text, None)).module()
    small, large, tried = (words for words, _ in found[1])
    # Two arguments and two operands; 21 locals and one operand; an argument, a block of three words and what
    # handling an exception has on the stack.
    assert (small, large, tried) == (4, 22, 10)

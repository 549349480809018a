"""What the firmware's design takes for granted of the node, checked on the engines it is checked with."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from conftest import absent
from icount import MARK, Counts, count_c, count_micropython
from streamgauge import firmware
from streamgauge.engines import Engine, EngineError, EngineMissing

VIPER = """
import micropython


@micropython.viper
def load(p: ptr32, i: int) -> int:
    return p[i]


@micropython.viper
def load16(p: ptr16, i: int) -> int:
    return p[i]


@micropython.viper
def is_negative(p: ptr32) -> int:
    return 1 if p[0] < 0 else 0


@micropython.viper
def wraps() -> int:
    x = int(0x40000000)
    x = x + x
    return 1 if x < 0 else 0


@micropython.viper
def floor(a: int, b: int) -> int:
    return a // b * 1000 + a % b
"""


def answers(engine: Engine, program: str) -> Any:
    """What a program prints as one Python literal, with the viper functions above at hand as `k`."""
    files = {"k.mpy": firmware.compile_source("k.py", VIPER, engine.march)}
    return ast.literal_eval(
        engine.run("import k\nfrom array import array\n" + program, files, 200_000).stdout
    )


def test_viper_words_are_32_bits_wide_on_arm_and_64_on_x64(arm: Engine, x64: Engine) -> None:
    assert answers(arm, "print(k.wraps())") == 1
    assert answers(x64, "print(k.wraps())") == 0


def test_ptr32_loads_carry_the_sign_on_arm_alone(arm: Engine, x64: Engine) -> None:
    program = "a = array('i', [-5])\nprint(k.load(a, 0), ',', k.is_negative(a))"
    assert answers(arm, program) == (-5, 1)
    assert answers(x64, program) == (2**32 - 5, 0)


def test_ptr16_loads_are_unsigned_everywhere(arm: Engine, x64: Engine) -> None:
    for engine in (arm, x64):
        assert answers(engine, "print(k.load16(array('h', [-2]), 0))") == 65534


def test_viper_division_floors_as_python_does(arm: Engine, x64: Engine) -> None:
    pairs = [(7, 2), (-7, 2), (7, -2), (-7, -2), (0, 3), (-(2**20), 3)]
    program = f"print([k.floor(a, b) for a, b in {pairs}])"
    for engine in (arm, x64):
        assert answers(engine, program) == [a // b * 1000 + a % b for a, b in pairs]


# Heap bytes that one execution takes and keeps until the next collection, on 32 bits.
OPERATIONS = {
    "x = i + 1": 0,
    "o.a = i": 0,
    "o.a += 1": 0,
    "o.method(1)": 0,
    "words[1] = i": 0,
    "x = words[1]": 0,
    "x = b[1] << 8 | b[2]": 0,
    "x = i // 3 + i % 3": 0,
    "x = max(i, 3)": 0,
    "x = k.load(words, 1)": 0,
    "for x in b: pass": 0,
    "x = 0x3FFFFFFF + i": 32,
    "x = i / 3": 16,
    "u = o.method": 16,
    "x = k.load(big, 0)": 32,
    "x = (i, o)": 16,
    "x = b[0:2]": 48,
}


def test_what_allocates_on_the_update_path_is_known_to_the_byte(arm: Engine) -> None:
    tries = "\n".join(
        f"def f{n}(i):\n    for _ in range(10):\n        {line}\nmeasured.append(taken(f{n}))"
        for n, line in enumerate(OPERATIONS)
    )
    program = f"""
import gc
class O:
    def __init__(self):
        self.a = 1
    def method(self, x):
        return x
o = O()
b = bytearray(range(8))
words = array('i', [1, 2, 3])
big = array('i', [0x7FFFFFF0])
measured = []
def taken(f):
    f(5)
    gc.collect()
    before = gc.mem_free()
    f(5)
    return (before - gc.mem_free()) // 10
{tries}
print(measured)
"""
    # The call of `taken` and the numbers it keeps cost less than one operation's ten executions.
    measured = answers(arm, program)
    assert dict(zip(OPERATIONS, measured, strict=True)) == OPERATIONS


def test_mem_total_sees_what_heap_lock_lets_pass(arm: Engine) -> None:
    many = ", ".join(f"a{i}=0" for i in range(12))
    program = f"""
import micropython
def wide({many}):
    return a0
def narrow(a):
    return a
def total(f):
    f(1)
    micropython.heap_lock()
    before = micropython.mem_total()
    f(1)
    after = micropython.mem_total()
    micropython.heap_unlock()
    return after - before
print(total(narrow), ',', total(wide) > 0)
"""
    assert answers(arm, program) == (0, True)


def test_an_array_of_words_costs_its_bytes_and_one_block(arm: Engine) -> None:
    program = """
import gc
def cost(n):
    zeros = bytes(4 * n)
    gc.collect()
    before = gc.mem_free()
    a = array('i', zeros)
    gc.collect()
    return before - gc.mem_free()
print([cost(n) for n in (100, 1000)])
"""
    for n, cost in zip((100, 1000), answers(arm, program), strict=True):
        assert 4 * n <= cost <= 4 * n + 48


def test_96k_of_heap_leave_about_95_kb(arm: Engine) -> None:
    free = int(arm.run("import gc\ngc.collect()\nprint(gc.mem_free())", heap_bytes=96 * 1024).stdout)
    assert 94_500 < free < 96 * 1024


def counted(call: Callable[[], Counts]) -> Counts:
    """Counts, or a skip where this machine cannot count."""
    try:
        return call()
    except EngineMissing as trouble:
        absent(str(trouble))


LOOP = """
import micropython
@micropython.viper
def loop(n: int) -> int:
    s = 0
    for i in range(n):
        s += i
    return s
mark(); loop(1000); mark(); loop(2000); mark(); loop(3000); mark()
"""


def test_a_loops_instructions_are_counted_the_same_in_every_run(
    arm: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = counted(partial(count_micropython, MARK + LOOP))
    monkeypatch.setenv("STREAMGAUGE_SOMETHING", "x" * 300)
    second = count_micropython(MARK + LOOP)
    assert first.between == second.between
    one, two, three = first.between
    # Marks and calls cancel in the differences but for where the heap happens to stand.
    assert 14 <= (two - one) / 1000 <= 22
    assert three - two == pytest.approx(two - one, rel=0.1)


C_LOOP = r"""
#include <stdlib.h>
#include <unistd.h>
int main(int count, char **arguments)
{
    int n = atoi(arguments[1]);
    unlink("@");
    __asm__ volatile(".syntax unified\n1: nop\n subs %0, %0, #1\n bne 1b" : "+r"(n) : : "cc");
    unlink("@");
    return 0;
}
"""


def test_a_c_loop_of_known_length_costs_exactly_its_instructions(tmp_path: Path) -> None:
    source = tmp_path / "loop.c"
    source.write_text(C_LOOP)
    one, two, four = (counted(partial(count_c, [source], [str(n)])).between[0] for n in (1000, 2000, 4000))
    # Three instructions a turn.
    assert (two - one, four - two) == (3000, 6000)


def test_a_c_program_that_does_not_compile_shows_the_compilers_words(tmp_path: Path) -> None:
    source = tmp_path / "bad.c"
    source.write_text("int main(void) { return nothing; }\n")
    with pytest.raises(EngineError, match="nothing"):
        counted(partial(count_c, [source]))

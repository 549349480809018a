"""A confusion matrix that forgets with stream time: every labelled record fades every cell.

No cell is touched for it but the record's own: a record adds its present weight (fade.py), and a cell is to
be divided by it. When the clock halves its weight, every row owes a halving, and pays what it owes when its
label next occurs.
"""

import sys

if sys.implementation.name == "micropython":
    import micropython
    from micropython import const
else:
    from gauge._cpython import const, micropython, ptr32

from gauge import fade

_M = const(0x3FFFFFFF)
_UNKNOWN = const(255)
_ENTRY = const(8)

# The clock, see fade.py.
_GROWTH = const(0)
_BLOCK = const(1)
_SHIFT = const(2)
_WEIGHT = const(3)
_CARRY = const(4)
_PLACE = const(5)
_DONE = const(6)
_TABLE = const(7)

_LABELS = const(24)
_HALVED = const(25)  # how often the weight was, modulo 2^30
_COUNT = const(26)  # two limbs
_UNLABELLED = const(28)
_ROWS = const(30)  # per label: halvings paid, then the cells


@micropython.viper
def feed(w: ptr32, n: int, a, b: ptr32, entries: int):
    """Takes `entries` entries of the join."""
    # One function without calls: a call costs as much as five records.
    block = w[_BLOCK]
    shift = w[_SHIFT] - 1
    width = w[_LABELS] + 1
    halved = w[_HALVED]
    j = w[_PLACE]
    done = w[_DONE]
    lo = w[_WEIGHT]
    h = lo >> 15
    lo &= 0x7FFF
    e = 0
    entries *= _ENTRY
    while e < entries:
        left = b[e + 4]
        g = b[e]
        i = _COUNT
        if g == _UNKNOWN:
            i = _UNLABELLED
        n = w[i] + left
        if n > _M:
            n &= _M
            w[i + 1] = w[i + 1] + 1
        w[i] = n
        if g != _UNKNOWN:
            o = _ROWS + g * width
            i = o + 1 + (b[e + 1] & 255)
            while left:
                n = halved - w[o]
                if n:
                    # The row's cells are halved as often as the weight was since it was last here.
                    w[o] = halved
                    n = (n & _M) - 1
                    if n > 30:
                        n = 30
                    c = o + width
                    while c > o + 1:
                        c -= 1
                        d = w[c]
                        if d:
                            w[c] = (d >> n) + 1 >> 1
                n = block - j
                if n > left:
                    n = left
                left -= n
                j += n
                c = w[_TABLE + j]
                d = c >> 15
                c = h * d + (h * (c & 0x7FFF) + lo * d >> 15)
                c = (c >> shift) + 1 >> 1
                w[i] = w[i] + c - done
                done = c
                if j == block:
                    # The clock goes on as in fade.py.
                    j = 0
                    done = 0
                    d = w[_GROWTH] >> 15
                    n = w[_GROWTH] & 0x7FFF
                    c = w[_CARRY] + h * n + lo * d + (lo * n >> 15)
                    n = w[_WEIGHT] + h * d + (c >> 15)
                    c &= 0x7FFF
                    if n >= int(0x40000000):
                        c = (c | (n & 1) << 15) >> 1
                        n >>= 1
                        halved = (halved + 1) & _M
                    w[_CARRY] = c
                    w[_WEIGHT] = n
                    h = n >> 15
                    lo = n & 0x7FFF
        e += _ENTRY
    w[_PLACE] = j
    w[_DONE] = done
    w[_HALVED] = halved


class Forgetting:
    """decay: 1 - alpha in 30 bits, from 2^10 to 2^29."""

    def __init__(self, ledger, labels, decay):
        if not 1 << 10 <= decay <= 1 << 29:
            raise ValueError("alpha must be from 0.5 to 1 - 2^-20")
        self.w = w = ledger.take("forgetting", _ROWS + labels * (labels + 1))
        fade.setup(w, decay)
        w[_LABELS] = labels

    def reset(self):
        w = self.w
        for i in range(_WEIGHT, _DONE + 1):
            w[i] = 0
        for i in range(_HALVED, len(w)):
            w[i] = 0
        w[_WEIGHT] = 1 << 29

    def raw(self):
        w = self.w
        k = w[_LABELS]
        cells = []
        for row in range(k):
            o = _ROWS + row * (k + 1)
            # The row goes on owing: reading changes nothing.
            owed = min((w[_HALVED] - w[o]) & _M, 31)
            cells.append([(w[o + 1 + i] + (1 << owed >> 1)) >> owed for i in range(k)])
        return {
            "n": w[_COUNT] + (w[_COUNT + 1] << 30),
            "unlabelled": w[_UNLABELLED] + (w[_UNLABELLED + 1] << 30),
            "weight_q20": fade.present(w),
            "cells": cells,
        }

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
from gauge.fade import turn

_M = const(0x3FFFFFFF)
_UNKNOWN = const(255)
_ENTRY = const(8)

# The clock, see fade.py.
_BLOCK = const(1)
_SHIFT = const(2)
_WEIGHT = const(3)
_PLACE = const(5)
_TABLE = const(6)

_LABELS = const(23)
_HALVED = const(24)  # how often the weight was, modulo 2^30
_DONE = const(25)  # what the block's records have added
_COUNT = const(26)  # two limbs
_UNLABELLED = const(28)
_ROWS = const(30)  # per label: halvings paid, then the cells


@micropython.viper
def _pay(w: ptr32, row: int):
    # The row's cells are halved as often as the weight was since it was last here.
    o = _ROWS + row * (w[_LABELS] + 1)
    k = (w[_HALVED] - w[o]) & _M
    w[o] = w[_HALVED]
    if k > 31:
        k = 31
    k -= 1
    i = o + w[_LABELS]
    while i > o:
        c = w[i]
        if c:
            w[i] = (c >> k) + 1 >> 1
        i -= 1


@micropython.viper
def feed(a, b: ptr32, entries: int):
    """Takes `entries` entries of the join."""
    w = ptr32(a)
    e = 0
    entries *= _ENTRY
    while e < entries:
        left = b[e + 4]
        g = b[e]
        i = _COUNT
        if g == _UNKNOWN:
            i = _UNLABELLED
        n = w[i] + left
        w[i] = n & _M
        if n > _M:
            w[i + 1] = w[i + 1] + 1
        if g != _UNKNOWN:
            o = _ROWS + g * (w[_LABELS] + 1)
            i = o + 1 + (b[e + 1] & 255)
            while left:
                if w[o] != w[_HALVED]:
                    _pay(a, g)
                j = w[_PLACE]
                n = w[_BLOCK] - j
                if n > left:
                    n = left
                left -= n
                j += n
                d = w[_TABLE + j]
                h = w[_WEIGHT]
                lo = h & 0x7FFF
                h >>= 15
                h = h * (d >> 15) + (h * (d & 0x7FFF) + lo * (d >> 15) >> 15)
                h = (h >> w[_SHIFT] - 1) + 1 >> 1
                w[i] = w[i] + h - w[_DONE]
                w[_DONE] = h
                w[_PLACE] = j
                if j == w[_BLOCK]:
                    w[_DONE] = 0
                    if int(turn(a, _WEIGHT)):
                        w[_HALVED] = (w[_HALVED] + 1) & _M
        e += _ENTRY


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
        for i in range(_WEIGHT, _PLACE + 1):
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

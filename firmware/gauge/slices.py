"""Slices (van Kasteren): every tick is correct, S, D, I, U, O, F or M.

One pass with O(1) state: NULL ticks inside a run wait until its next hit or its end tells whether
they are deletion, underfill or fragmentation (insertion, overfill or merge on the predicted side).
A run is a stretch of one label; touching segments of one label are one run.
"""

import sys

if sys.implementation.name == "micropython":
    import micropython
    from micropython import const
else:
    from gauge._cpython import const, micropython, ptr32

_M = const(0x3FFFFFFF)
_UNKNOWN = const(255)
_ENTRY = const(8)

_LABELS = const(0)
# Sides: truth at 1, prediction at 5.
_LABEL = const(0)  # of the open run; 0: none, nothing of NULL is ever pending
_HIT = const(1)
_PENDING = const(2)  # two limbs
_SIDE = const(1)
_SIDE_WORDS = const(4)
_TABLES = const(9)
# Categories: tables of labels * 2 words.
_TP = const(0)
_SG = const(1)
_SI = const(2)
_D = const(3)  # D U F of the truth side, I O M of the predicted side follow each other
_CATEGORIES = const(9)


@micropython.viper
def _settle(w: ptr32, side: int, category: int):
    s = _SIDE + _SIDE_WORDS * side
    i = _TABLES + 2 * ((category + 3 * side) * w[_LABELS] + w[s + _LABEL])
    n = w[i] + w[s + _PENDING]
    w[i] = n & _M
    w[i + 1] = w[i + 1] + w[s + _PENDING + 1] + (n >> 30)
    w[s + _PENDING] = 0
    w[s + _PENDING + 1] = 0


@micropython.viper
def feed(w: ptr32, n: int, a, b: ptr32, count: int):
    """Takes `count` entries of the join. (`a` is the state `w` as an object; `n` is an argument because the
    first two live in registers.)"""
    labels = w[_LABELS]
    e = 0
    count *= _ENTRY
    while e < count:
        n = b[e + 3]
        if n or b[e + 5] & 16:
            g = b[e]
            p = b[e + 1] & 255
            if g == _UNKNOWN:
                # A hard edge: nothing is known beyond it.
                p = 256
            # A run ends where its label does; what is pending was before its first or after its last hit.
            if w[_SIDE + _LABEL] != g:
                if w[_SIDE + _PENDING] or w[_SIDE + _PENDING + 1]:
                    _settle(a, 0, _D + w[_SIDE + _HIT])
                w[_SIDE + _LABEL] = g
                w[_SIDE + _HIT] = 0
            if w[_SIDE + _SIDE_WORDS + _LABEL] != p:
                if w[_SIDE + _SIDE_WORDS + _PENDING] or w[_SIDE + _SIDE_WORDS + _PENDING + 1]:
                    _settle(a, 1, _D + w[_SIDE + _SIDE_WORDS + _HIT])
                w[_SIDE + _SIDE_WORDS + _LABEL] = p
                w[_SIDE + _SIDE_WORDS + _HIT] = 0
            if g == _UNKNOWN:
                i = 0
            elif g == p:
                if g:
                    for side in range(2):
                        i = _SIDE + _SIDE_WORDS * side
                        if w[i + _PENDING] or w[i + _PENDING + 1]:
                            _settle(a, side, _D + 1 + w[i + _HIT])
                        w[i + _HIT] = 1
                i = _TABLES + 2 * (_TP * labels + g)
            elif g == 0:
                i = _SIDE + _SIDE_WORDS + _PENDING
            elif p == 0:
                i = _SIDE + _PENDING
            else:
                i = _TABLES + 2 * (_SI * labels + p)
                n += w[i]
                w[i] = n & _M
                w[i + 1] = w[i + 1] + (n >> 30)
                n = b[e + 3]
                i = _TABLES + 2 * (_SG * labels + g)
            if i:
                n += w[i]
                w[i] = n & _M
                w[i + 1] = w[i + 1] + (n >> 30)
        e += _ENTRY


class Slices:
    """labels: NULL included."""

    def __init__(self, ledger, labels):
        self.w = ledger.take("slices", _TABLES + 2 * _CATEGORIES * labels)
        self.w[_LABELS] = labels

    def reset(self):
        w = self.w
        for i in range(1, len(w)):
            w[i] = 0

    def raw(self):
        """Ticks per category and label, settled as if the recording ended now."""
        w = self.w
        k = w[_LABELS]
        out = {}
        names = ("tp", "sg", "si", "d", "u", "f", "i", "o", "m")
        for c in range(_CATEGORIES):
            i = _TABLES + 2 * c * k
            out[names[c]] = [w[i + 2 * n] + (w[i + 2 * n + 1] << 30) for n in range(k)]
        for side in range(2):
            s = _SIDE + _SIDE_WORDS * side
            pending = w[s + _PENDING] + (w[s + _PENDING + 1] << 30)
            if pending:
                out[("d", "u", "i", "o")[2 * side + w[s + _HIT]]][w[s + _LABEL]] += pending
        return out

"""Reliability table: how often a confidence is right, and how often each occurs where nobody knows.

Confidences of 0 to 255 fall into equal bins. Of each bin: labelled records, those that were right, the sum of
their confidences (in 256ths), and records without truth. Labelled columns fade with every labelled record,
the last column with every record without truth, each by a clock of its own (fade.py).

Without fading every record weighs 256; when a bin reaches 2^29 its columns are halved in all bins, so that
evidence of more than two million records ago begins to weigh less.
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

# The clock, see fade.py: here of the labelled records.
_GROWTH = const(0)
_BLOCK = const(1)
_SHIFT = const(2)
_WEIGHT = const(3)
_PLACE = const(5)
_TABLE = const(6)

_BLIND = const(23)  # weight, carry and place of the clock of records without truth
_BINS = const(26)
_DONE = const(27)  # what the block's records have added: labelled, without truth
_COUNT = const(29)  # labelled records, records without truth; two limbs each
_ROWS = const(33)  # per bin: labelled, right, confidence, without truth
_LARGE = const(0x20000000)


@micropython.viper
def feed(a, b: ptr32, entries: int):
    """Takes `entries` entries of the join; the confidence is in bits 8 to 15 of the prediction."""
    w = ptr32(a)
    e = 0
    entries *= _ENTRY
    while e < entries:
        left = b[e + 4]
        g = b[e]
        p = b[e + 1]
        # Labelled: count, clock, first column and number of columns.
        i = _COUNT
        o = _WEIGHT
        done = _DONE
        column = 0
        columns = 3
        if g == _UNKNOWN:
            i = _COUNT + 2
            o = _BLIND
            done = _DONE + 1
            column = 3
            columns = 1
        n = w[i] + left
        w[i] = n & _M
        if n > _M:
            w[i + 1] = w[i + 1] + 1
        right = 0
        if g == p & 255:
            right = 1
        sure = p >> 8 & 255
        i = _ROWS + 4 * (sure * w[_BINS] >> 8)
        while left:
            j = w[o + 2]
            n = w[_BLOCK] - j
            if n > left:
                n = left
            left -= n
            j += n
            w[o + 2] = j
            if w[_GROWTH]:
                d = w[_TABLE + j]
                h = w[o]
                lo = h & 0x7FFF
                h >>= 15
                h = h * (d >> 15) + (h * (d & 0x7FFF) + lo * (d >> 15) >> 15)
                d = (h >> w[_SHIFT] - 1) + 1 >> 1
                h = d - w[done]
                w[done] = d
            else:
                h = n << 8
            lo = i + column
            d = w[lo] + h
            w[lo] = d
            if column == 0:
                if right:
                    w[lo + 1] = w[lo + 1] + h
                w[lo + 2] = w[lo + 2] + ((h >> 15) * sure << 7) + ((h & 0x7FFF) * sure + 128 >> 8)
            if j == w[_BLOCK]:
                w[done] = 0
                h = 0
                if w[_GROWTH]:
                    h = int(turn(a, o))
                else:
                    w[o + 2] = 0
                if h or d >= _LARGE and w[_GROWTH] == 0:
                    lo = _ROWS + column
                    d = w[_BINS]
                    while d:
                        d -= 1
                        h = columns
                        while h:
                            h -= 1
                            w[lo + h] = w[lo + h] + 1 >> 1
                        lo += 4
        e += _ENTRY


class Reliability:
    """bins: a power of two up to 64; decay: 1 - alpha in 30 bits, 0 or from 2^10 to 2^29."""

    def __init__(self, ledger, bins=16, decay=0):
        if bins not in (1, 2, 4, 8, 16, 32, 64) or (decay and not 1 << 10 <= decay <= 1 << 29):
            raise ValueError("bins must be a power of two up to 64, alpha 1 or from 0.5 to 1 - 2^-20")
        self.w = w = ledger.take("reliability", _ROWS + 4 * bins)
        w[_BINS] = bins
        if decay:
            fade.setup(w, decay)
        else:
            w[_BLOCK] = 16
        self.reset()

    def reset(self):
        w = self.w
        for i in range(_WEIGHT, _PLACE + 1):
            w[i] = 0
            w[i + _BLIND - _WEIGHT] = 0
        for i in range(_DONE, len(w)):
            w[i] = 0
        w[_WEIGHT] = w[_BLIND] = 1 << 29

    def raw(self):
        w = self.w
        table = [[w[i + k] for i in range(_ROWS, len(w), 4)] for k in range(4)]
        fading = w[_GROWTH] != 0
        return {
            "n": w[_COUNT] + (w[_COUNT + 1] << 30),
            "unlabelled": w[_COUNT + 2] + (w[_COUNT + 3] << 30),
            "weight_q20": fade.present(w) if fading else 256 << 20,
            "blind_weight_q20": fade.present(w, _BLIND) if fading else 256 << 20,
            "labelled": table[0],
            "right": table[1],
            "confidence": table[2],
            "without": table[3],
        }

"""Reliability table: how often a confidence is right, and how often each occurs where nobody knows.

Confidences of 0 to 255 fall into equal bins; confidence.py gives each record its own. Of each bin: labelled
records, those that were right, the sum of their confidences (in 256ths), and records without truth. Labelled
columns fade with every labelled record, the last column with every record without truth, each by a clock of
its own (fade.py).

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

_M = const(0x3FFFFFFF)
_UNKNOWN = const(255)
_ENTRY = const(8)

# The clock, see fade.py: here of the labelled records.
_GROWTH = const(0)
_BLOCK = const(1)
_SHIFT = const(2)
_WEIGHT = const(3)
_DONE = const(6)
_TABLE = const(7)

_BLIND = const(24)  # weight, carry, place and sum of the clock of records without truth
_BINS = const(28)
_COUNT = const(29)  # labelled records, records without truth; two limbs each
_ROWS = const(33)  # per bin: labelled, right, confidence, without truth
_LARGE = const(0x20000000)


@micropython.viper
def _halve(w: ptr32, i: int, column: int):
    # Columns 0 to 2, or 3, of all bins.
    i = _ROWS + (w[_BINS] << 2)
    while i > _ROWS:
        i -= 4
        w[i + column] = w[i + column] + 1 >> 1
        if column == 0:
            w[i + 1] = w[i + 1] + 1 >> 1
            w[i + 2] = w[i + 2] + 1 >> 1


@micropython.viper
def feed(w: ptr32, n: int, a, b: ptr32, entries: int):
    """Takes `entries` entries of the join; the confidence is in bits 8 to 15 of the prediction. (`a` is the
    state `w` as an object; `n` is an argument because the first two live in registers.)"""
    # No calls but to halve: a call costs as much as five records.
    block = w[_BLOCK]
    shift = w[_SHIFT] - 1
    fading = w[_GROWTH]
    bins = w[_BINS]
    e = 0
    entries *= _ENTRY
    while e < entries:
        left = b[e + 4]
        n = b[e]
        sure = b[e + 1]
        i = _COUNT
        o = _WEIGHT
        column = 0
        right = 0
        if n == _UNKNOWN:
            i = _COUNT + 2
            o = _BLIND
            column = 3
        elif n == sure & 255:
            right = 1
        sure = sure >> 8 & 255
        n = w[i] + left
        if n > _M:
            n &= _M
            w[i + 1] = w[i + 1] + 1
        w[i] = n
        i = _ROWS + (sure * bins >> 8 << 2) + column
        if fading == 0:
            # Every record weighs 256.
            while left:
                n = left
                if n > 0x8000:
                    n = 0x8000
                left -= n
                c = w[i] + (n << 8)
                w[i] = c
                if column == 0:
                    if right:
                        w[i + 1] = w[i + 1] + (n << 8)
                    w[i + 2] = w[i + 2] + n * sure
                if c >= _LARGE:
                    _halve(a, 0, column)
            e += _ENTRY
            continue
        lo = w[o]
        h = lo >> 15
        lo &= 0x7FFF
        j = w[o + 2]
        done = w[o + 3]
        while left:
            n = block - j
            if n > left:
                n = left
            left -= n
            j += n
            d = w[_TABLE + j]
            c = d >> 15
            c = h * c + (h * (d & 0x7FFF) + lo * c >> 15)
            c = (c >> shift) + 1 >> 1
            n = c - done
            done = c
            w[i] = w[i] + n
            if column == 0:
                if right:
                    w[i + 1] = w[i + 1] + n
                w[i + 2] = w[i + 2] + ((n >> 15) * sure << 7) + ((n & 0x7FFF) * sure + 128 >> 8)
            if j == block:
                # The clock goes on as in fade.py.
                j = 0
                done = 0
                d = fading >> 15
                n = fading & 0x7FFF
                c = w[o + 1] + h * n + lo * d + (lo * n >> 15)
                n = w[o] + h * d + (c >> 15)
                c &= 0x7FFF
                if n >= int(0x40000000):
                    c = (c | (n & 1) << 15) >> 1
                    n >>= 1
                    _halve(a, 0, column)
                w[o + 1] = c
                w[o] = n
                h = n >> 15
                lo = n & 0x7FFF
        w[o + 2] = j
        w[o + 3] = done
        e += _ENTRY


class Reliability:
    """bins: a power of two up to 64; decay: 1 - alpha in 30 bits, 0 or from 2^10 to 2^29.

    changes: how many changes of the confidence can wait for the truth, a power of two; it is the join that
    keeps them.
    """

    def __init__(self, ledger, bins=16, decay=0, changes=64):
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
        for i in range(_WEIGHT, _DONE + 1):
            w[i] = 0
            w[i + _BLIND - _WEIGHT] = 0
        for i in range(_COUNT, len(w)):
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

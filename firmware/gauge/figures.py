"""The report line's figures of alignment and slices, as pairs of limbs of 30 bits.

Apart from the estimators themselves: a node that prints no report line does without them.
"""

import sys

if sys.implementation.name == "micropython":
    import micropython
    from micropython import const
else:
    from gauge._cpython import const, micropython, ptr32

from gauge.align import advance

_M = const(0x3FFFFFFF)

# Words of the alignment, by their names in align.py behind _A.
_A_MASK = const(0)
_A_LABELS = const(1)
_A_T = const(16)
_A_Q = const(22)
_A_DONE = const(2)
_A_UNMATCHED = const(5)
_A_FORCED = const(28)
_A_SAME = const(29)
_A_CORRECT = const(30)
_A_EARLY = const(31)
_A_LATE = const(32)
_A_IOU = const(33)
_A_STATS = const(35)
_A_TABLES = const(95)

# Words of the slices, by their names in slices.py behind _S.
_S_LABELS = const(0)
_S_LABEL = const(0)
_S_HIT = const(1)
_S_PENDING = const(2)
_S_SIDE = const(1)
_S_SIDE_WORDS = const(4)
_S_TABLES = const(9)
_S_TP = const(0)
_S_SG = const(1)
_S_SI = const(2)
_S_D = const(3)
_S_CATEGORIES = const(9)


def align(part, out):
    """Of an `Align` into `out`, two limbs each: true and predicted segments, forced commits, unmatched true
    and predicted, correct matches, substitutions, splits, merges, matches of equal labels, sum of their IoU
    with 26 fraction bits; of the latency, doubled: sum, early, late, least, most."""
    advance(part.w, part.cells)
    _align(part.w, out)


def slices(part, out, label):
    """Of `Slices` into `out`, two limbs each, settled as if the recording ended now: ticks correct, S, D, U, F,
    I, O, M of all labels; then ticks in truth, inferred and correct of `label`."""
    _slices(part.w, out, label)


@micropython.viper
def _align(a, out: ptr32):
    w = ptr32(a)
    big = int(0x40000000)
    i = 0
    while i < 32:
        out[i] = 0
        i += 1
    out[0] = w[_A_T + _A_DONE]
    out[2] = w[_A_Q + _A_DONE]
    out[4] = w[_A_FORCED]
    out[6] = w[_A_T + _A_UNMATCHED]
    out[8] = w[_A_Q + _A_UNMATCHED]
    out[10] = w[_A_CORRECT]
    k = w[_A_LABELS]
    i = _A_TABLES + ((w[_A_MASK] + 1) << 3) + k
    n = 0 - w[_A_CORRECT]
    g = 1
    while g < k:
        p = 1
        while p < k:
            n += w[i + p]
            p += 1
        i += k
        g += 1
    out[12] = n
    g = 0
    n = 0
    p = 0
    while g < k:
        n += w[i]
        p += w[i + k]
        i += 1
        g += 1
    out[14] = n
    out[16] = p
    out[18] = w[_A_SAME]
    out[20] = w[_A_IOU]
    out[21] = w[_A_IOU + 1]
    # Sum of the late less sum of the early, both limbs with one sign.
    n = w[_A_STATS] - w[_A_STATS + 2]
    p = w[_A_STATS + 1] - w[_A_STATS + 3]
    if p > 0 and n < 0:
        n += big
        p -= 1
    elif p < 0 and n > 0:
        n -= big
        p += 1
    out[22] = n
    out[23] = p
    out[24] = w[_A_EARLY]
    out[26] = w[_A_LATE]
    if w[_A_CORRECT]:
        out[28] = w[_A_STATS + 7] - big
        out[30] = w[_A_STATS + 8] - big


@micropython.viper
def _add(out: ptr32, i: int, low: int, high: int):
    i <<= 1
    low += out[i]
    out[i] = low & _M
    out[i + 1] = out[i + 1] + high + (low >> 30)


@micropython.viper
def _slices(a, out, label: int):
    w = ptr32(a)
    o = ptr32(out)
    i = 0
    while i < 22:
        o[i] = 0
        i += 1
    k = w[_S_LABELS]
    c = 0
    while c < _S_CATEGORIES:
        g = 0
        while g < k:
            i = _S_TABLES + 2 * (c * k + g)
            side = 0 - 1
            while side < 2:
                # What is in the table, then what the open runs have pending.
                if side >= 0:
                    i = _S_SIDE + _S_SIDE_WORDS * side
                    if w[i + _S_LABEL] == g and c == _S_D + 3 * side + w[i + _S_HIT]:
                        i += _S_PENDING
                    else:
                        i = 0
                side += 1
                if i and (w[i] or w[i + 1]):
                    if c < _S_SI:
                        _add(out, c, w[i], w[i + 1])
                    elif c > _S_SI:
                        _add(out, c - 1, w[i], w[i + 1])
                    if c != _S_SI and c < _S_D + 3:
                        if g == label:
                            _add(out, 8, w[i], w[i + 1])
                    elif c != _S_SI and label == 0:
                        _add(out, 8, w[i], w[i + 1])
                    if c == _S_TP or c == _S_SI or c >= _S_D + 3:
                        if g == label:
                            _add(out, 9, w[i], w[i + 1])
                    elif c != _S_SG and label == 0:
                        _add(out, 9, w[i], w[i + 1])
                    if c == _S_TP and g == label:
                        _add(out, 10, w[i], w[i + 1])
            g += 1
        c += 1

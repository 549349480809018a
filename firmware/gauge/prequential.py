"""Prequential error: mean, sliding window and fading factor of a loss, test then train.

Fading goes by blocks of 16 records. Within a block the losses add up in `_SUM_OF_BLOCK`, each with its weight
at the block's end, alpha^15 to 1; these come from a table of their sums, so that a run of equal losses is one
difference. At the end of a block the fading sum S (`_BITS` fraction bits) loses S * (1 - alpha^16), a product
of halves of 15 bits, and gains the block's sum; what is cut off is carried into the next block. So nothing
depends on how records are grouped when they are handed over, and no error grows with their number. The weight
B = 1 + alpha B is known from the count alone and never stored.
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

_WINDOW = const(0)
_DECAY = const(1)  # 1 - alpha, 30 bits
_BITS = const(2)
_DECAY_OF_BLOCK = const(3)  # 1 - alpha^16, 30 bits
_FADED = const(4)  # S at the end of the last whole block
_CARRY = const(5)  # 15 bits
_SUM_OF_BLOCK = const(6)  # 26 fraction bits
_PLACE = const(7)  # records of the block so far
_LOSSES = const(8)  # and their losses, a bit each
_COUNT = const(9)  # two limbs
_SUM = const(11)
_UNLABELLED = const(13)
_LENGTH = const(15)  # records in the window
_INSIDE = const(16)  # their sum
_WORD = const(17)  # where the next record goes: word and bit
_BIT = const(18)
_TABLE = const(19)  # sum of the weights of the block's first j records, j = 0 to 16
_BITS_FROM = const(36)

_BLOCK = const(16)
_FINE = const(26)


@micropython.viper
def feed(w: ptr32, n: int, b: ptr32, entries: int):
    """Takes `entries` entries of the join: their records' 0-1 loss.

    (`n` is an argument because the first two live in registers.)
    """
    size = w[_WINDOW]
    last = _BITS_FROM + (size - 1) // 30
    room = size - 30 * ((size - 1) // 30)
    word = w[_WORD]
    bit = w[_BIT]
    inside = w[_INSIDE]
    records = 0
    losses = 0
    e = 0
    while entries:
        count = b[e + 4]
        if count:
            loss = 0
            if b[e] == _UNKNOWN:
                n = w[_UNLABELLED] + count
                w[_UNLABELLED] = n & _M
                w[_UNLABELLED + 1] = w[_UNLABELLED + 1] + (n >> 30)
                count = 0
            elif b[e] != b[e + 1] & 255:
                loss = _M
                losses += count
            records += count
            n = count
            while n:
                at = w[_PLACE]
                k = _BLOCK - at
                if k > n:
                    k = n
                n -= k
                k += at
                if loss:
                    w[_SUM_OF_BLOCK] = w[_SUM_OF_BLOCK] + w[_TABLE + k] - w[_TABLE + at]
                    w[_LOSSES] = w[_LOSSES] | (1 << k) - (1 << at)
                if k == _BLOCK:
                    k = w[_DECAY_OF_BLOCK]
                    s = w[_FADED]
                    carry = (s >> 15) * (k & 0x7FFF) + (s & 0x7FFF) * (k >> 15)
                    carry += w[_CARRY] + ((s & 0x7FFF) * (k & 0x7FFF) >> 15)
                    s -= (s >> 15) * (k >> 15)
                    k = w[_SUM_OF_BLOCK]
                    if k:
                        # Its bits below one unit of S go into the carry.
                        at = _FINE - w[_BITS]
                        s += k >> at
                        carry -= (k & (1 << at) - 1) << 15 >> at
                        w[_SUM_OF_BLOCK] = 0
                        w[_LOSSES] = 0
                    w[_FADED] = s - (carry >> 15)
                    w[_CARRY] = carry & 0x7FFF
                    k = 0
                w[_PLACE] = k
            # The window: one bit a record, 30 a word (fewer in the last), a word's bits at a time.
            n = count
            if n > size:
                n = size
            while n:
                k = 30 - bit
                if word == last:
                    k = room - bit
                if k > n:
                    k = n
                out = w[word]
                mask = ((_M >> (30 - k)) << bit) & (out ^ loss)
                if mask:
                    # These bits change, all in the same sense.
                    w[word] = out ^ mask
                    mask -= (mask >> 1) & 0x15555555
                    mask = (mask & 0x33333333) + ((mask >> 2) & 0x33333333)
                    mask = (mask + (mask >> 4)) & 0x0F0F0F0F
                    mask = (mask * 0x01010101 >> 24) & 0x3F
                    if loss:
                        inside += mask
                    else:
                        inside -= mask
                bit += k
                n -= k
                if n or bit == 30:
                    # The word is full.
                    bit = 0
                    word += 1
                    if word > last:
                        word = _BITS_FROM
        e += _ENTRY
        entries -= 1
    w[_WORD] = word
    w[_BIT] = bit
    w[_INSIDE] = inside
    n = w[_COUNT] + records
    w[_COUNT] = n & _M
    w[_COUNT + 1] = w[_COUNT + 1] + (n >> 30)
    n = w[_SUM] + losses
    w[_SUM] = n & _M
    w[_SUM + 1] = w[_SUM + 1] + (n >> 30)
    records += w[_LENGTH]
    if records > size or records < 0:
        records = size
    w[_LENGTH] = records


@micropython.viper
def present(a) -> int:
    """The fading sum after the newest record: the last block's, and the open block's record by record."""
    w = ptr32(a)
    s = w[_FADED]
    carry = w[_CARRY]
    d1 = w[_DECAY] >> 15
    d0 = w[_DECAY] & 0x7FFF
    n = 0
    while n < w[_PLACE]:
        carry += (s >> 15) * d0 + (s & 0x7FFF) * d1 + ((s & 0x7FFF) * d0 >> 15)
        s -= (s >> 15) * d1 + (carry >> 15)
        carry &= 0x7FFF
        if (w[_LOSSES] >> n) & 1:
            s += 1 << w[_BITS]
        n += 1
    return s


def fraction_bits(decay, largest):
    """Fraction bits with which the fading sum of losses up to `largest` stays below 2^30."""
    bits = 0
    while decay // largest > 2 << bits:
        bits += 1
    return bits


class Prequential:
    """window: records; decay: (1 - alpha) * 2^30, a whole number."""

    def __init__(self, ledger, window, decay):
        self.w = w = ledger.take("prequential", _BITS_FROM + (window + 29) // 30)
        w[_WINDOW] = window
        w[_DECAY] = decay
        w[_BITS] = min(fraction_bits(decay, 1), _FINE)
        # Whole numbers of 60 bits: boards' floats have 24.
        powers = [1 << 60]
        while len(powers) <= _BLOCK:
            powers.append(powers[-1] * ((1 << 30) - decay) >> 30)
        w[_DECAY_OF_BLOCK] = ((1 << 60) - powers[_BLOCK] + (1 << 29)) >> 30
        for j in range(1, _BLOCK + 1):
            total = sum(powers[_BLOCK - j : _BLOCK])
            w[_TABLE + j] = (total + (1 << 59 - _FINE)) >> 60 - _FINE
        self.reset()

    def count(self):
        """Records so far, modulo 2^30."""
        return self.w[_COUNT]

    def figures(self, out):
        """Into `out`, two limbs each: records, sum, records without truth, records and sum of the
        window, fading sum, its fraction bits, 1 - alpha."""
        w = self.w
        for i in range(16):
            out[i] = 0
        for i in range(6):
            out[i] = w[_COUNT + i]
        out[6] = w[_LENGTH]
        out[8] = w[_INSIDE]
        out[10] = present(w)
        out[12] = w[_BITS]
        out[14] = w[_DECAY]

    def reset(self):
        w = self.w
        for i in range(_FADED, len(w)):
            if not _TABLE <= i < _BITS_FROM:
                w[i] = 0
        w[_WORD] = _BITS_FROM

    def raw(self):
        w = self.w
        return {
            "n": w[_COUNT] + (w[_COUNT + 1] << 30),
            "sum": w[_SUM] + (w[_SUM + 1] << 30),
            "unlabelled": w[_UNLABELLED] + (w[_UNLABELLED + 1] << 30),
            "window_n": w[_LENGTH],
            "window_sum": w[_INSIDE],
            "fading_s": present(w),
            "fading_bits": w[_BITS],
            "alpha_q30": w[_DECAY],
        }

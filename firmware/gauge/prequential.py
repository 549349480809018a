"""Prequential error: mean, sliding window and fading factor of a loss, test then train.

The fading sum S = L + alpha S has `_BITS` fraction bits and loses S * (1 - alpha) a record, a
product of two halves of 15 bits each; what is cut off is carried to the next record, so the mean
is not biased. Its weight B = 1 + alpha B is known from the count alone and never stored.
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
_FADED = const(3)
_CARRY = const(4)  # 15 bits
_COUNT = const(5)  # two limbs
_SUM = const(7)
_UNLABELLED = const(9)
_LENGTH = const(11)  # records in the window
_INSIDE = const(12)  # their sum
_WORD = const(13)  # where the next record goes: word and bit
_BIT = const(14)
_BITS_FROM = const(15)


@micropython.viper
def feed(s: int, carry: int, a, b: ptr32, entries: int):
    """Takes `entries` entries of the join: their records' 0-1 loss.

    The first two arguments are only there because they live in registers.
    """
    w = ptr32(a)
    d1 = w[_DECAY] >> 15
    d0 = w[_DECAY] & 0x7FFF
    size = w[_WINDOW]
    s = w[_FADED]
    carry = w[_CARRY]
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
            gain = 0
            if b[e] == _UNKNOWN:
                n = w[_UNLABELLED] + count
                w[_UNLABELLED] = n & _M
                w[_UNLABELLED + 1] = w[_UNLABELLED + 1] + (n >> 30)
                count = 0
            elif b[e] != b[e + 1] & 255:
                loss = _M
                gain = 1 << w[_BITS]
                losses += count
            records += count
            n = count
            while n > 1:
                # Twice: the loop itself costs a tenth.
                carry += (s >> 15) * d0 + (s & 0x7FFF) * d1 + ((s & 0x7FFF) * d0 >> 15)
                s -= (s >> 15) * d1 - gain + (carry >> 15)
                carry &= 0x7FFF
                carry += (s >> 15) * d0 + (s & 0x7FFF) * d1 + ((s & 0x7FFF) * d0 >> 15)
                s -= (s >> 15) * d1 - gain + (carry >> 15)
                carry &= 0x7FFF
                n -= 2
            if n:
                carry += (s >> 15) * d0 + (s & 0x7FFF) * d1 + ((s & 0x7FFF) * d0 >> 15)
                s -= (s >> 15) * d1 - gain + (carry >> 15)
                carry &= 0x7FFF
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
    w[_FADED] = s
    w[_CARRY] = carry
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


def fraction_bits(decay, largest):
    """Fraction bits with which the fading sum of losses up to `largest` stays below 2^30."""
    bits = 0
    while decay // largest > 2 << bits:
        bits += 1
    return bits


class Prequential:
    """window: records; decay: (1 - alpha) * 2^30, a whole number."""

    def __init__(self, ledger, window, decay):
        self.w = ledger.take("prequential", _BITS_FROM + (window + 29) // 30)
        self.w[_WINDOW] = window
        self.w[_DECAY] = decay
        self.w[_BITS] = fraction_bits(decay, 1)
        self.reset()

    def count(self):
        """Records so far, modulo 2^30."""
        return self.w[_COUNT]

    def figures(self, out):
        """Into `out`, two limbs each: records, sum, records without truth, records and sum of the window, fading
        sum, its fraction bits, 1 - alpha."""
        w = self.w
        for i in range(16):
            out[i] = 0
        out[0] = w[_COUNT]
        out[1] = w[_COUNT + 1]
        out[2] = w[_SUM]
        out[3] = w[_SUM + 1]
        out[4] = w[_UNLABELLED]
        out[5] = w[_UNLABELLED + 1]
        out[6] = w[_LENGTH]
        out[8] = w[_INSIDE]
        out[10] = w[_FADED]
        out[12] = w[_BITS]
        out[14] = w[_DECAY]

    def reset(self):
        w = self.w
        for i in range(_BITS + 1, len(w)):
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
            "fading_s": w[_FADED],
            "fading_bits": w[_BITS],
            "alpha_q30": w[_DECAY],
        }

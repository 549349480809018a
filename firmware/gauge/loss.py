"""A loss in [0, R] that the node's program hands over itself: mean, window and fading factor."""

import sys

if sys.implementation.name == "micropython":
    import micropython
    from micropython import const
else:
    from gauge._cpython import const, micropython, ptr8, ptr32

from gauge.prequential import fraction_bits

_M = const(0x3FFFFFFF)

_WINDOW = const(0)
_DECAY = const(1)
_BITS = const(2)
_LARGEST = const(3)
_FADED = const(4)
_CARRY = const(5)
_COUNT = const(6)  # two limbs
_SUM = const(8)
_INSIDE = const(10)  # two limbs
_LENGTH = const(12)
_AT = const(13)
_REJECTED = const(14)
_WORDS = const(15)


@micropython.viper
def _record(w: ptr32, ring: ptr8, loss):
    """One loss, a whole number in [0, R]; anything else is counted and left out."""
    x = 0 - 1
    try:
        x = int(loss)
    except Exception:
        pass
    if x < 0 or x > w[_LARGEST]:
        w[_REJECTED] = w[_REJECTED] + 1
        return
    n = w[_COUNT] + 1
    w[_COUNT] = n & _M
    w[_COUNT + 1] = w[_COUNT + 1] + (n >> 30)
    n = w[_SUM] + x
    w[_SUM] = n & _M
    w[_SUM + 1] = w[_SUM + 1] + (n >> 30)
    d1 = w[_DECAY] >> 15
    d0 = w[_DECAY] & 0x7FFF
    high = w[_FADED] >> 15
    low = w[_FADED] & 0x7FFF
    carry = w[_CARRY] + high * d0 + low * d1 + (low * d0 >> 15)
    w[_FADED] = w[_FADED] + (x << w[_BITS]) - high * d1 - (carry >> 15)
    w[_CARRY] = carry & 0x7FFF
    at = w[_AT]
    n = x
    if w[_LENGTH] == w[_WINDOW]:
        n -= ring[2 * at] | ring[2 * at + 1] << 8
    else:
        w[_LENGTH] = w[_LENGTH] + 1
    ring[2 * at] = x & 255
    ring[2 * at + 1] = x >> 8
    n += w[_INSIDE]
    if n < 0:
        n += int(0x40000000)
        w[_INSIDE + 1] = w[_INSIDE + 1] - 1
    w[_INSIDE] = n & _M
    w[_INSIDE + 1] = w[_INSIDE + 1] + (n >> 30)
    at += 1
    if at == w[_WINDOW]:
        at = 0
    w[_AT] = at


class Losses:
    """window: records; decay: (1 - alpha) * 2^30; largest: R, at most 65535."""

    def __init__(self, ledger, window, decay, largest):
        self.w = ledger.take("loss", _WORDS)
        self.ring = ledger.take_bytes("loss", 2 * window)
        self.w[_WINDOW] = window
        self.w[_DECAY] = decay
        self.w[_BITS] = fraction_bits(decay, largest)
        self.w[_LARGEST] = largest

    def record(self, x):
        _record(self.w, self.ring, x)

    def reset(self):
        w = self.w
        for i in range(_LARGEST + 1, _WORDS):
            w[i] = 0

    def raw(self):
        w = self.w
        return {
            "n": w[_COUNT] + (w[_COUNT + 1] << 30),
            "sum": w[_SUM] + (w[_SUM + 1] << 30),
            "largest": w[_LARGEST],
            "rejected": w[_REJECTED],
            "window_n": w[_LENGTH],
            "window_sum": w[_INSIDE] + (w[_INSIDE + 1] << 30),
            "fading_s": w[_FADED],
            "fading_bits": w[_BITS],
            "alpha_q30": w[_DECAY],
        }

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


def entry(state, kept):
    """The node's `loss`: a closure, as in samples.py; `kept` holds the losses of the window."""

    @micropython.viper
    def loss(x):
        """A loss of the program's own, a whole number in [0, R]; anything else is counted and left out."""
        w = ptr32(state)
        ring = ptr8(kept)
        v = 0 - 1
        try:
            v = int(x)
        except Exception:
            pass
        if (w[_LARGEST] - v) | v < 0:
            w[_REJECTED] = w[_REJECTED] + 1
            return
        m = _M
        n = w[_COUNT] + 1
        if n > m:
            w[_COUNT + 1] = w[_COUNT + 1] + 1
            n = 0
        w[_COUNT] = n
        n = w[_SUM] + v
        if n > m:
            w[_SUM + 1] = w[_SUM + 1] + 1
            n &= m
        w[_SUM] = n
        n = w[_DECAY]
        d1 = n >> 15
        d0 = n & 0x7FFF
        n = w[_FADED]
        low = n & 0x7FFF
        high = n >> 15
        carry = w[_CARRY] + high * d0 + low * d1 + (low * d0 >> 15)
        w[_FADED] = n + (v << w[_BITS]) - high * d1 - (carry >> 15)
        w[_CARRY] = carry & 0x7FFF
        at = w[_AT]
        at += at
        n = w[_INSIDE] + v
        if w[_LENGTH] == w[_WINDOW]:
            n -= ring[at] | ring[at + 1] << 8
            if n < 0:
                n += int(0x40000000)
                w[_INSIDE + 1] = w[_INSIDE + 1] - 1
        else:
            w[_LENGTH] = w[_LENGTH] + 1
        if n > m:
            w[_INSIDE + 1] = w[_INSIDE + 1] + 1
            n &= m
        w[_INSIDE] = n
        ring[at] = v & 255
        ring[at + 1] = v >> 8
        at = (at >> 1) + 1
        if at == w[_WINDOW]:
            at = 0
        w[_AT] = at

    return loss


class Losses:
    """window: records; decay: (1 - alpha) * 2^30; largest: R, at most 65535."""

    def __init__(self, ledger, window, decay, largest):
        self.w = ledger.take("loss", _WORDS)
        self.ring = ledger.take_bytes("loss", 2 * window)
        self.w[_WINDOW] = window
        self.w[_DECAY] = decay
        self.w[_BITS] = fraction_bits(decay, largest)
        self.w[_LARGEST] = largest
        self.record = entry(self.w, self.ring)

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

"""Two recognisers A and B on one stream: discordant records and losses, faded, in a window and in all.

The faded sums share a clock (fade.py): a record adds its present weight, and while both recognisers are
right there is nothing to add. McNemar's M = (n01 - n10)^2 / (n01 + n10) then falls with the weight alone;
so a discordant record leaves behind the weight up to which |M| stays above 3.841, and a lead costs a
comparison.

No stored number is negative or above 2^30: a 64-bit build loads words without their sign.
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
_TABLE = const(7)

_N01 = const(24)  # faded: only A wrong
_N10 = const(25)
_LOSS_A = const(26)
_LOSS_B = const(27)
_LIMIT = const(28)  # weight up to which the faded lead is significant
_SIDE = const(29)  # of the lead: 1 B, 2 A, 0 none
_SINCE = const(30)  # record, two limbs
_LENGTH = const(32)  # records in the window
_IN01 = const(33)  # of them only A wrong
_IN10 = const(34)
_IN_SIDE = const(35)
_IN_SINCE = const(36)
_WORD = const(38)  # where the next record goes: word, place in it, place in the window
_BIT = const(39)
_AT = const(40)
_WINDOW = const(41)
_COUNT = const(42)  # records, discordant ones of each kind, records without truth; two limbs each
_ALL01 = const(44)
_ALL10 = const(46)
_UNLABELLED = const(48)
_RING = const(50)  # two bits a record, 15 records a word: 1 only A wrong, 2 only B wrong


@micropython.viper
def feed(w: ptr32, n: int, a, b: ptr32, entries: int):
    """Takes `entries` entries of the join; B's label is in bits 16 to 23 of the prediction."""
    # One function without calls: a call costs as much as five records.
    shift = w[_SHIFT] - 1
    block = w[_BLOCK]
    size = w[_WINDOW]
    e = 0
    entries *= _ENTRY
    while e < entries:
        left = b[e + 4]
        g = b[e]
        if g == _UNKNOWN:
            n = w[_UNLABELLED] + left
            if n > _M:
                n &= _M
                w[_UNLABELLED + 1] = w[_UNLABELLED + 1] + 1
            w[_UNLABELLED] = n
            left = 0
        count = left
        p = b[e + 1]
        lost = 0
        if g != p & 255:
            lost = 1
        if g != p >> 16 & 255:
            lost += 2
        # 1 only A wrong, 2 only B wrong; both or none: 0.
        code = lost
        if code == 3:
            code = 0
        elif code and left:
            i = _ALL01
            if code == 2:
                i = _ALL10
            n = w[i] + left
            if n > _M:
                n &= _M
                w[i + 1] = w[i + 1] + 1
            w[i] = n
        # Faded.
        while left:
            # As many records at a time as have no say in when a lead begins, and lie in one block of the
            # clock.
            j = w[_PLACE]
            n = block - j
            if n > left:
                n = left
            if code:
                n = 1
            c = 0
            s = w[_SIDE]
            if lost or s:
                h = w[_WEIGHT]
                lo = h & 0x7FFF
                h >>= 15
                if code == 0 and s:
                    # Is the lead lost, and with which record?
                    p = n
                    n = 0
                    g = w[_LIMIT]
                    while n < p:
                        n += 1
                        d = w[_TABLE + j + n] - w[_TABLE + j + n - 1]
                        d = h * (d >> 15) + (h * (d & 0x7FFF) + lo * (d >> 15) >> 15)
                        if g <= (d >> shift) + 1 >> 1:
                            s = 0
                            p = n
                if lost:
                    d = w[_TABLE + j + n]
                    c = h * (d >> 15) + (h * (d & 0x7FFF) + lo * (d >> 15) >> 15)
                    c = (c >> shift) + 1 >> 1
                    if j:
                        d = w[_TABLE + j]
                        d = h * (d >> 15) + (h * (d & 0x7FFF) + lo * (d >> 15) >> 15)
                        c -= (d >> shift) + 1 >> 1
                    if lost != 2:
                        w[_LOSS_A] = w[_LOSS_A] + c
                    if lost != 1:
                        w[_LOSS_B] = w[_LOSS_B] + c
                if code:
                    if code == 1:
                        w[_N01] = w[_N01] + c
                    else:
                        w[_N10] = w[_N10] + c
                    # d^2 / (3.841 s)
                    d = w[_N01] - w[_N10]
                    s = 1
                    if d < 0:
                        d = 0 - d
                        s = 2
                    g = w[_N01] + w[_N10]
                    i = 0
                    while g > 0x7FFF:
                        g >>= 1
                        i += 1
                    g = ((d >> i) << 15) // g
                    # 8531.12 / 32768 = 1 / 3.841
                    d = (d >> 15) * 8531 + ((d & 0x7FFF) * 8531 >> 15)
                    d = (d >> 15) * g + ((d & 0x7FFF) * g >> 15)
                    w[_LIMIT] = d
                    if d <= c:
                        s = 0
                if s != w[_SIDE]:
                    w[_SIDE] = s
                    d = w[_COUNT] + count - left + n - 1
                    w[_SINCE] = d & _M
                    w[_SINCE + 1] = w[_COUNT + 1] + (d >> 30)
            left -= n
            j += n
            if j == block:
                # The clock goes on as in fade.py.
                j = 0
                h = w[_WEIGHT] >> 15
                lo = w[_WEIGHT] & 0x7FFF
                d = w[_GROWTH] >> 15
                n = w[_GROWTH] & 0x7FFF
                c = w[_CARRY] + h * n + lo * d + (lo * n >> 15)
                n = w[_WEIGHT] + h * d + (c >> 15)
                c &= 0x7FFF
                if n >= int(0x40000000):
                    c = (c | (n & 1) << 15) >> 1
                    n >>= 1
                    i = _N01
                    while i <= _LIMIT:
                        w[i] = w[i] + 1 >> 1
                        i += 1
                w[_CARRY] = c
                w[_WEIGHT] = n
            w[_PLACE] = j
        # The window, as many records at a time as a word gives; one by one where its counts change.
        left = count
        at = w[_AT]
        i = w[_WORD]
        j = w[_BIT]
        while left:
            n = 15 - j
            if n > left:
                n = left
            if n > size - at:
                n = size - at
            g = w[i]
            if code or g >> 2 * j & (1 << 2 * n) - 1:
                n = 1
                c = g >> 2 * j & 3
                if c != code:
                    w[i] = g ^ (c ^ code) << 2 * j
                    g = w[_IN01]
                    h = w[_IN10]
                    if c == 1:
                        g -= 1
                    elif c:
                        h -= 1
                    if code == 1:
                        g += 1
                    elif code:
                        h += 1
                    w[_IN01] = g
                    w[_IN10] = h
                    c = (g + h) * 3841 // 1000
                    g -= h
                    s = 0
                    if g * g > c:
                        s = 1
                        if g < 0:
                            s = 2
                    if s != w[_IN_SIDE]:
                        w[_IN_SIDE] = s
                        d = w[_COUNT] + count - left
                        w[_IN_SINCE] = d & _M
                        w[_IN_SINCE + 1] = w[_COUNT + 1] + (d >> 30)
            left -= n
            at += n
            j += n
            if at == size:
                at = 0
                i = _RING
                j = 0
            elif j == 15:
                i += 1
                j = 0
        w[_AT] = at
        w[_WORD] = i
        w[_BIT] = j
        n = w[_LENGTH]
        if n < size:
            n += count
            if n > size or count > size:
                n = size
            w[_LENGTH] = n
        n = w[_COUNT] + count
        if n > _M:
            n &= _M
            w[_COUNT + 1] = w[_COUNT + 1] + 1
        w[_COUNT] = n
        e += _ENTRY


class Compare:
    """window: records, at most 32767; decay: 1 - alpha in 30 bits, from 2^10 to 2^29."""

    def __init__(self, ledger, window, decay):
        if not 0 < window < 1 << 15 or not 1 << 10 <= decay <= 1 << 29:
            raise ValueError("window must be below 2^15, alpha from 0.5 to 1 - 2^-20")
        self.w = w = ledger.take("compare", _RING + (window + 14) // 15)
        fade.setup(w, decay)
        w[_WINDOW] = window
        w[_WORD] = _RING

    def reset(self):
        w = self.w
        for i in range(_WEIGHT, _PLACE + 1):
            w[i] = 0
        for i in range(_N01, len(w)):
            if i != _WINDOW:
                w[i] = 0
        w[_WEIGHT] = 1 << 29
        w[_WORD] = _RING

    def raw(self):
        w = self.w

        def two(i):
            return w[i] + (w[i + 1] << 30)

        return {
            "n": two(_COUNT),
            "unlabelled": two(_UNLABELLED),
            "n01": two(_ALL01),
            "n10": two(_ALL10),
            "weight_q20": fade.present(w),
            "faded": [w[_N01], w[_N10]],
            "losses": [w[_LOSS_A], w[_LOSS_B]],
            "lead": [w[_SIDE], two(_SINCE)],
            "window_n": w[_LENGTH],
            "window": [w[_IN01], w[_IN10]],
            "window_lead": [w[_IN_SIDE], two(_IN_SINCE)],
        }

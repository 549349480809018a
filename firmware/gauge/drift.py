"""Drift alarms on the loss: Page-Hinkley and DDM.

Both keep the mean of the losses since they started: `_MEAN` has `_BITS` fraction bits and is exactly the
floor of sum / n, because the remainder of that division is carried. An alarm is an event: how many, and of
the last one which way (1 up, 2 down), the record, the ticks from the start of the stream to it (to within a
slice), and the statistic. After an alarm the detector starts anew with the next record.

No stored number is negative or above 2^30: a 64-bit build loads words without their sign.
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
# Records after which a mean becomes one over the last so many: 17 years of seconds.
_MANY = const(0x20000000)

# Words that both detectors have.
_BITS = const(0)
_SLICE = const(1)  # ticks of a record
_WARMUP = const(2)
ALARMS = const(3)
_WAITING = const(4)  # an alarm nobody asked for yet: its direction
_WAY = const(5)  # of the last alarm: direction, record (two limbs), ticks, statistic
_RECORD = const(6)
_TICKS = const(8)
_VALUE = const(9)
_COUNT = const(10)  # records, two limbs
_ELAPSED = const(12)  # ticks, modulo 2^30
_N = const(13)  # records since the start or the last alarm
_MEAN = const(14)
_REST = const(15)  # of the division: 0 to n - 1

# Page-Hinkley.
_UP = const(16)  # g of each direction
_UP_CARRY = const(17)
_DOWN = const(18)
_DOWN_CARRY = const(19)
_DELTA = const(20)
_THRESHOLD = const(21)
_DECAY = const(22)  # 1 - a, 30 bits; 0: the sum does not fade
_SIDES = const(23)  # 1 up, 2 down, 3 both
_SOURCE = const(24)
_FORGET = const(25)  # 1 - alpha of the faded error, 30 bits
_FADED = const(26)  # S and B of the faded error, and what is carried
_FADED_CARRY = const(27)
_WEIGHT = const(28)
_WEIGHT_CARRY = const(29)
_SHIFT = const(30)  # brings B below 2^15
_ONE = const(31)  # 1.0 in the fraction bits of S and B; the largest loss for values
_WINDOW = const(32)
_LENGTH = const(33)
_INSIDE = const(34)
_AT = const(35)
_RING = const(36)  # one bit a record, 30 a word

# DDM.
_BEST = const(16)  # p_min + s_min, 20 bits
_LIMIT = const(17)  # p_min + level s_min, 20 bits
_LEVEL = const(18)  # 8 bits
_ROOT = const(19)  # s_min, 20 bits
_BEST_P = const(20)
_NEVER = const(0x20000000)

LOSS = const(0)
FADING = const(1)
WINDOW = const(2)
VALUE = const(3)


@micropython.viper
def feed(w: ptr32, x: int, a, b: ptr32, entries: int):
    """Page-Hinkley takes `entries` entries of the join; of values: their losses in word 2.

    While g is 0, records without loss leave it so: of such a run only the mean is worked out.
    """
    source = w[_SOURCE]
    sides = w[_SIDES]
    delta = w[_DELTA]
    top = w[_THRESHOLD]
    slow = w[_DECAY]
    if source == FADING or source == WINDOW:
        slow = 1
    e = 0
    entries *= _ENTRY
    while e < entries:
        left = b[e + 4]
        x = b[e]
        if x == _UNKNOWN:
            left = 0
        count = left
        first = w[_ELAPSED]
        w[_ELAPSED] = (first + b[e + 4] * w[_SLICE]) & _M
        loss = 0
        if x != b[e + 1] & 255:
            loss = 1 << w[_BITS]
        if source == VALUE:
            loss = (b[e + 2] << w[_BITS]) // w[_ONE]
        n = w[_N]
        mean = w[_MEAN]
        rest = w[_REST]
        up = w[_UP]
        down = w[_DOWN]
        while left:
            x = loss
            k = 1
            if slow:
                if source == FADING:
                    # S and B lose (1 - alpha) of themselves, and what is cut off is carried; then 15 bits
                    # of S / B.
                    d = w[_FORGET] >> 15
                    y = w[_FORGET] & 0x7FFF
                    x = w[_FADED]
                    h = x >> 15
                    lo = x & 0x7FFF
                    g = w[_FADED_CARRY] + h * y + lo * d + (lo * y >> 15)
                    w[_FADED_CARRY] = g & 0x7FFF
                    x -= h * d + (g >> 15)
                    if loss:
                        x += w[_ONE]
                    w[_FADED] = x
                    r = w[_WEIGHT]
                    h = r >> 15
                    lo = r & 0x7FFF
                    g = w[_WEIGHT_CARRY] + h * y + lo * d + (lo * y >> 15)
                    w[_WEIGHT_CARRY] = g & 0x7FFF
                    r += w[_ONE] - h * d - (g >> 15)
                    w[_WEIGHT] = r
                    h = w[_SHIFT]
                    if (r >> h) > 0x7FFF:
                        while (r >> h) > 0x7FFF:
                            h += 1
                        w[_SHIFT] = h
                    x = (((x >> h) << 15) // (r >> h)) << (w[_BITS] - 15)
                elif source == WINDOW:
                    r = w[_AT]
                    h = _RING + r // 30
                    lo = r % 30
                    d = w[h] >> lo & 1
                    r += 1
                    if r == w[_WINDOW]:
                        r = 0
                    w[_AT] = r
                    r = w[_LENGTH]
                    if r < w[_WINDOW]:
                        r += 1
                        w[_LENGTH] = r
                    x = w[_INSIDE]
                    if loss:
                        if d == 0:
                            w[h] = w[h] | 1 << lo
                            x += 1
                    elif d:
                        w[h] = w[h] ^ 1 << lo
                        x -= 1
                    w[_INSIDE] = x
                    x = ((x << 15) // r) << (w[_BITS] - 15)
                # a g, what is cut off carried.
                d = w[_DECAY] >> 15
                y = w[_DECAY] & 0x7FFF
                h = up >> 15
                lo = up & 0x7FFF
                g = w[_UP_CARRY] + h * y + lo * d + (lo * y >> 15)
                w[_UP_CARRY] = g & 0x7FFF
                up -= h * d + (g >> 15)
                h = down >> 15
                lo = down & 0x7FFF
                g = w[_DOWN_CARRY] + h * y + lo * d + (lo * y >> 15)
                w[_DOWN_CARRY] = g & 0x7FFF
                down -= h * d + (g >> 15)
            elif loss == 0 and up == 0 and sides == 1:
                k = left
                if k > 512:
                    k = 512
            left -= k
            rest += (x - mean) * k
            n += k
            if n > _MANY:
                n = _MANY
            if rest < 0 or rest >= n:
                h = rest // n
                mean += h
                rest -= h * n
            if k > 1:
                continue
            x -= mean
            way = 0
            if sides & 1:
                up += x - delta
                if up < 0:
                    up = 0
                elif up > top:
                    way = 1
            if sides & 2:
                down -= x + delta
                if down < 0:
                    down = 0
                elif down > top and way == 0:
                    way = 2
            if way and n >= w[_WARMUP]:
                if way == 2:
                    up = down
                _alarm(a, way, up, count - 1 - left, first)
                w[_UP_CARRY] = 0
                w[_DOWN_CARRY] = 0
                n = 0
                mean = 0
                rest = 0
                up = 0
                down = 0
        w[_N] = n
        w[_MEAN] = mean
        w[_REST] = rest
        w[_UP] = up
        w[_DOWN] = down
        n = w[_COUNT] + count
        w[_COUNT] = n & _M
        if n > _M:
            w[_COUNT + 1] = w[_COUNT + 1] + 1
        e += _ENTRY


@micropython.viper
def _alarm(w: ptr32, way: int, value: int, k: int, first: int):
    # Record k of the entry that began `first` ticks into the stream raised it.
    w[ALARMS] = w[ALARMS] + 1
    w[_WAITING] = way
    w[_WAY] = way
    n = w[_COUNT] + k
    w[_RECORD] = n & _M
    w[_RECORD + 1] = w[_COUNT + 1] + (n >> 30)
    w[_TICKS] = (first + k * w[_SLICE]) & _M
    w[_VALUE] = value


@micropython.viper
def feed_ddm(w: ptr32, p: int, a, b: ptr32, entries: int):
    """DDM takes `entries` entries of the join.

    While there are no losses p + s falls, so that of such a run only the last record matters.
    """
    warmup = w[_WARMUP]
    e = 0
    entries *= _ENTRY
    while e < entries:
        k = b[e + 4]
        if b[e] == _UNKNOWN:
            k = 0
        count = k
        first = w[_ELAPSED]
        w[_ELAPSED] = (first + b[e + 4] * w[_SLICE]) & _M
        x = 0
        if b[e] != b[e + 1] & 255:
            x = 0x100000
        n = w[_N]
        p = w[_MEAN]
        r = w[_REST]
        while k:
            h = 1
            if x == 0:
                h = k
                if h > 512:
                    h = 512
            k -= h
            r += x - p * h
            n += h
            if n > _MANY:
                n = _MANY
            if r < 0 or r >= n:
                h = r // n
                p += h
                r -= h * n
            if n <= warmup:
                continue
            # v = s^2 = p (1 - p) / n with 40 fraction bits, or with 30 where that would not fit.
            h = p >> 5
            v = h * (0x8000 - h)
            narrow = 0
            if n >= 0x10000:
                v = (v // (n >> 8)) << 2
            else:
                v //= n
                if v < 0x100000:
                    v <<= 10
                else:
                    narrow = 5
            d = w[_BEST] - p
            if d > 0:
                h = d >> narrow
                if h > 0x7FFF or v < h * h:
                    # A new best level. Its root: Newton from above falls until it is the floor.
                    h = w[_ROOT] >> narrow
                    h += (h >> 3) + 2
                    if h > 0x7FFF or h * h <= v:
                        h = 0x8000
                    if v:
                        d = (h + v // h) >> 1
                        while d < h:
                            h = d
                            d = (h + v // h) >> 1
                    else:
                        h = 0
                    h <<= narrow
                    w[_ROOT] = h
                    w[_BEST_P] = p
                    w[_BEST] = p + h
                    w[_LIMIT] = p + (h >> 8) * w[_LEVEL] + ((h & 255) * w[_LEVEL] >> 8)
            # p + s > limit, without the root.
            d = w[_LIMIT] - p
            h = d >> narrow
            if d < 0 or (h < 0x8000 and v > h * h):
                d = p - w[_BEST_P]
                if d < 0:
                    d = 0
                _alarm(a, 1, d, count - 1 - k, first)
                n = 0
                p = 0
                r = 0
                w[_BEST] = _NEVER
                w[_LIMIT] = _NEVER
        w[_N] = n
        w[_MEAN] = p
        w[_REST] = r
        n = w[_COUNT] + count
        w[_COUNT] = n & _M
        if n > _M:
            w[_COUNT + 1] = w[_COUNT + 1] + 1
        e += _ENTRY


class _Detector:
    """What both have in common; `w` is the array."""

    def raised(self):
        """Alarms so far."""
        return self.w[ALARMS]

    def take(self):
        """The direction of an alarm that nobody asked for yet (1 up, 2 down), or 0; asking answers it."""
        way = self.w[_WAITING]
        self.w[_WAITING] = 0
        return way

    def restart(self):
        """The detector starts anew with the next record; its alarms stay."""
        for i in range(_N, _REST + 1):
            self.w[i] = 0

    def reset(self):
        for i in range(ALARMS, _N):
            self.w[i] = 0
        self.restart()

    def figures(self, out):
        """Into `out`, two limbs each: alarms; direction and record of the last one."""
        w = self.w
        out[0] = w[ALARMS]
        out[2] = w[_WAY]
        out[4] = w[_RECORD]
        out[5] = w[_RECORD + 1]
        out[1] = out[3] = 0

    def raw(self):
        w = self.w
        return {
            "n": w[_COUNT] + (w[_COUNT + 1] << 30),
            "bits": w[_BITS],
            "since": w[_N],
            "mean": w[_MEAN],
            "alarms": w[ALARMS],
            "direction": w[_WAY],
            "record": w[_RECORD] + (w[_RECORD + 1] << 30),
            "ticks": w[_TICKS],
            "value": w[_VALUE],
        }


class PageHinkley(_Detector):
    """delta, threshold: parts per million of a loss; threshold at most 500 losses.

    fading: 1 - a in 30 bits, 0 for none; sides: 1 up, 2 down, 3 both; source: LOSS, FADING (the faded
    error, `memory` is 1 - alpha in 30 bits), WINDOW (`memory` is its records) or VALUE (losses in word 2
    of the entries, `memory` is the largest).
    """

    def __init__(
        self, ledger, delta, threshold, fading=0, sides=1, warmup=30, source=LOSS, memory=0, ticks=1
    ):
        bits = 20
        while (threshold // 1000000 + 2) << bits >= 1 << 30:
            bits -= 1
        if bits < 15 or (source == VALUE and memory << bits >= 1 << 30):
            raise ValueError("threshold or largest loss is too large")
        words = _RING
        if source == WINDOW:
            words += (memory + 29) // 30
        self.w = w = ledger.take("page_hinkley", words)
        w[_BITS] = bits
        w[_SLICE] = ticks
        w[_WARMUP] = warmup
        w[_DELTA] = ((delta << bits) + 500000) // 1000000
        w[_THRESHOLD] = ((threshold << bits) + 500000) // 1000000
        w[_DECAY] = fading
        w[_SIDES] = sides
        w[_SOURCE] = source
        w[_ONE] = memory
        if source == FADING:
            w[_FORGET] = memory
            one = 1
            while memory >> 1 > one:
                one <<= 1
            w[_ONE] = one
        elif source == WINDOW:
            w[_WINDOW] = memory

    def restart(self):
        super().restart()
        for i in range(_UP, _DOWN_CARRY + 1):
            self.w[i] = 0

    def reset(self):
        super().reset()
        w = self.w
        for i in range(_FADED, _SHIFT + 1):
            w[i] = 0
        for i in range(_LENGTH, len(w)):
            w[i] = 0

    def raw(self):
        out = super().raw()
        out["up"] = self.w[_UP]
        out["down"] = self.w[_DOWN]
        return out


class DDM(_Detector):
    """level: standard deviations times 256, at most 2047; an alarm's statistic is p - p_min."""

    def __init__(self, ledger, level=1024, warmup=200, ticks=1):
        self.w = w = ledger.take("ddm", _BEST_P + 1)
        w[_BITS] = 20
        w[_SLICE] = ticks
        w[_WARMUP] = warmup
        w[_LEVEL] = level
        self.restart()

    def restart(self):
        super().restart()
        w = self.w
        w[_BEST] = _NEVER
        w[_LIMIT] = _NEVER
        w[_ROOT] = 0
        w[_BEST_P] = 0

    def raw(self):
        w = self.w
        out = super().raw()
        out["best"] = w[_BEST]
        out["root"] = w[_ROOT]
        out["limit"] = w[_LIMIT]
        return out

"""ADWIN in a fixed number of buckets: is an older part of the window of 0-1 losses unlike the newer part?

`grain` records make a bucket, and row r holds at most `per_row` buckets of grain 2^r records each: a ring
of their sums. Where one more would come, the row's two oldest become one bucket of the next row; the last
row forgets its oldest. With every bucket one row is tested, in the order of a ruler's marks (1, 2, 1, 3, 1,
2, 1, 4, ...): row r at every 2^r-th. At the older end of each of its buckets the window of n records (sum
S) is split into n0 older and n1 newer ones (sum S1). With m = n0 n1 / n and v = p (1 - p), what is older is
dropped when

    D = |S1 - n1 S / n| > 2 L / 3 + sqrt(2 L v m),      L = ln(2 bits(n) / confidence).

Without roots: E = D - 2 L / 3 is positive and E (E / m) > 2 L v. D and m have 8 fraction bits while n < 4096
and 3 from there on, E / m has 12: the limit for D is met to within 1 in 100 and an eighth.

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

_ROWS = const(0)
_PER_ROW = const(1)
_GRAIN = const(2)
_SLICE = const(3)
_COUNT = const(5)  # records, two limbs
_TURN = const(7)  # buckets completed, modulo 2^(rows - 1)
_ELAPSED = const(8)  # ticks, modulo 2^30
_N = const(9)  # records in the window
_S = const(10)  # their sum
_DIGITS = const(11)  # of _N in binary
_LOOSE = const(12)  # records that do not make a bucket yet, and their sum
_LOOSE_S = const(13)
_ALARMS = const(14)
_WAITING = const(15)
_WAY = const(16)  # of the last alarm: direction, record (two limbs), ticks, both parts' records and sums
_RECORD = const(17)
_TICKS = const(19)
_N0 = const(20)
_S0 = const(21)
_N1 = const(22)
_S1 = const(23)
_LOGS = const(24)  # 4096 L by the digits of n, 1 to 15
_ROW = const(40)  # of each row: buckets held, place of the oldest, sum, then its ring
_HEAD = const(1)
_SUM = const(2)
_RING = const(3)


@micropython.viper
def _fails(n: int, s: int, n0: int, d: int, log: int) -> int:
    k = 8
    if n >= 4096:
        k = 3
    if d < 0:
        d = 0 - d
    # E = D - 2 L / 3
    d = (d << k) // n - ((log << 1) // 3 >> (12 - k))
    if d <= 0:
        return 0
    # 2 L v with 26 fraction bits, brought to k + 12.
    v = (s << 15) // n
    v = (v * (0x8000 - v) >> 8) * (log >> 7) >> (14 - k)
    if d * ((d << 12) // ((n0 * (n - n0) << k) // n)) > v:
        return 1
    return 0


@micropython.viper
def _drop(w: ptr32, row: int, stay: int):
    # Everything older than the first `stay` buckets of the row goes.
    per = w[_PER_ROW]
    s = w[_S1]
    o = _ROW
    i = 0
    while i < row:
        s -= w[o + _SUM]
        o += per + _RING
        i += 1
    h = w[o + _HEAD] + w[o] - stay
    if h >= per:
        h -= per
    w[o + _HEAD] = h
    w[o] = stay
    w[o + _SUM] = s
    i += 1
    while i < w[_ROWS]:
        o += per + _RING
        w[o] = 0
        w[o + _SUM] = 0
        i += 1
    w[_N] = w[_N1]
    w[_S] = w[_S1]
    w[_ALARMS] = w[_ALARMS] + 1
    way = 2
    if w[_S1] * w[_N0] > w[_S0] * w[_N1]:
        way = 1
    w[_WAY] = way
    w[_WAITING] = way


@micropython.viper
def feed(w: ptr32, i: int, a, b: ptr32, entries: int):
    """Takes `entries` entries of the join."""
    # One function: a call costs as much as a row's test.
    grain = w[_GRAIN]
    per = w[_PER_ROW]
    rows = w[_ROWS]
    e = 0
    entries *= _ENTRY
    while e < entries:
        count = b[e + 4]
        h = b[e]
        if h == _UNKNOWN:
            count = 0
        first = w[_ELAPSED]
        w[_ELAPSED] = (first + b[e + 4] * w[_SLICE]) & _M
        loss = 0
        if h != b[e + 1] & 255:
            loss = 1
        left = count
        loose = w[_LOOSE] + left
        while loose >= grain:
            # A bucket is complete with the record that leaves `left` records.
            i = grain - w[_LOOSE]
            left -= i
            loose = left
            x = w[_LOOSE_S]
            w[_LOOSE] = 0
            w[_LOOSE_S] = 0
            if loss:
                x += i
            n = w[_N] + grain
            s = w[_S] + x
            # Into the first row, and the cascade of merges.
            o = _ROW
            r = 0
            while r < rows:
                r += 1
                k = w[o]
                h = w[o + _HEAD]
                t = w[o + _SUM] + x
                i = h + k
                if i >= per:
                    i -= per
                if k < per:
                    w[o + _RING + i] = x
                    w[o] = k + 1
                    w[o + _SUM] = t
                    r = rows
                else:
                    # The row is full: its two oldest go on as one, or its oldest goes for good.
                    d = o + _RING + h
                    y = w[d]
                    w[d] = x
                    x = y
                    h += 1
                    if h == per:
                        h = 0
                    if r < rows:
                        x += w[o + _RING + h]
                        h += 1
                        if h == per:
                            h = 0
                        w[o] = k - 1
                    else:
                        n -= grain << (r - 1)
                        s -= x
                    w[o + _HEAD] = h
                    w[o + _SUM] = t - x
                    o += per + _RING
            w[_N] = n
            w[_S] = s
            # Which row's turn it is: one more than the zeros that the bucket's number ends with.
            i = w[_TURN] + 1
            r = 1
            while r < rows and i & 1 == 0:
                i >>= 1
                r += 1
            if r == rows:
                r = 0
                w[_TURN] = 0
            else:
                w[_TURN] = w[_TURN] + 1
            if r:
                k = w[_DIGITS]
                while n >> k:
                    k += 1
                while (n >> (k - 1)) == 0:
                    k -= 1
                w[_DIGITS] = k
                log = w[_LOGS + k]
                # n times 2 L / 3, whole: most boundaries stay below it.
                least = n * (log // 6144)
                # D = n S1 - n1 S as the newer part grows bucket by bucket.
                d = 0
                n1 = 0
                o = _ROW
                y = grain
                i = r
                while i:
                    h = w[o] * y
                    n1 += h
                    d += n * w[o + _SUM] - s * h
                    o += per + _RING
                    y <<= 1
                    i -= 1
                t = y * s
                k = w[o]
                h = o + _RING + w[o + _HEAD] + k
                i = 0
                while i < k:
                    i += 1
                    h -= 1
                    x = h
                    if x >= o + _RING + per:
                        x -= per
                    d += n * w[x] - t
                    if d > least or 0 - d > least:
                        n0 = n - n1 - i * y
                        if int(_fails(n, s, n0, d, log)):
                            w[_N0] = n0
                            w[_N1] = n - n0
                            x = (d + (n - n0) * s) // n
                            w[_S1] = x
                            w[_S0] = s - x
                            _drop(a, r, i)
                            i = count - left - 1
                            w[_TICKS] = (first + i * w[_SLICE]) & _M
                            i += w[_COUNT]
                            w[_RECORD] = i & _M
                            w[_RECORD + 1] = w[_COUNT + 1] + (i >> 30)
                            i = k
        w[_LOOSE] = loose
        if loss:
            w[_LOOSE_S] = w[_LOOSE_S] + left
        left = w[_COUNT] + count
        w[_COUNT] = left & _M
        if left > _M:
            w[_COUNT + 1] = w[_COUNT + 1] + 1
        e += _ENTRY


def _log(a, b):
    # 4096 ln(a / b) for a >= b in whole numbers, as boards' floats have 24 bits: digits of the binary
    # logarithm come from squaring.
    whole = 0
    x = (a << 30) // b
    while x >> 31:
        x >>= 1
        whole += 1
    for i in range(16):
        whole <<= 1
        x = x * x >> 30
        if x >> 31:
            x >>= 1
            whole += 1
    # 45426 / 65536 = ln 2
    return (whole * 45426 + (1 << 19)) >> 20


class ADWIN:
    """confidence: the paper's delta in parts per million; grain * per_row * (2^rows - 1) below 2^15."""

    def __init__(self, ledger, confidence=2000, rows=9, per_row=5, grain=8, ticks=1):
        if rows < 2 or per_row < 2 or grain < 1 or grain * per_row * ((1 << rows) - 1) >= 1 << 15:
            raise ValueError("grain, rows and per_row give a window of 2^15 records or more")
        self.w = w = ledger.take("adwin", _ROW + rows * (per_row + _RING))
        w[_ROWS] = rows
        w[_PER_ROW] = per_row
        w[_GRAIN] = grain
        w[_SLICE] = ticks
        for digits in range(1, 16):
            w[_LOGS + digits] = _log(2000000 * digits, confidence)
        self.reset()

    def raised(self):
        """Alarms so far."""
        return self.w[_ALARMS]

    def take(self):
        """The direction of an alarm that nobody asked for yet (1 up, 2 down), or 0; asking answers it."""
        way = self.w[_WAITING]
        self.w[_WAITING] = 0
        return way

    def reset(self):
        w = self.w
        for i in range(_COUNT, _LOGS):
            w[i] = 0
        for i in range(_ROW, len(w)):
            w[i] = 0
        w[_DIGITS] = 1

    def figures(self, out):
        """Into `out`, two limbs each: alarms; direction and record of the last one."""
        w = self.w
        out[0] = w[_ALARMS]
        out[2] = w[_WAY]
        out[4] = w[_RECORD]
        out[5] = w[_RECORD + 1]
        out[1] = out[3] = 0

    def raw(self):
        w = self.w
        per = w[_PER_ROW]
        rows = []
        for r in range(w[_ROWS]):
            o = _ROW + r * (per + _RING)
            rows.append([w[o + _RING + (w[o + _HEAD] + i) % per] for i in range(w[o])])
        return {
            "n": w[_COUNT] + (w[_COUNT + 1] << 30),
            "window_n": w[_N],
            "window_sum": w[_S],
            "rows": rows,
            "alarms": w[_ALARMS],
            "direction": w[_WAY],
            "record": w[_RECORD] + (w[_RECORD + 1] << 30),
            "ticks": w[_TICKS],
            "older": [w[_N0], w[_S0]],
            "newer": [w[_N1], w[_S1]],
        }

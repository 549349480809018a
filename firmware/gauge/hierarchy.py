"""T-measure (GAUC) of two hierarchies of segments, windowed and one window late.

Up to four levels of true and four of predicted boundaries arrive as their segments close. A query
is one frame q; the frames around it are those of [q - window, q + window) without q. Every level
holds q in one segment, so the frames at depth >= a form one interval around q, and all that is
kept of it is how far it reaches to the left and to the right inside the window:

    C[a, b] = min(left_a, left_b) + min(right_a, right_b) - 1    frames at truth depth >= a and
                                                                 prediction depth >= b, without q

From these come the comparable pairs (the reference puts i deeper than j: by exactly one level in
the reduced measure, by any number in the full one) and the concordant ones among them (the other
hierarchy does so too). A query's share has 20 fraction bits, cut off: a mean share read from the
sums is too small by less than 2^-20. Pairs and queries are counted exactly.

A boundary waits in its level's ring until the query passes it; one that finds the ring full is
counted and lost, which joins its two segments.

A query has the values of the one before unless a segment around it has ended, or reaches beyond the
window at one side alone (at both, all of it that is seen is the window). So it is known how long values
hold; such queries are only counted, and added up together later. While no boundary is inside the
window there are no comparable pairs, and all such queries are passed over at once.

Times are ticks modulo 2^30. No stored number is negative or above 2^30: a 64-bit build loads words
without their sign.
"""

import sys

if sys.implementation.name == "micropython":
    import micropython
    from micropython import const
else:
    from gauge._cpython import const, micropython, ptr32

_M = const(0x3FFFFFFF)
_H = const(0x20000000)

_WINDOW = const(0)
_TICKS = const(1)  # of a frame
_CAP = const(2)  # boundaries a level's ring holds
_BITS = const(3)  # fraction bits that one division step yields: pairs << bits stays below 2^30
_TRUTH = const(4)  # levels
_PREDICTION = const(5)
_ON = const(6)
_QUERY = const(7)  # frame of the next query, modulo 2^30 like all frames
_TOLD = const(8)  # all boundaries before this frame are told
_AHEAD = const(9)  # _TOLD - _QUERY
_TICK = const(10)  # at which frame _TOLD begins
_LEFT = const(11)  # frames since the beginning, at most the window
_LATE = const(12)
_ORDER = const(13)
_LEVEL = const(14)
_OVER = const(15)  # full ring: truth, prediction
_FRAMES = const(17)  # queries answered; two limbs of 30 bits, as all sums
_SUMS = const(19)  # four times queries, concordant, pairs, shares
_SUMS_END = const(51)
_SUM = const(8)  # words of one: reduced recall, reduced precision, full recall, full precision
# What is left of these words is zero wherever no query was answered yet.
_SAME = const(59)  # so many queries more have the values of the last one
_LAG = const(69)  # so many have had them and are not yet added up
_BUSY = const(79)  # the last query had a boundary in its window; else it has no values
# Of one query, every other word: as the sums, with 1 or 0 for the queries.
_VALUE = const(33)  # from a sum to its value
_VALUES = const(52)
_END = const(84)

# While a query is answered, of each depth of the prediction that is less than the window, the
# deepest at 1.
_PL = const(50)
_PR = const(54)
_P0 = const(59)  # frames at that depth or deeper; behind the last all of the window
_C = const(64)  # of them, frames at the truth's depth or deeper
_D = const(69)  # of them, frames exactly at the truth's depth

# Of each level, from _LEVELS + 4 * level, the truth's levels first.
_LEVELS = const(84)
_L_LEFT = const(0)
_L_RIGHT = const(1)
_L_HEAD = const(2)
_L_COUNT = const(3)
_RINGS = const(116)


@micropython.viper
def _query(w: ptr32, x: int, right0: int):
    # One query: the window reaches `x` frames to the left and `right0` to the right of it.
    left0 = x
    total = x + right0
    # Prediction: intervals from the deepest level up, and the pairs they order.
    left = 0
    right = 0
    deeper = 0
    at = 0
    full_p = 0
    reduced_p = 0
    x = 0
    y = _LEVELS + 4 * (w[_TRUTH] + w[_PREDICTION])
    above = total
    b = w[_PREDICTION]
    while above:
        if b:
            y -= 4
            b -= 1
            c = w[y]
            if c > left:
                left = c
            c = w[y + _L_RIGHT]
            if c > right:
                right = c
            c = left + right
            above = total - c
        else:
            c = total
            above = 0
        n = c - deeper
        reduced_p += at * n
        at = n
        deeper = c
        full_p += n * above
        x += 1
        w[_P0 + x] = c
        if above:
            w[_PL + x] = left
            w[_PR + x] = right
    columns = x
    # Truth: one row of C a level, from the deepest up.
    left = 0
    right = 0
    deeper = 0
    at = 0
    full_t = 0
    reduced_t = 0
    full = 0
    recall = 0
    precision = 0
    low = 0
    top = 1
    y = _LEVELS + 4 * w[_TRUTH]
    above = total
    b = w[_TRUTH]
    while above:
        if b:
            y -= 4
            b -= 1
            c = w[y]
            if c > left:
                left = c
            c = w[y + _L_RIGHT]
            if c > right:
                right = c
            c = left + right
            above = total - c
        else:
            left = left0
            right = right0
            c = total
            above = 0
        n = c - deeper
        if n:
            # Depths of the prediction from `top` on contain this one of the truth.
            x = top
            while x < columns and (w[_PL + x] < left or w[_PR + x] < right):
                w[_C + x] = deeper
                w[_D + x] = at
                x += 1
            top = x
            reduced_t += at * n
            full_t += n * above
            deeper = c
            f = above
            e = 0
            if x < columns:
                e = w[_P0 + x]
                f = e - c
                e = w[_P0 + x + 1] - e
                full += n * (above - f)
                precision += n * e
            # The others from the coarsest down, but for those that lie in the row before.
            d = n
            x -= 1
            while x > low:
                c = w[_PL + x]
                if c > left:
                    c = left
                k = w[_PR + x]
                if k > right:
                    k = right
                c += k
                k = c - w[_C + x]
                w[_C + x] = c
                if at:
                    recall += w[_D + x] * (d - k)
                w[_D + x] = k
                d = k
                if above:
                    c = w[_P0 + x] - c  # frames above the truth's depth
                    f -= c
                    full += d * f
                    precision += d * (f - e)
                    e = f
                    f = c
                x -= 1
            if not d and not f:
                low += 1
        at = n
    w[_VALUES + 2] = recall
    w[_VALUES + 4] = reduced_t
    w[_VALUES + 10] = precision
    w[_VALUES + 12] = reduced_p
    w[_VALUES + 18] = full
    w[_VALUES + 20] = full_t
    w[_VALUES + 26] = full
    w[_VALUES + 28] = full_p
    x = _VALUES
    while x < _END:
        c = w[x + 2]
        n = w[x + 4]
        w[x] = 0
        d = 0
        if n:
            w[x] = 1
        if c == n:
            d = w[x] << 20
        elif c:
            b = 20
            while b:
                b -= w[_BITS]
                c <<= w[_BITS]
                e = c // n
                c -= e * n
                d = (d << w[_BITS]) + e
        w[x + 6] = d
        x += 8


@micropython.viper
def _score(w: ptr32, x: int, p, rest: int):
    # The next `x` queries; `rest` frames are left from the first of them (0: more than a window).
    # Without any, adds up what lags. (`p` is `w`; the first two have registers.)
    n = x
    width = w[_WINDOW]
    cap = w[_CAP]
    last = _LEVELS + 4 * (w[_TRUTH] + w[_PREDICTION])
    more = 1
    while more:
        more = n
        same = w[_SAME]
        if same > n:
            same = n
        n -= same
        if rest:
            rest -= same
        lag = w[_LAG] + same
        w[_SAME] = w[_SAME] - same
        w[_LAG] = lag
        if more and not n:
            return
        more = n
        w[_LAG] = 0
        k = w[_FRAMES] + lag
        w[_FRAMES] = k & _M
        w[_FRAMES + 1] = w[_FRAMES + 1] + (k >> 30)
        q = (w[_QUERY] + lag) & _M
        w[_QUERY] = q
        left0 = w[_LEFT] + lag
        if left0 > width:
            left0 = width
        w[_LEFT] = left0
        right0 = width
        if rest and rest < width:
            right0 = rest
        busy = 0
        mixed = left0 - width + right0 - width
        same = _M
        ring = _RINGS
        x = _LEVELS
        while x < last:
            left = w[x] + lag
            if left > width:
                left = width
            right = _M
            k = w[x + _L_COUNT]
            if more and k:
                head = w[x + _L_HEAD]
                right = (w[ring + head] - q) & _M
                if not right:
                    # A segment begins with this frame.
                    left = 0
                    head += 1
                    if head == cap:
                        head = 0
                    k -= 1
                    w[x + _L_HEAD] = head
                    w[x + _L_COUNT] = k
                    right = _M
                    if k:
                        right = (w[ring + head] - q) & _M
            w[x] = left
            k = right
            if left < left0:
                busy = 1
                if right >= right0:
                    mixed = 1
                    right = right0
                elif left0 - left < k:
                    k = left0 - left
            elif right < right0:
                busy = 1
                mixed = 1
            else:
                k = right - right0 + 1
                right = right0
            if k < same:
                same = k
            w[x + _L_RIGHT] = right - 1
            ring += cap
            x += 4
        if lag and w[_BUSY]:
            while lag:
                k = 1 << w[_BITS]
                if k > lag:
                    k = lag
                lag -= k
                x = _SUMS
                while x < _SUMS_END:
                    head = w[x] + k * w[x + _VALUE]
                    if head >> 30:
                        w[x + 1] = w[x + 1] + 1
                        head &= _M
                    w[x] = head
                    x += 2
        if more:
            w[_BUSY] = busy
            if busy:
                if mixed:
                    same = 1
                _query(p, left0, right0 - 1)
            w[_SAME] = same


def begin(w, t):
    """A recording begins at tick `t`; what was told of another one is dropped, the sums go on."""
    if w[_LAG]:
        _score(w, 0, w, 0)
    w[_SAME] = 0
    w[_ON] = 1
    for i in range(_QUERY, _LATE):
        w[i] = 0
    w[_TICK] = t & _M
    for i in range(_LEVELS, _RINGS):
        w[i] = 0


def taker(p, side):
    """What takes the boundaries of the truth (side 0) or the prediction (1); a closure, as in samples.py."""

    @micropython.viper
    def tell(level, end):
        """A segment of `level` (0: the coarsest) ended at tick `end`."""
        w = ptr32(p)
        s = int(side)
        k = int(level)
        now = int(end)
        if k < 0 or k >= w[_TRUTH + s]:
            w[_LEVEL] = w[_LEVEL] + 1
            return
        if not w[_ON]:
            begin(p, now)
        d = (now - w[_TICK]) & _M
        if d >= _H:
            w[_LATE] = w[_LATE] + 1
            return
        frame = (w[_TOLD] + d // w[_TICKS]) & _M
        cap = w[_CAP]
        if s:
            k += w[_TRUTH]
        x = _LEVELS + 4 * k
        ring = _RINGS + cap * k
        count = w[x + _L_COUNT]
        i = w[x + _L_HEAD] + count
        if count:
            last = i - 1
            if last >= cap:
                last -= cap
            d = (frame - w[ring + last]) & _M
            if not d:
                return  # a segment shorter than a frame
            if d >= _H:
                w[_ORDER] = w[_ORDER] + 1
                return
        else:
            w[_SAME] = 0  # how long the last query's values hold was said without it
        if count == cap:
            w[_OVER + s] = w[_OVER + s] + 1
            return
        if i >= cap:
            i -= cap
        w[ring + i] = frame
        w[x + _L_COUNT] = count + 1

    return tell


def watermark(p):
    """What takes the time up to which all boundaries are told."""

    @micropython.viper
    def advance(t):
        """All boundaries before tick `t` are told: scores the queries whose windows end by then."""
        w = ptr32(p)
        now = int(t)
        if not w[_ON]:
            begin(p, now)
        n = w[_TICKS]
        d = (now - w[_TICK]) & _M
        if d >= _H:
            w[_LATE] = w[_LATE] + 1
            return
        if d < n:
            return
        k = 1
        if d - n >= n:
            k = d // n
        w[_TICK] = (w[_TICK] + k * n) & _M
        w[_TOLD] = (w[_TOLD] + k) & _M
        k += w[_AHEAD]
        n = k - w[_WINDOW] + 1
        if n > 0:
            k -= n
            d = w[_SAME] - n
            if d < 0:
                _score(p, n, p, 0)
            else:
                w[_SAME] = d
                w[_LAG] = w[_LAG] + n
        w[_AHEAD] = k

    return advance


class Hierarchy:
    """How well a predicted hierarchy orders frames as the true one does.

    levels_truth, levels_prediction: 1 to 4, coarse to fine; window_frames: 1 to 4095;
    frame_ticks: ticks of a frame; boundaries: what the ring of each level holds.

    A recording begins at `begin(t)`, else with the first time that is heard of. Every level is one
    sequence of touching segments; a boundary is told before `advance` passes it, in the order of
    its level. What comes too late or in no order, or names no level, is counted and left out.
    """

    def __init__(self, ledger, levels_truth, levels_prediction, window_frames, frame_ticks, boundaries):
        if not 1 <= levels_truth <= 4 or not 1 <= levels_prediction <= 4:
            raise ValueError("a hierarchy has 1 to 4 levels")
        if not 1 <= window_frames <= 4095:
            raise ValueError("the window has 1 to 4095 frames")
        if frame_ticks < 1 or boundaries < 1:
            raise ValueError("a frame has at least 1 tick, a ring at least 1 boundary")
        w = ledger.take("hierarchy", _RINGS + boundaries * (levels_truth + levels_prediction))
        w[_WINDOW] = window_frames
        w[_TICKS] = frame_ticks
        w[_CAP] = boundaries
        # Pairs are at most half the square of the 2 * window - 1 frames.
        w[_BITS] = 10 if window_frames <= 724 else 5
        w[_TRUTH] = levels_truth
        w[_PREDICTION] = levels_prediction
        self.w = w
        self.truth = taker(w, 0)
        self.prediction = taker(w, 1)
        self.advance = watermark(w)

    def begin(self, t):
        """A recording begins at tick `t`."""
        begin(self.w, t)

    def finish(self, t):
        """The recording ends at tick `t`: scores what is left, with windows that end there."""
        w = self.w
        if w[_ON]:
            self.advance(t)
            w[_SAME] = 0
            _score(w, w[_AHEAD], w, w[_AHEAD])
            w[_ON] = 0

    def reset(self):
        """All figures start anew, and with them the recording."""
        w = self.w
        for i in range(_ON, len(w)):
            w[i] = 0

    def settle(self):
        """Adds up what lags, as it is in a snapshot: nothing rests on the last query's values."""
        w = self.w
        _score(w, 0, w, 0)
        w[_SAME] = 0

    def raw(self):
        """Whole numbers; each measure is [queries, concordant, pairs, sum of shares with 20 bits]."""
        w = self.w
        _score(w, 0, w, 0)
        out = {
            "frames": w[_FRAMES] + (w[_FRAMES + 1] << 30),
            "late": w[_LATE],
            "order": w[_ORDER],
            "level": w[_LEVEL],
            "overflow_truth": w[_OVER],
            "overflow_prediction": w[_OVER + 1],
        }
        x = _SUMS
        for name in ("recall_reduced", "precision_reduced", "recall_full", "precision_full"):
            out[name] = [w[i] + (w[i + 1] << 30) for i in range(x, x + _SUM, 2)]
            x += _SUM
        return out

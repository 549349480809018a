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
counted and lost, which joins its two segments. While no boundary is inside the window there are no
comparable pairs, and all such queries are passed over at once.

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
_SUM = const(8)  # words of one: reduced recall, reduced precision, full recall, full precision
_VALUES = const(51)  # of one query: concordant and pairs, four times

# Of one query, for each depth of the prediction.
_PL = const(59)
_PR = const(64)
_P0 = const(69)  # frames at that depth or deeper
_CP = const(74)  # C of the row below
_NP = const(79)  # frames exactly at both depths, in the row below

# Of each level, from _LEVELS + 4 * level, the truth's levels first.
_LEVELS = const(84)
_L_LEFT = const(0)
_L_RIGHT = const(1)
_L_HEAD = const(2)
_L_COUNT = const(3)
_RINGS = const(116)


@micropython.viper
def _query(p, left0: int, right0: int):
    # One query: the window reaches `left0` frames to the left and `right0` to the right with q.
    w = ptr32(p)
    total = left0 + right0 - 1
    # Prediction: intervals from the deepest level up, and the pairs they order.
    left = 0
    right = 0
    deeper = 0
    next_n = 0
    pairs_full = 0
    pairs_reduced = 0
    b = w[_PREDICTION]
    x = _LEVELS + 4 * (w[_TRUTH] + b)
    while b:
        x -= 4
        if w[x + _L_LEFT] > left:
            left = w[x + _L_LEFT]
        if w[x + _L_RIGHT] > right:
            right = w[x + _L_RIGHT]
        c = left + right - 1
        w[_PL + b] = left
        w[_PR + b] = right
        w[_P0 + b] = c
        w[_CP + b] = 0
        w[_NP + b] = 0
        n = c - deeper
        pairs_full += n * (total - c)
        pairs_reduced += next_n * n
        next_n = n
        deeper = c
        b -= 1
    w[_VALUES + 3] = pairs_reduced + next_n * (total - deeper)
    w[_VALUES + 7] = pairs_full
    # Truth: one row of C a level, from the deepest up.
    left = 0
    right = 0
    deeper = 0
    next_n = 0
    pairs_full = 0
    pairs_reduced = 0
    full = 0
    recall = 0
    precision = 0
    a = w[_TRUTH]
    x = _LEVELS + 4 * a
    while a >= 0:
        if a:
            x -= 4
            if w[x + _L_LEFT] > left:
                left = w[x + _L_LEFT]
            if w[x + _L_RIGHT] > right:
                right = w[x + _L_RIGHT]
        else:
            left = left0
            right = right0
        c = left + right - 1
        at = c - deeper  # frames exactly at depth a
        above = total - c
        pairs_full += at * above
        pairs_reduced += next_n * at
        next_n = at
        deeper = c
        next_d = 0
        next_f = 0
        n = 0
        b = w[_PREDICTION]
        while b:
            c = w[_PL + b]
            if c > left:
                c = left
            d = w[_PR + b]
            if d > right:
                d = right
            c += d - 1
            d = c - w[_CP + b]  # frames exactly at depth a, prediction depth >= b
            w[_CP + b] = c
            f = w[_P0 + b] - c  # frames above depth a, prediction depth >= b
            recall += w[_NP + b] * (at - d)
            precision += n * (f - next_f)
            n = d - next_d
            w[_NP + b] = n
            full += n * (above - f)
            next_d = d
            next_f = f
            b -= 1
        precision += n * (above - next_f)
        a -= 1
    w[_VALUES] = recall
    w[_VALUES + 1] = pairs_reduced
    w[_VALUES + 2] = precision
    w[_VALUES + 4] = full
    w[_VALUES + 5] = pairs_full
    w[_VALUES + 6] = full
    # Add them up.
    bits = w[_BITS]
    a = _VALUES
    x = _SUMS
    while a < _PL:
        c = w[a]
        n = w[a + 1]
        if n:
            d = w[x] + 1
            w[x] = d & _M
            w[x + 1] += d >> 30
            d = w[x + 2] + c
            w[x + 2] = d & _M
            w[x + 3] += d >> 30
            d = w[x + 4] + n
            w[x + 4] = d & _M
            w[x + 5] += d >> 30
            share = 0
            b = 20
            while b:
                c = c << bits
                d = c // n
                c -= d * n
                share = (share << bits) + d
                b -= bits
            d = w[x + 6] + share
            w[x + 6] = d & _M
            w[x + 7] += d >> 30
        a += 2
        x += _SUM


@micropython.viper
def _score(p, n: int, rest: int):
    # The next `n` queries; `rest` frames are left from the first of them (0: more than a window).
    w = ptr32(p)
    width = w[_WINDOW]
    cap = w[_CAP]
    last = _LEVELS + 4 * (w[_TRUTH] + w[_PREDICTION])
    q = w[_QUERY]
    k = w[_FRAMES] + n
    w[_FRAMES] = k & _M
    w[_FRAMES + 1] += k >> 30
    while n:
        left0 = w[_LEFT]
        right0 = width
        if rest and rest < width:
            right0 = rest
        busy = 0
        skip = n
        ring = _RINGS
        x = _LEVELS
        while x < last:
            k = w[x + _L_COUNT]
            right = _M
            if k:
                head = w[x + _L_HEAD]
                right = (w[ring + head] - q) & _M
                if right == 0:
                    # A segment begins with this frame.
                    w[x + _L_LEFT] = 0
                    head += 1
                    if head == cap:
                        head = 0
                    k -= 1
                    w[x + _L_HEAD] = head
                    w[x + _L_COUNT] = k
                    right = _M
                    if k:
                        right = (w[ring + head] - q) & _M
            if w[x + _L_LEFT] < left0:
                busy = 1
            if right < right0:
                busy = 1
            else:
                if right - right0 < skip:
                    skip = right - right0 + 1
                right = right0
            w[x + _L_RIGHT] = right
            ring += cap
            x += 4
        if busy:
            _query(p, left0, right0)
            skip = 1
        n -= skip
        q = (q + skip) & _M
        if rest:
            rest -= skip
        w[_LEFT] = left0 + skip
        if w[_LEFT] > width:
            w[_LEFT] = width
        x = _LEVELS
        while x < last:
            k = w[x + _L_LEFT] + skip
            if k > width:
                k = width
            w[x + _L_LEFT] = k
            x += 4
    w[_QUERY] = q


@micropython.viper
def begin(p, t: int):
    """A recording begins at tick `t`; what was told of another one is dropped, the sums go on."""
    w = ptr32(p)
    w[_ON] = 1
    w[_QUERY] = 0
    w[_TOLD] = 0
    w[_AHEAD] = 0
    w[_TICK] = t & _M
    w[_LEFT] = 0
    x = _LEVELS
    while x < _RINGS:
        w[x] = 0
        x += 1


@micropython.viper
def boundary(p, side: int, level: int, t: int):
    """A segment of that level (0: the coarsest; side 0: truth, 1: prediction) ended at tick `t`."""
    w = ptr32(p)
    if level < 0 or level >= w[_TRUTH + side]:
        w[_LEVEL] += 1
        return
    if w[_ON] == 0:
        begin(p, t)
    d = (t - w[_TICK]) & _M
    if d >= _H:
        w[_LATE] += 1
        return
    frame = (w[_TOLD] + d // w[_TICKS]) & _M
    cap = w[_CAP]
    if side:
        level += w[_TRUTH]
    x = _LEVELS + 4 * level
    ring = _RINGS + cap * level
    count = w[x + _L_COUNT]
    i = w[x + _L_HEAD] + count
    if count:
        last = i - 1
        if last >= cap:
            last -= cap
        d = (frame - w[ring + last]) & _M
        if d == 0:
            return  # a segment shorter than a frame
        if d >= _H:
            w[_ORDER] += 1
            return
    if count == cap:
        w[_OVER + side] += 1
        return
    if i >= cap:
        i -= cap
    w[ring + i] = frame
    w[x + _L_COUNT] = count + 1


@micropython.viper
def advance(p, t: int):
    """All boundaries before tick `t` are told: scores the queries whose windows end by then."""
    w = ptr32(p)
    if w[_ON] == 0:
        begin(p, t)
    d = (t - w[_TICK]) & _M
    if d >= _H:
        w[_LATE] += 1
        return
    k = d // w[_TICKS]
    w[_TICK] = (w[_TICK] + k * w[_TICKS]) & _M
    w[_TOLD] = (w[_TOLD] + k) & _M
    k += w[_AHEAD]
    n = k - w[_WINDOW] + 1
    if n > 0:
        _score(p, n, 0)
        k -= n
    w[_AHEAD] = k


@micropython.viper
def finish(p, t: int):
    """The recording ends at tick `t`: scores what is left, with windows that end there."""
    w = ptr32(p)
    if w[_ON]:
        advance(p, t)
        k = w[_AHEAD]
        if k:
            _score(p, k, k)
        w[_ON] = 0


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

    def begin(self, t):
        """A recording begins at tick `t`."""
        begin(self.w, t)

    def truth(self, level, end):
        """A true segment of `level` (0: the coarsest) ended at tick `end`."""
        boundary(self.w, 0, level, end)

    def prediction(self, level, end):
        """A predicted segment of `level` (0: the coarsest) ended at tick `end`."""
        boundary(self.w, 1, level, end)

    def advance(self, t):
        """All boundaries before tick `t` are told."""
        advance(self.w, t)

    def finish(self, t):
        """The recording ends at tick `t`."""
        finish(self.w, t)

    def reset(self):
        """All figures start anew, and with them the recording."""
        w = self.w
        for i in range(_ON, len(w)):
            w[i] = 0

    def raw(self):
        """Whole numbers; each measure is [queries, concordant, pairs, sum of shares with 20 bits]."""
        w = self.w
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

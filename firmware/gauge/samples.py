"""samples: the node's entries for labels - one, one a slice, a segment - and the queue of labels that interrupt
an update.

The entries are closures: where the join's state lies is asked once, not at every call, and a method would be
looked for in two tables. The usual case, the label goes on one slice further, is written out in each of
them: a call would cost half as much again. Several conditions are one number wherever that can be: a branch
takes 30 bytes of machine code, an `or` of bits 8.
"""

import sys

if sys.implementation.name == "micropython":
    import micropython
    from micropython import const
else:
    from gauge._cpython import const, micropython, ptr8, ptr32

from gauge.pump import pump
from gauge.runs import segment, sure, take

_M = const(0x3FFFFFFF)
_H = const(0x20000000)
_FAR = const(0x1C000000)
_UNKNOWN = const(255)
_NO_LABEL = const(254)  # stands for what is no byte
_LONGEST = const(0x10000000)

# Words of the join; join.py says what they are.
_FAST = const(0)
_SLICE = const(1)
_POS = const(2)
_PHASE = const(3)
_TICKS = const(4)
_RECORDS = const(5)
_LIMIT = const(6)
_MASK = const(33)
_OVERLAP = const(37)
_GAP = const(38)
_LABELS = const(39)
_LOSING = const(43)
_BAD_LABEL = const(46)
_BUSY = const(56)
_QUEUED = const(57)
_TAKEN = const(58)
_OVERRUN = const(59)
_WITH = const(61)
_QUEUE = const(62)
_QUEUE_MASK = const(7)
_BIN = const(78)
_HALF_BIN = const(79)
_SURE = const(83)
_RING = const(84)
_T = const(7)
_Q = const(17)
_STATE = const(0)
_LABEL = const(1)
_START = const(2)
_END = const(3)
_LAST = const(4)
_HEAD = const(5)
_TAIL = const(6)
_RAW = const(9)
_WORDS = const(10)
_CLOSED = const(1)
_OPEN = const(2)
# Words of the ring of changes of the confidence; runs.py says what they are.
_CHANGES_HEAD = const(1)
_CHANGES_TAIL = const(2)
_SAID = const(3)
_NOW = const(4)
_CHANGES = const(6)
_LOST_CHANGE = const(256)


def _later(node, side, t, label):
    # A sample that interrupted an update waits for its end. (Only the interrupt handler writes
    # `_QUEUED`, only what it interrupts writes `_TAKEN`.)
    w = node._join
    n = w[_QUEUED]
    if (n - w[_TAKEN]) & _M > _QUEUE_MASK:
        w[_OVERRUN] += 1
    else:
        i = _QUEUE + 2 * (n & _QUEUE_MASK)
        w[i] = t
        w[i + 1] = label | side << 24
        w[_QUEUED] = n + 1 if n < _M else 0  # a sum of 2^30 would be an object
    if not w[_BUSY]:
        _catch_up(node)


@micropython.viper
def _catch_up(node):
    j = node._join
    w = ptr32(j)
    while w[_BUSY] == 0 and w[_QUEUED] != w[_TAKEN]:
        w[_BUSY] = 1
        i = _QUEUE + ((w[_TAKEN] & _QUEUE_MASK) << 1)
        t = w[i]
        label = w[i + 1]
        w[_TAKEN] = (w[_TAKEN] + 1) & _M
        i = label >> 8 & 255
        if i:
            # A confidence came with it.
            if w[_SURE] and (label & 255) < w[_LABELS]:
                sure(j, t, i)
        take(j, label & 0xFF00FF, j, 0, j, label >> 24, t)
        pump(node, j)
        w[_BUSY] = 0


@micropython.viper
def _sample(node, j, side: int, t: int, label: int):
    # A sample that is more than the next slice of a piece that is open on both sides.
    w = ptr32(j)
    o = _T + _WORDS * side
    end = (t + w[_SLICE]) & _M
    x = (t ^ w[o + _END]) | (label ^ w[o + _LABEL]) | (w[o + _STATE] ^ _OPEN) | w[_OVERLAP]
    if x == 0 and ((end - w[o + _START]) & _M) <= _LONGEST and ((end - w[_POS]) & _M) <= _FAR:
        # The label goes on, as when the truth is late: `take` would do no more.
        w[o + _END] = end
        w[o + _LAST] = t
    else:
        take(j, label, j, 0, j, side, t)
    x = w[_MASK] - w[o + _TAIL] + w[o + _HEAD]
    if (w[_T + _Q - o + _END] ^ w[_POS]) | w[_LOSING] | (x & _H):
        pump(node, j)


def free(node):
    """Ends what began with `node._join[_BUSY] = 1`."""
    node._join[_BUSY] = 0
    _catch_up(node)


@micropython.viper
def _batch(node, j, side: int, t, labels):
    w = ptr32(j)
    try:
        now = int(t) & _M
        n = int(len(labels))
        ptr8(labels)
    except Exception:
        w[_BAD_LABEL] = w[_BAD_LABEL] + 1
        return
    if w[_BUSY]:
        w[_OVERRUN] = w[_OVERRUN] + n
        return
    w[_BUSY] = 1
    i = 0
    while i < n:
        k = int(take(j, i, labels, n, j, side, now))
        now = (now + (k - i) * w[_SLICE]) & _M
        i = k
        pump(node, j)
    w[_BUSY] = 0
    if w[_QUEUED] != w[_TAKEN]:
        _catch_up(node)


def entries(node, j):
    """The node's `predict`, `truth`, `predict_with`, `predict_b`, `predict_batch` and `truth_batch`; `j` is its
    join's state."""
    # At most five arguments and outer variables together: more would be put on the heap.

    @micropython.viper
    def predict(t, label):
        """The recogniser says `label` for the slice that begins at tick `t`."""
        w = ptr32(j)
        try:
            x = int(label)
            now = int(t)
        except Exception:
            w[_BAD_LABEL] = w[_BAD_LABEL] + 1
            return
        if x >> 8:
            x = _NO_LABEL
        x |= w[_WITH]
        if w[_BUSY] | (w[_QUEUED] ^ w[_TAKEN]):
            _later(node, 1, now & _M, x)
            return
        w[_BUSY] = 1
        n = (now + w[_SLICE] - w[_Q + _START]) & _M
        i = (now ^ w[_Q + _END]) | (x ^ w[_Q + _LABEL]) | (w[_FAST] ^ 1)
        if i == 0 and n <= _LONGEST:
            x = (now + w[_SLICE]) & _M
            w[_Q + _END] = x
            w[_Q + _LAST] = now
            n = (w[_T + _END] - w[_POS]) & _M
            if n:
                x = (x - w[_POS]) & _M
                if x < n:
                    n = x
                w[_POS] = (w[_POS] + n) & _M
                w[_TICKS] = w[_TICKS] + n
                n = w[_PHASE] - n
                x = w[_RECORDS]
                while n < 0:
                    n += w[_SLICE]
                    x += 1
                w[_PHASE] = n
                w[_RECORDS] = x
                if x >= w[_LIMIT]:
                    pump(node, j)
        else:
            _sample(node, j, 1, now & _M, x)
        w[_BUSY] = 0
        if w[_QUEUED] ^ w[_TAKEN]:
            _catch_up(node)

    @micropython.viper
    def truth(t, label):
        """The truth of the slice that begins at tick `t`; 255 where nobody knows it."""
        w = ptr32(j)
        try:
            x = int(label)
            now = int(t)
        except Exception:
            w[_BAD_LABEL] = w[_BAD_LABEL] + 1
            return
        if x >> 8:
            x = _NO_LABEL
        if w[_BUSY] | (w[_QUEUED] ^ w[_TAKEN]):
            _later(node, 0, now & _M, x)
            return
        w[_BUSY] = 1
        n = (now + w[_SLICE] - w[_T + _START]) & _M
        i = (now ^ w[_T + _END]) | (x ^ w[_T + _LABEL]) | (w[_FAST] ^ 1)
        if i == 0 and n <= _LONGEST:
            x = (now + w[_SLICE]) & _M
            w[_T + _END] = x
            w[_T + _LAST] = now
            n = (w[_Q + _END] - w[_POS]) & _M
            if n:
                x = (x - w[_POS]) & _M
                if x < n:
                    n = x
                w[_POS] = (w[_POS] + n) & _M
                w[_TICKS] = w[_TICKS] + n
                n = w[_PHASE] - n
                x = w[_RECORDS]
                while n < 0:
                    n += w[_SLICE]
                    x += 1
                w[_PHASE] = n
                w[_RECORDS] = x
                if x >= w[_LIMIT]:
                    pump(node, j)
        else:
            _sample(node, j, 0, now & _M, x)
        w[_BUSY] = 0
        if w[_QUEUED] ^ w[_TAKEN]:
            _catch_up(node)

    @micropython.viper
    def predict_with(t, label, confidence):
        """As `predict`, with the recogniser's confidence in this label, 0 to 255; it holds until the next."""
        w = ptr32(j)
        c = 0
        try:
            x = int(label)
            now = int(t)
            c = int(confidence)
            c = (c & w[_BIN]) + w[_HALF_BIN]
        except Exception:
            w[_BAD_LABEL] = w[_BAD_LABEL] + 1
            return
        if x >> 8:
            x = _NO_LABEL
        if w[_BUSY] | (w[_QUEUED] ^ w[_TAKEN]):
            _later(node, 1, now & _M, x | c << 8 | w[_WITH])
            return
        w[_BUSY] = 1
        s = w[_SURE]
        if s and c != w[s + _SAID] and x < w[_LABELS]:
            if now == w[_Q + _END] and w[_Q + _STATE] and w[_OVERLAP] == 0:
                # As `change` of runs.py.
                n = w[s + _CHANGES_TAIL]
                i = w[s]
                if n - w[s + _CHANGES_HEAD] > i:
                    w[s + _CHANGES_HEAD] = w[s + _CHANGES_HEAD] + 1
                    w[s + _NOW] = _LOST_CHANGE
                w[s + _CHANGES_TAIL] = n + 1
                i = s + _CHANGES + ((n & i) << 1)
                w[i] = now
                w[i + 1] = c
                w[s + _SAID] = c
            else:
                sure(j, now & _M, c)
        x |= w[_WITH]
        n = (now + w[_SLICE] - w[_Q + _START]) & _M
        i = (now ^ w[_Q + _END]) | (x ^ w[_Q + _LABEL]) | (w[_FAST] ^ 1)
        if i == 0 and n <= _LONGEST:
            x = (now + w[_SLICE]) & _M
            w[_Q + _END] = x
            w[_Q + _LAST] = now
            n = (w[_T + _END] - w[_POS]) & _M
            if n:
                x = (x - w[_POS]) & _M
                if x < n:
                    n = x
                w[_POS] = (w[_POS] + n) & _M
                w[_TICKS] = w[_TICKS] + n
                n = w[_PHASE] - n
                x = w[_RECORDS]
                while n < 0:
                    n += w[_SLICE]
                    x += 1
                w[_PHASE] = n
                w[_RECORDS] = x
                if x >= w[_LIMIT]:
                    pump(node, j)
        else:
            _sample(node, j, 1, now & _M, x)
        w[_BUSY] = 0
        if w[_QUEUED] ^ w[_TAKEN]:
            _catch_up(node)

    @micropython.viper
    def predict_b(t, label):
        """What a second recogniser says from the slice at `t` on; to be called before `predict`."""
        w = ptr32(j)
        x = 0 - 1
        try:
            x = int(label)
        except Exception:
            pass
        if x < 0 or x >= w[_LABELS]:
            w[_BAD_LABEL] = w[_BAD_LABEL] + 1
        else:
            w[_WITH] = x << 16

    @micropython.viper
    def predict_batch(t, labels):
        """One label a slice from tick `t` on: bytes, bytearray or array('B')."""
        _batch(node, j, 1, t, labels)

    @micropython.viper
    def truth_batch(t, labels):
        """One true label a slice from tick `t` on: bytes, bytearray or array('B')."""
        _batch(node, j, 0, t, labels)

    return predict, truth, predict_with, predict_b, predict_batch, truth_batch


def segments(node, what):
    """The node's `truth_segment` (what: 0) or `predict_segment` (1); 2 more: both ends are inclusive."""
    # Node and join's state besides three arguments and the side would be too many variables.

    @micropython.viper
    def tell(label, start, end):
        j = node._join
        w = ptr32(j)
        if w[_BUSY]:
            # Only samples can wait.
            w[_OVERRUN] = w[_OVERRUN] + 1
            return
        try:
            x = int(label)
            a = int(start)
            b = int(end)
        except Exception:
            w[_BAD_LABEL] = w[_BAD_LABEL] + 1
            return
        w[_BUSY] = 1
        m = _M
        s = int(what)
        a &= m
        b = (b + (s >> 1)) & m
        s &= 1
        o = _T + _WORDS * s
        overlap = w[_OVERLAP]
        # In the usual case it begins where the side ends or later, and the ring has room for all that
        # follows from it. Then none of the numbers in `usual` is negative.
        n = (b - a) & m
        i = w[o]
        usual = (w[_LABELS] - 1 - x) | x
        if (x ^ _UNKNOWN) | s == 0:
            usual = 0
        usual |= (n - 1) | (_LONGEST - n) | (i - _CLOSED) | (_CLOSED + overlap - i)
        known = w[o + _END]
        over = 0
        put = i >> 1
        if put:
            # One is held back; its own time ends where this one begins.
            known = w[o + _RAW]
            usual |= 0 - (((a - w[o + _START]) | (b - known)) & _H)
            over = (known - a) & m
            if over & _H:
                over = 0
            known = (known - over) & m
        gap = (a - known) & m
        k = w[o + _TAIL]
        i = w[_MASK]
        # (A gap in the prediction while confidences are kept is not usual.)
        usual |= (0 - gap) & (0 - s) & (0 - w[_SURE])
        usual |= (_LONGEST - gap) | (_FAR - ((known - w[_POS]) & m) - gap - n) | (i - 1 - k + w[o + _HEAD])
        if usual < 0:
            # `segment` of runs.py does the same, and all else.
            if x >> 8:
                x = _NO_LABEL
            segment(j, x << 1 | s, a, b)
            i = 1
        else:
            # Into the ring goes what was held back, then the gap, then this one unless it is held back.
            y = w[o + _LABEL]
            to = known
            m = 2
            while m >= 0:
                if put:
                    n = (i + 1) * s + (k & i)
                    if overlap:
                        w[_RING + 4 * (i + 1) + n] = over
                    n = _RING + (n << 1)
                    w[n] = y
                    w[n + 1] = to
                    k += 1
                over = 0
                put = gap
                y = w[_GAP] & (s - 1)
                to = a
                if m < 2:
                    put = 1 - overlap
                    y = x
                    to = b
                m -= 1
            w[_FAST] = 0
            w[o + _TAIL] = k
            w[o + _LABEL] = x
            w[o + _START] = a
            w[o + _LAST] = (b - 1) & _M
            w[o] = _CLOSED + overlap
            if overlap:
                w[o + _RAW] = b
                b = a
            w[o + _END] = b
            # What the other side knows may be joined up to there already.
            i = overlap | w[_LOSING] | (w[_T + _Q - o + _END] ^ w[_POS])
        if i:
            pump(node, j)
        w[_BUSY] = 0
        if w[_QUEUED] ^ w[_TAKEN]:
            _catch_up(node)

    return tell

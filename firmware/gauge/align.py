"""Alignment of labelled segments (SLTSS, Marteau), banded and streaming, in fixed rings.

The edit distance is minimised by maximising its complement: a pair that is matched saves
2*C0 - cost, an unmatched segment saves nothing (C0 = 2: 3 + IoU for equal labels, 2 for a
substitution). Row i of the matrix (one truth segment) holds only the predictions that overlap it;
left of that band nothing can match (go up), right of it the row's last value holds. Values are
modulo 2^30 with 26 fraction bits: neighbours differ by at most 4, so a difference is always read
rightly, and the rows never need rebasing. Two values closer than `_APART` are a tie.

A path prefix is committed as soon as the back-traces from both ends of the newest row meet. What a
ring has no room to wait for is forced along the best path so far, and counted.

Segments are counted from the start, rows and columns of the matrix by these counts; a ring's slot is
the count's low bits. Kernels that run at every segment are viper, what runs seldom is bytecode.
"""

import sys

if sys.implementation.name == "micropython":
    import micropython
    from micropython import const
else:
    from gauge._cpython import const, micropython, ptr8, ptr32

_M = const(0x3FFFFFFF)
_H = const(0x20000000)  # the sign of a difference modulo 2^30: half the circle
_UNKNOWN = const(255)
_ENTRY = const(8)
_ONE = const(0x4000000)  # 1.0 with 26 fraction bits
_BATCH = const(16)  # rows
_OLD = const(0x4000000)  # ticks
# Units of 2^-26: more than the rounding of the few pairs between which a choice is made; less is a tie.
_APART = const(9)

# Words of the state.
_MASK = const(0)  # segments a side - 1; there are twice as many cells
_LABELS = const(1)
_CLOSED = const(2)  # 1: ends are inclusive, lengths are one less
_IN_UNKNOWN = const(3)
_NOW = const(4)
_V_LEFT = const(5)  # value left of the newest row's band
_V_END = const(6)  # value at its right end
_LO = const(7)  # first prediction of its band
_HIGH = const(8)  # and the one after its last
_CELL = const(9)  # next free cell
_USED = const(10)
_ROWS = const(11)  # truth segments whose row is computed
_G = const(12)  # labels of the open segments
_P = const(13)
_ROW = const(14)  # the cell up to which to commit
_COLUMN = const(15)
# Sides: truth at 16, prediction at 22.
_T = const(16)
_Q = const(22)
_WORDS = const(6)
_HEAD = const(0)  # oldest in the ring
_JUDGED = const(1)  # those before are committed and were looked at for repetition
_DONE = const(2)  # those before are committed
_TAIL = const(3)  # the next one to come
_NEXT = const(4)  # its start
_UNMATCHED = const(5)
_FORCED = const(28)
_SAME = const(29)  # matches of equal labels, NULL too
_CORRECT = const(30)  # of them not NULL
_EARLY = const(31)
_LATE = const(32)
_IOU = const(33)  # two limbs
# Over correct matches, six times: sum of + (2 limbs), of - (2), of squares (3), least, most.
_STATS = const(35)
_STAT = const(9)
_VALUES = const(89)  # the six of the match at hand, 2^30 added; so are least and most
_TABLES = const(95)  # truth ring, prediction ring, confusion, splits, merges

# A ring entry has four words: label and more, start, end; and of a truth segment the first prediction
# of its band, of a prediction its value in the newest row.
_MATCHED = const(0x100)  # with the label
_LABEL = const(0x1FF)
_END_TIES = const(0x200)  # with a truth label: the row's end ties with the row above
_CELL_AT = const(10)  # its first cell, 10 bits
_WIDTH_AT = const(20)
_STRAIGHT = const(0x3FF00200)  # width and tie: only the tie is set where every way through the row is up

# Directions.
_MATCH = const(1)
_UP = const(2)
_LEFT = const(3)


# The IoU of a pair is rounded to 26 bits, thirteen at once where a word holds them; segments of no length
# have 1. It is written out in `_rows` and in `_commit`: a call would cost more than the division.


@micropython.viper
def _rows(w: ptr32, j: int, cells: ptr8, stop: int):
    """Computes the row of the oldest truth segment that has none, and those after it before the truth
    segment `stop`, as far as there are cells. (`j` is an argument because the first two live in registers.)"""
    mask = w[_MASK]
    row = w[_ROWS]
    ring = _TABLES + ((mask + 1) << 2)
    tail = w[_Q + _TAIL]
    lo = w[_LO]
    high = w[_HIGH]
    end = w[_V_END]
    diagonal = w[_V_LEFT]
    cell = w[_CELL]
    used = w[_USED] + tail
    while True:
        t = _TABLES + ((row & mask) << 2)
        g = w[t]
        ts = w[t + 1]
        te = w[t + 2]
        length = te - ts & _M
        # The band starts where a prediction ends after this segment's start.
        j = lo
        if j < w[_Q + _HEAD]:
            j = w[_Q + _HEAD]
        q = ring + ((j & mask) << 2)
        while j < tail:
            if (ts - w[q + 2]) & _H:
                break
            j += 1
            q = ring + ((j & mask) << 2)
        if j > lo:
            diagonal = end
            if j <= high:
                diagonal = w[ring + (((j - 1) & mask) << 2) + 3]
        left = diagonal
        current = diagonal
        lo = j
        straight = 1
        while j < tail:
            lead = ((w[q + 1] - ts + _H) & _M) - _H
            if lead >= length:
                break
            up = end
            if j < high:
                up = w[q + 3]
            best = current
            way = _LEFT
            n = (current - up) & _M
            if (n - _APART) & _H:
                way = _UP
                if n & _H:
                    best = up
            p = w[q] & 255
            gain = 0
            if p == g:
                # Overlap and union from the boundaries, whichever lie inside.
                n = ((te - w[q + 2] + _H) & _M) - _H
                p = length - w[_CLOSED]
                union = p
                if lead > 0:
                    p -= lead
                else:
                    union -= lead
                if n > 0:
                    p -= n
                else:
                    union -= n
                gain = 4 * _ONE
                if p < union:
                    if union < 0x20000:
                        p <<= 13
                        n = p // union
                        p = (p - n * union) << 13
                        gain = p // union
                        p -= gain * union
                        gain |= n << 13
                    else:
                        gain = 0
                        n = 26
                        while n:
                            p <<= 1
                            gain <<= 1
                            if p >= union:
                                p -= union
                                gain |= 1
                            n -= 1
                    gain += 3 * _ONE
                    if p >= union - p:
                        gain += 1
            elif p and g:
                gain = 2 * _ONE
            if gain:
                gain = (diagonal + gain) & _M
                n = (best - gain) & _M
                if (n - _APART) & _H:
                    way = _MATCH
                    if n & _H:
                        best = gain
            cells[(cell + j - lo) & (2 * mask + 1)] = way
            if way != _UP:
                straight = 0
            diagonal = up
            current = best
            w[q + 3] = best
            j += 1
            q = ring + ((j & mask) << 2)
        high = j
        n = j - lo
        if (current - end - _APART) & _H:
            g |= _END_TIES
            if straight:
                # From every column the way is up: the row needs no cells.
                n = 0
        w[t] = g | cell << _CELL_AT | n << _WIDTH_AT
        w[t + 3] = lo
        cell = (cell + n) & (2 * mask + 1)
        used += n
        end = current
        diagonal = left
        row += 1
        if row >= stop or used - lo > 2 * mask + 2:
            break
    w[_V_LEFT] = diagonal
    w[_CELL] = cell
    w[_USED] = used - tail
    w[_V_END] = end
    w[_LO] = lo
    w[_HIGH] = high
    w[_ROWS] = row


@micropython.viper
def _meet(w: ptr32, c: int, cells: ptr8, whole: int):
    """Sets the cell where the back-traces from the two ends of the newest row meet.

    `whole` 1: instead, where the path from the right end enters the oldest pending row.
    """
    mask = w[_MASK]
    done = w[_T + _DONE]
    corner = w[_Q + _DONE]
    r = w[_ROWS]
    left = w[_LO]
    if left < corner or whole:
        left = corner
    # Beyond all bands, as the columns to come are.
    right = w[_Q + _TAIL] + 1
    if r == done:
        right = left
    while r > done and right > left:
        if whole and r == done + 1:
            break
        t = _TABLES + (((r - 1) & mask) << 2)
        word = w[t]
        lo = w[t + 3]
        high = lo + (word >> _WIDTH_AT)
        cell = ((word >> _CELL_AT) & 1023) - lo - 1
        # First the right one's way through this row, down to the left one's entry, then the left one's.
        stop = left
        c = right
        k = 0
        while k < 2:
            while c > stop and c > lo:
                way = _LEFT
                if c <= high:
                    way = cells[(cell + c) & (2 * mask + 1)]
                elif word & _END_TIES:
                    way = _UP
                if way == _UP:
                    break
                c -= 1
                if way == _MATCH:
                    k += 2
                    break
                if c > high:
                    c = high
                    if c < stop:
                        c = stop
            # k is odd for the left one; 2 more: it left the row by a match.
            if k & 1 == 0:
                if c <= stop and k == 0:
                    w[_ROW] = r
                    w[_COLUMN] = left
                    return
                right = c
                stop = corner
                c = left
                k = 1
            else:
                left = c
                k = 2
        r -= 1
    if whole == 0:
        right = left
        # Rows that every path crosses straight up are decided, wherever it crosses them.
        while r == done and r < w[_ROWS] and w[_TABLES + ((r & mask) << 2)] & _STRAIGHT == _END_TIES:
            r += 1
            done += 1
    elif right > w[_Q + _TAIL]:
        right -= 1
    w[_ROW] = r
    w[_COLUMN] = right


@micropython.viper
def _commit(w: ptr32, x: int, cells: ptr8):
    """Books the path that ends in the cell (_ROW, _COLUMN)."""
    mask = w[_MASK]
    big = int(0x40000000)
    r = w[_ROW]
    c = w[_COLUMN]
    done = w[_T + _DONE]
    corner = w[_Q + _DONE]
    ring = _TABLES + ((mask + 1) << 2)
    confusion = ring + ((mask + 1) << 2)
    w[_T + _DONE] = r
    w[_Q + _DONE] = c
    while r > done or c > corner:
        way = _LEFT
        t = _TABLES + (((r - 1) & mask) << 2)
        q = ring + (((c - 1) & mask) << 2)
        if r > done:
            x = w[t]
            lo = w[t + 3]
            if c <= lo or c <= corner:
                way = _UP
            elif c <= lo + (x >> _WIDTH_AT):
                way = cells[((x >> _CELL_AT) + c - 1 - lo) & (2 * mask + 1)]
            elif x & _END_TIES:
                way = _UP
            if way != _LEFT:
                w[_USED] = w[_USED] - (x >> _WIDTH_AT)
                r -= 1
        if way != _UP:
            c -= 1
        g = w[t] & 255
        p = w[q] & 255
        if way == _UP:
            w[_T + _UNMATCHED] = w[_T + _UNMATCHED] + 1
            if g:
                x = confusion + g * w[_LABELS]
                w[x] = w[x] + 1
            continue
        if way == _LEFT:
            w[_Q + _UNMATCHED] = w[_Q + _UNMATCHED] + 1
            if p:
                w[confusion + p] = w[confusion + p] + 1
            continue
        # A match.
        w[t] = w[t] | _MATCHED
        w[q] = w[q] | _MATCHED
        x = confusion + g * w[_LABELS] + p
        w[x] = w[x] + 1
        if g != p:
            continue
        onset = ((w[q + 1] - w[t + 1] + _H) & _M) - _H
        offset = ((w[q + 2] - w[t + 2] + _H) & _M) - _H
        overlap = ((w[t + 2] - w[t + 1]) & _M) - w[_CLOSED]
        x = overlap
        if onset > 0:
            overlap -= onset
        else:
            x -= onset
        if offset > 0:
            x += offset
        else:
            overlap += offset
        n = _ONE
        if overlap < x:
            p = overlap
            if x < 0x20000:
                p <<= 13
                lo = p // x
                p = (p - lo * x) << 13
                n = p // x
                p -= n * x
                n |= lo << 13
            else:
                n = 0
                lo = 26
                while lo:
                    p <<= 1
                    n <<= 1
                    if p >= x:
                        p -= x
                        n |= 1
                    lo -= 1
            if p >= x - p:
                n += 1
        x = w[_IOU] + n
        if x > _M:
            x &= _M
            w[_IOU + 1] = w[_IOU + 1] + 1
        w[_IOU] = x
        w[_SAME] = w[_SAME] + 1
        if g == 0:
            continue
        w[_CORRECT] = w[_CORRECT] + 1
        x = onset + offset
        if x < 0:
            w[_EARLY] = w[_EARLY] + 1
        elif x:
            w[_LATE] = w[_LATE] + 1
        lo = _VALUES
        w[lo] = x + big
        w[lo + 1] = onset + big
        w[lo + 2] = offset + big
        w[lo + 3] = overlap + big
        w[lo + 4] = ((w[q + 2] - w[q + 1]) & _M) - w[_CLOSED] + big
        w[lo + 5] = n + big
        t = _STATS
        while lo < _TABLES:
            x = w[lo]
            if x < w[t + 7]:
                w[t + 7] = x
            if x > w[t + 8]:
                w[t + 8] = x
            x -= big
            if x:
                q = t
                if x < 0:
                    x = 0 - x
                    q = t + 2
                n = w[q] + x
                if n > _M:
                    n &= _M
                    w[q + 1] = w[q + 1] + 1
                w[q] = n
                # The square in three limbs: x = h * 2^15 + l, so h*h counts 2^30, 2*h*l 2^15, l*l 1.
                p = x & 0x7FFF
                n = w[t + 4] + p * p
                x >>= 15
                if x:
                    g = x * p
                    overlap = n >> 30
                    n = (n & _M) + ((g & 0x3FFF) << 16)
                    overlap += n >> 30
                    x = x * x + (g >> 14)
                    overlap += w[t + 5] + (x & _M)
                    w[t + 5] = overlap & _M
                    w[t + 6] = w[t + 6] + (x >> 30) + (overlap >> 30)
                    n &= _M
                elif n > _M:
                    n &= _M
                    overlap = w[t + 5] + 1
                    w[t + 5] = overlap & _M
                    w[t + 6] = w[t + 6] + (overlap >> 30)
                w[t + 4] = n
            t += _STAT
            lo += 1


@micropython.viper
def _tidy(w: ptr32, i: int, last: int):
    """Counts repetitions among committed segments once all that overlap them are committed, and
    lets go of what nobody needs any more. `last` 1: nothing more will come."""
    mask = w[_MASK]
    n = 0
    while n < 4:
        # Twice over both sides: judge up to what the other side has committed, then release up to
        # what it has judged.
        side = n & 1
        s = _T + _WORDS * side
        o = _T + _Q - s
        ring = _TABLES + ((mask + 1) << 2) * side
        other = _TABLES + ((mask + 1) << 2) * (1 - side)
        k = _DONE
        if n >= 2:
            k = _JUDGED
        border = w[o + _NEXT]
        if w[o + k] < w[o + _TAIL]:
            border = w[other + ((w[o + k] & mask) << 2) + 1]
        i = w[s + k - 1]
        stop = w[s + k]
        first = w[o + _HEAD]
        done = w[o + _DONE]
        while i < stop:
            e = ring + ((i & mask) << 2)
            end = w[e + 2]
            if (border - end) & _H and last == 0:
                break
            i += 1
            if n < 2:
                label = w[e] & _LABEL
                if label and label < _MATCHED:
                    # Starts never fall: what ends before this one starts is behind all that follow, too.
                    start = w[e + 1]
                    while first < done and ((start - w[other + ((first & mask) << 2) + 2]) & _H) == 0:
                        first += 1
                    k = first
                    while k < done:
                        x = other + ((k & mask) << 2)
                        if ((w[x + 1] - end) & _H) == 0:
                            break
                        k += 1
                        if w[x] & _LABEL == label | _MATCHED and (start - w[x + 2]) & _H:
                            x = w[_LABELS]
                            x = _TABLES + ((mask + 1) << 3) + x * (x + 1 - side) + label
                            w[x] = w[x] + 1
                            break
        k = _DONE
        if n >= 2:
            k = _JUDGED
        w[s + k - 1] = i
        n += 1


@micropython.viper
def _decide(a, cells):
    w = ptr32(a)
    _meet(a, 0, cells, 0)
    if w[_ROW] > w[_T + _DONE] or w[_COLUMN] > w[_Q + _DONE]:
        _commit(a, 0, cells)


def _force(w, cells, side):
    """Makes room for one more segment on `side`."""
    s = _T + _WORDS * side
    while w[s + _DONE] == w[s + _HEAD]:
        if w[_ROWS] == w[_T + _DONE] and w[_T + _TAIL] > w[_ROWS]:
            _room(w, cells)
            _rows(w, 0, cells, w[_ROWS] + 1)
        if w[_ROWS] > w[_T + _DONE]:
            _meet(w, 0, cells, 1)
        else:
            w[_ROW] = w[_T + _DONE]
            w[_COLUMN] = w[_Q + _DONE] + 1
        _commit(w, 0, cells)
    w[s + _HEAD] += 1
    if w[s + _JUDGED] < w[s + _HEAD]:
        w[s + _JUDGED] = w[s + _HEAD]
    w[_FORCED] += 1


def _room(w, cells):
    """Makes room for the cells of one more row: what is decided gives its cells back, and if that does
    not suffice, more is decided than is known for sure."""
    if w[_USED] + w[_Q + _TAIL] - w[_LO] > 2 * w[_MASK] + 2:
        _decide(w, cells)
    while w[_ROWS] > w[_T + _DONE] and w[_USED] + w[_Q + _TAIL] - w[_LO] > 2 * w[_MASK] + 2:
        _meet(w, 0, cells, 1)
        _commit(w, 0, cells)
        w[_FORCED] += 1


@micropython.viper
def advance(a, cells):
    """Computes the rows that nothing to come can change, commits what is decided."""
    w = ptr32(a)
    mask = w[_MASK]
    now = w[_NOW]
    edge = w[_Q + _NEXT]
    e = w[_Q + _TAIL]
    while e > w[_Q + _HEAD]:
        # Where segments overlap, a prediction may itself last longer than its part of time, and a hard
        # edge would clip it: the rows that it overlaps wait.
        e -= 1
        x = _TABLES + ((mask + 1 + (e & mask)) << 2)
        if ((now - w[x + 2]) & _H) == 0:
            break
        edge = w[x + 1]
    stop = w[_ROWS]
    while stop < w[_T + _TAIL]:
        te = w[_TABLES + ((stop & mask) << 2) + 2]
        if (now - te) & _H or (edge - te) & _H:
            break
        stop += 1
    if stop > w[_ROWS]:
        while w[_ROWS] < stop:
            if w[_USED] + w[_Q + _TAIL] - w[_LO] > 2 * mask + 2:
                _room(a, cells)
            _rows(a, 0, cells, stop)
        _decide(a, cells)
    _tidy(a, 0, 0)


def _slot(w, side, i):
    return _TABLES + (((w[_MASK] + 1) * side + (i & w[_MASK])) << 2)


def _move(w, e, to):
    w[to] = w[e]
    w[to + 1] = w[e + 1]
    w[to + 2] = w[e + 2]


def _push(w, e):
    to = _slot(w, 1, w[_Q + _TAIL])
    _move(w, e, to)
    w[_Q + _TAIL] += 1


def _reach(w, side):
    # The oldest undecided segment of a side that reaches to now or beyond.
    i = w[_T + _WORDS * side + _TAIL]
    while i > w[_T + _WORDS * side + _DONE] and not 0 < (w[_NOW] - w[_slot(w, side, i - 1) + 2]) & _M < _H:
        i -= 1
    return i


def _keep(w, i):
    # Puts the predictions that reach beyond the edge behind the tail, for what follows; returns how many.
    kept = 0
    while i < w[_Q + _TAIL]:
        if w[_slot(w, 1, i) + 2] != w[_NOW]:
            if w[_Q + _TAIL] + kept - w[_Q + _HEAD] > w[_MASK]:
                w[_FORCED] += 1
            else:
                to = _slot(w, 1, w[_Q + _TAIL] + kept)
                _move(w, _slot(w, 1, i), to)
                kept += 1
        i += 1
    return kept


def _clip(w, side, i):
    # Segments from `i` on end at the edge; those that only begin there leave the ring.
    while i < w[_T + _WORDS * side + _TAIL]:
        e = _slot(w, side, i)
        w[e + 2] = w[_NOW]
        if w[e + 1] == w[_NOW]:
            w[_T + _WORDS * side + _TAIL] = i
        i += 1


def _cut(w, cells):
    """A hard edge: everything is decided here, nothing reaches across as one segment."""
    _clip(w, 0, _reach(w, 0))
    i = w[_Q + _TAIL]
    kept = _keep(w, _reach(w, 1))
    _clip(w, 1, _reach(w, 1))
    while w[_ROWS] < w[_T + _TAIL]:
        _room(w, cells)
        _rows(w, 0, cells, w[_T + _TAIL])
    w[_ROW] = w[_T + _TAIL]
    w[_COLUMN] = w[_Q + _TAIL]
    _commit(w, 0, cells)
    _tidy(w, 0, 1)
    w[_V_LEFT] = 0
    w[_V_END] = 0
    w[_LO] = w[_HIGH] = w[_Q + _TAIL]
    w[_USED] = 0
    while kept:
        _push(w, _slot(w, 1, i))
        i += 1
        kept -= 1


def _beyond(w, label, over):
    """A prediction's own time ended in unknown time, but it reaches further, perhaps into what is known."""
    if w[_Q + _TAIL] - w[_Q + _HEAD] > w[_MASK]:
        _resume(w)
        if w[_Q + _TAIL] - w[_Q + _HEAD] > w[_MASK]:
            w[_FORCED] += 1
            return
    e = _slot(w, 1, w[_Q + _TAIL])
    w[e] = label
    w[e + 1] = w[_NOW]
    w[e + 2] = (w[_NOW] - _M + over - 1) & _M
    w[_Q + _TAIL] += 1


def _resume(w):
    """Of the predictions that reach beyond unknown time only their part from here on counts."""
    k = w[_Q + _TAIL]
    w[_Q + _TAIL] = i = w[_Q + _DONE]
    while i < k:
        e = _slot(w, 1, i)
        if (w[_NOW] - w[e + 2]) & _H:
            w[e + 1] = w[_NOW]
            _push(w, e)
        i += 1


def _full(w, cells, side):
    # No room for one more segment: perhaps what is decided by now makes some.
    advance(w, cells)
    if w[_T + _WORDS * side + _TAIL] - w[_T + _WORDS * side + _HEAD] > w[_MASK]:
        _force(w, cells, side)


def _ends(w, cells, side, end):
    """The open segment of a side ends `end` ticks from now; its part of time ends now."""
    s = _T + _WORDS * side
    # In this order: a sum of 2^30 would be an object.
    end = (w[_NOW] - _M + end - 1) & _M
    if w[s + _NEXT] != end:
        e = w[s + _TAIL]
        if e - w[s + _HEAD] > w[_MASK]:
            _full(w, cells, side)
        e = _slot(w, side, e)
        w[e] = w[_G + side]
        w[e + 1] = w[s + _NEXT]
        w[e + 2] = end
        w[s + _TAIL] += 1
    w[s + _NEXT] = w[_NOW]


def _unknown(w, cells, p, ticks, flags, over):
    """An entry whose truth is unknown: the predicted label, and how far its segment reaches on."""
    if w[_IN_UNKNOWN]:
        pass
    elif ticks or flags & 16:
        # A hard edge: what is open ends here.
        _ends(w, cells, 0, 0)
        _ends(w, cells, 1, 0)
        _cut(w, cells)
        w[_IN_UNKNOWN] = 1
    else:
        if flags & 2 and over:
            # Known time just began with a true segment that has no tick of its own.
            w[_P] = p
            _ends(w, cells, 1, over)
        return
    ticks = (w[_NOW] - _M + ticks - 1) & _M
    w[_NOW] = ticks
    w[_T + _NEXT] = ticks
    w[_Q + _NEXT] = ticks
    if flags & 2 and over:
        _beyond(w, p, over)
    if flags & 16:
        # The recording ends here.
        w[_Q + _TAIL] = w[_Q + _DONE]


@micropython.viper
def feed(w: ptr32, e: int, a, cells, b: ptr32, n: int):
    """Takes `n` entries of the join; `a` is the state once more, as an object.

    Rows wait until `_BATCH` of them can be computed at once; a read-out computes what waits.
    """
    mask = w[_MASK]
    now = w[_NOW]
    i = 0
    gone = 0
    while n:
        flags = b[i + 5]
        ticks = b[i + 3]
        i += _ENTRY
        n -= 1
        if b[i - _ENTRY] == _UNKNOWN:
            if w[_IN_UNKNOWN] == 0 or flags & 16 or b[i - _ENTRY + 7]:
                _unknown(a, cells, b[i - _ENTRY + 1] & 255, ticks, flags, b[i - _ENTRY + 7])
                now = w[_NOW]
            else:
                # It only goes on.
                now = (now + ticks) & _M
                w[_NOW] = now
                w[_T + _NEXT] = now
                w[_Q + _NEXT] = now
            continue
        if ticks == 0 and flags & 3 == 0:
            continue
        if w[_IN_UNKNOWN]:
            if w[_Q + _TAIL] > w[_Q + _DONE]:
                _resume(a)
            w[_IN_UNKNOWN] = 0
        now = (now + ticks) & _M
        w[_NOW] = now
        gone += ticks
        g = b[i - _ENTRY]
        w[_G] = g
        w[_P] = b[i - _ENTRY + 1] & 255
        if flags & 3 == 0:
            continue
        if flags & 1:
            x = (now + b[i - _ENTRY + 6]) & _M
            start = w[_T + _NEXT]
            if start != x:
                e = w[_T + _TAIL]
                if e - w[_T + _HEAD] > mask:
                    _full(a, cells, 0)
                w[_T + _TAIL] = e + 1
                e = _TABLES + ((e & mask) << 2)
                w[e] = g
                w[e + 1] = start
                w[e + 2] = x
            w[_T + _NEXT] = now
        if flags & 2:
            x = (now + b[i - _ENTRY + 7]) & _M
            start = w[_Q + _NEXT]
            if start != x:
                e = w[_Q + _TAIL]
                if e - w[_Q + _HEAD] > mask:
                    _full(a, cells, 1)
                w[_Q + _TAIL] = e + 1
                e = _TABLES + ((mask + 1 + (e & mask)) << 2)
                w[e] = w[_P]
                w[e + 1] = start
                w[e + 2] = x
            w[_Q + _NEXT] = now
        e = w[_ROWS] + _BATCH
        if w[_T + _TAIL] >= e:
            # Enough rows wait; but is the prediction known as far as the last of them reaches?
            e = (w[_Q + _NEXT] - w[_TABLES + (((e - 1) & mask) << 2) + 2]) & _H
        else:
            e = 1
        if e == 0 or gone > _OLD:
            gone = 0
            advance(a, cells)
    if gone:
        # Nothing waits so long that the circle of times comes near to closing.
        x = 0
        if w[_T + _TAIL] != w[_T + _HEAD]:
            x = (now - w[_TABLES + ((w[_T + _HEAD] & mask) << 2) + 1]) & _M
        if w[_Q + _TAIL] != w[_Q + _HEAD]:
            e = (now - w[_TABLES + ((mask + 1 + (w[_Q + _HEAD] & mask)) << 2) + 1]) & _M
            if e > x:
                x = e
        if x > _OLD:
            advance(a, cells)


def _long(w, i, limbs):
    total = 0
    for k in range(limbs):
        total |= (w[i + k] & 0xFFFFFFFF) << (30 * k)
    return total


class Align:
    """Distance, confusion, latency and repetitions of two segment sequences.

    cap: pending segments a side, a power of two up to 512; labels: NULL included; closed: 1 for the
    paper's inclusive ends.
    """

    def __init__(self, ledger, cap, labels, closed):
        self.w = ledger.take("align", _TABLES + 8 * cap + labels * (labels + 2))
        self.cells = ledger.take_bytes("align", 2 * cap)
        w = self.w
        w[_MASK] = cap - 1
        w[_LABELS] = labels
        w[_CLOSED] = closed
        self.reset()

    def reset(self):
        w = self.w
        for i in range(_CLOSED + 1, len(w)):
            w[i] = 0
        for i in range(_STATS, _VALUES, _STAT):
            w[i + 7] = 0x7FFFFFFF

    def _stat(self, i):
        w = self.w
        n = w[_CORRECT]
        low = w[i + 7] - 0x40000000 if n else 0
        high = w[i + 8] - 0x40000000 if n else 0
        return [n, _long(w, i, 2) - _long(w, i + 2, 2), _long(w, i + 4, 3), low, high]

    def row(self, label):
        """The word at which the label's row of the confusion matrix begins."""
        w = self.w
        return _TABLES + 8 * (w[_MASK] + 1) + label * w[_LABELS]

    def raw(self):
        """Everything as whole numbers. Statistics: count, sum, sum of squares, min, max; the
        latency's are of twice the latency, the IoU's have 26 fraction bits."""
        w = self.w
        advance(w, self.cells)
        k = w[_LABELS]
        i = _TABLES + 8 * (w[_MASK] + 1)
        stats = {}
        for name in ("latency", "onset", "offset", "overlap", "duration", "iou"):
            stats[name] = self._stat(_STATS + _STAT * len(stats))
        return {
            "forced": w[_FORCED],
            "truth": w[_T + _DONE],
            "prediction": w[_Q + _DONE],
            "unmatched_truth": w[_T + _UNMATCHED],
            "unmatched_prediction": w[_Q + _UNMATCHED],
            "confusion": [list(w[i + k * g : i + k * g + k]) for g in range(k)],
            "split": list(w[i + k * k : i + k * k + k]),
            "merge": list(w[i + k * k + k : i + k * k + 2 * k]),
            "same": w[_SAME],
            "iou_q26": _long(w, _IOU, 2),
            "stats": stats,
            "early": w[_EARLY],
            "late": w[_LATE],
        }

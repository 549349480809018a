"""runs: samples or segments of one side become runs that follow each other without a gap.

The state is shared with join.py, which says what its words are. A run that is closed goes into its
side's ring, where the join takes it up. What runs at every change of label is viper, the rest bytecode.
"""

import sys

if sys.implementation.name == "micropython":
    import micropython
    from micropython import const
else:
    from gauge._cpython import const, micropython, ptr8, ptr32

_M = const(0x3FFFFFFF)
_H = const(0x20000000)  # half the circle of times: beyond it "later" and "earlier" swap
_LONGEST = const(0x10000000)  # a run is split here, so that every difference of times stays below _H
_FAR = const(0x1C000000)  # a side may be known at most that far ahead of the join
_BEHIND = const(0x30000000)
_STALE = const(0x3000000)  # with _FAR below _H: so far behind the join a side may be that is not told
_UNKNOWN = const(255)
_GOES_ON = const(0x1000000)  # in a run's label: the segment does not end with the run

_SLICE = const(1)
_OVERLAP = const(37)
_GAP = const(38)
_MASK = const(33)
_LABELS = const(39)
_POS = const(2)
_FAST = const(0)
_LOSING = const(43)
_LOST = const(44)
_BAD_ORDER = const(45)
_BAD_LABEL = const(46)
_BAD_RANGE = const(47)
_BAD_OVERLAP = const(48)
_SPLIT = const(49)
_SURE = const(83)
_SIDE = const(7)
_WORDS = const(10)
_STATE = const(0)
_LABEL = const(1)
_START = const(2)
_END = const(3)
_LAST = const(4)
_HEAD = const(5)
_TAIL = const(6)
_FIRST = const(7)
_LEAD = const(8)
_RAW = const(9)
_RING = const(84)
# The ring of changes of the confidence begins at word w[_SURE]: capacity - 1, head, tail, what was said last;
# what holds where the join is, and records that miss theirs (confidence.py); then tick and confidence of each.
_CHANGES_MASK = const(0)
_CHANGES_HEAD = const(1)
_CHANGES_TAIL = const(2)
_SAID = const(3)
_NOW = const(4)
_CHANGES = const(6)
_LOST_CHANGE = const(256)

# States of a side.
_UNHEARD = const(0)
_CLOSED = const(1)
_OPEN = const(2)


# A frame of more than eleven words would come from the heap: locals and what an expression has on the
# stack at a time. So functions are short, take few arguments, and order their sums to the left.


def push(w, side, end, over):
    """Puts the open run, closed at `end`, into the side's ring (`take` has the same in viper)."""
    o = _SIDE + _WORDS * side
    if w[o + _TAIL] - w[o + _HEAD] > w[_MASK] or _FAR < (end - w[_POS]) & _M < _BEHIND:
        _lose(w, side, end)
    i = (w[_MASK] + 1) * side + (w[o + _TAIL] & w[_MASK])
    w[o + _TAIL] += 1
    w[_RING + 2 * i] = w[o + _LABEL]
    w[_RING + 2 * i + 1] = end
    if w[_OVERLAP]:
        w[(w[_MASK] + 1) * 4 + i + _RING] = over
    w[_FAST] = 0


def _lose(w, side, end):
    # A full ring gives up its oldest run: the time up to its end will be unassessed. So does what is so far
    # back that the circle of times would close.
    o = _SIDE + _WORDS * side
    pos = w[_LOST] if w[_LOSING] else w[_POS]
    while w[o + _TAIL] - w[o + _HEAD] > w[_MASK] or _FAR < (end - pos) & _M < _BEHIND:
        if w[o + _TAIL] == w[o + _HEAD]:
            pos = (end - _FAR) & _M
        else:
            i = (w[_MASK] + 1) * side + (w[o + _HEAD] & w[_MASK])
            pos = w[_RING + 2 * i + 1]
            w[o + _HEAD] += 1
        _lost(w, o, pos)


def _lost(w, o, pos):
    w[_LOST] = pos
    w[_LOSING] = 1
    w[o + _LEAD] = 0
    # A side that was told nothing for long goes on where time is not lost yet: what it was told last would
    # soon seem to lie ahead.
    o = 2 * _SIDE + _WORDS - o
    if w[o + _STATE] and _STALE < (pos - w[o + _END]) & _M <= _H:
        w[o + _STATE] = _CLOSED
        w[o + _START] = w[o + _END] = pos
        w[o + _LAST] = (pos - 1) & _M


def _split(w, side):
    """Cuts an open run that has grown too long."""
    o = _SIDE + _WORDS * side
    while (w[o + _END] - w[o + _START]) & _M > _LONGEST:
        # + _LONGEST: a sum of 2^30 would be an object.
        w[o + _START] = (w[o + _START] - 3 * _LONGEST) & _M
        w[_SPLIT] += 1
        push(w, side, w[o + _START], 0)


def close(w, side):
    o = _SIDE + _WORDS * side
    w[_FAST] = 0
    if w[o + _STATE] == _OPEN:
        w[o + _STATE] = _CLOSED
        push(w, side, w[o + _END], 0)


def _gap(w, side, to):
    """Closes what is open and fills up to `to`, which is later than the side's end."""
    o = _SIDE + _WORDS * side
    close(w, side)
    if side:
        change(w, w[o + _END], 0)
        resume(w, to)
    w[o + _STATE] = _OPEN
    w[o + _LABEL] = 0 if side else w[_GAP]
    w[o + _START] = w[o + _END]
    w[o + _END] = to
    _split(w, side)
    close(w, side)


def begin(w, side, t):
    """The first time a side is heard of. The recording starts with the earliest side."""
    o = _SIDE + _WORDS * side
    other = _SIDE + _WORDS * (1 - side)
    if not w[other + _STATE] or (t - w[_POS]) & _H:
        w[_POS] = t
    w[o + _STATE] = _CLOSED
    w[o + _FIRST] = w[o + _END] = t
    w[o + _LAST] = (t - 1) & _M
    w[o + _LEAD] = 1
    if side:
        resume(w, t)


def change(w, t, confidence):
    """From tick `t` on the confidence is another one."""
    s = w[_SURE]
    if s:
        i = w[s + _CHANGES_TAIL]
        if i - w[s + _CHANGES_HEAD] > w[s + _CHANGES_MASK]:
            # Nobody knows what holds from here to the next change.
            w[s + _CHANGES_HEAD] += 1
            w[s + _NOW] = _LOST_CHANGE
        w[s + _CHANGES_TAIL] = i + 1
        i = s + _CHANGES + 2 * (i & w[s + _CHANGES_MASK])
        w[i] = t
        w[i + 1] = confidence


def resume(w, t):
    """From tick `t` on the confidence is what was said last."""
    if w[_SURE]:
        change(w, t, w[w[_SURE] + _SAID])


def sure(w, t, confidence):
    """The sample that comes next, for tick `t`, has another confidence; it has a known label."""
    s = w[_SURE]
    o = _SIDE + _WORDS
    n = (t - w[o + _END]) & _M
    if w[_OVERLAP]:
        return
    if not w[o + _STATE]:
        pass
    elif n & _H:
        # Early: it takes over where the last one ends, or is rejected.
        if _late(w, o, t):
            return
        change(w, w[o + _END], confidence)
    elif n < w[_SLICE] and (w[o + _STATE] == _OPEN or not n):
        change(w, t, confidence)
    # Else it begins after a gap.
    w[s + _SAID] = confidence


def _bad_label(w, side, label):
    return not (0 <= label < w[_LABELS] or label == _UNKNOWN and side == 0)


@micropython.viper
def _address(buffer) -> int:
    return int(ptr8(buffer)) & 3


try:
    # A pointer is a number only where kernels are machine code; elsewhere this is no decimal number.
    _address(b"\xff\xff")
    _machine_code = 1
except (ValueError, TypeError):
    _machine_code = 0


@micropython.viper
def take(w: ptr32, i: int, labels: ptr8, n: int, p, side: int, t: int) -> int:
    """One label a slice from `labels[i:n]`, the first at `t`, until the ring has no room.

    Returns the index of the first label not taken. With n = 0 it is one slice, of the label `i`.
    A sample that comes early takes over where the last one ends; a hole shorter than a slice is
    bridged by the label before it; a longer one is a gap. (`p` is the state `w` as an object; what is used
    most comes first among the arguments because the first two live in registers.)
    """
    o = _SIDE + _WORDS * side
    m = _M
    mask = w[_MASK]
    step = w[_SLICE]
    ring = _RING + (((mask + 1) * side) << 1)
    words = ptr32(labels)
    quick = 0
    most = n
    if n:
        if int(_machine_code):
            # Words are only to be had where the first label begins one.
            if int(labels) & 3 == 0:
                quick = 1
        if step > 1:
            # A run of them lasts no longer than an open run may.
            most = _LONGEST // step
    # The open run's label, and up to where the side is known; nothing fits where nothing was heard of or
    # segments may overlap.
    open = 0 - 1
    if w[o + _STATE] == _OPEN:
        open = w[o + _LABEL]
    known = w[o + _END]
    if w[o + _STATE] == 0 or w[_OVERLAP]:
        known = 0 - 1
    taken = 0 - 1  # up to there by this call
    while True:
        label = i
        k = 1
        if n:
            label = labels[i]
            k = i
            stop = n
            if n - i > most:
                stop = i + most
            i += 1
            if quick:
                # Four at a time, as words.
                while i & 3 and i < stop and labels[i] == label:
                    i += 1
                if i & 3 == 0:
                    x = label * 0x01010101
                    stop -= 7
                    while i < stop:
                        if words[i >> 2] != x:
                            stop = 0
                        elif words[(i >> 2) + 1] != x:
                            i += 4
                            stop = 0
                        else:
                            i += 8
                    stop = n
                    if n - k > most:
                        stop = k + most
            while i < stop and labels[i] == label:
                i += 1
            k = i - k
        start = t
        t = (t + k * step) & m
        end = t
        # In step and of a known label: anything else is looked at by `_odd`, which may reject it.
        if start != known or (label & 255) >= w[_LABELS]:
            if taken >= 0:
                w[o + _LAST] = (taken - step) & m
            taken = 0 - 1
            end = int(_odd(p, side, start, t, label))
            start = w[o + _END]
            known = 0 - 1
            open = known
            if w[o + _STATE] == _OPEN:
                open = w[o + _LABEL]
        if start != end:
            if open != label:
                w[_FAST] = 0
                if open >= 0:
                    # The open run goes into the ring.
                    if (open ^ label) & 255 == 0:
                        # Only what goes with the label changes: the segment goes on.
                        open |= _GOES_ON
                    k = w[o + _TAIL]
                    if k - w[o + _HEAD] > mask:
                        _lose(p, side, start)
                    elif known < 0:
                        # (The end of a run that was in step was not too far ahead.)
                        x = (start - w[_POS]) & m
                        if x > _FAR and x < _BEHIND:
                            _lose(p, side, start)
                    w[o + _TAIL] = k + 1
                    k = ring + ((k & mask) << 1)
                    w[k] = open
                    w[k + 1] = start
                else:
                    w[o + _STATE] = _OPEN
                w[o + _LABEL] = label
                if open < _GOES_ON:
                    w[o + _START] = start
                open = label
            known = end
            taken = end
            w[o + _END] = end
            if (end - w[o + _START]) & m > _LONGEST:
                _split(p, side)
            x = (end - w[_POS]) & m
            if x > _FAR and x < _BEHIND:
                _lose(p, side, end)
        if i >= n or w[o + _TAIL] - w[o + _HEAD] > mask - 3:
            break
    if taken >= 0:
        w[o + _LAST] = (taken - step) & m
    return i


def _odd(w, side, t, end, label):
    # The end of what the samples from `t` to `end` cover; what is missing before it is filled in.
    # Where they are rejected: the end of what is known.
    if _bad_label(w, side, label & 255 if side else label):
        _reject(w, _BAD_LABEL, t, end)
    elif w[_OVERLAP]:
        # Where segments may overlap only whole segments are taken.
        _reject(w, _BAD_OVERLAP, t, end)
    else:
        return _place(w, side, t, end)
    return w[_SIDE + _WORDS * side + _END]


def _reject(w, reason, t, end):
    w[reason] += ((end - t) & _M) // w[_SLICE]


def _place(w, side, t, end):
    o = _SIDE + _WORDS * side
    if w[o + _STATE] == _UNHEARD:
        begin(w, side, t)
    n = (t - w[o + _END]) & _M
    if 0 < n < _H:
        if n < w[_SLICE] and w[o + _STATE] == _OPEN:
            w[o + _END] = t
        else:
            _gap(w, side, t)
        return end
    n = _late(w, o, t)
    if n >= ((end - t) & _M) // w[_SLICE]:
        _reject(w, _BAD_ORDER, t, end)
        return w[o + _END]
    w[_BAD_ORDER] += n
    return end


def _late(w, o, t):
    # How many slices from `t` on begin no later than the last sample, or end before what is known.
    n = ((w[o + _END] - t) & _M) // w[_SLICE]
    t = (w[o + _LAST] - t) & _M
    return n if t & _H else max(n, t // w[_SLICE] + 1)


def segment(w, label, start, end):
    """A whole segment `[start, end)`, known at its end. label: label << 1 | side.

    The usual ones never come here: `segments` of samples.py does the same for them.
    """
    side = label & 1
    label >>= 1
    start &= _M
    end &= _M
    if _bad_label(w, side, label):
        w[_BAD_LABEL] += 1
        return
    if not 0 < (end - start) & _M <= _LONGEST:
        w[_BAD_RANGE] += 1
        return
    o = _SIDE + _WORDS * side
    if w[o + _STATE] == _UNHEARD:
        begin(w, side, start)
    if w[_OVERLAP] and w[o + _STATE] == _OPEN:
        if (start - w[o + _START]) & _H or (end - w[o + _RAW]) & _H:
            w[_BAD_ORDER] += 1
            return
        release(w, side, start)
    ahead = (start - w[o + _END]) & _M
    if ahead >= _H:
        if (start - w[o + _START]) & _H:
            w[_BAD_ORDER] += 1
        else:
            w[_BAD_OVERLAP] += 1
        return
    if ahead:
        _gap(w, side, start)
    close(w, side)
    w[o + _STATE] = _OPEN
    w[o + _LABEL] = label
    w[o + _START] = start
    w[o + _LAST] = (end - 1) & _M
    if w[_OVERLAP]:
        # Held back until the next one's start is known: from there on the later one counts (a tick
        # has one label), while the alignment gets both whole. The side is known up to here only.
        w[o + _RAW] = end
        w[o + _END] = start
    else:
        w[o + _END] = end
        close(w, side)


def release(w, side, start):
    """The held segment's own time ends at `start` if the next one starts before its end."""
    o = _SIDE + _WORDS * side
    over = (w[o + _RAW] - start) & _M
    if over >= _H:
        over = 0
    w[o + _END] = (w[o + _RAW] - over) & _M
    w[o + _STATE] = _CLOSED
    push(w, side, w[o + _END], over)


def behind(w):
    """The side that is known less far."""
    if w[_SIDE + _STATE] and w[_SIDE + _WORDS + _STATE]:
        return 0 if (w[_SIDE + _END] - w[_SIDE + _WORDS + _END]) & _H else 1
    return 1 if w[_SIDE + _STATE] else 0


def end(w, side, to):
    """The recording ends: the side is filled up to the latest tick that either was told of, and closed."""
    o = _SIDE + _WORDS * side
    if not w[o + _STATE]:
        begin(w, side, w[_POS])
    elif w[_OVERLAP] and w[o + _STATE] == _OPEN:
        release(w, side, w[o + _RAW])
    if 0 < (to - w[o + _END]) & _M < _H:
        _gap(w, side, to)
    close(w, side)


def latest(w):
    """The latest tick that either side was told of; -1: none."""
    found = -1
    for side in range(2):
        o = _SIDE + _WORDS * side
        if w[o + _STATE]:
            to = w[o + _RAW] if w[_OVERLAP] and w[o + _STATE] == _OPEN else w[o + _END]
            if found < 0 or 0 < (to - found) & _M < _H:
                found = to
    return found


def give_up(w):
    """What is known on one side only stays unassessed: nothing more will be told of it."""
    to = latest(w)
    if to >= 0:
        w[_LOST] = to
        w[_LOSING] = 1
        w[_FAST] = 0

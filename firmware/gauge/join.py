"""join: two label streams become pieces of time in which truth and prediction are known.

`step` walks the time that both sides know, once and in order, and writes what happened into a small
buffer of entries, which every estimator reads:

    g, p       labels of the piece; g = 255: truth unknown or unassessed; p carries a second recogniser's
               label in bits 16 to 23
    (unused)
    ticks      length of the piece that ended here
    records    slices of it that no estimator has seen yet
    flags      1 the truth segment ends here, 2 the predicted segment ends here, 8 unassessed,
               16 a hard edge: the recording ends here
    over       how far the ended true and predicted segment itself reaches on (two words, 0 unless
               segments may overlap)

Times are taken modulo 2^30, as `time.ticks_ms` counts. No stored number is negative: a 64-bit build
loads words without their sign.
"""

import os
import sys
import time

if sys.implementation.name == "micropython":
    import micropython
    from micropython import const
else:
    from gauge._cpython import const, micropython, ptr32

_M = const(0x3FFFFFFF)
_H = const(0x20000000)
_STALE = const(0x3000000)
_UNKNOWN = const(255)
_GOES_ON = const(0x1000000)
_ENTRY = const(8)

# Words of the state. The first can be reached by one machine instruction.
_FAST = const(0)  # both sides go on with the open piece's labels, no ring is used
_SLICE = const(1)  # ticks
_POS = const(2)  # everything before is joined
_PHASE = const(3)  # ticks from there to the start of the next slice
_TICKS = const(4)  # its length
_RECORDS = const(5)  # its slices not handed on yet
_LIMIT = const(6)  # that many of them are too many to wait
_OVER = const(27)  # how far each side's segment overlaps the next one
_MASK = const(33)  # runs a side - 1
_KG = const(34)  # labels of the open piece
_KP = const(35)
_KU = const(36)  # 8 while it is unassessed
_OVERLAP = const(37)  # segments of one side may overlap
_GAP = const(38)  # label of a gap in the truth: 0 or UNKNOWN
_LABELS = const(39)
_ON = const(40)  # both sides were heard of: the join runs
_MORE = const(41)  # `step` stopped because the buffer was full
_FLUSH = const(42)  # hand on whatever is pending
_LOSING = const(43)  # a ring overflowed: up to _LOST nothing can be assessed
_LOST = const(44)
_BAD_ORDER = const(45)
_BAD_LABEL = const(46)
_BAD_RANGE = const(47)
_BAD_OVERLAP = const(48)
_SPLIT = const(49)
_ASSESSED = const(50)  # ticks, two limbs of 30 bits
_UNKNOWN_TICKS = const(52)
_UNASSESSED = const(54)
# Samples that came while the node was busy (node.py): an interrupt handler's, inside an update.
_BUSY = const(56)
_QUEUED = const(57)  # put into the queue and taken out of it, counted from the start
_TAKEN = const(58)
_OVERRUN = const(59)  # found it full
_EPOCH = const(60)  # number of the recording, see labels.py
# What goes with the next predicted label: other recogniser's label << 16.
_WITH = const(61)
_BIN = const(78)  # a confidence is kept as the middle of its bin: these bits, and half a bin
_HALF_BIN = const(79)
_GROUP = const(80)  # slices that are handed on together, to save calls
_OUT = const(81)  # entries that wait in the buffer, and the slices in them
_HELD = const(82)
_SURE = const(83)  # where the ring of changes of the confidence begins (runs.py); 0: nobody reads them
_RING = const(84)  # the queue from 62; label and end of each run; after both rings the overlaps
# Words of a side: truth from 7, prediction from 17.
_SIDE = const(7)
_WORDS = const(10)
_STATE = const(0)  # 0 unheard of, 1 nothing open, 2 a run is open
_LABEL = const(1)  # of the open run
_START = const(2)
_END = const(3)  # the side is known up to here
_LAST = const(4)  # time of the last sample
_HEAD = const(5)  # of the ring of closed runs, counted from the start
_TAIL = const(6)
_FIRST = const(7)  # where the side begins
_LEAD = const(8)  # the gap before it is still to be joined
_RAW = const(9)  # end of the held segment where segments may overlap

_OPEN = const(2)

# Words of the ring of changes.
_CHANGES_HEAD = const(1)
_CHANGES_TAIL = const(2)
_SAID = const(3)
_NOW = const(4)
_MISSED = const(5)
_CHANGES = const(6)

# What happens where a side's label ends; 1 more: its segment does not end there.
_GOES = const(0)  # it is open and may go on
_UNTOLD = const(2)  # nobody told yet
_ENDS = const(4)  # the run leaves the ring
_LEAVES = const(6)  # the gap before the side's first segment ends


@micropython.viper
def step(w: ptr32, n: int, p, b: ptr32, room: int) -> int:
    """Joins what is known on both sides and writes entries into `b`, which has room for `room`.

    Returns how many are to be handed on now, 0 while they may wait. `_MORE` tells whether to call again.
    (`p` is the state `w` as an object; `n` is an argument because the first two live in registers.)
    """
    w[_MORE] = 0
    w[_FAST] = 0
    if w[_ON] == 0:
        # It starts when both sides were heard of, or one alone can wait no longer.
        if (w[_SIDE + _STATE] == 0 or w[_SIDE + _WORDS + _STATE] == 0) and w[_LOSING] == 0:
            return 0
        _start(p)
    mask = w[_MASK]
    overlap = w[_OVERLAP]
    # Entries wait in the buffer, and records with them, until there are enough to hand on.
    out = w[_OUT] * _ENTRY
    held = w[_HELD]
    hand_on = 0
    # The open piece.
    kg = w[_KG]
    kp = w[_KP]
    ku = w[_KU]
    # What to write at the next turn: nothing (negative), or an entry with these flags and labels that
    # leaves `keep` ticks of the piece open.
    flags = 0 - 1
    g = 0
    h = 0
    keep = 0
    # Which sides' labels at `_POS` are looked up (bits), what they are, for how many ticks they hold, and what
    # then happens.
    known = 0
    label_t = 0
    label_p = 0
    left_t = 0
    left_p = 0
    then_t = 0
    then_p = 0
    room *= _ENTRY
    while True:
        if flags >= 0:
            n = w[_TICKS] - keep
            b[out] = g
            b[out + 1] = h
            b[out + 3] = n
            i = w[_RECORDS]
            b[out + 4] = i
            b[out + 5] = flags | ku
            if overlap:
                b[out + 6] = w[_OVER]
                b[out + 7] = w[_OVER + 1]
            out += _ENTRY
            held += i
            w[_TICKS] = keep
            w[_RECORDS] = 0
            keep = 0
            flags = 0 - 1
            i = _ASSESSED
            if g == _UNKNOWN:
                i = _UNKNOWN_TICKS
                if ku:
                    i = _UNASSESSED
            n += w[i]
            if n > _M:
                n &= _M
                w[i + 1] = w[i + 1] + 1
            w[i] = n
            if out == room:
                w[_MORE] = 1
                hand_on = 1
                break
        pos = w[_POS]
        unassessed = 0
        if w[_LOSING]:
            # Every label is as good as unknown up to there.
            unassessed = 8
            known = 0
            label_t = _UNKNOWN
            label_p = 0
            n = (w[_LOST] - pos) & _M
            if n == 0 or n & _H:
                w[_LOSING] = 0
                continue
        else:
            while known < 3:
                # The truth first, then the prediction.
                s = known & 1
                o = _SIDE + _WORDS * s
                i = w[o + _HEAD]
                if w[o + _LEAD]:
                    h = 0
                    if s == 0:
                        h = w[_GAP]
                    n = w[o + _FIRST]
                    i = _LEAVES
                elif w[o + _TAIL] > i:
                    i = (i & mask) + (mask + 1) * s
                    if overlap:
                        w[_OVER + s] = w[_RING + (mask + 1) * 4 + i]
                    i = _RING + (i << 1)
                    h = w[i]
                    n = w[i + 1]
                    i = _ENDS
                    if h >= _GOES_ON:
                        h &= 0xFFFFFF
                        i = _ENDS + 1
                elif w[o + _STATE] == _OPEN:
                    h = w[o + _LABEL]
                    n = w[o + _END]
                    i = _GOES
                else:
                    # Nothing is known beyond the last closed run.
                    h = kg
                    if s:
                        h = kp
                    n = pos
                    i = _UNTOLD
                n = (n - pos) & _M
                if n & _H:
                    # It lies in time that was lost.
                    n = 0
                    i |= 1
                if s:
                    known = 3
                    label_p = h
                    left_p = n
                    then_p = i
                else:
                    known |= 1
                    label_t = h
                    left_t = n
                    then_t = i
            n = left_t
            if left_p < n:
                n = left_p
        if n:
            if kg != label_t or kp != label_p or ku != unassessed:
                if w[_TICKS] or w[_RECORDS]:
                    flags = 0
                    g = kg
                    h = kp
                    continue
                ku = unassessed
                kg = label_t
                kp = label_p
            w[_LOSING] = 0
            w[_POS] = (pos + n) & _M
            w[_TICKS] = w[_TICKS] + n
            i = w[_PHASE] - n
            if i < 0:
                # Its slices: without a division where it is one, or a slice is a tick.
                s = w[_SLICE]
                o = 1
                if s == 1:
                    o = 0 - i
                elif i + s < 0:
                    o = (s - 1 - i) // s
                w[_RECORDS] = w[_RECORDS] + o
                i += o * s
            w[_PHASE] = i
            if unassessed:
                continue
            left_t -= n
            left_p -= n
        # What is used up leaves its ring, and its segment ends here.
        h = 0
        if left_t == 0 and then_t >= _ENDS:
            known &= 2
            if then_t >= _LEAVES:
                w[_SIDE + _LEAD] = 0
            else:
                w[_SIDE + _HEAD] = w[_SIDE + _HEAD] + 1
            h = 4
            if then_t & 1 == 0:
                h = 5
        if left_p == 0 and then_p >= _ENDS:
            known &= 1
            if then_p >= _LEAVES:
                w[_SIDE + _WORDS + _LEAD] = 0
            else:
                w[_SIDE + _WORDS + _HEAD] = w[_SIDE + _WORDS + _HEAD] + 1
            h |= 4
            if then_p & 1 == 0:
                h |= 2
        if h:
            if h > 4:
                flags = h & 3
                g = kg
                # Where segments overlap, known time may begin with one whose ticks the next one takes.
                if g != _UNKNOWN or (overlap and ku == 0 and w[_TICKS] == 0 and w[_RECORDS] == 0):
                    if h & 1:
                        g = label_t
                h = kp
                if flags & 2:
                    h = label_p
        elif n == 0:
            if w[_FLUSH] == 0 and ku == 0:
                keep = w[_TICKS]
            hand_on = w[_FLUSH]
            if held + w[_RECORDS] >= w[_GROUP]:
                hand_on = 1
            if w[_TICKS] > keep or (hand_on and w[_RECORDS]):
                flags = 0
                g = kg
                h = kp
                continue
            w[_FLUSH] = 0
            if then_t == _GOES and then_p == _GOES and ku == 0 and overlap == 0:
                if kg == label_t and kp == label_p:
                    w[_FAST] = 1
            break
    w[_KG] = kg
    w[_KP] = kp
    w[_KU] = ku
    out = out // _ENTRY
    w[_OUT] = 0
    w[_HELD] = 0
    if hand_on == 0:
        w[_OUT] = out
        w[_HELD] = held
        out = 0
    w[_LIMIT] = w[_GROUP] - w[_HELD]
    return out


def _start(w):
    w[_ON] = 1
    for s in range(2):
        o = _SIDE + _WORDS * s
        if not w[o + _STATE]:
            # It is told of later, if at all; what it then says of the time before counts for nothing.
            w[o + _STATE] = 1
            w[o + _FIRST] = w[o + _END] = w[_POS]
            if w[_LOSING] and (w[_LOST] - w[_POS]) & _M > _STALE:
                # As `_lost` in runs.py.
                w[o + _END] = w[_LOST]
            w[o + _LAST] = (w[o + _END] - 1) & _M
        w[o + _LEAD] = 1 if w[o + _FIRST] != w[_POS] else 0


def restart(w):
    """The next sample starts a recording of its own; counters stay."""
    for i in range(_BAD_ORDER):
        if i not in (_SLICE, _MASK, _OVERLAP, _GAP, _LABELS):
            w[i] = 0
    w[_OUT] = w[_HELD] = 0
    w[_LIMIT] = w[_GROUP]
    w[_KG] = 256
    if w[_SURE]:
        w[w[_SURE] + _CHANGES_HEAD] = w[w[_SURE] + _CHANGES_TAIL] = w[w[_SURE] + _NOW] = 0


def reset(w):
    restart(w)
    w[_OVERRUN] = 0
    w[_WITH] = 0
    if w[_SURE]:
        w[w[_SURE] + _SAID] = w[w[_SURE] + _MISSED] = 0
    for i in range(_BAD_ORDER, _BUSY):
        w[i] = 0


def flush(w):
    """A read-out comes: the next `step` hands on what is pending."""
    w[_FLUSH] = 1


def layout(config, ledger):
    """The state for a config, taken from the ledger."""
    cap = config["runs"]
    words = _RING + (6 if config["overlap"] else 4) * cap
    sure = config.get("options", {}).get("reliability", {})
    changes = sure.get("changes", 64) if "reliability" in config["estimators"] else 0
    w = ledger.take("join", words + (_CHANGES + 2 * changes if changes else 0))
    if changes:
        w[_SURE] = words
        w[words] = changes - 1
    w[_SLICE] = config["slice"]
    w[_OVERLAP] = config["overlap"]
    w[_GAP] = _UNKNOWN if config["gaps_unknown"] else 0
    w[_MASK] = cap - 1
    w[_LABELS] = len(config["labels"])
    w[_GROUP] = config.get("group", 16)
    bins = sure.get("bins", 16)
    w[_BIN] = 256 - 256 // bins
    w[_HALF_BIN] = 128 // bins
    restart(w)
    return w


def new_epoch(w):
    """Numbers the recording that begins anew, at random: labels for another one are not taken for it."""
    try:
        b = os.urandom(4)
        n = b[0] | b[1] << 8 | b[2] << 16 | (b[3] & 63) << 24
    except (AttributeError, NotImplementedError):
        n = (time.ticks_us() ^ w[_EPOCH] * 40503) & _M
    w[_EPOCH] = n or 1


def epoch(w):
    """The recording's number."""
    return w[_EPOCH]


def position(w):
    """The tick up to which truth and prediction are joined, or given up."""
    return w[_POS]


def heard(w, side):
    """Whether the side has begun."""
    return w[_SIDE + _WORDS * side + _STATE] != 0


def crowded(w):
    """Whether predictions that wait for their truth fill three quarters of their ring."""
    o = _SIDE + _WORDS
    return 4 * (w[o + _TAIL] - w[o + _HEAD]) > 3 * w[_MASK]


def told(w, side):
    """The tick up to which a side was told, or the present beginning where it was not heard of."""
    o = _SIDE + _WORDS * side
    return w[o + _END] if w[o + _STATE] else w[_POS]


def figures(w, out):
    """Into `out`, two limbs each: ticks joined up to, truth and prediction told up to; assessed, unknown and
    unassessed ticks; input rejected for order, label, range, overlap; forced splits; samples lost."""
    for i in range(24):
        out[i] = 0
    out[0] = w[_POS]
    out[2] = told(w, 0)
    out[4] = told(w, 1)
    for i in range(6):
        out[6 + i] = w[_ASSESSED + i]
    for i in range(5):
        out[12 + 2 * i] = w[_BAD_ORDER + i]
    out[22] = w[_OVERRUN]


_COUNTERS = ("order", "label", "range", "overlap", "split")
_TIMES = ("assessed", "unknown", "unassessed")


def raw(w):
    """Rejected input by reason, and the time that was and was not assessed, in ticks."""
    counters = {name: w[_BAD_ORDER + i] for i, name in enumerate(_COUNTERS)}
    counters["overrun"] = w[_OVERRUN]
    return (
        counters,
        {name: w[_ASSESSED + 2 * i] + (w[_ASSESSED + 2 * i + 1] << 30) for i, name in enumerate(_TIMES)},
    )

"""The confidence of each record, for what reads it (reliability.py).

Confidences change at almost every slice, labels seldom. So they do not cut runs: the changes of the
confidence have a ring of their own, each with its tick, in the join's state (runs.py puts them there). When
records are handed on, each gets the confidence that holds where its slice begins.

A ring that is full loses its oldest change, and the records whose confidence nobody knows any more are
counted and left out. Time that no prediction covers has the confidence 0.
"""

import sys

if sys.implementation.name == "micropython":
    import micropython
    from micropython import const
else:
    from gauge._cpython import const, micropython, ptr32

from gauge.reliability import feed as _table

_M = const(0x3FFFFFFF)
_H = const(0x20000000)
_ENTRY = const(8)

# Words of the join.
_SLICE = const(1)
_POS = const(2)
_PHASE = const(3)
_RECORDS = const(5)
_SURE = const(83)
# And of the ring, see runs.py.
_HEAD = const(1)
_TAIL = const(2)
_NOW = const(4)
_MISSED = const(5)
_CHANGES = const(6)
_LOST = const(256)

ROOM = const(8)  # entries


@micropython.viper
def feed(parts, n: int, more, b: ptr32, entries: int):
    """Takes `entries` entries of the join; parts: its state, room for `ROOM` entries, the table's state. (`more`
    are the same once more, as every estimator has it.)"""
    w = ptr32(parts[0])
    buffer = parts[1]
    out = ptr32(buffer)
    s = w[_SURE]
    mask = w[s]
    step = w[_SLICE]
    entries *= _ENTRY
    # The records that end here began before the join's position, and so did those it still holds.
    n = w[_RECORDS]
    e = 4
    while e < entries:
        n += b[e]
        e += _ENTRY
    now = (w[_POS] + w[_PHASE] - n * step) & _M
    confidence = w[s + _NOW]
    head = w[s + _HEAD]
    tail = w[s + _TAIL]
    # Ticks from there to the next change; from then on each change is told by the one before it.
    ahead = _H
    i = s + _CHANGES + ((head & mask) << 1)
    if head < tail:
        ahead = ((w[i] - now + _H) & _M) - _H
    o = 0
    e = 0
    while e < entries:
        left = b[e + 4]
        while left:
            while ahead <= 0:
                confidence = w[i + 1]
                now = w[i]
                head += 1
                i = s + _CHANGES + ((head & mask) << 1)
                if head < tail:
                    ahead += (w[i] - now) & _M
                else:
                    ahead = _H
            n = left
            if ahead <= step:
                n = 1
            elif ahead < left * step:
                n = (ahead + step - 1) // step
            left -= n
            if confidence == _LOST:
                w[s + _MISSED] = (w[s + _MISSED] + n) & _M
            else:
                out[o] = b[e]
                out[o + 1] = (b[e + 1] & 255) | confidence << 8
                out[o + 4] = n
                o += _ENTRY
                if o == ROOM * _ENTRY:
                    table = parts[2]
                    _table(table, 0, table, buffer, ROOM)
                    o = 0
            if head < tail:
                ahead -= n * step
        e += _ENTRY
    if o:
        table = parts[2]
        _table(table, 0, table, buffer, o // _ENTRY)
    w[s + _NOW] = confidence
    w[s + _HEAD] = head


def missed(w):
    """Records without a confidence, because too many changes waited for their truth; modulo 2^30."""
    return w[w[_SURE] + _MISSED]

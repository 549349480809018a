"""Truth that is told out of order: segments wait, ordered by time, until what is before them is told.

What waits is given on when it begins where the truth told so far ends, or when the earliest must go:
because the ring is full, because predictions that wait for their truth fill three quarters of the
join's ring, or because the program says that no more will come. The hole before it is then a gap.
"""

import sys

if sys.implementation.name == "micropython":
    from micropython import const
else:
    from gauge._cpython import const

from gauge import join

_M = const(0x3FFFFFFF)
_H = const(0x20000000)
_LONGEST = const(0x10000000)
_UNKNOWN = const(255)

COUNT = const(0)
_FIRST = const(1)  # start, end, label of each, the earliest first

# What became of a segment; the numbers are those of the label protocol.
TAKEN = const(0)
LATE = const(6)
AHEAD = const(9)
OVERLAP = const(11)


def _before(a, b):
    return 0 < (b - a) & _M < _H


class Waiting:
    """room: segments that can wait; 0: each is given on at once. node: what they are given on to."""

    def __init__(self, node, room):
        self._node = node
        self._room = room
        self.w = node.ledger.take("waiting", _FIRST + 3 * room)

    def told(self):
        """All truth before this tick is told or given up."""
        w = self._node._join
        t = join.told(w, 0)
        return join.position(w) if _before(t, join.position(w)) else t

    def take(self, label, start, end):
        """A true segment `[start, end)`: TAKEN, or why it can be of no use."""
        code = self._judge(start, end)
        if code == TAKEN:
            self._follow()
            self._place(label, start, end)
            self._follow()
        return code

    def until(self, to):
        """All truth before `to` is told."""
        w = self._node._join
        if join.heard(w, 0) or join.heard(w, 1):
            if self._far(to):
                return AHEAD
            while self.w[COUNT] and _before(self.w[_FIRST], to):
                self._give()
            told = self.told()
            if _before(told, to):
                self._give_on(_UNKNOWN if self._node.config["gaps_unknown"] else 0, told, to)
            self._follow()
        return TAKEN

    def relieve(self):
        """Gives on what must go, so that predictions are not lost while truth for them is here."""
        while self.w[COUNT] and join.crowded(self._node._join):
            self._give()
            self._follow()

    def settle(self):
        """No more will come in between."""
        while self.w[COUNT]:
            self._give()

    def _far(self, t):
        return _LONGEST < (t - join.position(self._node._join)) & _M < _H

    def _judge(self, start, end):
        w = self._node._join
        if join.heard(w, 0):
            if _before(start, join.told(w, 0)) or not _before(self.told(), end):
                return LATE
        elif not join.heard(w, 1):
            return TAKEN
        elif _LONGEST < (join.position(w) - start) & _M < _H:
            return LATE
        if self._far(end):
            return AHEAD
        return OVERLAP if self._overlaps(start, end) else TAKEN

    def _overlaps(self, start, end):
        if self._node.config["overlap"]:
            return False
        w = self.w
        i = _FIRST + 3 * w[COUNT]
        while i > _FIRST:
            i -= 3
            if _before(start, w[i + 1]) and _before(w[i], end):
                return True
        return False

    def _place(self, label, start, end):
        while self._must_wait(start):
            if self.w[COUNT] < self._room:
                self._insert(label, start, end)
                return
            if not self._room or _before(start, self.w[_FIRST]):
                break
            self._give()
            self._follow()
        self._give_on(label, start, end)

    def _must_wait(self, start):
        w = self._node._join
        return (join.heard(w, 0) or join.heard(w, 1)) and _before(self.told(), start)

    def _insert(self, label, start, end):
        w = self.w
        i = _FIRST + 3 * w[COUNT]
        while i > _FIRST and _before(start, w[i - 3]):
            w[i] = w[i - 3]
            w[i + 1] = w[i - 2]
            w[i + 2] = w[i - 1]
            i -= 3
        w[i] = start
        w[i + 1] = end
        w[i + 2] = label
        w[COUNT] += 1

    def _follow(self):
        # Those that begin where the truth ends by now.
        while self.w[COUNT] and not _before(self.told(), self.w[_FIRST]):
            self._give()

    def _give(self):
        # The earliest goes.
        w = self.w
        start = w[_FIRST]
        end = w[_FIRST + 1]
        label = w[_FIRST + 2]
        w[COUNT] -= 1
        for i in range(_FIRST, _FIRST + 3 * w[COUNT]):
            w[i] = w[i + 3]
        self._give_on(label, start, end)

    def _give_on(self, label, start, end):
        node = self._node
        node.truth_segment(label, start, (end - node.config["closed"]) & _M)

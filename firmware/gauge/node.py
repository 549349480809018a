"""The node: one object that takes labels and truth and knows how good the labels are."""

import sys

if sys.implementation.name == "micropython":
    import micropython
    from micropython import const
else:
    from gauge._cpython import const, micropython, ptr32

from gauge import join, runs
from gauge.align import Align
from gauge.align import feed as _feed_align
from gauge.join import step
from gauge.ledger import Ledger
from gauge.loss import Losses, record
from gauge.prequential import Prequential
from gauge.prequential import feed as _feed_prequential
from gauge.runs import cover
from gauge.slices import Slices
from gauge.slices import feed as _feed_slices

_M = const(0x3FFFFFFF)
_LONGEST = const(0x10000000)
_ROOM = const(16)  # entries
_ENTRY = const(8)

# Words of the join that the fast path reads and writes itself; join.py says what they are.
_SLICE = const(0)
_POS = const(6)
_PHASE = const(7)
_TICKS = const(11)
_RECORDS = const(12)
_GROUP = const(13)
_FAST = const(14)
_MORE = const(15)
_BAD_LABEL = const(20)
_T = const(30)
_Q = const(40)
_LABEL = const(1)
_START = const(2)
_END = const(3)
_LAST = const(4)


class Node:
    """Assesses a stream of labels against the truth it is given, in memory taken at construction.

    config: a dict as `streamgauge` compiles it from a profile and a task (see `gauge.load`).
    Raises `gauge.LedgerFull` where the profile's `state_bytes` do not suffice.
    Times are whole ticks, modulo 2^30; labels are 0 (NULL) to the number of labels - 1, and in the
    truth 255 (UNKNOWN). Input that makes no sense is counted (`raw()["counters"]`), never raised.
    """

    def __init__(self, config):
        self.config = config
        self.ledger = Ledger(config.get("state_bytes", 0))
        on = config["estimators"]
        labels = len(config["labels"])
        self._join = join.layout(config, self.ledger)
        self._entries = self.ledger.take("entries", _ROOM * _ENTRY)
        self.align = self.slices = self.prequential = self.losses = None
        self._align = self._cells = self._slices = self._prequential = None
        if "align" in on:
            self.align = Align(self.ledger, config["pending"], labels, config["closed"])
            self._align = self.align.w
            self._cells = self.align.cells
        if "slices" in on:
            self.slices = Slices(self.ledger, labels)
            self._slices = self.slices.w
        if "prequential" in on:
            self.prequential = Prequential(self.ledger, config["window"], config["alpha_q30"])
            self._prequential = self.prequential.w
        if config.get("loss_max"):
            self.losses = Losses(self.ledger, config["window"], config["alpha_q30"], config["loss_max"])

    @micropython.viper
    def predict(self, t, label):
        """The recogniser says `label` for the slice that begins at tick `t`."""
        self._sample(1, t, label)

    @micropython.viper
    def truth(self, t, label):
        """The truth of the slice that begins at tick `t`; 255 where nobody knows it."""
        self._sample(0, t, label)

    @micropython.viper
    def _sample(self, side: int, t, label):
        j = self._join
        w = ptr32(j)
        try:
            x = int(label)
            now = int(t)
        except Exception:
            w[_BAD_LABEL] += 1
            return
        # The usual case: the label goes on, one slice further.
        o = _T + (_Q - _T) * side
        if w[_FAST] and now == w[o + _END] and x == w[o + _LABEL]:
            if ((now - w[o + _START]) & _M) < _LONGEST - w[_SLICE]:
                end = (now + w[_SLICE]) & _M
                w[o + _END] = end
                w[o + _LAST] = now
                n = (w[_T + _Q - o + _END] - w[_POS]) & _M
                k = (end - w[_POS]) & _M
                if k < n:
                    n = k
                if n:
                    w[_POS] = (w[_POS] + n) & _M
                    w[_TICKS] += n
                    n = w[_PHASE] - n
                    k = w[_RECORDS]
                    while n < 0:
                        n += w[_SLICE]
                        k += 1
                    w[_PHASE] = n
                    w[_RECORDS] = k
                    if k >= w[_GROUP]:
                        self._pump()
                return
        cover(j, side, now, w[_SLICE], x)
        self._pump()

    def predict_segment(self, label, start, end):
        """The recogniser's segment `[start, end)` in ticks (both ends inclusive in closed mode)."""
        self._segment(1, label, start, end)

    def truth_segment(self, label, start, end):
        """A true segment `[start, end)` in ticks (both ends inclusive in closed mode)."""
        self._segment(0, label, start, end)

    def _segment(self, side, label, start, end):
        try:
            runs.segment(self._join, side, label, start, end + self.config["closed"])
        except TypeError:
            self._join[_BAD_LABEL] += 1
        self._pump()

    def predict_batch(self, t, labels):
        """One label a slice from tick `t` on: bytes, bytearray or array('B')."""
        self._batch(1, t, labels)

    def truth_batch(self, t, labels):
        """One true label a slice from tick `t` on: bytes, bytearray or array('B')."""
        self._batch(0, t, labels)

    def _batch(self, side, t, labels):
        i = 0
        while i < len(labels):
            k = runs.scan(i, labels, len(labels), self._join, side, t)
            t = (t + (k - i) * self._join[_SLICE]) & _M
            i = k
            self._pump()

    @micropython.viper
    def _pump(self):
        # Joins what is known by now and hands it on. Here, and only here, is the order of things.
        j = self._join
        b = self._entries
        w = ptr32(j)
        more = 1
        while more:
            n = int(step(j, b, _ROOM))
            more = w[_MORE]
            if n:
                a = self._slices
                if a:
                    _feed_slices(a, b, n)
                a = self._prequential
                if a:
                    _feed_prequential(a, b, n)
                a = self._align
                if a:
                    _feed_align(a, self._cells, b, n)

    def loss(self, x):
        """A loss of the program's own, a whole number in [0, loss_max]."""
        record(self.losses.w, self.losses.ring, x)

    def finish(self):
        """The recording ends: open segments are closed and everything is settled. What comes next
        is a recording of its own; the figures go on."""
        if runs.end(self._join):
            self._pump()
            if self.align:
                self.align.finish()
            if self.slices:
                self.slices.finish()
            join.restart(self._join)

    def reset(self):
        """All figures start anew."""
        join.reset(self._join)
        for part in (self.align, self.slices, self.prequential, self.losses):
            if part:
                part.reset()

    def raw(self):
        """Every figure as whole numbers (DESIGN.md names them)."""
        join.flush(self._join)
        self._pump()
        counters, times = join.raw(self._join)
        out = {"version": 1, "counters": counters, "join": times}
        if self.align:
            out["align"] = self.align.raw()
        if self.slices:
            out["slices"] = self.slices.raw()
        if self.prequential:
            out["prequential"] = self.prequential.raw()
        if self.losses:
            out["loss"] = self.losses.raw()
        return out

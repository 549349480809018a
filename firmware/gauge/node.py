"""The node: one object that takes labels and truth and knows how good the labels are."""

import sys

if sys.implementation.name == "micropython":
    import micropython
    from micropython import const
else:
    from gauge._cpython import const, micropython, ptr8, ptr32

from gauge import join, runs
from gauge.align import Align
from gauge.align import feed as _feed_align
from gauge.join import step
from gauge.ledger import Ledger
from gauge.prequential import Prequential
from gauge.prequential import feed as _feed_prequential
from gauge.runs import segment, take
from gauge.slices import Slices
from gauge.slices import feed as _feed_slices

_M = const(0x3FFFFFFF)
_NO_LABEL = const(254)  # stands for what is no byte
_LONGEST = const(0x10000000)
_ROOM = const(16)  # entries
_ENTRY = const(8)
_RAISED = const(128)  # after the entries: alarms that restarts have answered

# Words of the join that the fast path reads and writes itself; join.py says what they are.
_SLICE = const(1)
_POS = const(2)
_PHASE = const(3)
_TICKS = const(4)
_RECORDS = const(5)
_LIMIT = const(6)
_FAST = const(0)
_MORE = const(41)
_MASK = const(33)
_LABELS = const(39)
_LOSING = const(43)
_BAD_LABEL = const(46)
_WITH = const(61)
_BIN = const(78)
_HALF_BIN = const(79)
_BUSY = const(56)
_QUEUED = const(57)
_TAKEN = const(58)
_OVERRUN = const(59)
_QUEUE = const(62)
_QUEUE_MASK = const(7)
_T = const(7)
_Q = const(17)
_LABEL = const(1)
_START = const(2)
_END = const(3)
_LAST = const(4)
_HEAD = const(5)
_TAIL = const(6)


# Estimators that a node may do without: module, class, its update.
_MORE_PARTS = {
    "page_hinkley": ("drift", "PageHinkley", "feed"),
    "ddm": ("drift", "DDM", "feed_ddm"),
    "adwin": ("adwin", "ADWIN", "feed"),
    "compare": ("compare", "Compare", "feed"),
    "forgetting": ("forgetting", "Forgetting", "feed"),
    "reliability": ("reliability", "Reliability", "feed"),
    "holdout": ("holdout", "Holdout", None),
    "hierarchy": ("hierarchy", "Hierarchy", None),
}
_DETECTORS = ("page_hinkley", "ddm", "adwin")


@micropython.viper
def _hand_on(arrays, n: int):
    # Here, and only here, is it known which estimators there are.
    b = arrays[0]
    a = arrays[1]
    if a:
        _feed_slices(a, b, n)
    a = arrays[2]
    if a:
        _feed_prequential(0, 0, a, b, n)
    a = arrays[3]
    if a:
        _feed_align(a, arrays[4], b, n)
    rest = arrays[5]
    if rest:
        i = int(len(rest))
        while i:
            i -= 2
            feed = rest[i]
            feed(rest[i + 1], b, n)


@micropython.viper
def _pump(node):
    # Joins what is known by now and hands it on.
    j = node._join
    arrays = node._arrays
    more = ptr32(j)
    n = 1
    while n:
        n = int(step(j, arrays[0], _ROOM))
        if n:
            _hand_on(arrays, n)
            if arrays[6]:
                _restart(node)
        n = more[_MORE]


def _restart(node):
    # An alarm makes the estimators that the config names start anew.
    raised = 0
    for name in _DETECTORS:
        if name in node.parts:
            raised += node.parts[name].raised()
    if raised != node._arrays[0][_RAISED]:
        node._arrays[0][_RAISED] = raised
        for name in node.config["restart"]:
            node.parts[name].reset()


@micropython.viper
def _later(node, side: int, t: int, label: int):
    # A sample that interrupted an update waits for its end. (Only the interrupt handler writes
    # `_QUEUED`, only what it interrupts writes `_TAKEN`.)
    w = ptr32(node._join)
    if ((w[_QUEUED] - w[_TAKEN]) & _M) > _QUEUE_MASK:
        w[_OVERRUN] = w[_OVERRUN] + 1
    else:
        i = _QUEUE + ((w[_QUEUED] & _QUEUE_MASK) << 1)
        w[i] = t
        w[i + 1] = label | side << 24
        w[_QUEUED] = (w[_QUEUED] + 1) & _M
    if w[_BUSY] == 0:
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
        take(label & 0xFFFFFF, j, 0, j, label >> 24, t)
        _pump(node)
        w[_BUSY] = 0


def free(node):
    """Ends what began with `node._join[_BUSY] = 1`."""
    node._join[_BUSY] = 0
    _catch_up(node)


@micropython.viper
def _batch(node, side: int, t, labels):
    j = node._join
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
        k = int(take(i, labels, n, j, side, now))
        now = (now + (k - i) * w[_SLICE]) & _M
        i = k
        _pump(node)
    free(node)


class Node:
    """Assesses a stream of labels against the truth it is given, in memory taken at construction.

    config: a dict as `streamgauge` compiles it from a profile and a task (see `gauge.load`).
    Raises `gauge.LedgerFull` where the profile's `state_bytes` do not suffice.
    Times are whole ticks, modulo 2^30; labels are 0 (NULL) to the number of labels - 1, and in the
    truth 255 (UNKNOWN). Input that makes no sense is counted (`raw()["counters"]`), never raised.
    An interrupt handler may call `predict` and `truth` (one handler at a time): what interrupts an
    update or a read-out waits in a queue of 8 samples until its end; more are counted (`overrun`).
    """

    # What may be attached: where the state is saved to, and labels that come over a wire.
    store = labels = None

    # Few attributes: MicroPython looks through all of an instance's before it finds a method.
    def __init__(self, config):
        self.config = config
        self.ledger = ledger = Ledger(config.get("state_bytes", 0))
        on = config["estimators"]
        labels = len(config["labels"])
        self._join = join.layout(config, ledger)
        entries = ledger.take("entries", _RAISED + 1)
        align = slices = prequential = loss = None
        if "align" in on:
            align = Align(ledger, config["pending"], labels, config["closed"])
        if "slices" in on:
            slices = Slices(ledger, labels)
        if "prequential" in on:
            prequential = Prequential(ledger, config["window"], config["alpha_q30"])
        if config.get("loss_max"):
            from gauge.loss import Losses

            loss = Losses(ledger, config["window"], config["alpha_q30"], config["loss_max"])
        self.parts = {"align": align, "slices": slices, "prequential": prequential, "loss": loss}
        rest = []
        for name in on:
            if name in _MORE_PARTS:
                module, kind, feed = _MORE_PARTS[name]
                module = __import__("gauge." + module, None, None, (kind,))
                part = getattr(module, kind)(ledger, **config["options"].get(name, {}))
                self.parts[name] = part
                if feed:
                    rest += (getattr(module, feed), part.w)
        self._arrays = (
            entries,
            slices and slices.w,
            prequential and prequential.w,
            align and align.w,
            align and align.cells,
            tuple(rest),
            bool(config.get("restart")),
        )

    @micropython.viper
    def predict(self, t, label):
        """The recogniser says `label` for the slice that begins at tick `t`."""
        # The usual case, the label goes on one slice further, is written out here and in `truth`: a
        # call would cost half as much again.
        j = self._join
        w = ptr32(j)
        try:
            x = int(label)
            now = int(t)
        except Exception:
            w[_BAD_LABEL] = w[_BAD_LABEL] + 1
            return
        if x >> 8:
            x = _NO_LABEL
        else:
            x |= w[_WITH]
        if w[_BUSY] or w[_QUEUED] != w[_TAKEN]:
            _later(self, 1, now & _M, x)
            return
        w[_BUSY] = 1
        if w[_FAST] and now == w[_Q + _END] and x == w[_Q + _LABEL]:
            end = (now + w[_SLICE]) & _M
            if ((end - w[_Q + _START]) & _M) <= _LONGEST:
                w[_Q + _END] = end
                w[_Q + _LAST] = now
                n = (w[_T + _END] - w[_POS]) & _M
                if n:
                    x = (end - w[_POS]) & _M
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
                        _pump(self)
                w[_BUSY] = 0
                if w[_QUEUED] != w[_TAKEN]:
                    _catch_up(self)
                return
        take(x, j, 0, j, 1, now & _M)
        if w[_T + _END] != w[_POS] or w[_LOSING] or w[_Q + _TAIL] - w[_Q + _HEAD] > w[_MASK]:
            _pump(self)
        w[_BUSY] = 0
        if w[_QUEUED] != w[_TAKEN]:
            _catch_up(self)

    @micropython.viper
    def truth(self, t, label):
        """The truth of the slice that begins at tick `t`; 255 where nobody knows it."""
        j = self._join
        w = ptr32(j)
        try:
            x = int(label)
            now = int(t)
        except Exception:
            w[_BAD_LABEL] = w[_BAD_LABEL] + 1
            return
        if x >> 8:
            x = _NO_LABEL
        if w[_BUSY] or w[_QUEUED] != w[_TAKEN]:
            _later(self, 0, now & _M, x)
            return
        w[_BUSY] = 1
        if w[_FAST] and now == w[_T + _END] and x == w[_T + _LABEL]:
            end = (now + w[_SLICE]) & _M
            if ((end - w[_T + _START]) & _M) <= _LONGEST:
                w[_T + _END] = end
                w[_T + _LAST] = now
                n = (w[_Q + _END] - w[_POS]) & _M
                if n:
                    x = (end - w[_POS]) & _M
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
                        _pump(self)
                w[_BUSY] = 0
                if w[_QUEUED] != w[_TAKEN]:
                    _catch_up(self)
                return
        take(x, j, 0, j, 0, now & _M)
        if w[_Q + _END] != w[_POS] or w[_LOSING] or w[_T + _TAIL] - w[_T + _HEAD] > w[_MASK]:
            _pump(self)
        w[_BUSY] = 0
        if w[_QUEUED] != w[_TAKEN]:
            _catch_up(self)

    @micropython.viper
    def predict_with(self, t, label, confidence):
        """As `predict`, with the recogniser's confidence in this label, 0 to 255."""
        w = ptr32(self._join)
        try:
            x = int(confidence)
            x = (x & w[_BIN]) + w[_HALF_BIN]
            w[_WITH] = (w[_WITH] & 0xFF0000) | x << 8
        except Exception:
            w[_BAD_LABEL] = w[_BAD_LABEL] + 1
        self.predict(t, label)

    @micropython.viper
    def predict_b(self, t, label):
        """What a second recogniser says from the slice at `t` on; to be called before `predict`."""
        w = ptr32(self._join)
        x = 0 - 1
        try:
            x = int(label)
        except Exception:
            pass
        if x < 0 or x >= w[_LABELS]:
            w[_BAD_LABEL] = w[_BAD_LABEL] + 1
        else:
            w[_WITH] = (w[_WITH] & 0xFFFF) | x << 16

    def predict_level(self, level, end):
        """A predicted segment of the hierarchy's `level` (0: coarsest) ends at tick `end`."""
        self.parts["hierarchy"].prediction(level, end)

    def truth_level(self, level, end):
        """A true segment of the hierarchy's `level` (0: coarsest) ends at tick `end`."""
        self.parts["hierarchy"].truth(level, end)

    @micropython.viper
    def levels_until(self, t):
        """All boundaries before tick `t` are told: the hierarchy is scored as far as they allow."""
        self.parts["hierarchy"].advance(t)

    def levels_end(self, t):
        """The hierarchy's recording ends at tick `t`."""
        self.parts["hierarchy"].finish(t)

    def predict_segment(self, label, start, end):
        """The recogniser's segment `[start, end)` in ticks (both ends inclusive in closed mode)."""
        self._segment(1, label, start, end)

    def truth_segment(self, label, start, end):
        """A true segment `[start, end)` in ticks (both ends inclusive in closed mode)."""
        self._segment(0, label, start, end)

    def _segment(self, side, label, start, end):
        w = self._join
        if w[_BUSY]:
            # Only samples can wait.
            w[_OVERRUN] += 1
        elif type(label) is int and type(start) is int and type(end) is int:
            w[_BUSY] = 1
            if self.config["closed"]:
                end = (end & _M) - _M  # + 1: a sum of 2^30 would be an object
            segment(w, label << 1 | side, start, end)
            _pump(self)
            free(self)
        else:
            w[_BAD_LABEL] += 1

    def predict_batch(self, t, labels):
        """One label a slice from tick `t` on: bytes, bytearray or array('B')."""
        _batch(self, 1, t, labels)

    def truth_batch(self, t, labels):
        """One true label a slice from tick `t` on: bytes, bytearray or array('B')."""
        _batch(self, 0, t, labels)

    def loss(self, x):
        """A loss of the program's own, a whole number in [0, loss_max]."""
        self.parts["loss"].record(x)

    def finish(self):
        """The recording ends: open segments are closed and everything is settled. What comes next
        is a recording of its own; the figures go on."""
        if self.labels:
            self.labels.waiting.settle()
        self._join[_BUSY] = 1
        to = runs.latest(self._join)
        if to >= 0:
            # The side that is behind first: then the other's last runs find the ring empty.
            side = runs.behind(self._join)
            runs.end(self._join, side, to)
            _pump(self)
            runs.end(self._join, 1 - side, to)
            join.flush(self._join)
            _pump(self)
            b = self._arrays[0]
            for i in range(_ENTRY):
                b[i] = 0
            b[0] = 255
            b[5] = 16
            _hand_on(self._arrays, 1)
            join.restart(self._join)
        free(self)

    def _settle(self):
        # A read-out begins: the slices that wait to be handed on in a group are handed on.
        self._join[_BUSY] = 1
        join.flush(self._join)
        _pump(self)

    def alarm(self):
        """An alarm that nobody asked for yet: (detector, "up" or "down", its figures), or None."""
        self._settle()
        found = None
        for name in _DETECTORS:
            if found is None and name in self.parts:
                way = self.parts[name].take()
                if way:
                    found = name, "up" if way == 1 else "down", self.parts[name].raw()
        free(self)
        return found

    def holdout_due(self):
        """Whether the holdout set is to be scored again."""
        self._settle()
        due = self.parts["holdout"].due(self.parts["prequential"].count())
        free(self)
        return due

    def holdout(self, labels):
        """Scores the recogniser's labels of the holdout set (bytes); how many are right."""
        self._settle()
        right = self.parts["holdout"].score(labels, self.parts["prequential"].count())
        free(self)
        return right

    def reset(self):
        """All figures start anew."""
        if self.labels:
            self.labels.waiting.settle()
        self._join[_BUSY] = 1
        join.reset(self._join)
        for name in self.parts:
            if self.parts[name]:
                self.parts[name].reset()
        free(self)

    def save(self, prefix="gauge"):
        """Saves the whole state into one of two files (snapshot.py); False where that fails."""
        return self._store(prefix).save()

    def resume(self, prefix="gauge", now=None):
        """Takes up the newest state that was saved; False if there is none.

        now: the present tick, if ticks went on being counted while the node was off. Without it the
        saved recording ends, and the next sample begins another one.
        """
        return self._store(prefix).resume(now)

    def _store(self, prefix):
        if self.store is None:
            from gauge.snapshot import Store

            Store(self, prefix)
        return self.store

    def memory(self, probe=True):
        """What the heap holds, in bytes: total, used, free, high_water, largest, fragmentation (per cent),
        and the state's arrays. probe: whether to look for the largest free block (memory.py)."""
        from gauge.memory import memory

        return memory(self, probe)

    def report(self, stream):
        """Writes a report of all figures, as text."""
        from gauge.report import report

        report(self, stream)

    def raw(self):
        """Every figure as whole numbers (DESIGN.md names them)."""
        self._settle()
        counters, times = join.raw(self._join)
        out = {"version": 1, "counters": counters, "join": times}
        for name, part in self.parts.items():
            if part:
                out[name] = part.raw()
        free(self)
        return out

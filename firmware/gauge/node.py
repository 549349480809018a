"""The node: one object that takes labels and truth and knows how good the labels are."""

import sys

if sys.implementation.name == "micropython":
    from micropython import const
else:
    from gauge._cpython import const

from gauge import join, runs
from gauge.align import Align
from gauge.ledger import Ledger
from gauge.prequential import Prequential
from gauge.pump import DETECTORS, ENTRY, ROOM, pump
from gauge.samples import entries, free, segments
from gauge.slices import Slices

# Words of the join; join.py says what they are.
_BUSY = const(56)
_OUT = const(81)

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

    def __init__(self, config):
        self.config = config
        self.ledger = ledger = Ledger(config.get("state_bytes", 0))
        on = config["estimators"]
        labels = len(config["labels"])
        self._join = join.layout(config, ledger)
        buffer = ledger.take("entries", ROOM * ENTRY + 1)
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
                if name == "reliability":
                    from gauge import confidence

                    # Each record with the confidence of its own.
                    room = ledger.take(name, confidence.ROOM * ENTRY)
                    rest += (confidence.feed, (self._join, room, part.w))
                elif feed:
                    rest += (getattr(module, feed), part.w)
        self._arrays = (
            buffer,
            slices and slices.w,
            prequential and prequential.w,
            align and align.w,
            align and align.cells,
            tuple(rest),
            bool(config.get("restart")),
        )
        # Closures; samples.py says what they do.
        made = entries(self, self._join)
        self.predict, self.truth, self.predict_with, self.predict_b = made[:4]
        self.predict_batch, self.truth_batch = made[4:]
        closed = 2 if config["closed"] else 0
        self.truth_segment = segments(self, closed)
        self.predict_segment = segments(self, closed + 1)
        if loss:
            self.loss = loss.record
        if "hierarchy" in on:
            part = self.parts["hierarchy"]
            # predict_level(level, end), truth_level(level, end), levels_until(t).
            self.predict_level = part.prediction
            self.truth_level = part.truth
            self.levels_until = part.advance

    def _absent(self, *given):
        raise KeyError("what this entry is for is not in the node's config")

    loss = predict_level = truth_level = levels_until = _absent

    def levels_end(self, t):
        """The hierarchy's recording ends at tick `t`."""
        self.parts["hierarchy"].finish(t)

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
            pump(self, self._join)
            runs.end(self._join, 1 - side, to)
            join.flush(self._join)
            pump(self, self._join)
            b = self._arrays[0]
            for i in range(ENTRY):
                b[i] = 0
            b[0] = 255
            b[5] = 16
            self._join[_OUT] = 1
            join.flush(self._join)
            pump(self, self._join)
            join.restart(self._join)
        free(self)

    def _settle(self):
        # A read-out begins: the slices that wait to be handed on in a group are handed on.
        self._join[_BUSY] = 1
        join.flush(self._join)
        pump(self, self._join)

    def alarm(self):
        """An alarm that nobody asked for yet: (detector, "up" or "down", its figures), or None."""
        self._settle()
        found = None
        for name in DETECTORS:
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
        if "reliability" in out:
            from gauge.confidence import missed

            out["reliability"]["missed"] = missed(self._join)
        free(self)
        return out

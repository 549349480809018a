"""Holdout: a fixed labelled set, scored every so many records, with a bounded history of the scores."""

import sys

if sys.implementation.name == "micropython":
    import micropython
    from micropython import const
else:
    from gauge._cpython import const, micropython, ptr8, ptr32

_M = const(0x3FFFFFFF)

_EVERY = const(0)
_CAPACITY = const(1)
_SCORED = const(2)
_LAST = const(3)  # records at the last scoring, modulo 2^30
_AT = const(4)
_HISTORY = const(5)  # records modulo 2^30, correct, the figure given


@micropython.viper
def _score(w: ptr32, truth: ptr8, labels: ptr8, size: int, records: int, figure: int) -> int:
    # Here and not in the method: a frame of that many values would be taken from the heap.
    n = 0
    while size:
        size -= 1
        if truth[size] == labels[size]:
            n += 1
    i = w[_AT]
    o = _HISTORY + 3 * i
    w[o] = records
    w[o + 1] = n
    w[o + 2] = figure
    w[_LAST] = records
    i += 1
    if i == w[_CAPACITY]:
        i = 0
    w[_AT] = i
    w[_SCORED] = w[_SCORED] + 1
    return n


class Holdout:
    """truth: the set's labels, bytes or a list; every: records between scorings; capacity: scores kept.

    `records` in what follows is the stream's count of records modulo 2^30.
    """

    def __init__(self, ledger, truth, every=1000, capacity=16):
        self.truth = ledger.take_bytes("holdout", len(truth))
        self.truth[:] = bytes(truth)  # a config holds a list
        self.w = ledger.take("holdout", _HISTORY + 3 * capacity)
        self.w[_EVERY] = every
        self.w[_CAPACITY] = capacity

    def due(self, records):
        """Whether the set is to be scored."""
        return (records - self.w[_LAST]) & _M >= self.w[_EVERY]

    def score(self, labels, records, figure=0):
        """How many of the recogniser's `labels` (bytes, in the set's order) are right; -1 where their
        number is wrong. `figure`, a whole number below 2^30, is kept beside it."""
        if len(labels) != len(self.truth):
            return -1
        return _score(self.w, self.truth, labels, len(labels), records & _M, figure)

    def reset(self):
        w = self.w
        for i in range(_SCORED, len(w)):
            w[i] = 0

    def raw(self):
        w = self.w
        kept = min(w[_SCORED], w[_CAPACITY])
        history = []
        for k in range(kept):
            i = _HISTORY + 3 * ((w[_AT] - kept + k) % w[_CAPACITY])
            history.append([w[i], w[i + 1], w[i + 2]])
        return {"size": len(self.truth), "scored": w[_SCORED], "history": history}

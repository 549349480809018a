"""The report line: every figure of a node in one line of text.

    SG1 n=42 b=1 e=91735 ... m=61232,34128,8976 *A4A21A28

DESIGN.md says what the keys mean. A line shows what the estimators counted and computes nothing of its
own. All its buffers are taken once: where a stream's `write` takes a length, as those of MicroPython
do, a line allocates nothing.
"""

import gc
import sys
from array import array

if sys.implementation.name == "micropython":
    from micropython import const
else:
    from gauge._cpython import const

from gauge import figures, join
from gauge.node import free
from gauge.pump import DETECTORS
from gauge.text import Text, encode

# Bytes of the longest line, and what its end takes. A field that does not fit is left out.
_ROOM = const(1024)
_CLOSE = const(10)
_heap = hasattr(gc, "mem_free")


class Line:
    """The report line of a node, with what is attached to it (labels, a store).

    lines: written since boot.
    """

    def __init__(self, node):
        self._node = node
        self._names = node.labels.names if node.labels else [encode(x) for x in node.config["labels"]]
        self._figures = array("i", bytes(4 * 32))
        self._text = Text(_ROOM)
        self._at = 0
        self._alarms = [(b"d." + encode(name), node.parts[name]) for name in DETECTORS if name in node.parts]
        self.lines = 0

    def write(self, stream):
        """Writes the next line to `stream`."""
        node = self._node
        node._settle()
        self._node_keys(node)
        self._estimator_keys(node.parts, self.lines % len(self._names))
        self._alarm_keys()
        self._life_keys(node)
        if node.parts["align"]:
            self._row(node.parts["align"], self.lines % len(self._names))
        free(node)
        self.lines += 1
        self._text.close()
        self._text.send(stream)

    def _key(self, name):
        self._at = self._text.n
        self._text.bytes(name)
        self._text.byte(61)

    def _value(self, x):
        self._text.number(x)
        self._text.byte(44)

    def _values(self, i, end):
        # Figures that an estimator put down, in two limbs each.
        while i < end:
            self._text.long(self._figures[2 * i], self._figures[2 * i + 1])
            self._text.byte(44)
            i += 1

    def _end(self):
        text = self._text
        if text.n > _ROOM - _CLOSE:
            text.n = self._at
        else:
            # In place of the comma behind the last value.
            text.buffer[text.n - 1] = 32

    def _one(self, name, x):
        self._key(name)
        self._value(x)
        self._end()

    def _some(self, name, i, end):
        self._key(name)
        self._values(i, end)
        self._end()

    def _node_keys(self, node):
        text = self._text
        config = node.config
        text.bytes(b"SG1 ")
        self._one(b"n", self.lines + 1)
        self._one(b"b", node.store.boots if node.store else 1)
        self._one(b"e", join.epoch(node._join))
        if node.store:
            self._key(b"h")
            text.hex(node.store.layout[0], node.store.layout[1])
            text.byte(32)
        self._key(b"k")
        self._value(len(self._names))
        self._value(config["slice"])
        self._value(config["tick_us"])
        self._value(config["window"] if node.parts["prequential"] else 0)
        self._value(config.get("delta_ppm", 50000))
        self._end()
        join.figures(node._join, self._figures)
        self._some(b"t", 0, 3)
        self._some(b"a", 3, 6)
        self._some(b"x", 6, 12)

    def _estimator_keys(self, parts, label):
        part = parts["prequential"]
        if part:
            part.figures(self._figures)
            self._some(b"q", 0, 5)
            self._some(b"f", 5, 8)
        part = parts["slices"]
        if part:
            figures.slices(part, self._figures, label)
            self._some(b"s", 0, 8)
            self._key(b"r")
            self._value(label)
            self._text.bytes(self._names[label])
            self._text.byte(44)
            self._values(8, 11)
            self._end()
        part = parts["align"]
        if part:
            figures.align(part, self._figures)
            self._some(b"g", 0, 11)
            self._key(b"y")
            self._values(5, 6)
            self._values(11, 16)
            self._end()

    def _row(self, part, label):
        self._key(b"c")
        self._value(label)
        label = part.row(label)
        for i in range(len(self._names)):
            self._value(part.w[label + i])
        self._end()

    def _alarm_keys(self):
        for pair in self._alarms:
            pair[1].figures(self._figures)
            self._some(pair[0], 0, 3)

    def _life_keys(self, node):
        labels = node.labels
        if labels:
            self._key(b"l")
            for i in range(6):
                self._value(labels.w[i])
            self._value(labels.waiting.w[0])
            self._end()
        store = node.store
        if store:
            interval = node.config.get("save_s", 0)
            self._key(b"w")
            self._value(store.saves)
            self._value(store.failed)
            self._value(86400 // interval if interval else 0)
            self._value(store.size)
            self._end()
        self._key(b"m")
        self._value(gc.mem_free() if _heap else 0)
        self._value(gc.mem_alloc() if _heap else 0)
        self._value(node.ledger.used)
        self._end()

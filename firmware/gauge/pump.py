"""pump: what both sides know goes from the join to the estimators."""

import sys

if sys.implementation.name == "micropython":
    import micropython
    from micropython import const
else:
    from gauge._cpython import const, micropython, ptr32

from gauge.align import feed as _feed_align
from gauge.join import step
from gauge.prequential import feed as _feed_prequential
from gauge.slices import feed as _feed_slices

ROOM = const(16)  # entries
ENTRY = const(8)  # words
_MORE = const(41)
_RAISED = const(128)  # after the entries: alarms that restarts have answered

DETECTORS = ("page_hinkley", "ddm", "adwin")


@micropython.viper
def pump(node, j):
    # Joins what is known by now and hands it on. Here, and only here, is it known which estimators there are.
    arrays = node._arrays
    b = arrays[0]
    more = ptr32(j)
    n = 1
    while n:
        n = int(step(j, 0, j, b, ROOM))
        if n:
            a = arrays[1]
            if a:
                _feed_slices(a, 0, a, b, n)
            a = arrays[2]
            if a:
                _feed_prequential(a, 0, b, n)
            a = arrays[3]
            if a:
                _feed_align(a, 0, a, arrays[4], b, n)
            rest = arrays[5]
            if rest:
                i = int(len(rest))
                while i:
                    i -= 2
                    feed = rest[i]
                    a = rest[i + 1]
                    feed(a, 0, a, b, n)
            if arrays[6]:
                _restart(node)
        n = more[_MORE]


def _restart(node):
    # An alarm makes the estimators that the config names start anew.
    raised = 0
    for name in DETECTORS:
        if name in node.parts:
            raised += node.parts[name].raised()
    if raised != node._arrays[0][_RAISED]:
        node._arrays[0][_RAISED] = raised
        for name in node.config["restart"]:
            node.parts[name].reset()

"""Tells a node where the segments of two hierarchies end (see `streamgauge.levels.node`)."""

from array import array

try:
    from micropython import mem_total as _allocated
except ImportError:
    import gc

    _allocated = gc.mem_alloc

node = None
words = None


def _tell(n):
    # Globals and few locals: a frame of more than eleven words would come from the heap.
    i = 0
    while i < n:
        kind = words[i]
        if kind == 0:
            node.truth_level(words[i + 1], words[i + 2])
        elif kind == 1:
            node.predict_level(words[i + 1], words[i + 2])
        elif kind == 2:
            node.levels_until(words[i + 2])
        else:
            node.levels_end(words[i + 2])
        i += 3


def feed(to, plan):
    """Tells it all; returns the bytes that the node's updates asked for."""
    global node, words
    node = to
    words = array("i", bytes(4 * plan["words"]))
    total = 0
    with open("feed.bin", "rb") as file:
        while True:
            n = file.readinto(words) // 4
            if not n:
                return total
            before = _allocated()
            _tell(n)
            total += _allocated() - before

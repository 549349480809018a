"""Tells a node where the segments of two hierarchies end (see `streamgauge.levels.feed`)."""

from array import array

try:
    from micropython import mem_total as _allocated
except ImportError:
    import gc

    _allocated = gc.mem_alloc

node = None
words = None
file = None
at = 0
end = 0


def begin(to, plan):
    """Takes the buffer, before any update."""
    global node, words, file, end
    node = to
    words = array("i", bytes(4 * plan["levels"]))
    file = open("levels.bin", "rb")
    end = file.readinto(words) // 4


def _tell(reads):
    # Globals and few locals: a frame of more than eleven words would come from the heap.
    global at
    i = at
    while i < end and words[i + 3] <= reads:
        kind = words[i]
        if kind == 0:
            node.truth_level(words[i + 1], words[i + 2])
        elif kind == 1:
            node.predict_level(words[i + 1], words[i + 2])
        elif kind == 2:
            node.levels_until(words[i + 2])
        else:
            node.levels_end(words[i + 2])
        i += 4
    at = i


def until(reads):
    """Tells what is due after so many reads of the labels; returns the bytes that the node's updates asked
    for."""
    global at, end
    total = 0
    while end:
        before = _allocated()
        _tell(reads)
        total += _allocated() - before
        if at < end:
            break
        at = 0
        end = file.readinto(words) // 4
    return total

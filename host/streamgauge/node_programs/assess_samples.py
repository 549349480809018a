"""Tells a node a recording sample by sample, and what comes beside labels (see `streamgauge.extras.feed`)."""

try:
    from micropython import mem_total as _allocated
except ImportError:
    import gc

    _allocated = gc.mem_alloc

node = None
buffer = None


def _with_all(t, ticks, end):
    # Globals and few locals: a frame of more than eleven words would come from the heap.
    i = 0
    while i < end:
        node.predict_b(t, buffer[i + 1])
        node.predict_with(t, buffer[i], buffer[i + 2])
        node.truth(t, buffer[i + 3])
        t = (t + ticks) & 0x3FFFFFFF
        i += 4


def _with_second(t, ticks, end):
    i = 0
    while i < end:
        node.predict_b(t, buffer[i + 1])
        node.predict(t, buffer[i])
        node.truth(t, buffer[i + 3])
        t = (t + ticks) & 0x3FFFFFFF
        i += 4


def _with_confidence(t, ticks, end):
    i = 0
    while i < end:
        node.predict_with(t, buffer[i], buffer[i + 2])
        node.truth(t, buffer[i + 3])
        t = (t + ticks) & 0x3FFFFFFF
        i += 4


def _alone(t, ticks, end):
    i = 0
    while i < end:
        node.predict(t, buffer[i])
        node.truth(t, buffer[i + 3])
        t = (t + ticks) & 0x3FFFFFFF
        i += 4


_WAYS = (_alone, _with_second, _with_confidence, _with_all)


def feed(to, plan, beside):
    """Tells it all, and after each read what is due beside it; returns the bytes that the node's updates asked
    for."""
    global node, buffer
    node = to
    way = _WAYS[plan["second"] + 2 * plan["confidence"]]
    chunk = plan["chunk"]
    buffer = bytearray(4 * chunk)
    labels = bytearray(plan["size"])
    ticks = plan["ticks"]
    t = plan["start"]
    done = 0
    total = reads = 0
    with open("feed.bin", "rb") as file:
        for stop in plan["holdout"] + [plan["slices"]]:
            while done < stop:
                n = stop - done
                if n < chunk:
                    # The heap is not collected meanwhile: views would pile up if every chunk made one.
                    file.readinto(memoryview(buffer)[: 4 * n])
                else:
                    n = chunk
                    file.readinto(buffer)
                before = _allocated()
                way(t, ticks, 4 * n)
                total += _allocated() - before
                t = (t + n * ticks) & 0x3FFFFFFF
                done += n
                reads += 1
                if beside:
                    total += beside(reads)
            if labels and file.readinto(labels):
                before = _allocated()
                node.holdout(labels)
                total += _allocated() - before
    return total

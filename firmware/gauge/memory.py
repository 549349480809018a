"""What the heap holds, told between updates: for reports, and for soaks that look whether it stays flat."""

import gc

_heap = hasattr(gc, "mem_free")
_most = 0


def watch():
    """Looks how much of the heap is in use, for the high-water mark; allocates nothing."""
    global _most
    if _heap and gc.mem_alloc() > _most:
        _most = gc.mem_alloc()


def largest():
    """The largest number of bytes that one array can have now, to within 16."""
    low = 0
    high = gc.mem_free()
    while high - low > 16:
        middle = (low + high) // 2
        try:
            bytearray(middle)
            low = middle
        except MemoryError:
            high = middle
        gc.collect()
    return low


def memory(node, probe=True):
    """Bytes: `total`, `used` and `free` of the heap after a collection; `high_water`, the most in use
    (garbage included) at any `watch` and at this call; `largest`, the largest free block, and
    `fragmentation`, the per cent of what is free that lies outside it; `state`, the arrays that the
    ledger booked.

    probe: whether to look for the largest block, which takes some twenty collections. Where a port's heap
    grows by itself (ESP32), that may make it grow.
    """
    out = {"state": node.ledger.used}
    if _heap:
        watch()
        gc.collect()
        out["used"] = gc.mem_alloc()
        out["free"] = free = gc.mem_free()
        out["total"] = out["used"] + free
        out["high_water"] = _most
        if probe:
            out["largest"] = block = largest()
            out["fragmentation"] = 100 - 100 * block // free if free else 0
    return out

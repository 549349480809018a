"""Every array a node holds is asked for here, once, at construction."""

import gc
from array import array

# What a 32-bit MicroPython adds to an array: its object and the rounding to 16-byte blocks.
_OBJECT = 16
_BLOCK = 16


class LedgerFull(MemoryError):
    """A part asked for more than is left: `part`, `asked` and `left` say who and how much (bytes).

    Left of the ledger's limit, or of the heap where that ends first.
    """

    def __init__(self, part, asked, left):
        super().__init__("%s asks for %d bytes, %d are left" % (part, asked, left))
        self.part = part
        self.asked = asked
        self.left = left


class Ledger:
    """Hands out arrays, adds up their bytes and refuses what does not fit `limit` (0: the heap alone)."""

    def __init__(self, limit=0):
        self.limit = limit
        self.used = 0
        self.entries = []

    def _take(self, part, size, words):
        asked = _OBJECT + (size + _BLOCK - 1) // _BLOCK * _BLOCK
        if self.limit and self.used + asked > self.limit:
            raise LedgerFull(part, asked, self.limit - self.used)
        try:
            data = array("i", bytes(size)) if words else bytearray(size)
        except MemoryError:
            gc.collect()
            raise LedgerFull(part, asked, gc.mem_free())
        self.used += asked
        self.entries.append((part, data))
        return data

    def take(self, part, words):
        """An array of `words` 32-bit integers, all 0, booked to `part`."""
        return self._take(part, 4 * words, True)

    def take_bytes(self, part, count):
        """A bytearray of `count` zeros, booked to `part`."""
        return self._take(part, count, False)

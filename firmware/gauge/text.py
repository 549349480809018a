"""A line of text written into a fixed buffer: numbers, names and the checksum, without allocation."""

import sys
from array import array

if sys.implementation.name == "micropython":
    import micropython
    from micropython import const
else:
    from gauge._cpython import const, micropython, ptr8

from gauge import crc

_PLAIN = b"-_.+/()"
_DIGITS = const(20)  # of the longest number, zeros included


def encode(name):
    """A label's name as lines carry it: bytes that could be taken for something else become %XX."""
    out = bytearray()
    for c in name.encode():
        if 48 <= c < 58 or 65 <= c < 91 or 97 <= c < 123 or c in _PLAIN:
            out.append(c)
        else:
            out.extend(b"%%%02X" % c)
    return bytes(out)


@micropython.viper
def _decimal(b: ptr8, n: int, low: int, high: int) -> int:
    """Writes high * 2^30 + low from b[n] on; returns where it ends."""
    first = n
    # Four digits at a time, lowest first, by dividing 15-bit quarters: no product passes 2^30.
    a = high >> 15
    high &= 0x7FFF
    c = low >> 15
    low &= 0x7FFF
    while True:
        x = a
        a = x // 10000
        x = (x - a * 10000) << 15 | high
        high = x // 10000
        x = (x - high * 10000) << 15 | c
        c = x // 10000
        x = (x - c * 10000) << 15 | low
        low = x // 10000
        x -= low * 10000
        k = 0
        while k < 4:
            q = x // 10
            b[n] = 48 + x - 10 * q
            x = q
            n += 1
            k += 1
        if a | high | c | low == 0:
            break
    # The digits are backwards, with zeros at the end.
    while b[n - 1] == 48 and n - first > 1:
        n -= 1
    k = n - 1
    while first < k:
        x = b[first]
        b[first] = b[k]
        b[k] = x
        first += 1
        k -= 1
    return n


class Text:
    """room: bytes of the longest line. What does not fit is cut off, and then no checksum follows."""

    def __init__(self, room):
        self.buffer = bytearray(room)
        self.n = 0
        self._crc = array("i", (0, 0))

    def byte(self, c):
        n = self.n
        if n < len(self.buffer):
            self.buffer[n] = c
            self.n = n + 1

    def bytes(self, text):
        for c in text:
            self.byte(c)

    def part(self, text, i, end):
        while i < end:
            self.byte(text[i])
            i += 1

    def number(self, x):
        """A whole number below 2^30."""
        self.long(x, 0)

    def long(self, low, high):
        """A number in two limbs of 30 bits, both of its sign."""
        if low < 0 or high < 0:
            self.byte(45)
            low = -low
            high = -high
        if self.n + _DIGITS <= len(self.buffer):
            self.n = _decimal(self.buffer, self.n, low, high)
        else:
            # Nothing that follows may make a whole line of it.
            self.n = len(self.buffer)

    def hex(self, low, high):
        """32 bits in two halves of 16, as 8 digits."""
        for i in range(8):
            d = (low if i > 3 else high) >> 12 - 4 * (i & 3) & 15
            self.byte(d + 48 if d < 10 else d + 55)

    def close(self):
        """Checksum and end of line."""
        s = self._crc
        crc.start(s)
        crc.update(s, self.buffer, 0, self.n)
        self.byte(42)
        for i in range(8):
            self.byte(crc.digit(s, i))
        self.byte(10)

    def send(self, stream):
        """Writes the line to `stream`: where a write takes a length, without allocation."""
        write(stream, self.buffer, self.n)
        self.n = 0


def _write_length(stream, buffer, n):
    return stream.write(buffer, n)


def _write_view(stream, buffer, n):
    return stream.write(memoryview(buffer)[:n])


# Writes the first n bytes of the buffer. MicroPython's streams take a length; a view would be allocated.
write = _write_length if sys.implementation.name == "micropython" else _write_view

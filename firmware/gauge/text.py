"""A line of text written into a fixed buffer: numbers, names and the checksum, without allocation."""

import sys
from array import array

from gauge import crc

_PLAIN = b"-_.+/()"


def encode(name):
    """A label's name as lines carry it: bytes that could be taken for something else become %XX."""
    out = bytearray()
    for c in name.encode():
        if 48 <= c < 58 or 65 <= c < 91 or 97 <= c < 123 or c in _PLAIN:
            out.append(c)
        else:
            out.extend(b"%%%02X" % c)
    return bytes(out)


class Text:
    """room: bytes of the longest line. What does not fit is cut off, and the line then ends without a
    checksum that fits."""

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
        if x < 0:
            self.byte(45)
            x = -x
        k = 1
        while x // k > 9:
            k *= 10
        while k:
            self.byte(48 + x // k % 10)
            k //= 10

    def long(self, low, high):
        """A number in two limbs of 30 bits, both of its sign."""
        if low < 0 or high < 0:
            self.byte(45)
            low = -low
            high = -high
        if not high:
            self.number(low)
            return
        # Four decimal digits at a time, lowest first, by dividing 15-bit quarters: no product passes 2^30.
        a = high >> 15
        b = high & 0x7FFF
        c = low >> 15
        low &= 0x7FFF
        at = self.n
        while a or b or c or low:
            x = a
            a = x // 10000
            x = x % 10000 << 15 | b
            b = x // 10000
            x = x % 10000 << 15 | c
            c = x // 10000
            x = x % 10000 << 15 | low
            low = x // 10000
            x %= 10000
            for _ in range(4):
                self.byte(48 + x % 10)
                x //= 10
        self._turn(at)

    def _turn(self, at):
        # The digits from `at` on are backwards, with zeros at the end.
        b = self.buffer
        n = self.n - 1
        while b[n] == 48 and n > at:
            n -= 1
        self.n = n + 1
        while at < n:
            x = b[at]
            b[at] = b[n]
            b[n] = x
            at += 1
            n -= 1

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

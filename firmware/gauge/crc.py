"""CRC-32 (that of zlib) without allocation: a nibble at a time, in two halves of 16 bits.

`binascii.crc32` returns numbers that 32-bit MicroPython keeps on the heap.
"""

import sys

if sys.implementation.name == "micropython":
    import micropython
else:
    from gauge._cpython import micropython, ptr8, ptr32

# The CRC of each nibble, low byte first: reflected polynomial 0xEDB88320.
_TABLE = (
    b"\x00\x00\x00\x00\x64\x10\xb7\x1d\xc8\x20\x6e\x3b\xac\x30\xd9\x26"
    b"\x90\x41\xdc\x76\xf4\x51\x6b\x6b\x58\x61\xb2\x4d\x3c\x71\x05\x50"
    b"\x20\x83\xb8\xed\x44\x93\x0f\xf0\xe8\xa3\xd6\xd6\x8c\xb3\x61\xcb"
    b"\xb0\xc2\x64\x9b\xd4\xd2\xd3\x86\x78\xe2\x0a\xa0\x1c\xf2\xbd\xbd"
)


@micropython.viper
def update(s: ptr32, b: ptr8, i: int, end: int):
    """Takes the bytes `b[i:end]` into the CRC in s[0] (low half) and s[1]; both begin as 0xFFFF and
    the result is their complement."""
    t = ptr8(_TABLE)
    low = s[0]
    high = s[1]
    while i < end:
        low ^= b[i]
        i += 1
        k = (low & 15) << 2
        low = (low >> 4 | (high & 15) << 12) ^ (t[k] | t[k + 1] << 8)
        high = high >> 4 ^ (t[k + 2] | t[k + 3] << 8)
        k = (low & 15) << 2
        low = (low >> 4 | (high & 15) << 12) ^ (t[k] | t[k + 1] << 8)
        high = high >> 4 ^ (t[k + 2] | t[k + 3] << 8)
    s[0] = low
    s[1] = high


def start(s):
    s[0] = s[1] = 0xFFFF


def digit(s, i):
    """Hex digit i (0 is the highest) of the CRC in `s`, as a character's code."""
    d = ~s[1 - (i >> 2)] >> 12 - 4 * (i & 3) & 15
    return d + 48 if d < 10 else d + 55

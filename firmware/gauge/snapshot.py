"""The whole state of a node in one of two files: a power cut loses what came after the last save.

The two are written in turn, so that one is whole at every moment; DESIGN.md gives every byte. A file
of another layout (other labels, capacities, estimators or firmware) is refused, never misread.
"""

import os
import sys
from array import array

if sys.implementation.name == "micropython":
    import micropython
    from micropython import const
else:
    from gauge._cpython import const, micropython, ptr8, ptr32

from gauge import crc, join, runs
from gauge.node import free
from gauge.text import write

_M = const(0x3FFFFFFF)
_CHUNK = const(256)
_FIXED = const(36)
_FAR = const(0x10000000)
_BUSY = const(56)
_QUEUED = const(57)
_TAKEN = const(58)
_EPOCH = const(60)

# Raise it whenever a word of any part changes its meaning.
_STATE = const(1)
# Keys of the config that say how a node is run, not what its state means.
_RUN = ("state_bytes", "report_s", "save_s")


def _sync(file):
    file.flush()
    if hasattr(os, "fsync"):
        # CPython's flush alone does not reach the disk.
        os.fsync(file.fileno())


@micropython.viper
def _pack(b: ptr8, n: int, a: ptr32, i: int, end: int):
    """Words a[i:end] as bytes from b[n] on."""
    while i < end:
        x = a[i]
        b[n] = x & 255
        b[n + 1] = x >> 8 & 255
        b[n + 2] = x >> 16 & 255
        b[n + 3] = x >> 24 & 255
        n += 4
        i += 1


@micropython.viper
def _unpack(b: ptr8, n: int, a: ptr32, i: int, end: int):
    while i < end:
        a[i] = b[n] | b[n + 1] << 8 | b[n + 2] << 16 | ((b[n + 3] ^ 128) - 128) << 24
        n += 4
        i += 1


@micropython.viper
def _copy(b: ptr8, n: int, a: ptr8, i: int, end: int):
    while i < end:
        b[n] = a[i]
        n += 1
        i += 1


def _put(b, i, x):
    b[i] = x & 255
    b[i + 1] = x >> 8 & 255
    b[i + 2] = x >> 16 & 255
    b[i + 3] = x >> 24 & 255


def _get(b, i):
    return b[i] | b[i + 1] << 8 | b[i + 2] << 16 | b[i + 3] << 24


def canonical(x):
    """JSON with sorted keys and no spaces: the same text on every interpreter."""
    if isinstance(x, dict):
        return "{" + ",".join([canonical(k) + ":" + canonical(x[k]) for k in sorted(x)]) + "}"
    if isinstance(x, (list, tuple)):
        return "[" + ",".join([canonical(y) for y in x]) + "]"
    if isinstance(x, str):
        x = x.replace("\\", "\\\\").replace('"', '\\"')
        return '"' + "".join([c if ord(c) > 31 else "\\u%04x" % ord(c) for c in x]) + '"'
    if x is None:
        return "null"
    if isinstance(x, bool):
        return "true" if x else "false"
    return str(x)


def describe(node):
    """The text that says what a snapshot of the node holds, as bytes."""
    config = {k: node.config[k] for k in node.config if k not in _RUN}
    parts = []
    for name, data in node.ledger.entries:
        parts.append((name, "b" if isinstance(data, bytearray) else "i", len(data)))
    return canonical({"config": config, "parts": parts, "state": _STATE}).encode()


class Store:
    """Where a node's state is saved: the files `prefix`.0 and `prefix`.1, and `prefix`.tmp meanwhile.

    files: what has `open`, `sync` (of a file), `rename` and `remove`; the board's own where it is not given.
    To be made when everything that has state is attached to the node.

    saves: over the node's life, as far as the files know. failed: since boot. boots: over the node's
    life. size: bytes of one file. damaged, foreign: files that the last resume refused, because they
    were not whole or because they hold the state of another configuration or firmware.
    """

    def __init__(self, node, prefix="gauge", files=None):
        self._node = node
        self._parts = len(node.ledger.entries)
        self._open = files.open if files else open
        self._sync = files.sync if files else _sync
        self._files = files or os
        self._names = (prefix + ".0", prefix + ".1", prefix + ".tmp")
        self._in_place = not hasattr(self._files, "rename")
        self._buffer = bytearray(_CHUNK)
        self._n = 0
        self._crc = array("i", (0, 0))
        self.saves = self.failed = self.damaged = self.foreign = 0
        self.boots = 1
        text = describe(node)
        size = (_FIXED + len(text) + 3) & ~3
        self._head = head = bytearray(size)
        head[:4] = b"SGSN"
        head[4] = 1
        head[6] = size & 255
        head[7] = size >> 8
        crc.start(self._crc)
        crc.update(self._crc, text, 0, len(text))
        self.layout = (self._crc[0] ^ 0xFFFF, self._crc[1] ^ 0xFFFF)
        _put(head, 8, self.layout[0])
        head[10] = self.layout[1] & 255
        head[11] = self.layout[1] >> 8
        payload = 0
        for _, data in node.ledger.entries:
            payload += (len(data) + 3) & ~3 if isinstance(data, bytearray) else 4 * len(data)
        _put(head, 16, payload)
        _put(head, 32, len(text))
        head[_FIXED : _FIXED + len(text)] = text
        for i in range(_FIXED + len(text), size):
            head[i] = 32
        self.size = size + payload + 4
        self._seen = bytearray(_FIXED)
        if not node._join[_EPOCH]:
            join.new_epoch(node._join)
        node.store = self

    def save(self):
        """Writes the state; True, or False where the filesystem refused, with the files as before.

        Allocates the file object and what the filesystem needs for it, nothing else.
        """
        node = self._node
        if len(node.ledger.entries) != self._parts:
            raise ValueError("something with state was attached to the node after its first save or resume")
        w = node._join
        if w[_BUSY]:
            # An exception (Ctrl-C) ended an update half way: that state is not worth keeping.
            self.failed += 1
            return False
        # Samples that an interrupt handler brings meanwhile wait.
        w[_BUSY] = 1
        try:
            done = self._save(w)
        finally:
            free(node)
        if done:
            self.saves += 1
        else:
            self.failed += 1
        return done

    def _save(self, w):
        head = self._head
        if "hierarchy" in self._node.parts:
            self._node.parts["hierarchy"].settle()
        latest = runs.latest(w)
        _put(head, 12, self.saves + 1)
        _put(head, 20, latest)
        _put(head, 24, self.boots)
        _put(head, 28, w[_EPOCH])
        slot = self._names[self.saves + 1 & 1]
        if not self._in_place:
            temporary = self._names[2]
            if not self._write(temporary):
                self._remove(temporary)
                return False
            try:
                self._files.rename(temporary, slot)
                return True
            except OSError:
                # A filesystem that cannot rename: from now on the slot itself is written.
                self._remove(temporary)
                self._in_place = True
        return self._write(slot)

    def _remove(self, name):
        try:
            self._files.remove(name)
        except OSError:
            pass

    def _write(self, name):
        try:
            file = self._open(name, "wb")
        except OSError:
            return False
        done = False
        try:
            self._stream(file)
            self._sync(file)
            done = True
        except OSError:
            pass
        try:
            file.close()
        except OSError:
            done = False
        return done

    def _stream(self, file):
        s = self._crc
        crc.start(s)
        self._n = 0
        self._bytes(file, self._head, len(self._head))
        for part in self._node.ledger.entries:
            data = part[1]
            if isinstance(data, bytearray):
                self._bytes(file, data, len(data))
                while self._n & 3:
                    self._buffer[self._n] = 0
                    self._n += 1
            else:
                self._words(file, data, len(data))
        self._flush(file)
        b = self._buffer
        for i in range(4):
            b[i] = ~s[i >> 1] >> 8 * (i & 1) & 255
        self._n = 4
        self._flush(file)

    def _bytes(self, file, data, count):
        i = 0
        while i < count:
            k = min(count - i, _CHUNK - self._n)
            _copy(self._buffer, self._n, data, i, i + k)
            i += k
            self._n += k
            if self._n == _CHUNK:
                self._flush(file)

    def _words(self, file, data, count):
        i = 0
        while i < count:
            k = min(count - i, _CHUNK - self._n >> 2)
            _pack(self._buffer, self._n, data, i, i + k)
            i += k
            self._n += 4 * k
            if self._n == _CHUNK:
                self._flush(file)

    def _flush(self, file):
        # The checksum is that of the bytes that are written, whatever an interrupt handler puts into
        # the arrays meanwhile.
        crc.update(self._crc, self._buffer, 0, self._n)
        if write(file, self._buffer, self._n) != self._n:
            raise OSError(28)
        self._n = 0

    def resume(self, now=None):
        """Takes up the newest whole state; False if there is none for this layout."""
        node = self._node
        w = node._join
        w[_BUSY] = 1
        self.damaged = self.foreign = 0
        newest = slot = 0
        for i in range(2):
            found = self._read(self._names[i])
            if found > newest:
                newest = found
                slot = i
        if newest:
            # Read again, into the arrays this time.
            if self._read(self._names[slot], node.ledger.entries) != newest:
                raise OSError("%s changed while it was read" % self._names[slot])
            self.boots = _get(self._seen, 24) + 1
            w[_TAKEN] = w[_QUEUED]
            self._go_on(w, now)
        free(node)
        return newest > 0

    def _go_on(self, w, now):
        node = self._node
        latest = runs.latest(w)
        if now is not None and latest >= 0 and (now - latest) & _M < _FAR:
            return
        # The clock began anew: no time of the saved recording can be told any more.
        free(node)
        if node.labels:
            node.labels.waiting.settle()
        runs.give_up(w)
        node.finish()
        join.new_epoch(w)

    def _read(self, name, entries=None):
        """The number of the snapshot in this file if it is whole and of this layout, else 0.

        entries: where to put what it holds.
        """
        try:
            file = self._open(name, "rb")
        except OSError:
            return 0
        try:
            return self._check(file, entries)
        except OSError:
            self.damaged += 1
            return 0
        finally:
            file.close()

    def _check(self, file, entries):
        s = self._crc
        b = self._buffer
        head = self._head
        seen = self._seen
        crc.start(s)
        at = 0
        same = True
        sink = entries and _Sink(entries)
        while True:
            n = self._fill(file)
            crc.update(s, b, 0, n)
            k = 0
            while k < n and at + k < len(head):
                if at + k < _FIXED:
                    seen[at + k] = b[k]
                # Number, time, boots and epoch differ from one to the next.
                if b[k] != head[at + k] and not (12 <= at + k < 16 or 20 <= at + k < 32):
                    same = False
                k += 1
            if sink and same:
                sink.take(b, k, n)
            at += n
            if n < _CHUNK:
                break
        # With its own checksum behind it a whole file always comes to this.
        whole = s[0] == 0x20E3 and s[1] == 0xDEBB and at >= _FIXED and seen[:4] == head[:4]
        if not whole or at != _get(seen, 16) + (seen[6] | seen[7] << 8) + 4:
            self.damaged += 1
            return 0
        number = _get(seen, 12)
        if number > self.saves:
            self.saves = number
        if not same:
            self.foreign += 1
            return 0
        return number

    def _fill(self, file):
        # A chunk, shorter at the end of the file alone.
        view = memoryview(self._buffer)
        n = 0
        while n < _CHUNK:
            k = file.readinto(view[n:])
            if not k:
                break
            n += k
        return n


class _Sink:
    """Puts the payload into the arrays as it comes."""

    def __init__(self, entries):
        self._entries = entries
        self._part = 0
        self._at = 0

    def take(self, b, i, n):
        """The bytes b[i:n]; i and n are multiples of 4."""
        while i < n and self._part < len(self._entries):
            data = self._entries[self._part][1]
            left = len(data) - self._at
            if isinstance(data, bytearray):
                k = min(left, n - i)
                _copy(data, self._at, b, i, i + k)
                i += (k + 3) & ~3
            else:
                k = min(left, n - i >> 2)
                _unpack(b, i, data, self._at, self._at + k)
                i += 4 * k
            self._at += k
            if k == left:
                self._part += 1
                self._at = 0

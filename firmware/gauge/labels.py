"""Truth that comes over a serial line, as lines of text: late, repeated, out of order or forged.

    SGL1 EPOCH SEQ LABEL FROM TO MAC *CRC     the label holds for [FROM, TO)
    SGF1 EPOCH SEQ UPTO MAC *CRC              all truth before UPTO is told
    SGQ1 NONCE *CRC                           how far are you?

and each is answered by `SGA1 SEQ CODE LAST EPOCH POS TRUTH NOW WAITING *CRC`; DESIGN.md gives every
byte. A message is applied once, because sequence numbers must rise and the last one is part of the
node's state. A label that lies ahead of the truth told so far waits in a ring, ordered by time.

Nothing is allocated after construction, but for the hashes of a message where there is a key.
"""

import hashlib
import sys
from array import array

if sys.implementation.name == "micropython":
    from micropython import const
else:
    from gauge._cpython import const

from gauge import crc, join
from gauge.text import Text, encode
from gauge.waiting import Waiting

_M = const(0x3FFFFFFF)
_LONGEST = const(0x10000000)
_UNKNOWN = const(255)

_LINE = const(160)  # bytes of the longest line
_BURST = const(256)  # bytes that one `poll` takes at most

# Words of the state, as the report line shows them.
_LAST = const(0)  # greatest sequence number accepted
_ACCEPTED = const(1)
_DUPLICATES = const(2)
_FORGED = const(3)
_REFUSED = const(4)
_NOISE = const(5)
_WORDS = const(6)

# Answers; waiting.py has the others.
_OK = const(0)
_DUPLICATE = const(1)
_CHECKSUM = const(2)
_FORM = const(3)
_LABEL = const(4)
_RANGE = const(5)
_KEY = const(7)
_OTHER_EPOCH = const(8)
_VERSION = const(10)


class Labels:
    """Takes label messages for a node and answers them.

    key: bytes that the sender shares; labels that are not signed with it are refused. To be attached
    before the node's state is resumed or saved for the first time, because it has state of its own.
    """

    def __init__(self, node, key=None):
        if node.store:
            raise ValueError("labels are to be attached before the node's state is resumed or saved")
        self._node = node
        self.w = node.ledger.take("labels", _WORDS)
        self.waiting = Waiting(node, node.config.get("reorder", 8))
        self.names = [encode(name) for name in node.config["labels"]]
        self._line = bytearray(_LINE)
        self._n = 0
        self._fields = array("i", bytes(4 * 8))
        self._crc = array("i", (0, 0))
        self._text = Text(112)
        self._inner = None
        if key:
            if len(key) > 64:
                key = hashlib.sha256(key).digest()
            self._inner = bytes([c ^ 0x36 for c in key] + [0x36] * (64 - len(key)))
            self._outer = bytes([c ^ 0x5C for c in key] + [0x5C] * (64 - len(key)))
        if not join.epoch(node._join):
            join.new_epoch(node._join)
        node.labels = self

    def listen(self, source, output):
        """From now on `poll` reads messages from the stream `source` and answers on `output`."""
        import select

        self._input = source
        self._output = output
        self._one = bytearray(1)
        self._poller = select.poll()
        self._poller.register(source, select.POLLIN)

    def poll(self):
        """Takes what has come by now, at most 256 bytes; never waits."""
        for _ in range(_BURST):
            if not self._ready() or not self._input.readinto(self._one):
                break
            self.byte(self._one[0], self._output)
        self.waiting.relieve()

    def _ready(self):
        for event in self._poller.ipoll(0):
            return event[1] & 1
        return 0

    def byte(self, c, output):
        """Takes one byte of the line; answers on `output` when it completes a message."""
        if c == 10:
            n = self._n
            self._n = 0
            if n:
                self._handle(n, output)
        elif c != 13:
            if self._n < _LINE:
                self._line[self._n] = c
            if self._n <= _LINE:
                self._n += 1

    def _handle(self, n, output):
        b = self._line
        kind = b[2]
        if n > _LINE or n < 4 or b[0] != 83 or b[1] != 71 or kind not in b"LFQ":
            self.w[_NOISE] += 1
            return
        self._fields[0] = 0
        code = self._judge(n, kind)
        if code == _OK and kind != 81:
            self.w[_ACCEPTED] += 1
        elif code == _DUPLICATE:
            self.w[_DUPLICATES] += 1
        elif code == _CHECKSUM:
            self.w[_NOISE] += 1
        elif code == _KEY:
            self.w[_FORGED] += 1
        elif code:
            self.w[_REFUSED] += 1
        self._answer(self._fields[0], code, output)

    def _judge(self, n, kind):
        # What the answer to the line is; the number to answer to is left in _fields[0].
        n -= 9
        if n < 5 or not self._whole(n):
            return _CHECKSUM
        b = self._line
        if b[3] != 49 or b[4] != 32:
            return _VERSION
        fields = self._split(n)
        if kind == 81:
            number = self._number(1) if fields == 1 else -1
            if number < 0:
                return _FORM
            self._fields[0] = number
            return _OK
        if fields != (6 if kind == 76 else 4):
            return _FORM
        return self._apply(fields)

    def _whole(self, n):
        b = self._line
        s = self._crc
        crc.start(s)
        crc.update(s, b, 0, n)
        if b[n] != 42:
            return False
        for i in range(8):
            if b[n + 1 + i] != crc.digit(s, i):
                return False
        return True

    def _split(self, n):
        # Where the fields behind the first begin, from _fields[1] on; how many, 0 if spaces are amiss.
        b = self._line
        found = 0
        i = 5
        while i < n:
            found += 1
            if found > 6 or b[i] == 32:
                return 0
            self._fields[found] = i
            while i < n and b[i] != 32:
                i += 1
            if i == n:
                return 0
            i += 1
        self._fields[found + 1] = n
        return found

    def _number(self, k):
        # The field's decimal number below 2^30, or -1.
        b = self._line
        x = 0
        for i in range(self._fields[k], self._fields[k + 1] - 1):
            d = b[i] - 48
            if not 0 <= d <= 9 or x > 107374182 or (x == 107374182 and d > 3):
                return -1
            x = x * 10 + d
        return x

    def _apply(self, fields):
        # A label has 6 fields, the word that truth is complete 4.
        epoch = self._number(1)
        number = self._number(2)
        last = self._number(fields - 1)
        if number < 1 or epoch < 0 or last < 0:
            return _FORM
        self._fields[0] = number
        if not self._is_tag(fields) or (fields == 6 and self._number(4) < 0):
            return _FORM
        if self._inner and not self._signed(self._fields[fields]):
            return _KEY
        if epoch != join.epoch(self._node._join):
            return _OTHER_EPOCH
        if number <= self.w[_LAST]:
            return _DUPLICATE
        if fields == 6:
            code = self._label(self._number(4), last)
        else:
            code = self.waiting.until(last)
        if code == _OK:
            self.w[_LAST] = number
        return code

    def _label(self, start, to):
        label = self._named()
        if label < 0:
            return _LABEL
        end = (to + self._node.config["closed"]) & _M
        if not 0 < (end - start) & _M <= _LONGEST:
            return _RANGE
        return self.waiting.take(label, start, end)

    def _named(self):
        # The id of the label in field 3, or -1.
        b = self._line
        i = self._fields[3]
        if b[i] == 35:
            # A number behind a sign: the field begins one byte later.
            self._fields[3] = i + 1
            label = self._number(3) if i + 2 < self._fields[4] else -1
            return label if label < len(self.names) or label == _UNKNOWN else -1
        for label in range(len(self.names)):
            if self._is_name(self.names[label]):
                return label
        return -1

    def _is_name(self, name):
        i = self._fields[3]
        if len(name) != self._fields[4] - 1 - i:
            return False
        for c in name:
            if self._line[i] != c:
                return False
            i += 1
        return True

    def _is_tag(self, k):
        b = self._line
        i = self._fields[k]
        n = self._fields[k + 1] - 1 - i
        if n == 1 and b[i] == 45:
            return True
        for k in range(i, i + n):
            if not (48 <= b[k] < 58 or 97 <= b[k] < 103):
                return False
        return n == 32

    def _signed(self, i):
        # HMAC-SHA256 (RFC 2104) over what is before the tag, compared in full whatever differs.
        b = self._line
        if b[i] == 45:
            return False
        inner = hashlib.sha256(self._inner)
        inner.update(memoryview(b)[:i])
        outer = hashlib.sha256(self._outer)
        outer.update(inner.digest())
        tag = outer.digest()
        wrong = 0
        for k in range(32):
            d = tag[k >> 1] >> 4 * (1 - (k & 1)) & 15
            wrong |= b[i + k] ^ (d + 48 if d < 10 else d + 87)
        return not wrong

    def _answer(self, number, code, output):
        self._text.bytes(b"SGA1 ")
        self._value(number)
        self._value(code)
        self._where(self._node._join)
        self._text.close()
        self._text.send(output)

    def _where(self, w):
        self._value(self.w[_LAST])
        self._value(join.epoch(w))
        self._value(join.position(w))
        self._value(self.waiting.told())
        self._value(join.told(w, 1))
        self._value(self.waiting.w[0])

    def _value(self, x):
        self._text.number(x)
        self._text.byte(32)

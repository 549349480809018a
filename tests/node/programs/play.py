"""Plays recorded calls to nodes and tells what they say, on MicroPython and, as it stands, under CPython.

`calls.bin` holds a line of JSON, the list of configs; then cases, each a line of JSON, `[config, calls,
lengths of its batches]`, the calls as four 32-bit words each (kind, then arguments), and the batches. At the
end of each case, and wherever a call asks for it, one line of JSON is said: the CRC of the node's whole
state, then all of `raw()` as one list of whole numbers, by name.
"""

import binascii
import json
from array import array

import gauge

TRUTH_SEGMENT, PREDICT_SEGMENT, TRUTH, PREDICT, TRUTH_BATCH, PREDICT_BATCH = range(6)
FINISH, RESET, SAY, LOSS, PREDICT_WITH, PREDICT_B, POKE = range(6, 13)


def flat(found, out):
    """All numbers in `raw()`, dictionaries by their sorted keys."""
    if isinstance(found, dict):
        for key in sorted(found):
            flat(found[key], out)
    elif isinstance(found, (list, tuple)):
        for part in found:
            flat(part, out)
    else:
        out.append(found)
    return out


def state(node):
    """CRC of all arrays the node holds."""
    crc = 0
    for _, data in node.ledger.entries:
        crc = binascii.crc32(data, crc)
    return crc


def says(node):
    numbers = flat(node.raw(), [])
    return [state(node)] + numbers


def call(node, kind, a, b, c, batches):
    if kind == TRUTH_SEGMENT:
        node.truth_segment(a, b, c)
    elif kind == PREDICT_SEGMENT:
        node.predict_segment(a, b, c)
    elif kind == TRUTH:
        node.truth(a, b)
    elif kind == PREDICT:
        node.predict(a, b)
    elif kind == TRUTH_BATCH:
        node.truth_batch(a, batches[b])
    elif kind == PREDICT_BATCH:
        node.predict_batch(a, batches[b])
    elif kind == FINISH:
        node.finish()
    elif kind == RESET:
        node.reset()
    elif kind == LOSS:
        node.loss(a)
    elif kind == PREDICT_WITH:
        node.predict_with(a, b, c)
    elif kind == PREDICT_B:
        node.predict_b(a, b)
    elif kind == POKE:
        node.ledger.entries[a][1][b] = c


def play(file, say):
    configs = json.loads(file.readline())
    while True:
        line = file.readline()
        if not line:
            return
        config, calls, lengths = json.loads(line)
        words = array("i", file.read(16 * calls))
        batches = [file.read(n) for n in lengths]
        node = gauge.Node(configs[config])
        for i in range(0, 4 * calls, 4):
            if words[i] == SAY:
                say(says(node))
            else:
                call(node, words[i], words[i + 1], words[i + 2], words[i + 3], batches)
        say(says(node))


def main():
    with open("calls.bin", "rb") as file:
        play(file, lambda found: print(json.dumps(found)))

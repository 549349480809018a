"""Plays recorded calls (see play.py) and tells how many bytes they allocated.

For each case one line of JSON: the config's number, bytes that the player itself requested (on a node that does
nothing), bytes that the node requested, the error under a locked heap ("" for none), whether both nodes then
hold the same.
"""

import gc
import json
from array import array

import micropython
import play

import gauge

# Globals: a frame of more than eleven words would itself come from the heap.
node = None
arrays = None
words = None
batches = None


class Nothing:
    """Takes every call."""

    def truth_segment(self, a, b, c):
        pass

    def predict_segment(self, a, b, c):
        pass

    def truth(self, a, b):
        pass

    def predict(self, a, b):
        pass

    def truth_batch(self, a, b):
        pass

    def predict_batch(self, a, b):
        pass

    def finish(self):
        pass

    def reset(self):
        pass

    def loss(self, a):
        pass

    def predict_with(self, a, b, c):
        pass

    def predict_b(self, a, b):
        pass


def _one(i):
    k = words[i]
    if k == play.TRUTH_SEGMENT:
        node.truth_segment(words[i + 1], words[i + 2], words[i + 3])
    elif k == play.PREDICT_SEGMENT:
        node.predict_segment(words[i + 1], words[i + 2], words[i + 3])
    elif k == play.TRUTH:
        node.truth(words[i + 1], words[i + 2])
    elif k == play.PREDICT:
        node.predict(words[i + 1], words[i + 2])
    elif k == play.TRUTH_BATCH:
        node.truth_batch(words[i + 1], batches[words[i + 2]])
    elif k == play.PREDICT_BATCH:
        node.predict_batch(words[i + 1], batches[words[i + 2]])
    else:
        _other(i, k)


def _other(i, k):
    if k == play.FINISH:
        node.finish()
    elif k == play.RESET:
        node.reset()
    elif k == play.LOSS:
        node.loss(words[i + 1])
    elif k == play.PREDICT_WITH:
        node.predict_with(words[i + 1], words[i + 2], words[i + 3])
    elif k == play.PREDICT_B:
        node.predict_b(words[i + 1], words[i + 2])
    elif k == play.POKE:
        _poke(i)


def _poke(i):
    if arrays:
        arrays[words[i + 1]][words[i + 2]] = words[i + 3]


def _all():
    i = 0
    while i < len(words):
        _one(i)
        i += 4


def _allocated():
    before = micropython.mem_total()
    _all()
    return micropython.mem_total() - before


def _locked():
    micropython.heap_lock()
    try:
        _all()
        said = ""
    except MemoryError:
        said = "MemoryError"
    finally:
        micropython.heap_unlock()
    return said


def main():
    global node, arrays, words, batches
    with open("calls.bin", "rb") as file:
        configs = json.loads(file.readline())
        while True:
            line = file.readline()
            if not line:
                return
            config, calls, lengths = json.loads(line)
            words = array("i", file.read(16 * calls))
            batches = [file.read(n) for n in lengths]
            node = Nothing()
            arrays = None
            nothing = _allocated()
            node = first = gauge.Node(configs[config])
            arrays = [data for _, data in node.ledger.entries]
            gc.collect()
            bytes_taken = _allocated()
            node = gauge.Node(configs[config])
            arrays = [data for _, data in node.ledger.entries]
            said = _locked()
            same = play.says(first) == play.says(node)
            print(json.dumps([config, nothing, bytes_taken, said, same]))

# Plays many small recordings to nodes and prints a checksum of every figure of each.
import gc
import json
from array import array
from binascii import crc32

import gauge

words = array("i", bytes(4 * 3))


def _texts(value, out):
    # Lists of whole numbers read the same everywhere; dicts do not keep their order.
    if isinstance(value, dict):
        for key in sorted(value):
            _texts(value[key], out)
    else:
        out.append(str(value))


def checksum(raw):
    out = []
    _texts(raw, out)
    return crc32(" ".join(out).encode())


def _tell(node, kind, label, start, end):
    if kind == 0:
        node.truth_segment(label, start, end)
    elif kind == 1:
        node.predict_segment(label, start, end)
    elif kind == 2:
        node.truth(start, label)
    else:
        node.predict(start, label)


def play(node, file, count):
    for _ in range(count):
        file.readinto(words)
        _tell(node, words[0] >> 8, words[0] & 255, words[1], words[2])
    node.finish()


def run():
    with open("pairs.json") as file:
        groups = json.load(file)
    with open("pairs.bin", "rb") as file:
        for config, counts in groups:
            gc.collect()
            node = gauge.Node(config)
            for count in counts:
                node.reset()
                play(node, file, count)
                print(checksum(node.raw()))

# Plays whole segments of both sides, in order of their ends, between two marks; the loop without the calls
# lies between the two marks before. segments.bin: side (1 prediction, 0 truth), label, start, end.
# ruff: noqa: F821
import gc
import json
from array import array

import gauge


def nothing(truth, prediction, told):
    # The lookups are what stays to be done; a tuple of them would be memory, and its search time.
    i = 0
    while i < len(told):
        if told[i]:
            told[i + 1]
            told[i + 2]
            told[i + 3]
        else:
            told[i + 1]
            told[i + 2]
            told[i + 3]
        i += 4


def play(truth, prediction, told):
    i = 0
    while i < len(told):
        if told[i]:
            prediction(told[i + 1], told[i + 2], told[i + 3])
        else:
            truth(told[i + 1], told[i + 2], told[i + 3])
        i += 4


with open("segments.bin", "rb") as file:
    told = array("i", file.read())
node = gauge.Node(gauge.load("config.json"))
calls = node.truth_segment, node.predict_segment
gc.collect()
mark()
nothing(*calls, told)
mark()
play(*calls, told)
mark()
node.finish()
print(json.dumps(node.raw()))

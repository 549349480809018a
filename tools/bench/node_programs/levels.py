# Plays the boundaries of two hierarchies in order of time, between two marks; the loop without the calls
# lies between the two marks before. levels.bin: side (1 prediction, 0 truth), level, tick; the last tick is
# the end.
# ruff: noqa: F821
import gc
import json
from array import array

import gauge


def nothing(node, told, end):
    i = 0
    while i < len(told):
        told[i + 2]
        if told[i]:
            told[i + 1]
            told[i + 2]
        else:
            told[i + 1]
            told[i + 2]
        i += 3


def play(node, told, end):
    i = 0
    while i < len(told):
        node.levels_until(told[i + 2])
        if told[i]:
            node.predict_level(told[i + 1], told[i + 2])
        else:
            node.truth_level(told[i + 1], told[i + 2])
        i += 3
    node.levels_end(end)


with open("levels.bin", "rb") as file:
    told = array("i", file.read())
node = gauge.Node(gauge.load("config.json"))
node.levels_until(0)
gc.collect()
mark()
nothing(node, told, END)
mark()
play(node, told, END)
mark()
print(json.dumps(node.raw()))

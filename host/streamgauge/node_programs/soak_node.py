"""Feeds a node the same stretch of labels again and again, and tells the heap as it goes.

Reads `config.json`, `feed.bin` (alternately a chunk of predictions and one of truth, a byte a slice) and
`plan.json`: `slices` in all, `chunk` slices a batch, `ticks` a slice, `every` so many slices a look. Writes
one line of JSON a look, and one with what the node counted.
"""

import gc
import json
import sys

try:
    from micropython import mem_total as _allocated
except ImportError:
    _allocated = gc.mem_alloc

import gauge
from gauge.memory import watch

node = None


def _batch(t, prediction, truth):
    node.predict_batch(t, prediction)
    node.truth_batch(t, truth)


def _look(done, allocated):
    told = node.memory()
    told["slices"] = done
    told["allocated"] = allocated
    print(json.dumps(told))
    gc.collect()  # what the look left is none of the updates'


def _again(file, buffer):
    # The stretch begins anew where the file ends, and never inside a chunk.
    if file.readinto(buffer) != len(buffer):
        file.seek(0)
        file.readinto(buffer)
        gc.collect()  # what going back took is none of the updates'


def _feed(plan):
    prediction = bytearray(plan["chunk"])
    truth = bytearray(plan["chunk"])
    done = t = allocated = 0
    look = 0  # at once, for whatever happens at a first look
    gc.collect()
    with open("feed.bin", "rb") as file:
        while done < plan["slices"]:
            _again(file, prediction)
            _again(file, truth)
            before = _allocated()
            _batch(t, prediction, truth)
            allocated += _allocated() - before
            t = (t + plan["step"]) & 0x3FFFFFFF
            done += plan["chunk"]
            watch()
            if done >= look:
                _look(done, allocated)
                look += plan["every"]


def run():
    global node
    with open("plan.json") as file:
        plan = json.load(file)
    node = gauge.Node(gauge.load("config.json"))
    _feed(plan)
    raw = node.raw()
    sums = {
        "assessed": raw["join"]["assessed"],
        "unassessed": raw["join"]["unassessed"],
        "records": raw["prequential"]["n"],
        "forced": raw["align"]["forced"],
        "truth": raw["align"]["truth"],
    }
    sys.stdout.write(json.dumps({"counted": sums}) + "\n")

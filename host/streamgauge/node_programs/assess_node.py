"""Runs the node over a recording that the host laid out, and tells the figures and what they took.

Reads `config.json` (what the node loads), `plan.json` and `feed.bin` (the recording, see
`streamgauge.feed`). Writes one line of JSON: `{"raw": ..., "memory": ...}`, or `{"trouble": ...}` where the
heap did not suffice.

The recording is read piece by piece into a buffer taken beforehand, and the heap is watched around the
updates alone: whatever is allocated there is the node's doing.
"""

import gc
import json
import sys
from array import array

try:
    from micropython import mem_total as _allocated
except ImportError:
    # Boards are mostly built without it. With collection off this one grows with every block taken.
    _allocated = gc.mem_alloc

node = None
words = None


def _feed_records(n):
    # Globals and few locals: a frame of more than eleven words would come from the heap.
    i = 0
    while i < n:
        kind = words[i] >> 8
        label = words[i] & 255
        if kind == 0:
            node.truth_segment(label, words[i + 1], words[i + 2])
        elif kind == 1:
            node.predict_segment(label, words[i + 1], words[i + 2])
        elif kind == 2:
            node.truth(words[i + 1], label)
        else:
            node.predict(words[i + 1], label)
        i += 3


def _feed_slices(t, prediction, truth):
    node.predict_batch(t, prediction)
    node.truth_batch(t, truth)


class _Run:
    def __init__(self):
        self.stage = "driver"
        self.memory = {}
        self.peak = 0

    def used(self, stage):
        """Live heap after `stage`; the garbage it made counts for the high-water mark."""
        self.peak = max(self.peak, gc.mem_alloc())
        gc.collect()
        self.stage = stage
        return gc.mem_alloc()

    def go(self):
        global node
        memory = self.memory
        before = self.used("code")
        memory["total"] = before + gc.mem_free()
        memory["before"] = before
        import gauge
        from gauge.node import _MORE_PARTS as further

        after = self.used("config")
        code = after - before
        with open("plan.json") as file:
            plan = json.load(file)
        apart = levels = None
        if plan["mode"] == "samples":
            apart = __import__("assess_samples")
        if "levels" in plan:
            levels = __import__("assess_levels")
        config = gauge.load("config.json")
        before = self.used("code")
        for name in config["estimators"]:
            # The node would import them when it is made; they are code, not state.
            if name in further:
                __import__("gauge." + further[name][0])
                self.used("code")
        after = self.used("state")
        memory["code"] = code + after - before
        before = after
        node = gauge.Node(config)
        after = self.used("updates")
        memory["state"] = after - before
        memory["ledger"] = node.ledger.used
        gc.disable()
        beside = None
        if levels:
            levels.begin(node, plan)
            beside = levels.until
        total = 0
        if apart:
            total = apart.feed(node, plan, beside)
        elif plan["mode"] != "levels":
            total = (self.records if plan["mode"] == "records" else self.slices)(plan, beside)
        if beside:
            total += beside(0x3FFFFFFF)  # what no read of the labels reached
        memory["allocated"] = total
        gc.enable()
        self.used("figures")
        node.finish()
        sys.stdout.write('{"raw": ')
        json.dump(node.raw(), sys.stdout)
        memory["after"] = self.used("end")
        memory["peak"] = self.peak
        memory["modules"] = [name for name in sys.modules if name.split(".")[0] == "gauge"]
        sys.stdout.write(', "memory": ')
        json.dump(memory, sys.stdout)
        sys.stdout.write("}\n")

    # `beside(reads)` tells what is due beside the labels after so many reads of them.

    def records(self, plan, beside):
        global words
        words = array("i", bytes(4 * plan["words"]))
        total = reads = 0
        with open("feed.bin", "rb") as file:
            while True:
                n = file.readinto(words) // 4
                if not n:
                    return total
                before = _allocated()
                _feed_records(n)
                total += _allocated() - before
                reads += 1
                if beside:
                    total += beside(reads)

    def slices(self, plan, beside):
        total = reads = 0
        t = plan["start"]
        left = plan["slices"]
        prediction = bytearray(plan["chunk"])
        truth = bytearray(plan["chunk"])
        with open("feed.bin", "rb") as file:
            while left:
                if left < len(truth):
                    prediction = bytearray(left)
                    truth = bytearray(left)
                file.readinto(prediction)
                file.readinto(truth)
                before = _allocated()
                _feed_slices(t, prediction, truth)
                total += _allocated() - before
                reads += 1
                if beside:
                    total += beside(reads)
                left -= len(truth)
                t = (t + len(truth) * plan["ticks"]) & 0x3FFFFFFF
        return total


def run():
    it = _Run()
    try:
        it.go()
    except MemoryError as error:
        gc.enable()
        gc.collect()
        trouble = {"stage": it.stage, "free": gc.mem_free(), "said": str(error), "memory": it.memory}
        if getattr(error, "part", None):
            # The ledger's own refusal says who asked for what.
            trouble["part"] = error.part
            trouble["asked"] = error.asked
            trouble["left"] = error.left
        print()
        print(json.dumps({"trouble": trouble}))

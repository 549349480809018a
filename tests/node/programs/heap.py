"""What the ledger's arrays take of the heap, and what it says where the heap ends. Reads `plan.json`."""

import gc
import json

import gauge


def taken(words, size):
    """Bytes booked for one array, and bytes of heap that it holds."""
    ledger = gauge.Ledger()
    ledger.entries.append(None)
    ledger.entries.pop()
    gc.collect()
    before = gc.mem_free()
    if words:
        data = ledger.take("part", size)
    else:
        data = ledger.take_bytes("part", size)
    ledger.entries.pop()
    gc.collect()
    held = before - gc.mem_free()
    del data
    return [ledger.used, held]


def main():
    with open("plan.json") as file:
        plan = json.load(file)
    for words, size in plan["sizes"]:
        print(json.dumps(taken(words, size)))
    if plan["config"]:
        gc.collect()
        free = gc.mem_free()
        try:
            gauge.Node(plan["config"])
        except gauge.LedgerFull as error:
            print(json.dumps([error.part, error.asked, error.left, str(error), free]))
        if plan["again"]:
            gauge.Node(plan["config"])

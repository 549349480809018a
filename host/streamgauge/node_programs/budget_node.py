"""Measures on the heap what the node's code, its configuration and each of its arrays take.

Reads `config.json` and `plan.json`: `{"modules": [...]}`, what the configuration's estimators import, and
`"extras"`, what a program may load besides. Writes one line of JSON.
"""

import gc
import json


def _overwrite(depth):
    # Stale pointers on the stack would keep what is dead alive.
    a = b = c = d = e = f = depth
    return _overwrite(depth - 1) + a + b + c + d + e + f if depth else 0


def _used():
    _overwrite(12)
    gc.collect()
    _overwrite(12)
    gc.collect()
    return gc.mem_alloc()


def _core():
    before = _used()
    __import__("gauge")
    return _used() - before


def _modules(names):
    taken = {}
    for name in names:
        before = _used()
        __import__("gauge." + name)
        taken[name] = _used() - before
    return taken


def _config():
    import gauge

    return gauge.load("config.json")


def _node():
    import gauge

    return gauge.Node(config)


def _held(make):
    # The first time takes buffers that stay. The collector takes any word that looks like an address for
    # one, so that now and then something dead stays a while: of three times the middle counts.
    make()
    taken = []
    for _ in range(3):
        before = _used()
        made = [make()]
        taken.append(_used() - before)
        made.clear()
    return sorted(taken)[1]


def _parts(config):
    rounds = [_release(config) for _ in range(3)]
    return [[part[0][0], sorted(taken for _, taken in part)[1]] for part in zip(*rounds)]


def _release(config):
    import gauge

    # Once the node is gone the arrays are held by two lists alone: each is let go of, and the heap looked at.
    entries = gauge.Node(config).ledger.entries
    names = [entry[0] for entry in entries]
    arrays = [entry[1] for entry in entries]
    entries.clear()
    taken = []
    for i in range(len(names)):
        before = _used()
        arrays[i] = None
        taken.append([names[i], before - _used()])
    return taken


def _read_out(node):
    gc.collect()
    gc.disable()
    before = gc.mem_alloc()
    node.raw()
    after = gc.mem_alloc()
    gc.enable()
    return after - before


def run(interpreter):
    global config
    with open("plan.json") as file:
        plan = json.load(file)
    told = {"interpreter": interpreter, "core": _core(), "further": _modules(plan["modules"])}
    told["config"] = _held(_config)
    config = _config()
    told["state"] = _held(_node)
    told["parts"] = _parts(config)
    told["read_out"] = _read_out(_node())
    told["extras"] = _modules(plan["extras"])
    print(json.dumps(told))

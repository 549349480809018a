# What the node's code and state take of the heap, and which modules are loaded.
# ruff: noqa: E402
import gc
import sys


def used():
    gc.collect()
    return gc.mem_alloc()


before = used()
import gauge

code = used() - before
config = gauge.load("config.json")
before = used()
node = gauge.Node(config)
state = used() - before
modules = [name for name in sys.modules if name.startswith("gauge")]
print(code, state, node.ledger.used, *modules)

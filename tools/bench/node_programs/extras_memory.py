# What the code and state of a node with further estimators take of the heap, and which modules are loaded.
# ruff: noqa: E402
import gc
import sys


def used():
    gc.collect()
    return gc.mem_alloc()


before = used()
import gauge
import gauge.node

config_before = used()
config = gauge.load("config.json")
config_bytes = used() - config_before
# A node imports them when it is made; they are code all the same.
for name in config["estimators"]:
    if name in gauge.node._MORE_PARTS:
        __import__("gauge." + gauge.node._MORE_PARTS[name][0])
code = used() - before - config_bytes
before = used()
node = gauge.Node(config)
state = used() - before
modules = [name for name in sys.modules if name.startswith("gauge")]
print(code, state, node.ledger.used, config_bytes, *modules)

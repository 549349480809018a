# Plays a whole recording out of files, as it comes in, in the heap that a small node has.
# ruff: noqa: F821
import gc
import json

import gauge

config = gauge.load("config.json")
node = gauge.Node(config)
buffers = bytearray(CHUNK), bytearray(CHUNK)
entries = node.predict_batch, node.truth_batch
t = 0
with open("prediction.bin", "rb") as predictions, open("truth.bin", "rb") as truths:
    files = predictions, truths
    while True:
        for side in range(2):
            n = files[side].readinto(buffers[side])
            if n:
                entries[side](t, buffers[side] if n == CHUNK else buffers[side][:n])
        if not n:
            break
        t += n * config["slice"]
node.finish()
gc.collect()
print(gc.mem_free())
print(json.dumps(node.raw()))

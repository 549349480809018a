# Plays label arrays in chunks through the batch entries, between two marks. CHUNK is set by the benchmark.
# ruff: noqa: F821
import gc
import json

import gauge


def chunks(name):
    found = []
    with open(name, "rb") as file:
        while True:
            chunk = file.read(CHUNK)
            if not chunk:
                return found
            found.append(chunk)


def play(node, predictions, truths, step):
    t = 0
    i = 0
    while i < len(truths):
        node.predict_batch(t, predictions[i])
        node.truth_batch(t, truths[i])
        t += step
        i += 1


config = gauge.load("config.json")
predictions = chunks("prediction.bin")
truths = chunks("truth.bin")
node = gauge.Node(config)
gc.collect()
mark()
mark()
play(node, predictions, truths, CHUNK * config["slice"])
mark()
node.finish()
print(json.dumps(node.raw()))

# ruff: noqa: F821
# Plays label arrays slice by slice through `predict` and `truth`, between two marks; the loop without the
# calls lies between the two marks before. With EACH there is a mark after every call as well.
import gc
import json

import gauge


def nothing(node, predictions, truths, step):
    t = 0
    i = 0
    while i < len(truths):
        predictions[i]
        truths[i]
        t += step
        i += 1


def play(node, predictions, truths, step):
    t = 0
    i = 0
    while i < len(truths):
        node.predict(t, predictions[i])
        node.truth(t, truths[i])
        t += step
        i += 1


def play_marked(node, predictions, truths, step):
    t = 0
    i = 0
    while i < len(truths):
        node.predict(t, predictions[i])
        mark()
        node.truth(t, truths[i])
        mark()
        t += step
        i += 1


def read(name):
    with open(name, "rb") as file:
        return file.read()


config = gauge.load("config.json")
predictions = read("prediction.bin")
truths = read("truth.bin")
node = gauge.Node(config)
gc.collect()
gc.disable()
mark()
mark()
nothing(node, predictions, truths, config["slice"])
mark()
(play_marked if EACH else play)(node, predictions, truths, config["slice"])
mark()
node.finish()
print(json.dumps(node.raw()))

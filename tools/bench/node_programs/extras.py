# ruff: noqa: F821
# Plays label arrays slice by slice, with a second recogniser and confidences where the node reads them,
# between two marks; the loop without the calls lies between the two marks before.
import gc
import json

import gauge


def nothing(node, rows, step):
    t = 0
    i = 0
    while i < len(rows):
        if SECOND:
            rows[i + 1]
        if CONFIDENCE:
            rows[i], rows[i + 2]
        else:
            rows[i]
        rows[i + 3]
        if LEVELS:
            no_levels(node, t)
        t += step
        i += 4


def play(node, rows, step):
    t = 0
    i = 0
    while i < len(rows):
        if SECOND:
            node.predict_b(t, rows[i + 1])
        if CONFIDENCE:
            node.predict_with(t, rows[i], rows[i + 2])
        else:
            node.predict(t, rows[i])
        node.truth(t, rows[i + 3])
        if LEVELS:
            levels(node, t)
        t += step
        i += 4


def levels(node, t):
    # Four and four levels; every slice may end some.
    if t % 7 == 0:
        node.truth_level(3, t)
    if t % 7 == 2:
        node.predict_level(3, t)
    if t % 40 == 0:
        node.truth_level(2, t)
    if t % 41 == 0:
        node.predict_level(2, t)
    node.levels_until(t)


def no_levels(node, t):
    if t % 7 == 0:
        pass
    if t % 7 == 2:
        pass
    if t % 40 == 0:
        pass
    if t % 41 == 0:
        pass


config = gauge.load("config.json")
with open("rows.bin", "rb") as file:
    rows = file.read()
node = gauge.Node(config)
gc.collect()
gc.disable()
mark()
mark()
nothing(node, rows, config["slice"])
mark()
play(node, rows, config["slice"])
mark()
node.finish()
print(json.dumps(node.raw()))

"""Feeds entries of the join to single estimators, as often as is asked, and tells what they hold.

`plan.json` is a list of [estimator, arguments, file of entries, rounds, words to write before]; for each, one
line of JSON is said: the CRC of its words, then all of its `raw()` as one list of whole numbers, by name.
"""

import binascii
import json
from array import array

import play

from gauge import align, loss, prequential, slices
from gauge.ledger import Ledger


def feed(kind, part, entries, n):
    if kind == "slices":
        slices.feed(part.w, 0, part.w, entries, n)
    elif kind == "prequential":
        prequential.feed(part.w, 0, entries, n)
    else:
        align.feed(part.w, 0, part.w, part.cells, entries, n)


def make(kind, arguments):
    if kind == "slices":
        return slices.Slices(Ledger(), *arguments)
    if kind == "prequential":
        return prequential.Prequential(Ledger(), *arguments)
    if kind == "loss":
        return loss.Losses(Ledger(), *arguments)
    return align.Align(Ledger(), *arguments)


def one(kind, arguments, entries, rounds, pokes):
    part = make(kind, arguments)
    for word, value in pokes:
        part.w[word] = value
    for _ in range(rounds):
        if kind == "loss":
            for x in entries:
                part.record(x)
        else:
            feed(kind, part, entries, len(entries) // 8)
    numbers = play.flat(part.raw(), [])
    return [binascii.crc32(part.w)] + numbers


def main(read=None, say=None):
    read = read or from_file
    for kind, arguments, name, rounds, pokes in json.loads(read("plan.json")):
        found = one(kind, arguments, array("i", read(name)), rounds, pokes)
        if say:
            say(found)
        else:
            print(json.dumps(found))


def from_file(name):
    with open(name, "rb") as file:
        return file.read()

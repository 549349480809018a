"""An example node: a sensor, a recogniser, and gauge, which knows how good the recogniser is.

It prints a report line at an interval, takes the truth as label messages on the same serial line
(signed ones only where there is a file `label.key`), and saves its state, which the next boot takes
up. `sensor` and `recognise` are where your own code goes; everything else can stay as it is.
"""

import gc
import sys
import time

import gauge
from gauge.labels import Labels
from gauge.line import Line


def sensor():
    """The strength of movement, 0 to 1023: here made up, three stretches of 20 s in turn."""
    phase = time.ticks_ms() // 20000 % 3
    return (20, 300, 800)[phase] + time.ticks_us() % 61


def recognise(value):
    """A label's number: 0 is NULL, the others are those of config.json in order."""
    if value < 150:
        return 0
    return 1 if value < 500 or len(config["labels"]) < 3 else 2


def key():
    """The key that labels are signed with, or None where there is no file of that name."""
    try:
        with open("label.key") as file:
            text = file.read()
    except OSError:
        return None
    from binascii import unhexlify

    found = unhexlify(text.strip())
    if not found:
        raise ValueError("label.key is empty: write the key into it as hex digits, or remove it")
    return found


class Every:
    """Says when the next `period` milliseconds are over; never where the period is 0."""

    def __init__(self, period):
        self.period = period
        self.due = time.ticks_add(time.ticks_ms(), period)

    def passed(self):
        if not self.period or time.ticks_diff(time.ticks_ms(), self.due) < 0:
            return False
        self.due = time.ticks_add(self.due, self.period)
        return True


def run(node, labels, line):
    """For ever: a prediction a slice, labels as they come, lines and saves when it is time."""
    size = config["slice"]
    slices = Every(max(1, size * config["tick_us"] // 1000) if config["tick_us"] else 1000)
    lines = Every(1000 * config.get("report_s", 10))
    saves = Every(1000 * config.get("save_s", 3600))
    t = 0
    while True:
        # A loop that was held up makes up for what it missed.
        while slices.passed():
            node.predict(t, recognise(sensor()))
            t = (t + size) & 0x3FFFFFFF
        labels.poll()
        if lines.passed():
            gc.collect()
            line.write(sys.stdout)
        if saves.passed():
            node.save()
        time.sleep_ms(1)


config = gauge.load("config.json")
node = gauge.Node(config)
labels = Labels(node, key())
# Some ports have one kind of stream only.
labels.listen(getattr(sys.stdin, "buffer", sys.stdin), sys.stdout)
line = Line(node)
# Ticks begin at 0 with every boot, so what was recorded before is a recording of its own.
node.resume()
gc.collect()
try:
    run(node, labels, line)
except KeyboardInterrupt:
    # Somebody wants the prompt: `node.report(sys.stdout)` prints everything.
    node.save()

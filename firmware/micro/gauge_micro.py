# Reduced gauge for boards with some 9 KB of heap, such as the micro:bit (MicroPython 1.9): one file, no
# imports but array, small enough to be compiled on the board. Truth and label of a slice come together;
# there is no alignment, and categories are counted over all labels.
from array import array


class Node:
    # window: slices; decay: (1 - alpha) * 1024
    def __init__(self, window=200, decay=10):
        self.window = window
        self.decay = decay
        self.bits = bytearray((window + 7) // 8)
        # correct S D U F I O M, records, losses, without truth, losses in the window, faded sum, its rest
        self.c = array("i", [0] * 14)
        # of the open run of each side: label (0: none), hit, slices without the other side's label
        self.r = array("i", [0] * 6)

    def _turn(self, side, label):
        # a run goes on, or ends: what is pending was before its first or after its last hit
        r = self.r
        if r[side] != label:
            self.c[side + 2 + r[side + 1]] += r[side + 2]
            r[side] = label
            r[side + 1] = r[side + 2] = 0

    def _hit(self, side):
        r = self.r
        self.c[side + 3 + r[side + 1]] += r[side + 2]
        r[side + 1] = 1
        r[side + 2] = 0

    # a slice: its label, and what it really was; 255 where nobody knows
    def score(self, label, truth):
        c = self.c
        if truth == 255:
            self._turn(0, 0)
            self._turn(3, 0)
            c[10] += 1
            return
        self._turn(0, truth)
        self._turn(3, label)
        if truth == label:
            c[0] += 1
            if truth:
                self._hit(0)
                self._hit(3)
        elif label == 0:
            self.r[2] += 1
        elif truth == 0:
            self.r[5] += 1
        else:
            c[1] += 1
        wrong = int(truth != label)
        i = c[8] % self.window
        bit = 1 << (i & 7)
        if self.bits[i >> 3] & bit:
            c[11] -= 1
            self.bits[i >> 3] ^= bit
        if wrong:
            self.bits[i >> 3] |= bit
            c[11] += 1
        c[8] += 1
        c[9] += wrong
        # S = L + alpha S with 16 fraction bits; what is cut off goes into the next record
        rest = (c[12] & 1023) * self.decay + c[13]
        c[12] += (wrong << 16) - (c[12] >> 10) * self.decay - (rest >> 10)
        c[13] = rest & 1023

    # ticks by category, as if the recording ended now: correct S D U F I O M
    def slices(self):
        out = list(self.c[:8])
        for side in (0, 3):
            out[side + 2 + self.r[side + 1]] += self.r[side + 2]
        return out

    # errors: of all records, of the window, faded; None before the first
    def errors(self):
        c = self.c
        n = c[8]
        if not n:
            return None
        a = 1 - self.decay / 1024
        weight = (1 - a**n) / (1 - a)
        return c[9] / n, c[11] / min(n, self.window), c[12] / 65536 / weight

"""What fades with every record shares a clock: the weight of a record grows, the sums stay as they are.

Instead of shrinking every sum by alpha at every record, the weight of a record grows by 1 / alpha from
record to record, and a sum is divided by the present weight when it is read. Records come in blocks of T (a
power of two up to 16 with alpha^-T <= 2). Record j of a block weighs m alpha^-j. The sums P_j of the first
j of these factors are in a table, and records from j to k add round(m P_k) - round(m P_j): a run of equal
records in a block is one step, and it does not matter how runs are cut. After a block m grows by alpha^-T;
at 2^30 it is halved, and every sum with it. m has 30 bits and carries what is cut off.

A clock in a state array: the words below, then 17 words of the table. The kernels move it themselves, because
a call costs more:

    P = table[place]; done' = (((m P >> 30) >> (shift - 1)) + 1) >> 1; a sum gains done' - done
    after T records: m += m growth, halved from 2^30 on; place = done = 0
"""

import sys

if sys.implementation.name == "micropython":
    from micropython import const
else:
    from gauge._cpython import const

GROWTH = const(0)  # alpha^-T - 1, 30 bits
BLOCK = const(1)  # T
SHIFT = const(2)  # of m P_j, less 30
WEIGHT = const(3)  # m
CARRY = const(4)
PLACE = const(5)  # records of the block so far
DONE = const(6)  # what they have added
TABLE = const(7)
WORDS = const(24)
_FIRST = const(0x20000000)


def setup(w, decay):
    """Writes the clock of alpha = 1 - decay / 2^30 into the first words of `w`; decay from 2^10 to 2^29.

    A faded sum of ones stays below 2^30.
    """
    # Whole numbers: boards' floats have 24 bits.
    alpha = (1 << 30) - decay
    factors = [1 << 60]
    while len(factors) <= 16:
        factors.append((factors[-1] << 30) // alpha)
    size = 16
    bits = 25
    while factors[size] > 2 << 60:
        size >>= 1
        bits += 1
    shift = 1
    while decay << shift < 2 << 30:
        shift += 1
    for j in range(size + 1):
        w[TABLE + j] = (sum(factors[:j]) + (1 << 59 - bits)) >> 60 - bits
    w[GROWTH] = min((factors[size] - (1 << 60) + (1 << 29)) >> 30, (1 << 30) - 1)
    w[BLOCK] = size
    w[SHIFT] = bits + shift - 30
    w[WEIGHT] = _FIRST


def present(w, weight=WEIGHT):
    """The weight of the newest record, a whole number of 2^-20 of what one adds to a sum."""
    j = w[weight + PLACE - WEIGHT]
    last = w[TABLE + j] - w[TABLE + j - 1] if j else w[TABLE + w[BLOCK]] - w[TABLE + w[BLOCK] - 1]
    m = w[weight]
    if not j:
        # The block is over and m has grown by alpha^-T already.
        m = (m << 30) // ((1 << 30) + w[GROWTH])
    return (m * last << 20) >> w[SHIFT] + 30

"""Kernels against stored vectors: `run()` on a board says whether it computes as it should.

Made by tools/make_selftest.py; not to be edited.
"""

from gauge.node import Node

_CONFIG = {
    "version": 1,
    "labels": ["NULL", "a", "b", "c", "d"],
    "tick_us": 0,
    "slice": 16387,
    "closed": 0,
    "overlap": 0,
    "gaps_unknown": 0,
    "state_bytes": 0,
    "runs": 32,
    "pending": 32,
    "window": 50,
    "alpha_q30": 32212255,
    "delta_ppm": 50000,
    "loss_max": 255,
    "estimators": [
        "align",
        "slices",
        "prequential",
        "page_hinkley",
        "ddm",
        "adwin",
        "compare",
        "forgetting",
        "reliability",
        "holdout",
        "hierarchy",
    ],
    "group": 16,
    "options": {
        "page_hinkley": {
            "delta": 50000,
            "threshold": 3000000,
            "fading": 0,
            "sides": 3,
            "warmup": 30,
            "source": 0,
            "memory": 0,
            "ticks": 16387,
        },
        "ddm": {"level": 512, "warmup": 30, "ticks": 16387},
        "adwin": {"confidence": 2000, "rows": 6, "per_row": 4, "grain": 4, "ticks": 16387},
        "compare": {"window": 60, "decay": 21474836},
        "forgetting": {"labels": 5, "decay": 10737418},
        "reliability": {"bins": 16, "decay": 10737418},
        "hierarchy": {
            "levels_truth": 2,
            "levels_prediction": 2,
            "window_frames": 7,
            "frame_ticks": 16387,
            "boundaries": 64,
        },
        "holdout": {
            "truth": [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 0, 0, 0, 1, 1],
            "every": 10,
            "capacity": 2,
        },
    },
}

# One label a slice, for the one-sample entries and then for the batch entries: truth, prediction.
_SAMPLES = (
    (
        b"\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x04\x04\x04\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x03"
        b"\x03\x03\x03\x03\x03\x03\x03\x03\x03\x03\x04\x04\x04\x03\x03\x03\x03\x03\x04\x04\x04\xff\xff\xff"
        b"\xff\x01\x01\x01\x01\x01\x04\x04\x04\x04\x04\x04\x04\x04\x04\x03\x03\x03\x03\x03\x03\x03\x01\x01"
        b"\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x03\x00\x00\x00\x04\x02\x02"
    ),
    (
        b"\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x03\x04\x04\x04\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02"
        b"\x03\x03\x03\x03\x03\x03\x03\x03\x03\x03\x03\x04\x04\x03\x00\x03\x03\x03\x03\x04\x04\x04\x04\x01"
        b"\x01\x01\x01\x01\x00\x04\x01\x04\x04\x04\x04\x04\x04\x04\x04\x04\x03\x03\x03\x03\x03\x03\x04\x01"
        b"\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x03\x00\x00\x00\x04\x02"
    ),
)
_BATCHES = (
    (
        b"\x02\x02\x02\x02\x02\x02\x02\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
        b"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\xff\xff\xff"
        b"\xff\x03\x03\x04\x04\x04\x04\x04\x04\x04\x04\x04\x04\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02"
        b"\x02\x04\x04\x04\x04\x04\x02\x02\x02\x02\x02\x02\x02\x00\x04\x04\x04\x04"
    ),
    (
        b"\x02\x02\x02\x02\x02\x02\x02\x02\x02\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00"
        b"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x02\x02\x04\x02\x02\x02\x02\x02\x02\x02\x03"
        b"\x03\x03\x03\x03\x04\x04\x01\x04\x04\x04\x04\x04\x00\x04\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02"
        b"\x02\x02\x04\x04\x04\x04\x04\x02\x02\x02\x04\x02\x02\x02\x00\x04\x02\x04"
    ),
)

# Segments, three bytes each: label, and its length in ticks as a number and how far that is shifted left.
# Some last up to 2^28 ticks, and together they pass the end of the clock at 2^30.
_SEGMENTS = (
    (
        b"\x00\x86\x00\x00\xf3\x00\x02\xa0\x05\x03\xc5\x05\x03\x97\x00\x00\xa5\x00\x00\xe6\x00\x03\xe3\x14"
        b"\x01\xbd\x0b\x01\xe5\x00\x02\xbb\x00\x00\xc9\x0b\x03\x9c\x00\x04\x91\x0b\x02\x97\x00\x04\xc4\x14"
        b"\x00\x91\x0b\x04\xa6\x00\x03\xdc\x05\x02\xe3\x00\x03\xa1\x05\x01\xde\x00\x03\xfc\x05\x02\xaa\x14"
        b"\x01\xc3\x0b\x01\xc6\x00\x01\xa4\x0b\x03\x9c\x05\x03\x7f\x05\x00\xef\x00"
    ),
    (
        b"\x00\x0c\x00\x00\x7a\x00\x00\xdb\x00\x00\x18\x00\x02\x13\x05\x02\x8d\x05\x00\x44\x05\x03\x81\x05"
        b"\x00\x8f\x00\x03\x08\x00\x03\x60\x00\x00\x45\x00\x00\x60\x00\x00\x86\x00\x03\x76\x14\x03\x6d\x14"
        b"\x00\x98\x0b\x01\x25\x0b\x00\xe2\x00\x01\x03\x00\x00\x77\x00\x02\x44\x00\x00\x89\x0b\x00\x40\x0b"
        b"\x03\x64\x00\x03\x38\x00\x04\x61\x0b\x04\x30\x0b\x00\x1e\x00\x02\x79\x00\x04\x17\x14\x04\xad\x14"
        b"\x00\x10\x0b\x00\x81\x0b\x04\x3e\x00\x04\x68\x00\x04\x5f\x05\x03\x7d\x05\x02\x61\x00\x02\x82\x00"
        b"\x04\x92\x05\x03\x0f\x05\x00\x2a\x00\x01\xb4\x00\x03\x97\x05\x03\x65\x05\x00\x26\x14\x02\x84\x14"
        b"\x00\xb5\x0b\x01\x0e\x0b\x03\x45\x00\x01\x81\x00\x00\x5d\x0b\x01\x47\x0b\x03\x7b\x05\x03\x21\x05"
        b"\x00\x5d\x05\x03\x22\x05\x00\xe5\x00\x00\x0a\x00"
    ),
)

# What `Node.raw()` holds afterwards, part by part, keys in order of the alphabet.
_EXPECTED = {
    "adwin": "6 2 38250 80 11 48 34 38151 1 1 1 2 1 2 2 0 2 4 2 1 3 6 625238673 176 28",
    "align": (
        "9 3 5 9 12 0 8 0 0 1 0 0 11 0 0 0 1 0 13 0 1 0 0 0 10 7 0 2079025764 34 0 0 0 0 0 104 51 0 "
        "0 4 5 5 42 445724227 67375056107782799 3 181403648 42 1639048993 75611557455601355 879155 "
        "67108864 42 -49088752 15232938570953446 -114294784 39845888 42 -114348271 "
        "13063313501123855 -114294784 16387 42 65259519 2169624532762053 0 39845888 42 445576744 "
        "67375023078129212 3 181403648 55 51 2"
    ),
    "compare": (
        "12672477 233727813 2 29589 78584241 299639577 38250 5 35660 8 7756529204505 1 39 2 29589 60"
    ),
    "counters": "0 0 0 0 0 0",
    "ddm": "2 238295 20 1 242481 235485 38250 27157 4186 11092 445007003 332",
    "forgetting": (
        "44625121 1550778 4500852 1268392 0 15598934 27972909 0 0 2030758 1915184 0 113106800 0 "
        "12134897 831633 1255708 715253 22133703 1027052 6743978 3165037 5829246 4452927 45696943 "
        "38250 8 3319331247691"
    ),
    "hierarchy": (
        "80 0 0 0 0 0 79 1975 3092 52375722 67 1163 1930 40406418 80 1975 2976 54888967 61 1200 1912 39651621"
    ),
    "holdout": "38164 4 0 1 20",
    "join": "626795438 0 131096",
    "loss": "32212255 16 22453807 255 90 0 1220 50 1124",
    "page_hinkley": "7 20 1 120889 173318 38250 38128 121 624861772 2752424 3329091",
    "prequential": "32212255 24 128367432 38250 2514 8 50 11",
    "reliability": (
        "2359301636096 127816 454148 782381 944452 1638666 1638418 2532680 1701699 2178269 3064054 "
        "3030285 4041245 2589664 5421195 3390658 5310192 243466123 4844236 5007239 4317495 5826369 "
        "4766305 6234288 3630292 4100271 5160512 4617576 5622601 3314770 6425120 3741416 5481489 "
        "38250 194998842 1849527 3738848 4317495 5826369 4051052 6234288 2171010 3180712 3853294 "
        "3688729 4302180 2376540 6425120 2295691 4225781 8 3319331247691 8865919 0 0 0 0 0 0 0 "
        "2097152 0 2118335 0 2139733 0 0 2161346"
    ),
    "slices": (
        "0 0 0 0 16387 0 190690 0 19506 0 0 16387 0 16387 0 0 0 0 0 0 0 0 32774 96 0 0 32843 98322 "
        "56873 131096 0 49161 49161 65617 155195 1151972 659843 139105822 238410182 206260471 0 "
        "698413 39862424 2176 32774"
    ),
}


def _numbers(value, into):
    if isinstance(value, dict):
        for key in sorted(value):
            _numbers(value[key], into)
    elif isinstance(value, (list, tuple)):
        for item in value:
            _numbers(item, into)
    else:
        into.append(int(value))
    return into


def _segments(node):
    at = [0, 0]
    sides = (node.truth_segment, node.predict_segment)
    i = [0, 0]
    while True:
        # The one that ends first comes first, as in life.
        best = None
        for side in range(2):
            data = _SEGMENTS[side]
            if i[side] < len(data):
                end = at[side] + (data[i[side] + 1] << data[i[side] + 2])
                if best is None or end < best[1]:
                    best = (side, end)
        if best is None:
            return
        side, end = best
        sides[side](_SEGMENTS[side][i[side]], at[side] & 0x3FFFFFFF, end & 0x3FFFFFFF)
        at[side] = end
        i[side] += 3


def _levels(node, side, tell):
    # Boundaries of two levels: where the labels change, and every third of these.
    labels = _SAMPLES[side]
    found = 0
    for i in range(1, len(labels) + 1):
        if i == len(labels) or labels[i] != labels[i - 1]:
            found += 1
            tell(1, i * _CONFIG["slice"])
            if i == len(labels) or found % 3 == 0:
                tell(0, i * _CONFIG["slice"])


def raw(config=_CONFIG):
    """The figures of a node that was told all of the inputs."""
    node = Node(config)
    _segments(node)
    node.finish()
    t = 0x3FFF0000
    for i in range(len(_SAMPLES[0])):
        node.predict_b(t, _BATCHES[1][i] if _BATCHES[1][i] < 5 else 0)
        node.predict_with(t, _SAMPLES[1][i], (i * 37) & 255)
        node.truth(t, _SAMPLES[0][i])
        t = (t + config["slice"]) & 0x3FFFFFFF
    node.finish()
    if "holdout" in node.parts:
        node.holdout(bytes([i % 5 for i in range(20)]))
    if "hierarchy" in node.parts:
        _levels(node, 0, node.truth_level)
        _levels(node, 1, node.predict_level)
        node.levels_end(len(_SAMPLES[0]) * config["slice"])
    node.predict_batch(t, _BATCHES[1])
    node.truth_batch(t, _BATCHES[0])
    node.finish()
    if node.parts["loss"]:
        for x in _SAMPLES[0]:
            node.loss(x)
    return node.raw()


def run(config=_CONFIG):
    """For each part that a node of this config has: its name, the numbers compared, how many differ,
    and of the first that does its place, what was expected and what came (or None)."""
    chosen = dict(_CONFIG)
    chosen["estimators"] = [name for name in _CONFIG["estimators"] if name in config["estimators"]]
    if not config.get("loss_max"):
        chosen["loss_max"] = 0
    figures = raw(chosen)
    results = []
    for part in sorted(_EXPECTED):
        if part not in figures and part in _CONFIG["estimators"] + ["loss"]:
            continue
        expected = [int(text) for text in _EXPECTED[part].split()]
        got = _numbers(figures.get(part, ()), [])
        different = abs(len(expected) - len(got))
        first = None
        for i in range(min(len(expected), len(got))):
            if expected[i] != got[i]:
                different += 1
                if first is None:
                    first = (i, expected[i], got[i])
        if different and first is None:
            first = (min(len(expected), len(got)), len(expected), len(got))
        results.append((part, len(expected), different, first))
    return results

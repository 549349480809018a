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
            "fading": 1073742,
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
        "reliability": {"bins": 16, "decay": 10737418, "changes": 64},
        "hierarchy": {
            "levels_truth": 2,
            "levels_prediction": 2,
            "window_frames": 7,
            "frame_ticks": 16387,
            "boundaries": 32,
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
        b"\x03\x03\x03\x03\x03\x03\x03\x00\x00\x00\x00\x00\x04\x04\x04\x04\x04\x04\x04\x04\x03\x03\x03\x03"
        b"\x03\x03\x03\x03\x03\x03\x02\x02\x02\x00\x00\x02\x02\x02\x02\x02\x02\x00\x00\x00\x00\xff\xff\xff"
        b"\xff\x00\x00\x02\x02\x02\x02\x02\x02\x02\x02\x02\x04\x04\x04\x02\x02\x00\x00\x00\x00\x00\x00\x00"
        b"\x00\x00\x00\x00\x02\x02\x02\x02\x02\x02\x02\x02\x04\x04\x02\x02\x02\x02"
    ),
    (
        b"\x03\x03\x03\x03\x03\x03\x04\x03\x03\x00\x00\x00\x00\x04\x04\x04\x04\x04\x04\x04\x04\x03\x02\x03"
        b"\x03\x03\x03\x03\x03\x03\x02\x02\x02\x02\x02\x02\x02\x02\x04\x02\x02\x02\x01\x00\x00\x00\x00\x00"
        b"\x00\x00\x00\x00\x02\x02\x02\x02\x02\x02\x02\x02\x02\x04\x04\x04\x04\x02\x00\x00\x00\x01\x00\x00"
        b"\x00\x01\x00\x00\x00\x02\x02\x02\x00\x02\x02\x02\x02\x04\x04\x00\x02\x02"
    ),
)
_BATCHES = (
    (
        b"\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x03\x03\x03\x03\x03\x03"
        b"\x03\x03\x03\x03\x00\x00\x02\x02\x02\x00\x00\x02\x02\x02\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff"
        b"\xff\x02\x02\x02\x02\x02\x03\x03\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00\x03\x04\x04\x03\x03\x03"
        b"\x03\x02\x02\x02\x02\x02\x02\x03\x03\x03\x03\x03\x03\x03\x03\x03\x03\x01"
    ),
    (
        b"\x00\x00\x00\x00\x00\x00\x03\x00\x03\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x03\x03\x03\x03\x03"
        b"\x03\x03\x03\x03\x03\x00\x02\x02\x02\x02\x02\x02\x02\x02\x00\x00\x00\x00\x00\x00\x00\x03\x01\x00"
        b"\x00\x02\x02\x00\x02\x02\x02\x03\x03\x03\x00\x00\x00\x01\x00\x00\x00\x00\x00\x03\x04\x04\x03\x03"
        b"\x03\x03\x02\x02\x02\x02\x02\x03\x03\x02\x03\x03\x03\x03\x03\x03\x00\x03"
    ),
)

# Segments, three bytes each: label, and its length in ticks as a number and how far that is shifted left.
# Some last up to 2^28 ticks, and together they pass the end of the clock at 2^30.
_SEGMENTS = (
    (
        b"\x02\xc8\x05\x03\xe7\x05\x01\xd8\x0b\x01\xbd\x05\x02\x81\x00\x04\xc2\x05\x02\x95\x05\x01\xfd\x14"
        b"\x03\xcc\x05\x04\xf3\x05\x03\x95\x0b\x02\xcd\x0b\x04\xd8\x0b\x01\xb0\x00\x03\xfc\x05\x03\x8d\x14"
        b"\x04\xa2\x05\x00\x7f\x0b\x03\xdd\x05\x04\x9d\x00\x02\x9e\x00\x04\xdf\x0b\x02\xf7\x05\x00\xcf\x14"
        b"\x00\xfe\x00\x03\xc3\x0b\x00\xfc\x00\x00\xc4\x00\x01\x9e\x0b\x04\xf8\x00"
    ),
    (
        b"\x00\x92\x05\x02\x36\x05\x03\xe0\x05\x03\x07\x05\x01\x4b\x0b\x01\x8d\x0b\x01\x57\x05\x01\x66\x05"
        b"\x02\x46\x00\x02\x3b\x00\x04\x66\x05\x04\x5c\x05\x00\x3e\x05\x02\x57\x05\x00\xbb\x14\x01\x42\x14"
        b"\x03\x6b\x05\x03\x61\x05\x04\x57\x05\x04\x9c\x05\x03\x80\x0b\x03\x15\x0b\x02\xb0\x0b\x02\x1d\x0b"
        b"\x04\x17\x0b\x04\xc1\x0b\x01\x63\x00\x01\x4d\x00\x03\x73\x05\x03\x89\x05\x00\x5f\x14\x03\x2e\x14"
        b"\x04\x32\x05\x04\x70\x05\x00\x3a\x0b\x00\x45\x0b\x03\x36\x05\x03\xa7\x05\x03\x33\x00\x04\x6a\x00"
        b"\x02\x99\x00\x02\x05\x00\x03\xaf\x0b\x04\x30\x0b\x02\xa3\x05\x02\x54\x05\x00\xb5\x14\x00\x1a\x14"
        b"\x00\xe0\x00\x00\x1e\x00\x03\xb5\x0b\x03\x0e\x0b\x00\x11\x00\x00\xeb\x00\x00\xc3\x00\x00\x01\x00"
        b"\x02\x76\x0b\x01\x28\x0b\x04\x93\x00\x04\x65\x00"
    ),
)

# What `Node.raw()` holds afterwards, part by part, keys in order of the alphabet.
_EXPECTED = {
    "adwin": "7 1 38820 20 8 976 0 38635 1 0 2 1 3 3 1 4 6 1 3 15 6 10 633111745 204 56",
    "align": (
        "14 8 10 13 7 0 5 0 2 0 2 0 14 0 0 1 0 0 13 0 0 0 0 0 11 15 0 2333735390 28 0 0 1 0 0 114 "
        "57 0 3 6 8 5 43 120851379 7116791018974733 70 69206016 43 1688388062 75165712971968762 "
        "14444957 65075262 43 296755110 48372173512839194 -81935 196083712 43 -41952 23410939636 "
        "-65548 81935 43 296797062 48372146879494330 -81935 196083712 43 120523639 7116738386356009 "
        "70 69206016 64 55 5"
    ),
    "compare": (
        "17491479 142704484 2 38607 67449959 192662964 38820 15 7380 8 5933271913226 5 31 2 38607 60"
    ),
    "counters": "0 0 0 0 0 0",
    "ddm": "2 282005 20 1 285120 279122 38820 16508 3115 22311 270516596 3666",
    "forgetting": (
        "126574267 8357353 8731808 8091863 0 0 3308930 8985168 5557327 0 8130164 0 69569062 3238269 "
        "5034307 8723032 0 7035478 85117744 4668837 769389 0 2721170 3048765 12657587 38820 8 "
        "3987949501076"
    ),
    "hierarchy": (
        "83 1 0 0 0 0 83 1670 3537 41810562 77 1236 2492 39453776 83 1670 3478 42036860 77 1082 2361 37119639"
    ),
    "holdout": "38734 4 0 1 20",
    "join": "636137126 0 131096",
    "loss": "32212255 16 21782482 255 90 0 1187 50 1088",
    "page_hinkley": "8 20 2 0 245552 38820 38661 158 633537807 1505549 6858449",
    "prequential": "32212255 24 136264344 38820 18124 8 50 11",
    "reliability": (
        "2359301636096 153562 545627 939978 1134695 1968746 1968447 3042842 2044476 2617042 3681251 "
        "3640680 4855280 3111304 192204400 4073644 6379833 72429440 5820018 6015856 5187175 6999985 "
        "5726389 7490071 4361547 4926196 6200002 5547702 6755172 3982469 227797806 4495055 6585634 "
        "0 38820 62712592 3545950 2902165 5187175 5753588 4632649 4676257 3362398 3561803 3165631 "
        "4350418 5985784 3032287 178818313 1671738 3868846 8 3987949501076 0 0 0 0 0 0 0 0 2097152 "
        "0 2118335 0 2139733 8865919 0 2161346"
    ),
    "slices": (
        "0 0 0 16387 0 0 0 32774 99614720 0 0 81935 16387 49161 0 0 0 65548 0 0 0 0 16387 32774 0 0 "
        "274438 81935 98322 407612 0 0 323599 423999 114709 218053445 69736528 1071636 49557996 "
        "740451 0 196083712 55817 32774 16387"
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

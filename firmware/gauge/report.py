"""The report a node prints on request. It may use floats and strings: it is no update."""

import math


def _ratio(a, b):
    return a / b if b else None


def _text(x, digits=4):
    return "-" if x is None else "%.*f" % (digits, x)


def _mean(values):
    values = [x for x in values if x is not None]
    return _ratio(sum(values), len(values))


def _harmonic(p, r):
    if p is None or r is None:
        return None
    return _ratio(2 * p * r, p + r) or 0.0


def _bound(n, delta):
    """Hoeffding half-width of a mean of n losses in [0, 1]."""
    return math.sqrt(math.log(2 / delta) / (2 * n)) if n else None


def _prequential(raw, delta, write):
    q = raw["prequential"]
    alpha = 1 - q["alpha_q30"] / (1 << 30)
    weight = (1 - alpha ** q["n"]) / (1 - alpha)
    squares = (1 - alpha ** (2 * q["n"])) / (1 - alpha * alpha)
    n_eff = _ratio(weight * weight, squares)
    write("prequential error  records %d, without truth %d\n" % (q["n"], q["unlabelled"]))
    for name, value, n in (
        ("mean", _ratio(q["sum"], q["n"]), q["n"]),
        ("window", _ratio(q["window_sum"], q["window_n"]), q["window_n"]),
        ("fading", _ratio(q["fading_s"] / (1 << q["fading_bits"]), weight), n_eff),
    ):
        write("  %-8s %s +- %s  (n = %s)\n" % (name, _text(value), _text(_bound(n, delta)), _text(n, 0)))


def _slices(raw, labels, write):
    s = raw["slices"]
    truth = [sum(s[k][i] for k in ("tp", "sg", "d", "u", "f")) for i in range(len(labels))]
    inferred = [sum(s[k][i] for k in ("tp", "si", "i", "o", "m")) for i in range(len(labels))]
    truth[0] += sum(s["i"]) + sum(s["o"]) + sum(s["m"])
    inferred[0] += sum(s["d"]) + sum(s["u"]) + sum(s["f"])
    recall = [_ratio(a, b) for a, b in zip(s["tp"], truth)]
    precision = [_ratio(a, b) if b else (0.0 if c else None) for a, b, c in zip(s["tp"], inferred, truth)]
    p = _mean(precision)
    r = _mean(recall)
    write(
        "slices  accuracy %s, precision %s, recall %s, F %s\n"
        % (_text(_ratio(sum(s["tp"]), sum(truth))), _text(p), _text(r), _text(_harmonic(p, r)))
    )
    write("  correct %d  S %d" % (sum(s["tp"]), sum(s["sg"])))
    for k in "dufiom":
        write("  %s %d" % (k.upper(), sum(s[k])))
    write("\n  %-16s %9s %9s %9s %7s %7s\n" % ("label", "truth", "inferred", "correct", "prec.", "recall"))
    for i in range(len(labels)):
        row = (labels[i], truth[i], inferred[i], s["tp"][i], _text(precision[i]), _text(recall[i]))
        write("  %-16s %9d %9d %9d %7s %7s\n" % row)


def distance(a):
    """The alignment's distance from `raw()["align"]` (C0 = 2)."""
    pairs = sum(sum(row[1:]) for row in a["confusion"][1:])
    equal = sum(a["confusion"][i][i] for i in range(1, len(a["confusion"])))
    unmatched = a["unmatched_truth"] + a["unmatched_prediction"] + pairs - equal
    return 2 * unmatched + a["same"] - a["iou_q26"] / (1 << 26)


def _align(raw, write):
    a = raw["align"]
    write(
        "alignment  distance %s, segments %d true and %d predicted, forced commits %d\n"
        % (_text(distance(a)), a["truth"], a["prediction"], a["forced"])
    )
    n, total, squares, low, high = a["stats"]["latency"]
    if n:
        mean = total / n / 2
        spread = math.sqrt(max(0.0, squares / n / 4 - mean * mean))
        write(
            "  latency %.2f +- %.2f ticks (%.1f to %.1f), %d early, %d late\n"
            % (mean, spread, low / 2, high / 2, a["early"], a["late"])
        )
        write("  mean overlap %.2f ticks" % (a["stats"]["overlap"][1] / n))
        write(", mean prediction duration %.2f ticks\n" % (a["stats"]["duration"][1] / n))
    write("  correct %d, repetitions: split %d, merge %d\n" % (n, sum(a["split"]), sum(a["merge"])))


def report(node, stream):
    """Writes the figures of `node` to `stream` as text."""
    raw = node.raw()
    write = stream.write
    config = node.config
    times = raw["join"]
    write("streamgauge  assessed %d ticks" % times["assessed"])
    write(", unknown %d, unassessed %d\n" % (times["unknown"], times["unassessed"]))
    rejected = ", ".join("%s %d" % (k, n) for k, n in raw["counters"].items() if n)
    if rejected:
        write("rejected  %s\n" % rejected)
    if "align" in raw:
        _align(raw, write)
    if "slices" in raw:
        _slices(raw, config["labels"], write)
    if "prequential" in raw:
        _prequential(raw, config.get("delta_ppm", 50000) / 1000000, write)
    write("state  %d bytes\n" % node.ledger.used)

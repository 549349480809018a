"""Snapshots on the host: the file, its arrays, its figures, several together, and the report."""

from __future__ import annotations

import importlib
import json
import math
import random
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge import firmware, jsonreport, snapshot
from streamgauge.assess import Settings, assess
from streamgauge.cli import main
from streamgauge.errors import InputError
from streamgauge.files import Notes, Recording
from streamgauge.outcome import Outcome
from streamgauge.profile import compile_config, load_profile
from streamgauge.segments import UNKNOWN, Segments
from streamgauge.snapshot.assessed import assessed, faded_together
from streamgauge.snapshot.figures import Faded, Figures, Origin, latest
from streamgauge.task import Task

gauge = firmware.node_model()
SLICE = 60
TASK = Task(("NULL", "walk", "run", "bad, name"), 0.5, SLICE, gaps_unknown=True)
PROFILE = load_profile("sensor").with_values({"capacity.window": 70, "prequential.alpha": 0.98})


def labels(seed: int, slices: int) -> tuple[list[int], list[int]]:
    """A truth with UNKNOWN stretches and a prediction that is often right, a label a slice."""
    dice = random.Random(seed)
    truth: list[int] = []
    while len(truth) < slices:
        truth += [dice.choice((0, 1, 2, 3, UNKNOWN))] * dice.randint(1, 9)
    prediction = [
        label if label != UNKNOWN and dice.random() < 0.8 else dice.randrange(4) for label in [0, *truth]
    ]
    return truth[:slices], prediction[:slices]


def told(node: Any, truth: list[int], prediction: list[int], *, late: int = 0, begin: int = 0) -> None:
    """Feed a node sample by sample, the truth `late` slices late."""
    for i, label in enumerate(prediction):
        node.predict(begin + i * SLICE, label)
        if i >= late:
            node.truth(begin + (i - late) * SLICE, truth[i - late])


@pytest.fixture
def saved(tmp_path: Path) -> Callable[..., tuple[Path, Any]]:
    """Make a node, let it live, save it; its file and the node itself."""

    def make(seed: int = 1, slices: int = 300, name: str = "gauge", task: Task = TASK, **how: Any) -> Any:
        node = gauge.Node(compile_config(PROFILE, task))
        truth, prediction = labels(seed, slices)
        told(node, truth, prediction, late=how.get("late", 0), begin=how.get("begin", 0))
        if how.get("finish"):
            node.finish()
        prefix = tmp_path / name
        assert node.save(str(prefix))
        return prefix.with_suffix(".1"), node

    return make


def test_the_header_says_when_and_by_whom_it_was_saved(saved: Any) -> None:
    path, node = saved(slices=100)
    found = snapshot.read(path)
    assert (found.sequence, found.boots, found.minor, found.state) == (1, 1, 0, 1)
    assert found.now == 100 * SLICE
    assert found.config["labels"] == list(TASK.labels)
    assert found.epoch == node._join[60]
    assert found.layout == zlib.crc32(found.text)


def test_numpy_sees_the_nodes_own_arrays_by_name(saved: Any) -> None:
    path, node = saved()
    arrays = snapshot.arrays(path)
    entries = node.ledger.entries
    assert list(arrays) == [f"{name}.{k}" for k, (name, _) in enumerate(entries)]
    for (name, k), (_, data) in zip((key.rsplit(".", 1) for key in arrays), entries, strict=True):
        found = arrays[f"{name}.{k}"]
        assert found.dtype == (np.uint8 if isinstance(data, bytearray) else np.dtype("<i4"))
        # The join's own state changes with the save itself, when samples wait for its end.
        if name != "join":
            assert found.tolist() == list(data), name


def test_one_record_holds_all_arrays_and_their_padding(saved: Any) -> None:
    found = snapshot.read(saved()[0])
    record = found.record()
    assert record.dtype.itemsize == len(found.payload)
    assert record.tobytes() == found.payload
    assert np.array_equal(record["slices.4"], found.arrays()["slices.4"])


def test_the_figures_are_the_nodes_own(saved: Any) -> None:
    path, node = saved(late=25)
    assert snapshot.figures(snapshot.read(path)).raw == node.raw()


def test_as_ended_what_is_pending_is_decided(saved: Any) -> None:
    path, node = saved(late=25)
    node.finish()
    assert snapshot.figures(snapshot.read(path), ended=True).raw == node.raw()


def test_labels_that_came_over_the_wire_are_part_of_the_state(tmp_path: Path) -> None:
    node = gauge.Node(compile_config(PROFILE, TASK))
    importlib.import_module("gauge.labels").Labels(node)
    told(node, *labels(3, 40))
    node.save(str(tmp_path / "gauge"))
    found = snapshot.read(tmp_path / "gauge.1")
    assert [part.name for part in found.parts][-2:] == ["labels", "waiting"]
    assert snapshot.figures(found).raw == node.raw()


def test_a_node_that_heard_nothing_has_figures_of_nothing(saved: Any) -> None:
    found = snapshot.read(saved(slices=0)[0])
    assert found.now is None
    figures = snapshot.figures(found)
    assert figures.raw["prequential"]["n"] == 0
    assert assessed(figures).prequential.fading.value is None


def host_assessment(truth: list[int], prediction: list[int]) -> Outcome:
    """What the host makes of the same labels as a recording."""
    sides = [Segments.from_labels(side, SLICE) for side in (truth, prediction)]
    recording = Recording(TASK, *sides, *sides, (0, len(truth) * SLICE), Notes())
    settings = Settings(window=70, alpha=1 - PROFILE_DECAY / 2**30, delta=0.05)
    return Outcome("", "", PROFILE, assess(recording, settings))


PROFILE_DECAY = compile_config(PROFILE, TASK)["alpha_q30"]


def same(a: Any, b: Any, at: str = "") -> None:
    """Assert that two documents say the same: whole numbers exactly, others as exactly as the node rounds."""
    if isinstance(a, dict):
        assert a.keys() == b.keys(), at
        for key in a:
            same(a[key], b[key], f"{at}.{key}")
    elif isinstance(a, list):
        assert len(a) == len(b), at
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            same(x, y, f"{at}[{i}]")
    elif isinstance(a, float) and isinstance(b, float):
        assert a == pytest.approx(b, rel=1e-5, abs=1e-5), at
    else:
        assert a == b, at


@pytest.mark.parametrize("seed", range(5))
def test_the_report_of_a_snapshot_is_that_of_the_same_recording_in_files(saved: Any, seed: int) -> None:
    path, _ = saved(seed=seed, slices=400, finish=True)
    found = snapshot.figures(snapshot.read(path))
    mine = jsonreport.document(Outcome("", "", PROFILE, assessed(found)))
    host = jsonreport.document(host_assessment(*labels(seed, 400)))
    for document in (mine, host):
        # A node keeps how many were early and late, not by how much on the average.
        for side in ("early", "late"):
            document["alignment"][side] = document["alignment"][side]["count"]
    for section in ("labels", "alignment", "slices", "prequential"):
        same(mine[section], host[section], section)


def test_weights_and_null_count_in_the_averages_as_in_assess(saved: Any) -> None:
    path, _ = saved(slices=400, finish=True)
    figures = snapshot.figures(snapshot.read(path))
    host = host_assessment(*labels(1, 400)).assessment.slices
    mine = assessed(figures, weights=(1.0, 5.0, 1.0, 0.0), include_null=False).slices
    assert mine.include_null is False
    by_hand = np.average(host.label_recall[1:], weights=[5.0, 1.0, 0.0])
    assert mine.recall == pytest.approx(by_hand)


# Several nodes


def test_two_nodes_together_are_one_node_that_saw_both_recordings(saved: Any) -> None:
    parts = [snapshot.figures(snapshot.read(saved(seed=s, name=f"n{s}", finish=True)[0])) for s in (5, 6)]
    node = gauge.Node(compile_config(PROFILE, TASK))
    for seed in (5, 6):
        told(node, *labels(seed, 300), begin=seed * 1_000_000)
        node.finish()
    both, alone = snapshot.merge(parts).raw, node.raw()
    for name in ("counters", "join", "align", "slices"):
        assert both[name] == alone[name], name
    for key in ("n", "sum", "unlabelled"):
        assert both["prequential"][key] == alone["prequential"][key]


def test_faded_sums_meet_at_the_time_of_the_latest(saved: Any) -> None:
    gaps = {1: 0, 2: 40, 3: 300}
    files = [saved(seed=s, name=f"n{s}", slices=300 - gap)[0] for s, gap in gaps.items()]
    together = snapshot.merge(snapshot.figures(snapshot.read(path)) for path in files)
    alpha = 1 - PROFILE_DECAY / 2**30
    # Literally: every record of every node, weighted by its age at the end.
    total = weight = squares = 0.0
    for seed, gap in gaps.items():
        truth, prediction = labels(seed, 300 - gap)
        known = [(g, p) for g, p in zip(truth, prediction, strict=True) if g != UNKNOWN]
        for age, (g, p) in enumerate(reversed(known)):
            w = alpha ** (age + gap)
            total, weight, squares = total + w * (g != p), weight + w, squares + w * w
    fading = assessed(together).prequential.fading
    assert fading.value == pytest.approx(total / weight, abs=1e-5)
    assert fading.n_eff == pytest.approx(weight**2 / squares, rel=1e-6)


def test_with_clocks_of_their_own_nothing_is_faded_further(saved: Any) -> None:
    files = [saved(seed=s, name=f"n{s}", slices=s * 100)[0] for s in (1, 2)]
    parts = [snapshot.figures(snapshot.read(path)) for path in files]
    alone = [assessed(part).prequential for part in parts]
    both = assessed(snapshot.merge(parts), own_clocks=True).prequential
    assert both.fading_weight == pytest.approx(sum(part.fading_weight for part in alone))
    assert both.fading_sum == pytest.approx(sum(part.fading_sum for part in alone))


def test_the_latest_of_times_is_found_across_the_wrap_of_the_clock() -> None:
    terms = [Faded(now, 0, 20, 1) for now in (2**30 - 100, 2**30 - 5, 70, 20)]
    assert latest(terms) == 70
    assert latest([Faded(-1, 0, 20, 0)]) == -1
    total, weight, _ = faded_together((Faded(2**30 - 60, 1 << 20, 20, 1), Faded(60, 0, 20, 1)), 0.5, 60)
    assert (total, weight) == pytest.approx((0.25, 1.25))


counts = st.integers(0, 2**45)


@st.composite
def statistics(draw: st.DrawFn) -> list[int]:
    """Count, sum, squares, minimum and maximum of some values."""
    values = draw(st.lists(st.integers(-(2**28), 2**28), max_size=4))
    if not values:
        return [0, 0, 0, 0, 0]
    return [len(values), sum(values), sum(v * v for v in values), min(values), max(values)]


@st.composite
def any_figures(draw: st.DrawFn, epoch: int) -> Figures:
    """Figures of one node with two labels, whatever they may be."""

    def some(*names: str) -> dict[str, Any]:
        return {name: draw(counts) for name in names}

    pair = st.lists(counts, min_size=2, max_size=2)
    raw = {
        "version": 1,
        "counters": some("order", "label"),
        "join": some("assessed", "unknown", "unassessed"),
        "align": {
            **some("forced", "truth", "same", "iou_q26"),
            "confusion": [draw(pair), draw(pair)],
            "split": draw(pair),
            "stats": {"latency": draw(statistics()), "iou": draw(statistics())},
        },
        "slices": {"tp": draw(pair), "m": draw(pair)},
        "prequential": {
            **some("n", "sum", "window_n", "window_sum", "fading_s"),
            "fading_bits": 20,
            "alpha_q30": 99,
        },
        "adwin": some("n"),
    }
    config = {"labels": ["NULL", "a"], "slice": 7, "alpha_q30": 99}
    faded = (Faded(draw(st.integers(-1, 2**30 - 1)), draw(counts), 20, draw(counts)),)
    return Figures(config, raw, {"prequential": faded}, (Origin(epoch, draw(counts), f"{epoch}.0"),))


three = st.tuples(any_figures(1), any_figures(2), any_figures(3))


@given(three)
def test_merging_is_associative(parts: tuple[Figures, Figures, Figures]) -> None:
    a, b, c = parts
    left = snapshot.merge([snapshot.merge([a, b]), c])
    right = snapshot.merge([a, snapshot.merge([b, c])])
    assert left == right == snapshot.merge([a, b, c])


@given(three, st.permutations(range(3)))
def test_merging_does_not_depend_on_the_order(
    parts: tuple[Figures, Figures, Figures], order: list[int]
) -> None:
    assert snapshot.merge(parts[i] for i in order) == snapshot.merge(parts)


@given(three)
def test_extremes_of_several_are_the_extremes_of_all(parts: tuple[Figures, Figures, Figures]) -> None:
    merged = snapshot.merge(parts).raw["align"]["stats"]["latency"]
    present = [p.raw["align"]["stats"]["latency"] for p in parts if p.raw["align"]["stats"]["latency"][0]]
    assert merged[0] == sum(part[0] for part in present)
    if present:
        assert merged[3:] == [min(part[3] for part in present), max(part[4] for part in present)]


def test_what_does_not_add_up_is_named(saved: Any) -> None:
    profile = PROFILE.with_values({"estimators.on": ["align", "slices", "prequential", "page_hinkley"]})
    figures = []
    for seed in (1, 2):
        node = gauge.Node(compile_config(profile, TASK))
        told(node, *labels(seed, 50))
        figures.append(Figures(node.config, node.raw(), {}, (Origin(seed, 1, f"{seed}"),)))
    assert snapshot.merge(figures).left_out == ("page_hinkley",)


def test_other_labels_do_not_add_up(saved: Any) -> None:
    a = saved(seed=1, name="a")[0]
    b = saved(seed=2, name="b", task=Task(("NULL", "walk", "jump", "x"), 0.5, SLICE, gaps_unknown=True))[0]
    with pytest.raises(InputError, match=r"b\.1: differs from .*a\.1 in its labels \(NULL, walk, jump, x"):
        snapshot.merge(snapshot.figures(snapshot.read(path)) for path in (a, b))


def test_one_recording_does_not_count_twice(saved: Any, tmp_path: Path) -> None:
    path, node = saved()
    told(node, *labels(9, 10), begin=300 * SLICE)
    node.save(str(tmp_path / "gauge"))
    copy = tmp_path / "copy"
    copy.write_bytes((tmp_path / "gauge.0").read_bytes())
    with pytest.raises(InputError, match="holds the same recording as"):
        snapshot.merge(snapshot.figures(snapshot.read(file)) for file in (path, copy))


# Files that are not what they should be


def test_of_two_slots_the_newer_is_taken(saved: Any, tmp_path: Path) -> None:
    older, node = saved()
    told(node, *labels(9, 10), begin=300 * SLICE)
    node.save(str(tmp_path / "gauge"))
    found, notes = snapshot.newest([older, tmp_path / "gauge.0"])
    assert [part.sequence for part in found] == [2]
    assert "gauge.1 holds save 1 of the same node; save 2 is newer" in notes[0]


def test_of_two_slots_a_damaged_one_is_left_out_and_told(saved: Any, tmp_path: Path) -> None:
    path, _ = saved()
    damaged = tmp_path / "gauge.0"
    damaged.write_bytes(path.read_bytes()[:-7])
    found, notes = snapshot.newest([damaged, path])
    assert [part.source for part in found] == [str(path)]
    assert "left out" in notes[0] and "is damaged" in notes[0]
    path.write_bytes(b"SGSN")
    with pytest.raises(InputError, match="is damaged"):
        snapshot.newest([damaged, path])


def test_every_bit_that_flips_is_noticed(saved: Any) -> None:
    content = bytearray(saved(slices=30)[0].read_bytes())
    for at in range(len(content)):
        content[at] ^= 1 << at % 8
        with pytest.raises(InputError):
            snapshot.file.parse(bytes(content))
        content[at] ^= 1 << at % 8
    snapshot.file.parse(bytes(content))


def test_every_length_but_the_whole_is_refused(saved: Any) -> None:
    content = saved(slices=30)[0].read_bytes()
    for size in [*range(0, 200), *range(200, len(content), 97), len(content) - 1]:
        with pytest.raises(InputError):
            snapshot.file.parse(content[:size])
    with pytest.raises(InputError, match="damaged"):
        snapshot.file.parse(content + b"\0")


def resealed(content: bytes, change: Callable[[bytearray], None]) -> bytes:
    """The content, changed, with checksums that fit again."""
    data = bytearray(content[:-4])
    change(data)
    length = struct.unpack_from("<I", data, 32)[0]
    struct.pack_into("<I", data, 8, zlib.crc32(data[36 : 36 + length]))
    return bytes(data) + zlib.crc32(data).to_bytes(4, "little")


def put(at: int, value: bytes) -> Callable[[bytearray], None]:
    """A change of some bytes."""

    def change(data: bytearray) -> None:
        data[at : at + len(value)] = value

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (put(0, b"PK"), "is no snapshot"),
        (put(4, b"\2"), r"is a snapshot of version 2 \(this streamgauge reads version 1\). Update"),
        (put(6, b"\xff\xff"), "is damaged"),
        (put(16, b"\0\0\0\0"), "is damaged"),
        (put(36, b"["), "is damaged: its text says not"),
        (put(32, b"\1\0\0\0"), "is damaged"),
    ],
)
def test_a_file_that_is_whole_and_still_wrong_is_refused_in_words(
    saved: Any, change: Callable[[bytearray], None], said: str
) -> None:
    content = resealed(saved(slices=30)[0].read_bytes(), change)
    with pytest.raises(InputError, match=said):
        snapshot.file.parse(content, "gauge.0")


def test_a_later_minor_version_is_read(saved: Any) -> None:
    content = resealed(saved(slices=30)[0].read_bytes(), put(5, b"\7"))
    assert snapshot.file.parse(content).minor == 7


def test_the_state_of_other_firmware_is_refused_but_its_arrays_can_be_looked_at(saved: Any) -> None:
    content = saved(slices=30)[0].read_bytes()
    at = content.index(b'"state":1') + 8
    other = snapshot.file.parse(resealed(content, put(at, b"2")), "gauge.0")
    with pytest.raises(InputError, match=r"gauge\.0: was written by other firmware than gauge"):
        snapshot.figures(other)
    assert len(other.arrays()) == len(other.parts)


def test_the_file_of_the_first_version_is_read_or_refused_in_words() -> None:
    first = Path(__file__).resolve().parents[1] / "node" / "fixtures" / "first"
    found = snapshot.read(first / "snapshot.sg")
    config = json.loads((first / "config.json").read_text())
    assert found.config == {key: config[key] for key in config if key in found.config}
    assert sum(array.nbytes for array in found.arrays().values()) <= len(found.payload)
    try:
        raw = snapshot.figures(found).raw
    except InputError as refused:
        assert "was written by other firmware" in str(refused)
    else:
        assert json.loads(json.dumps(raw)) == json.loads((first / "figures.json").read_text())


# The command


def test_the_command_reports_and_merges(
    saved: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [str(saved(seed=s, name=f"n{s}")[0]) for s in (1, 2)]
    assert main(["read", *files]) == 0
    text = capsys.readouterr().out
    for word in ("2 nodes together", "Alignment", "Slices", "Prequential error", "bad, name"):
        assert word in text
    assert main(["read", files[0], "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["labels"] == list(TASK.labels)
    assert document["snapshots"][0]["sequence"] == 1
    figures = snapshot.figures(snapshot.read(files[0]))
    assert document["raw"] == json.loads(json.dumps(figures.raw))
    assert document["alignment"]["confusion"] == figures.raw["align"]["confusion"]
    assert math.isclose(document["slices"]["accuracy"], assessed(figures).slices.accuracy or 0)


@pytest.mark.parametrize(
    ("content", "said"), [(None, "cannot be read"), (b"hello", "is no snapshot"), (b"SGSN\1", "damaged")]
)
def test_the_command_says_what_is_wrong_with_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes | None, said: str
) -> None:
    path = tmp_path / "gauge.0"
    if content is not None:
        path.write_bytes(content)
    assert main(["read", str(path)]) == 2
    assert said in capsys.readouterr().err


def test_a_node_without_alignment_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    profile = PROFILE.with_values({"estimators.on": ["prequential"]})
    node = gauge.Node(compile_config(profile, TASK))
    told(node, *labels(1, 50))
    node.save(str(tmp_path / "gauge"))
    assert main(["read", str(tmp_path / "gauge.1")]) == 0
    assert "not among these nodes' estimators: the alignment, slices" in capsys.readouterr().out

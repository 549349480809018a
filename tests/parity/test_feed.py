"""How a recording is told to a node: nothing of it is lost, whatever the way."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from streamgauge.assess import Settings, assess
from streamgauge.errors import InputError
from streamgauge.feed import PREDICTION, SAMPLE, TICK_MASK, TRUTH, Feed, lay_out
from streamgauge.files import ReadOptions, Recording, read_pair
from streamgauge.node_run import prepare, run_model
from streamgauge.parity import compare
from streamgauge.profile import load_profile
from streamgauge.segments import UNKNOWN

RING = 16


def recording(tmp_path: Path, truth: str, prediction: str, **options: object) -> Recording:
    paths = [tmp_path / name for name in ("truth.csv", "prediction.csv")]
    for path, rows in zip(paths, (truth, prediction), strict=True):
        path.write_text(rows.replace(" ", "\n") + "\n")
    return read_pair(*paths, ReadOptions(**options))  # type: ignore[arg-type]


def kinds(feed: Feed) -> list[int]:
    return (np.frombuffer(feed.data, dtype="<i4")[::3] >> 8).tolist()


def assert_agrees(made: Recording, **changes: object) -> None:
    profile = load_profile("sensor").with_values({"capacity.runs": RING, **changes})
    config, feed = prepare(made, profile)
    raw = run_model(config, feed)
    assert raw["join"]["unassessed"] == 0
    parity = compare(raw, assess(made, Settings.of(profile)), config)
    assert parity.agrees, list(map(str, parity.first))


def alternating(count: int, length: int, gap: int, first: int = 0) -> str:
    """Many short segments with gaps between them."""
    return " ".join(
        f"{first + i * (length + gap)},{first + i * (length + gap) + length},{'ab'[i % 2]}"
        for i in range(count)
    )


def test_labels_on_the_slice_grid_are_told_in_batches(tmp_path: Path) -> None:
    made = recording(tmp_path, "0,6,a 6,12,b", "0,3,b 3,12,a", slice=3)
    feed = lay_out(made, RING)
    assert feed.plan == {"mode": "slices", "start": 0, "ticks": 3, "slices": 4, "chunk": 8}
    assert feed.data == bytes([2, 1, 1, 1, 1, 1, 2, 2])
    assert_agrees(made)


def test_touching_segments_of_one_label_are_told_as_segments(tmp_path: Path) -> None:
    made = recording(tmp_path, "0,6,a 6,12,a", "0,3,b 3,12,a", slice=3)
    assert lay_out(made, RING).plan["mode"] == "records"
    assert_agrees(made)


def test_segments_come_in_the_order_of_their_ends(tmp_path: Path) -> None:
    made = recording(tmp_path, "0,5,a 5,12,b", "0,7,b 7,12,a", slice=5)
    records = np.frombuffer(lay_out(made, RING).data, dtype="<i4").reshape(-1, 3)
    assert records[:, 2].tolist() == [5, 7, 12, 12]
    assert (records[:, 0] >> 8).tolist() == [TRUTH, PREDICTION, TRUTH, PREDICTION]


def test_closed_segments_are_told_with_inclusive_ends(tmp_path: Path) -> None:
    made = recording(tmp_path, "0,5,a 6,6,b", "0,6,a", closed=True, slice=2)
    records = np.frombuffer(lay_out(made, RING).data, dtype="<i4").reshape(-1, 3)
    assert records[:, 1:].tolist() == [[0, 5], [6, 6], [0, 6]]


def test_times_are_told_modulo_two_to_the_30(tmp_path: Path) -> None:
    high = 3 * (TICK_MASK + 1) - 4
    rows = f"{high},{high + 7},a {high + 7},{high + 11},b"
    made = recording(tmp_path, rows, rows, slice=3)
    records = np.frombuffer(lay_out(made, RING).data, dtype="<i4").reshape(-1, 3)
    assert records[0, 1:].tolist() == [TICK_MASK - 3, 3]
    assert_agrees(made)


def test_crowded_unknown_time_is_told_in_parts(tmp_path: Path) -> None:
    made = recording(tmp_path, "0,3,a 997,1001,b", alternating(100, 7, 3), gaps="unknown", slice=10)
    records = np.frombuffer(lay_out(made, RING).data, dtype="<i4").reshape(-1, 3)
    parts = records[records[:, 0] == (TRUTH << 8 | UNKNOWN)]
    assert len(parts) > 20
    assert parts[0, 1] == 3
    assert parts[-1, 2] == 997
    assert parts[1:, 1].tolist() == parts[:-1, 2].tolist()
    assert_agrees(made)


def test_a_crowded_segment_is_told_sample_by_sample(tmp_path: Path) -> None:
    made = recording(tmp_path, "0,3,a 3,1001,b", alternating(100, 7, 3), slice=10)
    feed = lay_out(made, RING)
    assert kinds(feed).count(TRUTH + SAMPLE) == 100
    assert_agrees(made)


def test_a_long_gap_in_the_prediction_does_not_lose_truth(tmp_path: Path) -> None:
    made = recording(tmp_path, alternating(300, 7, 4), "0,3,a 3290,3299,b", slice=10)
    assert PREDICTION + SAMPLE in kinds(lay_out(made, RING))
    assert_agrees(made)


def test_two_crowded_segments_of_one_label_stay_two(tmp_path: Path) -> None:
    made = recording(tmp_path, "0,201,b 201,401,b", alternating(40, 7, 3), slice=10)
    profile = load_profile("sensor")
    config, feed = prepare(made, profile)
    # By samples the second would go on where it should begin, so it is told as a segment.
    assert kinds(feed).count(TRUTH) == 1
    assert kinds(feed).count(TRUTH + SAMPLE) == 21
    raw = run_model(config, feed)
    assert raw["align"]["truth"] == 2
    assert compare(raw, assess(made, Settings.of(profile)), config).agrees


def test_overlapping_segments_are_told_as_they_are(tmp_path: Path) -> None:
    made = recording(tmp_path, "0,6,a 4,9,b", "0,3,b 3,9,a", overlaps="keep")
    feed = lay_out(made, RING)
    assert feed.overlap
    assert kinds(feed).count(TRUTH) == 2
    assert_agrees(made)


def test_segments_that_start_together_agree_where_overlaps_are_kept(tmp_path: Path) -> None:
    made = recording(tmp_path, "0,6,a 0,9,b 4,12,a", "0,4,b 0,9,a 9,12,b", overlaps="keep")
    assert_agrees(made)


def test_a_ring_that_is_too_small_loses_time_and_says_so(tmp_path: Path) -> None:
    """Overlapping segments cannot be told by samples, and this one lasts while 100 others end."""
    rows = alternating(100, 11, -1)
    made = recording(tmp_path, "0,1001,a", rows, overlaps="keep", slice=10)
    profile = load_profile("sensor").with_values({"capacity.runs": RING})
    config, feed = prepare(made, profile)
    raw = run_model(config, feed)
    assert raw["join"]["unassessed"] > 0
    parity = compare(raw, assess(made, Settings.of(profile)), config)
    assert not parity.agrees
    assert "Raise capacity.runs" in parity.remarks[0]


def test_a_segment_longer_than_the_node_counts_is_refused(tmp_path: Path) -> None:
    made = recording(tmp_path, f"0,{2**28},a", "0,5,a")
    with pytest.raises(InputError, match=r"lasts 268435456 ticks.*less than 2\^28"):
        prepare(made, load_profile("sensor"))

"""The built-in example is what its generator makes, and a believable home."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path
from statistics import median

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamgauge.align import align
from streamgauge.errors import InputError
from streamgauge.example import DAYS, SEED, builtin, csv_text, example, table1, write_example
from streamgauge.files import read_pair
from streamgauge.segments import UNKNOWN
from streamgauge.simulation.dice import DAY, HOUR, Dice
from streamgauge.simulation.recogniser import LABELS
from streamgauge.slices import slices


def test_the_shipped_files_are_what_the_generator_makes(tmp_path: Path) -> None:
    truth, prediction, _ = builtin()
    made = write_example(tmp_path / "new folder")
    assert made[0].read_bytes() == truth.read_bytes()
    assert made[1].read_bytes() == prediction.read_bytes()
    assert max(truth.stat().st_size, prediction.stat().st_size) < 200_000


def test_a_seed_gives_one_recording_and_another_seed_another() -> None:
    assert example(5, 7) == example(5, 7)
    assert example(5, 7) != example(6, 7)


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.integers(1, 40))
def test_any_seed_gives_ordered_rows_inside_its_days(seed: int, days: int) -> None:
    truth, prediction = example(seed, days)
    for rows in (truth, prediction):
        assert all(0 <= start < end <= days * DAY for start, end, _ in rows)
        assert all(a[0] <= b[0] for a, b in pairwise(rows))
    assert all(a[1] <= b[0] for a, b in pairwise(prediction))
    assert {label for _, _, label in prediction} <= set(LABELS)
    assert {label for _, _, label in truth} <= {*LABELS, "UNKNOWN"}


def test_the_dice_are_plain_arithmetic_on_uniform_numbers() -> None:
    dice = Dice(1)
    assert [dice.flat(0, 1000) for _ in range(4)] == [134, 847, 763, 255]  # random.Random(1), to three digits
    assert {dice.bell(0, 3) for _ in range(200)} == {0, 1, 2}
    assert sum(dice.skewed(0, 100) < 25 for _ in range(1000)) == pytest.approx(500, abs=60)
    counts = Counter(dice.pick({"a": 3, "b": 1}) for _ in range(1000))
    assert counts["a"] == pytest.approx(750, abs=60)


def test_the_home_is_lived_in_as_homes_are() -> None:
    truth, _ = example(SEED, DAYS)
    minutes = defaultdict(list)
    for start, end, label in truth:
        minutes[label].append((end - start) / 60)
    assert set(minutes) == {*LABELS, "UNKNOWN"}
    a_day = {label: sum(lengths) / 60 / DAYS for label, lengths in minutes.items()}
    assert 6 < a_day["sleep"] < 9
    assert 3 < a_day["leave_house"] < 9
    assert 2 < len(minutes["use_toilet"]) / DAYS < 8
    assert 1 < median(minutes["brush_teeth"]) < 5
    assert 5 < median(minutes["take_shower"]) < 16
    assert 0.02 < sum(minutes["UNKNOWN"]) * 60 / (DAYS * DAY) < 0.2
    nights = [label for start, _, label in truth if label == "sleep" and start % DAY > 20 * HOUR]
    assert len(nights) > DAYS / 2


def test_every_kind_of_error_is_in_the_built_in_example() -> None:
    truth, prediction, options = builtin()
    recording = read_pair(truth, prediction, options)
    assert recording.task.labels == ("NULL", *sorted(LABELS))
    assert (recording.task.tick_seconds, recording.task.slice_ticks) == (1.0, 60)
    assert recording.span == (0, DAYS * DAY)
    assert recording.notes.flattened_truth > 30, "nested activities"
    assert recording.notes.warnings == []
    assert (recording.truth.label == UNKNOWN).sum() >= 5
    found = slices(recording.truth, recording.prediction, len(recording.task.labels))
    assert 0.75 < found.accuracy < 0.95
    for category in ("S", "D", "I", "U", "O", "F", "M"):
        assert found.totals[category] > 20 * 60, f"at least 20 minutes of {category}"


def test_the_recogniser_gets_worse_when_its_kitchen_sensor_fails() -> None:
    truth, prediction, options = builtin()
    recording = read_pair(truth, prediction, options)
    kitchen = recording.task.labels.index("prepare_meal")
    wrong = []
    for begin, stop in ((0, DAYS * 2 // 3), (DAYS * 2 // 3, DAYS)):
        meals, right = 0, 0
        said = np.repeat(recording.prediction.label, recording.prediction.end - recording.prediction.start)
        for label, start, end in recording.truth:
            if label == kitchen and begin * DAY <= start < stop * DAY:
                meals += end - start
                right += int((said[start:end] == kitchen).sum())
        wrong.append(1 - right / meals)
    assert wrong[1] > 1.5 * wrong[0]


def test_the_papers_pair_gives_the_papers_distance(shared: Path) -> None:
    golden = json.loads((shared / "golden/sltss_table1.json").read_text())
    recording = read_pair(*table1())
    assert recording.task.labels == ("NULL", "1", "2", "3", "4", "5")
    for side, rows in (("truth_raw", golden["truth"]), ("prediction_raw", golden["prediction"])):
        assert list(getattr(recording, side)) == [
            (row["label"], row["start"], row["end"] + 1) for row in rows
        ]
    found = align(recording.truth_raw, recording.prediction_raw, labels=6, closed=True)
    assert found.distance == pytest.approx(golden["distance"], abs=1e-12)


def test_timestamps_are_written_as_iso() -> None:
    assert csv_text([(0, 90, "sleep")]) == "start,end,label\n2024-03-04T00:00:00,2024-03-04T00:01:30,sleep\n"


def test_impossible_days_and_folders_are_refused(tmp_path: Path) -> None:
    for days in (0, -1, 4000):
        with pytest.raises(InputError, match=f"days is {days}"):
            example(1, days)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        write_example(tmp_path / "file", 1, 1)

"""`streamgauge hierarchy`: from files of levels to figures, on the host and on nodes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mir_eval
import numpy as np
import pytest

from streamgauge.cli import main
from streamgauge.engines import Engine
from streamgauge.errors import InputError
from streamgauge.files import ReadOptions
from streamgauge.hierarchy import t_measure
from streamgauge.levels import report
from streamgauge.levels.figures import LevelSettings, level_figures
from streamgauge.levels.node import run_levels
from streamgauge.levels.parity import without_gaps
from streamgauge.levels.read import read_levels
from streamgauge.profile import load_profile


def files(folder: Path, *levels: str) -> list[str]:
    paths = []
    for i, text in enumerate(levels):
        path = folder / f"{len(list(folder.iterdir()))}_{i}.lab"
        path.write_text(text)
        paths.append(str(path))
    return paths


def asked(truth: list[str], prediction: list[str], *more: str) -> list[str]:
    sides = [("--truth", path) for path in truth] + [("--prediction", path) for path in prediction]
    return ["hierarchy", *(word for pair in sides for word in pair), *more]


def song(shared: Path) -> tuple[list[str], list[str]]:
    folder = shared / "data" / "mir_eval" / "hierarchy"
    return tuple([str(folder / f"{side}0{i}.lab") for i in (0, 1)] for side in ("ref", "est"))  # type: ignore[return-value]


@pytest.mark.parametrize("window", [5, 15, 30])
def test_published_numbers_are_reproduced_in_their_rounding(
    shared: Path, capsys: pytest.CaptureFixture[str], window: int
) -> None:
    more = ["--fit", "--rounding", "mir_eval", "--window", f"{window}s", "--json"]
    assert main(asked(*song(shared), *more)) == 0
    found = json.loads(capsys.readouterr().out)["hierarchy"]
    name = f"output_w={window:02}.json"
    published = json.loads((shared / "data" / "mir_eval" / "hierarchy" / name).read_text())
    for gain in ("reduced", "full"):
        for ours, theirs in (("precision", "Precision"), ("recall", "Recall"), ("f", "Measure")):
            assert found[gain][ours] == pytest.approx(published[f"T-{theirs} {gain}"], abs=1e-12)
    assert found["labels"]["f"] == pytest.approx(published["L-Measure"], abs=1e-12)


@pytest.mark.parametrize("spec", ["arm", "x64"])
@pytest.mark.parametrize("track", [636, 10, 100, 1000])
def test_a_nodes_counts_on_songs_are_the_hosts(
    request: pytest.FixtureRequest, shared: Path, spec: str, track: int
) -> None:
    folder = shared / "data" / "salami" / str(track) / "parsed"
    sides = [
        [folder / f"textfile{annotator}_{level}.txt" for level in ("uppercase", "lowercase")]
        for annotator in (1, 2)
    ]
    levels = read_levels(*sides, fit=True)
    settings = LevelSettings(frame=100, window=15_000)
    engine: Engine = request.getfixturevalue(spec)
    node, parity = run_levels(levels, settings, load_profile("sensor"), engine)
    assert parity.agrees, list(map(str, parity.first))
    assert parity.remarks == ()
    assert parity.with_host == 20
    found = level_figures(levels, settings)
    queries, concordant, pairs, _ = node.raw["hierarchy"]["recall_full"]
    side = found.full.of_truth
    assert (queries, concordant, pairs) == (side.queries, side.concordant, side.pairs)
    assert pairs > 0
    assert node.memory.allocated_by_updates == 0


def test_boundaries_and_deviations_are_those_of_mir_eval(shared: Path) -> None:
    truth, prediction = song(shared)
    levels = read_levels(truth, prediction, fit=True)
    found = level_figures(levels, LevelSettings(frame=100, window=15_000, tolerances=(500, 3000)))
    for pair in found.pairs:
        a, b = levels.truth[pair.truth - 1] / 1000, levels.prediction[pair.prediction - 1] / 1000
        for hit in pair.detections:
            expected = mir_eval.segment.detection(a, b, window=hit.tolerance / 1000)
            assert (hit.precision, hit.recall, hit.f) == pytest.approx(expected, abs=1e-12)
        both = pair.deviation.truth_to_prediction, pair.deviation.prediction_to_truth
        assert np.array(both) / 1000 == pytest.approx(mir_eval.segment.deviation(a, b), abs=1e-9)


def test_levels_that_leave_gaps_are_scored_with_them_and_told_without(tmp_path: Path, x64: Engine) -> None:
    truth = files(tmp_path, "0 40 a\n", "0 10 a\n20 40 b\n")
    prediction = files(tmp_path, "0 15 a\n15 40 b\n")
    levels = read_levels(truth, prediction)
    settings = LevelSettings(window=9)
    assert levels.gaps
    found = level_figures(levels, settings)
    filled = [without_gaps(rows, levels.span) for rows in levels.truth]
    assert [rows.tolist() for rows in filled][1] == [[0, 10], [10, 20], [20, 40]]
    assert found.full != t_measure(filled, levels.prediction, window=9, gain="full")
    _, parity = run_levels(levels, settings, load_profile("sensor"), x64)
    assert parity.agrees
    assert "gaps are segments to it" in parity.remarks[0]


def test_boundaries_that_the_ring_loses_are_said(tmp_path: Path, x64: Engine) -> None:
    fine = "".join(f"{i} {i + 1} s{i}\n" for i in range(60))
    levels = read_levels(files(tmp_path, fine), files(tmp_path, "0 60 a\n"))
    profile = load_profile("sensor").with_values({"hierarchy.boundaries": 4})
    _, parity = run_levels(levels, LevelSettings(window=20), profile, x64)
    assert parity.agrees
    assert "boundaries: its scores were compared with the model's alone" in parity.remarks[0]


def test_spans_that_differ_are_refused_with_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    truth, prediction = files(tmp_path, "0 40 a\n"), files(tmp_path, "0 41 a\n")
    assert main(asked(truth, prediction)) == 2
    said = capsys.readouterr().err
    assert f"{prediction[0]}, row 1: covers ticks 0 to 41, but {truth[0]} covers 0 to 40" in said
    assert "--fit" in said
    assert main(asked(truth, prediction, "--fit")) == 0
    assert main(asked(truth, prediction, "--span", "0", "50")) == 0


def test_a_level_that_overlaps_itself_is_refused_with_the_place(tmp_path: Path) -> None:
    truth = files(tmp_path, "0 40 a\n", "0 20 a\n15 40 b\n")
    with pytest.raises(InputError, match=r"\.lab, row 2: \[15, 40\) overlaps \[0, 20\) of row 1"):
        read_levels(truth, truth)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--frame", "0.4"), "--frame is '0.4' (a whole number of ticks"),
        (("--gain", "1,x"), "--gain holds 'x' (numbers, one a level gap"),
        (("--window", "none", "--node", "x64"), "a node needs a window for levels"),
        (("--window", "5000", "--node", "x64"), "the window of the levels has 5000 frames"),
        (("--depth", "0"), "depth cutoff 0 leaves no level"),
    ],
)
def test_settings_that_cannot_work_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: tuple[str, ...], message: str
) -> None:
    truth = files(tmp_path, "0 40 a\n")
    assert main(asked(truth, truth, *more)) == 2
    assert message in capsys.readouterr().err


def test_a_side_without_files_is_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(asked(files(tmp_path, "0 40 a\n"), [])) == 2
    assert "give --prediction at least once" in capsys.readouterr().err


def test_the_report_names_measures_and_levels(shared: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(asked(*song(shared), "--fit", "--gain", "1,0.5")) == 0
    text = capsys.readouterr().out
    for words in ("T-measure, reduced", "T-measure, full", "T-measure, own gain", "L-measure", "1 and 1"):
        assert words in text


def test_fine_levels_of_the_deeper_side_are_paired_last(tmp_path: Path) -> None:
    truth = files(tmp_path, "0 40 a\n", "0 20 a\n20 40 b\n", "0 10 a\n10 40 b\n")
    prediction = files(tmp_path, "0 40 a\n", "0 11 a\n11 40 b\n")
    found = level_figures(read_levels(truth, prediction), LevelSettings(window=9))
    assert [(pair.truth, pair.prediction) for pair in found.pairs] == [(1, 1), (3, 2)]


def test_a_depth_cutoff_uses_the_coarsest_levels_on_host_and_node(tmp_path: Path, x64: Engine) -> None:
    truth = files(tmp_path, "0 20 a\n20 40 b\n", "0 10 a\n10 40 b\n")
    prediction = files(tmp_path, "0 18 a\n18 40 b\n", "0 7 a\n7 40 b\n")
    levels = read_levels(truth, prediction)
    cut = LevelSettings(window=9, depth=1)
    found = level_figures(levels, cut)
    alone = level_figures(read_levels(truth[:1], prediction[:1]), LevelSettings(window=9))
    assert found.full == alone.full
    node, parity = run_levels(levels, cut, load_profile("sensor"), x64)
    assert parity.agrees
    assert node.raw["hierarchy"]["recall_full"][2] == found.full.of_truth.pairs


def test_minutes_apart_the_clock_still_goes_round(tmp_path: Path, x64: Engine) -> None:
    """Ticks beyond 2^30, and a pause longer than half of that."""
    half = 700_000_000
    text = f"0 {half} a\n{half} {2 * half} b\n"
    levels = read_levels(files(tmp_path, text), files(tmp_path, text), ReadOptions(time="ticks"))
    settings = LevelSettings(frame=1_000_000, window=20_000_000)
    _, parity = run_levels(levels, settings, load_profile("sensor"), x64)
    assert parity.agrees, list(map(str, parity.first))


def keys(value: Any, path: str = "") -> Iterator[str]:
    if path == "node.raw" or not isinstance(value, dict | list):
        yield path
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from keys(inner, f"{path}.{key}" if path else key)
    else:
        for inner in value:
            yield from keys(inner, path + "[]")


def test_every_key_is_documented_and_there(tmp_path: Path, x64: Engine) -> None:
    truth = files(tmp_path, "0 40 a\n", "0 10 a\n20 40 b\n")
    prediction = files(tmp_path, "0 15 a\n15 40 b\n")
    levels = read_levels(truth, prediction)
    settings = LevelSettings(window=9, tolerances=(2,), gain=(1.0, 0.5))
    found = level_figures(levels, settings)
    node, parity = run_levels(levels, settings, load_profile("sensor"), x64)
    document = report.document(found, node, parity)
    document["parity"]["first"] = ["one"]
    assert json.loads(json.dumps(document)) == json.loads(json.dumps(document, allow_nan=False))
    assert set(keys(document)) == {key for key, _ in report.KEYS}

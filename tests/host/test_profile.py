"""Memory profiles are checked key by key, and become what a node loads."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from streamgauge import profile as profile_module
from streamgauge.errors import InputError
from streamgauge.files import ReadOptions, read_pair
from streamgauge.profile import (
    KEYS,
    Key,
    check_node_range,
    compile_config,
    load_profile,
    profile_names,
    profile_schema,
)
from streamgauge.task import Task

PROFILES = Path(__file__).parents[2] / "memory_profiles"
TASK = Task(("NULL", "eat", "sleep"), tick_seconds=0.02, slice_ticks=50, closed=True, gaps_unknown=True)


def refused(folder: Path, old: str, new: str) -> str:
    """The message for the sensor profile with one text replaced."""
    text = (PROFILES / "sensor.toml").read_text()
    assert text.count(old) >= 1
    (folder / "mine.toml").write_text(text.replace(old, new, 1))
    with pytest.raises(InputError) as caught:
        load_profile(folder / "mine.toml")
    return str(caught.value).replace(f"{folder}/", "")


def row_of(start: str) -> int:
    """The line of the sensor profile that starts so."""
    lines = (PROFILES / "sensor.toml").read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.startswith(start))


def test_the_tiers_have_the_heap_kirkby_gives_them() -> None:
    assert {"sensor", "pda", "server"} <= set(profile_names())
    assert load_profile("sensor").heap_bytes == 100 * 1024
    assert load_profile("pda").heap_bytes == 32 * 1024**2
    assert load_profile("server").heap_bytes == 400 * 1024**2


@pytest.mark.parametrize("name", [path.stem for path in sorted(PROFILES.glob("*.toml"))])
def test_every_shipped_profile_documents_every_key_it_sets(name: str) -> None:
    loaded = load_profile(name)
    assert loaded.name == name
    lines = (PROFILES / f"{name}.toml").read_text().splitlines()
    for above, line in pairwise(lines):
        if re.match(r"[a-z_]+ *=", line):
            assert above.startswith("#"), line


def test_profile_and_task_become_what_the_node_loads() -> None:
    config = compile_config(load_profile("sensor"), TASK, overlap=True)
    expected = {
        "version": 1,
        "labels": ["NULL", "eat", "sleep"],
        "tick_us": 20_000,
        "slice": 50,
        "closed": 1,
        "overlap": 1,
        "gaps_unknown": 1,
        "runs": 64,
        "pending": 64,
        "window": 1000,
        "alpha_q30": 1_073_742,
        "delta_ppm": 50_000,
        "loss_max": 0,
        "state_bytes": 0,
        "estimators": ["align", "slices", "prequential"],
    }
    assert {key: config[key] for key in expected} == expected
    assert json.loads(json.dumps(config)) == config


@pytest.mark.parametrize(("seconds", "tick_us"), [(None, 0), (1.0, 1_000_000), (1 / 44100, 0), (1e-9, 0)])
def test_a_tick_that_is_no_whole_number_of_microseconds_has_no_length_on_the_node(
    seconds: float | None, tick_us: int
) -> None:
    assert compile_config(load_profile("sensor"), Task(("NULL",), seconds))["tick_us"] == tick_us


def test_a_task_with_more_labels_than_fit_is_refused() -> None:
    task = Task(("NULL", *(f"L{i}" for i in range(32))))
    with pytest.raises(InputError, match=r"32 labels besides NULL \(at most 31 fit the profile sensor"):
        compile_config(load_profile("sensor"), task)
    small = load_profile("sensor").with_values({"capacity.labels": 4})
    with pytest.raises(InputError, match=r"Raise its capacity\.labels"):
        compile_config(small, task)
    assert len(compile_config(load_profile("sensor"), Task(task.labels[:32]))["labels"]) == 32


def test_a_slice_or_segment_too_long_for_the_node_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a slice lasts 268435456 ticks"):
        compile_config(load_profile("sensor"), Task(("NULL",), slice_ticks=2**28))
    (tmp_path / "t.csv").write_text(f"0,10,a\n{2**28 + 9},{2**28 + 20},b\n")
    (tmp_path / "p.csv").write_text(f"0,10,a\n10,{2**28},b\n{2**28},{2**28 + 20},a\n")
    recording = read_pair(tmp_path / "t.csv", tmp_path / "p.csv")
    check_node_range(recording)
    (tmp_path / "t.csv").write_text(f"0,10,a\n{2**28 + 10},{2**28 + 20},b\n")
    recording = read_pair(tmp_path / "t.csv", tmp_path / "p.csv", ReadOptions())
    with pytest.raises(InputError, match=r"a segment of the truth lasts 268435456 ticks, from tick 10 on"):
        check_node_range(recording)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("runs = 64", "runs = 6400", "capacity.runs is 6400 (a power of two from 4 to 1024 was expected)."),
        ("runs = 64", "runs = 96", "capacity.runs is 96 (a power of two from 4 to 1024 was expected)."),
        ("runs = 64", "runs = 64.0", "capacity.runs is 64.0 (a power of two from 4 to 1024 was expected)."),
        ("runs = 64", "runs = true", "capacity.runs is True (a power of two from 4 to 1024 was expected)."),
        ("runs = 64", "runs = [1]", "capacity.runs is [1] (a power of two from 4 to 1024 was expected)."),
        ("alpha = 0.999", "alpha = 1", "prequential.alpha is 1 (a number from 0.5 to 0.9999 was expected)."),
        (
            "alpha = 0.999",
            "alpha = nan",
            "prequential.alpha is nan (a number from 0.5 to 0.9999 was expected).",
        ),
        (
            "bytes = 102400",
            "bytes = 0",
            "heap.bytes is 0 (a whole number from 4096 to 1099511627776 was expected).",
        ),
        (
            "runs = 64",
            "rums = 64",
            "capacity.rums is no key of a memory profile. Did you mean capacity.runs.",
        ),
        ("[capacity]", "[capacities]", "capacities is no key of a memory profile. Did you mean capacity."),
    ],
)
def test_an_impossible_or_unknown_key_is_named_with_its_row(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    row = row_of(old.partition(" =")[0])
    assert refused(tmp_path, old, new) == f"mine.toml, row {row}: {message}"


def test_a_wrong_text_or_list_is_named(tmp_path: Path) -> None:
    assert "name is 3 (a text was expected)" in refused(tmp_path, 'name = "sensor"', "name = 3")
    message = refused(tmp_path, '"align", ', '"alien", ')
    assert message.startswith(f"mine.toml, row {row_of('on =')}: estimators.on is ['alien', ")
    assert "(a list of align, slices, prequential" in message
    line = next(
        line for line in (PROFILES / "sensor.toml").read_text().splitlines() if line.startswith("on =")
    )
    assert "estimators.on is []" in refused(tmp_path, line, "on = []")
    assert "estimators.on is 'align'" in refused(tmp_path, line, 'on = "align"')


def test_a_missing_key_or_table_is_named(tmp_path: Path) -> None:
    assert refused(tmp_path, "runs = 64", "") == (
        "mine.toml: capacity.runs is missing (a power of two from 4 to 1024 was expected)."
    )
    (tmp_path / "empty.toml").write_text("")
    with pytest.raises(InputError, match="name is missing"):
        load_profile(tmp_path / "empty.toml")
    (tmp_path / "short.toml").write_text('name = "x"\ndescription = "x"\ntier = "x"\n')
    with pytest.raises(InputError, match=r"heap is missing \(a table \[heap\] was expected\)"):
        load_profile(tmp_path / "short.toml")


def test_what_is_not_toml_is_refused_with_its_row(tmp_path: Path) -> None:
    message = refused(tmp_path, "[heap]", "[heap")
    assert message.startswith(f"mine.toml, row {row_of('[heap]')}: is not TOML")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="it is not UTF-8"):
        load_profile(tmp_path / "binary.toml")
    with pytest.raises(InputError, match=r"nowhere\.toml: cannot be read"):
        load_profile(tmp_path / "nowhere.toml")


def test_an_unknown_profile_lists_those_there_are() -> None:
    with pytest.raises(InputError, match=r"'sensr' \(.*sensor.*\)\. Did you mean sensor"):
        load_profile("sensr")


def test_an_optional_key_has_a_default(tmp_path: Path) -> None:
    text = (
        (PROFILES / "sensor.toml").read_text().replace("loss_max = 0\n", "").replace("state_bytes = 0\n", "")
    )
    (tmp_path / "mine.toml").write_text(text)
    loaded = load_profile(str(tmp_path / "mine.toml"))
    assert (loaded["prequential.loss_max"], loaded["heap.state_bytes"]) == (0, 0)


def test_values_changed_later_are_checked_too() -> None:
    changed = load_profile("sensor").with_values({"heap.bytes": 65536})
    assert changed.heap_bytes == 65536
    assert load_profile("sensor").heap_bytes == 102400
    with pytest.raises(InputError, match=r"^heap\.bytes is 12 \("):
        changed.with_values({"heap.bytes": 12})
    with pytest.raises(InputError, match=r"capacity\.rings is no key"):
        changed.with_values({"capacity.rings": 12})


def test_the_schema_is_one_and_describes_every_key() -> None:
    schema = profile_schema()
    Draft202012Validator.check_schema(schema)
    for key in KEYS:
        table, _, name = key.path.rpartition(".")
        properties = schema["properties"][table]["properties"] if table else schema["properties"]
        assert properties[name]["description"]


def test_a_new_key_is_one_new_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    new = Key("capacity.levels", {"type": "integer", "minimum": 1, "maximum": 4}, "levels", default=2)
    monkeypatch.setattr(profile_module, "KEYS", (*KEYS, new))
    monkeypatch.setattr(profile_module, "_BY_PATH", {key.path: key for key in (*KEYS, new)})
    assert compile_config(load_profile("sensor"), TASK)["levels"] == 2
    row = row_of("runs =")
    message = refused(tmp_path, "runs = 64", "levels = 9\nruns = 64")
    assert message == f"mine.toml, row {row}: capacity.levels is 9 (a whole number from 1 to 4 was expected)."

"""Every estimator's keys become the options its class on the node takes."""

from __future__ import annotations

import importlib
import inspect
import json
from typing import Any

import pytest

from streamgauge import firmware
from streamgauge.errors import InputError
from streamgauge.profile import ESTIMATORS, KEYS, Profile, compile_config, load_profile
from streamgauge.profile_keys import DETECTORS, RESTARTABLE
from streamgauge.task import Task

TASK = Task(("NULL", "eat", "sleep", "walk"), tick_seconds=1.0, slice_ticks=60)
HOLDOUT = bytes([0, 1, 2, 3] * 25)


def with_everything(**changes: Any) -> Profile:
    values = {key.replace("__", "."): value for key, value in changes.items()}
    return load_profile("sensor").with_values({"estimators.on": list(ESTIMATORS), **values})


def test_every_estimator_can_be_on_at_once_and_the_config_survives_json() -> None:
    config = compile_config(with_everything(), TASK, holdout=HOLDOUT)
    config = json.loads(json.dumps(config))
    node = firmware.node_model().Node(config)
    assert {name for name, part in node.parts.items() if part} == set(ESTIMATORS)


def test_options_are_named_as_the_nodes_classes_name_them() -> None:
    firmware.node_model()
    more = importlib.import_module("gauge.node")._MORE_PARTS
    config = compile_config(with_everything(), TASK, holdout=HOLDOUT)
    assert set(config["options"]) == set(more)
    for name, (module, kind, _) in more.items():
        wanted = inspect.signature(getattr(importlib.import_module(f"gauge.{module}"), kind)).parameters
        required = {key for key, value in wanted.items() if value.default is inspect.Parameter.empty}
        given = set(config["options"][name])
        assert given <= set(wanted), name
        assert required - {"ledger"} <= given, name


def test_a_table_of_keys_belongs_to_an_estimator_and_may_be_left_out() -> None:
    tables = {key.path.partition(".")[0] for key in KEYS if "." in key.path}
    assert tables - {"heap", "code", "capacity", "estimators"} <= set(ESTIMATORS)
    config = compile_config(load_profile("sensor"), TASK)
    assert not {"options", "restart"} & set(config)
    assert config["group"] == 16


def test_values_reach_the_node_in_its_units() -> None:
    config = compile_config(
        with_everything(
            page_hinkley__source="window",
            page_hinkley__direction="both",
            page_hinkley__threshold=20.5,
            hierarchy__frame_slices=2,
            ddm__level=3,
            forgetting__alpha=0.5,
        ),
        TASK,
        holdout=HOLDOUT,
    )
    options = config["options"]
    assert options["page_hinkley"] == {
        "delta": 50_000,
        "threshold": 20_500_000,
        "fading": 0,
        "sides": 3,
        "warmup": 30,
        "source": 2,
        "memory": 1000,
        "ticks": 60,
    }
    assert options["hierarchy"]["frame_ticks"] == 120
    assert options["ddm"]["level"] == 768
    assert options["forgetting"] == {"labels": 4, "decay": 2**29}
    assert options["reliability"] == {"bins": 16, "decay": 0, "changes": 64}
    assert options["holdout"]["truth"] == list(HOLDOUT)


def test_parts_restart_at_an_alarm_slice_by_slice() -> None:
    config = compile_config(with_everything(estimators__restart=["prequential"]), TASK, holdout=HOLDOUT)
    assert (config["restart"], config["group"]) == (["prequential"], 1)
    coarse = with_everything(estimators__restart=["prequential"], capacity__group=4)
    assert compile_config(coarse, TASK, holdout=HOLDOUT)["group"] == 4
    assert not set(DETECTORS) & set(RESTARTABLE)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"page_hinkley.source": "lost"},
            "page_hinkley.source is 'lost' (loss, fading or window was expected)",
        ),
        (
            {"hierarchy.levels_truth": 5},
            "hierarchy.levels_truth is 5 (a whole number from 1 to 4 was expected)",
        ),
        ({"reliability.bins": 12}, "reliability.bins is 12 (a power of two from 2 to 64 was expected)"),
        ({"reliability.alpha": 0.9999999}, "reliability.alpha is 0.9999999 (at most 0.999999, or 1, was"),
        (
            {"adwin.rows": 12},
            "adwin.rows is 12 (grain * per_row * (2^rows - 1) was expected below 2^15, it is 163800)",
        ),
        ({"adwin.buckets": 5}, "adwin.buckets is no key of a memory profile"),
        (
            {"estimators.restart": ["align"]},
            "estimators.restart is ['align'] (one of page_hinkley, ddm, adwin",
        ),
        (
            {"estimators.restart": ["compare"], "estimators.on": ["align", "ddm"]},
            "estimators.restart is ['compare'] (compare is to restart, so it was expected in estimators.on)",
        ),
        (
            {"estimators.on": ["holdout"]},
            "estimators.on is ['holdout'] (holdout counts prequential's records",
        ),
    ],
)
def test_an_impossible_key_is_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        load_profile("sensor").with_values(changes)
    assert message in str(caught.value)


def test_a_holdout_set_must_fit_profile_and_task() -> None:
    with pytest.raises(InputError, match="none was given"):
        compile_config(with_everything(), TASK)
    with pytest.raises(InputError, match=r"has 3 labels \(holdout\.size is 100\)"):
        compile_config(with_everything(), TASK, holdout=bytes(3))
    with pytest.raises(InputError, match=r"holds label 4 \(the task's are 0 to 3\)"):
        compile_config(with_everything(), TASK, holdout=bytes([4] * 100))

"""Two hierarchies alone on a node (`streamgauge hierarchy`)."""

from __future__ import annotations

from ..engines import Engine
from ..node_run import NodeRun, run_model, run_node
from ..parity import Parity, _model, _Tally
from ..profile import Profile, compile_config
from ..task import Task
from .feed import level_values, with_levels
from .figures import Hierarchies, LevelSettings
from .parity import compare_levels
from .read import Levels


def run_levels(
    levels: Levels, settings: LevelSettings, profile: Profile, engine: Engine
) -> tuple[NodeRun, Parity]:
    """Run a node over two hierarchies and compare its counts.

    Raises
    ------
    InputError
        More levels or a wider window than a node has, or no window.
    """
    told = Hierarchies(levels, settings)
    task = Task(("NULL",), None if levels.tick is None else float(levels.tick), settings.frame)
    values = level_values(told, task.slice_ticks)
    profile = profile.with_values({"estimators.on": ["hierarchy"], "estimators.restart": [], **values})
    config = compile_config(profile, task)
    feed = with_levels(None, told)
    node = run_node(engine, config, feed, profile.heap_bytes)
    tally = _Tally()
    compare_levels(tally, node.raw["hierarchy"], told)
    with_host = tally.compared
    _model(tally, node.raw, run_model(config, feed))
    return node, tally.parity(with_host)

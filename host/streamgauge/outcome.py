"""Everything known about one recording: the host's figures, a node's, and how they compare."""

from __future__ import annotations

from dataclasses import dataclass

from .assess import Assessment, Settings, assess
from .engines import Engine
from .extras.others import Others
from .files import Recording
from .node_run import NodeRun, prepare, run_model, run_node
from .parity import Parity, compare
from .profile import Profile


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a report tells.

    Attributes
    ----------
    truth, prediction : str
        The files as they were named.
    profile : Profile
    assessment : Assessment
    node : NodeRun or None
    parity : Parity or None
        Both None where the host worked alone.
    notes : tuple of str
        Sentences the reader should see.
    """

    truth: str
    prediction: str
    profile: Profile
    assessment: Assessment
    node: NodeRun | None = None
    parity: Parity | None = None
    notes: tuple[str, ...] = ()


def assess_on(
    recording: Recording,
    settings: Settings,
    profile: Profile,
    engine: Engine,
    others: Others | None = None,
) -> tuple[Assessment, NodeRun, Parity]:
    """Assess a recording on the host and on a node, and compare.

    Parameters
    ----------
    recording : Recording
    settings : Settings
        With the profile's window and alpha (`Settings.of`).
    profile : Profile
        What the node has room for.
    engine : Engine
    others : Others, optional
        What comes beside truth and prediction.

    Raises
    ------
    InputError, EngineError
        See `node_run`.
    """
    config, feed = prepare(recording, profile, others=others or Others())
    node = run_node(engine, config, feed, profile.heap_bytes)
    assessment = assess(recording, settings, others)
    return assessment, node, compare(node.raw, assessment, config, run_model(config, feed))

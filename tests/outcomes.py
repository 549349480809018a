"""Outcomes for tests of reports: the host's figures and the model's, without an engine."""

from __future__ import annotations

from streamgauge.assess import Settings, assess
from streamgauge.files import ReadOptions, read_pair
from streamgauge.node_run import NodeMemory, NodeRun, prepare, run_model
from streamgauge.outcome import Outcome
from streamgauge.parity import compare
from streamgauge.profile import load_profile

PROFILE = load_profile("sensor")


def outcome_of(truth: str, prediction: str, options: ReadOptions) -> Outcome:
    """An outcome with a node: the model's figures, and memory made up."""
    recording = read_pair(truth, prediction, options)
    config, feed = prepare(recording, PROFILE)
    raw = run_model(config, feed)
    assessment = assess(recording, Settings.of(PROFILE))
    memory = NodeMemory(102_400, 30_000, 6_000, 5_000, 60_000, 0, 20_000, 20_000)
    node = NodeRun("arm", "1.25.0", 32, config, raw, memory, feed.updates, feed.plan["mode"])
    parity = compare(raw, assessment, config, raw)
    return Outcome(truth, prediction, PROFILE, assessment, node, parity, ("a note",))

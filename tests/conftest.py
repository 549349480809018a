"""Fixtures every test may ask for, and the profile hypothesis runs with."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest
from hypothesis import HealthCheck, settings

from streamgauge.engines import Engine, EngineMissing, get_engine

PROJECT = Path(__file__).resolve().parents[1]

# The same examples on every machine and in every run; STREAMGAUGE_EXAMPLES asks for more of them.
settings.register_profile(
    "streamgauge",
    derandomize=True,
    deadline=None,
    max_examples=int(os.environ.get("STREAMGAUGE_EXAMPLES", "100")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("streamgauge")


def absent(what: str) -> NoReturn:
    """Skip a test for want of something; a failure where CI promises that it is there."""
    if os.environ.get("CI"):
        pytest.fail(what)
    pytest.skip(what)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of recordings and golden numbers beside the project, or $STREAMGAUGE_SHARED."""
    folder = Path(os.environ.get("STREAMGAUGE_SHARED") or PROJECT.parent / "shared")
    if not (folder / "data").is_dir():
        absent(f"the recordings are not in {folder}; name their folder in STREAMGAUGE_SHARED")
    return folder


def _engine(spec: str) -> Engine:
    try:
        return get_engine(spec)
    except EngineMissing as trouble:
        absent(str(trouble))


@pytest.fixture(scope="session")
def arm() -> Iterator[Engine]:
    """The 32-bit engine."""
    with _engine("arm") as engine:
        yield engine


@pytest.fixture(scope="session")
def x64() -> Iterator[Engine]:
    """The engine of this machine's own processor."""
    with _engine("x64") as engine:
        yield engine

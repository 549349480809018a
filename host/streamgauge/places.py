"""Where the project's own files, fetched engines and caches are, in a checkout and in an installed wheel."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def checkout() -> Path | None:
    """Root of the source checkout this package runs from; None for an installed wheel."""
    root = Path(__file__).resolve().parents[2]
    in_place = Path(__file__).resolve().parent == root / "host" / "streamgauge"
    return root if in_place and (root / "pyproject.toml").is_file() else None


def cache() -> Path:
    """The user's cache folder for streamgauge (not created here)."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = str(Path.home() / "Library" / "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "streamgauge"


def engines_root() -> Path:
    """Fetched engines: $STREAMGAUGE_ENGINES, else `.engines` of a checkout, else the user's cache."""
    named = os.environ.get("STREAMGAUGE_ENGINES")
    if named:
        return Path(named)
    root = checkout()
    return root / ".engines" if root else cache() / "engines"


def memory_profiles() -> Path:
    """Folder of the memory profiles, `sensor.toml` and others."""
    root = checkout()
    return root / "memory_profiles" if root else Path(__file__).resolve().parent / "_profiles"

"""Where engines that were fetched for this project, and what was built for them, are kept."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def checkout() -> Path | None:
    """Root of the source checkout this package runs from; None for an installed wheel."""
    root = Path(__file__).resolve().parents[3]
    return root if (root / "pyproject.toml").is_file() and (root / "firmware").is_dir() else None


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

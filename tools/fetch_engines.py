"""Fetch the node engines (`make engines`); needs nothing but Python's standard library."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "host"))

from streamgauge.engines.fetch import main

sys.exit(main())

"""Snapshots of nodes on the host: read, looked into with numpy, merged, reported.

::

    from streamgauge import snapshot

    snapshot.arrays("gauge.0")["prequential.0"]      # the words of one array, a numpy array by name
    snapshot.read("gauge.0").record()["align.0"]     # the same as one structured record

- `file`: the bytes of a file (DESIGN.md, Formats) and their numpy form.
- `figures`: the numbers they stand for, and how those of several nodes add up.
- `assessed`: these as the report of `streamgauge assess` takes them.
"""

from .figures import Figures, figures, merge
from .file import Snapshot, arrays, newest, read

__all__ = ["Figures", "Snapshot", "arrays", "figures", "merge", "newest", "read"]

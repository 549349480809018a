"""Truth and prediction from the files people have.

`read_pair` is the one entry; `ReadOptions` says how to read, `Recording` is what comes out. What is
understood:

- rows of start, end and label in CSV, TSV or with blanks (``.lab``), with or without a header, in any column
  order the
  header tells, also behind columns that name the recording;
- times as whole ticks, seconds, ISO timestamps, or timestamps such as ``25-Feb-2008 00:22:46``;
- rows of time and label, each holding until the next, closed by a row labelled ``End``;
- RTTM (its SPEAKER lines);
- one label a row at a given rate;
- any of these gzipped.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager

from streamgauge.reading.label_files import read_label_files
from streamgauge.reading.options import Judge, Notes, ReadOptions, check_options
from streamgauge.reading.recording import Recording
from streamgauge.reading.segment_files import read_segment_files

__all__ = ["Notes", "ReadOptions", "Recording", "read_pair"]


def read_pair(
    truth_path: str | os.PathLike[str],
    prediction_path: str | os.PathLike[str],
    options: ReadOptions | None = None,
) -> Recording:
    """Read a truth and a prediction.

    Parameters
    ----------
    truth_path, prediction_path : str or path-like
        Files as listed above. They may be the same file if it holds one label a row in several columns.
    options : ReadOptions, optional
        By default everything is found out from the files.

    Raises
    ------
    InputError
        A file, a row of it or an option cannot be used; the message names it and the remedy.
    """
    options = options or ReadOptions()
    check_options(options)
    notes = Notes()
    judges = [Judge(os.fspath(path), options.lenient, notes) for path in (truth_path, prediction_path)]
    read = read_segment_files if options.rate is None else read_label_files
    with _no_collection():
        return read(judges, options, notes)


@contextmanager
def _no_collection() -> Iterator[None]:
    """Stop the garbage collector from walking millions of live rows again and again: half of a long read."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()

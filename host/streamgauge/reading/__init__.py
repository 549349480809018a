"""From two files to one recording: each module knows one thing about files (see `streamgauge.files`)."""

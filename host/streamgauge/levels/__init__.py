"""Two hierarchies of segments, from files to figures, on the host and on a node (`streamgauge hierarchy`)."""

"""Watching a node: its report lines received, recorded, shown and drawn.

- `history`: what the lines said so far.
- `listen`: bytes of a port or a file become reports.
- `view`, `marks`: the terminal's view of a history.
- `figure`: the curves of a recording as a picture.
"""

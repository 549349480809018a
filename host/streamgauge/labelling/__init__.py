"""Telling a node the truth over its serial line.

- `teller`: one message at a time, repeated until it is answered.
- `times`: what a user may write for a time on the node's clock.
- `replay`: a file of truth, told in step with the node or with a clock.
"""

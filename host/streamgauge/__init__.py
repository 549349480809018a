"""Assess activity recognition on a node, and prove the same numbers on the host."""

__version__ = "0.1.0"

"""Ours beside other programs on the same input: what `peers_bench.py` measures, one module a kind of input."""

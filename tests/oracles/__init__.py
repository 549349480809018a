"""Literal, slow transcriptions of the published formulas: full matrices, one step a tick, exact fractions.

They work on plain tuples and lists and share no code with the host package or the node, so that three
independent texts have to agree on every number. Written to be compared with the definitions line by line, not
to be fast.
"""

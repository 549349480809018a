"""What goes over a node's serial line: report lines, label messages and their answers (DESIGN.md, Formats).

- `line`: checksummed lines, names in them, and cutting a byte stream into lines.
- `report`: the node's report line.
- `messages`: truth for the node, and the node's answers.
"""

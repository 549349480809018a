from typing import BinaryIO, TextIO

from gauge import Node

class Line:
    lines: int
    def __init__(self, node: Node) -> None: ...
    def write(self, stream: TextIO | BinaryIO) -> None: ...

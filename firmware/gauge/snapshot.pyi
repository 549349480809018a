from typing import Any

from gauge import Node

def canonical(x: Any) -> str: ...
def describe(node: Node) -> bytes: ...

class Store:
    saves: int
    failed: int
    boots: int
    size: int
    damaged: int
    foreign: int
    layout: tuple[int, int]
    def __init__(self, node: Node, prefix: str = "gauge", files: Any = None) -> None: ...
    def save(self) -> bool: ...
    def resume(self, now: int | None = None) -> bool: ...

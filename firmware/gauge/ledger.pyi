from array import array

class LedgerFull(MemoryError):
    part: str
    asked: int
    left: int
    def __init__(self, part: str, asked: int, left: int) -> None: ...

class Ledger:
    limit: int
    used: int
    entries: list[tuple[str, array[int] | bytearray]]
    def __init__(self, limit: int = 0) -> None: ...
    def take(self, part: str, words: int) -> array[int]: ...
    def take_bytes(self, part: str, count: int) -> bytearray: ...

"""The key that labels are signed with, as a file: hexadecimal text of 1 to 64 bytes."""

from __future__ import annotations

from pathlib import Path

from ..errors import InputError

_MOST = 64


def read_key(path: str | Path) -> bytes:
    """Return the key that a file holds.

    Raises
    ------
    InputError
        It cannot be read, or holds no key.
    """
    remedy = "Make one with: python3 -c 'import secrets; print(secrets.token_hex(32))' > label.key"
    try:
        text = Path(path).read_text(encoding="ascii")
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", file=path, remedy=remedy) from None
    except UnicodeDecodeError:
        text = "?"
    try:
        key = bytes.fromhex(text.strip())
    except ValueError:
        raise InputError(
            "holds no key (hexadecimal digits in pairs were expected)", file=path, remedy=remedy
        ) from None
    if not 1 <= len(key) <= _MOST:
        raise InputError(
            f"holds a key of {len(key)} bytes (1 to {_MOST} were expected)", file=path, remedy=remedy
        )
    return key

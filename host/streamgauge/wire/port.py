"""A node's serial port, listened to without disturbing the program that runs on it."""

from __future__ import annotations

import contextlib
from typing import Any

from ..errors import InputError
from ..flash.ports import resolve


class PortLost(Exception):
    """The port cannot be opened now, or went away: the cable may be out."""


class Port:
    """A port that may come and go.

    Parameters
    ----------
    name : what mpremote takes: a serial device, a pty or a pyserial URL.
    wait : seconds that `read` waits for the first byte.
    """

    def __init__(self, name: str, wait: float = 0.1) -> None:
        self.name = name
        self._wait = wait
        self._serial: Any = None

    @property
    def is_open(self) -> bool:
        """Whether the port is there, as far as was seen."""
        return self._serial is not None

    def open(self) -> None:
        """Open the port; raises PortLost, with the reason."""
        import serial

        try:
            # Exclusive, because two readers would each get half of every line.
            self._serial = serial.serial_for_url(
                self.name, baudrate=115200, timeout=self._wait, write_timeout=2, exclusive=True
            )
        except (OSError, ValueError) as error:  # a SerialException is an OSError
            raise PortLost(_reason(error)) from None

    def read(self) -> bytes:
        """Return what has come, after at most `wait` seconds; raises PortLost."""
        try:
            return bytes(self._serial.read(max(1, min(self._serial.in_waiting, 65536))))
        except (OSError, TypeError) as error:  # pyserial stumbles over a port that is closed under its feet
            self.close()
            raise PortLost(_reason(error)) from None

    def write(self, data: bytes) -> None:
        """Send bytes; raises PortLost."""
        try:
            self._serial.write(data)
        except OSError as error:
            self.close()
            raise PortLost(_reason(error)) from None

    def close(self) -> None:
        """Give the port back."""
        if self._serial is not None:
            with contextlib.suppress(Exception):
                self._serial.close()
            self._serial = None

    def __enter__(self) -> Port:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def open_port(name: str, wait: float = 0.1) -> Port:
    """Return the open port; its name may be one that `flash.ports.resolve` knows.

    Raises
    ------
    InputError
        There is none, or it cannot be opened.
    """
    name = resolve(name)
    port = Port(name, wait)
    try:
        port.open()
    except PortLost as lost:
        raise InputError(
            f"cannot be opened ({lost})",
            file=name,
            remedy="Check the cable, the port's name and that no other program holds it; "
            "`streamgauge flash` without a port lists what there is",
        ) from None
    return port


def _reason(error: Exception) -> str:
    text = str(error)
    for sign, reason in (
        ("Could not exclusively lock", "another program holds it"),
        ("No such file", "there is no such port"),
        ("Permission denied", "permission denied; on Linux add yourself to the group that owns it"),
    ):
        if sign in text:
            return reason
    return text.strip() or type(error).__name__

"""Serial ports that may hold a board."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import InputError


@dataclass(frozen=True)
class Candidate:
    """A port and what its USB descriptor says.

    Attributes
    ----------
    port : str
    usb : str
        Vendor and product id as four hexadecimal digits each; empty for a port that is not USB.
    what : str
        Manufacturer and product, as far as they are told.
    likely : bool
        It is USB, as mpremote's own `connect auto` asks for.
    """

    port: str
    usb: str
    what: str
    likely: bool


def resolve(name: str) -> str:
    """Return the port that is meant.

    Parameters
    ----------
    name : a port, ``auto`` for the only board there is, or ``id:SERIAL`` for a USB serial number, as mpremote
        has it.

    Raises
    ------
    InputError
        No board is there, or several where one was expected.
    """
    import serial.tools.list_ports

    if name.startswith("id:"):
        serial_number = name.removeprefix("id:")
        for port in serial.tools.list_ports.comports():
            if port.serial_number == serial_number:
                return str(port.device)
        raise InputError(
            f"no board has the serial number {serial_number}",
            remedy="`streamgauge flash` without a port lists what there is",
        )
    if name != "auto":
        return name
    found = [candidate.port for candidate in candidates() if candidate.likely]
    if len(found) == 1:
        return found[0]
    if not found:
        raise InputError("there is no board (one on USB was expected)", remedy="Connect it, or name its port")
    raise InputError(
        f"there are several boards: {', '.join(found)}", remedy="Name one of them instead of auto"
    )


def candidates() -> list[Candidate]:
    """Return the ports of this machine, those that may hold a board first."""
    import serial.tools.list_ports

    found = []
    for port in serial.tools.list_ports.comports():
        usb = port.vid is not None and port.pid is not None
        what = " ".join(part for part in (port.manufacturer, port.product) if part)
        if not what and port.description not in (None, "n/a"):
            what = port.description
        found.append(Candidate(port.device, f"{port.vid:04x}:{port.pid:04x}" if usb else "", what, usb))
    return sorted(found, key=lambda candidate: (not candidate.likely, candidate.port))

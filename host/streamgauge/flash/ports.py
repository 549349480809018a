"""Serial ports that may hold a board."""

from __future__ import annotations

from dataclasses import dataclass


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

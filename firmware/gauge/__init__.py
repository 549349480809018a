"""streamgauge on the node: how well is a stream of labels recognised, in memory fixed at boot."""

from gauge.ledger import Ledger, LedgerFull
from gauge.node import Node

__all__ = ("Ledger", "LedgerFull", "Node", "load")
__version__ = "0.1.0"


def load(path):
    """The config that `streamgauge` compiled into a JSON file."""
    import json

    with open(path) as file:
        return json.load(file)

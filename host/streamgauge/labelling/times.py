"""Times on a node's clock as a user writes them."""

from __future__ import annotations

import re

from ..errors import InputError
from ..reading.options import seconds
from ..wire.messages import TIME

_MOMENT = re.compile(r"(?:(?P<now>now)?(?P<sign>[+-]))?(?P<length>\d+(?:\.\d*)?)(?P<unit>[a-z]*)|now")


def moment(text: str, now: int, tick_seconds: float | None, option: str) -> int:
    """Return a tick of the node.

    Parameters
    ----------
    text : ``"61000"`` is that tick; ``"now"``, ``"now-10min"``, ``"-10min"`` are counted from the present; a
        number with a unit and no sign is counted from tick 0.
    now : the node's present tick.
    tick_seconds : length of a tick, where it is known.
    option : name of the option, for messages.

    Raises
    ------
    InputError
        The text is no time, or a unit is used and the length of a tick is not known.
    """
    match = _MOMENT.fullmatch(text.strip().lower())
    if match is None:
        raise InputError(f"{option} is {text!r} (a tick such as 61000, or now, or now-10min was expected)")
    if match["length"] is None:
        return now
    if match["unit"]:
        if tick_seconds is None:
            raise InputError(
                f"{option} is {text!r}, but the length of the node's ticks is not known",
                remedy="Give --tick as well, or write ticks",
            )
        ticks = round(float(seconds(match["length"] + match["unit"], option)) / tick_seconds)
    elif "." in match["length"]:
        raise InputError(f"{option} is {text!r} (whole ticks, or a unit, were expected)")
    else:
        ticks = int(match["length"])
    if match["sign"] is None:
        if ticks >= TIME:
            raise InputError(f"{option} is {text!r} (a tick below 2^30 was expected)")
        return ticks
    return (now + (ticks if match["sign"] == "+" else -ticks)) % TIME

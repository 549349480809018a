"""The host's figures of single records: alarms, faded scores, two recognisers, confidences, holdout."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ..compare import Comparer, Comparison
from ..drift import ADWIN, DDM, Detector, PageHinkley, Signal
from ..errors import InputError
from ..fading import faded_sums
from ..files import Recording
from ..forgetting import FadedConfusion, FadedScores
from ..holdout import Holdout, HoldoutScore
from ..profile import Profile
from ..profile_keys import DETECTORS, KEYS, REQUIRED
from ..reliability import NO_TRUTH, AccuracyEstimate, Reliability
from .others import HoldoutSet, Others
from .records import Records, records_of

Losses = npt.NDArray[np.float64]

_TABLES = (*DETECTORS, "compare", "forgetting", "reliability", "holdout")


def _defaults() -> dict[str, Any]:
    return {
        key.path: key.default
        for key in KEYS
        if key.path.partition(".")[0] in _TABLES and key.default is not REQUIRED
    }


@dataclass(frozen=True)
class ExtrasSettings:
    """What these figures depend on.

    Attributes
    ----------
    on : tuple of str
        Estimators of the profile's node. Page-Hinkley and the faded matrix are computed in any case.
    window, alpha : int, float
        Of the error that Page-Hinkley may watch.
    delta : float
        Probability that a bound fails.
    values : mapping
        The profile's values of ``page_hinkley.*``, ``ddm.*``, ``adwin.*``, ``compare.*``,
        ``forgetting.*``, ``reliability.*`` and ``holdout.*``.
    """

    on: tuple[str, ...] = ()
    window: int = 1000
    alpha: float = 0.999
    delta: float = 0.05
    values: Mapping[str, Any] = field(default_factory=_defaults)

    @classmethod
    def of(cls, profile: Profile) -> ExtrasSettings:
        """Return those of a memory profile."""
        return cls(
            on=tuple(profile["estimators.on"]),
            window=profile["capacity.window"],
            alpha=profile["prequential.alpha"],
            delta=profile["prequential.delta"],
            values={path: profile[path] for path in _defaults()},
        )

    def of_table(self, table: str) -> dict[str, Any]:
        """The values of one table, without its name."""
        return {path.partition(".")[2]: v for path, v in self.values.items() if path.startswith(table + ".")}


@dataclass(frozen=True)
class Event:
    """An alarm.

    Attributes
    ----------
    record : int
        Records with truth before the one that raised it.
    tick : int
        Where that one begins.
    direction : str
        ``"up"``: errors grew; ``"down"``.
    value : float
        The detector's statistic.
    """

    record: int
    tick: int
    direction: str
    value: float


@dataclass(frozen=True)
class Detected:
    """A detector's alarms over a recording, and its settings (see `streamgauge.drift`)."""

    settings: Mapping[str, Any]
    alarms: tuple[Event, ...]


@dataclass(frozen=True, eq=False)
class Forgotten:
    """The faded confusion matrix and what it says."""

    alpha: float
    count: int
    unlabelled: int
    matrix: npt.NDArray[np.float64]
    scores: FadedScores


@dataclass(frozen=True, eq=False)
class Sureness:
    """The reliability table, what it says of the records without truth, and how far confidences are off."""

    alpha: float
    table: Reliability
    labelled: int
    unlabelled: int
    estimate: AccuracyEstimate | None
    calibration_error: float | None


@dataclass(frozen=True)
class HeldOut:
    """The scores of a holdout set: those kept, and how many there were."""

    size: int
    scored: int
    half_width: float
    scores: tuple[HoldoutScore, ...]
    beyond: int


@dataclass(frozen=True, eq=False)
class Extras:
    """All of them; `compare`, `reliability` and `holdout` are None where their input was not given."""

    records: Records
    others: Others
    settings: ExtrasSettings
    drift: Mapping[str, Detected]
    forgetting: Forgotten
    compare: Comparison | None = None
    reliability: Sureness | None = None
    holdout: HeldOut | None = None

    @property
    def losses(self) -> Losses:
        """0-1 loss of every record with truth."""
        known = self.records.known
        return (self.records.truth != self.records.prediction)[known].astype(np.float64)


def extras(recording: Recording, settings: ExtrasSettings, others: Others | None = None) -> Extras | None:
    """Compute these figures; None where a recording has too many records (`records.MOST_RECORDS`).

    Raises
    ------
    InputError
        What came beside the recording does not fit it.
    """
    others = others or Others()
    records = records_of(recording)
    if records is None:
        return None
    _check(records, others)
    known = records.known
    losses = (records.truth != records.prediction)[known]
    return Extras(
        records=records,
        others=others,
        settings=settings,
        drift={
            name: _detected(name, settings, losses.astype(np.float64), records)
            for name in DETECTORS
            if name == "page_hinkley" or name in settings.on
        },
        forgetting=_forgotten(records, len(recording.task.labels), settings),
        compare=_compared(records, others, settings, losses),
        reliability=_sureness(records, others, settings),
        holdout=_held_out(others, settings, losses),
    )


def _check(records: Records, others: Others) -> None:
    for name, values in (("second recogniser", others.second), ("confidences", others.confidence)):
        if values is not None and len(values) != len(records.truth):
            raise InputError(f"{name}: {len(values)} values for {len(records.truth)} records")


def detector(name: str, settings: ExtrasSettings) -> Detector:
    """Return a detector as the profile has it."""
    values = settings.of_table(name)
    if name == "page_hinkley":
        del values["source"]
        return PageHinkley(**values)
    if name == "ddm":
        return DDM(values["level"], min(2.0, values["level"]), values["warmup"])
    return ADWIN(**values)


def watched(name: str, settings: ExtrasSettings, losses: Losses) -> Losses:
    """Return what the detector watches: the losses, or for Page-Hinkley an error figure after each."""
    if name != "page_hinkley":
        return losses
    source = settings.values["page_hinkley.source"]
    return Signal(source, alpha=settings.alpha, window=settings.window).update(losses)


def _detected(name: str, settings: ExtrasSettings, losses: Losses, records: Records) -> Detected:
    found = detector(name, settings)
    found.update(watched(name, settings, losses))
    places = np.flatnonzero(records.known)
    events = tuple(
        Event(
            alarm.index,
            records.begin + int(places[alarm.index]) * records.ticks,
            alarm.direction,
            float(alarm.value),
        )
        for alarm in found.alarms
    )
    return Detected(settings.of_table(name), events)


def _forgotten(records: Records, labels: int, settings: ExtrasSettings) -> Forgotten:
    found = FadedConfusion(labels, settings.values["forgetting.alpha"])
    found.update(records.truth, records.prediction)
    return Forgotten(found.alpha, found.count, found.unlabelled, found.matrix, found.scores())


def _compared(
    records: Records, others: Others, settings: ExtrasSettings, losses: npt.NDArray[np.bool_]
) -> Comparison | None:
    if others.second is None:
        return None
    known = records.known
    found = Comparer(
        others.names, alpha=settings.values["compare.alpha"], window=settings.values["compare.window"]
    )
    found.update(losses, (records.truth != others.second)[known])
    return found.result()


def _sureness(records: Records, others: Others, settings: ExtrasSettings) -> Sureness | None:
    if others.confidence is None:
        return None
    known = records.known
    table = Reliability(settings.values["reliability.bins"], settings.values["reliability.alpha"])
    table.update(others.confidence, np.where(known, records.truth == records.prediction, NO_TRUTH))
    count = int(np.count_nonzero(known))
    return Sureness(
        table.alpha,
        table,
        count,
        len(known) - count,
        table.estimate(settings.delta),
        table.calibration_error(),
    )


def _held_out(others: Others, settings: ExtrasSettings, losses: npt.NDArray[np.bool_]) -> HeldOut | None:
    given: HoldoutSet | None = others.holdout
    if given is None:
        return None
    found = Holdout(
        given.truth, settings.values["holdout.every"], capacity=settings.values["holdout.capacity"]
    )
    faded = faded_sums(losses, settings.alpha)
    beyond = 0
    for records, labels in given.scorings:
        if records > len(losses):
            beyond += 1
            continue
        weight = -np.expm1(records * np.log(settings.alpha)) / (1 - settings.alpha)
        found.score(labels, records, float(faded[records - 1] / weight))
    return HeldOut(
        len(given.truth), found.scored, found.half_width(settings.delta), tuple(found.history), beyond
    )

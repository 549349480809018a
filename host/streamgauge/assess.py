"""One recording, all of the host's figures."""

from __future__ import annotations

from dataclasses import dataclass, field

from .align import Alignment, align_recording
from .extras.figures import Extras, ExtrasSettings, extras
from .extras.others import Others
from .files import Recording
from .levels.figures import LevelFigures, level_figures
from .prequential import Prequential, losses_from_pieces, prequential
from .profile import Profile
from .slices import Slices, slices


@dataclass(frozen=True)
class Settings:
    """What the figures depend on besides the recording.

    Attributes
    ----------
    window : int
        Records of the sliding window.
    alpha : float
        Fading factor a record.
    delta : float
        Probability that a bound fails.
    weights : tuple of float or None
        Weight of each label in the averages of the slices, NULL's first; None is a plain mean.
    include_null : bool
        Whether NULL takes part in these averages.
    extras : ExtrasSettings
        Of the figures of single records.
    """

    window: int = 1000
    alpha: float = 0.999
    delta: float = 0.05
    weights: tuple[float, ...] | None = None
    include_null: bool = True
    extras: ExtrasSettings = field(default_factory=ExtrasSettings)

    @classmethod
    def of(
        cls, profile: Profile, *, weights: tuple[float, ...] | None = None, include_null: bool = True
    ) -> Settings:
        """Return the settings that a node with this memory profile has."""
        return cls(
            window=profile["capacity.window"],
            alpha=profile["prequential.alpha"],
            delta=profile["prequential.delta"],
            weights=weights,
            include_null=include_null,
            extras=ExtrasSettings.of(profile),
        )


@dataclass(frozen=True, eq=False)
class Assessment:
    """The host's figures of one recording."""

    recording: Recording
    settings: Settings
    alignment: Alignment
    slices: Slices
    prequential: Prequential
    extras: Extras | None = None
    hierarchy: LevelFigures | None = None


def assess(
    recording: Recording, settings: Settings | None = None, others: Others | None = None
) -> Assessment:
    """Assess a recording: alignment, slices, prequential error, the figures of single records, and levels.

    The alignment reads the sequences in which overlaps were kept, the others one label a tick.

    Raises
    ------
    InputError
        A setting is out of range.
    """
    settings = settings or Settings()
    task = recording.task
    labels = len(task.labels)
    told = None if others is None else others.hierarchies
    return Assessment(
        recording,
        settings,
        align_recording(recording.truth_raw, recording.prediction_raw, labels=labels, closed=task.closed),
        slices(
            recording.truth,
            recording.prediction,
            labels,
            weights=settings.weights,
            include_null=settings.include_null,
        ),
        prequential(
            losses_from_pieces(recording.truth, recording.prediction, task.slice_ticks),
            window=settings.window,
            alpha=settings.alpha,
            delta=settings.delta,
        ),
        extras(recording, settings.extras, others),
        None if told is None else level_figures(told.levels, told.settings),
    )

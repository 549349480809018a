"""Random choices that come out the same on every machine and with every Python."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

MINUTE = 60
HOUR = 60 * MINUTE
DAY = 24 * HOUR


class Dice:
    """Choices drawn from one seed.

    Only ``Random.random()`` is used, whose sequence Python keeps from version to version, and no function of
    the C library, whose last digit may differ.
    """

    def __init__(self, seed: int) -> None:
        self._uniform = Random(seed).random

    def chance(self, probability: float) -> bool:
        """Return True with this probability."""
        return self._uniform() < probability

    def flat(self, low: int, high: int) -> int:
        """Return a whole number from [low, high), all equally likely."""
        return low + int((high - low) * self._uniform())

    def bell(self, low: int, high: int) -> int:
        """Return a whole number from [low, high), mostly from the middle: the mean of three uniform ones."""
        return low + int((high - low) * (self._uniform() + self._uniform() + self._uniform()) / 3)

    def skewed(self, low: int, high: int) -> int:
        """Return a whole number from [low, high), mostly from the lower end: a uniform number squared."""
        share = self._uniform()
        return low + int((high - low) * share * share)

    def pick(self, weights: Mapping[str, float]) -> str:
        """Return a key, each as likely as its weight says."""
        left = self._uniform() * sum(weights.values())
        for name, weight in weights.items():
            left -= weight
            if left < 0:
                return name
        return name

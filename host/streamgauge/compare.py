"""Two recognisers on one stream: who is ahead, since when, and how surely.

A record is *discordant* when one recogniser's loss is larger than the other's: n01 counts those where A
lost more (A wrong, B right), n10 the opposite. Both are kept faded, over a sliding window, and in all. Of
each pair:

- McNemar: ``M = sign(n01 - n10) (n01 - n10)^2 / (n01 + n10)``, significant at |M| > 3.841 (0.95) and 6.635
  (0.99); M > 0 means that B is ahead. Without discordant records it is 0: no evidence.
- The *lead* is the unbroken stretch of records, up to the present one, at each of which the same recogniser
  was ahead significantly at 0.95.
- ``Q = ln(S_A / S_B)`` of the faded sums of losses; Q > 0 means that B is ahead; 0/0 gives 0.

A faded count has a smaller variance than a plain count of the same size: under equal error rates ``n01 -
n10`` has variance ``sum w^2`` over the discordant weights w, and M divides by ``sum w``, which is ``1 +
alpha`` times as much in the long run. So the faded M is about half the chi-square it is compared with: what
it calls significant is, and it is late to say so. Watching a test at every record, on the other hand, finds
some lead sooner or later where there is none; the length of the lead is the remedy, and is reported.

Reference: Gama, Sebastião, Rodrigues, *On evaluating stream learning algorithms*, Machine Learning 90
(2013), section 5.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import InputError
from .fading import check_alpha, faded_sums, tail_weights

CHI2_95 = 3.841
CHI2_99 = 6.635

# A faded sum below this is a loss of 20 memories ago: a ratio of two such says nothing about the present.
_FADED_AWAY = 1e-9

_BLOCK = 4096
_Curve = Callable[[int, int], tuple[NDArray[np.float64], NDArray[np.float64]]]


@dataclass(frozen=True)
class McNemar:
    """McNemar's test of one pair of counts, and the lead.

    Attributes
    ----------
    n01, n10 : float
        Records (or faded weight) where only A was wrong, only B was wrong.
    ahead : str or None
        Name of the recogniser with fewer such records; None where they are equal.
    since : int or None
        First record of the present lead, counted from 0; None without a significant lead.
    """

    n01: float
    n10: float
    ahead: str | None
    since: int | None

    @property
    def discordant(self) -> float:
        """n01 + n10."""
        return self.n01 + self.n10

    @property
    def value(self) -> float:
        """M; above 0 where B is ahead, 0 without evidence."""
        return mcnemar(self.n01, self.n10)

    @property
    def p_value(self) -> float:
        """Chance of an |M| as large between equals, by chi-square with one degree of freedom."""
        return math.erfc(math.sqrt(abs(self.value) / 2.0))

    @property
    def level(self) -> float:
        """0.99, 0.95, or 0 where the difference is not significant."""
        size = abs(self.value)
        return 0.99 if size > CHI2_99 else 0.95 if size > CHI2_95 else 0.0


@dataclass(frozen=True)
class Comparison:
    """What `Comparer.result` found.

    Attributes
    ----------
    names : (str, str)
        A and B.
    records : int
        Records compared.
    errors : (float or None, float or None)
        Faded mean loss of A and of B.
    faded, windowed, overall : McNemar
        `overall` counts every record since the start; it has no lead.
    q : float
        ``ln(S_A / S_B)``; infinite where one of the two has no loss at all.
    window : int
        Records in the sliding window.
    alpha : float
        Fading factor.
    """

    names: tuple[str, str]
    records: int
    errors: tuple[float | None, float | None]
    faded: McNemar
    windowed: McNemar
    overall: McNemar
    q: float
    window: int
    alpha: float

    def verdict(self) -> str:
        """Say in words which is ahead, since when, and how surely."""
        a, b = self.names
        if self.overall.discordant == 0:
            return f"No evidence: {a} and {b} never differed in {self.records:,} records."
        first = self._lead()
        error_a, error_b = self.errors
        evidence = (
            f"faded error {error_a:.4f} for {a} and {error_b:.4f} for {b}, Q {self.q:+.3f}, "
            f"M {self.faded.value:+.2f} over {self.faded.discordant:.1f} faded discordant records "
            f"({_surely(self.faded)})"
        )
        last = min(self.window, self.records)
        recent = (
            f"over the last {last:,} records M {self.windowed.value:+.2f} "
            f"over {self.windowed.discordant:.0f} discordant ({_surely(self.windowed)})"
        )
        return f"{first}: {evidence}; {recent}."

    def _lead(self) -> str:
        a, b = self.names
        test = self.faded
        if test.ahead is None:
            return f"{a} and {b} are level"
        other = b if test.ahead == a else a
        if test.since is None:
            return f"{test.ahead} is ahead of {other}, but not significantly"
        return (
            f"{test.ahead} is ahead of {other} since record {test.since:,}, "
            f"{self.records - test.since:,} of {self.records:,} records ago"
        )


def _surely(test: McNemar) -> str:
    if test.discordant == 0:
        return "no evidence"
    p = test.p_value
    chance = "p < 0.0001" if p < 1e-4 else f"p = {p:.4f}"
    return f"{chance}, significant at {test.level}" if test.level else f"{chance}, not significant"


def mcnemar(n01: float, n10: float) -> float:
    """Return ``sign(n01 - n10) (n01 - n10)^2 / (n01 + n10)``, 0 without discordant records."""
    if n01 + n10 == 0:
        return 0.0
    return math.copysign((n01 - n10) ** 2 / (n01 + n10), n01 - n10)


def q_statistic(sum_a: float, sum_b: float) -> float:
    """Return ``ln(sum_a / sum_b)``: 0 where both are 0, infinite where one is; faded away counts as 0."""
    if sum_a < _FADED_AWAY and sum_b < _FADED_AWAY:
        return 0.0
    if sum_a < _FADED_AWAY or sum_b < _FADED_AWAY:
        return math.inf if sum_b < sum_a else -math.inf
    return math.log(sum_a / sum_b)


class _Lead:
    """Since when the same side has been significantly ahead."""

    def __init__(self) -> None:
        self.side = 0
        self.since: int | None = None

    def move(self, curve: _Curve, size: int, first: int) -> None:
        """Take `size` records from number `first` on; `curve(lo, hi)` gives their n01 - n10 and n01 + n10.

        Only the present lead matters, so the records are searched backwards for where it was last broken.
        """
        if size == 0:
            return
        difference, total = curve(size - 1, size)
        side = _side(float(difference[0]), float(total[0]))
        broken = -1
        at = size if side else 0
        while at > 0:
            lo = (at - 1) // _BLOCK * _BLOCK
            difference, total = curve(lo, at)
            difference = difference * side
            held = (difference > 0) & (difference * difference > CHI2_95 * total)
            if not held.all():
                broken = lo + int(np.flatnonzero(~held)[-1])
                break
            at = lo
        if not side:
            self.since = None
        elif broken >= 0:
            self.since = first + broken + 1
        elif self.side != side:
            self.since = first
        self.side = side


def _side(difference: float, total: float) -> int:
    if difference * difference > CHI2_95 * total:
        return 1 if difference > 0 else -1
    return 0


class Comparer:
    """Compare two recognisers' losses, fed in arrays of any length.

    Parameters
    ----------
    names : (str, str)
        What to call A and B.
    alpha : float
        Fading factor in (0, 1].
    window : int
        Records of the sliding window.
    """

    def __init__(
        self, names: tuple[str, str] = ("A", "B"), *, alpha: float = 0.999, window: int = 1000
    ) -> None:
        if window < 1:
            raise InputError(f"window is {window!r} (expected 1 or more)")
        self.names = names
        self.alpha = check_alpha(alpha)
        self.window = int(window)
        self.reset()

    def reset(self) -> None:
        """Forget all records."""
        self.count = 0
        self._all = [0, 0]
        self._losses = [0.0, 0.0]
        self._difference = self._total = 0.0
        self._kept = np.zeros(0, dtype=np.int8)
        self._lead_faded, self._lead_windowed = _Lead(), _Lead()

    def update(self, losses_a: ArrayLike, losses_b: ArrayLike) -> None:
        """Feed the losses of A and of B on the same records, in stream order.

        Parameters
        ----------
        losses_a, losses_b : array_like, shape (n,)
            Losses from 0 on; 0-1 losses may be bool.

        Raises
        ------
        InputError
            Where lengths differ, or a loss is negative or not a number.
        """
        a, b = np.asarray(losses_a), np.asarray(losses_b)
        if a.ndim != 1 or a.shape != b.shape:
            raise InputError(
                f"losses of A and B have shapes {a.shape} and {b.shape} (expected equal lengths)"
            )
        for name, x in zip(self.names, (a, b), strict=True):
            if x.dtype != np.bool_ and not (len(x) == 0 or x.min() >= 0):
                raise InputError(f"a loss of {name} is negative or not a number (expected 0 or more)")
        size = len(a)
        if size == 0:
            return
        code = (a > b).view(np.int8) - (a < b).view(np.int8)
        self._fade_losses(a, b)
        self._move_faded(code)
        self._move_windowed(code)
        worse = int(np.count_nonzero(code == 1))
        self._all[0] += worse
        self._all[1] += int(np.count_nonzero(code)) - worse
        self.count += size

    def _fade_losses(self, a: NDArray[Any], b: NDArray[Any]) -> None:
        weights = tail_weights(self.alpha, len(a))
        decay = self.alpha ** len(a)
        for side, x in enumerate((a, b)):
            # Not a dot product: its threads cost more than the sum.
            self._losses[side] = self._losses[side] * decay + float((weights * x[-len(weights) :]).sum())

    def _move_faded(self, code: NDArray[np.int8]) -> None:
        whole = len(code) // _BLOCK
        weights = self.alpha ** np.arange(_BLOCK - 1, -1, -1.0)
        blocks = code[: whole * _BLOCK].reshape(whole, _BLOCK).astype(np.float64)
        starts = []
        differences = np.einsum("ij,j->i", blocks, weights)
        totals = np.einsum("ij,j->i", np.abs(blocks), weights)
        for difference, total in zip(differences.tolist(), totals.tolist(), strict=True):
            starts.append((self._difference, self._total))
            self._difference = self._difference * self.alpha**_BLOCK + difference
            self._total = self._total * self.alpha**_BLOCK + total
        starts.append((self._difference, self._total))
        rest = code[whole * _BLOCK :].astype(np.float64)
        if len(rest):
            decay = self.alpha ** len(rest)
            self._difference = self._difference * decay + float(weights[-len(rest) :] @ rest)
            self._total = self._total * decay + float(weights[-len(rest) :] @ np.abs(rest))

        def curve(lo: int, hi: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
            if hi - lo == 1:
                return np.array([self._difference]), np.array([self._total])
            part = code[lo:hi].astype(np.float64)
            difference, total = starts[lo // _BLOCK]
            return faded_sums(part, self.alpha, difference), faded_sums(np.abs(part), self.alpha, total)

        self._lead_faded.move(curve, len(code), self.count)

    def _move_windowed(self, code: NDArray[np.int8]) -> None:
        before = len(self._kept)
        known = np.concatenate((self._kept, code)) if before else code

        def curve(lo: int, hi: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
            start = max(0, before + lo + 1 - self.window)
            part = known[start : before + hi]
            end = np.arange(before + lo + 1 - start, len(part) + 1)
            begin = np.maximum(0, end - self.window)
            sums = np.concatenate(([0], np.cumsum(part, dtype=np.int64)))
            sizes = np.concatenate(([0], np.cumsum(np.abs(part), dtype=np.int64)))
            return (sums[end] - sums[begin]).astype(np.float64), (sizes[end] - sizes[begin]).astype(
                np.float64
            )

        self._lead_windowed.move(curve, len(code), self.count)
        self._kept = known[-self.window :].copy()

    def result(self) -> Comparison:
        """Return how the two compare after the last record."""
        weight = (
            float(self.count)
            if self.alpha == 1.0
            else -math.expm1(self.count * math.log(self.alpha)) / (1.0 - self.alpha)
        )
        errors = tuple(s / weight if self.count else None for s in self._losses)
        windowed = int(np.count_nonzero(self._kept == 1)), int(np.count_nonzero(self._kept == -1))
        faded = (self._total + self._difference) / 2.0, (self._total - self._difference) / 2.0
        return Comparison(
            names=self.names,
            records=self.count,
            errors=(errors[0], errors[1]),
            faded=self._test(*faded, self._lead_faded),
            windowed=self._test(*windowed, self._lead_windowed),
            overall=self._test(self._all[0], self._all[1], None),
            q=q_statistic(*self._losses),
            window=self.window,
            alpha=self.alpha,
        )

    def verdict(self) -> str:
        """Say in words which is ahead, since when, and how surely."""
        return self.result().verdict()

    def _test(self, n01: float, n10: float, lead: _Lead | None) -> McNemar:
        ahead = None if n01 == n10 else self.names[1] if n01 > n10 else self.names[0]
        return McNemar(n01, n10, ahead, lead.since if lead else None)

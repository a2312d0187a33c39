"""The learning curve: whether results get better with experience, as data and as a verdict with its numbers. Pure.

The verdict asks the rewards themselves, in the order of time: rolling means share their members, so that any test on
them would call chance a trend. The test is Spearman's rank correlation with time (Daniels 1950, "Rank correlation and
population models"), as powerful as Mann-Kendall's (Yue, Pilon and Cavadias 2002). If the order were chance alone, its
variance would be exactly 1 / (n - 1), however many rewards are equal. Good and bad spells make chance look like a
trend; where what is left without the trend comes in spells, n is reduced by its correlation with itself one step later
(Yue and Wang 2004).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from retentia.errors import InvalidInput
from retentia.experience.words import ENGLISH, words
from retentia.model.experience import Experience

WINDOW = 5
NEEDED = 10
"""The fewest experiences a verdict is given on: with fewer, the test's normal approximation is too coarse."""
SIGNIFICANCE = 0.05
"""How often, in either direction together, chance may pass for a trend."""
SPELLS_FROM = 1.645
"""Standard errors from which on a correlation of neighbours counts as spells: one in twenty by chance."""
LEAST_GAIN = 0.02
"""The least difference of the mean rewards of the first and the last third that counts: with very many experiences a
trend can be certain and yet too small to matter."""

_SMALLEST_P = 0.001


class Trend(StrEnum):
    """What a learning curve does."""

    RISING = "rising"
    FLAT = "flat"
    FALLING = "falling"
    TOO_FEW = "too_few"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A trend and the numbers that decided.

    `first` and `last` are the mean rewards of the first and the last third, `correlation` is that of the ranks of the
    rewards with time, `p` how likely chance alone correlates as much in either direction.
    """

    trend: Trend
    count: int
    first: float = 0.0
    last: float = 0.0
    correlation: float = 0.0
    p: float = 1.0

    @property
    def gain(self) -> float:
        """By how much the mean reward of the last third exceeds that of the first."""
        return self.last - self.first

    def text(self, language: str = ENGLISH) -> str:
        """Say the verdict and its numbers in "en", "de" or "uk"; raise InvalidInput."""
        known = words(language)
        said = known[f"verdict_{self.trend}"].format(count=self.count, needed=NEEDED)
        if self.trend is Trend.TOO_FEW:
            return said
        numbers = known["numbers"].format(
            count=self.count,
            first=f"{self.first:.2f}",
            last=f"{self.last:.2f}",
            rho=f"{self.correlation:+.2f}",
            p=f"= {self.p:.3f}" if self.p >= _SMALLEST_P else f"< {_SMALLEST_P}",
        )
        return f"{said} {numbers}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One number for each experience, the oldest first, and the verdict on them.

    A rolling number is the mean of the last `window` experiences up to and with this one, or of as many as there are.
    """

    window: int
    cumulative_reward: tuple[float, ...]
    rolling_reward: tuple[float, ...]
    rolling_success: tuple[float, ...]
    verdict: Verdict


def curve_of(experiences: Sequence[Experience], *, window: int = WINDOW) -> Curve:
    """Return the learning curve of experiences, which may come in any order; raise InvalidInput."""
    ordered = sorted(experiences, key=lambda one: (one.at.start, one.id or "", one.key))
    rewards = np.array([one.feedback.reward for one in ordered], dtype=np.float64)
    return curve_from(rewards, np.array([one.is_success for one in ordered], dtype=np.float64), window=window)


def curve_from(rewards: NDArray[np.float64], succeeded: NDArray[np.float64], *, window: int = WINDOW) -> Curve:
    """Return the learning curve of two columns of equal length, the oldest first; raise InvalidInput."""
    if window < 1 or rewards.shape != succeeded.shape or rewards.ndim != 1:
        raise InvalidInput(f"a curve needs two columns of equal length and a window from 1 on, not {window!r}")
    return Curve(
        window=window,
        cumulative_reward=tuple(np.cumsum(rewards).tolist()),
        rolling_reward=tuple(_rolling(rewards, window).tolist()),
        rolling_success=tuple(_rolling(succeeded, window).tolist()),
        verdict=verdict_on(rewards),
    )


def verdict_on(rewards: NDArray[np.float64]) -> Verdict:
    """Judge rewards in the order of time."""
    count = len(rewards)
    if count < NEEDED:
        return Verdict(trend=Trend.TOO_FEW, count=count)
    third = count // 3
    ranks, time = _centred(_ranks(rewards)), _centred(np.arange(count, dtype=np.float64))
    correlation = _correlation(ranks, time)
    found = Verdict(
        trend=Trend.FLAT,
        count=count,
        first=float(rewards[:third].mean()),
        last=float(rewards[-third:].mean()),
        correlation=correlation,
        p=math.erfc(abs(correlation) * math.sqrt(max(_telling(ranks, time) - 1, 0) / 2)),
    )
    return replace(found, trend=_trend(found))


def _trend(found: Verdict) -> Trend:
    if found.p >= SIGNIFICANCE or abs(found.gain) < LEAST_GAIN or found.gain * found.correlation <= 0:
        return Trend.FLAT
    return Trend.RISING if found.correlation > 0 else Trend.FALLING


def _rolling(values: NDArray[np.float64], window: int) -> NDArray[np.float64]:
    sums = np.concatenate(([0.0], np.cumsum(values)))
    ends = np.arange(1, len(values) + 1)
    starts = np.maximum(ends - min(window, len(values)), 0)
    means: NDArray[np.float64] = np.clip((sums[ends] - sums[starts]) / (ends - starts), 0.0, 1.0)
    return means


def _ranks(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the ranks of values, equal ones sharing their mean rank."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: NDArray[np.float64] = (np.cumsum(counts) - (counts - 1) / 2)[place]
    return ranks


def _centred(values: NDArray[np.float64]) -> NDArray[np.float64]:
    centred: NDArray[np.float64] = values - values.mean()
    return centred


def _correlation(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Return the correlation of two centred columns; 0 where one of them does not vary."""
    scale = math.sqrt(float(one @ one) * float(other @ other))
    return float(one @ other) / scale if scale else 0.0


def _telling(ranks: NDArray[np.float64], time: NDArray[np.float64]) -> float:
    """Return how many independent experiences these are worth: fewer where what is left of a trend comes in spells."""
    rest = ranks - time * (float(ranks @ time) / float(time @ time))
    spells = _correlation(rest[1:], rest[:-1])
    if spells <= SPELLS_FROM / math.sqrt(len(ranks)):
        return float(len(ranks))
    return len(ranks) * (1 - spells) / (1 + spells)

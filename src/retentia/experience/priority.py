"""Priority: how much an experience bears on a task, by likeness, age, reward and outcome. Pure.

Prioritised replay after Schaul et al. 2016, with a priority that a person can read: a weighted sum of four numbers from
0 to 1. The functions take numbers or arrays of them alike.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from retentia.errors import InvalidInput
from retentia.model.experience import Outcome

Numbers = TypeVar("Numbers", float, NDArray[np.float64], NDArray[np.float32])
HALF_LIFE = timedelta(seconds=86_400)
WORTH: Mapping[Outcome, float] = MappingProxyType({Outcome.SUCCESS: 1.0, Outcome.PARTIAL: 0.5, Outcome.FAILURE: 0.0})
"""What an outcome counts in a priority."""
_SUM_WITHIN = 1e-6


class Order(StrEnum):
    """What experiences are ranked by: likeness alone, likeness that fades with age, or priority."""

    SIMILARITY = "similarity"
    DECAYED = "decayed"
    PRIORITISED = "prioritised"


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """How much each part counts in a priority: none below 0, all together 1."""

    similarity: float = 0.4
    recency: float = 0.3
    reward: float = 0.2
    outcome: float = 0.1

    def __post_init__(self) -> None:
        parts = (self.similarity, self.recency, self.reward, self.outcome)
        if not all(math.isfinite(part) and part >= 0 for part in parts) or abs(sum(parts) - 1) > _SUM_WITHIN:
            raise InvalidInput(f"weights must be numbers from 0 on that sum to 1, not {parts!r}")


STANDARD = Weights()
EARLY = Weights(similarity=0.6, recency=0.1, reward=0.2, outcome=0.1)
"""For the first experiences of an agent: what is alike leads."""
LATE = Weights(similarity=0.2, recency=0.5, reward=0.2, outcome=0.1)
"""For an agent with many experiences: what is recent leads."""
PHASES: Mapping[str, Weights] = MappingProxyType({"standard": STANDARD, "early": EARLY, "late": LATE})


def order_of(given: Order | str) -> Order:
    """Read an order by its name; raise InvalidInput."""
    if given not in set(Order):
        raise InvalidInput(f"order must be one of {', '.join(Order)}, not {given!r}")
    return Order(given)


def weights_of(given: Weights | str) -> Weights:
    """Return weights as they are, or those of a phase by its name; raise InvalidInput."""
    if isinstance(given, Weights):
        return given
    if given not in PHASES:
        raise InvalidInput(f"weights are Weights, or the name of a phase: {', '.join(PHASES)}; not {given!r}")
    return PHASES[given]


def check_half_life(half_life: timedelta) -> timedelta:
    """Return a half-life that something can fade by; raise InvalidInput."""
    if half_life <= timedelta(0):
        raise InvalidInput(f"a half-life must be longer than nothing, not {half_life!r}")
    return half_life


def recency(age_seconds: Numbers, half_life: timedelta = HALF_LIFE) -> Numbers:
    """Return 2^(-age / half-life): 1 for now and for what lies in the future, 0.5 after one half-life."""
    faded: Numbers = np.exp2(-np.maximum(age_seconds, 0.0) / check_half_life(half_life).total_seconds())
    return faded


def decayed(similarity: Numbers, recent: Numbers) -> Numbers:
    """Return the likeness that is left at an age."""
    return similarity * recent


def priority(
    similarity: Numbers, recent: Numbers, reward: Numbers, worth: Numbers, weights: Weights = STANDARD
) -> Numbers:
    """Return the weighted sum, from 0 to 1; what is unlike (a negative cosine) counts as nothing alike."""
    alike: Numbers = np.maximum(similarity, 0.0)
    whole: Numbers = (
        weights.similarity * alike + weights.recency * recent + weights.reward * reward + weights.outcome * worth
    )
    return whole

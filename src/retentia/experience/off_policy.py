"""Would following the advice have helped? Estimated from what was recorded, without running anything. Pure.

Each held-out attempt either did about what the advice says or did not, and its reward is known. Its agreement with the
advice is the F1 of their actions. Attempts that followed and attempts that did not are compared within each task, since
tasks differ in difficulty; and the mean reward under "always follow" is estimated by self-normalised inverse propensity
(Swaminathan & Joachims 2015), with how often a task's attempts follow as the propensity. Intervals are bootstrapped
over tasks. What stays is confounding: an attempt that goes well may follow the advice because it goes well.
"""

from collections.abc import Callable, Hashable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FOLLOWED_FROM = 0.8
"""The agreement from which on an attempt counts as having followed the advice."""
FEWEST_TASKS = 6
"""The fewest tasks that a verdict is given on: were five to differ alike, chance would do so once in sixteen times."""
_DRAWS = 2_000
_SEED = 0
_TAIL = 2.5


@dataclass(frozen=True, slots=True)
class Attempt:
    """A held-out attempt at a task: its actions, those that the advice names, and the reward."""

    task: str
    actions: AbstractSet[Hashable]
    advised: AbstractSet[Hashable]
    reward: float

    @property
    def agreement(self) -> float:
        """How much of the one is in the other, from 0 to 1: the F1 of the actions, 1 where both have none."""
        both, all_ = len(self.actions & self.advised), len(self.actions) + len(self.advised)
        return 2 * both / all_ if all_ else 1.0

    @property
    def followed(self) -> bool:
        """Whether it did what was advised, in all but little."""
        return self.agreement >= FOLLOWED_FROM


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its 95 % interval; nan where nothing can be told."""

    value: float
    low: float
    high: float

    @property
    def is_sure(self) -> bool:
        """Whether the interval leaves out zero."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What following the advice goes with.

    `difference` is followed minus not followed over all attempts, `within` the same within tasks that have both, of
    which there are `comparable`. `always` is the estimated reward under always following minus the mean `reward`.
    """

    attempts: int
    followed: int
    reward: float
    reward_followed: float
    reward_not: float
    comparable: int
    difference: Estimate
    within: Estimate
    always: Estimate

    @property
    def verdict(self) -> str:
        """Say in words what can be told."""
        if self.comparable < FEWEST_TASKS:
            return (
                f"Cannot tell: in {self.comparable} tasks only, some attempts did what was advised and some did not; "
                f"at least {FEWEST_TASKS} are needed."
            )
        if not self.within.is_sure:
            return (
                "Cannot tell: within one task, attempts that did what was advised fared neither clearly better nor "
                f"worse ({_told(self.within)})."
            )
        better = "better" if self.within.value > 0 else "worse"
        return (
            f"Within one task, attempts that did what was advised fared {better} ({_told(self.within)}). This is no "
            "proof: an attempt may follow because it goes well."
        )


def report_on(attempts: Sequence[Attempt]) -> Report:
    """Compare attempts that followed with those that did not."""
    tasks = sorted({one.task for one in attempts})
    number = {task: place for place, task in enumerate(tasks)}
    task = np.array([number[one.task] for one in attempts], dtype=np.intp)
    followed = np.array([one.followed for one in attempts], dtype=bool)
    reward = np.array([one.reward for one in attempts], dtype=np.float64)
    rows = [np.flatnonzero(task == place) for place in range(len(tasks))]
    both = [some for some in rows if followed[some].any() and not followed[some].all()]
    of_all = _bootstrapped(rows, lambda some: _difference(followed[some], reward[some]))
    return Report(
        attempts=len(attempts),
        followed=int(followed.sum()),
        reward=_mean(reward),
        reward_followed=_mean(reward[followed]),
        reward_not=_mean(reward[~followed]),
        comparable=len(both),
        difference=of_all,
        within=_within(both, followed, reward),
        always=_bootstrapped(rows, lambda some: _always(task[some], followed[some], reward[some])),
    )


def _within(both: Sequence[NDArray[np.intp]], followed: NDArray[np.bool_], reward: NDArray[np.float64]) -> Estimate:
    """Average the differences within tasks, each task once."""
    each = np.array([_difference(followed[some], reward[some]) for some in both], dtype=np.float64)
    if len(each) < FEWEST_TASKS:
        return Estimate(_mean(each), float("nan"), float("nan"))
    drawn = np.random.default_rng(_SEED).integers(0, len(each), size=(_DRAWS, len(each)))
    low, high = np.percentile(each[drawn].mean(axis=1), [_TAIL, 100 - _TAIL])
    return Estimate(float(each.mean()), float(low), float(high))


def _bootstrapped(rows: Sequence[NDArray[np.intp]], measure: Callable[[NDArray[np.intp]], float]) -> Estimate:
    """Measure with a 95 % interval over draws of whole tasks; a task that is drawn twice counts twice."""
    if not rows:
        return Estimate(float("nan"), float("nan"), float("nan"))
    generator = np.random.default_rng(_SEED)
    drawn = (generator.integers(0, len(rows), size=len(rows)) for _ in range(_DRAWS))
    found = np.array([measure(np.concatenate([rows[place] for place in places])) for places in drawn])
    found = found[np.isfinite(found)]
    value = measure(np.concatenate(rows))
    if not len(found):
        return Estimate(value, float("nan"), float("nan"))
    low, high = np.percentile(found, [_TAIL, 100 - _TAIL])
    return Estimate(value, float(low), float(high))


def _difference(followed: NDArray[np.bool_], reward: NDArray[np.float64]) -> float:
    return _mean(reward[followed]) - _mean(reward[~followed])


def _always(task: NDArray[np.intp], followed: NDArray[np.bool_], reward: NDArray[np.float64]) -> float:
    """Return the self-normalised estimate of always following, less the mean; of tasks where some attempt followed."""
    weights = np.zeros(len(task))
    for place in np.unique(task):
        here = task == place
        share = followed[here].mean()
        weights[here & followed] = 1 / share if share else 0.0
    known = np.isin(task, np.unique(task[followed]))
    if not weights.any():
        return float("nan")
    return float((weights * reward).sum() / weights.sum() - reward[known].mean())


def _mean(values: NDArray[np.float64]) -> float:
    return float(values.mean()) if len(values) else float("nan")


def _told(found: Estimate) -> str:
    return f"{found.value:+.2f} reward, 95 % interval {found.low:+.2f} to {found.high:+.2f}"

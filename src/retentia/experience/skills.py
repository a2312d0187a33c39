"""Skills: how well each category of tasks has gone so far. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from retentia.errors import InvalidInput
from retentia.model.experience import Experience

WEAK_BELOW = 0.5
"""The success rate below which a category is weak."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """What came of the tasks of one category; `weak_below` is the success rate below which it is weak."""

    category: str
    count: int
    successes: int
    average_reward: float
    average_iterations: float
    weak_below: float = WEAK_BELOW

    @property
    def success_rate(self) -> float:
        """The share of tasks solved whole, 0 where there were none."""
        return self.successes / self.count if self.count else 0.0

    @property
    def is_weak(self) -> bool:
        """Whether tasks of this category fail more often than is acceptable; what was never tried is not weak."""
        return self.count > 0 and self.success_rate < self.weak_below


def skills_of(experiences: Sequence[Experience], *, weak_below: float = WEAK_BELOW) -> dict[str, Skill]:
    """Return the skill in each category that occurs, in the order of the alphabet; raise InvalidInput."""
    return skills_from(
        [one.task.category for one in experiences],
        [one.is_success for one in experiences],
        [one.feedback.reward for one in experiences],
        [one.iterations for one in experiences],
        weak_below=weak_below,
    )


def skills_from(
    categories: Sequence[str],
    succeeded: ArrayLike,
    rewards: ArrayLike,
    iterations: ArrayLike,
    *,
    weak_below: float = WEAK_BELOW,
) -> dict[str, Skill]:
    """Return the skill in each category from columns of equal length, one row an experience; raise InvalidInput."""
    if not 0 <= weak_below <= 1:
        raise InvalidInput(f"weak_below must be a number from 0 to 1, not {weak_below!r}")
    columns = [np.asarray(column, dtype=np.float64) for column in (succeeded, rewards, iterations)]
    if any(column.shape != (len(categories),) for column in columns):
        raise InvalidInput("each column needs one value for each experience")
    names = sorted(set(categories))
    rows = _numbered(names, categories)
    counts = np.bincount(rows, minlength=len(names))
    successes, reward, tries = (np.bincount(rows, weights=one, minlength=len(names)) for one in columns)
    return {
        name: Skill(
            category=name,
            count=int(counts[at]),
            successes=int(successes[at]),
            average_reward=float(reward[at] / counts[at]),
            average_iterations=float(tries[at] / counts[at]),
            weak_below=weak_below,
        )
        for at, name in enumerate(names)
    }


def _numbered(names: Sequence[str], categories: Sequence[str]) -> NDArray[np.intp]:
    place: Mapping[str, int] = {name: at for at, name in enumerate(names)}
    return np.fromiter((place[name] for name in categories), dtype=np.intp, count=len(categories))

"""What a replay of experiences is: those that bear on a task, what they say together, and a prompt. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from retentia.experience.remembered import Remembered
from retentia.model.experience import Experience, Outcome
from retentia.model.ids import RecordId

FLOORS: Mapping[str, float] = MappingProxyType({"use": 0.28, "e5": 0.83})
"""The cosine below which a task is not like another, for embedders whose cosines were measured, by name.

They keep nearly every task that comes again in other words: what is missed is lost, while what is let in too much ranks
low and is shown with its similarity. With `e5` even unlike tasks have cosines of .7 and more, so one floor cannot serve
both (`benchmarks/task_likeness.py`).
"""
UNMEASURED_FLOOR = 0.0
"""For embedders that nobody has measured: what is not alike at all (a cosine of 0 or less) is left out, no more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """Experiences that bear on a task, the most useful first, as values and as a prompt of at most `budget` tokens.

    `experiences` are those that are relevant, also those that `left_out` names for which the prompt had no room.
    `shortened` names those that it shows in part. Names are those of the prompt; `labels` has their ids.
    """

    experiences: tuple[Remembered, ...]
    prompt: str
    language: str
    tokens: int
    budget: int
    counted: str
    labels: Mapping[str, RecordId]
    shortened: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing relevant is known."""
        return not self.experiences

    @property
    def strategies(self) -> tuple[str, ...]:
        """The strategies in the order in which the experiences first use them, each once."""
        return strategies_of([one.experience for one in self.experiences])

    @property
    def average_reward(self) -> float:
        """The mean reward, 0 without experiences."""
        return average_reward([one.experience for one in self.experiences])

    @property
    def success_rate(self) -> float:
        """The share of tasks solved whole, 0 without experiences."""
        return success_rate([one.experience for one in self.experiences])

    @property
    def avoid(self) -> tuple[Experience, ...]:
        """What failed, with its feedback: what not to do again."""
        return tuple(one.experience for one in self.experiences if one.experience.outcome is Outcome.FAILURE)


def floor_for(embedder: str) -> float:
    """Return the similarity below which an experience is not relevant, for an embedder by its name."""
    return FLOORS.get(embedder, UNMEASURED_FLOOR)


def relevant(remembered: Sequence[Remembered], embedder: str) -> list[Remembered]:
    """Return those that are like the task, in the order given; a similarity of 0 is never like it."""
    floor = floor_for(embedder)
    return [one for one in remembered if one.similarity >= floor and one.similarity > 0]


def strategies_of(experiences: Sequence[Experience]) -> tuple[str, ...]:
    """Return the named strategies in the order in which the experiences first use them, each once."""
    return tuple(dict.fromkeys(name for one in experiences if (name := one.strategy.strip())))


def average_reward(experiences: Sequence[Experience]) -> float:
    """Return the mean reward, 0 without experiences."""
    return sum(one.feedback.reward for one in experiences) / len(experiences) if experiences else 0.0


def success_rate(experiences: Sequence[Experience]) -> float:
    """Return the share of tasks solved whole, 0 without experiences."""
    return sum(one.is_success for one in experiences) / len(experiences) if experiences else 0.0

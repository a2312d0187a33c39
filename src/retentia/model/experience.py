"""Experiences: a task, how it was solved, what came of it. Immutable: what is learned from them is calculated anew.

What cannot be true (a reward of 7 on a scale of 0 to 1, eight of seven tests passed) is refused where it is made.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from retentia.errors import InvalidInput
from retentia.model.ids import RecordId
from retentia.model.message import JSON
from retentia.model.provenance import Source
from retentia.model.record import ItemRecord
from retentia.model.time import Moment

UNKNOWN = "unknown"
CATEGORIES = ("code_generation", "debugging", "refactoring", "testing", "architecture", UNKNOWN)
"""The shipped categories of tasks; a tenant adds its own."""
UNIT = (0.0, 1.0)
MOST_COUNTED = 2**31 - 1
"""The greatest count that is kept: what statistics hold in 32 bits."""


class Outcome(StrEnum):
    """How a task ended."""

    SUCCESS = "success"
    PARTIAL = "partial"
    FAILURE = "failure"


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What was to be done. `complexity` runs from 0, trivial, to 1."""

    description: str
    category: str = UNKNOWN
    complexity: float = 0.5

    def __post_init__(self) -> None:
        if not self.description.strip():
            raise InvalidInput("an experience needs the description of its task")
        _check_within("complexity", self.complexity, UNIT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """What was said of the solution: a reward from 0 to 1, words, and how many tests passed."""

    reward: float
    message: str = ""
    tests_passed: int = 0
    tests_total: int = 0

    def __post_init__(self) -> None:
        _check_within("reward", self.reward, UNIT)
        for name, count in (("tests_passed", self.tests_passed), ("tests_total", self.tests_total)):
            _check_count(name, count, 0)
        if self.tests_passed > self.tests_total:
            raise InvalidInput(f"{self.tests_passed} tests cannot have passed of {self.tests_total}")

    @property
    def pass_rate(self) -> float:
        """The share of tests that passed, 0 where there were none."""
        return self.tests_passed / self.tests_total if self.tests_total else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Experience:
    """A task, its solution, the feedback and the outcome. `at` is when it ended; `iterations` counts attempts from 1.

    `key` is the caller's name for it: what comes again under one key is one experience. `id` is None until it is
    kept; `sources` are the records it was made from.
    """

    task: Task
    solution: str
    feedback: Feedback
    outcome: Outcome
    at: Moment
    iterations: int = 1
    strategy: str = ""
    key: str = ""
    id: RecordId | None = None
    session: str = ""
    sources: tuple[Source, ...] = ()

    def __post_init__(self) -> None:
        _check_count("iterations", self.iterations, 1)

    @property
    def is_success(self) -> bool:
        """Whether the task was solved whole."""
        return self.outcome is Outcome.SUCCESS

    def body(self) -> dict[str, JSON]:
        """Return what the body of its item holds; the item's text is the task's description, its event time `at`."""
        told: dict[str, JSON] = {
            "category": self.task.category,
            "complexity": self.task.complexity,
            "solution": self.solution,
            "reward": self.feedback.reward,
            "outcome": self.outcome.value,
            "iterations": self.iterations,
        }
        more: dict[str, JSON] = {
            "feedback": self.feedback.message,
            "tests_passed": self.feedback.tests_passed,
            "tests_total": self.feedback.tests_total,
            "strategy": self.strategy,
            "key": self.key,
            "session": self.session,
        }
        return told | {name: value for name, value in more.items() if value}


def experience_of(record: ItemRecord) -> Experience:
    """Read an experience back from its item."""
    told = experience_from(record.text, record.body, at=record.occurred or Moment.at(record.recorded_at, "UTC"))
    return replace(told, id=record.id, sources=record.sources)


def experience_from(description: str, body: Mapping[str, JSON], *, at: Moment) -> Experience:
    """Read an experience from its task's description and a body, which need not be trusted; raise InvalidInput."""
    return Experience(
        task=Task(
            description=description,
            category=_text(body, "category") or UNKNOWN,
            complexity=_number(body, "complexity", 0.5),
        ),
        solution=_text(body, "solution"),
        feedback=Feedback(
            reward=_number(body, "reward"),
            message=_text(body, "feedback"),
            tests_passed=_count(body, "tests_passed", 0),
            tests_total=_count(body, "tests_total", 0),
        ),
        outcome=outcome_of(body.get("outcome")),
        at=at,
        iterations=_count(body, "iterations", 1),
        strategy=_text(body, "strategy"),
        key=_text(body, "key"),
        session=_text(body, "session"),
    )


def outcome_of(value: object) -> Outcome:
    """Read how a task ended; raise InvalidInput."""
    if not isinstance(value, str) or value not in set(Outcome):
        raise InvalidInput(f"outcome must be one of {', '.join(Outcome)}, not {value!r}")
    return Outcome(value)


def reward_within(reward: float, declared: tuple[float, float]) -> float:
    """Bring a reward from the range it was declared in to [0, 1]; raise InvalidInput."""
    lowest, highest = declared
    if not (math.isfinite(highest - lowest) and lowest < highest):
        raise InvalidInput(f"a range of rewards runs from a number to a greater one, not {declared!r}")
    _check_within("reward", reward, declared)
    return (reward - lowest) / (highest - lowest)


def _check_within(name: str, value: object, bounds: tuple[float, float]) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not bounds[0] <= value <= bounds[1]:
        raise InvalidInput(f"{name} must be a number from {bounds[0]:g} to {bounds[1]:g}, not {value!r}")


def _check_count(name: str, value: object, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InvalidInput(f"{name} must be a whole number from {least} on, not {value!r}")
    if value > MOST_COUNTED:
        raise InvalidInput(f"{name} can be {MOST_COUNTED:,} at most")


def _text(body: Mapping[str, JSON], name: str) -> str:
    value = body.get(name, "")
    if not isinstance(value, str):
        raise InvalidInput(f"{name} must be text, not {value!r}")
    return value


def _number(body: Mapping[str, JSON], name: str, default: float | None = None) -> float:
    value = body.get(name, default)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InvalidInput(f"{name} must be a number, not {value!r}")
    return value


def _count(body: Mapping[str, JSON], name: str, default: int) -> int:
    value = body.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidInput(f"{name} must be a whole number, not {value!r}")
    return value

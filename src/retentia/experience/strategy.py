"""Choosing a strategy for a task by what came of similar ones. Pure.

Three rules, the first that applies decides: what has proven itself on similar tasks; care where a category is weak; how
complex the task is.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from retentia.errors import InvalidInput
from retentia.experience.remembered import Remembered
from retentia.experience.skills import Skill
from retentia.experience.words import ENGLISH, read_words, spoken, words

NEAREST = 5
"""How many similar tasks are asked."""
MIN_EVIDENCE = 2
PROVEN_ABOVE = 0.6
COMPLEX_ABOVE = 0.7
SIMPLE_BELOW = 0.3
DEFENSIVE = "defensive"
EXPLORATORY = "exploratory"
ITERATIVE = "iterative"


class Rule(StrEnum):
    """What decided for a strategy."""

    PROVEN = "proven"
    WEAK = "weak"
    COMPLEX = "complex"
    SIMPLE = "simple"
    USUAL = "usual"


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What came of one strategy on the similar tasks; `nearest` is the greatest similarity among them."""

    strategy: str
    count: int
    successes: int
    nearest: float

    @property
    def success_rate(self) -> float:
        """The share of tasks solved whole; a record has at least one task."""
        return self.successes / self.count


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A strategy, its instruction, the rule that decided, and why in words and numbers.

    `count` and `successes` are those of the similar tasks solved with it, or of the weak category; 0 where complexity
    decided. `records` tells of every strategy that was looked at, the best first.
    """

    strategy: str
    instruction: str
    rule: Rule
    reason: str
    complexity: float
    count: int = 0
    successes: int = 0
    records: tuple[Record, ...] = ()


def pool(language: str = ENGLISH, own: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the strategies by name, each with its instruction: the shipped five and a tenant's own, which win."""
    shipped = spoken(read_words(Path(__file__).with_name("strategies.toml")), language)
    empty = [name for name, instruction in (own or {}).items() if not (name.strip() and instruction.strip())]
    if empty:
        raise InvalidInput(f"a strategy needs a name and an instruction: {empty[0]!r} lacks one")
    return {**shipped, **(own or {})}


def records_of(similar: Sequence[Remembered]) -> tuple[Record, ...]:
    """Return what came of each named strategy: by success rate, then evidence, then nearness, then name."""
    by_name: defaultdict[str, list[Remembered]] = defaultdict(list)
    for one in similar:
        by_name[one.experience.strategy.strip()].append(one)
    by_name.pop("", None)
    records = (
        Record(
            strategy=name,
            count=len(some),
            successes=sum(one.experience.is_success for one in some),
            nearest=max(one.similarity for one in some),
        )
        for name, some in by_name.items()
    )
    return tuple(sorted(records, key=lambda one: (-one.success_rate, -one.count, -one.nearest, one.strategy)))


def choose(
    similar: Sequence[Remembered],
    skill: Skill | None,
    complexity: float,
    *,
    min_evidence: int = MIN_EVIDENCE,
    language: str = ENGLISH,
    own: Mapping[str, str] | None = None,
) -> Choice:
    """Choose a strategy by the five nearest tasks, the skill in the category (None: never tried) and complexity.

    A strategy that nobody has written an instruction for may win all the same; its instruction is "". Raises
    InvalidInput for a complexity outside 0 to 1, a `min_evidence` below 1 or a language that is not spoken.
    """
    if not 0 <= complexity <= 1 or min_evidence < 1:
        raise InvalidInput(
            f"complexity runs from 0 to 1 and min_evidence from 1 on, not {complexity!r} and {min_evidence!r}"
        )
    records = records_of(nearest(similar))
    proven = next((one for one in records if one.success_rate > PROVEN_ABOVE and one.count >= min_evidence), None)
    rule, strategy, count, successes = _decided(proven, skill, complexity)
    reason = words(language)[f"reason_{rule}"].format(
        strategy=strategy,
        count=count,
        successes=successes,
        category=skill.category if skill else "",
        complexity=f"{complexity:.2g}",
    )
    return Choice(
        strategy=strategy,
        instruction=pool(language, own).get(strategy, ""),
        rule=rule,
        reason=reason,
        complexity=complexity,
        count=count,
        successes=successes,
        records=records,
    )


def nearest(similar: Sequence[Remembered], limit: int = NEAREST) -> list[Remembered]:
    """Return the nearest by similarity; among equals the newest, and never by the order they come in."""
    return sorted(similar, key=lambda one: (-one.similarity, _identity(one)))[:limit]


def _decided(proven: Record | None, skill: Skill | None, complexity: float) -> tuple[Rule, str, int, int]:
    if proven is not None:
        return Rule.PROVEN, proven.strategy, proven.count, proven.successes
    if skill is not None and skill.is_weak:
        return Rule.WEAK, DEFENSIVE, skill.count, skill.successes
    if complexity > COMPLEX_ABOVE:
        return Rule.COMPLEX, ITERATIVE, 0, 0
    if complexity < SIMPLE_BELOW:
        return Rule.SIMPLE, EXPLORATORY, 0, 0
    return Rule.USUAL, ITERATIVE, 0, 0


def _identity(one: Remembered) -> tuple[int, str, str, str, str, bool]:
    told = one.experience
    return (-told.at.start, told.id or "", told.key, told.strategy, told.task.description, told.is_success)

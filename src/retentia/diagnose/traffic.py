"""Traffic: what was said, by whom and how often, as numbers without content; what an advisor decides by."""

from collections.abc import Iterable
from dataclasses import dataclass

_LONG = 0.9


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """The traffic of one scope, or of everybody in a tenant.

    A long session is one that nine in ten do not exceed: `messages`, `turns` (what a user said, and what followed) and
    `tokens` (estimated) are its. `sessions_of_one` is how many sessions whoever came most often had, `looks_back` how
    many replies were shown a message of another session, `relation_steps` how many relations lead to a thing that
    stands in another one.
    """

    sessions: int = 0
    people: int = 0
    returning_people: int = 0
    sessions_of_one: int = 0
    one_off_share: float = 0.0
    messages: int = 0
    median_messages: int = 0
    longest_messages: int = 0
    turns: int = 0
    tokens: int = 0
    calls: int = 0
    tools: int = 0
    repeated_calls: int = 0
    documents: int = 0
    facts: int = 0
    episodes: int = 0
    instructions: int = 0
    experiences: int = 0
    looks_back: int = 0
    entity_types: int = 0
    relation_steps: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to advise on."""
        known = self.facts or self.episodes or self.instructions or self.experiences
        return not (self.sessions or self.documents or known)


@dataclass(frozen=True, slots=True)
class Spread:
    """How many sessions have which number, or how many people; the numbers in order."""

    counts: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, counts: Iterable[tuple[int, int]]) -> "Spread":
        """Put (number, how many) pairs in order."""
        return cls(tuple(sorted(counts)))

    @property
    def total(self) -> int:
        """How many there are."""
        return sum(many for _, many in self.counts)

    @property
    def largest(self) -> int:
        return self.counts[-1][0] if self.counts else 0

    @property
    def median(self) -> int:
        return self.at(0.5)

    @property
    def long(self) -> int:
        """The number that nine in ten do not exceed."""
        return self.at(_LONG)

    def at(self, share: float) -> int:
        """Return the smallest number that a share of all does not exceed (the nearest rank); 0 where there is none."""
        reached = 0
        for number, many in self.counts:
            reached += many
            if reached >= share * self.total:
                return number
        return 0

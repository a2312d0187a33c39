"""What is evaluated: anything that remembers a group and answers questions about it with ranked sources."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from retentia.evals.dataset import Group


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One source found: what its returned text costs in tokens, its score, and the score of each signal."""

    source: str
    tokens: int
    score: float
    signals: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back: sources best first, each once, and the probability (0 to 1) that the group knows an answer.

    Below `threshold` an application would have got nothing. `search_ms` is the time without embedding the question.
    """

    found: tuple[Found, ...]
    relevance: float
    search_ms: float
    threshold: float = 0.0

    @property
    def ranking(self) -> tuple[str, ...]:
        """Return the sources, best first."""
        return tuple(found.source for found in self.found)


class Subject(Protocol):
    """A memory under evaluation. It never sees gold."""

    def ingest(self, group: Group) -> None:
        """Remember the group's entries in a scope of its own, ready to be asked."""

    def ask(self, group: Group, question: str, *, limit: int) -> Answer:
        """Find up to `limit` sources in the group, whatever their relevance."""

    def shown(self, group: Group, question: str, *, budget: int) -> tuple[str, ...]:
        """Return the sources that the prompt for the question shows, under a budget of tokens."""

    def embedding_ms(self, questions: Sequence[str]) -> list[float]:
        """Return the milliseconds that embedding each question takes, without any cache."""

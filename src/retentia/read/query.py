"""What is asked and what is answered."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import overload

from retentia.model.filters import Filter
from retentia.model.record import CONTEXT_KINDS, Kind, Record
from retentia.model.scope import Scope
from retentia.read.suspicion import looks_like_instruction
from retentia.tools.newer import Newer


@dataclass(frozen=True, slots=True)
class Shared:
    """Another scope that a search also looks into, for records of some kinds; without kinds for all."""

    scope: Scope
    kinds: frozenset[Kind] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A question and what its answer may hold. Times are [since, until) in UTC microseconds.

    `as_of` asks for what held, and was said, by that instant. With `consequential`, what the person has not confirmed
    is marked in the answer.
    """

    text: str
    limit: int = 10
    token_budget: int | None = None
    kinds: frozenset[Kind] = frozenset()
    since: int | None = None
    until: int | None = None
    session: str | None = None
    where: Filter | None = None
    as_of: int | None = None
    min_relevance: float | None = None
    floor: float | None = None
    consequential: bool = False
    also: tuple[Shared, ...] = ()

    @property
    def is_filtered(self) -> bool:
        """Whether anything but the scope narrows the answer; what a context or any recall leaves out does not count."""
        bounds = (self.since, self.until, self.as_of)
        narrows = bool(self.kinds) and self.kinds != CONTEXT_KINDS
        return narrows or bool(self.where or self.session) or any(bound is not None for bound in bounds)


@dataclass(frozen=True, slots=True)
class Span:
    """Characters [start, end) of a record's text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One record found. `text` is what to show of it: all of a short one, the best stretches of a long one.

    `score` orders the hits of one answer and means nothing across answers. `signals` holds each signal before its
    weight, `reason` the same in words, `spans` where in the record's text the match lies, `tokens` what `text` costs.
    `newer` tells of a newer result of the same tool call, or of what is so now instead; None where there is none.
    `also` names other hits that say the same and are not shown beside it, the best first: items learned from the
    sentence, or of the same text. `needs_confirmation` marks what the person should confirm first, where the question
    was consequential.
    """

    record: Record
    score: float
    text: str
    spans: tuple[Span, ...]
    tokens: int
    signals: Mapping[str, float]
    reason: str
    newer: Newer | None = None
    also: tuple[str, ...] = ()
    needs_confirmation: bool = False

    @property
    def id(self) -> str:
        """The id of the record."""
        return self.record.id

    @property
    def shown_text(self) -> str:
        """What is shown of it: its text, and behind it in brackets what is newer."""
        return self.text if self.newer is None else f"{self.text}\n({self.newer.text})"

    @property
    def looks_like_instruction(self) -> bool:
        """Whether what is shown came from outside and looks like an order to an assistant; False proves nothing."""
        return looks_like_instruction(self.record, self.shown_text)

    @property
    def shown_ids(self) -> tuple[str, ...]:
        """The ids of all records that it shows something of."""
        return (self.id, *self.also) if self.newer is None else (self.id, *self.also, self.newer.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Where the time of one recall went, in milliseconds."""

    embed_ms: float
    search_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall(Sequence[Hit]):
    """The answer: hits, best first. Empty answers say why in `reason`.

    `relevance` is the probability that the scope holds an answer at all; below `threshold` nothing is returned.
    `filtered_count` counts passages that kinds, times, session or filters held back; `pending_count` those that are
    so far found by their words only, because their vectors are still to come.
    """

    hits: tuple[Hit, ...]
    reason: str
    relevance: float
    threshold: float
    filtered_count: int = 0
    pending_count: int = 0
    notes: tuple[str, ...] = ()
    timing: Timing = field(default=Timing(embed_ms=0.0, search_ms=0.0), compare=False)

    @overload
    def __getitem__(self, index: int) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Hit]: ...
    def __getitem__(self, index: int | slice) -> Hit | Sequence[Hit]:
        return self.hits[index]

    def __len__(self) -> int:
        return len(self.hits)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

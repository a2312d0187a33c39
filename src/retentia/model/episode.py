"""What happened, what was promised and how things are done, as the verbs of episodic and procedural memory show it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import overload

from retentia.model.commitment import Commitment, CommitmentStatus
from retentia.model.ids import RecordId
from retentia.model.record import ItemRecord, Kind, Status
from retentia.model.time import Moment


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """An event, a decision or a commitment that was found; `score` orders those of one answer and is 0 by time alone.

    `record.body` has the reasons and rejected options of a decision.
    """

    record: ItemRecord
    score: float = 0.0

    @property
    def id(self) -> RecordId:
        """The id of its record."""
        return self.record.id

    @property
    def text(self) -> str:
        """What was said of it, word for word."""
        return self.record.text


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeSearch(Sequence[Episode]):
    """What was found, and how the question was understood: [since, until) in UTC microseconds, None is open.

    What was searched for by meaning is ordered by score, what was asked for by time alone by time. `reason` says in
    words why it is this, or nothing.
    """

    episodes: tuple[Episode, ...]
    reason: str
    since: int | None = None
    until: int | None = None

    @overload
    def __getitem__(self, index: int) -> Episode: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Episode]: ...
    def __getitem__(self, index: int | slice) -> Episode | Sequence[Episode]:
        return self.episodes[index]

    def __len__(self) -> int:
        return len(self.episodes)

    def __iter__(self) -> Iterator[Episode]:
        return iter(self.episodes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """A commitment, the item that holds it, and where it stands. `due_words` are those of who promised it.

    `closed_at` (UTC microseconds) and `evidence`, the record that shows it, belong to what is done or dropped.
    """

    commitment: Commitment
    record: ItemRecord
    status: CommitmentStatus
    due_words: str
    closed_at: int | None = None
    evidence: RecordId | None = None

    @property
    def id(self) -> RecordId:
        """The id to close it by."""
        return self.record.id

    @property
    def what(self) -> str:
        """What is to be done."""
        return self.commitment.what

    @property
    def owner(self) -> str:
        """Who is to do it; "user" is the person."""
        return self.commitment.owner

    @property
    def due(self) -> Moment | None:
        """The time in which it must be done at the latest, None where none was named."""
        return self.commitment.due


@dataclass(frozen=True, slots=True, kw_only=True)
class Procedure:
    """How something is done for the person. `task` says for which tasks, "" for all.

    `match` is the share of the words of `task` that the task at hand has, 0 to 1; 0 for what applies everywhere.
    """

    record: ItemRecord
    task: str
    match: float

    @property
    def id(self) -> RecordId:
        """The id of its record."""
        return self.record.id

    @property
    def text(self) -> str:
        """The instruction, word for word."""
        return self.record.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """One thing that is remembered: what it `says` in plain language, where it applies ("" everywhere), how firmly.

    `quote` is how it was said, `sources` are the records it is known from. `review_at` and `expires_at` are UTC
    microseconds, None for never.
    """

    id: RecordId
    kind: Kind
    says: str
    status: Status
    applies_to: str
    quote: str
    sources: tuple[RecordId, ...]
    review_at: int | None
    expires_at: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RememberedPage(Sequence[Remembered]):
    """A page of what is remembered, kind by kind. Pass `cursor` as `after` for the next one; "" is the end.

    `kept` counts by kind what is kept word for word: messages, tool calls, documents.
    """

    entries: tuple[Remembered, ...]
    kept: Mapping[str, int] = field(default_factory=dict)
    tokens: int = 0
    cursor: str = ""

    @overload
    def __getitem__(self, index: int) -> Remembered: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Remembered]: ...
    def __getitem__(self, index: int | slice) -> Remembered | Sequence[Remembered]:
        return self.entries[index]

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[Remembered]:
        return iter(self.entries)

    def by_kind(self) -> dict[Kind, list[Remembered]]:
        """Return the entries by kind, in the order they are shown."""
        found: dict[Kind, list[Remembered]] = {}
        for one in self.entries:
            found.setdefault(one.kind, []).append(one)
        return found

"""What is kept: the records of episodic, semantic and procedural memory.

A record is what a person can be shown, a source can be, and an erasure can name. Everything else in the database is
derived from records and can be rebuilt from them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from retentia.model.ids import RecordId, SessionId
from retentia.model.message import JSON
from retentia.model.provenance import Source, Trust
from retentia.model.scope import Scope
from retentia.model.time import Moment


class Kind(StrEnum):
    """What a record is: the first three are kept verbatim, the others are items of knowledge."""

    MESSAGE = "message"
    TOOL_CALL = "tool_call"
    DOCUMENT = "document"
    NOTE = "note"
    FACT = "fact"
    PREFERENCE = "preference"
    EVENT = "event"
    DECISION = "decision"
    COMMITMENT = "commitment"
    PROCEDURE = "procedure"
    KNOWLEDGE = "knowledge"
    EXPERIENCE = "experience"
    TOOL = "tool"


ABOUT = "about"
"""The key of the metadata that says what a kept sentence is: decision, reason, rejected or environment."""
PROFILE_KINDS = (Kind.FACT, Kind.PREFERENCE)
"""What is told by its claim, and makes a profile; items of other kinds are told by their words."""
ITEM_KINDS: frozenset[Kind] = frozenset(Kind) - {Kind.MESSAGE, Kind.TOOL_CALL, Kind.DOCUMENT}
RECALLED_KINDS: frozenset[Kind] = frozenset(Kind) - {Kind.TOOL}
"""What a recall finds where it names no kinds; registered tools are selected, see `retentia.tools.choice`."""
CONTEXT_KINDS: frozenset[Kind] = RECALLED_KINDS - {Kind.EXPERIENCE}
"""What a context recalls; experiences come into a prompt by their replay."""


class Status(StrEnum):
    """How firmly something is believed: proposed, said by the person, confirmed by the person; or rejected by them."""

    CANDIDATE = "candidate"
    STATED = "stated"
    CONFIRMED = "confirmed"
    REJECTED = "rejected"


BELIEVED = (Status.STATED, Status.CONFIRMED)
NOT_BELIEVED = (Status.CANDIDATE, Status.REJECTED)


class Importance(StrEnum):
    """How long a record is worth keeping near; no permission to store personal data."""

    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What all records have. `occurred` is event time, `recorded_at` the database's clock in UTC microseconds.

    `review_at` says when a person should look at it again and `expires_at` when it goes, None for never.
    """

    id: RecordId
    kind: Kind
    scope: Scope
    text: str
    occurred: Moment | None
    recorded_at: int
    trust: Trust
    metadata: Mapping[str, JSON] = field(default_factory=dict)
    review_at: int | None = None
    expires_at: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageRecord(Record):
    """A message as it was said. `seq` is its place in the session, counted from 1."""

    session_id: SessionId
    session: str
    seq: int
    role: str
    speaker: str
    key: str
    pinned: bool
    parts: Mapping[str, JSON] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallRecord(Record):
    """A logged tool call; `text` is the short form that is searched, `arguments` are whole.

    `result` is whole, too, unless `full_bytes` tells how large it was: then it is its beginning and end.
    """

    session_id: SessionId
    session: str
    seq: int
    name: str
    key: str
    arguments: JSON
    result: JSON
    status: str
    error: str
    duration_ms: float | None
    tokens: int | None
    full_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentRecord(Record):
    """A document; hits cite character spans of `text`."""

    title: str
    uri: str
    media_type: str
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemRecord(Record):
    """Something known: a note, fact, preference, event, decision, commitment, procedure or piece of knowledge.

    It holds in [valid_from, valid_to), UTC microseconds; None is open.
    `seen_count` counts how often it was said; repetition never raises
    `status`. `body` holds what only this kind has. `version` grows with each change. `retracted_at` says since when it
    is no longer believed at all.
    """

    status: Status
    confidence: float
    importance: Importance
    valid_from: int | None
    valid_to: int | None
    seen_count: int
    version: int
    author: str
    retracted_at: int | None = None
    sources: tuple[Source, ...] = ()
    body: Mapping[str, JSON] = field(default_factory=dict)

    @property
    def is_searchable(self) -> bool:
        """Whether a search may find it: what is only proposed, or retracted, is in no index."""
        return is_searchable(self.status, self.retracted_at)


def is_searchable(status: Status | str, retracted_at: int | None) -> bool:
    """Tell whether a search may find an item that stands so."""
    return status in BELIEVED and retracted_at is None

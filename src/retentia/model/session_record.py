"""The record of a session: what remains of a conversation at a glance."""

from dataclasses import dataclass
from enum import StrEnum

from retentia.model.ids import RecordId
from retentia.model.scope import Scope


class Learning(StrEnum):
    """How far a model has come with learning from a session; BY_RULES where none has looked at it.

    LEARNED and NOTHING tell that it has read what there was at the last checkpoint, and whether anything was learned
    from the session, by rules or by it. FAILED tells that every attempt failed; a new checkpoint or `retry_job` begins
    anew.
    """

    BY_RULES = "by_rules"
    QUEUED = "queued"
    LEARNED = "learned"
    NOTHING = "nothing_learned"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Said:
    """Something said in a session, word for word, and the message it was said in."""

    text: str
    message_id: RecordId


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRecord:
    """What a checkpoint keeps of a session; times in UTC microseconds.

    `started_at` and `last_at` bound what was said, `ended_at` is when the session ended, None while it goes on.
    `learned` are the items that name messages of it as their source, those that were only proposed included, and
    `learning` tells how far a model has come with that. `made_by` says who wrote the summary.
    """

    id: RecordId
    scope: Scope
    session: str
    started_at: int
    last_at: int
    ended_at: int | None
    topic: str
    summary: str
    decisions: tuple[Said, ...]
    open_items: tuple[Said, ...]
    learned: tuple[RecordId, ...]
    messages: int
    made_by: str
    created_at: int
    learning: Learning = Learning.BY_RULES

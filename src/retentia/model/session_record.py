"""The record of a session: what remains of a conversation at a glance."""

from dataclasses import dataclass

from retentia.model.ids import RecordId
from retentia.model.scope import Scope


@dataclass(frozen=True, slots=True)
class Said:
    """Something said in a session, word for word, and the message it was said in."""

    text: str
    message_id: RecordId


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRecord:
    """What a checkpoint keeps of a session; times in UTC microseconds.

    `started_at` and `last_at` bound what was said, `ended_at` is when the session ended, None while it goes on.
    `learned` are the items that name messages of it as their source. `made_by` says who wrote the summary.
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

"""A summary of a stretch of one session: derived from its messages, never a record of its own."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from retentia.model.ids import RecordId
from retentia.model.message import JSON

SESSION_LEVEL = 0
"""The level of the record of a whole session, which a checkpoint or its end writes."""
SEGMENT_LEVEL = 1
"""The level of what is made from messages; level n + 1 is made from what level n says of several stretches."""
OVERVIEW_LEVEL = 99
"""The level of the one summary of a long session, which is made anew from the highest ones below it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What is said of the messages with `seq` in [first_seq, last_seq] of one session.

    `made_by` is "extractive", or names the model. `messages` counts what it covers and `tokens` what that would have
    taken in a prompt. `started_at` and `ended_at` bound when it was said, `created_at` is when the summary was written;
    UTC microseconds. `body` holds what only its kind has: literals, decisions, open items.
    """

    id: RecordId
    level: int
    first_seq: int
    last_seq: int
    text: str
    made_by: str
    messages: int
    tokens: int
    started_at: int
    ended_at: int
    created_at: int
    body: Mapping[str, JSON] = field(default_factory=dict)

    def covers(self, seq: int) -> bool:
        """Tell whether a message lies in its stretch."""
        return self.first_seq <= seq <= self.last_seq

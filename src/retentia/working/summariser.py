"""What writes summaries: by rules from the sentences themselves, or by a chat model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from retentia.model.message import JSON
from retentia.model.record import MessageRecord
from retentia.model.summary import Summary


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What a summariser says of a stretch: `body` holds literals, decisions and open items with their sources."""

    text: str
    made_by: str
    body: Mapping[str, JSON] = field(default_factory=dict)


class Summariser(Protocol):
    """Summarises stretches of sessions; safe to call from several threads.

    Raises SummaryFailed, or ModelFailed, when there is nothing that could be kept: the old state then stays.
    """

    def segment(self, messages: Sequence[MessageRecord], *, words: int) -> Draft:
        """Say in at most so many words what the messages say; made from them alone."""
        ...

    def boundaries(self, messages: Sequence[MessageRecord]) -> Sequence[int]:
        """Return after how many of the messages a phase of the conversation ends, in order."""
        ...

    def merge(self, below: Sequence[Summary], *, words: int) -> Draft:
        """Say in at most so many words what the summaries say of neighbouring stretches, in their order."""
        ...

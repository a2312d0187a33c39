"""The manifest of a reply: what the model saw when it was written, by ids alone."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from retentia.model.ids import RecordId
from retentia.model.record import MessageRecord, Record
from retentia.model.summary import Summary


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One record, message or summary that was shown, in which part, with which score and under which short id.

    The part "request" is what the reply answers. `record_id` is None where it was erased since. `version` is that of an
    item when it was shown, 1 for what never changes.
    """

    record_id: RecordId | None
    kind: str
    part: str
    label: str = ""
    score: float = 0.0
    version: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What one prompt was made of. `missing` counts the messages of the session that it named as not shown.

    `tokens` are those of the prompt by the counter that `counted` names, `tokens_by_part` adds up to them.
    """

    seen: tuple[Seen, ...]
    budget: int
    tokens: int
    counted: str
    tokens_by_part: Mapping[str, int] = field(default_factory=dict)
    missing: int = 0


@dataclass(frozen=True, slots=True)
class Shown:
    """A line of the answer to why: what was shown, and what of it is still there to be looked at."""

    seen: Seen
    record: Record | Summary | None

    @property
    def is_changed(self) -> bool:
        """Whether the record is there, but no longer as the model saw it."""
        return self.record is not None and getattr(self.record, "version", 1) != self.seen.version


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """Why a reply was given: the reply, and what the model saw when it was written."""

    reply: MessageRecord
    manifest: Manifest
    shown: tuple[Shown, ...]
    created_at: int

"""What a write answers with."""

from dataclasses import dataclass
from typing import Literal, Self

from retentia.model.episode import Remembered
from retentia.model.ids import RecordId, id_text
from retentia.model.learned import Learned
from retentia.model.scope import Scope

WriteStatus = Literal["indexed", "queued", "failed"]
"""How far a write has come.

indexed: found by words and by meaning, and nothing more is to be learned from it for now; queued: durable, found by
words, meaning or what a model learns follows; failed: a job is dead.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """One input that is durable. `is_new` is False when it was already there under its key or content."""

    position: int
    id: RecordId
    is_new: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """One input that was refused, and why; nothing of it was written."""

    position: int
    code: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What is durable, what was refused, and which jobs are still to run. `notes` says what was changed on the way.

    `learned` tells what rules took from it at once; what a queued job learns is not in it. `remembered` tells of one
    thing known that was handed in how firmly it is held, where it applies, and until when.
    """

    scope: Scope
    written: tuple[Written, ...]
    failed: tuple[Failed, ...] = ()
    notes: tuple[str, ...] = ()
    job_ids: tuple[RecordId, ...] = ()
    learned: tuple[Learned, ...] = ()
    remembered: Remembered | None = None

    @classmethod
    def of_one(
        cls,
        scope: Scope,
        record_id: bytes,
        *,
        is_new: bool,
        notes: tuple[str, ...] = (),
        job_ids: tuple[RecordId, ...] = (),
    ) -> Self:
        """Answer for the one thing that was handed in."""
        written = Written(position=0, id=id_text(record_id), is_new=is_new)
        return cls(scope=scope, written=(written,), notes=notes, job_ids=job_ids)

    @property
    def ids(self) -> tuple[RecordId, ...]:
        """The ids of what is durable, in the order given."""
        return tuple(entry.id for entry in self.written)

    @property
    def id(self) -> RecordId:
        """The id, where one thing was written."""
        (only,) = self.ids
        return only

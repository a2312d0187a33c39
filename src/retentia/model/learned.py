"""What became of a candidate: learned, seen again, proposed to the person, or refused; and why, in words."""

from dataclasses import dataclass
from enum import StrEnum

from retentia.model.candidate import Candidate
from retentia.model.ids import RecordId
from retentia.model.record import Status


class Effect(StrEnum):
    """What becomes of a new claim."""

    ADD = "add"
    SEEN_AGAIN = "seen_again"
    PROPOSE = "propose"
    REFUSE = "refuse"
    END = "end"


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """What became of a candidate. `record_id` is the item that now says it, None when it was refused.

    `ended` no longer hold, `retracted` never did, `conflicts` cannot stand beside it: a person decides.
    """

    candidate: Candidate
    effect: Effect
    reason: str
    record_id: RecordId | None = None
    status: Status | None = None
    ended: tuple[RecordId, ...] = ()
    retracted: tuple[RecordId, ...] = ()
    conflicts: tuple[RecordId, ...] = ()

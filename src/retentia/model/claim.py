"""Claims: what an item says of a subject, attribute by attribute; and what became of an item, change by change."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from retentia.model.candidate import PERSON, Manner
from retentia.model.ids import RecordId
from retentia.model.message import JSON

_MANNERS = {manner.value: manner for manner in Manner}


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """`subject` has `attribute` with `value`, where `applies_to` says ("" everywhere); in the words it was said in."""

    subject: str = PERSON
    attribute: str
    value: str
    applies_to: str = ""
    manner: Manner = Manner.ASSERTED

    def body(self) -> dict[str, JSON]:
        """Return it as the body of an item holds it."""
        told: dict[str, JSON] = {"subject": self.subject, "attribute": self.attribute, "value": self.value}
        if self.applies_to:
            told["applies_to"] = self.applies_to
        if self.manner is not Manner.ASSERTED:
            told["manner"] = self.manner.value
        return told


def claim_of(body: Mapping[str, JSON]) -> Claim | None:
    """Read the claim in the body of an item; None where it makes none."""
    subject, attribute, value = body.get("subject"), body.get("attribute"), body.get("value")
    if not (isinstance(subject, str) and isinstance(attribute, str) and isinstance(value, str)):
        return None
    if not (subject and attribute and value):
        return None
    manner = body.get("manner", "")
    return Claim(
        subject=subject,
        attribute=attribute,
        value=value,
        applies_to=str(body.get("applies_to") or ""),
        manner=_MANNERS.get(manner, Manner.ASSERTED) if isinstance(manner, str) else Manner.ASSERTED,
    )


class Change(StrEnum):
    """What became of an item. ADDED is its first version; after SEEN_AGAIN it holds since an earlier time."""

    ADDED = "added"
    SEEN_AGAIN = "seen_again"
    CONFIRMED = "confirmed"
    REJECTED = "rejected"
    SUPERSEDED = "superseded"
    ENDED = "ended"
    CORRECTED = "corrected"
    RETRACTED = "retracted"
    NARROWED = "narrowed"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """One change of an item: from `version` on it is as it says, at `changed_at` (UTC microseconds, recorded time).

    `before` has what was changed as it was before. `cause` is the record that brought the change, None where a person
    or a rule did without one, or it was erased since.
    """

    record_id: RecordId
    version: int
    changed_at: int
    change: Change
    author: str = ""
    reason: str = ""
    cause: RecordId | None = None
    before: Mapping[str, JSON]

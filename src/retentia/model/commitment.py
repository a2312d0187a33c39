"""Commitments: what somebody is to do, by when, and how it ended. The clock tells which is overdue; it is not kept."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal, Self

from retentia.errors import InvalidMoment
from retentia.model.candidate import PERSON
from retentia.model.ids import RecordId
from retentia.model.message import JSON
from retentia.model.provenance import Source
from retentia.model.time import Moment

Outcome = Literal["done", "dropped"]
"""How a commitment ended: it was kept, or nobody means to keep it any more."""


class CommitmentStatus(StrEnum):
    """Where a commitment stands at some time."""

    OPEN = "open"
    OVERDUE = "overdue"
    DONE = "done"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Closing:
    """How a commitment ended, and the words that say so."""

    outcome: Outcome
    evidence: Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Commitment:
    """What `owner` is to do, in the words it was said in; `due` is the time in which it must be done at the latest."""

    what: str
    owner: str = PERSON
    due: Moment | None = None
    closing: Closing | None = None

    def status(self, now: int) -> CommitmentStatus:
        """Tell where it stands at an instant (UTC microseconds); it is overdue when its due time is over."""
        if self.closing is not None:
            return CommitmentStatus(self.closing.outcome)
        is_late = self.due is not None and now >= self.due.end
        return CommitmentStatus.OVERDUE if is_late else CommitmentStatus.OPEN

    def is_open(self, now: int) -> bool:
        """Tell whether somebody has still to do it, late or not."""
        return self.status(now) in (CommitmentStatus.OPEN, CommitmentStatus.OVERDUE)

    def closed(self, outcome: Outcome, evidence: Source) -> Self:
        """Return it as ended. What ended before ends again by the later words: "done" may turn out to be "dropped"."""
        return replace(self, closing=Closing(outcome=outcome, evidence=evidence))

    def reopened(self) -> Self:
        """Return it as open."""
        return replace(self, closing=None)

    def body(self) -> dict[str, JSON]:
        """Return it, without `what`, as the body of an item holds it; a due time as its ISO 8601 text and zone."""
        told: dict[str, JSON] = {"owner": self.owner}
        if self.due is not None:
            told |= {"due": self.due.iso(), "due_zone": self.due.zone}
        if self.closing is not None:
            source = self.closing.evidence
            told["closing"] = {
                "outcome": self.closing.outcome,
                "kind": source.kind,
                "id": source.id,
                "start": source.start,
                "end": source.end,
            }
        return told


def commitment_of(what: str, body: Mapping[str, JSON]) -> Commitment:
    """Read a commitment back from its words and the body of its item; what a body says wrongly is left out."""
    owner = body.get("owner")
    return Commitment(
        what=what,
        owner=owner if isinstance(owner, str) and owner else PERSON,
        due=_due(body.get("due"), body.get("due_zone")),
        closing=_closing(body.get("closing")),
    )


def _due(text: JSON, zone: JSON) -> Moment | None:
    if not isinstance(text, str) or not text:
        return None
    try:
        return Moment.parse(text, zone=zone if isinstance(zone, str) and zone else "UTC")
    except InvalidMoment:
        return None


def _closing(told: JSON) -> Closing | None:
    if not isinstance(told, Mapping):
        return None
    start, end = told.get("start"), told.get("end")
    evidence = Source(
        kind=str(told.get("kind", "")),
        id=RecordId(str(told.get("id", ""))),
        start=start if isinstance(start, int) else 0,
        end=end if isinstance(end, int) else 0,
        role="closing",
    )
    match told.get("outcome"):
        case "done":
            return Closing(outcome="done", evidence=evidence)
        case "dropped":
            return Closing(outcome="dropped", evidence=evidence)
        case _:
            return None

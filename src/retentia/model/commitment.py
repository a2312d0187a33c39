"""Commitments: what somebody is to do, by when, and how it ended. The clock tells which is overdue; it is not kept."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from retentia.model.candidate import PERSON
from retentia.model.message import JSON
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
class Commitment:
    """What `owner` is to do, in the words it was said in; `due` is the time in which it must be done at the latest.

    Whether and how it ended is told by the changes of its item.
    """

    what: str
    owner: str = PERSON
    due: Moment | None = None

    def status(self, now: int) -> CommitmentStatus:
        """Tell where it stands at an instant (UTC microseconds) as long as it has not ended: late or not."""
        is_late = self.due is not None and now >= self.due.end
        return CommitmentStatus.OVERDUE if is_late else CommitmentStatus.OPEN


def commitment_of(what: str, body: Mapping[str, JSON]) -> Commitment:
    """Read a commitment from its words and the body of its item; an owner that is no name is the person."""
    owner = body.get("owner")
    return Commitment(what=what, owner=owner if isinstance(owner, str) and owner else PERSON)

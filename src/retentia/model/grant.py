"""Grants: what of one memory someone else may do, of which kinds, and until when."""

from dataclasses import dataclass
from enum import StrEnum

from retentia.model.ids import RecordId
from retentia.model.record import Kind
from retentia.model.scope import Scope


class Right(StrEnum):
    """What may be done in a memory that belongs to another."""

    READ = "read"
    WRITE = "write"
    ERASE = "erase"
    EXPORT = "export"
    PERSONAL = "personal"
    DECIDE = "decide"

    @property
    def shows(self) -> bool:
        """Whether the right only lets something be seen: then it also holds for what a read of the scope shows."""
        return self in (Right.READ, Right.PERSONAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """A right to the memory `scope`, held by whoever sits in the scope `to`, or by the principal with the id `to`.

    Reading a granted scope shows what reading it always shows: an agent's own part and what the user's agents share.
    Writing, erasing and exporting hold for exactly that scope. PERSONAL lets personal data be counted and found, and
    support see it unmasked. DECIDE lets someone confirm, reject, correct and narrow in the person's name, and see what
    waits for that. Times in UTC microseconds; a grant holds before `expires_at`.
    """

    id: RecordId
    scope: Scope
    to: Scope | str
    rights: frozenset[Right]
    kinds: frozenset[Kind]
    granted_by: str
    granted_at: int
    expires_at: int
    revoked_at: int | None = None

    def holds_at(self, now: int) -> bool:
        """Whether the grant is neither revoked nor expired."""
        return self.revoked_at is None and now < self.expires_at

    def covers(self, scope: Scope, right: Right) -> bool:
        """Whether the grant gives a right to a scope."""
        return right in self.rights and (scope == self.scope or (right.shows and scope == self.scope.shared()))

"""Who acts, and what they may do: ownership, roles and grants. Pure; nothing is permitted that no rule here permits."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from retentia.errors import InvalidInput
from retentia.model.grant import Grant, Right
from retentia.model.message import When
from retentia.model.record import Kind
from retentia.model.scope import Scope
from retentia.model.time import Moment

ALL_KINDS = frozenset(Kind)
NO_KINDS: frozenset[Kind] = frozenset()
OWNER = "owner"
"""How the audit log names the process itself, which uses a memory without a principal."""
_THE_SYSTEM = frozenset({OWNER, "recovery", "retention"})

_OPAQUE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/#-]{0,99}")


class Role(StrEnum):
    """What kind of actor a principal is.

    An agent owns one scope and sees what the user's agents share beside it. A person owns all of their own memory.
    Support reads what was granted, with a reason and until it expires, personal data masked unless that was granted,
    too. An auditor sees the audit log, which holds there are, and no memory. An admin grants, revokes and looks after a
    tenant, does what was granted, and for a reason forgets a person, holds, releases and sees custody.
    """

    AGENT = "agent"
    PERSON = "person"
    SUPPORT = "support"
    AUDITOR = "auditor"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """Someone who acts in one tenant; `seat` is the scope of an agent or a person. Raises InvalidInput.

    `id` and `reason` stay in the audit log for good, so they are opaque: the id of an account or a key, the number of a
    ticket; never a name or a sentence. Agents and persons have a `user`, agents also a `space` and an `agent`.
    """

    id: str
    role: Role | str
    tenant: str
    user: str = ""
    space: str = "default"
    agent: str = ""
    reason: str = ""
    expires_at: When | None = None
    ends_at: int | None = field(init=False, repr=False, compare=False)
    seat: Scope | None = field(init=False, repr=False, compare=False)
    _commons: Scope | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "role", _role(self.role))
        check_opaque("id of a principal", self.id)
        if self.id in _THE_SYSTEM:
            raise InvalidInput(f"{self.id!r} is how the log names what the process itself does; choose another id")
        is_seated = self.role in (Role.AGENT, Role.PERSON)
        if is_seated != bool(self.user):
            raise InvalidInput(f"a principal with the role {self.role!s} {'needs a' if is_seated else 'has no'} user")
        if self.role is not Role.AGENT and (self.space, self.agent) != ("default", ""):
            raise InvalidInput(f"only an agent is bound to a space or an agent, not the role {self.role!s}")
        seat = Scope(self.tenant, self.user or "-", self.space, self.agent)
        object.__setattr__(self, "seat", seat if is_seated else None)  # made once: every row is compared with it
        object.__setattr__(self, "_commons", seat.shared() if self.role is Role.AGENT else None)
        if self.role is Role.SUPPORT and not (self.reason and self.expires_at):
            raise InvalidInput("support needs a reason (the number of a ticket) and an expiry: reason=, expires_at=")
        if self.reason:
            check_opaque("reason", self.reason)
        ends_at = None if self.expires_at is None else Moment.parse(self.expires_at).start
        object.__setattr__(self, "ends_at", ends_at)

    def owns(self, scope: Scope) -> bool:
        """Whether a scope is the principal's own: an agent's exactly one, a person's all."""
        if self.role is Role.PERSON:
            return (scope.tenant, scope.user) == (self.tenant, self.user)
        return self.role is Role.AGENT and scope == self.seat

    def sees(self, scope: Scope) -> bool:
        """Whether the principal reads a scope without a grant: its own, and what the user's agents share beside it."""
        return self.owns(scope) or scope == self._commons

    def has(self, right: Right, scope: Scope) -> bool:
        """Whether a right is the principal's without a grant; only the person decides what is believed of them."""
        if right.shows:
            return self.sees(scope)
        return self.owns(scope) and (right is not Right.DECIDE or self.role is Role.PERSON)

    def has_ended(self, now: int) -> bool:
        """Whether the time of the principal is over."""
        return self.ends_at is not None and now >= self.ends_at

    def holds(self, grant: Grant) -> bool:
        """Whether a grant was given to this principal, or to a scope that it owns."""
        return self.owns(grant.to) if isinstance(grant.to, Scope) else grant.to == self.id


def permitted(
    principal: Principal, grants: Iterable[Grant], right: Right, scope: Scope, *, now: int
) -> frozenset[Kind]:
    """Return the kinds of records of a scope on which a principal has a right now; none when it has no right."""
    if scope.tenant != principal.tenant or principal.has_ended(now) or principal.role is Role.AUDITOR:
        return NO_KINDS
    if principal.has(right, scope):
        return ALL_KINDS
    if principal.role is Role.SUPPORT and not right.shows:
        return NO_KINDS
    holding = (grant for grant in grants if principal.holds(grant) and grant.holds_at(now))
    return NO_KINDS.union(*(grant.kinds for grant in holding if grant.covers(scope, right)))


def may_share(principal: Principal, scope: Scope, *, now: int) -> bool:
    """Whether a principal may give and take back grants of a scope: the person whose memory it is, or an admin."""
    is_theirs = principal.role is Role.PERSON and principal.owns(scope)
    return (is_theirs or may_administer(principal, scope.tenant, now=now)) and not principal.has_ended(now)


def may_administer(principal: Principal, tenant: str, *, now: int) -> bool:
    """Whether a principal may look after a tenant: its scopes, its jobs, its grants."""
    return principal.role is Role.ADMIN and principal.tenant == tenant and not principal.has_ended(now)


def may_forget_person(principal: Principal, tenant: str, user: str, *, now: int) -> bool:
    """Whether a principal may forget all of a person: the person, or an admin who says why."""
    is_theirs = principal.role is Role.PERSON and (principal.tenant, principal.user) == (tenant, user)
    is_told_to = may_administer(principal, tenant, now=now) and bool(principal.reason)
    return (is_theirs and not principal.has_ended(now)) or is_told_to


def may_hold(principal: Principal, tenant: str, *, now: int) -> bool:
    """Whether a principal may set and release legal holds: an admin who says why."""
    return may_administer(principal, tenant, now=now) and bool(principal.reason)


def may_see_custody(principal: Principal, tenant: str, *, content: bool, now: int) -> bool:
    """Whether a principal may see custody: an auditor or admin what is there, what it says who may hold."""
    return may_hold(principal, tenant, now=now) if content else may_audit(principal, tenant, now=now)


def may_audit(principal: Principal, tenant: str, *, now: int) -> bool:
    """Whether a principal may read and verify a tenant's audit log."""
    is_one = principal.role in (Role.AUDITOR, Role.ADMIN)
    return is_one and principal.tenant == tenant and not principal.has_ended(now)


def check_opaque(what: str, given: str) -> None:
    """Raise InvalidInput for what may say something about a person: the audit log keeps it for good."""
    if not isinstance(given, str) or not _OPAQUE.fullmatch(given):
        raise InvalidInput(
            f"the {what} stays in the audit log for good and must be opaque: at most 100 letters, digits and ._:/#-, "
            "such as 'key-7f3a' or 'T-1832', no name, no e-mail address, no sentence"
        )


def _role(given: Role | str) -> Role:
    try:
        return Role(given)
    except ValueError as error:
        raise InvalidInput(f"unknown role {given!r}; use one of {', '.join(Role)}") from error

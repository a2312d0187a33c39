"""Giving access and taking it back; both are always in the audit log."""

from collections.abc import Collection

from retentia.errors import InvalidInput, NotFound
from retentia.model.grant import Grant, Right
from retentia.model.ids import RecordId, id_bytes, new_id
from retentia.model.record import Kind
from retentia.model.scope import Scope
from retentia.security.access import OWNER, check_opaque
from retentia.security.audit import Access, Action, Actor, append, lock, present
from retentia.store import grants
from retentia.store.database import Database

OWNER_ACTOR = Actor(OWNER, OWNER)


def give(
    database: Database,
    actor: Actor,
    *,
    scope: Scope,
    to: Scope | str,
    rights: Collection[Right],
    kinds: Collection[Kind],
    expires_at: int,
) -> Grant:
    """Give rights to a scope; no `kinds` means all. Raises InvalidInput."""
    if isinstance(to, Scope):
        if to.tenant != scope.tenant:
            raise InvalidInput(f"a grant cannot leave its tenant: {scope} and {to}")
    else:
        check_opaque("id of a principal", to)
    if not rights:
        raise InvalidInput(f"a grant needs a right: {', '.join(Right)}")
    with database.write(scope.tenant) as transaction:
        grant = Grant(
            id=new_id(),
            scope=scope,
            to=to,
            rights=frozenset(rights),
            kinds=frozenset(kinds or Kind),
            granted_by=actor.id,
            granted_at=transaction.now,
            expires_at=expires_at,
        )
        grants.insert(transaction, grant)
        head = lock(transaction)
        if not grant.holds_at(present(transaction, head)):
            raise InvalidInput("a grant must expire later than now: expires_at=")
        entry = Access(actor=actor, action=Action.GRANT, scope=scope, ids=[id_bytes(grant.id)], at=transaction.now)
        append(transaction, [entry], head)
    return grant


def take_back(database: Database, actor: Actor, grant_id: str, *, tenant: str) -> None:
    """End a grant now; raise NotFound when there is none. An answer that is being made is not given any more."""
    raw = grant_key(grant_id)
    with database.write(tenant) as transaction:
        grant = grants.find(transaction, raw)
        if grant is None:
            raise NotFound(f"there is no grant {grant_id!r} in the tenant {tenant!r}")
        grants.revoke(transaction, raw)
        entry = Access(actor=actor, action=Action.REVOKE, scope=grant.scope, ids=[raw], at=transaction.now)
        append(transaction, [entry])


def find(database: Database, grant_id: str, *, tenant: str) -> Grant:
    """Return one grant; raise NotFound."""
    with database.read(tenant) as transaction:
        found = grants.find(transaction, grant_key(grant_id))
    if found is None:
        raise NotFound(f"there is no grant {grant_id!r} in the tenant {tenant!r}")
    return found


def listing(database: Database, tenant: str) -> list[Grant]:
    """Return every grant of a tenant, ended ones included, the oldest first."""
    with database.read(tenant) as transaction:
        return grants.listing(transaction)


def grant_key(grant_id: str) -> bytes:
    """Read the id of a grant; raise InvalidInput."""
    try:
        return id_bytes(RecordId(grant_id))
    except ValueError as error:
        raise InvalidInput(str(error)) from error

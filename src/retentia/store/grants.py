"""Grants of access: written once, read with every check, ended by being revoked."""

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Select, bindparam, or_, select, update

from retentia.model.grant import Grant, Right
from retentia.model.ids import id_bytes, id_text
from retentia.model.record import Kind
from retentia.model.scope import Scope
from retentia.store import scopes
from retentia.store.database import Transaction
from retentia.store.schema import access_grant, scope

_PARTS = ("user", "space", "agent")
_seat = scope.alias("seat")
_names = [
    table.c[part].label(f"{which}_{part}") for which, table in (("of", scope), ("seat", _seat)) for part in _PARTS
]
_given = (scope.c.tenant == access_grant.c.tenant) & (scope.c.scope_id == access_grant.c.scope_id)
_holding = (_seat.c.tenant == access_grant.c.tenant) & (_seat.c.scope_id == access_grant.c.to_scope)
# With the names of the scopes that grants give and of those that hold them; a scope that was erased gives nothing.
_GRANTS: Select[Any] = (
    select(access_grant, *_names)
    .select_from(access_grant.join(scope, _given).outerjoin(_seat, _holding))
    .where(access_grant.c.tenant == bindparam("tenant"))
)
_ONE = _GRANTS.where(access_grant.c.id == bindparam("id"))
_ALL = _GRANTS.order_by(access_grant.c.granted_at, access_grant.c.id)
_HELD = _GRANTS.where(
    access_grant.c.revoked_at.is_(None),
    or_(access_grant.c.to_principal == bindparam("principal"), _seat.c.user == bindparam("user")),
)


def insert(transaction: Transaction, grant: Grant) -> None:
    """Keep a grant, creating the scopes it names where they are new."""
    named = sorted((one for one in (grant.scope, grant.to) if isinstance(one, Scope)), key=str)
    numbers = {name: scopes.ensure(transaction, name) for name in named}  # in one order: none waits for the other
    transaction.insert_new(
        access_grant,
        {
            "tenant": transaction.tenant,
            "id": id_bytes(grant.id),
            "scope_id": numbers[grant.scope],
            "to_scope": numbers[grant.to] if isinstance(grant.to, Scope) else 0,
            "to_principal": "" if isinstance(grant.to, Scope) else grant.to,
            "rights": _joined(grant.rights),
            "kinds": "" if grant.kinds == frozenset(Kind) else _joined(grant.kinds),
            "granted_by": grant.granted_by,
            "granted_at": grant.granted_at,
            "expires_at": grant.expires_at,
        },
    )


def revoke(transaction: Transaction, grant_id: bytes) -> None:
    """End a grant now; one that was ended before stays as it is."""
    transaction.run(
        update(access_grant)
        .where(
            access_grant.c.tenant == transaction.tenant,
            access_grant.c.id == grant_id,
            access_grant.c.revoked_at.is_(None),
        )
        .values(revoked_at=transaction.now)
    )


def find(transaction: Transaction, grant_id: bytes) -> Grant | None:
    """Return one grant, or None."""
    found = _read(transaction, _ONE, id=grant_id)
    return found[0] if found else None


def listing(transaction: Transaction) -> list[Grant]:
    """Return every grant of the tenant, ended ones included, the oldest first."""
    return _read(transaction, _ALL)


def held(transaction: Transaction, *, principal: str, user: str) -> list[Grant]:
    """Return the grants that were not revoked and are held by a principal, or by scopes of a user ("" for none)."""
    return _read(transaction, _HELD, principal=principal, user=user)


def _read(transaction: Transaction, statement: Select[Any], **params: object) -> list[Grant]:
    found = []
    for row in transaction.rows(statement, {"tenant": transaction.tenant, **params}):
        if row.to_scope and row.seat_user is None:
            continue  # the scope that held it was erased
        tenant = transaction.tenant
        to = Scope(tenant, row.seat_user, row.seat_space, row.seat_agent) if row.to_scope else row.to_principal
        found.append(
            Grant(
                id=id_text(row.id),
                scope=Scope(tenant, row.of_user, row.of_space, row.of_agent),
                to=to,
                rights=frozenset(map(Right, _split(row.rights))),
                kinds=frozenset(map(Kind, _split(row.kinds))) or frozenset(Kind),
                granted_by=row.granted_by,
                granted_at=row.granted_at,
                expires_at=row.expires_at,
                revoked_at=row.revoked_at,
            )
        )
    return found


def _joined(values: Iterable[str]) -> str:
    return ",".join(sorted(values))


def _split(text: str) -> Sequence[str]:
    return text.split(",") if text else ()

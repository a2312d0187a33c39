"""Scopes: whose rows they are, which version they have, what changed since."""

import secrets
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Row, bindparam, delete, func, insert, or_, select, update

from retentia.model.scope import Scope
from retentia.store.database import Transaction
from retentia.store.schema import change, content_key, due, generation, job, scope, session, summary

NEVER = 2**62
"""The time at which a tenant without jobs is due, and the version that a scope never has."""
CHANGES_KEPT = 256
"""How many writes a process may be behind before it loads a scope anew."""

_FIND = select(scope.c.scope_id).where(
    scope.c.tenant == bindparam("tenant"),
    scope.c.user == bindparam("user"),
    scope.c.space == bindparam("space"),
    scope.c.agent == bindparam("agent"),
)
_FIND_TO_WRITE = _FIND.with_for_update()
_SERVING = select(generation.c.id).where(generation.c.state == "serving").scalar_subquery()
_VIEW = (
    select(scope.c.scope_id, scope.c.version, scope.c.agent, _SERVING.label("generation"))
    .where(
        scope.c.tenant == bindparam("tenant"),
        scope.c.user == bindparam("user"),
        scope.c.space == bindparam("space"),
        or_(scope.c.agent == "", scope.c.agent == bindparam("agent")),
    )
    .order_by(scope.c.agent)
)
_BUMP = (
    update(scope)
    .where(scope.c.tenant == bindparam("t"), scope.c.scope_id == bindparam("s"))
    .values(version=scope.c.version + 1)
    .returning(scope.c.version)
)
_NOTE_CHANGE = insert(change)
_CHANGES = (
    select(change.c.version, change.c.record_ids)
    .where(
        change.c.tenant == bindparam("tenant"),
        change.c.scope_id == bindparam("scope_id"),
        change.c.version > bindparam("since"),
    )
    .order_by(change.c.version)
)
_FORGET_CHANGES = delete(change).where(
    change.c.tenant == bindparam("t"), change.c.scope_id == bindparam("s"), change.c.version <= bindparam("v")
)


@dataclass(frozen=True, slots=True)
class ScopeVersion:
    """One scope of a view, how many writes it has seen, and the generation of vectors that serves (0: none)."""

    scope_id: int
    version: int
    agent: str
    generation: int


class Touched(NamedTuple):
    """A record that a write touched: the version it gave the scope, and the record's place among those it touched."""

    scope_id: int
    version: int
    place: int
    record_id: bytes


def find(transaction: Transaction, name: Scope) -> int | None:
    """Return the number of a scope, or None when nothing was ever written to it."""
    row = transaction.first(_FIND, _named(name))
    return None if row is None else int(row.scope_id)


def ensure(transaction: Transaction, name: Scope) -> int:
    """Return the number of a scope, creating it when it is new; it is locked like by `lock`."""
    known = transaction.first(_FIND_TO_WRITE, _named(name))
    if known is not None:
        return int(known.scope_id)
    fresh = {"scope_id": secrets.randbits(62) + 1, "version": 0, "created_at": transaction.now}
    transaction.insert_new(scope, {**_named(name), **fresh})
    transaction.insert_new(due, {"tenant": transaction.tenant, "next_at": NEVER})
    return transaction.number(_FIND_TO_WRITE, _named(name))


def lock(transaction: Transaction, scope_ids: Collection[int]) -> None:
    """Keep other writers out of scopes until this transaction ends: what it read in them is still true when it writes.

    Do this first: SQLite has one writer anyway, and PostgreSQL could otherwise let two wait for each other.
    """
    transaction.rows(
        select(scope.c.scope_id)
        .where(scope.c.tenant == transaction.tenant, scope.c.scope_id.in_(scope_ids))
        .order_by(scope.c.scope_id)
        .with_for_update()
    )


def view(transaction: Transaction, name: Scope) -> list[ScopeVersion]:
    """Return what a read of this scope may see: its own rows and what the user's agents share."""
    return [
        ScopeVersion(scope_id, version, agent, serving or 0)
        for scope_id, version, agent, serving in transaction.tuples(_VIEW, _named(name))
    ]


def versions(transaction: Transaction, scope_ids: Collection[int]) -> dict[int, int]:
    """Return how many writes each of some scopes of the tenant has seen; one that was removed is left out."""
    rows = transaction.rows(
        select(scope.c.scope_id, scope.c.version).where(
            scope.c.tenant == transaction.tenant, scope.c.scope_id.in_(scope_ids)
        )
    )
    return {row.scope_id: row.version for row in rows}


def all_scopes(transaction: Transaction) -> list[tuple[int, Scope]]:
    """Return every scope of the transaction's tenant."""
    rows = transaction.rows(
        select(scope).where(scope.c.tenant == transaction.tenant).order_by(scope.c.user, scope.c.space, scope.c.agent)
    )
    return [(row.scope_id, _name(row)) for row in rows]


def first_made_at(transaction: Transaction) -> int | None:
    """Return when the first scope of the tenant was made, in UTC microseconds; None where it has none."""
    row = transaction.first(select(func.min(scope.c.created_at)).where(scope.c.tenant == transaction.tenant))
    return None if row is None or row[0] is None else int(row[0])


def named(transaction: Transaction, scope_ids: Collection[int]) -> dict[int, Scope]:
    """Return scopes by number."""
    here = select(scope).where(scope.c.tenant == transaction.tenant, scope.c.scope_id.in_(scope_ids))
    return {row.scope_id: _name(row) for row in transaction.rows(here)}


def with_agents(transaction: Transaction, scope_ids: Collection[int]) -> dict[int, Scope]:
    """Return scopes by number, and with what agents share the scopes of these agents: they may cite it."""
    here = scope.c.tenant == transaction.tenant
    found = named(transaction, scope_ids)
    for name in [name for name in found.values() if not name.agent]:
        rows = transaction.rows(select(scope).where(here, scope.c.user == name.user, scope.c.space == name.space))
        found.update((row.scope_id, _name(row)) for row in rows)
    return found


def record_change(transaction: Transaction, scope_id: int, record_ids: Iterable[bytes]) -> int:
    """Give the scope its next version and note which records this write touched; return the version."""
    version = transaction.number(_BUMP, {"t": transaction.tenant, "s": scope_id})
    joined = b"".join(record_ids)
    transaction.touched.append((scope_id, joined))
    transaction.run(
        _NOTE_CHANGE,
        {
            "tenant": transaction.tenant,
            "scope_id": scope_id,
            "version": version,
            "record_ids": joined,
        },
    )
    if version % CHANGES_KEPT == 0:
        transaction.run(_FORGET_CHANGES, {"t": transaction.tenant, "s": scope_id, "v": version - CHANGES_KEPT})
    return version


def changed_since(transaction: Transaction, scope_id: int, version: int, *, current: int) -> set[bytes] | None:
    """Return the records touched after `version`, or None when that is no longer known."""
    rows = transaction.rows(_CHANGES, {"tenant": transaction.tenant, "scope_id": scope_id, "since": version})
    if len(rows) != current - version:
        return None
    return {record_id for row in rows for record_id in split_ids(row.record_ids)}


def touched_since(transaction: Transaction, scope_id: int, version: int, *, current: int) -> list[Touched] | None:
    """Return what was touched after a version in the order it was, or None when that is no longer known."""
    rows = transaction.rows(_CHANGES, {"tenant": transaction.tenant, "scope_id": scope_id, "since": version})
    if len(rows) != current - version:
        return None
    return [
        Touched(scope_id, row.version, place, record_id)
        for row in rows
        for place, record_id in enumerate(split_ids(row.record_ids))
    ]


def split_ids(joined: bytes) -> Sequence[bytes]:
    """Cut joined ids back into 16 bytes each."""
    return [joined[at : at + 16] for at in range(0, len(joined), 16)]


def _name(row: Row[Any]) -> Scope:
    return Scope(row.tenant, row.user, row.space, row.agent)


def _named(name: Scope) -> dict[str, object]:
    return {"tenant": name.tenant, "user": name.user, "space": name.space, "agent": name.agent}


def remove(transaction: Transaction, scope_id: int) -> None:
    """Remove a scope without records: its name, the names of its sessions, its jobs, its key, and its changes."""
    for table in (session, summary, change, job, content_key, scope):
        transaction.run(delete(table).where(table.c.tenant == transaction.tenant, table.c.scope_id == scope_id))

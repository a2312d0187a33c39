"""Legal holds, and the custody in which the content of what was erased under one is kept, where no read looks."""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Row, delete, func, insert, select, update

from retentia.model.hold import InCustody
from retentia.model.ids import id_text
from retentia.model.record import Kind
from retentia.model.scope import Scope
from retentia.store import records
from retentia.store.bulk import insert_many
from retentia.store.database import Transaction
from retentia.store.packed import packed
from retentia.store.schema import custody, hold


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldRow:
    """A hold as it is stored, its scope by number."""

    id: bytes
    scope_id: int
    reason: str
    created_at: int


def set_hold(transaction: Transaction, row: HoldRow) -> None:
    """Keep a hold; the scope must be locked, so that no erasure misses it."""
    values = {"id": row.id, "scope_id": row.scope_id, "reason": row.reason, "created_at": row.created_at}
    transaction.run(insert(hold), {"tenant": transaction.tenant, **values})


def holds(transaction: Transaction, scope_ids: Collection[int] | None = None) -> list[HoldRow]:
    """Return the holds of the tenant, or those of some scopes, the oldest first."""
    statement = select(hold).where(hold.c.tenant == transaction.tenant).order_by(hold.c.created_at, hold.c.id)
    if scope_ids is not None:
        statement = statement.where(hold.c.scope_id.in_(scope_ids))
    return [
        HoldRow(id=bytes(row.id), scope_id=row.scope_id, reason=row.reason, created_at=row.created_at)
        for row in transaction.rows(statement)
    ]


def take(transaction: Transaction, name: Scope, held_by: HoldRow, going: Mapping[Kind, Collection[bytes]]) -> None:
    """Take records that are about to be erased into custody."""
    view = records.View({held_by.scope_id: name})
    for kind, some in going.items():
        for rows in records.stored(transaction, view, kind, some):
            taken = [
                {
                    "tenant": transaction.tenant,
                    "scope_id": held_by.scope_id,
                    "id": row["id"],
                    "erased_at": transaction.now,
                    "hold_id": held_by.id,
                    "kind": kind.value,
                    "content": packed(row),
                }
                for row in rows
            ]
            insert_many(transaction, custody, taken)


def take_from_bin(transaction: Transaction, held_by: HoldRow, binned: Iterable[Row[Any]]) -> None:
    """Take rows of the bin of the held scope, which are about to be purged, into custody."""
    taken = [
        {
            "tenant": transaction.tenant,
            "scope_id": held_by.scope_id,
            "id": row.id,
            "erased_at": transaction.now,
            "hold_id": held_by.id,
            "kind": row.kind,
            "content": row.content,
        }
        for row in binned
    ]
    insert_many(transaction, custody, taken)


def release(transaction: Transaction, released: HoldRow) -> list[bytes]:
    """End a hold and purge what no other hold of its scope keeps; return the ids of what was purged, in order."""
    transaction.run(delete(hold).where(hold.c.tenant == transaction.tenant, hold.c.id == released.id))
    here = _within(transaction, released.scope_id)
    if others := holds(transaction, [released.scope_id]):
        transaction.run(update(custody).where(*here, custody.c.hold_id == released.id).values(hold_id=others[0].id))
        return []
    purged = sorted({bytes(row.id) for row in transaction.rows(select(custody.c.id).where(*here))})
    transaction.run(delete(custody).where(*here))
    return purged


def count(transaction: Transaction, scope_id: int) -> int:
    """Count what is in custody of a scope."""
    return transaction.number(select(func.count()).select_from(custody).where(*_within(transaction, scope_id)))


def listing(transaction: Transaction, named: Mapping[int, Scope], *, content: bool) -> list[InCustody]:
    """Return what is in custody of some scopes in the order it was erased; its content only where that is asked for."""
    columns = [column for column in custody.c if content or column is not custody.c.content]
    statement = select(*columns).where(custody.c.tenant == transaction.tenant)
    return [
        InCustody(
            id=id_text(row.id),
            kind=Kind(row.kind),
            scope=named[row.scope_id],
            hold=id_text(row.hold_id),
            erased_at=row.erased_at,
            content=json.loads(row.content) if content else None,
        )
        for row in transaction.rows(statement.order_by(custody.c.erased_at, custody.c.id))
    ]


def _within(transaction: Transaction, scope_id: int) -> tuple[ColumnElement[bool], ...]:
    return custody.c.tenant == transaction.tenant, custody.c.scope_id == scope_id

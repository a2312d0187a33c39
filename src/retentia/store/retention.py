"""Which records are due, and moving their dates."""

from collections.abc import Collection
from typing import NamedTuple

from sqlalchemy import Table, select, update

from retentia.errors import Conflict
from retentia.model.record import Kind
from retentia.store.database import Transaction, batches
from retentia.store.records import RECORD_TABLES, TABLES, View
from retentia.store.schema import derived_from, item
from retentia.store.topics import MEMBER

_GOING = 0
"""The date of a record that is being erased: nobody can keep it any more."""


class Due(NamedTuple):
    """A record that has expired, and its scope."""

    table: Table
    scope_id: int
    record_id: bytes


def expired(transaction: Transaction, *, limit: int) -> list[Due]:
    """Return records of the tenant that have expired, the longest ago first, at most so many of each table."""
    found: list[Due] = []
    for table in RECORD_TABLES:
        statement = (
            select(table.c.scope_id, table.c.id)
            .where(table.c.tenant == transaction.tenant, table.c.expires_at <= transaction.now)
            .order_by(table.c.expires_at, table.c.id)
            .limit(limit)
        )
        found += [Due(table, row.scope_id, bytes(row.id)) for row in transaction.rows(statement)]
    return found


def supporting(transaction: Transaction, record_ids: Collection[bytes]) -> set[bytes]:
    """Return those of the records from which others are derived; what a topic quotes does not stay for its sake."""
    statement = (
        select(derived_from.c.parent_id)
        .distinct()
        .where(derived_from.c.tenant == transaction.tenant, derived_from.c.role != MEMBER)
    )
    return {
        bytes(row.parent_id)
        for some in batches(record_ids)
        for row in transaction.rows(statement.where(derived_from.c.parent_id.in_(some)))
    }


def claim(transaction: Transaction, table: Table, scope_id: int, record_ids: Collection[bytes]) -> list[bytes]:
    """Mark records that are still expired as going, so that nobody keeps them meanwhile; return which."""
    statement = (
        update(table)
        .where(
            table.c.tenant == transaction.tenant,
            table.c.scope_id == scope_id,
            table.c.expires_at <= transaction.now,
        )
        .values(expires_at=_GOING)
        .returning(table.c.id)
    )
    return [
        bytes(row.id) for some in batches(record_ids) for row in transaction.rows(statement.where(table.c.id.in_(some)))
    ]


def postpone(
    transaction: Transaction, table: Table, scope_id: int, record_ids: Collection[bytes], *, until: int
) -> None:
    """Let records that have expired live on for a while."""
    statement = (
        update(table)
        .where(
            table.c.tenant == transaction.tenant,
            table.c.scope_id == scope_id,
            table.c.expires_at <= transaction.now,
        )
        .values(expires_at=until)
    )
    for some in batches(record_ids):
        transaction.run(statement.where(table.c.id.in_(some)))


def keep(transaction: Transaction, view: View, kind: Kind, record_id: bytes, *, until: int | None) -> None:
    """Keep a record until a time, or for ever; it is reviewed no more. Raises Conflict when it is being erased."""
    table = TABLES[kind]
    kept = transaction.run(
        update(table)
        .where(
            table.c.tenant == transaction.tenant,
            table.c.scope_id.in_(view.scope_ids),
            table.c.id == record_id,
            table.c.expires_at.is_distinct_from(_GOING),
        )
        .values(review_at=None, expires_at=until)
    )
    if not kept:
        raise Conflict("the record has expired and is being erased; it cannot be kept any more")


def extend(transaction: Transaction, scope_id: int, item_id: bytes, *, until: int | None) -> bool:
    """Let an item go later, its review as it is; False where it is being erased already."""
    statement = update(item).where(
        item.c.tenant == transaction.tenant,
        item.c.scope_id == scope_id,
        item.c.id == item_id,
        item.c.expires_at.is_distinct_from(_GOING),
    )
    return transaction.run(statement.values(expires_at=until)) == 1


def due_for_review(transaction: Transaction, view: View, *, limit: int) -> dict[Kind, list[bytes]]:
    """Return the ids of records of a view whose review is due, the longest first, by kind."""
    due: list[tuple[int, Kind, bytes]] = []
    for table in RECORD_TABLES:
        columns = (table.c.review_at, table.c.id, *([item.c.kind] if table is item else []))
        statement = (
            select(*columns)
            .where(
                table.c.tenant == transaction.tenant,
                table.c.scope_id.in_(view.scope_ids),
                table.c.review_at <= transaction.now,
            )
            .order_by(table.c.review_at, table.c.id)
            .limit(limit)
        )
        due += [
            (row.review_at, Kind(row.kind if table is item else table.name), bytes(row.id))
            for row in transaction.rows(statement)
        ]
    found: dict[Kind, list[bytes]] = {}
    for _, kind, record_id in sorted(due)[:limit]:
        found.setdefault(kind, []).append(record_id)
    return found

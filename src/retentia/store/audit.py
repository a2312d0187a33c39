"""The rows of the audit log: appended and read, never changed; and the end of each tenant's chain.

No statement here, or anywhere, updates or deletes an entry, and both databases refuse one: SQLite by triggers,
PostgreSQL because the role that owns the table took the rights from itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, bindparam, insert, select, update

from retentia.store.database import Rows, Transaction
from retentia.store.schema import audit_entry, audit_head

_HEAD = select(audit_head.c.seq, audit_head.c.at, audit_head.c.hash).where(audit_head.c.tenant == bindparam("tenant"))
_LOCK_HEAD = _HEAD.with_for_update()
_MOVE_HEAD = (
    update(audit_head)
    .where(audit_head.c.tenant == bindparam("t"))
    .values(seq=bindparam("to_seq"), at=bindparam("to_at"), hash=bindparam("to_hash"))
)
_APPEND = insert(audit_entry)
_PAGE: Select[Any] = (
    select(audit_entry.c.seq, audit_entry.c.entry, audit_entry.c.hash)
    .where(audit_entry.c.tenant == bindparam("tenant"), audit_entry.c.seq > bindparam("after"))
    .order_by(audit_entry.c.seq)
    .limit(bindparam("limit"))
)


@dataclass(frozen=True, slots=True)
class Head:
    """The end of a chain: the number and hash of the last entry (0 without any), and the latest time it has seen."""

    seq: int
    at: int
    hash: bytes


def head(transaction: Transaction) -> Head | None:
    """Return the end of the tenant's chain, or None when nothing was ever logged."""
    row = transaction.first(_HEAD, {"tenant": transaction.tenant})
    return None if row is None else Head(row.seq, row.at, bytes(row.hash))


def lock_head(transaction: Transaction, *, first: bytes) -> Head:
    """Return the end of the tenant's chain, which nobody else moves until this transaction ends.

    `first` is what a new chain begins with.
    """
    key = {"tenant": transaction.tenant}
    row = transaction.first(_LOCK_HEAD, key)
    if row is None:
        transaction.insert_new(audit_head, {**key, "seq": 0, "at": 0, "hash": first})
        (row,) = transaction.rows(_LOCK_HEAD, key)
    return Head(row.seq, row.at, bytes(row.hash))


def append(transaction: Transaction, entries: Sequence[tuple[int, bytes, bytes]], *, at: int) -> None:
    """Append entries, each with its number and hash, to a chain whose head is locked."""
    rows = [
        {"tenant": transaction.tenant, "seq": seq, "entry": entry, "hash": digest} for seq, entry, digest in entries
    ]
    transaction.run(_APPEND, rows)
    seq, _, digest = entries[-1]
    transaction.run(_MOVE_HEAD, {"t": transaction.tenant, "to_seq": seq, "to_at": at, "to_hash": digest})


def page(transaction: Transaction, *, after: int, limit: int) -> Sequence[Sequence[Any]]:
    """Return (number, entry, hash) of entries in order, those with a number above `after`."""
    return transaction.tuples(_PAGE, {"tenant": transaction.tenant, "after": after, "limit": limit})


def newest(transaction: Transaction, *, before: int | None, limit: int) -> Rows:
    """Return (number, entry, hash) of the last entries, or the last before a number, the newest first."""
    statement = select(audit_entry).where(audit_entry.c.tenant == transaction.tenant)
    if before is not None:
        statement = statement.where(audit_entry.c.seq < before)
    return transaction.rows(statement.order_by(audit_entry.c.seq.desc()).limit(limit))

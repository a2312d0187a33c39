"""Erasing: a record, everything derived from it, and its bytes."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import delete, or_, select

from retentia.lifecycle.derived import DERIVED
from retentia.model.ids import RecordId, id_bytes
from retentia.model.record import Kind
from retentia.model.scope import Scope
from retentia.store import records, scopes
from retentia.store.database import Database, Transaction, batches
from retentia.store.schema import derived_from


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """What an erasure removed, by kind of row; `missing` are ids that were not there; `pending` says what remains."""

    removed: Mapping[str, int]
    missing: tuple[RecordId, ...]
    pending: str


def erase(database: Database, scope: Scope, ids: Sequence[RecordId]) -> Erasure:
    """Remove records of a scope and what has no other source, in one transaction, then their bytes.

    On SQLite no byte is left when `pending` is empty. Removing what is already gone is no error.
    """
    wanted = {id_bytes(record_id): record_id for record_id in ids}
    with database.write(scope.tenant) as transaction:
        seen = scopes.view(transaction, scope)
        scopes.lock(transaction, [entry.scope_id for entry in seen])
        removed: dict[str, int] = {}
        found: set[bytes] = set()
        for entry in seen:
            view = records.View({entry.scope_id: scope})
            there = records.kinds_of(transaction, view, wanted)
            found.update(record_id for some in there.values() for record_id in some)
            if there:
                _remove(transaction, entry.scope_id, _closure(transaction, view, there), removed)
    pending = database.reclaim() if removed else ""
    missing = tuple(name for raw, name in wanted.items() if raw not in found)
    return Erasure(removed=removed, missing=missing, pending=pending)


def _closure(
    transaction: Transaction, view: records.View, start: Mapping[Kind, Collection[bytes]]
) -> dict[Kind, set[bytes]]:
    """Add, generation by generation, the records all of whose sources go."""
    going = {kind: set(some) for kind, some in start.items()}
    while True:
        everything = {record_id for some in going.values() for record_id in some}
        orphans = _without_other_source(transaction, everything) - everything
        more = records.kinds_of(transaction, view, orphans)
        if not more:
            return going
        for kind, some in more.items():
            going.setdefault(kind, set()).update(some)


def _without_other_source(transaction: Transaction, going: set[bytes]) -> set[bytes]:
    here = derived_from.c.tenant == transaction.tenant
    children: set[bytes] = set()
    for some in batches(going):
        rows = transaction.rows(select(derived_from.c.child_id).where(here, derived_from.c.parent_id.in_(some)))
        children.update(row.child_id for row in rows)
    kept: set[bytes] = set()
    for some in batches(children):
        rows = transaction.rows(
            select(derived_from.c.child_id, derived_from.c.parent_id).where(here, derived_from.c.child_id.in_(some))
        )
        kept.update(row.child_id for row in rows if row.parent_id not in going)
    return children - kept


def _remove(
    transaction: Transaction, scope_id: int, going: Mapping[Kind, Collection[bytes]], removed: dict[str, int]
) -> None:
    everything = {record_id for some in going.values() for record_id in some}
    for kind in DERIVED.values():
        _count(removed, kind.table, kind.erase(transaction, scope_id, everything))
    for record_kind, some in going.items():
        table = records.TABLES[record_kind]
        statement = delete(table).where(table.c.tenant == transaction.tenant, table.c.scope_id == scope_id)
        gone = sum(transaction.run(statement.where(table.c.id.in_(batch))) for batch in batches(some))
        _count(removed, record_kind.value, gone)
    for batch in batches(everything):
        edges = delete(derived_from).where(
            derived_from.c.tenant == transaction.tenant,
            or_(derived_from.c.child_id.in_(batch), derived_from.c.parent_id.in_(batch)),
        )
        _count(removed, "derived_from", transaction.run(edges))
    scopes.record_change(transaction, scope_id, sorted(everything))


def _count(removed: dict[str, int], name: str, rows: int) -> None:
    if rows:
        removed[name] = removed.get(name, 0) + rows

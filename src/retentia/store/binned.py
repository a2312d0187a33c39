"""The bin: the rows of removed records, whole, until they are restored or purged. No read of a memory looks here."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Delete,
    Row,
    Select,
    Table,
    bindparam,
    delete,
    exists,
    func,
    literal_column,
    or_,
    select,
    update,
)

from retentia.model.record import Kind, Record
from retentia.model.scope import Scope
from retentia.model.turns import in_turns
from retentia.store import records, scopes
from retentia.store.among import IDS, among, parcels
from retentia.store.bulk import insert_many
from retentia.store.database import Rows, Transaction, batches
from retentia.store.packed import packed, unpacked
from retentia.store.records import TABLES, SourceKey, View
from retentia.store.schema import bin_derived_from, bin_record, derived_from, item
from retentia.store.topics import MEMBER

_GOING = 0
"""The purge time of a record that is being purged: nobody can restore it any more."""
_ANY = select(bin_record.c.id).where(bin_record.c.tenant == bindparam("tenant")).limit(literal_column("1"))
_EDGE = [column.name for column in derived_from.c]
_OF_SCOPE = (bin_record.c.tenant == bindparam("tenant"), bin_record.c.scope_id == bindparam("scope_id"))
_FIND = select(bin_record).where(*_OF_SCOPE, among(bin_record.c.id))
_IS_THERE = select(bin_record.c.id).where(*_OF_SCOPE, among(bin_record.c.id))
_TAKE_OUT = delete(bin_record).where(*_OF_SCOPE, among(bin_record.c.id))
_CLAIM = (
    update(bin_record)
    .where(
        bin_record.c.tenant == bindparam("t"),
        bin_record.c.scope_id == bindparam("s"),
        bin_record.c.purge_at <= bindparam("now"),
        among(bin_record.c.id),
    )
    .values(purge_at=_GOING)
    .returning(bin_record.c.id)
)
_EDGES_OF_TENANT = bin_derived_from.c.tenant == bindparam("tenant")
_SOURCES = select(bin_derived_from.c.child_id, bin_derived_from.c.parent_id).where(
    _EDGES_OF_TENANT, among(bin_derived_from.c.child_id)
)
_DERIVED = select(bin_derived_from.c.child_id).where(_EDGES_OF_TENANT, among(bin_derived_from.c.parent_id))
_QUOTED = (bin_derived_from.c.role == MEMBER,)
_MEMBERS = _SOURCES.where(*_QUOTED)
_QUOTING = _DERIVED.where(*_QUOTED)
_LIES_HERE = exists().where(
    bin_record.c.tenant == bin_derived_from.c.tenant,
    or_(bin_record.c.id == bin_derived_from.c.child_id, bin_record.c.id == bin_derived_from.c.parent_id),
)


@dataclass(frozen=True, slots=True)
class _Edges:
    """What is known of sources in one of the two tables, and lets itself be moved to the other."""

    read: Select[Any]
    drop: Delete

    @classmethod
    def of(cls, table: Table, *where: ColumnElement[bool]) -> "_Edges":
        either = or_(among(table.c.child_id), among(table.c.parent_id))
        which = (table.c.tenant == bindparam("tenant"), either, *where)
        return cls(select(table).where(*which), delete(table).where(*which))


_ALIVE = _Edges.of(derived_from)
_KEPT = _Edges.of(bin_derived_from)
_KEPT_OF_THE_LIVING = _Edges.of(bin_derived_from, ~_LIES_HERE)


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovalRow:
    """A removal as the rows in the bin carry it; `removed_from` is the number of the scope it was asked for."""

    id: bytes
    removed_from: int
    cause: str
    removed_at: int
    purge_at: int


def put(
    transaction: Transaction, removal: RemovalRow, name: Scope, scope_id: int, going: Mapping[Kind, Collection[bytes]]
) -> None:
    """Copy records of one scope that are about to be removed into the bin."""
    view = View({scope_id: name})
    shared = {
        "tenant": transaction.tenant,
        "scope_id": scope_id,
        "removal_id": removal.id,
        "removed_from": removal.removed_from,
        "cause": removal.cause,
        "removed_at": removal.removed_at,
        "purge_at": removal.purge_at,
    }
    for kind, some in going.items():
        for rows in records.stored(transaction, view, kind, some):
            insert_many(transaction, bin_record, [{**shared, **_columns(kind, row)} for row in rows])


def find(transaction: Transaction, scope_ids: Collection[int], ids: Collection[bytes]) -> Rows:
    """Return the rows in the bin that these ids name, of some scopes."""
    return [
        row
        for some in parcels(transaction, ids)
        for scope_id in scope_ids
        for row in transaction.rows(_FIND, {**_of_scope(transaction, scope_id), IDS: some})
    ]


def there(transaction: Transaction, scope_id: int, ids: Collection[bytes]) -> list[bytes]:
    """Return those of the ids whose record lies in the bin of one scope."""
    key = _of_scope(transaction, scope_id)
    return [
        bytes(row.id) for some in parcels(transaction, ids) for row in transaction.rows(_IS_THERE, {**key, IDS: some})
    ]


def within(
    transaction: Transaction, view: View, ids: Collection[bytes] | None = None
) -> Iterator[tuple[bytes, Record]]:
    """Yield what lies in the bin of a view by id, each record as it was; only some of it where these are named."""
    there = select(bin_record.c.id).where(*_here(transaction), bin_record.c.scope_id.in_(view.scope_ids))
    wanted = [bytes(row.id) for row in transaction.rows(there)] if ids is None else ids
    for some in batches(wanted):
        for row in find(transaction, view.scope_ids, some):
            yield bytes(row.id), as_record(row, view)


def of_removal(transaction: Transaction, removed_from: int, removal_id: bytes) -> Rows:
    """Return the rows of one removal that can still be restored."""
    return transaction.rows(
        select(bin_record)
        .where(
            *_here(transaction),
            bin_record.c.removed_from == removed_from,
            bin_record.c.removal_id == removal_id,
            bin_record.c.purge_at > transaction.now,
        )
        .order_by(bin_record.c.scope_id, bin_record.c.id)
    )


def removals(transaction: Transaction, removed_from: int) -> list[tuple[RemovalRow, dict[tuple[int, str], int]]]:
    """Return the removals asked for in a scope that can still be restored, the latest first.

    Each comes with how many records it took, by number of the scope and kind.
    """
    columns = (bin_record.c.removal_id, bin_record.c.cause, bin_record.c.removed_at, bin_record.c.purge_at)
    statement = (
        select(*columns, bin_record.c.scope_id, bin_record.c.kind, func.count().label("records"))
        .where(*_here(transaction), bin_record.c.removed_from == removed_from, bin_record.c.purge_at > transaction.now)
        .group_by(*columns, bin_record.c.scope_id, bin_record.c.kind)
        .order_by(bin_record.c.removed_at.desc(), bin_record.c.removal_id, bin_record.c.kind)
    )
    found: dict[RemovalRow, dict[tuple[int, str], int]] = {}
    for row in transaction.rows(statement):
        one = RemovalRow(
            id=bytes(row.removal_id),
            removed_from=removed_from,
            cause=row.cause,
            removed_at=row.removed_at,
            purge_at=row.purge_at,
        )
        found.setdefault(one, {})[row.scope_id, row.kind] = row.records
    return list(found.items())


def as_record(row: Row[Any], view: View) -> Record:
    """Return the record that a row of the bin keeps, as it was; the sources of items are left out."""
    table = TABLES[Kind(row.kind)]
    return records.read_back(table, unpacked(table, row.content), view)


def put_back(transaction: Transaction, rows: Sequence[Row[Any]], *, changes: Mapping[bytes, Mapping[str, Any]]) -> None:
    """Insert rows of the bin where they came from, some with other values, and take them out of the bin."""
    by_table: dict[tuple[Table, tuple[str, ...]], list[dict[str, Any]]] = {}
    for row in rows:
        table = TABLES[Kind(row.kind)]
        values = {name: one for name, one in unpacked(table, row.content).items() if name in table.c}
        values |= changes.get(bytes(row.id), {})
        by_table.setdefault((table, tuple(values)), []).append(values)
    for (table, _), some in by_table.items():
        insert_many(transaction, table, some)
    take_out(transaction, rows)


def take_out(transaction: Transaction, rows: Iterable[Row[Any]]) -> int:
    """Delete rows of the bin; return how many."""
    by_scope: dict[int, set[bytes]] = {}
    for row in rows:
        by_scope.setdefault(row.scope_id, set()).add(bytes(row.id))
    return sum(
        transaction.run(_TAKE_OUT, {**_of_scope(transaction, scope_id), IDS: some})
        for scope_id, ids in by_scope.items()
        for some in parcels(transaction, ids)
    )


def due(transaction: Transaction, *, limit: int) -> list[tuple[int, bytes]]:
    """Return what is to be purged, at most so much, as (number of the scope, id), the longest due first."""
    statement = (
        select(bin_record.c.scope_id, bin_record.c.id)
        .where(*_here(transaction), bin_record.c.purge_at <= transaction.now)
        .order_by(bin_record.c.purge_at, bin_record.c.id)
        .limit(limit)
    )
    return [(row.scope_id, bytes(row.id)) for row in transaction.rows(statement)]


def claim(transaction: Transaction, scope_id: int, ids: Collection[bytes]) -> list[bytes]:
    """Mark what is still to be purged in a locked scope, so that nobody restores it meanwhile; return which."""
    key = {"t": transaction.tenant, "s": scope_id, "now": transaction.now}
    return [bytes(row.id) for some in parcels(transaction, ids) for row in transaction.rows(_CLAIM, {**key, IDS: some})]


def count(transaction: Transaction, scope_ids: Collection[int]) -> int:
    """Count what lies in the bin of some scopes."""
    return transaction.number(
        select(func.count()).select_from(bin_record).where(*_here(transaction), bin_record.c.scope_id.in_(scope_ids))
    )


def counts(transaction: Transaction, *, overdue_at: int) -> tuple[int, int]:
    """Count what the tenant has in the bin, and what of it should have been purged by a time."""
    counted = select(func.count()).select_from(bin_record).where(*_here(transaction))
    return transaction.number(counted), transaction.number(counted.where(bin_record.c.purge_at <= overdue_at))


def keys(transaction: Transaction, scope: Scope, kind: str, session: str, wanted: Collection[str]) -> set[str]:
    """Return those keys of a source whose record lies in the bin: reading the source again brings it back no sooner."""
    scope_id = scopes.find(transaction, scope)
    if scope_id is None:
        return set()
    statement = select(bin_record.c.client_key, bin_record.c.content).where(
        *_here(transaction), bin_record.c.scope_id == scope_id, bin_record.c.kind == kind
    )
    found: set[str] = set()
    for some in batches(wanted):
        sought = [transaction.sought(bin_record.c.client_key, scope_id, key) for key in some]
        for row in transaction.rows(statement.where(bin_record.c.client_key.in_(sought))):
            if unpacked(TABLES[Kind(kind)], row.content).get("session_name", "") == session:
                found.add(row.client_key)
    return found


def removal_of(transaction: Transaction, ids: Collection[bytes]) -> dict[bytes, bytes]:
    """Return those of the ids, in whatever scope of the tenant, whose record lies in the bin, each with its removal."""
    statement = select(bin_record.c.id, bin_record.c.removal_id).where(*_here(transaction))
    return {
        bytes(row.id): bytes(row.removal_id)
        for some in batches(ids)
        for row in transaction.rows(statement.where(bin_record.c.id.in_(some)))
    }


def is_empty(transaction: Transaction) -> bool:
    """Tell whether the tenant has nothing in the bin."""
    return not transaction.tuples(_ANY, {"tenant": transaction.tenant})


def source_keys(rows: Iterable[Row[Any]], named: Mapping[int, Scope]) -> list[SourceKey]:
    """Return where those messages, tool calls and documents in the bin came from that had a key there."""
    found = []
    for row in in_turns(rows):
        table = TABLES[Kind(row.kind)]
        if table is not item and row.client_key:
            session = unpacked(table, row.content).get("session_name", "")
            found.append(SourceKey(kind=row.kind, scope=named[row.scope_id], session=session, key=row.client_key))
    return found


def has_place(transaction: Transaction, scope_id: int, session_id: bytes, places: Collection[int]) -> bool:
    """Tell whether a record in the bin has one of these places in a session."""
    statement = select(bin_record.c.id).where(
        *_here(transaction),
        bin_record.c.scope_id == scope_id,
        bin_record.c.session_id == session_id,
        bin_record.c.seq.in_(places),
    )
    return bool(transaction.rows(statement.limit(1)))


def take_edges(transaction: Transaction, ids: Collection[bytes]) -> int:
    """Move what is known of the sources of records, and of what is derived from them, into the bin; return how much."""
    return _move_edges(transaction, _ALIVE, bin_derived_from, ids)


def put_edges_back(transaction: Transaction, ids: Collection[bytes]) -> int:
    """Move back what joins these records with records that do not lie in the bin; return how much."""
    return _move_edges(transaction, _KEPT_OF_THE_LIVING, derived_from, ids)


def drop_edges(transaction: Transaction, ids: Collection[bytes]) -> int:
    """Delete what the bin knows of the sources of records, and of what is derived from them; return how much."""
    key = {"tenant": transaction.tenant}
    return sum(transaction.run(_KEPT.drop, {**key, IDS: some}) for some in parcels(transaction, ids))


def sources(transaction: Transaction, ids: Collection[bytes]) -> dict[bytes, set[bytes]]:
    """Return, by id, from which records those in the bin are derived; what is derived from none is left out."""
    found: dict[bytes, set[bytes]] = {}
    for some in parcels(transaction, ids):
        for child, parent in transaction.tuples(_SOURCES, {"tenant": transaction.tenant, IDS: some}):
            found.setdefault(bytes(child), set()).add(bytes(parent))
    return found


def derived(transaction: Transaction, ids: Collection[bytes]) -> set[bytes]:
    """Return what is derived from some records, where one of the two lies in the bin."""
    key = {"tenant": transaction.tenant}
    return {
        bytes(child)
        for some in parcels(transaction, ids)
        for (child,) in transaction.tuples(_DERIVED, {**key, IDS: some})
    }


def members(transaction: Transaction, ids: Collection[bytes]) -> dict[bytes, set[bytes]]:
    """Return, by id, which records the topics among those in the bin quote."""
    found: dict[bytes, set[bytes]] = {}
    for some in parcels(transaction, ids):
        for child, parent in transaction.tuples(_MEMBERS, {"tenant": transaction.tenant, IDS: some}):
            found.setdefault(bytes(child), set()).add(bytes(parent))
    return found


def quoting(transaction: Transaction, ids: Collection[bytes]) -> set[bytes]:
    """Return the topics that quote some records, where one of the two lies in the bin."""
    key = {"tenant": transaction.tenant}
    return {
        bytes(child)
        for some in parcels(transaction, ids)
        for (child,) in transaction.tuples(_QUOTING, {**key, IDS: some})
    }


def _columns(kind: Kind, row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "id": row["id"],
        "kind": kind.value,
        "session_id": row.get("session_id"),
        "seq": row.get("seq"),
        "client_key": row.get("client_key"),
        "recorded_at": row["recorded_at"],
        "text_bytes": len(row["text"].encode("utf-8", "surrogatepass")),
        "content": packed(row),
    }


def _move_edges(transaction: Transaction, edges: _Edges, target: Table, ids: Collection[bytes]) -> int:
    moved = 0
    for some in parcels(transaction, ids):
        key = {"tenant": transaction.tenant, IDS: some}
        rows = transaction.rows(edges.read, key)
        insert_many(transaction, target, [{name: getattr(row, name) for name in _EDGE} for row in rows])
        transaction.run(edges.drop, key)
        moved += len(rows)
    return moved


def _of_scope(transaction: Transaction, scope_id: int) -> dict[str, object]:
    return {"tenant": transaction.tenant, "scope_id": scope_id}


def _here(transaction: Transaction) -> tuple[ColumnElement[bool], ...]:
    return (bin_record.c.tenant == transaction.tenant,)

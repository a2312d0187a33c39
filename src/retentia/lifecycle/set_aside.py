"""Putting records into the bin and back: each one transaction, also when the ledger asks for it again.

What lies in the bin is whole: its row, its place in its session, what it is derived from and what is derived from it.
Passages, vectors, claims, places of personal data and summaries are not kept; they are made anew from the record. Its
revisions stay where they are.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import Row, select

from retentia.errors import Conflict
from retentia.lifecycle import closure
from retentia.lifecycle.closure import Removed
from retentia.lifecycle.ledger import Entry
from retentia.lifecycle.reindex import renew
from retentia.model.ids import id_bytes, id_text
from retentia.model.record import Kind, MessageRecord, Record
from retentia.model.retention import months_after
from retentia.model.scope import Scope
from retentia.store import binned, jobs, records, scopes, sessions, summaries
from retentia.store.binned import RemovalRow
from retentia.store.database import Transaction
from retentia.store.packed import unpacked
from retentia.store.records import TABLES, View
from retentia.store.schema import item

CAUSE_OF_THE_LEDGER = "ledger"


def set_aside(transaction: Transaction, removal: RemovalRow, ids: Collection[bytes]) -> Removed:
    """Move records into the bin, with what is derived from them alone; those that are not there are left out."""
    named = _locked(transaction, removal.removed_from)
    return closure.set_aside(transaction, named, ids, removal)


def bring_back(
    transaction: Transaction, removed_from: int, removal_id: bytes, *, strictly: bool = True
) -> tuple[list[bytes], dict[int, int]]:
    """Move what one removal put into the bin back to where it was; return the ids, none when nothing is there.

    With them come their scopes, each with its version from which on they are there. What has expired meanwhile is kept
    for another month. An item of which the same was said anew stays beside that. `strictly` raises Conflict for what is
    known only from records that lie in the bin by another removal.
    """
    named = _locked(transaction, removed_from)
    rows = [row for row in binned.of_removal(transaction, removed_from, removal_id) if row.scope_id in named]
    ids = [bytes(row.id) for row in rows]
    if strictly:
        _check_sources(transaction, ids)
    for scope_id in sorted(named):
        here = [row for row in rows if row.scope_id == scope_id]
        if not here:
            continue
        sessions.bring_back(transaction, scope_id, {bytes(row.session_id) for row in here if row.session_id})
        binned.put_back(transaction, here, changes=_changes(transaction, scope_id, here))
    binned.put_edges_back(transaction, ids)
    for scope_id in sorted(named):
        view = View({scope_id: named[scope_id]})
        found = records.fetch(transaction, view, records.kinds_of(transaction, view, ids))
        if found:
            renew(transaction, scope_id, list(found.values()))
            _summarise_anew(transaction, scope_id, list(found.values()))
    return ids, scopes.versions(transaction, sorted({row.scope_id for row in rows})) if rows else {}


def remove_again(transaction: Transaction, entry: Entry) -> Mapping[int, int]:
    """Remove what the ledger names and this store still has; return the scopes that were changed, with versions."""
    removal = RemovalRow(
        id=id_bytes(entry.id),
        removed_from=entry.scopes[0],
        cause=CAUSE_OF_THE_LEDGER,
        removed_at=entry.at,
        purge_at=entry.expires_at or transaction.now,
    )
    return set_aside(transaction, removal, [bytes.fromhex(one) for one in entry.records]).versions


def restore_again(transaction: Transaction, entry: Entry) -> Mapping[int, int]:
    """Restore what the ledger names and this store still has in its bin; return the scopes that were changed."""
    return bring_back(transaction, entry.scopes[0], id_bytes(entry.id), strictly=False)[1]


def _locked(transaction: Transaction, removed_from: int) -> dict[int, Scope]:
    named = scopes.with_agents(transaction, [removed_from])
    if named:
        scopes.lock(transaction, sorted(named))
    return named


def _check_sources(transaction: Transaction, ids: Collection[bytes]) -> None:
    coming = set(ids)
    known_from = binned.sources(transaction, coming)
    others = {source for some in known_from.values() for source in some} - coming
    away = binned.removal_of(transaction, others)
    quoted = binned.members(transaction, coming)
    for child, some in known_from.items():
        gone = (some if some <= away.keys() else set()) | (quoted.get(child, set()) & away.keys())
        if gone:
            first = id_text(away[min(gone)])
            raise Conflict(f"some of it is known only from what the removal {first!r} took; restore that one first")


def _summarise_anew(transaction: Transaction, scope_id: int, found: Sequence[Record]) -> None:
    """Drop the summaries that were made without what is there again, and queue the sessions it is in."""
    said = [record for record in found if isinstance(record, MessageRecord)]
    if not summaries.delete_covering(transaction, scope_id, [id_bytes(record.id) for record in said]):
        return
    for session_id in sorted({id_bytes(record.session_id) for record in said}):
        jobs.enqueue_once(transaction, jobs.SUMMARISE, scope_id, session_id)


def _changes(transaction: Transaction, scope_id: int, rows: Sequence[Row[Any]]) -> dict[bytes, dict[str, Any]]:
    """Return, by id, what cannot be as it was: a time that is over, and content that another item has by now."""
    changes: dict[bytes, dict[str, Any]] = {}
    for row in rows:
        table = TABLES[Kind(row.kind)]
        values = unpacked(table, row.content)
        if values["expires_at"] is not None and values["expires_at"] <= transaction.now:
            changes.setdefault(bytes(row.id), {})["expires_at"] = months_after(transaction.now, 1)
        if table is item and _is_said_again(transaction, scope_id, row.kind, values["content_key"]):
            changes.setdefault(bytes(row.id), {})["content_key"] = None
    return changes


def _is_said_again(transaction: Transaction, scope_id: int, kind: str, content_key: bytes | None) -> bool:
    statement = select(item.c.id).where(
        item.c.tenant == transaction.tenant,
        item.c.scope_id == scope_id,
        item.c.kind == kind,
        item.c.content_key == transaction.sought(item.c.content_key, scope_id, content_key),
    )
    return content_key is not None and bool(transaction.rows(statement))

"""What goes with a record: everything derived from it that has no other source, and how each of it is removed.

It goes for good, or into the bin. What lies in the bin is no source of what lives; but it goes for good with the last
of its own sources, wherever these lie.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Row, delete, or_, select

from retentia.lifecycle.derived import DERIVED
from retentia.lifecycle.hold import kept_by
from retentia.model.record import Kind
from retentia.model.scope import Scope
from retentia.store import binned, custody, jobs, records, schema, scopes, sessions, summaries
from retentia.store.binned import RemovalRow
from retentia.store.database import Transaction, batches
from retentia.store.records import SourceKey
from retentia.store.schema import derived_from


@dataclass(slots=True)
class Removed:
    """What was removed: how many rows of each kind, which records of which scopes, and their keys in their sources.

    `kept` counts, by the reason of each hold, the records whose content is now in custody. `is_release`
    tells that these are records a hold kept until its release. `keys_destroyed` counts the content keys of scopes in
    which nothing is left.
    """

    counts: dict[str, int] = field(default_factory=dict)
    records: set[bytes] = field(default_factory=set)
    sources: list[SourceKey] = field(default_factory=list)
    scope_ids: list[int] = field(default_factory=list)
    kept: dict[str, int] = field(default_factory=dict)
    is_release: bool = False
    keys_destroyed: int = 0

    def count(self, name: str, rows: int) -> None:
        if rows:
            self.counts[name] = self.counts.get(name, 0) + rows


def remove(transaction: Transaction, named: Mapping[int, Scope], ids: Collection[bytes]) -> Removed:
    """Remove the records that lie in some scopes, or in their bin, with what is derived from them alone."""
    view = records.View(named)
    going, _ = closure(transaction, view, records.kinds_of(transaction, view, ids))
    living = {record_id for some in going.values() for record_id in some}
    buried = in_bin(transaction, named, living, ids)
    removed = Removed(records=living | {bytes(row.id) for row in buried})
    removed.sources = records.source_keys(transaction, view, going) + binned.source_keys(buried, named)
    _take_into_custody(transaction, named, living, buried, removed)
    removed.count("bin", binned.take_out(transaction, removed.records - living))
    _remove_from_scopes(transaction, named, going, buried, removed)
    for scope_id in sorted({row.scope_id for row in buried}):
        sessions.drop_kept(transaction, scope_id)
    for batch in batches(removed.records):
        edges = delete(derived_from).where(
            derived_from.c.tenant == transaction.tenant,
            or_(derived_from.c.child_id.in_(batch), derived_from.c.parent_id.in_(batch)),
        )
        removed.count("derived_from", transaction.run(edges))
    binned.drop_edges(transaction, removed.records)
    removed.keys_destroyed = transaction.destroy_unused_keys(named)
    return removed


def set_aside(
    transaction: Transaction, named: Mapping[int, Scope], ids: Collection[bytes], removal: RemovalRow
) -> Removed:
    """Move records that lie in some scopes into the bin, with what is derived from them alone."""
    view = records.View(named)
    going, _ = closure(transaction, view, records.kinds_of(transaction, view, ids))
    living = {record_id for some in going.values() for record_id in some}
    removed = Removed(records=living, sources=records.source_keys(transaction, view, going))
    for scope_id, name in sorted(named.items()):
        here = records.kinds_of(transaction, records.View({scope_id: name}), living)
        binned.put(transaction, removal, name, scope_id, here)
    _remove_from_scopes(transaction, named, going, (), removed)
    removed.count("derived_from", binned.take_edges(transaction, living))
    return removed


def in_bin(
    transaction: Transaction, named: Mapping[int, Scope], living: Collection[bytes], ids: Collection[bytes]
) -> list[Row[Any]]:
    """Return the rows of the bin that go with some that live, or by their ids.

    Those are the named ones, and what is derived from nothing else than what goes.
    """
    if binned.is_empty(transaction):
        return []
    found = {bytes(row.id): row for row in binned.find(transaction, list(named), ids)}
    while True:
        going = {*living, *found}
        derived = binned.derived(transaction, going) - going
        orphans = {child for child, some in binned.sources(transaction, derived).items() if some <= going}
        more = binned.find(transaction, list(named), orphans)
        if not more:
            return list(found.values())
        found.update((bytes(row.id), row) for row in more)


def _take_into_custody(
    transaction: Transaction,
    named: Mapping[int, Scope],
    living: Collection[bytes],
    buried: Iterable[Row[Any]],
    removed: Removed,
) -> None:
    """Keep the rows of what goes from scopes under a legal hold; the scopes must be locked."""
    counts: dict[int, int] = {}
    held_by = custody.holds(transaction, list(named))
    for row in held_by:
        if row.scope_id in counts:
            continue  # the oldest hold of a scope has taken them
        name = named[row.scope_id]
        here = records.kinds_of(transaction, records.View({row.scope_id: name}), living)
        from_bin = [one for one in buried if one.scope_id == row.scope_id]
        counts[row.scope_id] = sum(map(len, here.values())) + len(from_bin)
        custody.take(transaction, name, row, here)
        custody.take_from_bin(transaction, row, from_bin)
    removed.kept = kept_by(held_by, counts)


def _remove_from_scopes(
    transaction: Transaction,
    named: Mapping[int, Scope],
    going: Mapping[Kind, Collection[bytes]],
    buried: Iterable[Row[Any]],
    removed: Removed,
) -> None:
    living = {record_id for some in going.values() for record_id in some}
    for scope_id, name in sorted(named.items()):
        alone = len(named) == 1
        here = going if alone else records.kinds_of(transaction, records.View({scope_id: name}), living)
        beside = {bytes(row.id) for row in buried if row.scope_id == scope_id}
        if here or beside:
            _remove_here(transaction, scope_id, here, beside, removed)


def _remove_here(
    transaction: Transaction,
    scope_id: int,
    going: Mapping[Kind, Collection[bytes]],
    beside: Collection[bytes],
    removed: Removed,
) -> None:
    """Delete records of a scope; `beside` are those of its bin, which the change names, too."""
    living = {record_id for some in going.values() for record_id in some}
    for derived in DERIVED.values():
        removed.count(derived.table, derived.erase(transaction, scope_id, living))
    for kind, some in going.items():
        table = records.TABLES[kind]
        here = delete(table).where(table.c.tenant == transaction.tenant, table.c.scope_id == scope_id)
        removed.count(kind.value, sum(transaction.run(here.where(table.c.id.in_(batch))) for batch in batches(some)))
    sessions_of = {key.session_id for key in removed.sources if key.session_id}
    removed.count("session", sessions.delete_empty(transaction, scope_id, sessions_of))
    if schema.summary.name in removed.counts:  # what they told of the other messages is told anew
        summaries.delete_orphans(transaction, scope_id, sessions_of)
        for session_id in sorted(sessions_of):
            jobs.enqueue_once(transaction, jobs.SUMMARISE, scope_id, session_id)
    scopes.record_change(transaction, scope_id, sorted({*living, *beside}))
    removed.scope_ids.append(scope_id)


def closure(
    transaction: Transaction, view: records.View, start: Mapping[Kind, Collection[bytes]]
) -> tuple[dict[Kind, set[bytes]], set[bytes]]:
    """Add, generation by generation, the records all of whose sources go.

    Return with them the ids of those that stay, because they have another source.
    """
    going = {kind: set(some) for kind, some in start.items()}
    while True:
        everything = {record_id for some in going.values() for record_id in some}
        orphans, staying = _derived(transaction, everything)
        more = records.kinds_of(transaction, view, orphans - everything)
        if not more:
            return going, staying - everything
        for kind, some in more.items():
            going.setdefault(kind, set()).update(some)


def _derived(transaction: Transaction, going: set[bytes]) -> tuple[set[bytes], set[bytes]]:
    """Return what is derived from these records alone, and what has another source, too."""
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
    return children - kept, kept

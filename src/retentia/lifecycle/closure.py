"""What goes with a record: everything derived from it that has no other source, and how each of it is removed."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import chain

from sqlalchemy import bindparam, delete, or_, select

from retentia.lifecycle.derived import DERIVED
from retentia.lifecycle.hold import kept_by
from retentia.model.record import Kind
from retentia.model.scope import Scope
from retentia.store import custody, jobs, records, schema, scopes, sessions, summaries
from retentia.store.among import IDS, among, parcels
from retentia.store.database import Transaction
from retentia.store.records import SourceKey
from retentia.store.schema import derived_from

_HERE = derived_from.c.tenant == bindparam("tenant")
_CHILDREN = select(derived_from.c.child_id).where(_HERE, among(derived_from.c.parent_id))
_PARENTS = select(derived_from.c.child_id, derived_from.c.parent_id).where(_HERE, among(derived_from.c.child_id))
_DELETE_EDGES = delete(derived_from).where(_HERE, or_(among(derived_from.c.child_id), among(derived_from.c.parent_id)))


@dataclass(slots=True)
class Removed:
    """What was removed: how many rows of each kind, which records, in order, of which scopes, and their source keys.

    `versions` has the scopes, each with its version from which on they are gone. `kept` counts, by the reason of each
    hold, the records whose content is now in custody. `is_release` tells that a hold has kept them until its release.
    """

    counts: dict[str, int] = field(default_factory=dict)
    records: list[bytes] = field(default_factory=list)
    sources: list[SourceKey] = field(default_factory=list)
    versions: dict[int, int] = field(default_factory=dict)
    kept: dict[str, int] = field(default_factory=dict)
    is_release: bool = False

    def count(self, name: str, rows: int) -> None:
        if rows:
            self.counts[name] = self.counts.get(name, 0) + rows


def remove(transaction: Transaction, named: Mapping[int, Scope], ids: Collection[bytes]) -> Removed:
    """Remove the records that lie in some scopes, with what is derived from them alone."""
    view, removed = records.View(named), Removed()
    found, _ = closure(transaction, view, records.kinds_of(transaction, view, ids))
    going = {kind: sorted(some) for kind, some in found.items()}  # once: each statement takes them in this order
    everything = sorted(chain.from_iterable(going.values()))
    removed.records, removed.sources = everything, records.source_keys(transaction, view, going)
    _take_into_custody(transaction, named, everything, removed)
    for scope_id, name in sorted(named.items()):
        alone = len(named) == 1
        here = going if alone else records.kinds_of(transaction, records.View({scope_id: name}), everything)
        if here:
            _remove_here(transaction, scope_id, here, removed)
    for some in parcels(transaction, everything):
        removed.count("derived_from", transaction.run(_DELETE_EDGES, {"tenant": transaction.tenant, IDS: some}))
    return removed


def _take_into_custody(
    transaction: Transaction, named: Mapping[int, Scope], going: Collection[bytes], removed: Removed
) -> None:
    """Keep the rows of what goes from scopes under a legal hold; the scopes must be locked."""
    counts: dict[int, int] = {}
    held_by = custody.holds(transaction, list(named))
    for row in held_by:
        if row.scope_id in counts:
            continue  # the oldest hold of a scope has taken them
        name = named[row.scope_id]
        here = records.kinds_of(transaction, records.View({row.scope_id: name}), going)
        counts[row.scope_id] = sum(map(len, here.values()))
        custody.take(transaction, name, row, here)
    removed.kept = kept_by(held_by, counts)


def _remove_here(
    transaction: Transaction, scope_id: int, going: Mapping[Kind, Collection[bytes]], removed: Removed
) -> None:
    everything = sorted(chain.from_iterable(going.values()))
    for derived in DERIVED.values():
        removed.count(derived.table, derived.erase(transaction, scope_id, everything))
    touched = records.sessions_of(transaction, scope_id, going)
    for kind, some in going.items():
        removed.count(kind.value, records.remove(transaction, scope_id, kind, some))
    removed.count("session", sessions.delete_empty(transaction, scope_id, touched))
    if schema.summary.name in removed.counts:  # what they told of the other messages is told anew
        summaries.delete_orphans(transaction, scope_id, touched)
        for session_id in sorted(touched):
            jobs.enqueue_once(transaction, jobs.SUMMARISE, scope_id, session_id)
    removed.versions[scope_id] = scopes.record_change(transaction, scope_id, everything)


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
    children: set[bytes] = set()
    for some in parcels(transaction, going):
        children.update(child for (child,) in transaction.tuples(_CHILDREN, {"tenant": transaction.tenant, IDS: some}))
    kept: set[bytes] = set()
    for some in parcels(transaction, children):
        edges = transaction.tuples(_PARENTS, {"tenant": transaction.tenant, IDS: some})
        kept.update(child for child, parent in edges if parent not in going)
    return children - kept, kept

"""What goes with a record: everything derived from it that has no other source, and how each of it is removed.

It goes for good, or into the bin. What lies in the bin is no source of what lives; but it goes for good with the last
of its own sources, wherever these lie.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from sqlalchemy import Row, bindparam, delete, or_, select

from retentia.lifecycle.derived import DERIVED
from retentia.lifecycle.hold import kept_by
from retentia.lifecycle.requote import requote
from retentia.model.record import ITEM_KINDS, Kind
from retentia.model.scope import Scope
from retentia.store import binned, claims, custody, jobs, records, schema, scopes, sessions, summaries
from retentia.store.among import IDS, among, parcels
from retentia.store.binned import RemovalRow
from retentia.store.claims import Lesson
from retentia.store.database import Transaction
from retentia.store.records import SourceKey
from retentia.store.schema import derived_from
from retentia.store.topics import MEMBER

_WITH_THE_BIN = frozenset({schema.revision.name})
"""What cannot be made anew from a record in the bin; it waits where it is, and goes when that is purged."""
_HERE = derived_from.c.tenant == bindparam("tenant")
_CHILDREN = select(derived_from.c.child_id, derived_from.c.role).where(_HERE, among(derived_from.c.parent_id))
_PARENTS = select(derived_from.c.child_id, derived_from.c.parent_id).where(_HERE, among(derived_from.c.child_id))
_DELETE_EDGES = delete(derived_from).where(_HERE, or_(among(derived_from.c.child_id), among(derived_from.c.parent_id)))


@dataclass(slots=True)
class Removed:
    """What was removed: how many rows of each kind, which records, in order, of which scopes, and their source keys.

    `lessons` are claims that went while a message stays that has taught them.
    `versions` has the scopes, each with its version from which on they are gone. `kept` counts, by the reason of each
    hold, the records whose content is now in custody. `is_release` tells that a hold has kept them until its release.
    `keys_destroyed` counts the content keys of scopes in which nothing is left.
    """

    counts: dict[str, int] = field(default_factory=dict)
    records: list[bytes] = field(default_factory=list)
    sources: list[SourceKey] = field(default_factory=list)
    lessons: list[Lesson] = field(default_factory=list)
    versions: dict[int, int] = field(default_factory=dict)
    kept: dict[str, int] = field(default_factory=dict)
    is_release: bool = False
    keys_destroyed: int = 0

    def count(self, name: str, rows: int) -> None:
        if rows:
            self.counts[name] = self.counts.get(name, 0) + rows


def remove(transaction: Transaction, named: Mapping[int, Scope], ids: Collection[bytes]) -> Removed:
    """Remove the records that lie in some scopes, or in their bin, with what is derived from them alone."""
    view, removed = records.View(named), Removed()
    going, quoting = _going(transaction, view, ids)
    living = _all_of(going)
    buried = in_bin(transaction, named, living, {*ids, *quoting})
    removed.records = sorted(chain(living, (bytes(row.id) for row in buried))) if buried else living
    removed.sources = records.source_keys(transaction, view, going) + binned.source_keys(buried, named)
    removed.lessons = _lessons(transaction, named, going)
    _take_into_custody(transaction, named, living, buried, removed)
    removed.count("bin", binned.take_out(transaction, buried))
    _remove_from_scopes(transaction, named, going, living, buried, removed)
    for scope_id in sorted({row.scope_id for row in buried}):
        sessions.drop_kept(transaction, scope_id)
    for some in parcels(transaction, removed.records):
        removed.count("derived_from", transaction.run(_DELETE_EDGES, {"tenant": transaction.tenant, IDS: some}))
    binned.drop_edges(transaction, removed.records)
    removed.keys_destroyed = transaction.destroy_unused_keys(named)
    return removed


def set_aside(
    transaction: Transaction, named: Mapping[int, Scope], ids: Collection[bytes], removal: RemovalRow
) -> Removed:
    """Move records that lie in some scopes into the bin, with what is derived from them alone."""
    view, removed = records.View(named), Removed()
    going, _ = _going(transaction, view, ids)
    removed.records = living = _all_of(going)
    for scope_id, here in _by_scope(transaction, named, going, living):
        binned.put(transaction, removal, named[scope_id], scope_id, here)
    _remove_from_scopes(transaction, named, going, living, (), removed, keep=_WITH_THE_BIN)
    removed.count("derived_from", binned.take_edges(transaction, living))
    return removed


def _going(
    transaction: Transaction, view: records.View, ids: Collection[bytes]
) -> tuple[dict[Kind, list[bytes]], set[bytes]]:
    """Return what goes with some records, by kind; what stays no longer quotes it, and no topic quotes what stays so.

    With it come the topics in the bin that quote what stays.
    """
    start: set[bytes] = set(ids)
    while True:
        going, staying = closure(transaction, view, records.kinds_of(transaction, view, start))
        gone = set(chain.from_iterable(going.values()))
        lost = requote(transaction, view.scopes, gone, staying) if staying else set()
        lost |= _derived(transaction, staying)[2] - gone
        if not lost:
            return _in_order(going), binned.quoting(transaction, staying)
        start.update(lost)


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
        orphans |= binned.quoting(transaction, going) - going
        more = binned.find(transaction, list(named), orphans)
        if not more:
            return list(found.values())
        found.update((bytes(row.id), row) for row in more)


def _lessons(
    transaction: Transaction, named: Mapping[int, Scope], going: Mapping[Kind, Sequence[bytes]]
) -> list[Lesson]:
    """Return what messages that stay have taught of what goes."""
    items = [one for kind, some in going.items() if kind in ITEM_KINDS for one in some]
    gone = set(going.get(Kind.MESSAGE, ()))
    found = claims.lessons(transaction, list(named), items) if items else []
    return [one for one in found if one.message_id not in gone]


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
    going: Mapping[Kind, Sequence[bytes]],
    living: Sequence[bytes],
    buried: Iterable[Row[Any]],
    removed: Removed,
    *,
    keep: Collection[str] = (),
) -> None:
    for scope_id, here in _by_scope(transaction, named, going, living):
        beside = [row for row in buried if row.scope_id == scope_id]
        if here or beside:
            _remove_here(transaction, scope_id, here, beside, removed, keep=keep)


def _by_scope(
    transaction: Transaction,
    named: Mapping[int, Scope],
    going: Mapping[Kind, Sequence[bytes]],
    living: Sequence[bytes],
) -> Iterator[tuple[int, Mapping[Kind, Sequence[bytes]]]]:
    """Yield each scope with what goes from it."""
    for scope_id, name in sorted(named.items()):
        alone = len(named) == 1
        yield scope_id, going if alone else records.kinds_of(transaction, records.View({scope_id: name}), living)


def _remove_here(
    transaction: Transaction,
    scope_id: int,
    going: Mapping[Kind, Sequence[bytes]],
    beside: Sequence[Row[Any]],
    removed: Removed,
    *,
    keep: Collection[str],
) -> None:
    """Delete records of a scope; `beside` are those of its bin, which the change names, too.

    Tables in `keep` are left as they are.
    """
    living = _all_of(going)
    changed = sorted(chain(living, (bytes(row.id) for row in beside))) if beside else living
    for derived in DERIVED.values():
        if derived.table not in keep:
            removed.count(derived.table, derived.erase(transaction, scope_id, living))
    if beside:
        removed.count(schema.revision.name, claims.delete_revisions(transaction, scope_id, _ids(beside)))
    touched = records.sessions_of(transaction, scope_id, going)
    touched.update(bytes(row.session_id) for row in beside if row.session_id)
    for kind, some in going.items():
        removed.count(kind.value, records.remove(transaction, scope_id, kind, some))
    removed.count("session", sessions.delete_empty(transaction, scope_id, touched))
    if schema.summary.name in removed.counts:  # what they told of the other messages is told anew
        summaries.delete_orphans(transaction, scope_id, touched)
        for session_id in sorted(touched):
            jobs.enqueue_once(transaction, jobs.SUMMARISE, scope_id, session_id)
    removed.versions[scope_id] = scopes.record_change(transaction, scope_id, changed)


def _ids(rows: Iterable[Row[Any]]) -> list[bytes]:
    return [bytes(row.id) for row in rows]


def closure(
    transaction: Transaction, view: records.View, start: Mapping[Kind, Collection[bytes]]
) -> tuple[dict[Kind, set[bytes]], set[bytes]]:
    """Add, generation by generation, the records all of whose sources go, and the topics that quote one that goes.

    Return with them the ids of those that stay, because they have another source.
    """
    going = {kind: set(some) for kind, some in start.items()}
    while True:
        everything = {record_id for some in going.values() for record_id in some}
        orphans, staying, _ = _derived(transaction, everything)
        more = records.kinds_of(transaction, view, orphans - everything)
        if not more:
            return going, staying - everything
        for kind, some in more.items():
            going.setdefault(kind, set()).update(some)


def _derived(transaction: Transaction, going: set[bytes]) -> tuple[set[bytes], set[bytes], set[bytes]]:
    """Return what is derived from these records alone or quotes one of them, what has another source, what quotes."""
    children: set[bytes] = set()
    quoting: set[bytes] = set()
    for some in parcels(transaction, going):
        for child, role in transaction.tuples(_CHILDREN, {"tenant": transaction.tenant, IDS: some}):
            children.add(child)
            if role == MEMBER:
                quoting.add(child)
    kept: set[bytes] = set()
    for some in parcels(transaction, children - quoting):
        edges = transaction.tuples(_PARENTS, {"tenant": transaction.tenant, IDS: some})
        kept.update(child for child, parent in edges if parent not in going)
    return children - kept, kept, quoting


def _in_order(found: Mapping[Kind, Collection[bytes]]) -> dict[Kind, list[bytes]]:
    """Order the ids of each kind, once: each statement takes them in this order."""
    return {kind: sorted(some) for kind, some in found.items()}


def _all_of(going: Mapping[Kind, Sequence[bytes]]) -> list[bytes]:
    return sorted(chain.from_iterable(going.values()))

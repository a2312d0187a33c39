"""The bin: removing records so that they can be restored, showing what can be, restoring it, and purging it in time.

A removal, and its undoing, is one transaction and one line of the ledger. A purge is an erasure like any other: noted
in the store, named in the ledger, with tombstones, finished after a crash, and repeated in a restored backup.
"""

import functools
import logging
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from datetime import timedelta

from retentia.errors import InvalidInput, NotFound
from retentia.lifecycle.closure import Removed
from retentia.lifecycle.erase import Eraser, Erasure, Line
from retentia.lifecycle.retention import A_RUN, ACTOR
from retentia.lifecycle.set_aside import bring_back, set_aside
from retentia.model.ids import RecordId, id_bytes, id_text, new_id_bytes
from retentia.model.record import Record
from retentia.model.removal import Removal
from retentia.model.scope import Scope
from retentia.model.turns import in_turns
from retentia.security import audit
from retentia.security.audit import Access, Action, Actor
from retentia.store import binned, jobs, records, scopes
from retentia.store.binned import RemovalRow
from retentia.store.database import Database, Transaction
from retentia.store.records import View

_log = logging.getLogger("retentia.bin")
_MICROSECOND = timedelta(microseconds=1)
_LONGEST = timedelta(days=3660)

Prepare = Callable[[Transaction, int], Collection[bytes]]
"""Does something before a removal, with the number of the locked scope, and returns which records go."""


class Bin:
    """The bin of one store. Every verb is in the audit log under the name of who acts."""

    def __init__(self, database: Database, eraser: Eraser) -> None:
        self._database = database
        self._eraser = eraser

    def remove(
        self,
        scope: Scope,
        ids: Sequence[RecordId],
        *,
        cause: str,
        restorable_for: timedelta,
        actor: Actor,
        prepare: Prepare | None = None,
    ) -> Erasure:
        """Put records of exactly this scope, and what is known from them alone, out of sight for a while.

        `prepare` runs in the same transaction before, with the scope locked, and says which of them go. What is not
        there is named in the receipt; what lies in the bin stays there as it is. Raises InvalidInput for a
        time that is none, or more than ten years.
        """
        if not timedelta(0) < restorable_for <= _LONGEST:
            raise InvalidInput("what is removed can be restored for some time, at most ten years; or erase it at once")
        wanted = {id_bytes(record_id): record_id for record_id in ids}
        removal_id = new_id_bytes()

        def put_away(transaction: Transaction) -> tuple[Erasure, Removed, Line | None]:
            scope_id = scopes.find(transaction, scope) or 0
            removal = RemovalRow(
                id=removal_id,
                removed_from=scope_id,
                cause=cause,
                removed_at=transaction.now,
                purge_at=transaction.now + restorable_for // _MICROSECOND,
            )
            chosen: Collection[bytes] = wanted
            if prepare is not None:
                scopes.lock(transaction, sorted(scopes.with_agents(transaction, [scope_id])))
                chosen = prepare(transaction, scope_id)
            there = _of_exactly(transaction, scope_id, scope, chosen)
            removed = set_aside(transaction, removal, there)
            gone = set(removed.records)
            missing = tuple(name for raw, name in in_turns(wanted.items()) if raw not in gone)
            if not gone:
                asked = Access(actor=actor, action=Action.REMOVE, scope=scope, ids=list(wanted), at=transaction.now)
                audit.append(transaction, [asked])
                return Erasure(missing=missing), removed, None
            receipt = Erasure(
                id=id_text(removal_id),
                at=transaction.now,
                removed=removed.counts,
                records=tuple(map(id_text, in_turns(removed.records))),
                missing=missing,
                restorable_until=removal.purge_at,
            )
            line = {
                "id": receipt.id,
                "scopes": (scope_id,),
                "records": tuple(raw.hex() for raw in in_turns(removed.records)),
                "expires_at": removal.purge_at,
            }
            return receipt, removed, line

        with self._database.noting(functools.partial(audit.log_writes, actor, Action.REMOVE)):
            return self._eraser.remove(scope.tenant, put_away)

    def removed(self, scope: Scope, *, content: bool, actor: Actor) -> list[Removal]:
        """Return what was removed from exactly this scope and can still be restored, the latest first.

        What it says is logged before it is given.
        """
        with self._database.read(scope.tenant) as transaction:
            found = _listed(transaction, scope, content=content)
        if content and found:
            ids = [id_bytes(record.id) for one in found for record in one.records]
            with self._database.write(scope.tenant) as transaction:
                access = Access(actor=actor, action=Action.READ, scope=scope, ids=ids, at=transaction.now)
                audit.append(transaction, [access])
        return found

    def restore(self, scope: Scope, removal_id: RecordId, *, actor: Actor) -> tuple[RecordId, ...]:
        """Bring back what one removal took, where it was, found at once by words; return the ids.

        Raises NotFound when its time is over or it is none of this scope, and Conflict when some of it is known only
        from what another removal took.
        """
        wanted = id_bytes(removal_id)

        def bring(transaction: Transaction) -> tuple[tuple[list[bytes], dict[int, int]], Line]:
            scope_id = scopes.find(transaction, scope) or 0
            ids, versions = bring_back(transaction, scope_id, wanted)
            if not ids:
                raise NotFound(f"there is no removal {removal_id!r} of {scope} that can still be restored")
            return (ids, versions), {"id": removal_id, "scopes": (scope_id,)}

        with self._database.noting(functools.partial(audit.log_writes, actor, Action.RESTORE)):
            ids, versions = self._eraser.write_line(scope.tenant, "restored", bring)
        self._eraser.let_go(new_id_bytes(), scope.tenant, versions)  # nobody waits: there is nothing to be hidden
        return tuple(map(id_text, sorted(ids)))

    def purge(self, *, limit: int = A_RUN) -> int:
        """Erase for good what lies in the bin for too long, of every tenant, at most so many records of each.

        Return how many went. Safe to repeat, to interrupt, and to run in several processes at once.
        """
        with self._database.read("") as transaction:
            tenants = jobs.tenants(transaction)
        return sum(self._purge(tenant, limit) for tenant in tenants)

    def _purge(self, tenant: str, limit: int) -> int:
        with self._database.read(tenant) as transaction:
            due = binned.due(transaction, limit=limit)
            named = dict(scopes.all_scopes(transaction)) if due else {}
        gone = 0
        for scope_id in sorted({scope_id for scope_id, _ in due}):
            with self._database.write(tenant) as transaction:
                scopes.lock(transaction, [scope_id])
                going = binned.claim(transaction, scope_id, [one for number, one in due if number == scope_id])
            with self._database.noting(functools.partial(audit.log_writes, ACTOR, Action.PURGE)):
                gone += len(self._eraser.erase(named[scope_id], list(map(id_text, going))).records)
        if due:
            _log.info("purged: %d removed records whose time was over", gone)
        return gone


def _of_exactly(transaction: Transaction, scope_id: int, scope: Scope, wanted: Collection[bytes]) -> list[bytes]:
    """Return those of the ids that lie in exactly this scope, not in one of its user's agents."""
    kinds = records.kinds_of(transaction, View({scope_id: scope}), wanted)
    return [record_id for some in kinds.values() for record_id in some]


def _listed(transaction: Transaction, scope: Scope, *, content: bool) -> list[Removal]:
    scope_id = scopes.find(transaction, scope)
    if scope_id is None:
        return []
    view = View(scopes.with_agents(transaction, [scope_id]))
    found = []
    for row, taken in binned.removals(transaction, scope_id):
        counts: Counter[str] = Counter()
        for (_, kind), some in taken.items():
            counts[kind] += some
        found.append(
            Removal(
                id=id_text(row.id),
                scope=scope,
                cause=row.cause,
                removed_at=row.removed_at,
                purge_at=row.purge_at,
                counts=dict(counts),
                reaches=tuple(view.scopes[number] for number in sorted({number for number, _ in taken})),
                records=_records(transaction, view, row) if content else (),
            )
        )
    return found


def _records(transaction: Transaction, view: View, removal: RemovalRow) -> tuple[Record, ...]:
    rows = binned.of_removal(transaction, removal.removed_from, removal.id)
    return tuple(binned.as_record(row, view) for row in rows)

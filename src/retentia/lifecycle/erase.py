"""Erasing: records, everything derived from them, their bytes, and the way back.

While the ledger is held, an erasure is noted in the store before anything is removed; then one transaction removes the
rows, and one line of the ledger names them. Last, the bytes go. Killed at any point, it is finished by whoever opens
the store next. A store that was restored from before an erasure refuses to open until the erasure is repeated.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import Any, TypeVar

from retentia.errors import NotFound, StoreBehindLedger, StoreBusy, StoreError
from retentia.lifecycle.acknowledge import OtherReaders
from retentia.lifecycle.closure import Removed, remove
from retentia.lifecycle.hold import check_reason, hold_again, set_hold
from retentia.lifecycle.ledger import Entry, EntryKind, Ledger, Mark
from retentia.lifecycle.set_aside import remove_again, restore_again
from retentia.lifecycle.store_ledger import Held, StoreLedger, lesson_key, record_key, source_key
from retentia.model.hold import Hold, Released
from retentia.model.ids import RecordId, id_bytes, id_text, new_id_bytes
from retentia.model.scope import Scope
from retentia.model.turns import in_turns
from retentia.security import audit
from retentia.security.audit import Access, Action, Actor
from retentia.store import binned, custody, erasures, jobs, readers, records, scopes
from retentia.store.database import Database, Transaction
from retentia.store.erasures import Planned
from retentia.store.records import SourceKey

Line = Mapping[str, Any]
"""What a line of the ledger names, by the fields of `Entry`."""
_T = TypeVar("_T")
_PATIENCE_TO_RECOVER = 1.0
_AGAIN: Mapping[str, tuple[Action, Callable[[Transaction, Entry], Mapping[int, int]]]] = {
    "hold": (Action.HOLD, hold_again),
    "removal": (Action.REMOVE, remove_again),
    "restored": (Action.RESTORE, restore_again),
}
_RECOVERY = Actor("recovery", "recovery")  # who began what is finished now is not known; the next caller it is not


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """The receipt of an erasure, or of a removal into the bin: then it has `restorable_until`, and its id restores it.

    `removed` counts rows by kind, `records` are the ids that are gone, `missing` those that were not there. `pending`
    says which bytes are left for now, and why. `tombstones` counts the sources that will not be taken over again.
    `ledger_seq` is the line of the ledger that names an erasure, None without one; `backup_until` says when the last
    backup that may still hold the records expires (UTC microseconds), None when there is none. `kept` counts, by the
    reason of each legal hold, the records whose content is in custody: hidden, and purged when the last hold is
    released. `keys_destroyed` counts the content keys of scopes in which nothing is left: what remains of their bytes
    cannot be read without them (PostgreSQL with `content_key`). `removed` counts under "bin" what was there before.
    `restorable_until` is UTC microseconds, None for an erasure. `processes` counts the open stores that may hold
    content in memory, this one included, and `acknowledged` those that have let go of it; `pending` names the others.
    """

    id: str = ""
    at: int = 0
    removed: Mapping[str, int] = field(default_factory=dict)
    records: tuple[RecordId, ...] = ()
    missing: tuple[RecordId, ...] = ()
    tombstones: int = 0
    ledger_seq: int | None = None
    backup_until: int | None = None
    kept: Mapping[str, int] = field(default_factory=dict)
    processes: int = 1
    acknowledged: int = 1
    pending: str = ""
    keys_destroyed: int = 0
    restorable_until: int | None = None


class Eraser:
    """Erases from one store.

    `on_removed` lets go of what this process holds in memory of some scopes, each with the version from which on it may
    be held; `others` are asked to do the same.
    """

    def __init__(
        self,
        database: Database,
        ledger: StoreLedger,
        *,
        on_removed: Callable[[Mapping[int, int]], None],
        others: OtherReaders,
    ) -> None:
        self._database = database
        self._ledger = ledger
        self._on_removed = on_removed
        self._others = others

    def erase(self, scope: Scope, ids: Sequence[RecordId]) -> Erasure:
        """Erase records of exactly this scope and what has no other source. What is already gone is no error.

        What the user's agents share is a scope of its own. On SQLite no byte is left when `pending` is empty.
        """
        wanted = {id_bytes(record_id): record_id for record_id in in_turns(ids)}
        self.recover()
        if not self._there(scope, wanted)[1]:
            return Erasure(missing=tuple(wanted.values()))
        with self._ledger.held(begin=True) as held:
            self._finish_begun(held)
            scope_id, there = self._there(scope, wanted)  # another process may have been quicker
            planned = Planned(id=new_id_bytes(), tenant=scope.tenant, scope_ids=(scope_id,), record_ids=tuple(there))
            done = self._carry_out(planned, None) if held is None else self._note_and_carry_out(planned, held)
        erased = set(done.records)
        missing = tuple(name for name in in_turns(wanted.values()) if name not in erased)
        pending = [f"a legal hold keeps {count} records in custody: {why}" for why, count in done.kept.items()]
        done = self._answered(planned.id, done)
        pending += [left for left in (done.pending, self._reclaim(planned.id)) if left]
        return replace(done, missing=missing, pending="; ".join(pending))

    def remove(self, tenant: str, act: Callable[[Transaction], tuple[Erasure, Removed, Line | None]]) -> Erasure:
        """Remove records into the bin by `act`, and wait until every process has let go of them in memory.

        It is noted in the store like an erasure whose records are gone, so that whoever opens the store after a crash
        asks the other processes in its place.
        """

        def noted(transaction: Transaction) -> tuple[tuple[Erasure, Removed, int], Line | None]:
            began_ms = readers.clock_ms(transaction)
            receipt, removed, line = act(transaction)
            if line is not None:
                planned = Planned(id=id_bytes(receipt.id), tenant=tenant, scope_ids=(), record_ids=())
                erasures.note_removed(transaction, planned, removed.versions)
            return (receipt, removed, began_ms), line

        receipt, removed, began_ms = self.write_line(tenant, "removal", noted)
        if not removed.versions:
            return receipt
        removal_id = id_bytes(receipt.id)
        asked = self.let_go(removal_id, tenant, removed.versions, since_ms=began_ms)
        receipt = self._answered(removal_id, replace(receipt, processes=1 + asked))
        self._finish_when_answered(removal_id)
        return receipt

    def hold(self, scope: Scope, reason: str, *, actor: Actor) -> Hold:
        """Put a legal hold on a scope, and name it in the ledger and the audit log. Raises InvalidInput."""
        check_reason(reason)

        def set_it(transaction: Transaction) -> tuple[Hold, Line]:
            scope_id, hold = set_hold(transaction, scope, reason)
            access = Access(
                actor=actor, action=Action.HOLD, scope=scope_id, ids=[id_bytes(hold.id)], at=transaction.now
            )
            audit.append(transaction, [access])
            return hold, {"id": hold.id, "scopes": (scope_id,)}

        return self.write_line(scope.tenant, "hold", set_it)

    def write_line(self, tenant: str, kind: EntryKind, act: Callable[[Transaction], tuple[_T, Line | None]]) -> _T:
        """Do something in one transaction and name it in one line of the ledger, which is on disk before it is done.

        `act` returns its answer and what the line names, None for no line. Killed between the two, what the line names
        is done by whoever opens the store next.
        """
        self.recover()
        with self._ledger.held(begin=True) as held:
            self._finish_begun(held)
            with self._database.write(tenant) as transaction:
                answer, line = act(transaction)
                if held is not None and line is not None:
                    keyed = _keyed_tenant(held.ledger, tenant)
                    held.log.append(at=transaction.now, kind=kind, tenant=keyed, **line)
                    self._ledger.note_applied(transaction, held.log.end)
        return answer

    def let_go(self, notice_id: bytes, tenant: str, versions: Mapping[int, int], *, since_ms: int | None = None) -> int:
        """Drop what this process holds in memory of some scopes, and ask all others to; return how many were asked.

        With each scope comes the version from which on it may be held; `since_ms` is as for `OtherReaders.ask`.
        """
        self._on_removed(versions)
        return self._others.ask(notice_id, tenant, list(versions), since_ms=since_ms)

    def _answered(self, erasure_id: bytes, done: Erasure) -> Erasure:
        """Wait for those that were asked, and say in the receipt who has let go."""
        answers = self._others.wait(erasure_id, done.processes - 1)
        return replace(done, processes=answers.processes, acknowledged=answers.acknowledged, pending=answers.pending)

    def release(self, tenant: str, hold_id: RecordId, *, actor: Actor) -> Released:
        """End a legal hold and purge what no other hold keeps, with its bytes. Raises NotFound.

        It is an erasure with the id of the hold: noted, carried out and finished like any other.
        """
        self.recover()
        planned = self._release_of(tenant, hold_id)
        with self._ledger.held(begin=True) as held:
            self._finish_begun(held)
            self._release_of(tenant, hold_id)  # another process may have been quicker
            with self._database.noting(partial(audit.log_writes, actor, Action.RELEASE)):
                done = self._carry_out(planned, None) if held is None else self._note_and_carry_out(planned, held)
        return Released(purged=len(done.records), pending=self._reclaim(planned.id))

    def _release_of(self, tenant: str, hold_id: RecordId) -> Planned:
        with self._database.read(tenant) as transaction:
            found = [row for row in custody.holds(transaction) if id_text(row.id) == hold_id]
        if not found:
            raise NotFound(f"there is no hold {hold_id!r} in the tenant {tenant!r}")
        return Planned(id=found[0].id, tenant=tenant, scope_ids=(found[0].scope_id,), record_ids=())

    def _there(self, scope: Scope, wanted: Mapping[bytes, RecordId]) -> tuple[int, list[bytes]]:
        with self._database.read(scope.tenant) as transaction:
            scope_id = scopes.find(transaction, scope)
            if scope_id is None:
                return 0, []
            found = records.kinds_of(transaction, records.View({scope_id: scope}), wanted)
            in_bin = binned.there(transaction, scope_id, wanted)
        return scope_id, sorted(chain(in_bin, *found.values()))

    def _note_and_carry_out(self, planned: Planned, held: Held) -> Erasure:
        """Note what is to be erased first, so that the line of the ledger is known for our own after a crash."""
        with self._database.write(planned.tenant) as transaction:
            erasures.plan(transaction, planned)
        before = held.log.end
        try:
            return self._carry_out(planned, held)
        except Exception:
            if held.log.end == before:  # no line names it: the caller is told, and nothing is left to be finished
                with suppress(StoreError), self._database.write("") as transaction:
                    erasures.finish(transaction, planned.id)
            raise

    def drop_empty(self, tenant: str, user: str) -> int:
        """Remove the scopes of a person in which, and in whose bin, nothing is left and held, with their names.

        Return how many.
        """
        with self._database.write(tenant) as transaction:
            own = {number: name for number, name in scopes.all_scopes(transaction) if name.user == user}
            scopes.lock(transaction, sorted(own))
            for row in custody.holds(transaction, list(own)):
                own.pop(row.scope_id, None)  # a hold needs the name of its scope
            empty = [number for number, name in own.items() if not _has_records(transaction, number, name)]
            for number in empty:
                scopes.remove(transaction, number)
        self._on_removed(dict.fromkeys(empty, scopes.NEVER))
        self._database.reclaim()
        return len(empty)

    def recover(self) -> None:
        """Finish what a process began and did not finish. Raises StoreBehindLedger for erasures the store never saw."""
        later, begun = self._ledger.behind()
        _check_seen(later, begun)
        if later or any(planned.state == "planned" for planned in begun):
            # Whoever holds the ledger for longer is erasing, and has first finished what others had begun.
            with suppress(StoreBusy), self._ledger.held(patience=_PATIENCE_TO_RECOVER) as held:
                self._finish_begun(held)
        for planned in begun:
            if planned.state == "removed":
                self._others.ask(planned.id, planned.tenant, planned.scope_ids)
                self._reclaim(planned.id)
            elif planned.state == "silent":
                self._finish_when_answered(planned.id)

    def _finish_begun(self, held: Held | None) -> None:
        """Carry out what a process that is gone had planned; whoever still works on something holds the ledger."""
        with self._database.read("") as transaction:
            begun = erasures.unfinished(transaction)
        later = [] if held is None else held.log.later
        _check_seen(later, begun)
        lines = {entry.id: entry for entry in later if entry.kind == "erasure"}
        if held is not None:
            self._do_again(held, later)
        for planned in begun:
            if planned.state == "planned":
                with self._database.noting(partial(audit.log_writes, _RECOVERY, Action.ERASE)):
                    self._carry_out(planned, held, entry=lines.get(id_text(planned.id)))
                self._reclaim(planned.id)
        if held is not None:
            self._pass_over_backups(later, held.log.end)

    def _pass_over_backups(self, later: Sequence[Entry], end: Mark) -> None:
        """Note that what follows the last erasure is applied: an older store need not know of later backups."""
        if not later:
            return
        with self._database.write("") as transaction:
            for entry in later:
                if entry.kind == "backup" and entry.expires_at is not None:
                    self._ledger.note_backup(transaction, entry.expires_at)
            self._ledger.note_applied(transaction, end)

    def replay(self) -> int:
        """Repeat the erasures that the ledger knows and this store has not seen; return how many records went."""
        if self._ledger.existing() is None:
            return 0
        removed: list[Removed] = []
        with self._ledger.held() as held:
            if held is None or not held.log.later:
                return 0
            tenants = self._tenants(held)
            for entry in held.log.later:
                if entry.kind == "erasure":
                    removed.append(self._repeat(entry, tenants.get(entry.tenant, "")))
                self._do_again(held, [entry])
            self._pass_over_backups(held.log.later, held.log.end)
        for one in removed:
            self._on_removed(one.versions)
        self._database.reclaim()
        return sum(len(one.records) for one in removed)

    def _do_again(self, held: Held, later: Sequence[Entry]) -> None:
        """Do what the ledger names and this store lacks besides erasures: it was restored, or killed in the middle.

        Nothing is lost by it: a hold keeps, what is removed lies in the bin, and what was restored is there again.
        """
        if not (named := [entry for entry in later if entry.kind in _AGAIN]):
            return
        tenants = self._tenants(held)
        for entry in named:
            action, again = _AGAIN[entry.kind]
            if (tenant := tenants.get(entry.tenant)) is not None:
                noting = self._database.noting(partial(audit.log_writes, _RECOVERY, action))
                with noting, self._database.write(tenant) as transaction:
                    versions = again(transaction, entry)
                self.let_go(new_id_bytes(), tenant, versions)

    def _tenants(self, held: Held) -> dict[str, str]:
        with self._database.read("") as transaction:
            return {_keyed_tenant(held.ledger, name): name for name in jobs.tenants(transaction)}

    def _repeat(self, entry: Entry, tenant: str) -> Removed:
        # A store from before the tenant existed has nothing to remove, but must know the tombstones.
        with self._database.write(tenant) as transaction:
            removed = _apply(transaction, entry.id, entry.scopes, map(bytes.fromhex, entry.records))
            erasures.bury(transaction, [bytes.fromhex(source) for source in entry.tombstones])
        return removed

    def _carry_out(self, planned: Planned, held: Held | None, *, entry: Entry | None = None) -> Erasure:
        """Do what is planned; `entry` is its line where it was killed between writing that and removing the rows."""
        with self._database.write(planned.tenant) as transaction:
            began_ms = readers.clock_ms(transaction)  # until this ends, nobody can renew a lease in SQLite
            name, tombstones = id_text(planned.id), 0
            removed = _apply(transaction, name, planned.scope_ids, planned.record_ids)
            erasures.note_removed(transaction, planned, removed.versions)
            if held is not None and (removed.records or removed.is_release):
                sources = [_source(held.ledger, key) for key in in_turns(removed.sources)]
                sources += [record_key(held.ledger, record_id) for record_id in in_turns(removed.records)]
                sources += sorted({lesson_key(held.ledger, one) for one in removed.lessons})
                tombstones = erasures.bury(transaction, sources)
                entry = entry or self._write_line(transaction, held, planned, removed, sources)
                self._ledger.note_applied(transaction, held.log.end)
            backup_until = self._ledger.backup_until(transaction)
        asked = self.let_go(planned.id, planned.tenant, removed.versions, since_ms=began_ms)
        return Erasure(
            id=name,
            at=transaction.now,
            removed=removed.counts,
            records=tuple(map(id_text, in_turns(removed.records))),
            tombstones=tombstones,
            ledger_seq=None if entry is None else entry.seq,
            backup_until=backup_until,
            kept=removed.kept,
            keys_destroyed=removed.keys_destroyed,
            processes=1 + asked,
        )

    def _write_line(
        self, transaction: Transaction, held: Held, planned: Planned, removed: Removed, sources: Sequence[bytes]
    ) -> Entry:
        """Name in the ledger what the transaction is about to remove: the line is on disk before the rows are gone."""
        return held.log.append(
            at=transaction.now,
            kind="erasure",
            id=id_text(planned.id),
            tenant=_keyed_tenant(held.ledger, planned.tenant),
            scopes=planned.scope_ids,
            records=tuple(record_id.hex() for record_id in in_turns(removed.records)),
            tombstones=tuple(source.hex() for source in in_turns(sources)),
        )

    def _reclaim(self, erasure_id: bytes) -> str:
        """Let the bytes go; what cannot go now is tried again when the store is next opened, where that helps."""
        pending = self._database.reclaim()
        if not pending or not self._database.dialect.can_finish_reclaiming:
            self._finish_when_answered(erasure_id)
        return pending

    def _finish_when_answered(self, erasure_id: bytes) -> None:
        """Forget an erasure when no process is asked any more that might still hold something of it."""
        with self._database.write("") as transaction:
            if readers.silent(transaction, erasure_id):
                erasures.note_silent(transaction, erasure_id)
                return
            readers.forget_notices(transaction, erasure_id)
            erasures.finish(transaction, erasure_id)


def _has_records(transaction: Transaction, scope_id: int, name: Scope) -> bool:
    there = records.counts(transaction, records.View({scope_id: name}))
    return any(there.values()) or bool(binned.count(transaction, [scope_id]))


def _apply(transaction: Transaction, name: str, scope_ids: Sequence[int], ids: Iterable[bytes]) -> Removed:
    """Remove records, or what a hold keeps where the erasure has its name: then it is the release of that hold."""
    named = scopes.with_agents(transaction, scope_ids)
    if named:
        scopes.lock(transaction, sorted(named))
    for row in custody.holds(transaction, scope_ids):
        if id_text(row.id) == name:
            purged = custody.release(transaction, row)
            transaction.touched.append((row.scope_id, b"".join([row.id, *sorted(purged)])))
            return Removed(
                counts={"custody": len(purged)},
                records=purged,
                is_release=True,
                keys_destroyed=transaction.destroy_unused_keys([row.scope_id]),
            )
    return remove(transaction, named, list(ids))


def _check_seen(later: Iterable[Entry], begun: Iterable[Planned]) -> None:
    """Refuse a store that lacks erasures of its ledger which it has not begun itself."""
    own = {id_text(planned.id) for planned in begun}
    if unseen := [entry for entry in later if entry.kind == "erasure" and entry.id not in own]:
        raise StoreBehindLedger(
            f"{len(unseen)} erasures were made after this store was copied or backed up, and what they erased is in it "
            "again; repeat them with `retentia ledger replay`"
        )


def _source(ledger: Ledger, key: SourceKey) -> bytes:
    return source_key(ledger, key.scope, key.kind, key.session, key.key)


def _keyed_tenant(ledger: Ledger, tenant: str) -> str:
    return ledger.keyed("tenant", tenant).hex()

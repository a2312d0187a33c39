"""Where a write goes: a scope, the sessions in it, and everything that is inserted together with a record."""

from collections.abc import Collection, Iterable, Sequence
from typing import Protocol

from sqlalchemy import Table

from retentia.errors import ErasedEarlier
from retentia.index.passages import passages_of
from retentia.model.ids import RecordId
from retentia.model.record import is_searchable
from retentia.model.scope import Scope
from retentia.store import (
    claims,
    generations,
    jobs,
    passages,
    personal,
    records,
    scopes,
    sessions,
    tenant_settings,
    tool_uses,
)
from retentia.store.bulk import insert_many
from retentia.store.claims import Lesson
from retentia.store.database import Transaction
from retentia.tools.noting import rules_of
from retentia.tools.uses import uses_of_rows
from retentia.write.claims import claims_of_rows
from retentia.write.kept import check_quota, dated, personal_spans
from retentia.write.rows import Row


class Buried(Protocol):
    """Tells which keys of a source were erased: see `retentia.lifecycle.store_ledger.Tombstones`."""

    def erased(self, transaction: Transaction, scope: Scope, kind: str, session: str, keys: set[str]) -> set[str]: ...

    def erased_ids(self, transaction: Transaction, record_ids: Collection[bytes]) -> set[bytes]: ...

    def forgotten(self, transaction: Transaction, lessons: Collection[Lesson]) -> set[Lesson]: ...


class Place:
    """One scope in one transaction, locked against other writers until it ends."""

    def __init__(self, transaction: Transaction, scope: Scope, tombstones: Buried | None = None) -> None:
        self.transaction = transaction
        self.scope = scope
        self._tombstones = tombstones
        self.scope_id = scopes.ensure(transaction, scope)

    def session(self, name: str) -> tuple[bytes, bool]:
        """Return the id of a session, and whether it was begun just now."""
        known = sessions.find(self.transaction, self.scope_id, name)
        if known is not None:
            return known, False
        return sessions.begin(self.transaction, self.scope_id, name), True

    def known(self, table: Table, keys: Iterable[str | None], session_id: bytes | None = None) -> dict[str, bytes]:
        """Return the ids of what was already written under these keys, in the session where keys belong to one."""
        given = {key for key in keys if key}
        return records.known_keys(self.transaction, table, self.scope_id, session_id, given) if given else {}

    def known_as(self, table: Table, key: str | None, session_id: bytes | None = None) -> bytes | None:
        """Return the id of what was already written under a key, or None."""
        return self.known(table, [key], session_id).get(key) if key else None

    def erased(self, table: Table, keys: Iterable[str], session: str = "") -> set[str]:
        """Return those of the keys under which something was erased."""
        if self._tombstones is None:
            return set()
        return self._tombstones.erased(self.transaction, self.scope, table.name, session, set(keys))

    def erased_ids(self, record_ids: Collection[bytes]) -> set[bytes]:
        """Return those of the records that were erased here."""
        return set() if self._tombstones is None else self._tombstones.erased_ids(self.transaction, record_ids)

    def forgotten(self, lessons: Collection[Lesson]) -> set[Lesson]:
        """Return what messages taught that are still there, and was erased since."""
        return set() if self._tombstones is None else self._tombstones.forgotten(self.transaction, lessons)

    def refuse_erased(self, table: Table, key: str | None, session: str = "") -> None:
        """Raise ErasedEarlier when what had this key was erased."""
        if key and self.erased(table, [key], session):
            raise ErasedEarlier

    def take(self, session_id: bytes, count: int = 1) -> int:
        """Reserve places in a session; return the first."""
        return sessions.take_numbers(self.transaction, self.scope_id, session_id, count) if count else 0

    def insert(self, table: Table, rows: Sequence[Row]) -> tuple[RecordId, ...]:
        """Write rows, what is derived from them, their jobs and the scope's next version; return the ids of the jobs.

        A row that brings the time it was recorded and how long it is kept, as an import does, keeps them. Raises
        QuotaExceeded.
        """
        if not rows:
            return ()
        transaction, scope_id = self.transaction, self.scope_id
        settings = tenant_settings.load(transaction)
        check_quota(transaction, self.scope.user, settings.quota, rows)
        key = {"tenant": transaction.tenant, "scope_id": scope_id, "recorded_at": transaction.now}
        values = dated(table, key, rows, settings.schedule)
        insert_many(transaction, table, values)
        searchable = [row.indexed for row in rows if _is_searchable(row)]
        found = [passage for described in searchable for passage in passages_of(described)]
        passages.insert_passages(transaction, scope_id, found)
        personal.insert_spans(transaction, scope_id, personal_spans(row.indexed for row in rows))
        used = uses_of_rows(table.name, values, tenant=transaction.tenant, rules=rules_of(settings))
        tool_uses.insert_uses(transaction, scope_id, used)
        claims.insert_claims(transaction, scope_id, claims_of_rows(table, values))
        scopes.record_change(transaction, scope_id, [row.indexed.record_id for row in rows])
        if generations.serving(transaction) is None:
            return ()
        with_passages = dict.fromkeys(passage.record_id for passage in found)
        return jobs.enqueue_all(transaction, jobs.EMBED, scope_id, with_passages)


def _is_searchable(row: Row) -> bool:
    status, retracted_at = row.values.get("status"), row.values.get("retracted_at")
    return "kind" not in row.values or is_searchable(str(status), retracted_at)  # type: ignore[arg-type]  # as drafted

"""Where a write goes: a scope, the sessions in it, and everything that is inserted together with a record."""

from collections.abc import Iterable, Sequence

from sqlalchemy import Table

from retentia.index.passages import passages_of
from retentia.model.ids import RecordId
from retentia.model.scope import Scope
from retentia.store import generations, jobs, passages, records, scopes, sessions
from retentia.store.bulk import insert_many
from retentia.store.database import Transaction
from retentia.write.rows import Row


class Place:
    """One scope in one transaction, locked against other writers until it ends."""

    def __init__(self, transaction: Transaction, scope: Scope) -> None:
        self.transaction = transaction
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

    def take(self, session_id: bytes, count: int = 1) -> int:
        """Reserve places in a session; return the first."""
        return sessions.take_numbers(self.transaction, self.scope_id, session_id, count) if count else 0

    def insert(self, table: Table, rows: Sequence[Row]) -> tuple[RecordId, ...]:
        """Write rows, their passages, their jobs and the scope's next version; return the ids of the jobs.

        A row that brings the time it was recorded, as an import does, keeps it.
        """
        if not rows:
            return ()
        transaction, scope_id = self.transaction, self.scope_id
        key = {"tenant": transaction.tenant, "scope_id": scope_id, "recorded_at": transaction.now}
        insert_many(transaction, table, [{**key, **row.values} for row in rows])
        found = [passage for row in rows for passage in passages_of(row.indexed)]
        passages.insert_passages(transaction, scope_id, found)
        scopes.record_change(transaction, scope_id, [row.indexed.record_id for row in rows])
        if generations.serving(transaction) is None:
            return ()
        with_passages = dict.fromkeys(passage.record_id for passage in found)
        return jobs.enqueue_all(transaction, jobs.EMBED, scope_id, with_passages)

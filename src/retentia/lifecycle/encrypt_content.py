"""Giving content keys to a PostgreSQL store that has none, and keeping its keys under another master key."""

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Table, bindparam, select, text, update

from retentia.errors import InvalidInput, StoreBusy
from retentia.model.progress import Progress, unheard
from retentia.store import content_keys, jobs, scopes
from retentia.store.content_keys import KeyMarks
from retentia.store.database import Database, Transaction
from retentia.store.keyed import KeyedTransaction
from retentia.store.postgres import PostgresDialect
from retentia.store.schema import content_key
from retentia.store.sealed import SEALED, row_key
from retentia.store.sealing import MasterKey

_ROWS_AT_ONCE = 500
_OTHERS = text(
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'retentia' "
    "AND pid <> pg_backend_pid()"
)
_HAS_KEY = select(content_key.c.key_id).where(
    content_key.c.tenant == bindparam("tenant"), content_key.c.scope_id == bindparam("scope_id")
)


def encrypt_content(dialect: PostgresDialect, given: str, *, progress: Progress = unheard) -> str:
    """Encrypt the content of a store, one scope in one transaction; killed at any point, it goes on where it was.

    Until it is done nobody can open the store, and no other process may have it open: raises StoreBusy. Raises WrongKey
    for another key than it was begun with, InvalidInput where all is encrypted. Returns which bytes are still to go.
    """
    database = Database(dialect.sealing())
    try:
        marks = _begin(database, given)
        master = content_keys.master_key(marks, given)
        with database.read("") as reading:
            tenants = jobs.tenants(reading)
        for tenant in tenants:
            with database.read(tenant) as reading:
                numbers = [number for number, _ in scopes.all_scopes(reading)]
            for number in numbers:
                with database.write(tenant) as writing:
                    _encrypt_scope(writing, master, number, progress)
        with database.write("") as writing:
            content_keys.write_marks(writing, KeyMarks(state="sealed", salt=marks.salt, proof=marks.proof))
        return database.reclaim()
    finally:
        database.close()


def change_master_key(dialect: PostgresDialect, old: str, new: str) -> int:
    """Keep every content key under another master key, all or none; return how many.

    Whoever then destroys the old master key has made every copy of a wrapped key from before unreadable: in the
    write-ahead log, in replicas and in backups of the server. No other process may have the store open: raises
    StoreBusy. Raises WrongKey and InvalidInput.
    """
    database = Database(dialect.sealing())
    try:
        with database.write("") as writing:
            _check_alone(writing)
            marks = content_keys.read_marks(writing)
            if marks is None or marks.state != "sealed":
                raise InvalidInput(
                    "the content of this store is not encrypted, or not all of it; run `retentia encrypt`"
                )
            before = content_keys.master_key(marks, old)
            made = content_keys.new_marks(new, "sealed")
            after = content_keys.master_key(made, new)
            content_keys.write_marks(writing, made)
            tenants = jobs.tenants(writing)
            changed = sum(content_keys.rewrap(writing.acting_for(tenant), before, after) for tenant in tenants)
        database.reclaim()
        return changed
    finally:
        database.close()


def _begin(database: Database, given: str) -> KeyMarks:
    with database.write("") as writing:
        _check_alone(writing)
        marks = content_keys.read_marks(writing)
        if marks is None:
            marks = content_keys.new_marks(given, "sealing")
            content_keys.write_marks(writing, marks)
        elif marks.state == "sealed":
            raise InvalidInput("the content of this store is encrypted already")
    return marks


def _check_alone(transaction: Transaction) -> None:
    if transaction.number(_OTHERS):
        raise StoreBusy("the store is open elsewhere; close every process that uses it, and try again")


def _encrypt_scope(transaction: Transaction, master: MasterKey, scope_id: int, progress: Progress) -> None:
    scopes.lock(transaction, [scope_id])
    if transaction.rows(_HAS_KEY, {"tenant": transaction.tenant, "scope_id": scope_id}):
        return  # it was done before
    sealing = KeyedTransaction(
        transaction.connection, transaction.tenant, transaction.now, transaction.dialect, master=master, writes=True
    )
    sealing.new_key(scope_id)
    for table in SEALED:
        for rows in _pages(transaction, table, scope_id):
            anew = [sealing.sealed(table, row) for row in rows]
            transaction.run(_put(table), [{f"new_{name}": value for name, value in row.items()} for row in anew])
            progress(len(rows))


def _pages(transaction: Transaction, table: Table, scope_id: int) -> Iterator[list[dict[str, Any]]]:
    """Yield the rows of a scope in the order of their keys, which sealing does not change."""
    keys = [table.c[name] for name in row_key(table)]
    here = (table.c.tenant == transaction.tenant, table.c.scope_id == scope_id)
    yield from transaction.partitions(select(table).where(*here).order_by(*keys), _ROWS_AT_ONCE)


def _put(table: Table) -> Any:
    own = [table.c[name] == bindparam(f"new_{name}") for name in ("tenant", "scope_id", *row_key(table))]
    return update(table).where(*own).values({name: bindparam(f"new_{name}") for name in SEALED[table]})

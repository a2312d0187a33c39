"""A database that can be read and written in short transactions, on SQLite or PostgreSQL.

Transactions are explicit and belong to one tenant. No model is called while one is open.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from sqlalchemy import Connection, Engine, Executable, Row, Select, Table
from sqlalchemy.dialects import sqlite
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.sql.elements import KeyedColumnElement

from retentia.errors import StoreBusy, StoreError
from retentia.model.time import Clock, system_clock
from retentia.store.migrate import migrate
from retentia.store.turnstile import Turnstile

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql

    from retentia.store.sealing import MasterKey

_PARAMETERS_AT_ONCE = 500
_COUNTED = {"preserve_rowcount": True}  # an INSERT does not count otherwise
_T = TypeVar("_T", bound="str | bytes")

Params: TypeAlias = Mapping[str, object]
Rows: TypeAlias = Sequence[Row[Any]]  # what a driver returns has no static type
Tuples: TypeAlias = Sequence[Sequence[Any]]


class Dialect(Protocol):
    """What differs between the databases: how to connect, begin, and read their errors."""

    name: str
    one_writer: bool  # whether the writers of a process wait in line before the database, not in it
    can_finish_reclaiming: bool  # whether the bytes of deleted rows can be made unreadable from here
    driver_error: type[Exception]

    @property
    def ledger_path(self) -> Path | None:
        """Where the ledger of erasures is kept unless another place is named; None where there is no such place."""
        ...

    def check(self) -> None:
        """Refuse, before anything is opened, what must not be opened."""
        ...

    def unlock_content(self, database: "Database") -> "MasterKey | None":
        """Return the key under which content is sealed, None where it is not; refuse a wrong, or a missing, one."""
        ...

    def connect(self) -> Engine:
        """Return the engine whose connections are set up for safe use."""
        ...

    def begin(self, connection: Connection, *, tenant: str, write: bool) -> None:
        """Start a snapshot to read from, or the one transaction that writes."""
        ...

    def end_read(self, connection: Connection) -> None:
        """Let go of the snapshot in the way that costs least."""
        ...

    def tuples(self, connection: Connection, statement: Executable, params: Params) -> Tuples:
        """Return all rows of a statement as the driver gives them, in the way that costs least."""
        ...

    def act_for(self, connection: Connection, tenant: str) -> None:
        """Let the rest of a transaction see another tenant's rows."""
        ...

    def migration_lock(self, connection: Connection) -> None:
        """Start a transaction in which no other process migrates."""
        ...

    def translate(self, error: Exception) -> StoreError | None:
        """Name what the driver reported, or None when it is a fault of ours."""
        ...

    def reclaim(self, engine: Engine) -> str:
        """Make deleted bytes unreadable as far as this database can; return "" or what is still pending."""
        ...

    def integrity_problems(self, connection: Connection) -> list[str]:
        """Return what the database's own check finds, empty when it is sound or has no such check."""
        ...

    def size_bytes(self, connection: Connection) -> int:
        """Return the size of the database on disk in bytes."""
        ...


@dataclass(frozen=True, slots=True)
class Transaction:
    """One short transaction of one tenant; `now` is its recorded time in UTC microseconds.

    `touched` gathers the records it writes or removes: (number of the scope, their ids joined).
    """

    connection: Connection
    tenant: str
    now: int
    dialect: Dialect
    touched: list[tuple[int, bytes]] = field(default_factory=list)
    joining: Callable[["Transaction"], None] | None = None

    def join(self) -> None:
        """Say that content of the store is in the memory of this process now; see `retentia.read.presence`."""
        if self.joining is not None:
            self.joining(self)

    @property
    def is_keyed(self) -> bool:
        """Whether content is sealed with a key for each scope (`retentia.store.keyed`)."""
        return False

    def rows(self, statement: Executable, params: Params | None = None) -> Rows:
        """Return all rows of a statement."""
        return self.connection.execute(statement, params or {}).all()

    def acting_for(self, tenant: str) -> "Transaction":
        """Return this transaction for the rows of another tenant; for copying a whole store only."""
        self.dialect.act_for(self.connection, tenant)
        return replace(self, tenant=tenant)

    def tuples(self, statement: Executable, params: Params) -> Tuples:
        """Return all rows as plain tuples, for what is read often or in bulk; `params` holds every parameter."""
        return self.dialect.tuples(self.connection, statement, params)

    def first(self, statement: Executable, params: Params | None = None) -> Row[Any] | None:
        """Return the first row, or None."""
        return self.connection.execute(statement, params or {}).first()

    def number(self, statement: Executable, params: Params | None = None) -> int:
        """Return the one number that a statement counts or returns."""
        return int(self.connection.execute(statement, params or {}).scalar_one())

    def partitions(self, statement: Select[Any], size: int) -> Iterator[list[dict[str, Any]]]:
        """Yield all rows of a statement by column name, so many at a time that memory stays small."""
        found = self.connection.execute(statement, execution_options={"stream_results": True})
        for rows in found.mappings().partitions(size):
            yield [dict(row) for row in rows]

    def sought(self, column: KeyedColumnElement[Any], scope_id: int, value: Any) -> Any:
        """Return a value as a column of a scope holds it, to compare with: names and digests may be sealed."""
        return value

    def lost_keys(self, scope_ids: Iterable[int]) -> list[int]:
        """Return the scopes whose content is sealed with a key that is gone."""
        return []

    def destroy_unused_keys(self, scope_ids: Iterable[int]) -> int:
        """Destroy the content keys of locked scopes in which nothing is left; return how many."""
        return 0

    def run(self, statement: Executable, params: Params | Sequence[Params] | None = None) -> int:
        """Execute a statement, once or for each set of parameters; return how many rows it touched."""
        return self.connection.execute(statement, params or {}, execution_options=_COUNTED).rowcount

    def insert_new(self, table: Table, values: Params) -> bool:
        """Insert a row unless its key is taken, also by a transaction that runs at the same time; tell whether."""
        return self.run(_insert_new(table, self.connection.dialect.name), values) == 1


class Database:
    """Short transactions on one database, safe to use from many threads; a forked child has connections of its own."""

    def __init__(self, dialect: Dialect, *, clock: Clock = system_clock) -> None:
        dialect.check()
        self.dialect = dialect
        self._clock = clock
        self._notes = threading.local()
        self.joining: Callable[[Transaction], None] | None = None
        self._engine = dialect.connect()
        self._master: MasterKey | None = None
        self._turnstile = Turnstile(self._engine, one_writer=dialect.one_writer)
        try:
            with self._translated(), self._turnstile.passing(write=True):
                migrate(self._engine, dialect)
            self._master = dialect.unlock_content(self)
        except BaseException:
            self.close()
            raise

    @contextmanager
    def read(self, tenant: str) -> Iterator[Transaction]:
        """Read from one snapshot."""
        with self._transaction(tenant, write=False) as transaction:
            yield transaction

    @contextmanager
    def write(self, tenant: str) -> Iterator[Transaction]:
        """Write all or nothing: durable when the block ends, nothing written when it raises."""
        with self._transaction(tenant, write=True) as transaction:
            yield transaction

    @contextmanager
    def noting(self, note: Callable[[Transaction], None]) -> Iterator[None]:
        """Let every write transaction of this thread end with a note in it; one that raises keeps it from committing.

        The audit log writes what was done so, whichever pipeline does it.
        """
        earlier = getattr(self._notes, "note", None)
        self._notes.note = note
        try:
            yield
        finally:
            self._notes.note = earlier

    @property
    def is_keyed(self) -> bool:
        """Whether the content of this store has keys (`retentia.store.keyed`)."""
        return self._master is not None

    def now(self) -> int:
        """Return the present in UTC microseconds, as transactions have it."""
        return self._clock()

    def reclaim(self) -> str:
        """Make deleted bytes unreadable; return "" when done, or what is still pending and why."""
        with self._translated(), self._turnstile.passing(write=True):
            return self.dialect.reclaim(self._engine)

    def size_bytes(self, transaction: Transaction) -> int:
        """Return the size of the database on disk in bytes."""
        return self.dialect.size_bytes(transaction.connection)

    def close(self) -> None:
        """Return every connection."""
        self._engine.dispose()

    @contextmanager
    def _transaction(self, tenant: str, *, write: bool) -> Iterator[Transaction]:
        with self._translated(), self._turnstile.passing(write=write), self._engine.connect() as connection:
            self.dialect.begin(connection, tenant=tenant, write=write)
            transaction = self._begun(connection, tenant, write=write)
            yield transaction
            if write:
                if (note := getattr(self._notes, "note", None)) is not None:
                    note(transaction)
                connection.commit()
            else:
                self.dialect.end_read(connection)

    def _begun(self, connection: Connection, tenant: str, *, write: bool) -> Transaction:
        if self._master is None:
            return Transaction(connection, tenant, self._clock(), self.dialect, joining=self.joining)
        from retentia.store.keyed import KeyedTransaction  # it needs an extra

        return KeyedTransaction(
            connection,
            tenant,
            self._clock(),
            self.dialect,
            joining=self.joining,
            master=self._master,
            writes=write,
        )

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except PoolTimeout as error:
            raise StoreBusy("every connection of this process is in use for too long; try again") from error
        except (DBAPIError, self.dialect.driver_error) as error:
            cause = error.orig if isinstance(error, DBAPIError) else error
            known = self.dialect.translate(cause) if isinstance(cause, Exception) else None
            if known is None:
                raise
            raise known from error


def batches(values: Iterable[_T]) -> Iterator[list[_T]]:
    """Cut a long list of distinct values: databases limit the parameters of a statement."""
    ordered = sorted(set(values))
    return (ordered[at : at + _PARAMETERS_AT_ONCE] for at in range(0, len(ordered), _PARAMETERS_AT_ONCE))


def insert_unless(table: Table, dialect_name: str) -> "sqlite.Insert | postgresql.Insert":
    """Return an INSERT that can say what to do where the key is taken."""
    if dialect_name == "sqlite":
        return sqlite.insert(table)
    from sqlalchemy.dialects import postgresql  # takes longer to import than a SQLite store takes to open

    return postgresql.insert(table)


@cache
def _insert_new(table: Table, dialect_name: str) -> Executable:
    return insert_unless(table, dialect_name).on_conflict_do_nothing()

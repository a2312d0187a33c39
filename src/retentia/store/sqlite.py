"""SQLite: one file, write-ahead log, several threads and processes."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import cast

from sqlalchemy import URL, ClauseElement, Connection, Engine, Executable, create_engine, event
from sqlalchemy.dialects import sqlite as sqlite_dialect
from sqlalchemy.dialects.sqlite.base import SQLiteCompiler
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import DatabaseError
from sqlalchemy.pool import ConnectionPoolEntry, QueuePool
from sqlalchemy.sql.compiler import SQLCompiler

from retentia import errors
from retentia.store.database import Database, Params, Tuples
from retentia.store.sqlite_bytes import blank, counted, descriptor, stale_pages
from retentia.store.sqlite_file import APPLICATION_ID, check_file

_OLDEST = (3, 35, 0)  # UPDATE … RETURNING
PAGE_BYTES = 8192
_BUSY_MS = 60_000
_RECLAIM_MS = 1_000
_RECLAIM_TRIES = 5
_DAMAGED = "the database file is damaged; restore a backup, or copy it and run `retentia doctor`"
_NO_ACCESS = "the store may not be written; check the permissions of the file and of its folder"
_ERRORS: dict[int, tuple[type[errors.StoreError], str]] = {
    sqlite3.SQLITE_BUSY: (errors.StoreBusy, "another process is writing for too long; try again"),
    sqlite3.SQLITE_LOCKED: (errors.StoreBusy, "another process is writing for too long; try again"),
    sqlite3.SQLITE_PROTOCOL: (errors.StoreBusy, "too many processes open the file at once; try again"),
    sqlite3.SQLITE_READONLY: (errors.StoreReadOnly, _NO_ACCESS),
    sqlite3.SQLITE_PERM: (errors.StoreReadOnly, _NO_ACCESS),
    sqlite3.SQLITE_AUTH: (errors.StoreReadOnly, _NO_ACCESS),
    sqlite3.SQLITE_FULL: (errors.StoreFull, "the disk is full and nothing was written; free some space and repeat"),
    sqlite3.SQLITE_CORRUPT: (errors.StoreCorrupt, _DAMAGED),
    sqlite3.SQLITE_NOTADB: (errors.StoreCorrupt, _DAMAGED),
    sqlite3.SQLITE_CANTOPEN: (
        errors.StoreUnavailable,
        "the file or its log cannot be opened; check the folder, its permissions and the limit of open files",
    ),
    sqlite3.SQLITE_IOERR: (errors.StoreUnavailable, "the disk reported an error; check its health and its free space"),
    sqlite3.SQLITE_NOMEM: (errors.StoreUnavailable, "there is not enough memory; try again"),
}


class SqliteDialect:
    """How to open and use one SQLite file. `path` may be relative to the present folder; its folder must exist."""

    name = "sqlite"
    one_writer = True  # waiting in line is fair and quick; SQLite's own waiting polls
    can_finish_reclaiming = True
    is_encrypted = False
    driver_error: type[Exception] = sqlite3.Error

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()  # the process may change its folder later

    @property
    def ledger_path(self) -> Path | None:
        real = self.path.resolve()  # as SQLite places its log
        return real.with_name(f"{real.name}.ledger")

    def check(self) -> None:
        if sqlite3.sqlite_version_info < _OLDEST:
            raise errors.StoreUnavailable(
                f"this Python has SQLite {sqlite3.sqlite_version}, and retentia needs 3.35 or newer; use a newer Python"
            )
        check_file(self.path)

    def unlock_content(self, database: Database) -> None:
        """A file is encrypted as a whole or not at all (`retentia.store.encrypted`); nothing in it is sealed."""

    def connect(self) -> Engine:
        engine = create_engine(
            URL.create("sqlite", database=str(self.path)),
            module=self.driver(),
            poolclass=QueuePool,
            pool_size=4,
            max_overflow=28,
            hide_parameters=True,  # they are what people said
            connect_args={
                "check_same_thread": False,
                "isolation_level": None,
                "timeout": _BUSY_MS / 1000,
                "factory": counted(self.driver()),
            },
        )
        event.listen(engine, "connect", self._set_up)
        return engine

    def driver(self) -> ModuleType:
        """Return the DB-API module that opens the file."""
        return sqlite3

    def unlock(self, connection: DBAPIConnection) -> None:
        """Do what must come before anything else on a new connection: nothing, for a file that is not encrypted."""

    def snapshot(self, target: Path) -> None:
        """Write a compact copy of the file, as one reader sees it, into a new one under the same key, if any."""
        with closing(self.driver().connect(self.path, isolation_level=None)) as source:
            self.unlock(source)
            source.execute("VACUUM INTO ?", (str(target),))

    def begin(self, connection: Connection, *, tenant: str, write: bool) -> None:
        """Begin past SQLAlchemy, whose own way takes longer than many a query."""
        _driver(connection).execute("BEGIN IMMEDIATE" if write else "BEGIN")

    def end_read(self, connection: Connection) -> None:
        connection.rollback()  # which a damaged file still allows

    def tuples(self, connection: Connection, statement: Executable, params: Params) -> Tuples:
        """Read past SQLAlchemy, whose own way takes three times as long for ten rows."""
        sql, names, defaults = _compiled(statement)
        values = [params[name] if name in params else defaults[name] for name in names]
        return _driver(connection).execute(sql, values).fetchall()

    def act_for(self, connection: Connection, tenant: str) -> None:
        """Every statement names its tenant; there is no second wall here."""

    def migration_lock(self, connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    def translate(self, error: Exception) -> errors.StoreError | None:
        code = getattr(error, "sqlite_errorcode", None)
        if code is None or (code & 0xFF) not in _ERRORS:
            return None
        kind, remedy = _ERRORS[code & 0xFF]
        return kind(f"{str(self.path)!r}: {remedy} ({error})")

    def reclaim(self, engine: Engine) -> str:
        """Empty the write-ahead log, then blank what secure_delete leaves: older copies of rows that have moved."""
        for _ in range(_RECLAIM_TRIES):
            if not self._empty_log(engine):
                return "another process is reading an older snapshot; its copy goes when it is done"
            if self.is_encrypted:  # what is left in the middle of a page is under the key, and cannot be told apart
                return ""
            with descriptor(self.path, write=True) as opened:
                # Looking takes no lock: deleting is over, so no page gets a copy of what is gone that had none.
                stale = stale_pages(opened)
                if not stale or self._blank(opened, stale):
                    return ""
        return "other processes are writing; older copies of what was deleted go with the next erasure"

    def _empty_log(self, engine: Engine) -> bool:
        with engine.connect() as connection:
            run = connection.exec_driver_sql
            run(f"PRAGMA busy_timeout = {_RECLAIM_MS}")
            try:
                return not run("PRAGMA wal_checkpoint(TRUNCATE)").scalar_one()
            finally:
                run(f"PRAGMA busy_timeout = {_BUSY_MS}")

    def _blank(self, opened: int, stale: Sequence[int]) -> bool:
        """Blank pages of the file while nobody writes; tell whether the log was still empty, so that it can be done.

        The connection is a new one, with no old page in its cache; its write makes all others drop theirs.
        """
        seconds = _BUSY_MS / 1000
        with closing(sqlite3.connect(self.path, seconds, isolation_level=None, factory=counted(sqlite3))) as own:
            own.execute("BEGIN IMMEDIATE")
            log = Path(f"{self.path}-wal")
            if is_empty := not log.exists() or log.stat().st_size == 0:
                blank(opened, stale)
                version = own.execute("PRAGMA user_version").fetchone()[0]
                own.execute(f"PRAGMA user_version = {version}")
            own.execute("COMMIT")
        return is_empty

    def integrity_problems(self, connection: Connection) -> list[str]:
        try:
            found = [str(row[0]) for row in connection.exec_driver_sql("PRAGMA integrity_check")]
        except DatabaseError as error:
            return [str(error.orig)]
        return [] if found == ["ok"] else found

    def _set_up(self, connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
        try:
            self.unlock(connection)
            _set_pragmas(connection)
        except BaseException:
            connection.close()
            raise

    def size_bytes(self, connection: Connection) -> int:
        names = (self.path, Path(f"{self.path}-wal"), Path(f"{self.path}-shm"))
        return sum(file.stat().st_size for file in names if file.exists())


def _set_pragmas(connection: DBAPIConnection) -> None:
    run = connection.cursor().execute
    is_new = run("PRAGMA page_count").fetchone()[0] == 0
    if is_new:
        run(f"PRAGMA page_size = {PAGE_BYTES}")
        run(f"PRAGMA application_id = {APPLICATION_ID}")
    run("PRAGMA journal_mode = WAL")
    run("PRAGMA synchronous = FULL")
    run("PRAGMA secure_delete = ON")
    run("PRAGMA foreign_keys = ON")
    run("PRAGMA temp_store = MEMORY")
    run("PRAGMA journal_size_limit = 67108864")
    run("PRAGMA cache_size = -16384")


@lru_cache(256)
def _compiled(statement: Executable) -> tuple[str, Sequence[str], Params]:
    """Return a statement's text, the names of its parameters in order, and the values it brings along."""
    dialect = sqlite_dialect.dialect()
    dialect.statement_compiler = _Compiler
    compiled = cast("ClauseElement", statement).compile(dialect=dialect)
    if not isinstance(compiled, SQLCompiler) or compiled.positiontup is None:
        raise TypeError(f"not a statement with positional parameters: {statement}")
    return str(compiled), compiled.positiontup, compiled.params


class _Compiler(SQLiteCompiler):
    """Writes the hints of a statement, such as INDEXED BY, which SQLAlchemy leaves out for SQLite."""

    def get_from_hint_text(self, table: object, text: str | None) -> str | None:
        return text


def _driver(connection: Connection) -> sqlite3.Connection:
    return cast("sqlite3.Connection", connection.connection.driver_connection)  # SQLAlchemy does not know its type

"""PostgreSQL through psycopg 3. Row-level security keeps each transaction to the rows of its tenant.

The policy compares with the setting `app.tenant`, which every transaction sets for itself alone. It is a second wall
behind the tenant in every statement; it does not stop whoever can run SQL of their own as the same role.
"""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import psycopg
from sqlalchemy import URL, Connection, Engine, Executable, create_engine, event, text
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import ConnectionPoolEntry

from retentia import errors
from retentia.store import content_keys
from retentia.store.database import Database, Params, Tuples
from retentia.store.schema import TENANT_TABLES

if TYPE_CHECKING:
    from retentia.store.sealing import MasterKey

_BEGIN_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL app.tenant = {}"
_BEGIN_WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL app.tenant = {}; SET LOCAL lock_timeout = '{}'"
_LOCK_WAIT = "60s"
_MIGRATION_LOCK = 0x52544E54  # "RTNT", as in the header of our SQLite files
_CONNECT_SECONDS = 10
_PENDING = (
    "PostgreSQL no longer returns what was erased, but its bytes may remain in the files until their pages are written "
    "anew (VACUUM FULL), and in the write-ahead log, replicas and backups until these expire"
)
_PENDING_KEYED = (
    "PostgreSQL no longer returns what was erased, but its bytes, encrypted, may remain in the files until their pages "
    "are written anew (VACUUM FULL), and in the write-ahead log, replicas and backups until these expire; where a key "
    "was destroyed, only copies that still hold it wrapped can be read, and only with the master key it was under"
)
_KEYS_IN_USE = "transactions that run for long keep the table of keys from being written anew: erase, or open, again"
_KEYS_WAIT = "500ms"
_LOST = "the connection was lost; repeat the call, with the same key if it has one: it may have been carried out"
_UNAVAILABLE = "the server is starting, stopping or ending connections; try again"
_BUSY = "others hold what this call needs for too long; try again"
_ERRORS: dict[str, tuple[type[errors.StoreError], str]] = {
    "25006": (errors.StoreReadOnly, "the server takes no writes (a standby?); connect to the primary"),
    "42501": (errors.StoreReadOnly, "the role lacks a right; let the owner of the tables grant it"),
    "40001": (errors.StoreBusy, _BUSY),
    "40P01": (errors.StoreBusy, _BUSY),
    "55P03": (errors.StoreBusy, _BUSY),
    "57014": (errors.StoreBusy, "the server's statement_timeout ended the call; raise it or try again"),
    "53100": (errors.StoreFull, "the server's disk is full and nothing was written; free some space and repeat"),
    "53200": (errors.StoreBusy, "the server is out of memory; try again"),
    "53300": (errors.StoreBusy, "the server has no connection left; raise max_connections or put a pooler before it"),
    "57P01": (errors.StoreUnavailable, _UNAVAILABLE),
    "57P02": (errors.StoreUnavailable, _UNAVAILABLE),
    "57P03": (errors.StoreUnavailable, _UNAVAILABLE),
    "57P05": (errors.StoreUnavailable, _UNAVAILABLE),
    "58030": (errors.StoreUnavailable, "the server cannot read or write its files; see its log"),
    "XX001": (errors.StoreCorrupt, "the server found damaged data; see its log and restore a backup"),
    "XX002": (errors.StoreCorrupt, "the server found a damaged index; let its owner run REINDEX"),
}
# A failed connection has no state to look at, only text: the remedies are by what the text contains.
_CONNECTING: tuple[tuple[str, type[errors.StoreError], str], ...] = (
    (r"pg_hba\.conf", errors.StoreUnavailable, "the server does not let this user in from here; see its pg_hba.conf"),
    (r"password|authentication", errors.StoreUnavailable, "check the user and the password in the URL"),
    (r"database .* does not exist", errors.StoreUnavailable, "create the database first (createdb), encoded in UTF8"),
    (r"role .* does not exist", errors.StoreUnavailable, "create the role first (createuser), or name another one"),
    (r"connection slots|too many", errors.StoreBusy, _ERRORS["53300"][1]),
    (r"starting up|shutting down|recovery", errors.StoreUnavailable, _UNAVAILABLE),
)
_NO_CONNECTION = "is the server running, and are host and port in the URL right?"


class PostgresDialect:
    """How to use one database of a PostgreSQL server (16 or newer, encoding UTF8), as a role that is no superuser."""

    name = "postgres"
    can_finish_reclaiming = False  # VACUUM FULL, the write-ahead log and backups are the administrator's
    one_writer = False
    driver_error: type[Exception] = psycopg.Error

    def __init__(self, url: URL, content_key: str | None = None) -> None:
        self._url = url
        self._content_key = content_key
        host = url.host or url.query.get("host") or "localhost"
        self.place = f"{host}:{url.port or 5432}/{url.database}"

    @property
    def ledger_path(self) -> Path | None:
        return None

    def check(self) -> None:
        """Nothing can be told before connecting."""

    def sealing(self) -> "PostgresDialect":
        """Return this dialect for whoever gives the store its keys, or other ones: it seals and opens nothing."""
        return _WhileSealing(self._url, "")

    def unlock_content(self, database: Database) -> "MasterKey | None":
        return content_keys.unlock(database, self._content_key)

    def connect(self) -> Engine:
        wanted = {"connect_timeout": _CONNECT_SECONDS, "application_name": "retentia", "client_encoding": "utf8"}
        engine = create_engine(
            self._url,
            isolation_level="AUTOCOMMIT",  # transactions are begun by `begin`
            pool_size=5,
            max_overflow=15,
            hide_parameters=True,  # they are what people said
            use_native_hstore=False,
            connect_args={name: value for name, value in wanted.items() if name not in self._url.query},
        )
        event.listen(engine, "connect", self._check_encoding)
        return engine

    def begin(self, connection: Connection, *, tenant: str, write: bool) -> None:
        """Begin and name the tenant in one round trip; connect anew when the server closed a waiting connection."""
        statement = (_BEGIN_WRITE if write else _BEGIN_READ).format(_literal(tenant), _LOCK_WAIT).encode()
        try:
            _driver(connection).execute(statement, prepare=False)
        except psycopg.OperationalError as error:
            was_closed = bool(_driver(connection).closed)
            connection.invalidate(error)
            if not was_closed:
                raise
            _driver(connection).execute(statement, prepare=False)

    def end_read(self, connection: Connection) -> None:
        connection.commit()  # at a ROLLBACK psycopg forgets the statements it has prepared

    def tuples(self, connection: Connection, statement: Executable, params: Params) -> Tuples:
        return connection.execute(statement, params).all()

    def act_for(self, connection: Connection, tenant: str) -> None:
        connection.execute(text("SELECT set_config('app.tenant', :tenant, true)"), {"tenant": tenant})

    def migration_lock(self, connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN")
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _MIGRATION_LOCK})

    def translate(self, error: Exception) -> errors.StoreError | None:
        if not isinstance(error, psycopg.Error):
            return None
        said = str(error).strip().partition("\n")[0]
        if error.sqlstate is None:
            if not isinstance(error, psycopg.OperationalError):
                return None
            kind, remedy = _without_state(said)
        elif error.sqlstate in _ERRORS:
            kind, remedy = _ERRORS[error.sqlstate]
        elif error.sqlstate.startswith("08"):
            kind, remedy = errors.StoreUnavailable, _LOST
        else:
            return None
        return kind(f"{self.place}: {remedy} ({said})")

    def reclaim(self, engine: Engine) -> str:
        """Free the space of deleted rows for others to overwrite; say that this is not yet the end of their bytes."""
        with engine.connect() as connection:
            connection.exec_driver_sql(f"VACUUM (SKIP_LOCKED) {', '.join(table.name for table in TENANT_TABLES)}")
            if self._content_key is None:
                return _PENDING
            return _PENDING_KEYED if _rewritten(connection) else f"{_PENDING_KEYED}; {_KEYS_IN_USE}"

    def integrity_problems(self, connection: Connection) -> list[str]:
        return []

    def size_bytes(self, connection: Connection) -> int:
        return int(connection.execute(text("SELECT pg_database_size(current_database())")).scalar_one())

    def _check_encoding(self, connection: DBAPIConnection, _entry: ConnectionPoolEntry) -> None:
        encoding = connection.info.parameter_status("server_encoding")
        if encoding != "UTF8":
            raise errors.StoreUnavailable(
                f"{self.place}: the database has the encoding {encoding}, which cannot hold every script; "
                "create it with ENCODING 'UTF8' TEMPLATE template0"
            )


class _WhileSealing(PostgresDialect):
    def unlock_content(self, database: Database) -> None:
        """Open the store whatever it says of its keys."""


def _rewritten(connection: Connection) -> bool:
    """Write the table of content keys anew, so that none that was destroyed is left in it; tell whether it was free."""
    connection.exec_driver_sql(f"SET lock_timeout = '{_KEYS_WAIT}'")
    try:
        connection.exec_driver_sql("VACUUM FULL content_key")
    except DBAPIError as error:
        if not isinstance(error.orig, psycopg.errors.LockNotAvailable):
            raise
        return False
    finally:
        connection.exec_driver_sql("RESET lock_timeout")
    return True


def _without_state(said: str) -> tuple[type[errors.StoreError], str]:
    """Read the text of an error that has no state: connecting failed, or an open connection broke."""
    if not said.startswith(("connection failed", "connection is bad", "connection timeout", "failed to resolve")):
        return errors.StoreUnavailable, _LOST
    for pattern, kind, remedy in _CONNECTING:
        if re.search(pattern, said):
            return kind, remedy
    return errors.StoreUnavailable, _NO_CONNECTION


def _literal(tenant: str) -> str:
    """Quote a tenant for SET, which takes no parameters; correct whatever standard_conforming_strings says."""
    if "\0" in tenant:
        raise errors.InvalidScope("the tenant of a scope cannot hold NUL")
    doubled = tenant.replace("\\", "\\\\").replace("'", "''")
    return f"E'{doubled}'"


def _driver(connection: Connection) -> psycopg.Connection[Any]:
    return cast("psycopg.Connection[Any]", connection.connection.driver_connection)  # SQLAlchemy does not know its type

"""Bring a database to the current schema, one numbered file after the other, each all or nothing."""

import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from typing import TYPE_CHECKING

from sqlalchemy import Connection, Engine, text

from retentia.errors import MigrationChanged, NewerSchema

if TYPE_CHECKING:
    from retentia.store.database import Dialect

_CREATE = text(
    "CREATE TABLE IF NOT EXISTS schema_migration "
    "(name TEXT PRIMARY KEY, sha256 TEXT NOT NULL, applied_at BIGINT NOT NULL)"
)
_SEEN = text("SELECT name, sha256 FROM schema_migration")
_APPLIED = text("INSERT INTO schema_migration (name, sha256, applied_at) VALUES (:name, :sha256, :applied_at)")


def migrate(engine: Engine, dialect: "Dialect") -> list[str]:
    """Apply the migrations this database has not seen; return their names.

    Raises NewerSchema when it has seen more than we know, MigrationChanged when a file differs from what was applied.
    """
    known = migrations(dialect.name)
    with engine.connect() as connection:
        if _is_current(connection, dialect, known):
            return []
        with _locked(connection, dialect):
            connection.execute(_CREATE)
            pending = _pending(known, _seen(connection))
            for name, script in pending:
                for statement in _statements(script):
                    connection.exec_driver_sql(statement, execution_options={"no_parameters": True})
                connection.execute(
                    _APPLIED, {"name": name, "sha256": _digest(script), "applied_at": time.time_ns() // 1000}
                )
    return [name for name, _ in pending]


def migrations(dialect_name: str) -> list[tuple[str, str]]:
    """Return the names and texts of the migrations of a database, the first first."""
    folder = resources.files("retentia.store") / "migrations" / dialect_name
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".sql")), key=lambda file: file.name)
    return [(file.name, file.read_text("utf-8")) for file in files]


def _is_current(connection: Connection, dialect: "Dialect", known: list[tuple[str, str]]) -> bool:
    """Look without a lock first: opening an up-to-date store must not wait for a writer."""
    exists = connection.dialect.has_table(connection, "schema_migration")
    current = exists and not _pending(known, _seen(connection))
    connection.rollback()
    return current


def _pending(known: list[tuple[str, str]], seen: dict[str, str]) -> list[tuple[str, str]]:
    if newer := sorted(seen.keys() - {name for name, _ in known}):
        raise NewerSchema(
            f"the store was written by a newer version of retentia (it has {newer[-1]!r}); upgrade retentia to open it"
        )
    for name, script in known:
        if seen.get(name, _digest(script)) != _digest(script):
            raise MigrationChanged(f"{name} was edited after it was applied; reinstall retentia")
    return [(name, script) for name, script in known if name not in seen]


def _seen(connection: Connection) -> dict[str, str]:
    return {str(name): str(digest) for name, digest in connection.execute(_SEEN)}


@contextmanager
def _locked(connection: Connection, dialect: "Dialect") -> Iterator[None]:
    dialect.migration_lock(connection)
    try:
        yield
    except BaseException:
        connection.rollback()
        raise
    connection.commit()


def _statements(script: str) -> list[str]:
    """Split at semicolons that end a line, which is where our own files put them."""
    return [part.strip() for part in script.split(";\n") if part.strip()]


def _digest(script: str) -> str:
    return hashlib.sha256(script.encode()).hexdigest()

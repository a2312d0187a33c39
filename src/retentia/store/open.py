"""Opening a store by its URL."""

import re
from pathlib import Path
from typing import NamedTuple

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from retentia.errors import InvalidInput, MissingExtra
from retentia.model.time import Clock, system_clock
from retentia.store.database import Database, Dialect
from retentia.store.key import find_key
from retentia.store.sqlite import SqliteDialect

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")  # one letter is a drive of Windows
_FORMS = "use 'sqlite:///memory.db', 'sqlite:////absolute/path/memory.db', a path, or 'postgresql://user@host/database'"
_SERVERS = frozenset({"postgresql", "postgres", "postgresql+psycopg"})


class Keys(NamedTuple):
    """The keys that open a store: of a SQLite file, and of the content of a PostgreSQL store."""

    key: str | None
    content_key: str | None


def open_database(
    url: str | Path, *, clock: Clock = system_clock, key: str | None = None, content_key: str | None = None
) -> Database:
    """Open the database a URL or a path names, bringing it to the current schema; a new file becomes a store.

    `key` opens, or makes, an encrypted SQLite file; `content_key` opens, or makes, a PostgreSQL store whose content has
    keys. Raises InvalidInput for what is no such URL, MissingExtra for PostgreSQL or encryption without its driver, and
    StoreError.
    """
    return Database(dialect_of(url, key=key, content_key=content_key), clock=clock)


def find_keys(url: str | Path, *, key: str | None = None, content_key: str | None = None) -> Keys:
    """Return the keys to open a store with: those given, or what the environment names, as its database takes it."""
    if is_server(url):
        return Keys(key, find_key(content_key))
    return Keys(find_key(key), content_key)


def is_server(url: str | Path) -> bool:
    """Tell whether a URL names a PostgreSQL server."""
    scheme = _SCHEME.match(url) if isinstance(url, str) else None
    return scheme is not None and scheme.group(1).lower() in _SERVERS


def dialect_of(url: str | Path, *, key: str | None = None, content_key: str | None = None) -> Dialect:
    """Tell which database a URL or a path names, without opening it; raise InvalidInput or MissingExtra."""
    dialect = _dialect_of(url, content_key)
    if content_key is not None and isinstance(dialect, SqliteDialect):
        raise InvalidInput("content_key= is for PostgreSQL; a SQLite file is encrypted as a whole, with key=")
    if key is None:
        return dialect
    if not isinstance(dialect, SqliteDialect):
        raise InvalidInput("key= opens an encrypted SQLite file; on PostgreSQL content_key= encrypts what people said")
    from retentia.store.encrypted import EncryptedDialect

    return EncryptedDialect(dialect.path, key)


def _dialect_of(url: str | Path, content_key: str | None) -> Dialect:
    if isinstance(url, Path):
        return SqliteDialect(_file(str(url)))
    scheme = _SCHEME.match(url)
    match scheme.group(1).lower() if scheme else "":
        case "":
            return SqliteDialect(_file(url))
        case "sqlite":
            return SqliteDialect(_sqlite_file(url))
        case named if named in _SERVERS:
            return _postgres(_server(url), content_key)
        case other:
            raise InvalidInput(f"{other!r} is no store that retentia can open; {_FORMS}")


def _sqlite_file(url: str) -> Path:
    if not url.lower().startswith("sqlite:///"):
        raise InvalidInput(f"{url!r} names no file: after 'sqlite:' come three slashes, and one more before /a/path")
    name, _, query = url[len("sqlite:///") :].partition("?")
    if query:
        raise InvalidInput(f"{url!r} has options ({query!r}), and a store takes none; leave out '?' and what follows")
    return _file(name)


def _file(name: str) -> Path:
    if name in {"", ".", ":memory:"} or name.startswith("file:") or "\0" in name:
        raise InvalidInput(f"{name!r} names no file, and a store needs one; {_FORMS}")
    try:
        return Path(name).expanduser()
    except RuntimeError as error:
        raise InvalidInput(f"{name!r} names the home of someone this machine does not know") from error


def _server(url: str) -> URL:
    """Read the URL of a server. Nothing of it is repeated in an error: it may hold a password."""
    try:
        read = make_url(url).set(drivername="postgresql+psycopg")
    except (ArgumentError, ValueError):
        read = URL.create("postgresql+psycopg", host="@")
    if "@" in f"{read.host}{read.database}":
        raise InvalidInput(
            "the URL of the server cannot be read; write postgresql://user:password@host:5432/database, with the "
            "special characters of the password percent-encoded (@ is %40, : is %3A, / is %2F)"
        ) from None
    if not read.database:
        raise InvalidInput("the URL names no database; write postgresql://user@host:5432/database")
    return read


def _postgres(url: URL, content_key: str | None) -> Dialect:
    try:
        import psycopg  # noqa: F401 - an extra, and slow to import
    except ImportError as error:
        raise MissingExtra("postgres") from error
    from retentia.store.postgres import PostgresDialect

    return PostgresDialect(url, content_key)

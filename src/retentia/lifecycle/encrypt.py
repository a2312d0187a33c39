"""Encrypting a store that was not: every row goes into an encrypted file, which then takes the place of the other."""

import os
import secrets
import sqlite3
from contextlib import closing
from pathlib import Path

from retentia.errors import InvalidInput, StoreBusy
from retentia.lifecycle.copy import copy_store
from retentia.model.progress import Progress, unheard
from retentia.store.database import Database
from retentia.store.encrypted import EncryptedDialect
from retentia.store.sqlite import SqliteDialect


def encrypt(dialect: SqliteDialect, key: str, *, progress: Progress = unheard) -> None:
    """Encrypt a store in place; killed at any point, it is still what it was before, or encrypted.

    No other process may have it open: raises StoreBusy. The blocks of the old file are freed, not overwritten, so what
    was in it may still be on the disk.
    """
    if isinstance(dialect, EncryptedDialect) or not dialect.path.exists():
        raise InvalidInput(f"{str(dialect.path)!r} is not a store that could be encrypted")
    _check_is_ours_alone(dialect.path)
    fresh = dialect.path.with_name(f"{dialect.path.name}.{secrets.token_hex(4)}.new")
    try:
        source, target = Database(dialect), Database(EncryptedDialect(fresh, key))
        try:
            copy_store(source, target, progress=progress)
            target.reclaim()
        finally:
            target.close()
            source.close()
        _check_is_ours_alone(dialect.path)
        os.replace(fresh, dialect.path)  # noqa: PTH105 - the log of neither file is left: both were closed
    finally:
        for left in dialect.path.parent.glob(f"{fresh.name}*"):
            left.unlink()


def _check_is_ours_alone(path: Path) -> None:
    """Leaving the write-ahead log takes the file to oneself, and empties it."""
    with closing(sqlite3.connect(path, isolation_level=None, timeout=1)) as connection:
        try:
            (mode,) = connection.execute("PRAGMA journal_mode = DELETE").fetchone()
        except sqlite3.OperationalError:
            mode = "wal"
    if mode != "delete":
        raise StoreBusy(f"{str(path)!r} is open elsewhere; close every process that uses it, and try again")

"""An encrypted SQLite file: every page, the write-ahead log too, under one key (SQLCipher: AES-256 with HMAC-SHA512).

A key is 64 hexadecimal digits, used as they are, or a passphrase, from which SQLCipher's own rule makes one (PBKDF2
with HMAC-SHA512, 256,000 rounds, salted by the first 16 bytes of the file). That takes a fifth of a second, so it is
done once for a store and not once for a connection.
"""

import hashlib
import importlib
import os
import re
from contextlib import closing
from pathlib import Path
from types import ModuleType

from sqlalchemy import Connection
from sqlalchemy.engine.interfaces import DBAPIConnection

from retentia import errors
from retentia.store.sqlite import PAGE_BYTES, SqliteDialect
from retentia.store.sqlite_file import APPLICATION_ID, check_file, first_bytes

_RAW = re.compile(r"[0-9a-fA-F]{64}")
_SALT_BYTES, _KEY_BYTES, _ROUNDS = 16, 32, 256_000
_NOT_A_DATABASE = 26


class EncryptedDialect(SqliteDialect):
    """How to open and use one encrypted file. `key` is never shown, and not kept as it was given."""

    is_encrypted = True

    def __init__(self, path: Path, key: str) -> None:
        super().__init__(path)
        if not key:
            raise errors.InvalidInput("the key is empty; give 64 hexadecimal digits, or a passphrase")
        self._module = _load_driver()
        self.driver_error = self._module.Error
        self._pragma_key = _pragma_key(key, self.path)

    def check(self) -> None:
        check_file(self.path, is_encrypted=True)

    def driver(self) -> ModuleType:
        return self._module

    def unlock(self, connection: DBAPIConnection) -> None:
        run = connection.cursor().execute
        run("PRAGMA cipher_log_level = NONE")  # it would write to the error stream of the process
        run(f'PRAGMA key = "{self._pragma_key}"')
        run(f"PRAGMA cipher_page_size = {PAGE_BYTES}")

    def translate(self, error: Exception) -> errors.StoreError | None:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF == _NOT_A_DATABASE:
            return errors.WrongKey(f"{str(self.path)!r} does not open with this key; give the one it was made with")
        return super().translate(error)

    def snapshot(self, target: Path) -> None:
        """Write a compact copy, as one reader sees it, under the same key and salt (`VACUUM INTO` draws a new salt)."""
        with closing(self._module.connect(self.path, isolation_level=None)) as source:
            self.unlock(source)
            source.execute(f'ATTACH DATABASE ? AS copy KEY "{self._pragma_key}"', (str(target),))
            source.execute(f"PRAGMA copy.cipher_page_size = {PAGE_BYTES}")
            source.execute(f"PRAGMA copy.application_id = {APPLICATION_ID}")
            source.execute("SELECT sqlcipher_export('copy')")

    def integrity_problems(self, connection: Connection) -> list[str]:
        """Check the authentication of every page first, then what is in them."""
        tampered = [str(row[0]) for row in connection.exec_driver_sql("PRAGMA cipher_integrity_check")]
        return tampered or super().integrity_problems(connection)


def _load_driver() -> ModuleType:
    try:
        return importlib.import_module("sqlcipher3.dbapi2")
    except ImportError as error:
        raise errors.MissingExtra("encrypted") from error


def _pragma_key(key: str, path: Path) -> str:
    if _RAW.fullmatch(key):
        return f"x'{key}'"
    salt = first_bytes(path, _SALT_BYTES)
    salt = salt if len(salt) == _SALT_BYTES else os.urandom(_SALT_BYTES)
    made = hashlib.pbkdf2_hmac("sha512", key.encode("utf-8"), salt, _ROUNDS, _KEY_BYTES)
    return f"x'{made.hex()}{salt.hex()}'"

"""Backups: a consistent copy of a store in one file, with what is needed to check it, and an end.

The file is a zip archive of a SQLite store (whatever database the store itself is in) and a manifest. The store inside
is compact: nothing that was erased before is in it. It names the entry of the ledger it was made after, so that what is
erased later cannot come back through it.
"""

import errno
import hashlib
import json
import os
import secrets
import shutil
import tempfile
import time
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields
from datetime import timedelta
from pathlib import Path

from retentia.errors import BackupDamaged, InvalidInput, StoreFull, StoreUnavailable, WrongKey
from retentia.lifecycle.copy import copy_store
from retentia.lifecycle.file_lock import locked
from retentia.lifecycle.store_ledger import StoreLedger
from retentia.model.progress import Progress, unheard
from retentia.model.time import Moment
from retentia.store.database import Database
from retentia.store.open import Keys, dialect_of, open_database
from retentia.store.sqlite import SqliteDialect
from retentia.store.sqlite_file import SQLITE_HEADER

DEFAULT_LIFE = timedelta(days=30)
_VERSION = 1
_STORE, _MANIFEST = "store.db", "manifest.json"
_CHUNK = 1 << 20
_LONGEST_MANIFEST = 1 << 16
_WORKSHOP, _LOCK = ".retentia-work-", "lock"
_SETTLING_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a backup says of itself; times are UTC microseconds, `ledger_seq` is the last erasure it was made after."""

    version: int
    id: str
    store: str
    created_at: int
    expires_at: int
    ledger_seq: int
    size: int
    sha256: str
    is_encrypted: bool


def back_up(
    database: Database,
    ledger: StoreLedger,
    path: Path,
    *,
    keep_for: timedelta = DEFAULT_LIFE,
    key: str | None = None,
    progress: Progress = unheard,
) -> Manifest:
    """Write a backup of the whole store. It is there whole, or not at all. Raises InvalidInput where a file is.

    The backup of an encrypted SQLite store is under the same key; `key` encrypts that of any other. A store whose
    content has keys takes one, so that a backup says no more than the store: raises InvalidInput without.
    """
    if database.is_keyed and key is None:
        raise InvalidInput("the content of this store is encrypted, and a backup has none of its keys; give it a key=")
    with _written(path, database):
        _check_place(path)
    if keep_for <= timedelta(0):
        raise InvalidInput("a backup must be kept for some time; it is then refused")
    created = database.now()
    expires = created + keep_for // timedelta(microseconds=1)
    name = secrets.token_hex(8)
    seq = _announce(database, ledger, name, created, expires)
    with _written(path, database), workshop(path.parent) as folder:
        copied = folder / _STORE
        is_encrypted = _snapshot(database, copied, key, progress)
        manifest = Manifest(
            version=_VERSION,
            id=name,
            store=ledger.store,
            created_at=created,
            expires_at=expires,
            ledger_seq=seq,
            size=copied.stat().st_size,
            sha256=_digest(copied),
            is_encrypted=is_encrypted,
        )
        packed = folder / "packed"
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            archive.writestr(_MANIFEST, json.dumps(asdict(manifest), indent=2))
            archive.write(copied, _STORE)
        packed.chmod(0o600)
        _sync(packed)
        _publish(packed, path)
    return manifest


def read_manifest(path: Path) -> Manifest:
    """Read what a backup says of itself, without checking the rest. Raises BackupDamaged."""
    with _readable(path) as archive:
        return _manifest(archive, path)


def restore(
    path: Path,
    url: str | Path,
    *,
    key: str | None = None,
    content_key: str | None = None,
    now: int | None = None,
    progress: Progress = unheard,
) -> Manifest:
    """Put a backup into a new SQLite file or an empty PostgreSQL database.

    `key` opens an encrypted backup; the SQLite file is then encrypted with it, too. `content_key` gives a PostgreSQL
    database keys for its content. What was erased since comes back:
    open the store with `replay_erasures=True` at once. Raises BackupDamaged for a file that was changed, InvalidInput
    for one that has expired or a place that is taken.
    """
    dialect = dialect_of(url)
    beside = dialect.path.parent if isinstance(dialect, SqliteDialect) else Path(tempfile.gettempdir())
    if not beside.is_dir():
        raise InvalidInput(f"there is no folder {str(beside)!r}; create it first")
    with workshop(beside) as folder:
        with _readable(path) as archive:
            manifest = _manifest(archive, path)
            if manifest.expires_at <= (Moment.now().start if now is None else now):
                raise InvalidInput(
                    f"{str(path)!r} expired on {Moment.at(manifest.expires_at).iso()[:10]}: those whose data it holds "
                    "were promised that it is not used any more"
                )
            unpacked = _unpack(archive, path, manifest, folder)
        if _digest(unpacked) != manifest.sha256:
            raise BackupDamaged(f"{str(path)!r} does not hold what it was made with; use another backup")
        _fill(unpacked, url, Keys(key, content_key), manifest, progress)
    return manifest


def _announce(database: Database, ledger: StoreLedger, name: str, created: int, expires: int) -> int:
    """Write into the ledger that a backup is made, so that receipts can tell how long the erased live on in it."""
    with ledger.held(begin=True) as held, database.write("") as transaction:
        ledger.note_backup(transaction, expires)
        if held is None:
            return ledger.applied(transaction).seq
        if held.log.later:
            raise InvalidInput("an erasure was interrupted; open the store again, which finishes it, and repeat")
        held.log.append(at=created, kind="backup", id=name, expires_at=expires)
        ledger.note_applied(transaction, held.log.end)
        return held.log.end.seq


def _snapshot(database: Database, target: Path, key: str | None, progress: Progress) -> bool:
    """Copy a store into a SQLite file; tell whether that is encrypted."""
    dialect = database.dialect
    is_encrypted = isinstance(dialect, SqliteDialect) and dialect.is_encrypted
    if isinstance(dialect, SqliteDialect) and (is_encrypted or key is None):
        dialect.snapshot(target)
        return is_encrypted
    copy = open_database(target, key=key)
    try:
        copy_store(database, copy, progress=progress)
        copy.reclaim()
    finally:
        copy.close()
    return key is not None


def _fill(unpacked: Path, url: str | Path, keys: Keys, manifest: Manifest, progress: Progress) -> None:
    key = keys.key
    if manifest.is_encrypted and key is None:
        raise WrongKey("the backup is encrypted; give the key of the store it was made from")
    dialect = dialect_of(url)
    file = dialect.path if isinstance(dialect, SqliteDialect) else None
    is_new = file is not None and not file.exists()
    try:
        target = open_database(url, key=None if file is None else key, content_key=keys.content_key)
        try:
            source = open_database(unpacked, key=key if manifest.is_encrypted else None)
            try:
                copy_store(source, target, progress=progress)
            finally:
                source.close()
        finally:
            target.close()
    except BaseException:
        if file is not None and is_new:  # an empty store would only be in the way of the next attempt
            for left in (file, Path(f"{file}-wal"), Path(f"{file}-shm")):
                left.unlink(missing_ok=True)
        raise


def _manifest(archive: zipfile.ZipFile, path: Path) -> Manifest:
    try:
        is_right = archive.getinfo(_MANIFEST).file_size <= _LONGEST_MANIFEST
        read: Mapping[str, object] = json.loads(archive.read(_MANIFEST)) if is_right else {}
        manifest = Manifest(**read)  # type: ignore[arg-type]
    except (KeyError, ValueError, TypeError) as error:
        raise BackupDamaged(f"{str(path)!r} is no backup of retentia, or was changed") from error
    if not all(type(getattr(manifest, one.name)) is one.type for one in fields(Manifest)):
        raise BackupDamaged(f"{str(path)!r} is no backup of retentia, or was changed")
    if manifest.version != _VERSION:
        raise InvalidInput(f"{str(path)!r} was made by a newer version of retentia; upgrade retentia to restore it")
    return manifest


def _unpack(archive: zipfile.ZipFile, path: Path, manifest: Manifest, folder: Path) -> Path:
    """Unpack the one member that counts, under our own name, after it is known how much it is and that it fits."""
    damaged = BackupDamaged(f"{str(path)!r} does not hold what it was made with; use another backup")
    if archive.getinfo(_STORE).file_size != manifest.size:
        raise damaged
    if manifest.size > shutil.disk_usage(folder).free:
        raise StoreFull(f"the backup unpacks to {manifest.size / 1e6:.0f} MB, and {str(folder.parent)!r} has less free")
    unpacked = folder / _STORE
    with archive.open(_STORE) as packed, unpacked.open("wb") as file:
        beginning = packed.read(len(SQLITE_HEADER))
        if not manifest.is_encrypted and beginning != SQLITE_HEADER:
            raise damaged
        file.write(beginning)
        shutil.copyfileobj(packed, file, _CHUNK)
    return unpacked


@contextmanager
def _readable(path: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except FileNotFoundError as error:
        raise InvalidInput(f"there is no backup {str(path)!r}") from error
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise StoreFull("the disk became full while the backup was unpacked; free some space and repeat") from error
        raise BackupDamaged(f"{str(path)!r} cannot be read: {error.strerror or error}") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, LookupError, ValueError) as error:
        raise BackupDamaged(f"{str(path)!r} is no backup of retentia, or was changed: {error}") from error


@contextmanager
def _written(path: Path, database: Database) -> Iterator[None]:
    """Name what keeps a backup from being written; nothing of it is left then."""
    driver_error = database.dialect.driver_error
    try:
        yield
    except FileExistsError as error:
        raise InvalidInput(f"{str(path)!r} is there already; name a new file") from error
    except (OSError, driver_error) as error:
        is_full = getattr(error, "errno", 0) == errno.ENOSPC or getattr(error, "sqlite_errorname", "") == "SQLITE_FULL"
        if is_full:
            raise StoreFull(
                f"the disk is full, no backup {str(path)!r} was made; free some space and repeat"
            ) from error
        raise StoreUnavailable(f"the backup {str(path)!r} could not be written: {error}") from error


def _check_place(path: Path) -> None:
    if path.is_symlink() or path.exists():
        raise InvalidInput(f"{str(path)!r} is there already; name a new file")
    if not path.parent.is_dir():
        raise InvalidInput(f"there is no folder {str(path.parent)!r}; create it first")


def _publish(packed: Path, path: Path) -> None:
    """Give a whole backup its name, which must still be free."""
    try:
        os.link(packed, path)
    except FileExistsError:
        raise
    except OSError:  # FAT knows no links
        if path.exists():
            raise FileExistsError(path) from None
        packed.rename(path)


@contextmanager
def workshop(parent: Path) -> Iterator[Path]:
    """Make a folder for unfinished work that goes afterwards; one whose process was killed goes with the next."""
    for left in parent.glob(f"{_WORKSHOP}*"):
        with suppress(OSError):
            if time.time() - left.stat().st_mtime < _SETTLING_SECONDS:
                continue  # it may have been made just now, and not be locked yet
            with (left / _LOCK).open("r+b") as file, locked(file, patience=0):
                shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=parent, prefix=_WORKSHOP, ignore_cleanup_errors=True) as name:
        folder = Path(name)
        with (folder / _LOCK).open("w+b") as file, locked(file, patience=0):
            yield folder


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())

"""The ledger: which records were erased, in a file of its own beside the store.

A restored backup or a copied file holds what was erased since. The ledger does not, and it outlives them: a store that
has applied less of it than it holds refuses to open. It is append-only, one JSON object a line, each with the hash of
itself and the one before; it names ids and keyed hashes, never content. The first line holds the key of those hashes,
so the file is readable by its owner alone.
"""

import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal

from retentia.errors import LedgerDamaged, LedgerMissing, StoreUnavailable
from retentia.lifecycle.file_lock import locked

_VERSION = 1
_KEY_BYTES = 32
EntryKind = Literal["erasure", "backup"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line: records were erased, or a backup was made that still holds what is erased after it.

    `seq` counts from 1, `at` and `expires_at` are UTC microseconds. `id` names the erasure or the backup, `tenant` is a
    keyed hash, `scopes` are the store's own numbers, `records` and `tombstones` are hexadecimal.
    """

    seq: int
    at: int
    kind: EntryKind
    id: str
    tenant: str = ""
    scopes: tuple[int, ...] = ()
    records: tuple[str, ...] = ()
    tombstones: tuple[str, ...] = ()
    expires_at: int | None = None


class Ledger:
    """One ledger file. Any number of processes may use it; an entry is on disk when `append` returns."""

    def __init__(self, path: Path, key: bytes) -> None:
        """Use `open` or `create`."""
        self.path = path
        self._key = key

    @classmethod
    def create(cls, path: Path, store: str) -> "Ledger":
        """Begin the ledger of a store; where another process has just begun it, open that one."""
        header = {"ledger": _VERSION, "store": store, "key": secrets.token_hex(_KEY_BYTES)}
        partial = path.with_name(f"{path.name}.{secrets.token_hex(4)}.new")
        with _explained(path):
            with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                _write(file, header, "")
            try:
                os.link(partial, path)  # which, unlike a rename, never replaces a ledger
            except FileExistsError:
                pass
            finally:
                partial.unlink()
            _sync_folder(path.parent)
        return cls.open(path, store)

    @classmethod
    def open(cls, path: Path, store: str) -> "Ledger":
        """Open the ledger of a store. Raises LedgerMissing, and LedgerDamaged when it is another store's."""
        with _explained(path), path.open("rb") as file:
            header = _checked(file.readline(), "", path, 1)
        if header.get("ledger") != _VERSION or header.get("store") != store:
            raise LedgerDamaged(f"{str(path)!r} is not the ledger of this store; name the right one with `ledger=`")
        return cls(path, bytes.fromhex(header["key"]))

    def keyed(self, *names: str) -> bytes:
        """Return a keyed hash of some names, 32 bytes: the same for the same names, and telling nothing of them."""
        said = json.dumps(names, ensure_ascii=False).encode("utf-8", "surrogatepass")
        return hmac.digest(self._key, said, "sha256")

    def entries(self) -> list[Entry]:
        """Return every entry, the oldest first. Raises LedgerDamaged where a line was changed or is missing."""
        with self._held("rb") as file:
            return [entry for entry, _ in self._read(file)]

    @contextmanager
    def appending(self) -> Iterator["Appender"]:
        """Hold the ledger, so that what is appended and what is done to the store happen in one order."""
        with self._held("r+b") as file:
            seq, last = 0, str(_checked(file.readline(), "", self.path, 1)["hash"])
            for entry, line_hash in self._read(file):
                seq, last = entry.seq, line_hash
            yield Appender(file, seq, last)

    @contextmanager
    def _held(self, mode: Literal["rb", "r+b"]) -> Iterator[BinaryIO]:
        with _explained(self.path), self.path.open(mode) as file, locked(file):
            yield file

    def _read(self, file: BinaryIO) -> Iterator[tuple[Entry, str]]:
        """Yield each entry with its hash, and leave the file where the last whole line ends."""
        file.seek(0)
        last, end, number = "", 0, 0
        while (raw := file.readline()).endswith(b"\n"):
            number += 1
            line = _checked(raw, last, self.path, number)
            last, end = str(line.pop("hash")), end + len(raw)
            if number > 1:
                yield _entry(line, number, self.path), last
        file.seek(end)  # a process that died while writing may have left a part, which nobody was told of


class Appender:
    """Appends to a ledger that is held."""

    def __init__(self, file: BinaryIO, seq: int, last: str) -> None:
        self._file = file
        self._last = last
        self.seq = seq
        """The number of the last entry, 0 when there is none."""

    def append(self, *, at: int, kind: EntryKind, id: str, **names: Any) -> Entry:  # noqa: A002 - as the field
        """Write one entry; it is on disk when this returns."""
        entry = Entry(seq=self.seq + 1, at=at, kind=kind, id=id, **names)
        self._file.truncate()
        self._last = _write(self._file, asdict(entry), self._last)
        self.seq = entry.seq
        return entry


def _write(file: BinaryIO, line: Mapping[str, Any], last: str) -> str:
    line_hash = _hash(line, last)
    file.write(json.dumps({**line, "hash": line_hash}, separators=(",", ":")).encode() + b"\n")
    file.flush()
    os.fsync(file.fileno())
    return line_hash


def _hash(line: Mapping[str, Any], last: str) -> str:
    said = json.dumps(line, separators=(",", ":"), sort_keys=True)
    return hashlib.sha256(f"{last}\n{said}".encode()).hexdigest()


def _checked(raw: bytes, last: str, path: Path, number: int) -> dict[str, Any]:
    try:
        line = json.loads(raw)
        claimed = line["hash"]
        is_right = claimed == _hash({name: value for name, value in line.items() if name != "hash"}, last)
    except (ValueError, TypeError, KeyError):
        is_right = False
    if not is_right:
        raise LedgerDamaged(
            f"line {number} of the ledger {str(path)!r} was changed, or a line before it is missing; put back a whole "
            "copy of the ledger"
        )
    return dict(line)


def _entry(line: dict[str, Any], number: int, path: Path) -> Entry:
    for name in ("scopes", "records", "tombstones"):
        line[name] = tuple(line[name])
    entry = Entry(**line)
    if entry.seq != number - 1:
        raise LedgerDamaged(f"line {number} of the ledger {str(path)!r} has the number {entry.seq}")
    return entry


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":  # a folder cannot be opened there
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise LedgerMissing(
            f"the ledger of erasures {str(path)!r} is gone, so nothing would keep erased records from coming back; "
            "put it back, or accept the loss with `retentia ledger renew`"
        ) from error
    except OSError as error:
        raise StoreUnavailable(f"the ledger {str(path)!r} cannot be used: {error.strerror}") from error

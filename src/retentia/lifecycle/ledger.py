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
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, BinaryIO, Literal

from retentia.errors import LedgerDamaged, LedgerMissing, StoreBusy, StoreUnavailable
from retentia.lifecycle.file_lock import locked

_VERSION = 1
_KEY_BYTES = 32
_NAMES = json.JSONEncoder(ensure_ascii=False)  # kept, because making one takes longer than its work
EntryKind = Literal["erasure", "backup", "hold", "removal", "restored"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line: records were erased, a backup was made that still has what is erased after it, a scope was held, or
    records were removed into the bin until `expires_at` and restored from it, with the id of the removal.

    `seq` counts from 1, `at` and `expires_at` are UTC microseconds. `id` names which of them, `tenant` is a
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


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in a ledger: after entry `seq`, `end` bytes from its beginning, where the hash so far is `hash`.

    A store remembers the place up to which it has applied its ledger, and reads on from there.
    """

    seq: int = 0
    end: int = 0
    hash: str = ""

    @classmethod
    def parse(cls, text: str) -> "Mark":
        seq, end, line_hash = f"{text}  ".split(" ")[:3]
        return cls(int(seq or 0), int(end or 0), line_hash)

    def __str__(self) -> str:
        return f"{self.seq} {self.end} {self.hash}"


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
            try:
                _write_new(partial, _line(header, "")[0])
                os.link(partial, path)  # which, unlike a rename, never replaces a ledger
            except FileExistsError:
                pass
            except PermissionError:  # FAT knows no links
                with suppress(FileExistsError):
                    _write_new(path, partial.read_bytes())
            finally:
                partial.unlink(missing_ok=True)
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
        said = _NAMES.encode(names).encode("utf-8", "surrogatepass")
        return hmac.digest(self._key, said, "sha256")

    def entries(self) -> list[Entry]:
        """Return every entry, the oldest first. Raises LedgerDamaged where a line was changed or is missing."""
        return [entry for entry, _ in self.after(Mark())]

    def after(self, mark: Mark) -> list[tuple[Entry, Mark]]:
        """Return the entries after a place, each with the place where it ends. Raises LedgerDamaged.

        What is before the place is looked at only when the ledger is not what it was there.
        """
        with _explained(self.path), self.path.open("rb") as file:
            return list(self._read(file, mark))

    @contextmanager
    def appending(self, mark: Callable[[], Mark] = Mark, *, patience: float = 60.0) -> Iterator["Appender"]:
        """Hold the ledger, so that what is appended and what is done to the store happen in one order.

        `mark` is asked once it is held. Raises StoreBusy when another process holds it for too long.
        """
        with ExitStack() as held:
            with _explained(self.path):
                file = held.enter_context(self.path.open("r+b"))
                held.enter_context(locked(file, patience=patience))
            reached = mark()
            with _explained(self.path):
                later = list(self._read(file, reached))
                end = later[-1][1] if later else self._from(file, reached)
            yield Appender(self.path, file, end, [entry for entry, _ in later])

    def _from(self, file: BinaryIO, mark: Mark) -> Mark:
        """Return where to read on, after the first line for a mark of nothing. Raises LedgerDamaged."""
        if not mark.seq:
            file.seek(0)
            raw = file.readline()
            return Mark(0, len(raw), str(_checked(raw, "", self.path, 1)["hash"]))
        said = f'"hash":"{mark.hash}"}}\n'.encode()
        file.seek(max(mark.end - len(said), 0))
        if file.read(len(said)) != said:
            for _ in self._read(file, Mark()):
                pass  # names the line, when one was changed
            raise LedgerDamaged(
                f"the ledger {str(self.path)!r} is not the one the store has applied {mark.seq} entries of: an older "
                "copy or another one was put in its place; put back the newest one"
            )
        return mark

    def _read(self, file: BinaryIO, mark: Mark) -> Iterator[tuple[Entry, Mark]]:
        """Yield each entry after a place, up to the last whole line: who died while writing told nobody of the rest."""
        reached = self._from(file, mark)
        file.seek(reached.end)
        while (raw := file.readline()).endswith(b"\n"):
            number = reached.seq + 2
            line = _checked(raw, reached.hash, self.path, number)
            reached = Mark(reached.seq + 1, reached.end + len(raw), str(line.pop("hash")))
            yield _entry(line, number, self.path), reached


class Appender:
    """Appends to a ledger that is held."""

    def __init__(self, path: Path, file: BinaryIO, end: Mark, later: list[Entry]) -> None:
        self._path = path
        self._file = file
        self.end = end
        """The place where the last entry ends."""
        self.later = later
        """The entries that were there after the place asked for."""

    def append(self, *, at: int, kind: EntryKind, id: str, **names: Any) -> Entry:  # noqa: A002 - as the field
        """Write one entry; it is on disk when this returns, and nothing of it is there when it raises."""
        entry = Entry(seq=self.end.seq + 1, at=at, kind=kind, id=id, **names)
        line, line_hash = _line({one.name: getattr(entry, one.name) for one in fields(Entry)}, self.end.hash)
        opened = self._file.fileno()
        with _explained(self._path):
            os.ftruncate(opened, self.end.end)
            os.lseek(opened, self.end.end, os.SEEK_SET)
            try:
                _write(opened, line)
            except OSError:
                os.ftruncate(opened, self.end.end)
                raise
        self.end = Mark(entry.seq, self.end.end + len(line), line_hash)
        return entry


def _line(line: Mapping[str, Any], last: str) -> tuple[bytes, str]:
    line_hash = _hash(line, last)
    return json.dumps({**line, "hash": line_hash}, separators=(",", ":")).encode() + b"\n", line_hash


def _write(opened: int, raw: bytes) -> None:
    """Write bytes to the disk, past any buffer: what could not be written must not be written later."""
    rest = memoryview(raw)
    while rest:
        rest = rest[os.write(opened, rest) :]
    os.fsync(opened)


def _write_new(path: Path, raw: bytes) -> None:
    opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    try:
        _write(opened, raw)
    finally:
        os.close(opened)


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
            "put it back, name it with `ledger=` (--ledger), or accept the loss with `retentia ledger renew`"
        ) from error
    except BlockingIOError as error:
        raise StoreBusy(f"another process holds the ledger {str(path)!r} for too long; try again") from error
    except OSError as error:
        raise StoreUnavailable(f"the ledger {str(path)!r} cannot be used: {error.strerror}") from error

"""The ledger of one open store: where it is, and whether the store has applied all of it."""

import secrets
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from retentia.errors import InvalidInput, LedgerMissing
from retentia.lifecycle.ledger import Appender, Entry, Ledger, Mark
from retentia.model.scope import Scope
from retentia.store import binned, erasures
from retentia.store.claims import Lesson
from retentia.store.database import Database, Transaction
from retentia.store.erasures import Planned
from retentia.store.generations import STORE, read_setting, write_setting
from retentia.store.schema import setting

_APPLIED = "ledger"
_BACKUP_UNTIL = "backup_until"
_PATIENCE_SECONDS = 60.0
_Name = TypeVar("_Name", str, bytes, Lesson)


@dataclass(frozen=True, slots=True)
class Held:
    """A ledger that no other process can append to until it is let go."""

    ledger: Ledger
    log: Appender


class StoreLedger:
    """Finds the ledger of a store, begun with the first erasure. `path` is None for a store that keeps none."""

    def __init__(self, database: Database, path: Path | None) -> None:
        self._database = database
        self.path = path
        self._known: tuple[tuple[int, ...], Ledger] | None = None
        self.store = self._identity()

    def existing(self) -> Ledger | None:
        """Return the ledger, or None when nothing was erased yet or none is kept.

        Raises LedgerMissing when the store has applied a ledger that is not there, and LedgerDamaged.
        """
        if self.path is not None and self.path.exists():
            return self._opened(self.path)
        with self._database.read("") as transaction:
            applied = self.applied(transaction)
        if not applied.seq:
            return None
        if self.path is None:
            raise LedgerMissing("this store keeps a ledger of its erasures; name the file with `ledger=`")
        return Ledger.open(self.path, self.store)

    def begun(self) -> Ledger | None:
        """Return the ledger, beginning it when there is none; None when none is kept."""
        found = self.existing()
        if found is None and self.path is not None:
            found = Ledger.create(self.path, self.store)
        return found

    def renew(self) -> None:
        """Begin a new ledger in the place of one that is lost. Raises InvalidInput where it is not lost."""
        if self.path is None:
            raise InvalidInput("this store keeps no ledger; name a file with `ledger=`")
        if self.path.exists():
            raise InvalidInput(f"there is a ledger {str(self.path)!r}; move it away first if it cannot be used")
        with self._database.write("") as transaction:
            write_setting(transaction, _APPLIED, "")
        Ledger.create(self.path, self.store)

    def behind(self) -> tuple[list[Entry], list[Planned]]:
        """Return the entries that the store has not applied, the oldest first, and the erasures that are under way.

        Takes no lock: whoever writes a line has noted its erasure in the store before, and lets go of the note only
        when the line is applied. So an entry that is behind, and not under way, is one that this store never saw.
        """
        with self._database.read("") as transaction:
            mark = self.applied(transaction)
        ledger = self.existing()
        later = [] if ledger is None else [entry for entry, _ in ledger.after(mark)]
        with self._database.read("") as transaction:
            applied = self.applied(transaction)
            begun = erasures.unfinished(transaction)
        return [entry for entry in later if entry.seq > applied.seq], begun

    @contextmanager
    def held(self, *, begin: bool = False, patience: float | None = None) -> Iterator[Held | None]:
        """Hold the ledger, so that nobody else erases or makes a backup; None where there is none."""
        ledger = self.begun() if begin else self.existing()
        if ledger is None:
            yield None
            return
        with ledger.appending(self._applied_now, patience=_PATIENCE_SECONDS if patience is None else patience) as log:
            yield Held(ledger, log)

    def applied(self, transaction: Transaction) -> Mark:
        """Return the place in the ledger up to which the store has applied it."""
        return Mark.parse(read_setting(transaction, _APPLIED) or "")

    def note_applied(self, transaction: Transaction, end: Mark) -> None:
        """Note in the transaction that applies an entry that it is applied."""
        if end.seq > self.applied(transaction).seq:
            write_setting(transaction, _APPLIED, str(end))

    def note_backup(self, transaction: Transaction, expires_at: int) -> None:
        """Note until when a backup may be put back."""
        write_setting(transaction, _BACKUP_UNTIL, str(max(expires_at, self._backup_until(transaction))))

    def backup_until(self, transaction: Transaction) -> int | None:
        """Return when the last backup expires, None when none can be put back any more."""
        until = self._backup_until(transaction)
        return until if until > transaction.now else None

    def _backup_until(self, transaction: Transaction) -> int:
        return int(read_setting(transaction, _BACKUP_UNTIL) or 0)

    def _opened(self, path: Path) -> Ledger:
        """Open the ledger, or return it as it was opened when the file is the same and was not written since.

        Each write with a key asks for it, and checking the first line takes longer than all the rest of that.
        """
        try:
            seen = path.stat()
        except OSError:
            return Ledger.open(path, self.store)  # which says what is wrong
        state = (seen.st_dev, seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns)
        known = self._known
        if known is None or known[0] != state:
            self._known = known = (state, Ledger.open(path, self.store))
        return known[1]

    def _applied_now(self) -> Mark:
        with self._database.read("") as transaction:
            return self.applied(transaction)

    def _identity(self) -> str:
        with self._database.read("") as transaction:
            known = read_setting(transaction, STORE)
        if known is not None:
            return known
        with self._database.write("") as transaction:
            transaction.insert_new(setting, {"name": STORE, "value": secrets.token_hex(16)})
            return str(read_setting(transaction, STORE))


class Tombstones:
    """Tells which keys of a source were erased, so that reading the same material again brings nothing back."""

    def __init__(self, ledger: StoreLedger) -> None:
        self._ledger = ledger

    def erased(self, transaction: Transaction, scope: Scope, kind: str, session: str, keys: set[str]) -> set[str]:
        """Return those of the keys whose record was erased, or lies in the bin."""
        gone = self._buried(transaction, keys, lambda ledger, key: source_key(ledger, scope, kind, session, key))
        return gone if binned.is_empty(transaction) else gone | binned.keys(transaction, scope, kind, session, keys)

    def erased_ids(self, transaction: Transaction, record_ids: Collection[bytes]) -> set[bytes]:
        """Return those of the records that were erased here, or lie in the bin: an export brings them back no more."""
        gone = self._buried(transaction, record_ids, record_key)
        return gone if binned.is_empty(transaction) else gone | binned.removal_of(transaction, record_ids).keys()

    def forgotten(self, transaction: Transaction, lessons: Collection[Lesson]) -> set[Lesson]:
        """Return what messages taught and was erased since, while the messages stayed: they teach it no more."""
        return self._buried(transaction, lessons, lesson_key)

    def _buried(
        self, transaction: Transaction, names: Collection[_Name], keyed: Callable[[Ledger, _Name], bytes]
    ) -> set[_Name]:
        ledger = self._ledger.existing() if names and erasures.has_tombstones(transaction) else None
        if ledger is None:
            return set()
        name_of = {keyed(ledger, name): name for name in names}
        return {name_of[source] for source in erasures.buried(transaction, name_of)}


def record_key(ledger: Ledger, record_id: bytes) -> bytes:
    """Return the tombstone of a record by its id."""
    return ledger.keyed("record", record_id.hex())


def lesson_key(ledger: Ledger, lesson: Lesson) -> bytes:
    """Return the tombstone of what a message taught: of its id and of what the claim was about, never of its words."""
    keys = (lesson.message_id.hex(), lesson.subject_key.hex(), lesson.attribute, lesson.value_key.hex())
    return ledger.keyed("lesson", *keys)


def source_key(ledger: Ledger, scope: Scope, kind: str, session: str, key: str) -> bytes:
    """Return the tombstone of one message, tool call or document of a source: a keyed hash of where it came from."""
    return ledger.keyed(kind, scope.tenant, scope.user, scope.space, scope.agent, session, key)

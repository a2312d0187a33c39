"""Asking every other process that holds content of a store to let go of what was erased, and waiting for a while."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from retentia.store import readers, scopes
from retentia.store.database import Database
from retentia.store.readers import Silent

PATIENCE_SECONDS = 5.0
_POLL_SECONDS = 0.01
_POLL_LONGEST = 0.05


@dataclass(frozen=True, slots=True)
class Answers:
    """How many processes were to let go, this one included, how many have, and who is silent while its lease runs."""

    processes: int = 1
    acknowledged: int = 1
    silent: tuple[Silent, ...] = ()

    @property
    def pending(self) -> str:
        """Name who is silent, "" when nobody is."""
        return "; ".join(
            f"{one.process} has not yet let go of what it may hold in memory (it has until its lease ends in "
            f"{max(round(one.lease_ms / 1000), 1)} s); the next erasure or the next opening looks again"
            for one in self.silent
        )


class OtherReaders:
    """The other readers of a store. `own` names the reader that asks, which lets go by itself."""

    def __init__(self, database: Database, own: Callable[[], bytes], *, patience: float = PATIENCE_SECONDS) -> None:
        self._database = database
        self._own = own
        self._patience = patience

    def ask(self, erasure_id: bytes, tenant: str, scope_ids: Sequence[int], *, since_ms: int | None = None) -> int:
        """Ask all whose lease had not ended at `since_ms`, or now, to let go of scopes; return how many were asked.

        Looks first, because mostly there is nobody, and to look costs nothing. Who begins to read later, begins with a
        snapshot in which the records are gone.
        """
        with self._database.read("") as transaction:
            if not scope_ids or not readers.has_others(transaction, self._own()):
                return 0
        with self._database.write(tenant) as transaction:
            known = scopes.versions(transaction, scope_ids)
            wanted = {scope_id: known.get(scope_id, scopes.NEVER) for scope_id in scope_ids}
            since = readers.clock_ms(transaction) if since_ms is None else since_ms
            return readers.ask(transaction, erasure_id, wanted, besides=self._own(), since_ms=since)

    def wait(self, erasure_id: bytes, asked: int) -> Answers:
        """Wait until everyone who was asked has answered, or its lease has ended, or patience has."""
        deadline, pause = time.monotonic() + self._patience, _POLL_SECONDS
        while asked:
            found = self.answers(erasure_id, asked)
            if all(one.is_stuck for one in found.silent) or time.monotonic() >= deadline:
                return found
            time.sleep(pause)
            pause = min(pause * 1.5, _POLL_LONGEST)
        return Answers()

    def answers(self, erasure_id: bytes, asked: int) -> Answers:
        """Return how it stands now. Whose lease has ended is not counted: it was killed, or finds out when it wakes."""
        with self._database.read("") as transaction:
            silent = readers.silent(transaction, erasure_id)
            left = readers.unanswered(transaction, erasure_id)
        answered = max(asked - left, 0)
        return Answers(1 + answered + len(silent), 1 + answered, tuple(silent))

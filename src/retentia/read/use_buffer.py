"""What was shown, counted within a second: gathered in memory by reads, written in one short transaction by a thread.

A count that cannot be written waits for the next time; what is lost with a process, or beyond many, is statistics. A
record that was erased meanwhile gets no row: the scope is locked, and only what is there is counted.
"""

import logging
import os
import threading
from collections.abc import Iterable

from retentia.errors import RetentiaError, StoreReadOnly
from retentia.model.ids import id_bytes
from retentia.model.scope import Scope
from retentia.store import records, scopes, uses
from retentia.store.database import Database, Transaction
from retentia.store.records import View
from retentia.store.uses import Shown

_log = logging.getLogger("retentia.use")
_SECONDS = 0.5
_MOST = 100_000

_Waiting = dict[Scope, dict[bytes, Shown]]


class UseBuffer:
    """The counts of one process that are not written yet; a forked child begins with none. Safe to use from threads."""

    _waiting: _Waiting
    _is_over: bool
    _thread: threading.Thread | None

    def __init__(self, database: Database, *, seconds: float = _SECONDS) -> None:
        self._database = database
        self._seconds = seconds
        self._begin()

    def add(self, shown: Iterable[tuple[Scope, str]]) -> None:
        """Count records, each with its scope, as shown once now. Never fails and never waits for the store."""
        if self._process != os.getpid():
            self._begin()
        if self._is_over:
            return
        now = self._database.now()
        with self._lock:
            for scope, record_id in shown:
                _count(self._waiting, scope, id_bytes(record_id), Shown(1, now))
            if not self._waiting:
                return
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="retentia-use", daemon=True)
                self._thread.start()
        self._added.set()

    def flush(self) -> None:
        """Write what waits now; what cannot be written goes on waiting, and the error is raised."""
        with self._flushing:
            with self._lock:
                taken, self._waiting = self._waiting, {}
            while taken:
                scope, some = next(iter(taken.items()))
                try:
                    self._write(scope, some)
                except BaseException:
                    self._put_back(taken)
                    raise
                del taken[scope]

    def close(self) -> None:
        """Write what waits and end; a store that cannot be written now keeps what it has."""
        self._closing.set()
        self._added.set()
        if self._process != os.getpid():
            return
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        try:
            self.flush()
        except RetentiaError as error:
            _log.debug("what was shown last was not counted: %s", error)

    def _begin(self) -> None:
        self._process = os.getpid()
        self._waiting = {}
        self._is_over = False
        self._lock = threading.Lock()
        self._flushing = threading.Lock()
        self._added = threading.Event()
        self._closing = threading.Event()
        self._thread = None

    def _run(self) -> None:
        while not self._closing.is_set():
            self._added.wait()
            self._closing.wait(self._seconds)
            self._added.clear()
            try:
                self.flush()
            except StoreReadOnly:
                self._is_over = True
                return
            except Exception as error:  # the border of the thread: it must go on trying
                _log.debug("what was shown could not be counted, and will be later: %s", error)

    def _write(self, scope: Scope, shown: dict[bytes, Shown]) -> None:
        with self._database.write(scope.tenant) as transaction:
            scope_id = scopes.find(transaction, scope)
            if scope_id is None:
                return
            scopes.lock(transaction, [scope_id])
            there = _there(transaction, View({scope_id: scope}), shown)
            uses.note(transaction, scope_id, {one: shown[one] for one in sorted(there)})

    def _put_back(self, taken: _Waiting) -> None:
        with self._lock:
            if sum(map(len, self._waiting.values())) + sum(map(len, taken.values())) > _MOST:
                return
            for scope, some in taken.items():
                for record_id, one in some.items():
                    _count(self._waiting, scope, record_id, one)


def _count(waiting: _Waiting, scope: Scope, record_id: bytes, shown: Shown) -> None:
    of_scope = waiting.setdefault(scope, {})
    known = of_scope.get(record_id, Shown(0, 0))
    of_scope[record_id] = Shown(known.times + shown.times, max(known.last_at, shown.last_at))


def _there(transaction: Transaction, view: View, shown: dict[bytes, Shown]) -> set[bytes]:
    found = records.kinds_of(transaction, view, list(shown))
    return {record_id for some in found.values() for record_id in some}

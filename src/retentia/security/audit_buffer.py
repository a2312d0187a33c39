"""Own accesses, logged within a second: a short queue in memory and a thread that writes it down.

What cannot be written stays in the queue and is tried again; the doctor tells. When too much waits, an own access fails
rather than go unlogged. A process that ends without closing its memory writes what waits, too; one that is killed loses
what it had not written yet, at most a second.
"""

import atexit
import logging
import os
import threading
from collections import deque
from itertools import groupby

from retentia.errors import AuditUnavailable
from retentia.security.audit import Access, append
from retentia.store.database import Database

_log = logging.getLogger("retentia.audit")
_SECONDS = 0.5
_MOST = 100_000


class AuditBuffer:
    """The queue of one process; a forked child begins with an empty one, for its parent writes the other.

    `failures` counts the times it could not be written, `failure` says why the last time.
    """

    _process: int
    _waiting: deque[tuple[str, Access]]
    _thread: threading.Thread | None
    _starting: threading.Lock
    _flushing: threading.Lock
    _added: threading.Event
    _closing: threading.Event
    failures: int
    failure: str

    def __init__(self, database: Database, *, seconds: float = _SECONDS, most: int = _MOST) -> None:
        self._database = database
        self._seconds = seconds
        self._most = most
        self._begin()

    def add(self, tenant: str, access: Access) -> None:
        """Log an access within a second. Raises AuditUnavailable when earlier ones cannot be written for too long."""
        if self._process != os.getpid():
            self._begin()
        if len(self._waiting) >= self._most:
            raise AuditUnavailable(f"{self._most:,} accesses wait to be logged, so no more are given: {self.failure}")
        self._waiting.append((tenant, access))
        if self._thread is None:
            self._start()
        self._added.set()

    def flush(self) -> None:
        """Write what waits now; what cannot be written goes on waiting, and the error is raised."""
        with self._flushing:
            while self._waiting:
                self._write([self._waiting.popleft() for _ in range(min(len(self._waiting), 1_000))])

    def close(self) -> None:
        """Write what waits and end. Raises AuditUnavailable when it cannot be written: then it is lost."""
        atexit.unregister(self._end)
        self._closing.set()
        self._added.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        if not self._waiting or self._process != os.getpid():
            return
        try:
            self.flush()
        except Exception as error:
            raise AuditUnavailable(f"{len(self._waiting):,} accesses could not be logged and are lost") from error

    @property
    def waiting(self) -> int:
        """How many accesses are not written yet."""
        return len(self._waiting)

    def _begin(self) -> None:
        self._process = os.getpid()
        self._waiting = deque()
        self._thread = None
        self._starting = threading.Lock()
        self._flushing = threading.Lock()
        self._added = threading.Event()
        self._closing = threading.Event()
        self.failures = 0
        self.failure = ""

    def _start(self) -> None:
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="retentia-audit", daemon=True)
                self._thread.start()
                atexit.register(self._end)

    def _end(self) -> None:
        """Close at the end of a process that did not; a child that was forked has nothing of its parent's to write."""
        if self._process == os.getpid():
            self.close()

    def _run(self) -> None:
        while not self._closing.is_set():
            self._added.wait()
            self._closing.wait(self._seconds)
            self._added.clear()
            try:
                self.flush()
            except Exception as error:  # the border of the thread: it must go on trying
                _log.warning("%d accesses could not be logged and will be tried again: %s", len(self._waiting), error)
                self._added.set()

    def _write(self, some: list[tuple[str, Access]]) -> None:
        left = sorted(some, key=lambda one: one[0])  # by tenant; within one, in the order they were added
        try:
            for tenant, group in groupby(list(left), key=lambda one: one[0]):
                accesses = [access for _, access in group]
                with self._database.write(tenant) as transaction:
                    append(transaction, accesses)
                del left[: len(accesses)]
        except BaseException as error:
            self.failures += 1
            self.failure = str(error) or type(error).__name__
            self._waiting.extendleft(reversed(left))
            raise

"""The worker: claims due jobs, tenant by tenant, and runs them until told to stop."""

import logging
import threading
import time
from collections.abc import Callable

from retentia.errors import RetentiaError
from retentia.jobs.work import Work, give_back
from retentia.store import jobs
from retentia.store.database import Database
from retentia.store.jobs import Job

_log = logging.getLogger("retentia.worker")
_POLL_SECONDS = 1.0
_SWEEP_SECONDS = 60.0
_SWEEP_SHARE = 0.05


class Worker:
    """Does one kind of work for one database.

    In its thread it also looks after what else is due: at the start, then every `sweep_seconds`, or more seldom where
    that would take more than a twentieth of the time. `sweep` queues what was lost, asks what it is given whether to
    stop, and returns how many it found; `upkeep` does a bounded amount of other work.
    """

    def __init__(
        self,
        database: Database,
        work: Work,
        *,
        sweep: Callable[[Callable[[], bool]], int] = lambda _: 0,
        sweep_seconds: float = _SWEEP_SECONDS,
        upkeep: Callable[[], object] = lambda: None,
    ) -> None:
        self._database = database
        self._work = work
        self._sweep = sweep
        self._sweep_seconds = sweep_seconds
        self._upkeep = upkeep
        self._next_sweep = 0.0
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Run in a thread of this process until `stop`."""
        self._thread = threading.Thread(target=self.run_until_stopped, name="retentia-worker", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """Tell the worker that there is something to do now."""
        self._wake.set()

    def stop(self) -> None:
        """Finish the batch at hand and end; what is left stays queued."""
        self._stopping.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def run_until_stopped(self) -> None:
        """Work whenever something is due; look once a second for what other processes have queued."""
        while not self._stopping.is_set():
            try:
                worked = self.run_once() + self._sweep_when_due()
            except RetentiaError as error:
                _log.warning("jobs could not be run and will be tried again: %s", error)
                worked = 0
            if not worked:
                self._wake.wait(_POLL_SECONDS)
                self._wake.clear()

    def run_once(self) -> int:
        """Run one batch of every tenant that may have work; return how many jobs were taken."""
        if not self._work.is_able():
            return 0
        with self._database.read("") as transaction:
            tenants = jobs.tenants_due(transaction)
        return sum(self._run_tenant(tenant) for tenant in tenants if not self._stopping.is_set())

    def _sweep_when_due(self) -> int:
        began = time.monotonic()
        if began < self._next_sweep:
            return 0
        self._next_sweep = began + self._sweep_seconds  # also when it fails
        if found := self._sweep(self._stopping.is_set):
            _log.warning("%d records had lost their job and were queued again", found)
        self._upkeep()
        ended = time.monotonic()
        self._next_sweep = ended + max(self._sweep_seconds, (ended - began) / _SWEEP_SHARE)
        return found

    def _run_tenant(self, tenant: str) -> int:
        with self._database.read(tenant) as transaction:
            if not jobs.has_due(transaction, self._work.kinds):
                return 0
        with self._database.write(tenant) as transaction:
            claimed = jobs.claim(transaction, self._work.kinds, limit=self._work.at_once, lease=self._work.lease)
        for batch in self._work.batches(claimed):
            self._run(batch)
        return len(claimed)

    def _run(self, batch: list[Job]) -> None:
        try:
            self._work.run(batch)
        except RetentiaError:
            raise
        except Exception as error:  # the border of the worker: a fault in one job must not end the others
            _log.exception("a job failed and will be tried again")
            # Only the kind of fault is kept: its message may quote what someone said.
            give_back(self._database, batch, f"an unexpected {type(error).__name__}; the log has the details")

"""The worker: claims due jobs, tenant by tenant, and runs them until told to stop."""

import logging
import threading
import time
from collections.abc import Callable

from retentia.errors import RetentiaError
from retentia.jobs.embed import Embedders, give_back, run_jobs
from retentia.jobs.sweep import sweep
from retentia.store import jobs
from retentia.store.database import Database
from retentia.store.jobs import Job

_log = logging.getLogger("retentia.worker")
KINDS = (jobs.EMBED,)
_JOBS_AT_ONCE = 32
_POLL_SECONDS = 1.0
_SWEEP_SECONDS = 60.0
_SWEEP_SHARE = 0.05


class Worker:
    """Runs the jobs of one database. `embedders` is asked before each round, so that a new generation is noticed.

    In its thread it also sweeps: at the start, then every `sweep_seconds`, or more seldom where the store is so large
    that looking would take more than a twentieth of the time. After each sweep it calls `upkeep`, which does a bounded
    amount of other work that is due.
    """

    def __init__(
        self,
        database: Database,
        embedders: Callable[[], Embedders],
        *,
        sweep_seconds: float = _SWEEP_SECONDS,
        upkeep: Callable[[], object] = lambda: None,
    ) -> None:
        self._database = database
        self._embedders = embedders
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
        embedders = self._embedders()
        if not embedders:
            return 0
        with self._database.read("") as transaction:
            tenants = jobs.tenants_due(transaction)
        return sum(self._run_tenant(tenant, embedders) for tenant in tenants if not self._stopping.is_set())

    def sweep(self) -> int:
        """Queue again what lost its job, of every tenant; return how many records."""
        fillable = self._embedders().keys()
        if not fillable:
            return 0
        with self._database.read("") as transaction:
            tenants = jobs.tenants(transaction)
        return sum(sweep(self._database, tenant, fillable) for tenant in tenants if not self._stopping.is_set())

    def _sweep_when_due(self) -> int:
        began = time.monotonic()
        if began < self._next_sweep:
            return 0
        self._next_sweep = began + self._sweep_seconds  # also when it fails
        if found := self.sweep():
            _log.warning("%d records had lost their job and were queued again", found)
        self._upkeep()
        ended = time.monotonic()
        self._next_sweep = ended + max(self._sweep_seconds, (ended - began) / _SWEEP_SHARE)
        return found

    def _run_tenant(self, tenant: str, embedders: Embedders) -> int:
        with self._database.write(tenant) as transaction:
            claimed = jobs.claim(transaction, KINDS, limit=_JOBS_AT_ONCE)
        for batch in _at_most(claimed):
            self._run(batch, embedders)
        return len(claimed)

    def _run(self, batch: list[Job], embedders: Embedders) -> None:
        try:
            run_jobs(self._database, batch, embedders)
        except RetentiaError:
            raise
        except Exception as error:  # the border of the worker: a fault in one job must not end the others
            _log.exception("a job failed and will be tried again")
            # Only the kind of fault is kept: its message may quote what someone said.
            give_back(self._database, batch, f"an unexpected {type(error).__name__}; the log has the details")


def _at_most(claimed: list[Job], records: int = 512) -> list[list[Job]]:
    """Group jobs so that a batch embeds a bounded number of records; one large job stays alone."""
    batches: list[list[Job]] = []
    size = records
    for job in claimed:
        if size + len(job.record_ids) > records:
            batches.append([])
            size = 0
        batches[-1].append(job)
        size += len(job.record_ids)
    return batches

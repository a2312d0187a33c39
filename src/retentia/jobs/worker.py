"""The worker: claims due jobs, tenant by tenant, and runs them until told to stop."""

import logging
import threading
from collections.abc import Callable

from retentia.errors import RetentiaError
from retentia.jobs.embed import Embedders, give_back, run_jobs
from retentia.store import jobs
from retentia.store.database import Database
from retentia.store.jobs import Job

_log = logging.getLogger("retentia.worker")
KINDS = ("embed",)
_JOBS_AT_ONCE = 32
_POLL_SECONDS = 1.0


class Worker:
    """Runs the jobs of one database. `embedders` is asked before each round, so that a new generation is noticed."""

    def __init__(self, database: Database, embedders: Callable[[], Embedders]) -> None:
        self._database = database
        self._embedders = embedders
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
                worked = self.run_once()
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

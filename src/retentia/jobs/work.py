"""Work: what a worker does with jobs of some kinds."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Protocol

from retentia.errors import JobLost
from retentia.store import jobs
from retentia.store.database import Database
from retentia.store.jobs import Job

_HOUR = 3_600_000_000


class Work(Protocol):
    """One kind of work. At most `at_once` jobs are claimed together, for `lease` microseconds."""

    kinds: tuple[str, ...]
    at_once: int
    lease: int

    def is_able(self) -> bool:
        """Tell whether it has what it needs; its jobs wait otherwise."""
        ...

    def batches(self, claimed: Sequence[Job]) -> list[list[Job]]:
        """Group claimed jobs of one tenant into what is run together."""
        ...

    def run(self, batch: Sequence[Job]) -> None:
        """Do a batch and finish its jobs; what fails as expected is given back for a later attempt."""
        ...


def postpone(database: Database, job: Job, until: int | None) -> None:
    """Give a job back until a time without counting the attempt, for an hour where none is known."""
    with database.write(job.tenant) as transaction, suppress(JobLost):
        jobs.postpone(transaction, job, transaction.now + _HOUR if until is None else until)


def give_back(database: Database, group: Sequence[Job], error: str) -> None:
    """Return jobs of one tenant to the queue for a later attempt; those that others hold by now are left to them."""
    with database.write(group[0].tenant) as transaction:
        for job in group:
            try:
                jobs.fail(transaction, job, error)
            except JobLost:
                continue

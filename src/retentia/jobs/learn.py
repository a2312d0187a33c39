"""Learning by rules from messages that came in bulk: read, extract, reconcile and write in one short transaction."""

from collections.abc import Sequence
from itertools import groupby

from retentia.errors import JobLost
from retentia.learn.inline import LearningSettings, learn_from, original_of
from retentia.model.record import Kind, MessageRecord
from retentia.store import jobs, records, scopes
from retentia.store.database import Database, Transaction
from retentia.store.jobs import Job
from retentia.store.records import View
from retentia.write.place import Buried, Place


class LearningByRules:
    """The work of a worker on messages that nobody has learned from yet."""

    kinds: tuple[str, ...] = (jobs.LEARN,)
    at_once = 8
    lease = jobs.LEASE

    def __init__(self, database: Database, settings: LearningSettings, tombstones: Buried) -> None:
        self._database = database
        self._settings = settings
        self._tombstones = tombstones

    def is_able(self) -> bool:
        """Tell whether there are rules, which there always are."""
        return True

    def batches(self, claimed: Sequence[Job]) -> list[list[Job]]:
        """Take each job by itself: its transaction stays short."""
        return [[job] for job in claimed]

    def run(self, batch: Sequence[Job]) -> None:
        """Learn from the messages of each job; those that were erased meanwhile teach nothing."""
        for job in batch:
            with self._database.write(job.tenant) as transaction:
                scopes.lock(transaction, [job.scope_id])
                try:
                    jobs.finish(transaction, job)
                except JobLost:
                    continue
                self._learn(transaction, job)

    def _learn(self, transaction: Transaction, job: Job) -> None:
        named = scopes.named(transaction, [job.scope_id])
        if not named:
            return
        found = records.fetch(transaction, View(named), {Kind.MESSAGE: list(job.record_ids)})
        said = [record for record in found.values() if isinstance(record, MessageRecord)]
        place = Place(transaction, named[job.scope_id], self._tombstones)
        said.sort(key=lambda record: (record.session_id, record.seq))
        for _, some in groupby(said, key=lambda record: record.session_id):
            originals = [original_of(record) for record in some]
            learn_from(place, originals, originals, self._settings, is_new=False)

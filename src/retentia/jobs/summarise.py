"""Giving sessions their summaries: a short read, a summariser with nothing held, a short write of what still holds.

One job stands for one session and does what is due in it, step by step. What a step writes is compared first: where a
message of its stretch was erased meanwhile, or someone else has covered it, the step is dropped and looked at anew.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from retentia.errors import CostCeilingReached, JobLost, ModelError, SummaryFailed
from retentia.jobs.kept import write_kept
from retentia.jobs.work import give_back, postpone
from retentia.model.ids import RecordId, id_text, new_id_bytes
from retentia.model.record import MessageRecord
from retentia.model.scope import Scope
from retentia.model.summary import OVERVIEW_LEVEL, SEGMENT_LEVEL, SESSION_LEVEL, Summary
from retentia.store import jobs, records, scopes, sessions, summaries
from retentia.store.database import Database, Transaction
from retentia.store.jobs import Job
from retentia.store.records import View
from retentia.store.summaries import Stretch
from retentia.working.said import window_message
from retentia.working.summariser import Draft, Summariser
from retentia.working.summary import Hole, SummaryPolicy, holes, next_overview, next_rollup, next_segment, standing
from retentia.working.tokens import TokenCounter
from retentia.working.window import with_tool_groups

_log = logging.getLogger("retentia.worker")
_STEPS_AT_ONCE = 32
_NOTHING = Draft(text="", made_by="")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    """One summary to write: its level and stretch, and the messages or the summaries that it is made from."""

    level: int
    first_seq: int
    last_seq: int
    messages: tuple[MessageRecord, ...] = ()
    below: tuple[Summary, ...] = ()
    tokens: int = 0

    @property
    def count(self) -> int:
        """How many messages it covers."""
        return len(self.messages) + sum(one.messages for one in self.below)

    @property
    def span(self) -> tuple[int, int]:
        """When the first and the last of it was said."""
        said = [(one.occurred.start, one.occurred.end) for one in self.messages if one.occurred is not None]
        said += [(one.started_at, one.ended_at) for one in self.below if one.messages]
        return min((start for start, _ in said), default=0), max((end for _, end in said), default=0)


class Summarising:
    """The work of a worker on sessions that are due for a summary."""

    kinds: tuple[str, ...] = (jobs.SUMMARISE, jobs.CHECKPOINT, jobs.CLOSE)
    at_once = 1
    lease = 5 * jobs.LEASE

    def __init__(
        self, database: Database, summariser: Callable[[Job], Summariser], policy: SummaryPolicy, counter: TokenCounter
    ) -> None:
        """Ask `summariser` who summarises for a job."""
        self._database = database
        self._summariser = summariser
        self._policy = policy
        self._counter = counter

    def is_able(self) -> bool:
        """Tell whether there is a summariser, which there always is."""
        return True

    def batches(self, claimed: Sequence[Job]) -> list[list[Job]]:
        """Take each job by itself."""
        return [[job] for job in claimed]

    def run(self, batch: Sequence[Job]) -> None:
        """Do what is due in the session of each job; a summariser that fails gives its job back for later."""
        for job in batch:
            try:
                self._run(job)
            except JobLost:
                continue  # whoever took it over writes what is due
            except CostCeilingReached as error:
                _log.warning("a session is not summarised before its tenant may spend again: %s", error)
                postpone(self._database, job, error.free_at)
            except (SummaryFailed, ModelError) as error:
                _log.warning("a session was not summarised and will be tried again: %s", error)
                give_back(self._database, [job], str(error))

    def _run(self, job: Job) -> None:
        (session_id,) = job.record_ids
        summariser = self._summariser(job)
        steps = 0
        while steps < _STEPS_AT_ONCE and (step := self._next(job, session_id, summariser)) is not None:
            self._keep(job, session_id, step, self._draft(step, summariser))
            steps += 1
        with self._database.write(job.tenant) as transaction:
            scopes.lock(transaction, [job.scope_id])
            jobs.finish(transaction, job)
            if steps == _STEPS_AT_ONCE:
                jobs.enqueue_once(transaction, job.kind, job.scope_id, session_id)
            elif job.kind == jobs.CLOSE:
                sessions.end(transaction, job.scope_id, session_id)

    def _next(self, job: Job, session_id: bytes, summariser: Summariser) -> _Step | None:
        """Read what is to be summarised next; nothing is held when this returns."""
        with self._database.read(job.tenant) as transaction:
            view = View(scopes.named(transaction, [job.scope_id]))
            covered = summaries.stretches(transaction, job.scope_id, session_id)
            closing = job.kind != jobs.SUMMARISE
            for hole in holes(covered):
                if step := self._segment(transaction, view, session_id, hole, summariser, closing=closing):
                    return step
            if below := next_rollup(covered, self._policy):
                return _above(transaction, job.scope_id, session_id, below, below[0].level + 1)
            if below := next_overview(covered, self._policy):
                return _above(transaction, job.scope_id, session_id, below, OVERVIEW_LEVEL)
            if closing and _record_is_old(transaction, job.scope_id, session_id, covered):
                return _above(transaction, job.scope_id, session_id, standing(covered), SESSION_LEVEL)
        return None

    def _segment(
        self,
        transaction: Transaction,
        view: View,
        session_id: bytes,
        hole: Hole,
        summariser: Summariser,
        *,
        closing: bool,
    ) -> _Step | None:
        most = 2 * (self._policy.longest + self._policy.threshold)
        said = records.session_messages(
            transaction, view, session_id, after=hole.first - 1, until=hole.last, limit=most
        )
        if not said and hole.last is not None:
            # All of a summarised stretch was erased: an empty summary closes the hole, so that the rest fits together.
            return _Step(level=SEGMENT_LEVEL, first_seq=hole.first, last_seq=hole.last)
        shown = with_tool_groups(window_message(message, self._counter) for message in said)
        phases = summariser.boundaries(said) if self._policy.kind == "phases" else ()
        count = next_segment(shown, self._policy, is_open=hole.last is None, closing=closing, boundaries=phases)
        if not count:
            return None
        end = said[count - 1].seq
        if hole.last is not None and count == len(said) < most:
            end = hole.last
        return _Step(
            level=SEGMENT_LEVEL,
            first_seq=hole.first,
            last_seq=end,
            messages=tuple(said[:count]),
            tokens=sum(message.tokens for message in shown[:count]),
        )

    def _draft(self, step: _Step, summariser: Summariser) -> Draft:
        if step.messages:
            return summariser.segment(step.messages, words=self._policy.words)
        if any(one.text for one in step.below):
            return summariser.merge(step.below, words=self._policy.words)
        return _NOTHING

    def _keep(self, job: Job, session_id: bytes, step: _Step, draft: Draft) -> None:
        """Write a summary, unless what it is made from is no longer as it was."""
        with self._database.write(job.tenant) as transaction:
            scopes.lock(transaction, [job.scope_id])
            jobs.hold(transaction, job, lease=self.lease)
            if not _is_unchanged(transaction, job.scope_id, session_id, step):
                return
            started_at, ended_at = step.span
            made = Summary(
                id=id_text(new_id_bytes()),
                level=step.level,
                first_seq=step.first_seq,
                last_seq=step.last_seq,
                text=draft.text,
                made_by=draft.made_by,
                messages=step.count,
                tokens=step.tokens,
                started_at=started_at,
                ended_at=ended_at,
                created_at=transaction.now,
                body=draft.body,
            )
            keep = summaries.put if step.level in (SESSION_LEVEL, OVERVIEW_LEVEL) else summaries.add
            keep(transaction, job.scope_id, session_id, made)
            if step.level == SEGMENT_LEVEL:
                write_kept(
                    transaction, scopes.named(transaction, [job.scope_id])[job.scope_id], draft.body, step.messages
                )


def queue_summary(database: Database, scope: Scope, name: str, kind: str) -> RecordId | None:
    """Queue the summary of a session by its name, unless it waits already; return the id of the job that waits.

    None where there is no such session.
    """
    with database.read(scope.tenant) as transaction:
        scope_id = scopes.find(transaction, scope)
        session_id = None if scope_id is None else sessions.find(transaction, scope_id, name)
        if scope_id is None or session_id is None:
            return None
        if (waiting := jobs.waiting(transaction, kind, scope_id, session_id)) is not None:
            return waiting
    with database.write(scope.tenant) as transaction:
        scopes.lock(transaction, [scope_id])
        fresh = jobs.enqueue_once(transaction, kind, scope_id, session_id)
        return fresh or jobs.waiting(transaction, kind, scope_id, session_id)


def _above(transaction: Transaction, scope_id: int, session_id: bytes, below: Sequence[Stretch], level: int) -> _Step:
    return _Step(
        level=level,
        first_seq=below[0].first_seq,
        last_seq=below[-1].last_seq,
        below=tuple(summaries.texts(transaction, scope_id, session_id, below)),
        tokens=sum(one.tokens for one in below),
    )


def _record_is_old(transaction: Transaction, scope_id: int, session_id: bytes, covered: Sequence[Stretch]) -> bool:
    """Tell whether the record of a session is missing, or from before what is covered by now."""
    if not covered:
        return False
    record = summaries.session_record(transaction, scope_id, session_id)
    return record is None or record.last_seq < max(one.last_seq for one in covered)


def _is_unchanged(transaction: Transaction, scope_id: int, session_id: bytes, step: _Step) -> bool:
    """Tell whether the messages or summaries of a step are still those it was made from, and not covered already."""
    there = summaries.stretches(transaction, scope_id, session_id)
    if step.below:
        wanted = [one for one in there if step.first_seq <= one.first_seq and one.last_seq <= step.last_seq]
        found = {one.id for one in summaries.texts(transaction, scope_id, session_id, wanted)}
        return all(one.id in found for one in step.below) and not _overlaps(there, step)
    said = records.message_ids(transaction, scope_id, session_id, after=step.first_seq - 1, until=step.last_seq)
    return [id_text(one) for one in said] == [message.id for message in step.messages] and not _overlaps(there, step)


def _overlaps(there: Sequence[Stretch], step: _Step) -> bool:
    if step.level in (SESSION_LEVEL, OVERVIEW_LEVEL):
        return False
    same = [one for one in there if one.level == step.level]
    return any(one.first_seq <= step.last_seq and step.first_seq <= one.last_seq for one in same)

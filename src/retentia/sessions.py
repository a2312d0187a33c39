"""The records of sessions: written at a checkpoint, at the end or by the sweep, and read when they are asked for."""

import time
from collections.abc import Iterable, Iterator, Mapping

from retentia.jobs.summarise import queue_summary
from retentia.jobs.understand import queue_learning
from retentia.jobs.worker import Worker
from retentia.languages.cues import Cue, cue_form, load_cues
from retentia.model.ids import RecordId, id_text
from retentia.model.message import JSON
from retentia.model.record import Kind
from retentia.model.scope import Scope
from retentia.model.session_record import Learning, Said, SessionRecord
from retentia.model.summary import Summary
from retentia.store import jobs, records, sessions, summaries
from retentia.store.database import Database, Transaction
from retentia.store.records import View
from retentia.working.extract import LineKind
from retentia.working.opening import Opening, OpeningPolicy, choose_opening
from retentia.working.tokens import TokenCounter

_WAIT_SECONDS = 0.01
_PROFILE = (Kind.FACT, Kind.PREFERENCE, Kind.PROCEDURE)
_CONSIDERED = 10


class SessionRecords:
    """Writes and reads the records of sessions of one database.

    `worker` is the one that summarises and `learner` the one that learns by a model, None where none does.
    """

    def __init__(self, database: Database, worker: Worker, learner: Worker | None = None) -> None:
        self._database = database
        self._worker = worker
        self._learner = learner

    def write(self, scope: Scope, session: str, *, end: bool, timeout: float) -> SessionRecord | None:
        """Summarise what is left of a session, learn from it, and write its record.

        None where it will come later, by the queue; so will what is learned, if it takes longer than the record.
        """
        # Before the summary: a session whose end is noted is looked at by no sweep.
        learning = queue_learning(self._database, scope, session) if self._learner else None
        job = queue_summary(self._database, scope, session, jobs.CLOSE if end else jobs.CHECKPOINT)
        deadline = time.monotonic() + timeout
        if not self._wait(scope, job, self._worker, deadline):
            return None
        if self._learner:
            self._wait(scope, learning, self._learner, deadline)
        return self.read(scope, session)

    def _wait(self, scope: Scope, job: RecordId | None, worker: Worker, deadline: float) -> bool:
        """Help with a job until it is done; False where it failed or takes too long."""
        while job is not None and (is_done := self._is_done(scope, job)) is not True:
            if is_done is False or time.monotonic() > deadline:
                return False
            if not worker.run_once():
                time.sleep(_WAIT_SECONDS)
        return True

    def read(self, scope: Scope, session: str) -> SessionRecord | None:
        """Return the record of a session; None where none was written, or something in it was erased since."""
        with self._database.read(scope.tenant) as transaction:
            view = records.view_of(transaction, scope)
            for scope_id in view.scope_ids:
                session_id = sessions.find(transaction, scope_id, session)
                made = session_id and summaries.session_record(transaction, scope_id, session_id)
                if session_id and made:
                    return next(_records(transaction, view, scope_id, [(session_id, made)]))
        return None

    def latest(self, scope: Scope, *, limit: int) -> list[SessionRecord]:
        """Return the records of the latest sessions that have one, the latest first."""
        found: list[SessionRecord] = []
        with self._database.read(scope.tenant) as transaction:
            view = records.view_of(transaction, scope)
            for scope_id in view.scope_ids:
                made = summaries.latest_session_records(transaction, scope_id, limit=limit)
                found += _records(transaction, view, scope_id, made)
        return sorted(found, key=lambda one: (-one.last_at, one.id))[:limit]

    def opening(self, scope: Scope, policy: OpeningPolicy, counter: TokenCounter, *, request: str) -> Opening:
        """Return what a new session begins with under a policy."""
        with self._database.read(scope.tenant) as transaction:
            view = records.view_of(transaction, scope)
            kinds = [kind.value for kind in _PROFILE]
            known = records.latest_items(transaction, view, kinds, limit=policy.profile_items * _CONSIDERED)
        latest = self.latest(scope, limit=policy.sessions_kept)
        return choose_opening(known, latest, policy, counter, request=request)

    def _is_done(self, scope: Scope, job_id: RecordId) -> bool | None:
        """Tell whether a job is done; None while it waits for its first attempt or is at it, False once it failed."""
        with self._database.read(scope.tenant) as transaction:
            job = jobs.find(transaction, job_id)
        if job is None:
            return True
        return None if job.state == "leased" or (job.state == "queued" and not job.attempts) else False


def _records(
    transaction: Transaction, view: View, scope_id: int, made: Iterable[tuple[bytes, Summary]]
) -> Iterator[SessionRecord]:
    listed = list(made)
    named = sessions.named(transaction, scope_id, [session_id for session_id, _ in listed])
    for session_id, one in listed:
        name, ended_at = named[session_id]
        learned = tuple(map(id_text, records.items_from_session(transaction, scope_id, session_id)))
        yield SessionRecord(
            id=one.id,
            scope=view.scopes[scope_id],
            session=name,
            started_at=one.started_at,
            last_at=one.ended_at,
            ended_at=ended_at,
            topic=str(one.body.get("topic", "")),
            summary=one.text,
            decisions=_decided(one.body.get("lines")),
            open_items=_said(one.body.get("lines"), LineKind.OPEN_ITEM),
            learned=learned,
            learning=_learning(transaction, scope_id, session_id, has_learned=bool(learned)),
            messages=one.messages,
            made_by=one.made_by,
            created_at=one.created_at,
        )


def _learning(transaction: Transaction, scope_id: int, session_id: bytes, *, has_learned: bool) -> Learning:
    """Tell how far a model has come with learning from a session."""
    waiting = jobs.of_record(transaction, jobs.UNDERSTAND, scope_id, session_id)
    if waiting:
        return Learning.FAILED if all(job.state == "dead" for job in waiting) else Learning.QUEUED
    if not sessions.learned_until(transaction, scope_id, session_id):
        return Learning.BY_RULES
    return Learning.LEARNED if has_learned else Learning.NOTHING


def _said(lines: JSON, kind: LineKind) -> tuple[Said, ...]:
    """Read what the rules noted of a kind."""
    found = [line for line in lines if isinstance(line, Mapping)] if isinstance(lines, list) else []
    return tuple(Said(str(line["quote"]), RecordId(str(line["message_id"]))) for line in found if line["kind"] == kind)


def _decided(lines: JSON) -> tuple[Said, ...]:
    """Read decisions, and behind them the corrections that decide otherwise: without these the former would mislead."""
    corrections = _said(lines, LineKind.CORRECTION)
    changed = (one for one in corrections if load_cues().said(Cue.DECISION, cue_form(one.text)))
    return (*_said(lines, LineKind.DECISION), *changed)

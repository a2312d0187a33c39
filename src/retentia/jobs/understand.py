"""Learning by a model from what is new in a session: a short read, calls with nothing held, a short write.

One job stands for one session, which keeps the place up to which it was learned from. What a step writes is compared
first: where a message that the model was shown was erased meanwhile, or somebody else has come further, the step is
dropped and looked at anew. An answer that cannot be used is asked for again later, about shorter stretches.
"""

import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from retentia.errors import CostCeilingReached, JobLost, ModelError
from retentia.jobs.work import give_back, postpone
from retentia.learn.apply import Taught, learn
from retentia.learn.inline import FEWEST_TOKENS, LearningSettings, not_forgotten, read_by_rules
from retentia.learn.model_answer import Proposed
from retentia.learn.model_extract import ModelExtractor
from retentia.learn.stretch import Part, first_stretch
from retentia.model.ids import RecordId, id_text
from retentia.model.learned import Learned
from retentia.model.message import JSON
from retentia.model.record import PROFILE_KINDS, MessageRecord
from retentia.model.scope import Scope
from retentia.model.time import Moment
from retentia.store import jobs, records, scopes, sessions
from retentia.store.database import Database, Transaction
from retentia.store.jobs import Job
from retentia.store.records import View
from retentia.working.said import originals_of
from retentia.working.tokens import TokenCounter
from retentia.write.place import Buried, Place

PROPOSED = "a model read it out of what was said"
"""Why what a model proposes is not believed yet."""
BY = "by"
"""The key of an item's body that names the model which proposed it."""
_log = logging.getLogger("retentia.worker")
_AT_ONCE = 64
_STEPS_AT_ONCE = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    """Messages of a session with `seq` in (after, until], what is shown of them, and what was said right before."""

    after: int
    until: int
    messages: tuple[MessageRecord, ...]
    before: tuple[MessageRecord, ...]
    parts: tuple[Part, ...]


class Understanding:
    """The work of a worker on sessions of which a model has not read everything.

    `extractor` gives who reads for a job, None where there is no model: then the jobs wait.
    """

    kinds: tuple[str, ...] = (jobs.UNDERSTAND,)
    at_once = 1
    lease = 5 * jobs.LEASE

    def __init__(
        self,
        database: Database,
        extractor: Callable[[Job], ModelExtractor] | None,
        settings: LearningSettings,
        counter: TokenCounter,
        tombstones: Buried,
    ) -> None:
        self._database = database
        self._extractor = extractor
        self._settings = settings
        self._counter = counter
        self._tombstones = tombstones

    def is_able(self) -> bool:
        """Tell whether there is a model."""
        return self._extractor is not None

    def batches(self, claimed: Sequence[Job]) -> list[list[Job]]:
        """Take each job by itself."""
        return [[job] for job in claimed]

    def run(self, batch: Sequence[Job]) -> None:
        """Learn from what is new in the session of each job; a model that fails gives its job back for later."""
        for job in batch:
            try:
                self._run(job)
            except JobLost:
                continue  # whoever took it over goes on where this one came to
            except CostCeilingReached as error:
                _log.warning("a session is not learned from before its tenant may spend again: %s", error)
                postpone(self._database, job, error.free_at)
            except ModelError as error:
                _log.warning("a session was not learned from and will be tried again: %s", error)
                give_back(self._database, [job], str(error))

    def _run(self, job: Job) -> None:
        (session_id,) = job.record_ids
        extractor = self._extractor(job) if self._extractor else None
        # What failed may have been too long for the model, or its answer for the limit.
        tokens = max(FEWEST_TOKENS, self._settings.stretch_tokens >> (job.attempts - 1))
        steps = 0
        while extractor and steps < _STEPS_AT_ONCE and (step := self._next(job, session_id, tokens)) is not None:
            proposed = self._ask(job, step, extractor)
            self._keep(job, session_id, step, proposed, extractor.identity)
            steps += 1
        with self._database.write(job.tenant) as transaction:
            scopes.lock(transaction, [job.scope_id])
            jobs.finish(transaction, job)
            if steps == _STEPS_AT_ONCE:
                jobs.enqueue_once(transaction, job.kind, job.scope_id, session_id)

    def _next(self, job: Job, session_id: bytes, tokens: int) -> _Step | None:
        """Read what comes next; nothing is held when this returns."""
        with self._database.read(job.tenant) as transaction:
            view = View(scopes.named(transaction, [job.scope_id]))
            after = sessions.learned_until(transaction, job.scope_id, session_id)
            if after is None or not view.scopes:
                return None
            said = records.session_messages(transaction, view, session_id, after=after, limit=_AT_ONCE)
            before = records.session_messages(transaction, view, session_id, until=after, limit=1, newest=True)
        if not said:
            return None
        asked = [message for message in before if message.role != "user"]
        count, parts = first_stretch(originals_of([*asked, *said]), self._counter, tokens=tokens)
        new = said[: count - len(asked)]
        return _Step(after=after, until=new[-1].seq, messages=tuple(new), before=tuple(asked), parts=tuple(parts))

    def _ask(self, job: Job, step: _Step, extractor: ModelExtractor) -> list[Proposed]:
        """Let the model read each part; nothing of the store is held while it does."""
        by_rule = read_by_rules(originals_of([*step.before, *step.messages]), self._settings)
        found: list[Proposed] = []
        refused: Counter[str] = Counter()
        for number, part in enumerate(step.parts):
            if number:
                self._hold(job)
            read = extractor.read(part, by_rule=by_rule)
            found += read.proposed
            refused.update(read.refused)
        if refused:
            reasons = "; ".join(f"{reason}: {count}" for reason, count in sorted(refused.items()))
            _log.info("of what a model proposed, %d items were refused: %s", refused.total(), reasons)
        return found

    def _hold(self, job: Job) -> None:
        with self._database.write(job.tenant) as transaction:
            jobs.hold(transaction, job, lease=self.lease)

    def _keep(
        self, job: Job, session_id: bytes, step: _Step, proposed: Sequence[Proposed], identity: str
    ) -> Sequence[Learned]:
        """Write what was proposed, unless what the model was shown is no longer as it was."""
        with self._database.write(job.tenant) as transaction:
            scopes.lock(transaction, [job.scope_id])
            jobs.hold(transaction, job, lease=self.lease)
            if not _is_unchanged(transaction, job.scope_id, session_id, step):
                return ()
            if not sessions.note_learned(transaction, job.scope_id, session_id, after=step.after, until=step.until):
                return ()
            scope = scopes.named(transaction, [job.scope_id])[job.scope_id]
            said = {message.id: message for message in step.messages}
            taught = [
                self._taught(one, said[one.candidate.message_id], identity, now=transaction.now)
                for one in proposed
                if one.candidate.message_id in said and one.candidate.kind in self._settings.kinds
            ]
            place = Place(transaction, scope, self._tombstones)
            return learn(place, not_forgotten(place, taught, self._settings.registry), self._settings.registry)

    def _taught(self, one: Proposed, message: MessageRecord, identity: str, *, now: int) -> Taught:
        is_stated = self._settings.model_states and one.candidate.kind in PROFILE_KINDS
        body: Mapping[str, JSON] = {**one.candidate.body, BY: identity}
        return Taught(
            candidate=replace(one.candidate, body=body),
            text=one.quote,
            at=message.occurred or Moment.at(now),
            trust=message.trust,
            author=message.speaker or message.role,
            flag=one.doubt or ("" if is_stated else PROPOSED),
        )


def queue_learning(database: Database, scope: Scope, name: str) -> RecordId | None:
    """Queue that a model learns from a session by its name, unless that waits; return the id of the job that waits.

    None where nothing is new.
    """
    with database.read(scope.tenant) as transaction:
        scope_id = scopes.find(transaction, scope)
        session_id = None if scope_id is None else sessions.find(transaction, scope_id, name)
    if scope_id is None or session_id is None:
        return None
    with database.write(scope.tenant) as transaction:
        scopes.lock(transaction, [scope_id])
        return sessions.queue_learning(transaction, scope_id, session_id)


def _is_unchanged(transaction: Transaction, scope_id: int, session_id: bytes, step: _Step) -> bool:
    """Tell whether every message that was shown is still there, and none between them."""
    first = min((message.seq for message in step.before), default=step.after + 1)
    said = records.message_ids(transaction, scope_id, session_id, after=first - 1, until=step.until)
    return [id_text(one) for one in said] == [message.id for message in (*step.before, *step.messages)]

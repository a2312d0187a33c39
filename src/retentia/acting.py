"""A memory as one principal may use it: the verbs of Memory, each call checked before, and logged.

What is the principal's own is logged within a second; before it is given, where it is taken along, searched for
personal data or forgotten. What is another's is logged before it is given: in one
transaction, behind the end of the log, the grants are read again, the scope and kind of every record that is about to
be shown are checked against them, and the entry is written. So the log itself shows that each access lies between the
entries of its grant and of its revocation. What is refused is logged too. A verb that is not here cannot be used by a
principal: those that look after a whole store belong to the process that opened it.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

from retentia.acting_doors import ActingDoors
from retentia.acting_keeping import ActingKeeping
from retentia.advice import with_symptoms
from retentia.diagnose.advisor import Advice
from retentia.diagnose.doctor import Finding
from retentia.diagnosis import Diagnosis
from retentia.errors import Conflict, InvalidInput, NotFound
from retentia.gate import Gate
from retentia.ingest import Tally
from retentia.lifecycle.erase import Erasure
from retentia.lifecycle.forget import Forgetting
from retentia.masked import (
    masked,
    masked_hit,
    masked_opening,
    masked_record,
    masked_session,
    masked_summary,
    masked_why,
)
from retentia.memory import DEFAULT_SESSION, Memory, PersonalCount, Stats
from retentia.model.cost import PromptCosts
from retentia.model.feed import Feed
from retentia.model.grant import Grant, Right
from retentia.model.hold import Hold, InCustody, Released
from retentia.model.ids import RecordId, id_bytes
from retentia.model.manifest import Why
from retentia.model.message import JSON, Document, ToolCall, When
from retentia.model.portable import Line
from retentia.model.price import Price
from retentia.model.progress import Progress, unheard
from retentia.model.provenance import Source
from retentia.model.record import CONTEXT_KINDS, Importance, ItemRecord, Kind, MessageRecord, Record, ToolCallRecord
from retentia.model.scope import Scope
from retentia.model.session_record import SessionRecord
from retentia.model.time import Moment
from retentia.model.use import Use
from retentia.read.feed import read_feed
from retentia.read.listing import Page
from retentia.read.query import Hit, Recall, Shared
from retentia.replay import replayed
from retentia.security import sharing
from retentia.security.access import ALL_KINDS, NO_KINDS, Principal, may_administer, may_share
from retentia.security.audit import Action, AuditEntry, AuditHead, AuditReport
from retentia.security.audit_buffer import AuditBuffer
from retentia.security.personal import PersonalKind
from retentia.shown import context_of, shown_ids
from retentia.store import records as record_rows
from retentia.store import scopes
from retentia.store.database import Database
from retentia.store.jobs import Job
from retentia.store.sessions import SessionSummary
from retentia.tools.log import TOLD_BY, Allowed
from retentia.transfer.batches import take_export
from retentia.transfer.export import Exported, ExportFormat, export
from retentia.transfer.restore import Restored
from retentia.working.context import Context
from retentia.working.history import History
from retentia.working.opening import PERSONAL_ASSISTANT, Opening, OpeningPolicy
from retentia.working.strategy import Strategy
from retentia.working.tokens import EstimatingCounter
from retentia.write.admission import MessageLike
from retentia.write.receipt import Receipt, WriteStatus

_R = TypeVar("_R", bound=Record)
_MESSAGES = frozenset({Kind.MESSAGE})


class ActingMemory(Gate):
    """What a principal may do with a memory; made by `Memory.acting_as`. Every verb raises AccessDenied.

    Own scopes need no grant. Another scope of the tenant needs one that holds now, for the right and the kinds that the
    verb uses; a verb that cannot be narrowed to kinds needs all. Safe to use from many threads.
    """

    def __init__(self, principal: Principal, memory: Memory, database: Database, log: AuditBuffer) -> None:
        """Use `Memory.acting_as`."""
        super().__init__(principal, database, log)
        self._memory = memory
        self.keeping = ActingKeeping(principal, memory.keeping, database, log)
        doors = ActingDoors(principal, database, log)
        self.tools = memory.tools.behind(
            allow=self._allow_calls,
            show=self._show_calls,
            doors=doors,
            erase=lambda ids, scope: self.erase(ids, scope=scope),
        )
        self.facts = memory.facts.behind(doors)
        self.episodes = memory.episodes.behind(doors)
        self.experience = memory.experience.behind(doors)

    def add(
        self,
        messages: MessageLike | Sequence[MessageLike],
        *,
        scope: Scope,
        session: str = DEFAULT_SESSION,
        context: Context | None = None,
    ) -> Receipt:
        """Keep what was said; see `Memory.add`."""
        with self._writing(scope, _MESSAGES):
            return self._memory.add(messages, scope=scope, session=session, context=context)

    def add_to_sessions(self, messages: Sequence[tuple[str, MessageLike]], *, scope: Scope) -> Receipt:
        """Keep what was said in several sessions; see `Memory.add_to_sessions`."""
        with self._writing(scope, _MESSAGES):
            return self._memory.add_to_sessions(messages, scope=scope)

    def log_tool_call(self, call: ToolCall, *, scope: Scope, session: str = DEFAULT_SESSION) -> Receipt:
        """Keep one call of a tool; see `Memory.log_tool_call`."""
        with self._writing(scope, {Kind.TOOL_CALL}):
            return self._memory.log_tool_call(call, scope=scope, session=session)

    def add_document(self, document: Document, *, scope: Scope) -> Receipt:
        """Keep a document; see `Memory.add_document`."""
        with self._writing(scope, {Kind.DOCUMENT}):
            return self._memory.add_document(document, scope=scope)

    def remember(
        self,
        content: str,
        kind: Kind | str = Kind.NOTE,
        *,
        scope: Scope,
        at: When | None = None,
        importance: Importance | str = Importance.NORMAL,
        author: str = "",
        metadata: Mapping[str, JSON] | None = None,
        sources: Sequence[Source] = (),
    ) -> Receipt:
        """Keep something known; see `Memory.remember`."""
        chosen = _kind(kind)
        with self._writing(scope, {chosen}):
            return self._memory.remember(
                content,
                chosen,
                scope=scope,
                at=at,
                importance=importance,
                author=author,
                metadata=metadata,
                sources=sources,
            )

    def recall(
        self,
        query: str,
        *,
        scope: Scope,
        limit: int = 10,
        token_budget: int | None = None,
        kinds: Collection[Kind | str] = (),
        since: When | None = None,
        until: When | None = None,
        session: str | None = None,
        where: Mapping[str, object] | None = None,
        as_of: When | None = None,
        min_relevance: float | None = None,
        floor: float | None = None,
        consequential: bool = False,
        also: Sequence[Scope | Shared] = (),
    ) -> Recall:
        """Find what is known in a scope, and in granted scopes beside it; see `Memory.recall`."""
        named = [one if isinstance(one, Shared) else Shared(one) for one in also]
        asked = [scope, *(shared.scope for shared in named)]
        reach = self._look(Right.READ, asked)
        shown = self._narrowed(reach, Action.RECALL, scope, frozenset(map(_kind, kinds)))
        found = self._memory.recall(
            query,
            scope=scope,
            limit=limit,
            token_budget=token_budget,
            kinds=shown,
            since=since,
            until=until,
            session=session,
            where=where,
            as_of=as_of,
            min_relevance=min_relevance,
            floor=floor,
            consequential=consequential,
            also=[replace(one, kinds=self._narrowed(reach, Action.RECALL, one.scope, one.kinds)) for one in named],
        )
        beside = _raw([one for hit in found for one in hit.shown_ids if one != hit.id])
        self._give(Action.RECALL, Right.READ, asked, [hit.record for hit in found], ids=beside)
        is_partial = any(reach.kinds(Right.READ, one) != ALL_KINDS for one in asked)
        return self._masked_hits(_without_counts(found) if is_partial else found)

    def context(
        self,
        request: str,
        *,
        scope: Scope,
        session: str = DEFAULT_SESSION,
        budget: int = 1500,
        role: str = "",
        limit: int = 25,
        opening: Opening | None = None,
        strategy: Strategy | None = None,
        consequential: bool = False,
    ) -> Context:
        """Assemble the next prompt; see `Memory.context`."""
        strategy = strategy or self._memory.working.strategy
        recalled: Sequence[Hit] = ()
        if strategy.semantic:
            recalled = self.recall(request, scope=scope, limit=limit, kinds=CONTEXT_KINDS, consequential=consequential)
        if strategy.facts and opening is None:
            opening = self.opening(scope=scope, policy=self._memory.working.opening, request=request)
        return context_of(
            request,
            recalled=recalled,
            read=lambda whole: self.history(scope=scope, session=session, whole=whole),
            role=role,
            budget=budget,
            counter=EstimatingCounter(),
            settings=self._memory.working.context,
            opening=opening,
            strategy=strategy,
            consequential=consequential,
        )

    def get(self, record_id: str, *, scope: Scope) -> Record:
        """Return one record; see `Memory.get`."""
        self._check(Action.READ, Right.READ, scope, NO_KINDS)
        try:
            found = self._believed(self._memory.get(record_id, scope=scope), scope)
        except NotFound:
            self._give(Action.READ, Right.READ, [scope], [])
            raise
        self._give(Action.READ, Right.READ, [scope], [found])
        return self._shown([found])[0]

    def why(self, reply_id: str, *, scope: Scope) -> Why:
        """Tell what the model saw when it gave a reply; see `Memory.why`."""
        self._check(Action.READ, Right.READ, scope, ALL_KINDS)
        found = self._memory.why(reply_id, scope=scope)
        there = [one.record for one in found.shown if isinstance(one.record, Record)]
        self._give(Action.READ, Right.READ, [scope], [found.reply, *there], kinds=ALL_KINDS)
        if not self._masks(scope, ALL_KINDS):
            return found
        return masked_why(found)

    def replay(self, reply_id: str, *, scope: Scope, role: str = "", request: str = "") -> Context:
        """Assemble the prompt again that a reply saw; see `Memory.replay`."""
        why = self.why(reply_id, scope=scope)
        layout = self._memory.working.context.layout
        return replayed(why, role=role, request=request, counter=EstimatingCounter(), layout=layout)

    def costs(self, price: Price, *, scope: Scope, days: int = 30) -> PromptCosts:
        """Return what the prompts cost whose replies were added with their context; see `Memory.costs`."""
        self._check(Action.READ, Right.READ, scope, ALL_KINDS)
        found = self._memory.costs(price, scope=scope, days=days)
        self._give(Action.READ, Right.READ, [scope], [], kinds=ALL_KINDS)
        if not self._masks(scope, ALL_KINDS):
            return found
        return replace(found, by_session={masked(name): cost for name, cost in found.by_session.items()})

    def messages(self, *, scope: Scope, session: str = DEFAULT_SESSION, after: int = 0) -> list[MessageRecord]:
        """Return the messages of a session in order; see `Memory.messages`."""
        self._check(Action.READ, Right.READ, scope, _MESSAGES)
        found = self._memory.messages(scope=scope, session=session, after=after)
        self._give(Action.READ, Right.READ, [scope], found)
        return self._shown(found)

    def tool_calls(self, *, scope: Scope, session: str = DEFAULT_SESSION) -> list[ToolCallRecord]:
        """Return the logged tool calls of a session in order; see `Memory.tool_calls`."""
        self._check(Action.READ, Right.READ, scope, {Kind.TOOL_CALL})
        found = self._memory.tool_calls(scope=scope, session=session)
        self._give(Action.READ, Right.READ, [scope], found)
        return self._shown(found)

    def history(self, *, scope: Scope, session: str = DEFAULT_SESSION, whole: bool = False) -> History:
        """Return what a context of a session is made of; see `Memory.history`."""
        self._check(Action.READ, Right.READ, scope, _MESSAGES)
        found = self._memory.history(scope=scope, session=session, whole=whole)
        self._give(Action.READ, Right.READ, [scope], found.messages, kinds=_MESSAGES)
        shown = replace(found, messages=tuple(self._shown(found.messages)))
        if not self._masks(scope, _MESSAGES):
            return shown
        return replace(shown, summaries=tuple(masked_summary(one) for one in found.summaries))

    def records(
        self,
        *,
        scope: Scope,
        kind: Kind | str = Kind.MESSAGE,
        where: Mapping[str, object] | None = None,
        after: str = "",
        limit: int = 100,
    ) -> Page:
        """Return records of one kind, page by page; see `Memory.records`. A page may have fewer than asked for.

        What is only proposed, was rejected or retracted, is shown to who may decide about it.
        """
        self._check(Action.READ, Right.READ, scope, {_kind(kind)})
        found = self._memory.records(scope=scope, kind=kind, where=where, after=after, limit=limit)
        if not self._sees_all(scope):
            found = replace(found, records=tuple(one for one in found.records if _is_believed(one)))
        self._give(Action.READ, Right.READ, [scope], found.records)
        return replace(found, records=tuple(self._shown(found.records)))

    def changes(self, *, scope: Scope, after: str = "", limit: int = 100) -> Feed:
        """Return what was added, changed or is gone since a cursor; what is only proposed to the person alone."""
        self._check(Action.READ, Right.READ, scope, ALL_KINDS)
        proposals = self._sees_all(scope)
        with self._database.read(scope.tenant) as transaction:
            view = record_rows.view_of(transaction, scope)
            found = read_feed(transaction, view, after, limit=limit, proposals=proposals)
        self._give(Action.READ, Right.READ, [scope], [], ids=_raw(list(shown_ids(found))), kinds=ALL_KINDS)
        return found

    def checkpoint(
        self, *, scope: Scope, session: str = DEFAULT_SESSION, end: bool = False, timeout: float = 60.0
    ) -> SessionRecord | None:
        """Summarise what is left of a session; see `Memory.checkpoint`."""
        with self._writing(scope, _MESSAGES):
            made = self._memory.checkpoint(scope=scope, session=session, end=end, timeout=timeout)
        return None if made is None else self.session_record(scope=scope, session=session)

    def session_record(self, *, scope: Scope, session: str = DEFAULT_SESSION) -> SessionRecord | None:
        """Return the record of a session; see `Memory.session_record`."""
        self._check(Action.READ, Right.READ, scope, ALL_KINDS)
        found = self._memory.session_record(scope=scope, session=session)
        self._give(Action.READ, Right.READ, [scope], [], kinds=ALL_KINDS)
        return masked_session(found) if found is not None and self._masks(scope, ALL_KINDS) else found

    def session_records(self, *, scope: Scope, limit: int = 10) -> list[SessionRecord]:
        """Return the records of the latest sessions; see `Memory.session_records`."""
        self._check(Action.READ, Right.READ, scope, ALL_KINDS)
        found = self._memory.session_records(scope=scope, limit=limit)
        self._give(Action.READ, Right.READ, [scope], [], kinds=ALL_KINDS)
        return [masked_session(one) for one in found] if self._masks(scope, ALL_KINDS) else found

    def opening(self, *, scope: Scope, policy: OpeningPolicy = PERSONAL_ASSISTANT, request: str = "") -> Opening:
        """Return what a new session may begin with; see `Memory.opening`."""
        self._check(Action.READ, Right.READ, scope, ALL_KINDS)
        found = self._memory.opening(scope=scope, policy=policy, request=request)
        self._give(Action.READ, Right.READ, [scope], found.profile, kinds=ALL_KINDS)
        return masked_opening(found) if self._masks(scope, ALL_KINDS) else found

    def sessions(self, *, scope: Scope, limit: int = 100) -> list[SessionSummary]:
        """Return the sessions of a scope; see `Memory.sessions`."""
        self._check(Action.READ, Right.READ, scope, ALL_KINDS)
        found = self._memory.sessions(scope=scope, limit=limit)
        self._give(Action.READ, Right.READ, [scope], [], kinds=ALL_KINDS)
        if not self._masks(scope, ALL_KINDS):
            return found
        return [replace(one, name=masked(one.name)) for one in found]

    def stats(self, *, scope: Scope) -> Stats:
        """Count what a scope holds; see `Memory.stats`."""
        self._check(Action.READ, Right.READ, scope, ALL_KINDS)
        found = self._memory.stats(scope=scope)
        self._give(Action.READ, Right.READ, [scope], [], kinds=ALL_KINDS)
        return found

    def usage(self, *, scope: Scope, limit: int = 100) -> list[Use]:
        """Return which records were shown most often; see `Memory.usage`."""
        self._check(Action.READ, Right.READ, scope, ALL_KINDS)
        found = self._memory.usage(scope=scope, limit=limit)
        self._give(Action.READ, Right.READ, [scope], [], kinds=ALL_KINDS)
        return found

    def erase(self, record_ids: str | Sequence[str], *, scope: Scope) -> Erasure:
        """Remove records of exactly this scope; see `Memory.erase`. What the user's agents share is not an agent's."""
        given = [record_ids] if isinstance(record_ids, str) else list(record_ids)
        raw = _raw(given)
        self._check_erasing(Action.ERASE, scope, raw)
        with self._erasing(scope, raw):
            return self._memory.erase(given, scope=scope)

    def plan_forgetting(
        self,
        request: str = "",
        *,
        scope: Scope,
        ids: Sequence[str] = (),
        about: str = "",
        since: When | None = None,
        until: When | None = None,
        within: timedelta | None = None,
        session: str | None = None,
        kinds: Collection[Kind | str] = (),
        where: Mapping[str, object] | None = None,
        everything: bool = False,
    ) -> Forgetting:
        """Show what would be forgotten, to who may read and erase all of it; see `Memory.plan_forgetting`."""
        rights = (Right.READ, Right.ERASE)
        self._check_all(Action.READ, rights, scope)
        planned = self._memory.plan_forgetting(
            request,
            scope=scope,
            ids=ids,
            about=about,
            since=since,
            until=until,
            within=within,
            session=session,
            kinds=kinds,
            where=where,
            everything=everything,
        )
        self._tell(Action.READ, rights, scope, ids=_raw(list(shown_ids(planned))))
        return planned

    def forget(self, planned: Forgetting, *, undo_for: timedelta | None = None) -> Erasure:
        """Erase exactly what a preview showed, or remove it for a time; see `Memory.forget`."""
        if undo_for is None:
            return self.erase((*planned.ids, *planned.binned), scope=planned.scope)
        self._check_erasing(Action.REMOVE, planned.scope, _raw(planned.ids))
        return self._memory.forget(planned, undo_for=undo_for)

    def plan_forgetting_person(self, user: str, *, tenant: str) -> list[Forgetting]:
        """Show the person what is kept of them, and an admin with a reason how much; see `Memory`."""
        asked = Scope(tenant, user)
        self._check_forgetting(Action.READ, [asked])
        planned = self._memory.plan_forgetting_person(user, tenant=tenant)
        if not self.principal.owns(asked):
            planned = [replace(one, samples=(), remains=(), related=()) for one in planned]
        for one in planned:
            self._append(Action.READ, one.scope, _raw(list(shown_ids(one))))
        if not planned:
            self._append(Action.READ, asked)
        return planned

    def forget_person(self, planned: Sequence[Forgetting]) -> list[Erasure]:
        """Erase all that is kept of a person, as they or as an admin with a reason; see `Memory.forget_person`."""
        self._check_forgetting(Action.ERASE, [one.scope for one in planned])
        with self._erasing(planned[0].scope if planned else None, ()):
            return self._memory.forget_person(planned)

    def hold(self, *, scope: Scope, reason: str) -> Hold:
        """Put a legal hold on a scope, as an admin with a reason; see `Memory.hold`."""
        self._check_holding(Action.HOLD, scope.tenant, scope)
        return self._memory.hold(scope=scope, reason=reason)

    def holds(self, *, tenant: str) -> list[Hold]:
        """Return the legal holds of a tenant, as auditor or admin; see `Memory.holds`."""
        self._check_audit(tenant)
        self._append(Action.AUDIT, None)
        return self._memory.holds(tenant=tenant)

    def release(self, hold_id: str, *, tenant: str) -> Released:
        """End a legal hold, as an admin with a reason; see `Memory.release`."""
        self._check_holding(Action.RELEASE, tenant)
        return self._memory.release(hold_id, tenant=tenant)

    def custody(self, *, tenant: str, content: bool = False, reason: str = "") -> list[InCustody]:
        """Return what legal holds keep, as auditor or admin; what it says, as an admin with a reason; see `Memory`."""
        self._check_custody(tenant, content=content)
        return self._memory.custody(tenant=tenant, content=content, reason=reason)

    def keep(self, record_id: str, *, scope: Scope, until: When | None = None, forever: bool = False) -> Record:
        """Keep a record of exactly this scope until a time; see `Memory.keep`."""
        rights = (Right.READ, Right.WRITE)
        self._check_all(Action.WRITE, rights, scope)
        try:
            with self._writing(scope, ALL_KINDS):
                kept = self._memory.keep(record_id, scope=scope, until=until, forever=forever)
        except (NotFound, Conflict):
            self._tell(Action.WRITE, rights, scope, ids=_raw([record_id]))
            raise
        self._tell(Action.READ, rights, scope, [kept])
        return kept

    def pin(self, message_id: str, *, scope: Scope, pinned: bool = True) -> MessageRecord:
        """Show a message in every context of its session; see `Memory.pin`."""
        rights = (Right.READ, Right.WRITE)
        self._check_all(Action.WRITE, rights, scope)
        try:
            with self._writing(scope, ALL_KINDS):
                kept = self._memory.pin(message_id, scope=scope, pinned=pinned)
        except NotFound:
            self._tell(Action.WRITE, rights, scope, ids=_raw([message_id]))
            raise
        self._tell(Action.READ, rights, scope, [kept])
        return self._shown([kept])[0]

    def due_for_review(self, *, scope: Scope, limit: int = 100) -> list[Record]:
        """Return records whose review is due; see `Memory.due_for_review`."""
        self._check_all(Action.READ, [Right.READ], scope)
        found = self._memory.due_for_review(scope=scope, limit=limit)
        if not self._sees_all(scope):
            found = [one for one in found if _is_believed(one)]
        self._tell(Action.READ, [Right.READ], scope, found)
        return self._shown(found)

    def personal_data(self, *, scope: Scope) -> dict[PersonalKind, PersonalCount]:
        """Count the personal data in a scope, which takes a right of its own; see `Memory.personal_data`."""
        self._check_all(Action.READ, [Right.PERSONAL], scope)
        found = self._memory.personal_data(scope=scope)
        self._tell(Action.READ, [Right.PERSONAL], scope)
        return found

    def personal_records(self, kind: PersonalKind | str, *, scope: Scope) -> list[RecordId]:
        """Return the records that hold personal data of a kind, by the same right; see `Memory.personal_records`."""
        self._check_all(Action.READ, [Right.PERSONAL], scope)
        found = self._memory.personal_records(kind, scope=scope)
        self._tell(Action.READ, [Right.PERSONAL], scope, ids=_raw(found))
        return found

    def export(
        self,
        path: str | Path,
        *,
        scope: Scope,
        as_format: "ExportFormat" = "jsonl",
        overwrite: bool = False,
        progress: Progress = unheard,
    ) -> "Exported":
        """Write everything a scope holds to a file, for who may read and export it; see `Memory.export`."""
        rights = (Right.READ, Right.EXPORT)
        self._check_all(Action.EXPORT, rights, scope)
        return export(
            self._database,
            scope,
            Path(path),
            as_format,
            overwrite=overwrite,
            progress=progress,
            agree=lambda: self._tell(Action.EXPORT, rights, scope),
        )

    def import_export(self, path: str | Path, *, scope: Scope, progress: Progress = unheard) -> "Tally":
        """Keep everything of an export in a scope, for who may write all kinds; see `Memory.import_export`."""
        self._check_all(Action.WRITE, [Right.WRITE], scope)
        return take_export(path, scope, lambda lines: self.import_records(lines, scope=scope), progress=progress)

    def import_records(self, records: Sequence[Line], *, scope: Scope) -> "Restored":
        """Keep records as lines of an export have them, for who may write all kinds; see `Memory.import_records`."""
        with self._writing(scope, ALL_KINDS):
            return self._memory.import_records(records, scope=scope)

    def status(self, receipt: Receipt) -> WriteStatus:
        """Tell how far what was written has come; see `Memory.status`."""
        self._check(Action.READ, Right.READ, receipt.scope, NO_KINDS)
        return self._memory.status(receipt)

    def wait(self, receipt: Receipt, *, timeout: float = 60.0) -> WriteStatus:
        """Wait until what was written is found by meaning too; see `Memory.wait`."""
        self._check(Action.READ, Right.READ, receipt.scope, NO_KINDS)
        return self._memory.wait(receipt, timeout=timeout)

    def scopes(self, tenant: str) -> list[Scope]:
        """Return every scope that the principal may read; all of the tenant for an admin."""
        self._check_tenant(tenant)
        with self._database.read(tenant) as transaction:
            reach = self._reach(transaction)
            known = [name for _, name in scopes.all_scopes(transaction)]
        if may_administer(self.principal, tenant, now=reach.now):
            self._append(Action.ADMINISTER, None)
            return known
        return [name for name in known if reach.kinds(Right.READ, name)]

    def jobs(self, *, tenant: str) -> list[Job]:
        """Return a tenant's unfinished jobs, for its admin; see `Memory.jobs`."""
        self._administer(tenant)
        return self._memory.jobs(tenant=tenant)

    def retry_job(self, job_id: RecordId, *, tenant: str) -> None:
        """Queue a job again, as its admin; see `Memory.retry_job`."""
        self._administer(tenant)
        self._memory.retry_job(job_id, tenant=tenant)

    def cancel_job(self, job_id: RecordId, *, tenant: str) -> None:
        """Give a job up for good, as its admin; see `Memory.cancel_job`."""
        self._administer(tenant)
        self._memory.cancel_job(job_id, tenant=tenant)

    @property
    def diagnosis(self) -> "Diagnosis":
        """Look for signs of amnesia in what the principal may read; see `Memory.diagnosis`."""
        return Diagnosis(self)

    def advise(
        self,
        *,
        scope: Scope,
        whole_tenant: bool = False,
        on: Collection[str] | None = None,
        thresholds: Mapping[str, object] | None = None,
        symptoms: bool = False,
    ) -> "Advice":
        """Tell which layer is needed next, to who may read the scope, or to the admin of its tenant; see `Memory`."""
        if whole_tenant:
            self._administer(scope.tenant)
        else:
            self._check(Action.READ, Right.READ, scope, ALL_KINDS)
        given = self._memory.advise(scope=scope, whole_tenant=whole_tenant, on=on, thresholds=thresholds)
        if not whole_tenant:
            self._give(Action.READ, Right.READ, [scope], [], kinds=ALL_KINDS)
        looked_at = self.scopes(scope.tenant) if whole_tenant else [scope]
        return with_symptoms(given, self, looked_at) if symptoms else given

    def doctor(self, *, tenants: Sequence[str] | None = None) -> "list[Finding]":
        """Examine the principal's tenant, as its admin; see `Memory.doctor`."""
        wanted = [self.principal.tenant] if tenants is None else list(tenants)
        for tenant in wanted:
            self._administer(tenant)
        return self._memory.doctor(tenants=wanted)

    def grant(
        self,
        *,
        scope: Scope,
        to: Scope | str,
        expires_at: When,
        rights: Collection[Right | str] = (Right.READ,),
        kinds: Collection[Kind | str] = (),
    ) -> Grant:
        """Give rights to a memory, as the person whose it is or as an admin; see `Memory.grant`."""
        self._check_sharing(Action.GRANT, scope)
        return sharing.give(
            self._database,
            self._actor,
            scope=scope,
            to=to,
            rights=[_right(right) for right in rights],
            kinds=[_kind(kind) for kind in kinds],
            expires_at=Moment.parse(expires_at).start,
        )

    def revoke(self, grant_id: str, *, tenant: str) -> None:
        """End a grant, as the person whose memory it gives or as an admin; see `Memory.revoke`."""
        self._check_tenant(tenant)
        self._check_sharing(Action.REVOKE, sharing.find(self._database, grant_id, tenant=tenant).scope)
        sharing.take_back(self._database, self._actor, grant_id, tenant=tenant)

    def grants(self, *, tenant: str) -> list[Grant]:
        """Return the grants that the principal holds or may take back; an admin sees all."""
        self._check_tenant(tenant)
        now = self._now()
        return [
            grant
            for grant in sharing.listing(self._database, tenant)
            if may_share(self.principal, grant.scope, now=now) or self.principal.holds(grant)
        ]

    def audit_log(self, tenant: str, *, limit: int = 100, scope: Scope | None = None) -> list[AuditEntry]:
        """Return the last entries of the audit log, as auditor or admin; see `Memory.audit_log`."""
        self._check_audit(tenant)
        return self._memory.audit_log(tenant, limit=limit, scope=scope)

    def audit_head(self, tenant: str) -> AuditHead:
        """Return the end of the audit log, as auditor or admin; see `Memory.audit_head`."""
        self._check_audit(tenant)
        return self._memory.audit_head(tenant)

    def verify_audit(self, tenant: str, *, head: str = "") -> AuditReport:
        """Check the audit log, as auditor or admin; see `Memory.verify_audit`."""
        self._check_audit(tenant)
        return self._memory.verify_audit(tenant, head=head)

    def _allow_calls(self, scope: Scope) -> Allowed:
        """Return the kinds of records with tool calls that may be read; raise AccessDenied when there are none."""
        reach = self._look(Right.READ, [scope, scope.shared()])
        beside = {scope.shared(): reach.kinds(Right.READ, scope.shared()) & TOLD_BY}
        return beside | {scope: self._narrowed(reach, Action.READ, scope, TOLD_BY)}

    def _show_calls(self, scope: Scope, found: Sequence[Record]) -> Sequence[Record]:
        self._give(Action.READ, Right.READ, [scope], found)
        return self._shown(found)

    def _sees_all(self, scope: Scope) -> bool:
        """Tell whether the principal may see what waits for a decision or is believed no more."""
        return self._look(Right.DECIDE, [scope]).kinds(Right.DECIDE, scope) == ALL_KINDS

    def _believed(self, record: Record, scope: Scope) -> Record:
        """Return a record; raise NotFound for what is not believed and not the principal's to see."""
        if not _is_believed(record) and not self._sees_all(scope):
            raise NotFound(f"there is no record {record.id!r} in {scope}")
        return record

    def _masked_hits(self, found: Recall) -> Recall:
        records = [hit.record for hit in found]
        count = EstimatingCounter()
        hits = (
            masked_hit(hit, count) if is_masked else hit
            for hit, is_masked in zip(found, self._masking(records), strict=True)
        )
        return replace(found, hits=tuple(hits))

    def _shown(self, found: Sequence[_R]) -> list[_R]:
        return [
            masked_record(record) if is_masked else record
            for record, is_masked in zip(found, self._masking(found), strict=True)
        ]


def _is_believed(record: Record) -> bool:
    return not isinstance(record, ItemRecord) or record.is_searchable


def _without_counts(found: Recall) -> Recall:
    """Leave out how much was held back: it tells about kinds that were not granted."""
    reason = f"{len(found)} found" if found else "nothing relevant is remembered, or nothing that was granted"
    return replace(found, filtered_count=0, pending_count=0, reason=reason)


def _kind(given: Kind | str) -> Kind:
    try:
        return Kind(given)
    except ValueError as error:
        raise InvalidInput(f"unknown kind {given!r}; use one of {', '.join(Kind)}") from error


def _right(given: Right | str) -> Right:
    try:
        return Right(given)
    except ValueError as error:
        raise InvalidInput(f"unknown right {given!r}; use one of {', '.join(Right)}") from error


def _raw(record_ids: Sequence[str]) -> list[bytes]:
    try:
        return [id_bytes(record_id) for record_id in record_ids]
    except ValueError as error:
        raise InvalidInput(str(error)) from error

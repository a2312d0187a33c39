"""Memory: the verbs. Each names a pipeline and calls it."""

import functools
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Self, TypeVar

from retentia.doors import Show
from retentia.episodes import Episodes
from retentia.errors import ErasedEarlier, InvalidInput, NotFound, StoreError
from retentia.experiences import OwnerExperiences
from retentia.facts import Facts
from retentia.index.signals import Weights
from retentia.jobs.embed import Embedding
from retentia.jobs.idle import close_idle
from retentia.jobs.learn import LearningByRules
from retentia.jobs.learners import learners
from retentia.jobs.summarise import Summarising, queue_summary
from retentia.jobs.summarisers import summarisers
from retentia.jobs.sweep import sweep_all
from retentia.jobs.understand import Understanding
from retentia.jobs.worker import Worker
from retentia.jobs.workers import Workers
from retentia.learn.inline import InlineLearning, LearningSettings
from retentia.learn.remembered import remembered
from retentia.lifecycle.acknowledge import PATIENCE_SECONDS, OtherReaders
from retentia.lifecycle.backup import DEFAULT_LIFE, Manifest, back_up
from retentia.lifecycle.erase import Eraser, Erasure
from retentia.lifecycle.forget import SAMPLES, Forgetting, Selection, preview, read_request
from retentia.lifecycle.keeping import Keeping
from retentia.lifecycle.ledger import Entry
from retentia.lifecycle.reembed import reembed
from retentia.lifecycle.reindex import check_analyzer, reindex_all
from retentia.lifecycle.retention import due_for_review, keep
from retentia.lifecycle.store_ledger import StoreLedger, Tombstones
from retentia.lifecycle.verify import Verification, verify
from retentia.metering.spend import Spend
from retentia.model.cost import PromptCosts, prompt_costs
from retentia.model.feed import Feed
from retentia.model.filters import parse_filter
from retentia.model.grant import Grant, Right
from retentia.model.hold import Hold, InCustody, Released
from retentia.model.ids import RecordId, id_bytes, id_text
from retentia.model.manifest import Why
from retentia.model.message import JSON, Document, Message, ToolCall, When
from retentia.model.portable import Line
from retentia.model.price import Price
from retentia.model.progress import Progress, unheard
from retentia.model.provenance import Source
from retentia.model.record import CONTEXT_KINDS, Importance, ItemRecord, Kind, MessageRecord, Record, ToolCallRecord
from retentia.model.scope import Scope
from retentia.model.session_record import SessionRecord
from retentia.model.time import Clock, Moment, system_clock
from retentia.model.use import Use
from retentia.providers.base import EmbedderSpec
from retentia.providers.chat.base import ChatModelSpec
from retentia.providers.chat.models import Models
from retentia.providers.resolve import resolve
from retentia.read.experience_pools import ExperienceReading, Pools
from retentia.read.feed import read_feed
from retentia.read.listing import Page, list_records
from retentia.read.pipeline import ReadPipeline
from retentia.read.presence import Presence
from retentia.read.query import Hit, Query, Recall, Shared
from retentia.read.residents import Residents
from retentia.read.serving import AUTO, ServingEmbedder
from retentia.read.tool_pools import ToolPools, ToolRanking
from retentia.read.use_buffer import UseBuffer
from retentia.replay import replayed
from retentia.security import audit, sharing
from retentia.security.access import Principal
from retentia.security.audit import Access, Action, Actor, AuditEntry, AuditHead, AuditReport
from retentia.security.audit_buffer import AuditBuffer
from retentia.security.personal import PersonalKind
from retentia.sessions import SessionRecords
from retentia.shown import context_of, explained, manifest_of, shown_ids
from retentia.store import binned, jobs, manifests, passages, personal, records, scopes, sessions, uses
from retentia.store.database import Database, Transaction
from retentia.store.jobs import Job, JobState
from retentia.store.open import find_keys, open_database
from retentia.store.records import View
from retentia.store.sessions import SessionSummary
from retentia.tool_selection import Tools
from retentia.tools.log import whole
from retentia.working.context import Context
from retentia.working.history import History, read_history
from retentia.working.opening import PERSONAL_ASSISTANT, Opening, OpeningPolicy
from retentia.working.pin import pin
from retentia.working.settings import WorkingSettings
from retentia.working.strategy import Strategy
from retentia.working.summariser import Summariser
from retentia.working.tokens import EstimatingCounter
from retentia.write.admission import MessageLike, admit_metadata
from retentia.write.experience_pipeline import ExperiencePipeline
from retentia.write.items import Item
from retentia.write.pipeline import WritePipeline
from retentia.write.receipt import Receipt, WriteStatus

if TYPE_CHECKING:  # what few processes need is imported by the verb that needs it
    from retentia.acting import ActingMemory
    from retentia.diagnose.advisor import Advice
    from retentia.diagnose.doctor import Finding
    from retentia.diagnosis import Diagnosis
    from retentia.ingest import Tally
    from retentia.transfer.export import Exported, ExportFormat
    from retentia.transfer.restore import Restored

_E = TypeVar("_E", bound=StrEnum)
_P = ParamSpec("_P")
_R = TypeVar("_R")
_Shown = TypeVar("_Shown", bound=Record)
DEFAULT_SESSION = "default"
_GIBIBYTE = 1 << 30
_DAY = 86_400_000_000
_WAIT_SECONDS = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """What a scope holds. `records` counts by kind; `without_vector` passages are found by their words only.

    `in_bin` counts what was removed and can be restored or waits to be purged.
    """

    records: Mapping[str, int]
    passages: int
    without_vector: int
    jobs: int
    store_bytes: int
    index_bytes: int
    embedder: str
    in_bin: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonalCount:
    """How often personal data of one kind was found, and in how many records."""

    spans: int
    records: int


def _logged(
    action: Action,
) -> Callable[[Callable[Concatenate["Memory", _P], _R]], Callable[Concatenate["Memory", _P], _R]]:
    """Put what a verb writes and shows into the audit log, where this memory keeps one for its owner."""

    def decorate(verb: Callable[Concatenate["Memory", _P], _R]) -> Callable[Concatenate["Memory", _P], _R]:
        @functools.wraps(verb)
        def run(self: "Memory", /, *args: _P.args, **kwargs: _P.kwargs) -> _R:
            scope = kwargs.get("scope") or (getattr(args[0], "scope", None) if args else None)
            return self._log_own(action, scope, functools.partial(verb, self, *args, **kwargs))

        return run

    return decorate


class Memory:
    """What an agent remembers: keep messages, find them again, put them into the next prompt, erase them.

    Every verb takes a scope, which says whose memory it is. Safe to use from many threads; several processes may use
    one SQLite file. Close it, or use it as a context manager.
    """

    def __init__(
        self,
        database: Database,
        *,
        embedder: EmbedderSpec = AUTO,
        worker: bool = True,
        zone: str = "UTC",
        max_index_bytes: int = 2 * _GIBIBYTE,
        check_index: bool = True,
        weights: Weights | None = None,
        ledger: str | Path | None = AUTO,
        replay_erasures: bool = False,
        erase_patience: float = PATIENCE_SECONDS,
        audit: bool = False,
        working: WorkingSettings | None = None,
        learning: LearningSettings | None = None,
        models: Models | ChatModelSpec = None,
        summariser: Summariser | None = None,
    ) -> None:
        if check_index:
            check_analyzer(database)
        self._database = database
        self._zone = zone
        self._audits = audit
        self._log = AuditBuffer(database)
        self._counter = EstimatingCounter()
        self.working = working or WorkingSettings()
        self.learning = learning or LearningSettings()
        self._uses = UseBuffer(database) if self.learning.counts_use else None
        self._embedding = ServingEmbedder(database, embedder)
        self._residents = Residents(max_bytes=max_index_bytes)
        self._pools = Pools(max_bytes=max_index_bytes)
        self._shelves = ToolPools(max_bytes=max_index_bytes)
        self._presence = Presence(database, self._residents, self._pools, self._shelves)
        self._ledger = StoreLedger(database, _ledger_path(database, ledger))
        self._eraser = Eraser(
            database,
            self._ledger,
            on_removed=self._presence.let_go,
            others=OtherReaders(database, lambda: self._presence.id, patience=erase_patience),
        )
        self.replayed = self._eraser.replay() if replay_erasures else 0
        self._eraser.recover()
        self._write = WritePipeline(
            database,
            Tombstones(self._ledger),
            zone=zone,
            summarise_at=self.working.summary.due_at,
            learning=InlineLearning(self.learning) if self.learning.is_on else None,
        )
        self._read = ReadPipeline(
            database,
            self._residents,
            self._embedding,
            presence=self._presence,
            count_tokens=self._counter.count,
            weights=weights,
        )
        self.keeping = Keeping(
            database, self._eraser, actor=sharing.OWNER_ACTOR, consolidation=self.learning.consolidation
        )
        chosen = Models.of(models)
        self.spending = Spend(database, chosen.day, chosen.prices)
        self.tools = Tools(
            database,
            allow=whole,
            show=self._show_calls,
            doors=OwnerDoors(self),
            ranking=ToolRanking(database, self._shelves, self._embedding, self._presence),
            erase=lambda ids, scope: self.erase(ids, scope=scope),
        )
        self.facts = Facts(database, OwnerDoors(self), self.learning.registry, self.learning.relations, zone=zone)
        self.episodes = Episodes(
            database, OwnerDoors(self), zone=zone, recall=self._read.run, about=self._read.records_about
        )
        self.experience = OwnerExperiences(
            database,
            OwnerDoors(self),
            ExperiencePipeline(database, Tombstones(self._ledger), zone=zone),
            ExperienceReading(database, self._pools, self._embedding, self._presence),
        )
        extractor = learners(chosen, self.spending, self.learning, own=summariser)
        understanding = Understanding(database, extractor, self.learning, self._counter, Tombstones(self._ledger))
        learning_by_model = Worker(database, understanding)
        self._workers = Workers(
            Worker(database, LearningByRules(database, self.learning, Tombstones(self._ledger))),
            learning_by_model,
            embedding=Worker(
                database,
                Embedding(database, self._embedding.embedders),
                sweep=lambda stop: sweep_all(database, self._embedding.embedders().keys(), stop=stop),
                upkeep=self.keeping.upkeep,
            ),
            summarising=Worker(
                database,
                Summarising(
                    database,
                    summarisers(chosen, self.spending, self._counter, own=summariser),
                    self.working.summary,
                    self._counter,
                ),
                sweep=lambda stop: close_idle(database, self.working, learns=extractor is not None, stop=stop),
            ),
        )
        self._session_records = SessionRecords(
            database, self._workers.summarising, learning_by_model if extractor else None
        )
        if worker:
            self._workers.start()

    @classmethod
    def open(
        cls,
        url: str | Path,
        *,
        embedder: EmbedderSpec = AUTO,
        worker: bool = True,
        zone: str = "UTC",
        clock: Clock = system_clock,
        max_index_bytes: int = 2 * _GIBIBYTE,
        check_index: bool = True,
        weights: Weights | None = None,
        ledger: str | Path | None = AUTO,
        replay_erasures: bool = False,
        erase_patience: float = PATIENCE_SECONDS,
        audit: bool = False,
        key: str | None = None,
        content_key: str | None = None,
        working: WorkingSettings | None = None,
        learning: LearningSettings | None = None,
        models: Models | ChatModelSpec = None,
        summariser: Summariser | None = None,
    ) -> Self:
        """Open a store, creating it when it is new: "sqlite:///memory.db", a path, or "postgresql://…".

        `embedder` is "auto" (what the store was made with; "use" for a new one), a name, None for search by words
        only, or an object. `worker` runs queued work in a thread of this process. `zone` is the wall time that naive
        times are in. `check_index=False` opens a store whose index another tokenizer made, to rebuild it. `weights`
        says how much each signal counts in a search, None as measured best. `ledger` is the file that remembers what
        was erased: "auto" puts it beside a SQLite file and keeps none for PostgreSQL, None keeps none. A store that is
        behind its ledger (a restored backup) is refused with StoreBehindLedger; `replay_erasures=True` repeats what it
        lacks. `erase_patience` is how many seconds an erasure waits for other processes to let go of what they hold in
        memory; those that did not are named in its receipt. `audit=True` also logs what this process does as its owner;
        what principals do (`acting_as`) is always logged. `key` opens or makes an encrypted SQLite file: 64 hexadecimal
        digits, or a passphrase; None takes what the environment names (see `retentia.store.key`). `content_key` is such
        a key, too, and opens or makes a PostgreSQL store in which the content of each scope is encrypted with a key of
        its own. `working` says how contexts are made and when sessions are summarised, `learning` whether rules learn
        from messages, and which attributes and relations. `models` are the chat models that may be asked, such as
        "openai:qwen3@http://127.0.0.1:8080/v1" or a `Models`; without one, or with a `summariser` of your own, none is
        asked. Raises StoreError, EmbedderMismatch and AnalyzerMismatch with the remedy.
        """
        keys = find_keys(url, key=key, content_key=content_key)
        database = open_database(url, clock=clock, key=keys.key, content_key=keys.content_key)
        try:
            return cls(
                database,
                embedder=embedder,
                worker=worker,
                zone=zone,
                max_index_bytes=max_index_bytes,
                check_index=check_index,
                weights=weights,
                ledger=ledger,
                replay_erasures=replay_erasures,
                erase_patience=erase_patience,
                audit=audit,
                working=working,
                learning=learning,
                models=models,
                summariser=summariser,
            )
        except BaseException:
            database.close()
            raise

    @staticmethod
    def renew_ledger(url: str | Path, *, ledger: str | Path = AUTO) -> None:
        """Accept that the ledger of a store is lost, and begin a new one; raises InvalidInput where it is not lost."""
        keys = find_keys(url)
        database = open_database(url, key=keys.key, content_key=keys.content_key)
        try:
            StoreLedger(database, _ledger_path(database, ledger)).renew()
        finally:
            database.close()

    @_logged(Action.WRITE)
    def add(
        self,
        messages: MessageLike | Sequence[MessageLike],
        *,
        scope: Scope,
        session: str = DEFAULT_SESSION,
        context: Context | None = None,
    ) -> Receipt:
        """Keep what was said, in order; durable when this returns, found by words at once and by meaning soon after.

        Text alone is what the user said; a mapping has the fields of Message. Messages that are refused are named in
        the receipt with the reason and the others are kept; when none can be kept, the first reason is raised.
        `context` is what the model saw when it gave the last reply among them: `why` tells it later.
        """
        given = [messages] if isinstance(messages, (Message, str, Mapping)) else list(messages)
        manifest = None if context is None else manifest_of(context)
        receipt = self._queued(self._write.messages([(session, one) for one in given], scope, manifest))
        if receipt.failed and not receipt.written:
            raise ErasedEarlier
        return receipt

    @_logged(Action.WRITE)
    def add_to_sessions(self, messages: Sequence[tuple[str, MessageLike]], *, scope: Scope) -> Receipt:
        """Keep what was said in several sessions, each message with the name of its session, in one transaction.

        For the rest like `add`, and much faster than adding to one session after the other.
        """
        return self._queued(self._write.messages(messages, scope))

    @_logged(Action.WRITE)
    def log_tool_call(self, call: ToolCall, *, scope: Scope, session: str = DEFAULT_SESSION) -> Receipt:
        """Keep one call of a tool with its arguments, result or error, whole; its short form is searched."""
        return self._queued(self._write.tool_call(call, scope, session))

    @_logged(Action.WRITE)
    def add_document(self, document: Document, *, scope: Scope) -> Receipt:
        """Keep a document whole; hits cite the stretch of it that answers."""
        return self._queued(self._write.document(document, scope))

    @_logged(Action.WRITE)
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
        """Keep something known: a note, fact, preference, event, decision, commitment, procedure or knowledge.

        The same content again is one record that was seen twice. `sources` name the records it comes from; when all
        of them are erased, it goes with them. The receipt tells how it is held. Raises EmptyContent and InvalidInput.
        """
        item = Item(
            text=content,
            kind=_one_of(Kind, "kind", kind),
            at=None if at is None else Moment.parse(at, zone=self._zone),
            importance=_one_of(Importance, "importance", importance),
            author=author,
            metadata=admit_metadata(metadata or {}),
            sources=tuple(sources),
        )
        receipt = self._queued(self._write.item(item, scope))
        with self._database.read(scope.tenant) as transaction:
            record = _record(transaction, records.view_of(transaction, scope), receipt.id, scope)
        return replace(receipt, remembered=remembered(record)) if isinstance(record, ItemRecord) else receipt

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
        """Find what is known, best first, each hit with its source, its scores and the reason; or nothing, and why.

        `token_budget` bounds the tokens of all hits together. `since` and `until` bound event time, `where` filters
        metadata (see `retentia.model.filters`), both inside the search. What no longer holds answers questions about
        the past only ("where did I live before?"), or with `as_of`, which asks for what held then. `consequential`
        marks what the person has not confirmed. `min_relevance` replaces the calibrated cutoff; 0 always answers.
        With a `floor` (0 to 1) each hit must reach that relevance by itself, unless the question says one of the names
        that its metadata lists under "names". `also` names other scopes of the tenant to search together with this one;
        the scope of each hit's record says where it is from. Raises InvalidInput, InvalidFilter, InvalidMoment.
        """
        asked = Query(
            text=query,
            limit=limit,
            token_budget=token_budget,
            kinds=frozenset(_one_of(Kind, "kind", kind) for kind in kinds),
            since=None if since is None else Moment.parse(since, zone=self._zone).start,
            until=None if until is None else Moment.parse(until, zone=self._zone).start,
            session=session,
            where=None if where is None else parse_filter(where),
            as_of=None if as_of is None else Moment.parse(as_of, zone=self._zone).start,
            min_relevance=min_relevance,
            floor=floor,
            consequential=consequential,
            also=tuple(one if isinstance(one, Shared) else Shared(one) for one in also),
        )
        if any(shared.scope.tenant != scope.tenant for shared in asked.also):
            raise InvalidInput(f"also= names scopes of one tenant, {scope.tenant!r}")
        found = self._search(asked, scope=scope)
        self._count_shown(found)
        return found

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
        """Assemble the next prompt under `budget` tokens: role, what is recalled, the session, the request.

        `opening` is shown too, see there. `strategy` says which layers of memory are on, None those of the settings;
        with `facts`, what is known of the person is loaded where no `opening` is given. `consequential` marks what the
        person has not confirmed and should be asked about. The request itself is not stored; where it is the last
        message of the session already, it is shown once. Raises BudgetTooSmall when role and request alone do not fit.
        """
        strategy = strategy or self.working.strategy
        asked = Query(text=request, limit=limit, kinds=CONTEXT_KINDS, consequential=consequential)
        recalled = self._search(asked, scope=scope) if strategy.semantic else ()
        if strategy.facts and opening is None:
            opening = self.opening(scope=scope, policy=self.working.opening, request=request)
        made = context_of(
            request,
            recalled=recalled,
            read=lambda whole: self.history(scope=scope, session=session, whole=whole),
            role=role,
            budget=budget,
            counter=self._counter,
            settings=self.working.context,
            opening=opening,
            strategy=strategy,
            consequential=consequential,
        )
        shown = {one.id for one in made.manifest}
        self._count_shown([hit for hit in recalled if hit.id in shown])
        if made.gap is not None and strategy.summary:
            self._summarise_soon(scope, session)
        return made

    @_logged(Action.READ)
    def get(self, record_id: str, *, scope: Scope) -> Record:
        """Return one record; raise NotFound when the scope does not have it."""
        with self._database.read(scope.tenant) as transaction:
            return _record(transaction, records.view_of(transaction, scope), record_id, scope)

    @_logged(Action.READ)
    def why(self, reply_id: str, *, scope: Scope) -> Why:
        """Tell what the model saw when it gave a reply; raise NotFound where it was added without its context."""
        with self._database.read(scope.tenant) as transaction:
            view = records.view_of(transaction, scope)
            reply = _record(transaction, view, reply_id, scope)
            if not isinstance(reply, MessageRecord):
                raise InvalidInput(f"{reply_id!r} is a {reply.kind.value}, not a reply")
            return explained(transaction, view, reply)

    def replay(self, reply_id: str, *, scope: Scope, role: str = "", request: str = "") -> Context:
        """Assemble the prompt again that a reply saw, of what is still there; what is not is named in it.

        `role` is not kept with a reply; `request` takes the place of the stored one. Raises as `why` does.
        """
        why = self.why(reply_id, scope=scope)
        layout = self.working.context.layout
        return replayed(why, role=role, request=request, counter=self._counter, layout=layout)

    def costs(self, price: Price, *, scope: Scope, days: int = 30) -> PromptCosts:
        """Return what the prompts cost whose replies were added with their context, by session and by UTC day.

        Today and so many days before, input only. What summaries and other work of models cost is in `spending`.
        """
        with self._database.read(scope.tenant) as transaction:
            view = records.view_of(transaction, scope)
            since = transaction.now // _DAY - days + 1
            return prompt_costs(price, manifests.totals(transaction, view.scope_ids, since=since * _DAY))

    @_logged(Action.READ)
    def messages(self, *, scope: Scope, session: str = DEFAULT_SESSION, after: int = 0) -> list[MessageRecord]:
        """Return the messages of a session in order, those with `seq` above `after`."""
        found: list[MessageRecord] = []
        with self._database.read(scope.tenant) as transaction:
            view = records.view_of(transaction, scope)
            for scope_id in view.scope_ids:
                session_id = sessions.find(transaction, scope_id, session)
                if session_id is not None:
                    found.extend(records.session_messages(transaction, view, session_id, after=after))
        return found

    @_logged(Action.READ)
    def tool_calls(self, *, scope: Scope, session: str = DEFAULT_SESSION) -> list[ToolCallRecord]:
        """Return the logged tool calls of a session in order."""
        found: list[ToolCallRecord] = []
        with self._database.read(scope.tenant) as transaction:
            view = records.view_of(transaction, scope)
            for scope_id in view.scope_ids:
                session_id = sessions.find(transaction, scope_id, session)
                if session_id is not None:
                    found.extend(records.session_tool_calls(transaction, view, session_id))
        return found

    @_logged(Action.READ)
    def history(self, *, scope: Scope, session: str = DEFAULT_SESSION, whole: bool = False) -> History:
        """Return what a context of a session is made of: its summaries, and the messages that are shown word for word.

        Messages that a summary covers are read only where they are pinned or among the last, or with `whole`.
        """
        with self._database.read(scope.tenant) as transaction:
            return read_history(
                transaction, records.view_of(transaction, scope), session, self.working.context.window, whole=whole
            )

    @_logged(Action.READ)
    def sessions(self, *, scope: Scope, limit: int = 100) -> list[SessionSummary]:
        """Return the sessions of a scope, the most recent first."""
        with self._database.read(scope.tenant) as transaction:
            view = records.view_of(transaction, scope)
            return sessions.listing(transaction, view.scope_ids, limit=limit)

    @_logged(Action.WRITE)
    def checkpoint(
        self, *, scope: Scope, session: str = DEFAULT_SESSION, end: bool = False, timeout: float = 60.0
    ) -> SessionRecord | None:
        """Summarise what is left of a session and return its record; with `end` the session is over.

        What is said in it later opens it again. Where a model is configured it learns from what is new. None where
        there is nothing to record, or it takes more than `timeout` seconds or has failed: then it is in the queue, and
        `session_record` has it later. What a model learns may come later than the record, which says how far that is.
        Nothing is lost either way.
        """
        return self._session_records.write(scope, session, end=end, timeout=timeout)

    @_logged(Action.READ)
    def session_record(self, *, scope: Scope, session: str = DEFAULT_SESSION) -> SessionRecord | None:
        """Return the record of a session; None where none was written, or something in it was erased since."""
        return self._session_records.read(scope, session)

    @_logged(Action.READ)
    def session_records(self, *, scope: Scope, limit: int = 10) -> list[SessionRecord]:
        """Return the records of the latest sessions that have one, the latest first."""
        return self._session_records.latest(scope, limit=limit)

    @_logged(Action.READ)
    def opening(self, *, scope: Scope, policy: OpeningPolicy = PERSONAL_ASSISTANT, request: str = "") -> Opening:
        """Return what a new session may begin with: open items, profile and the latest sessions, for `context`.

        Nothing of it loads by itself. What `request` is about comes first.
        """
        return self._session_records.opening(scope, policy, self._counter, request=request)

    def scopes(self, tenant: str) -> list[Scope]:
        """Return every scope of a tenant, for those who administer it."""
        with self._database.read(tenant) as transaction:
            return [name for _, name in scopes.all_scopes(transaction)]

    @_logged(Action.READ)
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
        """Show what would be forgotten, without forgetting it: pass the answer to `forget`.

        `request` is a sentence ("forget what I said about Y", "vergiss die letzte Stunde"); the others are conditions,
        which all must hold. `about` finds what says all of these words in any form; `within` what was kept in the last
        so many minutes or days. Only records of exactly this scope are shown: what the user's agents share is a scope
        of its own. Raises InvalidInput when nothing is said, or it is unclear.
        """
        if request:
            asked = read_request(request)
            about, within, everything = asked.about or about, asked.within or within, asked.everything or everything
        wanted = Selection(
            ids=_ids(ids),
            about=about,
            since=None if since is None else Moment.parse(since, zone=self._zone).start,
            until=None if until is None else Moment.parse(until, zone=self._zone).start,
            recorded_since=None if within is None else self._database.now() - within // timedelta(microseconds=1),
            session=session,
            kinds=frozenset(_one_of(Kind, "kind", kind) for kind in kinds),
            where=None if where is None else parse_filter(where),
            everything=everything,
        )
        related = self._search(Query(text=about, limit=SAMPLES * 2), scope=scope) if about else ()
        with self._database.read(scope.tenant) as transaction:
            named = self._read.records_about(transaction, about, scope) if about else None
            resembling = [hit.record for hit in related if hit.record.scope == scope]
            return preview(transaction, scope, wanted, about=named, related=resembling)

    @_logged(Action.ERASE)
    def forget(self, planned: Forgetting, *, undo_for: timedelta | None = None) -> Erasure:
        """Erase exactly what a preview showed; what was removed since is no error, what was added stays.

        With `undo_for` it goes out of sight, `keeping.restore` brings it back within that time, and then it is erased.
        """
        if undo_for is not None:
            return self.keeping.remove(planned.ids, scope=planned.scope, undo_for=undo_for)
        return self._eraser.erase(planned.scope, (*planned.ids, *planned.binned))

    def plan_forgetting_person(self, user: str, *, tenant: str) -> list[Forgetting]:
        """Show all that is kept of a person, in every space and of every agent; pass the answer to `forget_person`."""
        with self._database.read(tenant) as transaction:
            own = [name for _, name in scopes.all_scopes(transaction) if name.user == user]
        return [self.plan_forgetting(everything=True, scope=name) for name in own]

    def forget_person(self, planned: Sequence[Forgetting]) -> list[Erasure]:
        """Erase exactly what the previews showed, and the person's name with it where nothing else is left."""
        done = [self.forget(one) for one in planned]
        for tenant, user in {(one.scope.tenant, one.scope.user) for one in planned}:
            self._eraser.drop_empty(tenant, user)
        return done

    def hold(self, *, scope: Scope, reason: str) -> Hold:
        """Put a legal hold on exactly this scope: what is erased in it is hidden as always, and kept until its release.

        `reason` is shown in receipts: a number of a case, not a person. What was erased before is gone; then the answer
        counts nothing. Always in the audit log, as its release. Raises InvalidInput.
        """
        return self.keeping.hold(scope=scope, reason=reason)

    def holds(self, *, tenant: str) -> list[Hold]:
        """Return the legal holds of a tenant, the oldest first."""
        return self.keeping.holds(tenant=tenant)

    def release(self, hold_id: str, *, tenant: str) -> Released:
        """End a legal hold; purge what was erased in its scope, with its bytes, unless another hold is on it.

        Raises NotFound.
        """
        return self.keeping.release(hold_id, tenant=tenant)

    def custody(self, *, tenant: str, content: bool = False, reason: str = "") -> list[InCustody]:
        """Return the erased records that legal holds keep; what they say only with `content=True` and a `reason`.

        Each look is in the audit log before it is answered, with the reason, which must be opaque: a number of a case.
        Raises InvalidInput.
        """
        return self.keeping.custody(tenant=tenant, content=content, reason=reason)

    def verify_erasure(
        self, tenant: str, record_ids: Sequence[str], *, erasure: str = "", texts: Sequence[str] = ()
    ) -> Verification:
        """Look for erased records in every table the database knows, and for texts in every byte of its files.

        `erasure` is the id of a receipt, which the ledger must name.
        """
        return verify(self._database, self._ledger, tenant, _ids(record_ids), erasure=erasure, texts=texts)

    def backup(
        self,
        path: str | Path,
        *,
        keep_for: timedelta = DEFAULT_LIFE,
        key: str | None = None,
        progress: Progress = unheard,
    ) -> Manifest:
        """Write a backup of the whole store into a new file, to be restored until `keep_for` is over.

        The backup of an encrypted store is under its key; `key` encrypts that of any other.
        """
        self._eraser.recover()
        return back_up(self._database, self._ledger, Path(path), keep_for=keep_for, key=key, progress=progress)

    def ledger_entries(self) -> list[Entry]:
        """Return the erasures and backups that the store's ledger knows, the oldest first."""
        known = self._ledger.existing()
        return [] if known is None else known.entries()

    @_logged(Action.ERASE)
    def erase(self, record_ids: str | Sequence[str], *, scope: Scope) -> Erasure:
        """Remove records and everything derived from them, with their bytes; answers with what was removed.

        Only records of exactly this scope: what the user's agents share is a scope of its own.
        """
        given = [record_ids] if isinstance(record_ids, str) else list(record_ids)
        return self._eraser.erase(scope, _ids(given))

    @_logged(Action.WRITE)
    def keep(self, record_id: str, *, scope: Scope, until: When | None = None, forever: bool = False) -> Record:
        """Keep a record until a time, or for ever, whatever the schedule says; return it with its new dates.

        Raises NotFound, InvalidInput, and Conflict when it has expired and is being erased.
        """
        if forever == (until is not None):
            raise InvalidInput("say how long to keep the record: until=… or forever=True")
        record = self.get(record_id, scope=scope)
        moment = None if until is None else Moment.parse(until, zone=self._zone)
        keep(self._database, scope, record.id, until=None if moment is None else moment.start)
        return self.get(record_id, scope=scope)

    @_logged(Action.WRITE)
    def pin(self, message_id: str, *, scope: Scope, pinned: bool = True) -> MessageRecord:
        """Show a message word for word in every context of its session, or no longer; return it as it is now.

        Raises NotFound, and InvalidInput where it is something else than a message.
        """
        record = self.get(message_id, scope=scope)
        if not isinstance(record, MessageRecord):
            raise InvalidInput(f"{message_id!r} is a {record.kind.value}, only messages are pinned")
        pin(self._database, scope, record.id, pinned=pinned)
        return replace(record, pinned=pinned)

    @_logged(Action.READ)
    def due_for_review(self, *, scope: Scope, limit: int = 100) -> list[Record]:
        """Return records whose review is due, the longest first; `keep` or `erase` them."""
        return due_for_review(self._database, scope, limit=limit)

    def personal_data(self, *, scope: Scope) -> dict[PersonalKind, PersonalCount]:
        """Count the personal data that was found in the texts of a scope, by kind."""
        with self._database.read(scope.tenant) as transaction:
            view = records.view_of(transaction, scope)
            found = personal.counts(transaction, view)
        return {PersonalKind(kind): PersonalCount(spans=spans, records=some) for kind, (spans, some) in found.items()}

    @_logged(Action.READ)
    def personal_records(self, kind: PersonalKind | str, *, scope: Scope) -> list[RecordId]:
        """Return the records whose text holds personal data of a kind, for `plan_forgetting(ids=…)` or `erase`."""
        wanted = _one_of(PersonalKind, "kind of personal data", kind)
        with self._database.read(scope.tenant) as transaction:
            view = records.view_of(transaction, scope)
            return [id_text(record_id) for record_id in personal.records_with(transaction, view, wanted)]

    def wait(self, receipt: Receipt, *, timeout: float = 60.0) -> WriteStatus:
        """Wait until what was written is found by meaning too; return how far it came after `timeout` seconds.

        Where a checkpoint has queued that a model learns from it, that is waited for as well.
        """
        deadline = time.monotonic() + timeout
        while (status := self.status(receipt)) == "queued" and time.monotonic() < deadline:
            self._workers.wake()
            time.sleep(_WAIT_SECONDS)
        return status

    def status(self, receipt: Receipt) -> WriteStatus:
        """Tell how far what was written has come."""
        with self._database.read(receipt.scope.tenant) as transaction:
            states = jobs.states(transaction, receipt.job_ids) | _learning_states(transaction, receipt)
        if "dead" in states:
            return "failed"
        return "queued" if states else "indexed"

    def drain(self, *, progress: Progress = unheard) -> int:
        """Run all queued work now, in this thread; return how many jobs were done."""
        return self._workers.drain(progress)

    def sweep(self) -> int:
        """Queue again what waits for a vector and lost its job; return how many records.

        A worker in this process does so by itself, every minute.
        """
        return sweep_all(self._database, self._embedding.embedders().keys())

    @_logged(Action.READ)
    def records(
        self,
        *,
        scope: Scope,
        kind: Kind | str = Kind.MESSAGE,
        where: Mapping[str, object] | None = None,
        after: str = "",
        limit: int = 100,
    ) -> Page:
        """Return records of one kind in a stable order, `limit` at a time; pass the page's cursor as `after`."""
        wanted = _one_of(Kind, "kind", kind)
        passes = None if where is None else parse_filter(where)
        with self._database.read(scope.tenant) as transaction:
            view = records.view_of(transaction, scope)
            return list_records(transaction, view, wanted, passes, after=after, limit=limit)

    @_logged(Action.READ)
    def changes(self, *, scope: Scope, after: str = "", limit: int = 100) -> Feed:
        """Return which records were added, changed or are gone since a cursor; "" is the beginning.

        A store remembers the last writes of a scope, 256 at least; whoever stayed away for longer is told so. A cursor
        holds in every process and after a restart. Raises InvalidInput for what is no cursor.
        """
        with self._database.read(scope.tenant) as transaction:
            view = records.view_of(transaction, scope)
            return read_feed(transaction, view, after, limit=limit, proposals=True)

    @_logged(Action.READ)
    def export(
        self,
        path: str | Path,
        *,
        scope: Scope,
        as_format: "ExportFormat" = "jsonl",
        overwrite: bool = False,
        progress: Progress = unheard,
    ) -> "Exported":
        """Write everything that a scope holds to a file, as it is at one instant.

        "jsonl" can be imported again, "markdown" is for people. What the user's agents share is a scope of its own.
        The file gets its name when it is whole, and can be read by its owner only. Raises InvalidInput when it cannot
        be written, and Conflict when records were erased meanwhile.
        """
        from retentia.transfer.export import export

        return export(self._database, scope, Path(path), as_format, overwrite=overwrite, progress=progress)

    def import_export(self, path: str | Path, *, scope: Scope, progress: Progress = unheard) -> "Tally":
        """Keep everything of an export in a scope; tell what is new, what was there, and what was skipped and why.

        Importing again adds nothing. `progress` counts bytes. Raises InvalidInput when the file is no export.
        """
        from retentia.transfer.batches import take_export

        return take_export(path, scope, lambda lines: self.import_records(lines, scope=scope), progress=progress)

    @_logged(Action.WRITE)
    def import_records(self, records: Sequence[Line], *, scope: Scope) -> "Restored":
        """Keep records as lines of an export have them, in one transaction; `import_export` reads them from a file.

        What is there stays as it is. Lines that are refused are named in the receipt with the reason.
        """
        from retentia.transfer.restore import restore

        restored = restore(self._database, records, scope, zone=self._zone, tombstones=Tombstones(self._ledger))
        self._queued(restored)
        return restored

    def stats(self, *, scope: Scope) -> Stats:
        """Count what a scope holds, what waits, and what it costs on disk and in memory."""
        with self._database.read(scope.tenant) as transaction:
            seen = scopes.view(transaction, scope)
            serving = self._embedding.current().generation
            return Stats(
                records=records.counts(transaction, View.of(seen, scope)),
                passages=sum(passages.count_passages(transaction, entry.scope_id) for entry in seen),
                without_vector=sum(
                    passages.count_without_vector(transaction, entry.scope_id, serving) for entry in seen
                )
                if serving
                else 0,
                jobs=jobs.count_unfinished(transaction),
                store_bytes=self._database.size_bytes(transaction),
                index_bytes=self._residents.nbytes + self._pools.nbytes,
                embedder=self._embedding.current().identity.name,
                in_bin=binned.count(transaction, [entry.scope_id for entry in seen]),
            )

    def usage(self, *, scope: Scope, limit: int = 100) -> list[Use]:
        """Return which records of a scope were shown most often, by recall or in a context, and when last.

        Counted within a second; nothing where `LearningSettings` says not to count.
        """
        with self._database.read(scope.tenant) as transaction:
            view = records.view_of(transaction, scope)
            return uses.most_shown(transaction, view.scope_ids, limit=limit)

    @property
    def diagnosis(self) -> "Diagnosis":
        """Look for signs that an agent forgets or makes up; see `retentia.diagnosis`."""
        from retentia.diagnosis import Diagnosis

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
        """Tell which layer of memory the traffic of a scope, or of its whole tenant, needs next, and which it does not.

        `on` names the layers in use, None those that the settings have on. `thresholds` replaces some, {layer:
        {measure: number}}. Only numbers are read; with `symptoms` also every session, see `Diagnosis.amnesia`. Raises
        InvalidInput.
        """
        from retentia.advice import advise_on, with_symptoms

        given = advise_on(
            self._database,
            self.working,
            self.learning,
            scope=scope,
            whole_tenant=whole_tenant,
            on=on,
            thresholds=thresholds,
        )
        looked_at = self.scopes(scope.tenant) if whole_tenant else [scope]
        return with_symptoms(given, self, looked_at) if symptoms else given

    def doctor(self, *, tenants: Sequence[str] | None = None) -> "list[Finding]":
        """Examine the store and say what to do; reads only."""
        from retentia.diagnose.doctor import examine
        from retentia.lifecycle.findings import erasure_findings

        named = None if tenants is None else list(tenants)
        found = examine(self._database, named, unlogged=self._log)
        return found + erasure_findings(self._database, self._ledger)

    def jobs(self, *, tenant: str) -> list[Job]:
        """Return a tenant's unfinished jobs, dead ones included, for those who administer it."""
        with self._database.read(tenant) as transaction:
            return jobs.listing(transaction)

    def retry_job(self, job_id: RecordId, *, tenant: str) -> None:
        """Queue a job again with all its attempts; raise NotFound."""
        with self._database.write(tenant) as transaction:
            jobs.retry(transaction, job_id)
        self._workers.wake()

    def cancel_job(self, job_id: RecordId, *, tenant: str) -> None:
        """Give a job up for good: its records stay found by their words only; raise NotFound."""
        with self._database.write(tenant) as transaction:
            jobs.cancel(transaction, job_id)

    def reindex(self, *, progress: Progress = unheard) -> int:
        """Make all passages of the store anew from its records; return how many records."""
        return reindex_all(self._database, progress=progress)

    def reembed(self, embedder: EmbedderSpec, *, progress: Progress = unheard) -> int:
        """Move the store to another embedder, the old one answering until it is done; return how many passages.

        Interrupting loses nothing; the next call continues. This memory follows at its next call when it was opened
        with "auto"; others opened with the old embedder by name must be opened anew.
        """
        chosen = resolve(embedder)
        if chosen is None:
            raise InvalidInput("name the embedder to move to, such as 'use' or 'e5'")
        return reembed(self._database, chosen, progress=progress)

    def acting_as(self, principal: Principal) -> "ActingMemory":
        """Return this memory as a principal may use it: the same verbs, each call checked and logged."""
        from retentia.acting import ActingMemory

        unlogged = copy(self)
        unlogged._audits = False  # noqa: SLF001 - a copy of this memory, for which the acting one logs
        actor = Actor(principal.id, str(principal.role), principal.reason)
        unlogged.keeping = Keeping(self._database, self._eraser, actor=actor)
        return ActingMemory(principal, unlogged, self._database, self._log)

    def grant(
        self,
        *,
        scope: Scope,
        to: Scope | str,
        expires_at: When,
        rights: Collection[Right | str] = (Right.READ,),
        kinds: Collection[Kind | str] = (),
    ) -> Grant:
        """Give rights to a memory: to who sits in another scope of the tenant, or to a principal by its id.

        `kinds` narrows it to records of these kinds. Always in the audit log. Raises InvalidInput.
        """
        return sharing.give(
            self._database,
            sharing.OWNER_ACTOR,
            scope=scope,
            to=to,
            rights=[_one_of(Right, "right", right) for right in rights],
            kinds=[_one_of(Kind, "kind", kind) for kind in kinds],
            expires_at=Moment.parse(expires_at, zone=self._zone).start,
        )

    def revoke(self, grant_id: str, *, tenant: str) -> None:
        """End a grant now; what is not yet answered under it is not given any more. Raises NotFound."""
        sharing.take_back(self._database, sharing.OWNER_ACTOR, grant_id, tenant=tenant)

    def grants(self, *, tenant: str) -> list[Grant]:
        """Return every grant of a tenant, ended ones included, the oldest first."""
        return sharing.listing(self._database, tenant)

    def audit_log(self, tenant: str, *, limit: int = 100, scope: Scope | None = None) -> list[AuditEntry]:
        """Return the last entries of a tenant's audit log, the newest first; those about one scope, or all."""
        return audit.entries(self._database, tenant, limit=limit, scope=scope)

    def audit_head(self, tenant: str) -> AuditHead:
        """Return the end of a tenant's audit log, to be kept elsewhere: with it a later cut can be told."""
        return audit.latest(self._database, tenant)

    def verify_audit(self, tenant: str, *, head: str = "") -> AuditReport:
        """Check a tenant's audit log from its first entry to its last, and that it leads through a head that was kept.

        The report names the first entry that is not as it was written.
        """
        return audit.verify(self._database, tenant, head=head)

    def close(self) -> None:
        """Finish the work at hand, log what is still to be logged, and let go of the store."""
        self._workers.stop()
        if self._uses is not None:
            self._uses.close()
        try:
            self._log.close()
        finally:
            self._presence.leave()
            self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @_logged(Action.RECALL)
    def _search(self, asked: Query, *, scope: Scope) -> Recall:
        return self._read.run(asked, scope)

    def _count_shown(self, hits: Sequence[Hit]) -> None:
        if self._uses is not None:
            self._uses.add((hit.record.scope, one) for hit in hits for one in (hit.id, *hit.also))

    def _log_own(self, action: Action, scope: object, call: Callable[[], _R]) -> _R:
        if not self._audits or not isinstance(scope, Scope):
            return call()
        with self._logging(action, scope):
            answer = call()
        if action in (Action.RECALL, Action.READ):
            self._log_shown(action, scope, answer)
        return answer

    @contextmanager
    def _logging(self, action: Action, scope: Scope) -> Iterator[None]:
        if not self._audits:
            yield
            return
        with self._database.noting(functools.partial(audit.log_writes, sharing.OWNER_ACTOR, action)):
            yield

    def _log_shown(self, action: Action, scope: Scope, answer: object) -> None:
        if self._audits:
            ids = [id_bytes(record_id) for record_id in shown_ids(answer)]
            access = Access(actor=sharing.OWNER_ACTOR, action=action, scope=scope, ids=ids, at=self._database.now())
            self._log.add(scope.tenant, access)

    def _summarise_soon(self, scope: Scope, session: str) -> None:
        """Queue what is due in a session, in one short write; a store that cannot be written now is left alone."""
        if self.working.summary.due_at:
            with suppress(StoreError):
                queue_summary(self._database, scope, session, jobs.SUMMARISE)
            self._workers.wake()

    def _show_calls(self, scope: Scope, found: Sequence[Record]) -> Sequence[Record]:
        return self._log_own(Action.READ, scope, lambda: list(found))

    def _queued(self, receipt: Receipt) -> Receipt:
        if receipt.job_ids:
            self._workers.wake()
        return receipt


class OwnerDoors:
    """The doors of who opened the store: open, and logged where this memory keeps a log for its owner."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    @contextmanager
    def reading(self, scope: Scope, kinds: Collection[Kind], *, proposals: bool = False) -> Iterator[Show]:
        """Let a read through; what it shows is logged."""

        def show(found: Sequence[_Shown], /) -> list[_Shown]:
            self._memory._log_shown(Action.READ, scope, found)  # noqa: SLF001 - doors of this memory
            return list(found)

        yield show

    @contextmanager
    def writing(self, scope: Scope, kinds: Collection[Kind]) -> Iterator[None]:
        """Let a write through; what it writes is logged."""
        with self._memory._logging(Action.WRITE, scope):  # noqa: SLF001
            yield

    @contextmanager
    def deciding(self, scope: Scope) -> Iterator[Show]:
        """Let a decision through; what it writes is logged."""

        def show(found: Sequence[_Shown], /) -> list[_Shown]:
            return list(found)

        with self._memory._logging(Action.WRITE, scope):  # noqa: SLF001
            yield show

    def decides(self, scope: Scope) -> bool:
        """Tell that what the process says counts as the person's word: it speaks for the person."""
        return True

    def author(self, given: str) -> str:
        """Take the name that was given."""
        return given


def _learning_states(transaction: Transaction, receipt: Receipt) -> set[JobState]:
    """Return the states of the jobs by which a model learns from what was written, where there are any."""
    scope_id = scopes.find(transaction, receipt.scope)
    waiting = [one for one in jobs.of_kind(transaction, jobs.UNDERSTAND) if one.scope_id == scope_id]
    if scope_id is None or not waiting:
        return set()
    written = {Kind.MESSAGE: [id_bytes(one) for one in receipt.ids]}
    its_sessions = records.sessions_of(transaction, scope_id, written)
    return {one.state for one in waiting if not its_sessions.isdisjoint(one.record_ids)}


def _record(transaction: Transaction, view: View, record_id: str, scope: Scope) -> Record:
    """Return a record of a view; raise NotFound, or InvalidInput for what is no id."""
    (raw,) = map(id_bytes, _ids([record_id]))
    found = records.fetch(transaction, view, records.kinds_of(transaction, view, [raw]))
    if raw not in found:
        raise NotFound(f"there is no record {record_id!r} in {scope}")
    return found[raw]


def _ids(given: Sequence[str]) -> tuple[RecordId, ...]:
    """Read ids as they are written; raise InvalidInput for what is none."""
    found = []
    for one in given:
        try:
            found.append(id_text(id_bytes(one)))
        except ValueError as error:
            raise InvalidInput(f"{one!r} is not an id: expected 32 hexadecimal digits") from error
    return tuple(found)


def _ledger_path(database: Database, given: str | Path | None) -> Path | None:
    if given == AUTO:
        return database.dialect.ledger_path
    return None if given is None else Path(given)


def _one_of(choices: type[_E], what: str, given: _E | str) -> _E:
    try:
        return choices(given)
    except ValueError as error:
        raise InvalidInput(f"unknown {what} {given!r}; use one of {', '.join(choices)}") from error

"""Memory: the verbs. Each names a pipeline and calls it."""

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from retentia.diagnose.doctor import Finding, examine
from retentia.errors import InvalidInput, NotFound
from retentia.index.signals import Weights
from retentia.jobs.worker import Worker
from retentia.lifecycle.erase import Erasure, erase
from retentia.lifecycle.reembed import reembed
from retentia.lifecycle.reindex import check_analyzer, reindex_all
from retentia.model.filters import parse_filter
from retentia.model.ids import RecordId, id_bytes
from retentia.model.message import JSON, Document, Message, ToolCall, When
from retentia.model.progress import Progress
from retentia.model.provenance import Source
from retentia.model.record import Importance, Kind, MessageRecord, Record
from retentia.model.scope import Scope
from retentia.model.time import Clock, Moment, system_clock
from retentia.providers.base import EmbedderSpec
from retentia.providers.resolve import resolve
from retentia.read.listing import Page, list_records
from retentia.read.pipeline import ReadPipeline
from retentia.read.query import Query, Recall
from retentia.read.residents import Residents
from retentia.read.serving import AUTO, ServingEmbedder
from retentia.shown import recalled_item, window_message
from retentia.store import jobs, passages, records, scopes, sessions
from retentia.store.database import Database
from retentia.store.jobs import Job
from retentia.store.open import open_database
from retentia.store.records import View
from retentia.store.sessions import SessionSummary
from retentia.working.context import Context, Material, assemble
from retentia.working.tokens import EstimatingCounter
from retentia.working.window import with_tool_groups
from retentia.write.admission import MessageLike, admit_metadata
from retentia.write.items import Item
from retentia.write.pipeline import WritePipeline
from retentia.write.receipt import Receipt, WriteStatus

_E = TypeVar("_E", bound=StrEnum)
DEFAULT_SESSION = "default"
_GIBIBYTE = 1 << 30
_WAIT_SECONDS = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """What a scope holds. `records` counts by kind; `without_vector` passages are found by their words only."""

    records: Mapping[str, int]
    passages: int
    without_vector: int
    jobs: int
    store_bytes: int
    index_bytes: int
    embedder: str


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
    ) -> None:
        if check_index:
            check_analyzer(database)
        self._database = database
        self._zone = zone
        self._counter = EstimatingCounter()
        self._embedding = ServingEmbedder(database, embedder)
        self._residents = Residents(max_bytes=max_index_bytes)
        self._write = WritePipeline(database, zone=zone)
        self._read = ReadPipeline(
            database, self._residents, self._embedding, count_tokens=self._counter.count, weights=weights
        )
        self._worker = Worker(database, self._embedding.embedders)
        if worker:
            self._worker.start()

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
    ) -> Self:
        """Open a store, creating it when it is new: "sqlite:///memory.db", a path, or "postgresql://…".

        `embedder` is "auto" (what the store was made with; "use" for a new one), a name, None for search by words
        only, or an object. `worker` runs queued work in a thread of this process. `zone` is the wall time that naive
        times are in. `check_index=False` opens a store whose index another tokenizer made, to rebuild it. `weights`
        says how much each signal counts in a search, None as measured best. Raises StoreError, EmbedderMismatch and
        AnalyzerMismatch with the remedy.
        """
        database = open_database(url, clock=clock)
        try:
            return cls(
                database,
                embedder=embedder,
                worker=worker,
                zone=zone,
                max_index_bytes=max_index_bytes,
                check_index=check_index,
                weights=weights,
            )
        except BaseException:
            database.close()
            raise

    def add(
        self,
        messages: MessageLike | Sequence[MessageLike],
        *,
        scope: Scope,
        session: str = DEFAULT_SESSION,
    ) -> Receipt:
        """Keep what was said, in order; durable when this returns, found by words at once and by meaning soon after.

        Text alone is what the user said; a mapping has the fields of Message. Messages that are refused are named in
        the receipt with the reason and the others are kept; when none can be kept, the first reason is raised.
        """
        given = [messages] if isinstance(messages, (Message, str, Mapping)) else list(messages)
        return self._queued(self._write.messages([(session, one) for one in given], scope))

    def add_to_sessions(self, messages: Sequence[tuple[str, MessageLike]], *, scope: Scope) -> Receipt:
        """Keep what was said in several sessions, each message with the name of its session, in one transaction.

        For the rest like `add`, and much faster than adding to one session after the other.
        """
        return self._queued(self._write.messages(messages, scope))

    def log_tool_call(self, call: ToolCall, *, scope: Scope, session: str = DEFAULT_SESSION) -> Receipt:
        """Keep one call of a tool with its arguments, result or error, whole; its short form is searched."""
        return self._queued(self._write.tool_call(call, scope, session))

    def add_document(self, document: Document, *, scope: Scope) -> Receipt:
        """Keep a document whole; hits cite the stretch of it that answers."""
        return self._queued(self._write.document(document, scope))

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
        of them are erased, it goes with them. Raises EmptyContent and InvalidInput.
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
        return self._queued(self._write.item(item, scope))

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
        min_relevance: float | None = None,
    ) -> Recall:
        """Find what is known, best first, each hit with its source, its scores and the reason; or nothing, and why.

        `token_budget` bounds the tokens of all hits together. `since` and `until` bound event time, `where` filters
        metadata (see `retentia.model.filters`), both inside the search. `min_relevance` replaces the calibrated
        cutoff; 0 always answers. Raises InvalidInput, InvalidFilter, InvalidMoment.
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
            min_relevance=min_relevance,
        )
        return self._read.run(asked, scope)

    def context(
        self,
        request: str,
        *,
        scope: Scope,
        session: str = DEFAULT_SESSION,
        budget: int = 1500,
        role: str = "",
        limit: int = 20,
    ) -> Context:
        """Assemble the next prompt under `budget` tokens: role, what is recalled, the session, the request.

        The request itself is not stored. Raises BudgetTooSmall when role and request alone do not fit.
        """
        recalled = self.recall(request, scope=scope, limit=limit)
        said = self.messages(scope=scope, session=session)
        material = Material(
            request=request,
            role=role,
            messages=with_tool_groups(window_message(message, self._counter) for message in said),
            recalled=[recalled_item(hit) for hit in recalled],
        )
        return assemble(material, budget=budget, counter=self._counter)

    def get(self, record_id: str, *, scope: Scope) -> Record:
        """Return one record; raise NotFound when the scope does not have it."""
        try:
            raw = id_bytes(record_id)
        except ValueError as error:
            raise InvalidInput(str(error)) from error
        with self._database.read(scope.tenant) as transaction:
            view = View.of(scopes.view(transaction, scope), scope)
            found = records.fetch(transaction, view, records.kinds_of(transaction, view, [raw]))
        if raw not in found:
            raise NotFound(f"there is no record {record_id!r} in {scope}")
        return found[raw]

    def messages(self, *, scope: Scope, session: str = DEFAULT_SESSION, after: int = 0) -> list[MessageRecord]:
        """Return the messages of a session in order, those with `seq` above `after`."""
        found: list[MessageRecord] = []
        with self._database.read(scope.tenant) as transaction:
            view = View.of(scopes.view(transaction, scope), scope)
            for scope_id in view.scope_ids:
                session_id = sessions.find(transaction, scope_id, session)
                if session_id is not None:
                    found.extend(records.session_messages(transaction, view, session_id, after=after))
        return found

    def sessions(self, *, scope: Scope, limit: int = 100) -> list[SessionSummary]:
        """Return the sessions of a scope, the most recent first."""
        with self._database.read(scope.tenant) as transaction:
            view = View.of(scopes.view(transaction, scope), scope)
            return sessions.listing(transaction, view.scope_ids, limit=limit)

    def scopes(self, tenant: str) -> list[Scope]:
        """Return every scope of a tenant, for those who administer it."""
        with self._database.read(tenant) as transaction:
            return [name for _, name in scopes.all_scopes(transaction)]

    def erase(self, record_ids: str | Sequence[str], *, scope: Scope) -> Erasure:
        """Remove records and everything derived from them, with their bytes; answers with what was removed."""
        given = [record_ids] if isinstance(record_ids, str) else list(record_ids)
        try:
            return erase(self._database, scope, [RecordId(record_id) for record_id in given])
        except ValueError as error:
            raise InvalidInput(str(error)) from error

    def wait(self, receipt: Receipt, *, timeout: float = 60.0) -> WriteStatus:
        """Wait until what was written is found by meaning too; return how far it came after `timeout` seconds."""
        deadline = time.monotonic() + timeout
        while (status := self.status(receipt)) == "queued" and time.monotonic() < deadline:
            self._worker.wake()
            time.sleep(_WAIT_SECONDS)
        return status

    def status(self, receipt: Receipt) -> WriteStatus:
        """Tell how far what was written has come."""
        with self._database.read(receipt.scope.tenant) as transaction:
            states = jobs.states(transaction, receipt.job_ids)
        if "dead" in states:
            return "failed"
        return "queued" if states else "indexed"

    def drain(self, *, progress: Progress = lambda _: None) -> int:
        """Run all queued work now, in this thread; return how many jobs were done."""
        done = 0
        while worked := self._worker.run_once():
            done += worked
            progress(worked)
        return done

    def sweep(self) -> int:
        """Queue again what waits for a vector and lost its job; return how many records.

        A worker in this process does so by itself, every minute.
        """
        return self._worker.sweep()

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
            view = View.of(scopes.view(transaction, scope), scope)
            return list_records(transaction, view, wanted, passes, after=after, limit=limit)

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
                index_bytes=self._residents.nbytes,
                embedder=self._embedding.current().identity.name,
            )

    def doctor(self, *, tenants: Sequence[str] | None = None) -> list[Finding]:
        """Examine the store and say what to do; reads only."""
        return examine(self._database, None if tenants is None else list(tenants))

    def jobs(self, *, tenant: str) -> list[Job]:
        """Return a tenant's unfinished jobs, dead ones included, for those who administer it."""
        with self._database.read(tenant) as transaction:
            return jobs.listing(transaction)

    def retry_job(self, job_id: RecordId, *, tenant: str) -> None:
        """Queue a job again with all its attempts; raise NotFound."""
        with self._database.write(tenant) as transaction:
            jobs.retry(transaction, job_id)
        self._worker.wake()

    def cancel_job(self, job_id: RecordId, *, tenant: str) -> None:
        """Give a job up for good: its records stay found by their words only; raise NotFound."""
        with self._database.write(tenant) as transaction:
            jobs.cancel(transaction, job_id)

    def reindex(self, *, progress: Progress = lambda _: None) -> int:
        """Make all passages of the store anew from its records; return how many records."""
        return reindex_all(self._database, progress=progress)

    def reembed(self, embedder: EmbedderSpec, *, progress: Progress = lambda _: None) -> int:
        """Move the store to another embedder, the old one answering until it is done; return how many passages.

        Interrupting loses nothing; the next call continues. This memory follows at its next call when it was opened
        with "auto"; others opened with the old embedder by name must be opened anew.
        """
        chosen = resolve(embedder)
        if chosen is None:
            raise InvalidInput("name the embedder to move to, such as 'use' or 'e5'")
        return reembed(self._database, chosen, progress=progress)

    def close(self) -> None:
        """Finish the work at hand and let go of the store."""
        self._worker.stop()
        self._residents.clear()
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _queued(self, receipt: Receipt) -> Receipt:
        if receipt.job_ids:
            self._worker.wake()
        return receipt


def _one_of(choices: type[_E], what: str, given: _E | str) -> _E:
    try:
        return choices(given)
    except ValueError as error:
        raise InvalidInput(f"unknown {what} {given!r}; use one of {', '.join(choices)}") from error

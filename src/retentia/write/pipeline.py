"""Writing, step by step: admit -> number -> cut into passages -> one transaction -> queue what needs a model.

A write is acknowledged when its transaction is durable: the record, its passages, the job that will embed it, and the
scope's next version. From then on it is found by its words.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from retentia.model.ids import RecordId, id_text, new_id_bytes
from retentia.model.learned import Learned
from retentia.model.manifest import Manifest, Seen
from retentia.model.message import Document, ToolCall
from retentia.model.scope import Scope
from retentia.model.time import Moment
from retentia.store import manifests, records, schema, scopes, tenant_settings
from retentia.store.database import Database, Transaction
from retentia.store.summaries import queue_due
from retentia.tools.noting import rules_of
from retentia.write import indexed
from retentia.write.admission import admit_name
from retentia.write.batch import InSession, Placed, admit_each, leave_out_erased, leave_out_known
from retentia.write.items import Item, check_sources, content_key, draft_item, link_sources
from retentia.write.kept import earlier_end
from retentia.write.place import Buried, Place
from retentia.write.receipt import Receipt, Written
from retentia.write.rows import Row, draft_document, draft_tool_call, message_row


class Learning(Protocol):
    """Learns by rules from messages that were just written, in their transaction; or queues that, for many."""

    def __call__(self, place: Place, rows: Sequence[Row]) -> tuple[tuple[Learned, ...], tuple[RecordId, ...]]: ...


class WritePipeline:
    """Writes records of every kind; see the module for the order of steps."""

    def __init__(
        self,
        database: Database,
        tombstones: Buried,
        *,
        zone: str,
        summarise_at: int = 0,
        learning: Learning | None = None,
    ) -> None:
        self._database = database
        self._tombstones = tombstones
        self._zone = zone
        self._summarise_at = summarise_at
        self._learning = learning

    def messages(self, given: Sequence[InSession], scope: Scope, manifest: Manifest | None = None) -> Receipt:
        """Keep messages in order, those of all sessions in one transaction.

        Those that are refused are named in the receipt, or the first refusal is raised when all are. `manifest` is what
        the last reply among them saw.
        """
        admitted, failed, notes = admit_each(given, now=self._now())
        written: list[Written] = []
        rows: list[Row] = []
        ends: dict[bytes, int] = {}
        with self._database.write(scope.tenant) as transaction:
            place = Place(transaction, scope, self._tombstones)
            for session, messages in admitted.items():
                session_id, is_new = place.session(session)
                messages, gone = leave_out_erased(messages, place.erased(schema.message, _keys(messages), session))
                keys = [] if is_new else _keys(messages)
                fresh, entries = leave_out_known(messages, place.known(schema.message, keys, session_id))
                failed += gone
                first = place.take(session_id, len(fresh))
                ends[session_id] = first + len(fresh) - 1
                rows.extend(
                    message_row(message, record_id, session_id=session_id, seq=seq, recorded_at=transaction.now)
                    for seq, (message, record_id) in enumerate(fresh, start=first)
                )
                written.extend(entries)
            job_ids = place.insert(schema.message, rows)
            if manifest is not None:
                _note_manifest(transaction, place.scope_id, rows, manifest)
            learned, more_jobs = self._learning(place, rows) if self._learning else ((), ())
            if len(rows) < self._summarise_at:  # what comes in bulk is summarised when a context needs it
                queue_due(transaction, place.scope_id, ends, self._summarise_at)
        written.sort(key=lambda entry: entry.position)
        return Receipt(
            scope=scope,
            written=tuple(written),
            failed=failed,
            notes=notes,
            job_ids=(*job_ids, *more_jobs),
            learned=learned,
        )

    def tool_call(self, call: ToolCall, scope: Scope, session: str) -> Receipt:
        """Keep one tool call with its arguments and result."""
        with self._database.read(scope.tenant) as transaction:
            settings = tenant_settings.load(transaction)
        rules = rules_of(settings)
        draft = draft_tool_call(call, now=self._now(), rules=rules)
        kept_days = rules.rule_for(call.name, call.arguments).kept_days
        name = admit_name("session", session)
        with self._database.write(scope.tenant) as transaction:
            place = Place(transaction, scope, self._tombstones)
            session_id, _ = place.session(name)
            place.refuse_erased(schema.tool_call, draft.key, session)
            if earlier := place.known_as(schema.tool_call, draft.key, session_id):
                return Receipt.of_one(scope, earlier, is_new=False)
            record_id, seq = new_id_bytes(), place.take(session_id)
            described = indexed.tool_call(session_id=session_id, seq=seq, **draft.known(record_id, transaction.now))
            term = settings.schedule.term(schema.tool_call.name, recorded_at=transaction.now)
            ends = {"expires_at": earlier_end(term.expires_at, kept_days, recorded_at=transaction.now)}
            row = draft.row(described, session_id=session_id, seq=seq, client_key=draft.key, **ends)
            job_ids = place.insert(schema.tool_call, [row])
        return Receipt.of_one(scope, record_id, is_new=True, notes=draft.notes, job_ids=job_ids)

    def document(self, document: Document, scope: Scope) -> Receipt:
        """Keep a document whole, searchable by passages."""
        draft = draft_document(document, zone=self._zone)
        with self._database.write(scope.tenant) as transaction:
            place = Place(transaction, scope, self._tombstones)
            place.refuse_erased(schema.document, draft.key)
            if earlier := place.known_as(schema.document, draft.key):
                return Receipt.of_one(scope, earlier, is_new=False)
            record_id = new_id_bytes()
            described = indexed.document(**draft.known(record_id, transaction.now))
            job_ids = place.insert(schema.document, [draft.row(described, client_key=draft.key)])
        return Receipt.of_one(scope, record_id, is_new=True, notes=draft.notes, job_ids=job_ids)

    def item(self, given: Item, scope: Scope) -> Receipt:
        """Keep something known; the same content of the same kind is one item that was seen again."""
        draft = draft_item(given)
        key = content_key(draft.text)
        with self._database.write(scope.tenant) as transaction:
            place = Place(transaction, scope, self._tombstones)
            known = records.see_again(transaction, place.scope_id, given.kind, key)
            record_id = known or new_id_bytes()
            check_sources(transaction, scope, given.sources)
            link_sources(transaction, record_id, given.sources)
            if known:
                scopes.record_change(transaction, place.scope_id, [known])
                return Receipt.of_one(scope, known, is_new=False)
            known_from = bool(given.sources)
            described = indexed.item(given.kind, is_quote=known_from, **draft.known(record_id, transaction.now))
            job_ids = place.insert(schema.item, [draft.row(described, content_key=key)])
        return Receipt.of_one(scope, record_id, is_new=True, notes=draft.notes, job_ids=job_ids)

    def _now(self) -> Moment:
        return Moment.at(self._database.now(), self._zone)


def _note_manifest(transaction: Transaction, scope_id: int, rows: Sequence[Row], manifest: Manifest) -> None:
    """Note what the last reply among new messages saw, and which request it answers."""
    replies = [row.values for row in rows if row.values["role"] == "assistant"]
    if not replies:
        return
    session_id, reply_id, seq = (replies[-1][name] for name in ("session_id", "id", "seq"))
    request = records.last_request(transaction, scope_id, session_id, before=seq)  # type: ignore[arg-type]  # as drafted
    if request is not None:
        asked = Seen(record_id=id_text(request), kind=schema.message.name, part="request")
        manifest = replace(manifest, seen=(*manifest.seen, asked))
    manifests.add(transaction, scope_id, reply_id, manifest)  # type: ignore[arg-type]


def _keys(messages: Sequence[Placed]) -> list[str]:
    return [message.key for _, message in messages if message.key]

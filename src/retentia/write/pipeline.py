"""Writing, step by step: admit -> number -> cut into passages -> one transaction -> queue what needs a model.

A write is acknowledged when its transaction is durable: the record, its passages, the job that will embed it, and the
scope's next version. From then on it is found by its words.
"""

import hashlib
import unicodedata
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import Table

from retentia.errors import InvalidInput, RetentiaError
from retentia.index.passages import Indexable, passages_of
from retentia.model.ids import RecordId, id_bytes, id_text, new_id_bytes
from retentia.model.message import Document, ToolCall
from retentia.model.passage import Passage
from retentia.model.provenance import Source, Trust
from retentia.model.record import ITEM_KINDS, Importance, Kind, Status
from retentia.model.scope import Scope
from retentia.model.time import Moment
from retentia.store import generations, jobs, passages, records, schema, scopes, sessions
from retentia.store.database import Database, Params, Transaction
from retentia.write import admission
from retentia.write.admission import AdmittedMessage, MessageLike
from retentia.write.receipt import Failed, Receipt, Written

_RECORDS_A_JOB = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """Something known, as it is handed in: see `Memory.remember`."""

    text: str
    kind: Kind
    at: Moment | None
    importance: Importance
    author: str
    metadata: str | None
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class _Row:
    """One row to insert, and what the index shall know of it."""

    values: Params
    indexed: Indexable


class WritePipeline:
    """Writes records of every kind; see the module for the order of steps."""

    def __init__(self, database: Database, *, zone: str) -> None:
        self._database = database
        self._zone = zone

    def messages(self, given: Sequence[MessageLike], scope: Scope, session: str) -> Receipt:
        """Keep messages in order; those that are refused are named in the receipt, or raised when all are."""
        now = Moment.now(self._zone)
        admitted, failed = _each(given, lambda one: admission.admit_message(admission.as_message(one), now=now))
        notes = tuple(dict.fromkeys(note for _, message in admitted for note in message.notes))
        with self._database.write(scope.tenant) as transaction:
            place = _Place(transaction, scope, session)
            fresh, written = _leave_out_known(admitted, place.known(schema.message, [m.key for _, m in admitted]))
            first = place.take(len(fresh))
            rows = [
                _message_row(place, message, record_id, first + offset)
                for offset, (_, message, record_id) in enumerate(fresh)
            ]
            job_ids = _insert(place, schema.message, rows)
        return Receipt(scope=scope, written=written, failed=failed, notes=notes, job_ids=job_ids)

    def tool_call(self, call: ToolCall, scope: Scope, session: str) -> Receipt:
        """Keep one tool call with its arguments and result."""
        name = admission.admit_name("name", call.name)
        if not name:
            raise InvalidInput("a tool call needs the name of the tool")
        text = admission.admit_text(admission.tool_call_text(call), limit=admission.MAX_MESSAGE_CHARACTERS)
        moment = admission.admit_time(call.at, Moment.now(self._zone))
        values = {
            "name": name,
            "text": text.text,
            "arguments": admission.dump(call.arguments),
            "result": admission.dump(call.result),
            "status": call.status,
            "error": admission.admit_text(call.error, limit=admission.MAX_MESSAGE_CHARACTERS).text,
            "duration_ms": call.duration_ms,
            "tokens": call.tokens,
            "client_key": admission.admit_name("key", call.key) or None,
            "metadata": admission.admit_metadata(call.metadata),
            "trust": Trust.OUTSIDE,
            **_moment_columns(moment),
        }
        with self._database.write(scope.tenant) as transaction:
            place = _Place(transaction, scope, session)
            if known := place.known(schema.tool_call, [call.key or None]).get(call.key):
                return _already(scope, known)
            record_id, seq = new_id_bytes(), place.take(1)
            indexed = Indexable.of(
                record_id=record_id,
                kind=Kind.TOOL_CALL.value,
                text=text.text,
                moment=moment,
                recorded_at=transaction.now,
                thread=place.session_id,
                seq=seq,
                role="tool",
            )
            row = _Row({**values, "id": record_id, "session_id": place.session_id, "seq": seq}, indexed)
            job_ids = _insert(place, schema.tool_call, [row])
        return _new(scope, record_id, text.notes, job_ids)

    def document(self, document: Document, scope: Scope) -> Receipt:
        """Keep a document whole, searchable by passages."""
        text = admission.document_text(document)
        moment = None if document.at is None else Moment.parse(document.at, zone=self._zone)
        key = admission.admit_name("key", document.key) or None
        values = {
            "title": admission.admit_name("title", document.title),
            "uri": admission.admit_name("uri", document.uri),
            "media_type": admission.admit_name("media_type", document.media_type),
            "text": text.text,
            "client_key": key,
            "metadata": admission.admit_metadata(document.metadata),
            "trust": Trust.OUTSIDE,
            **_moment_columns(moment),
        }
        with self._database.write(scope.tenant) as transaction:
            place = _Place(transaction, scope)
            if key and (known := place.known(schema.document, [key]).get(key)):
                return _already(scope, known)
            record_id = new_id_bytes()
            indexed = Indexable.of(
                record_id=record_id,
                kind=Kind.DOCUMENT.value,
                text=text.text,
                moment=moment,
                recorded_at=transaction.now,
                thread=record_id,
            )
            job_ids = _insert(place, schema.document, [_Row({**values, "id": record_id}, indexed)])
        return _new(scope, record_id, text.notes, job_ids)

    def item(self, given: Item, scope: Scope) -> Receipt:
        """Keep something known; the same content of the same kind is one item that was seen again."""
        if given.kind not in ITEM_KINDS:
            raise InvalidInput(f"{given.kind.value!r} cannot be remembered; use one of {', '.join(sorted(ITEM_KINDS))}")
        text = admission.admit_text(given.text, limit=admission.MAX_MESSAGE_CHARACTERS)
        if not text.text.strip():
            raise InvalidInput("there is nothing to remember: the content is empty")
        content_key = _content_key(text.text)
        with self._database.write(scope.tenant) as transaction:
            place = _Place(transaction, scope)
            known = records.see_again(transaction, place.scope_id, given.kind, content_key)
            record_id = known or new_id_bytes()
            _check_sources(transaction, scope, given.sources)
            _link(transaction, record_id, given.sources)
            if known:
                scopes.record_change(transaction, place.scope_id, [known])
                return _already(scope, known)
            values = {
                "id": record_id,
                "kind": given.kind,
                "text": text.text,
                "content_key": content_key,
                "status": Status.STATED,
                "importance": given.importance,
                "author": admission.admit_name("author", given.author),
                "metadata": given.metadata,
                "trust": Trust.PERSON,
                **_moment_columns(given.at),
            }
            indexed = Indexable.of(
                record_id=record_id,
                kind=given.kind.value,
                text=text.text,
                moment=given.at,
                recorded_at=transaction.now,
            )
            job_ids = _insert(place, schema.item, [_Row(values, indexed)])
        return _new(scope, record_id, text.notes, job_ids)


class _Place:
    """Where a write goes: the scope and, for what belongs to a conversation, the session."""

    def __init__(self, transaction: Transaction, scope: Scope, session: str | None = None) -> None:
        self.transaction = transaction
        self.scope_id = scopes.ensure(transaction, scope)
        self.session_id = b"" if session is None else sessions.ensure(transaction, self.scope_id, session)

    def known(self, table: Table, keys: Iterable[str | None]) -> dict[str, bytes]:
        """Return the ids of what was already written under these keys."""
        given = {key for key in keys if key}
        if not given:
            return {}
        return records.known_keys(self.transaction, table, self.scope_id, self.session_id or None, given)

    def take(self, count: int) -> int:
        """Reserve places in the session; return the first."""
        if not count:
            return 0
        return sessions.take_numbers(self.transaction, self.scope_id, self.session_id, count)


def _insert(place: _Place, table: Table, rows: Sequence[_Row]) -> tuple[RecordId, ...]:
    """Write rows, their passages, their jobs and the scope's next version; return the ids of the jobs."""
    if not rows:
        return ()
    transaction, scope_id = place.transaction, place.scope_id
    key = {"tenant": transaction.tenant, "scope_id": scope_id, "recorded_at": transaction.now}
    records.insert_rows(transaction, table, [{**row.values, **key} for row in rows])
    found: list[Passage] = [passage for row in rows for passage in passages_of(row.indexed)]
    passages.insert_passages(transaction, scope_id, found)
    ids = [row.indexed.record_id for row in rows]
    scopes.record_change(transaction, scope_id, ids)
    if generations.serving(transaction) is None:
        return ()
    with_passages = list(dict.fromkeys(passage.record_id for passage in found))
    return tuple(
        jobs.enqueue(transaction, jobs.EMBED, scope_id, with_passages[at : at + _RECORDS_A_JOB])
        for at in range(0, len(with_passages), _RECORDS_A_JOB)
    )


def _each(
    given: Sequence[MessageLike], admit: Callable[[MessageLike], AdmittedMessage]
) -> tuple[list[tuple[int, AdmittedMessage]], tuple[Failed, ...]]:
    """Admit what can be admitted; raise the first refusal when nothing can."""
    admitted: list[tuple[int, AdmittedMessage]] = []
    failed: list[Failed] = []
    first: RetentiaError | None = None
    for position, one in enumerate(given):
        try:
            admitted.append((position, admit(one)))
        except RetentiaError as error:
            first = first or error
            failed.append(Failed(position=position, code=error.code, reason=str(error)))
    if first is not None and not admitted:
        raise first
    return admitted, tuple(failed)


def _leave_out_known(
    admitted: Sequence[tuple[int, AdmittedMessage]], known: dict[str, bytes]
) -> tuple[list[tuple[int, AdmittedMessage, bytes]], tuple[Written, ...]]:
    """Separate what is new from what is there under its key, also within the batch itself."""
    fresh: list[tuple[int, AdmittedMessage, bytes]] = []
    written: list[Written] = []
    seen = dict(known)
    for position, message in admitted:
        earlier = seen.get(message.key) if message.key else None
        record_id = earlier or new_id_bytes()
        if earlier is None:
            fresh.append((position, message, record_id))
        if message.key:
            seen[message.key] = record_id
        written.append(Written(position=position, id=id_text(record_id), is_new=earlier is None))
    return fresh, tuple(written)


def _message_row(place: _Place, message: AdmittedMessage, record_id: bytes, seq: int) -> _Row:
    indexed = Indexable.of(
        record_id=record_id,
        kind=Kind.MESSAGE.value,
        text=message.text,
        moment=message.moment,
        recorded_at=place.transaction.now,
        thread=place.session_id,
        seq=seq,
        role=message.role,
        speaker=message.speaker,
    )
    values = {
        "id": record_id,
        "session_id": place.session_id,
        "seq": seq,
        "role": message.role,
        "speaker": message.speaker,
        "text": message.text,
        "parts": message.parts,
        "client_key": message.key,
        "pinned": int(message.pinned),
        "trust": message.trust,
        "metadata": message.metadata,
        **_moment_columns(message.moment),
    }
    return _Row(values, indexed)


def _moment_columns(moment: Moment | None) -> dict[str, object]:
    return {
        "occurred_start": moment.start if moment else None,
        "occurred_end": moment.end if moment else None,
        "precision": moment.precision.value if moment else None,
        "zone": moment.zone if moment else "",
    }


def _content_key(text: str) -> bytes:
    """Return what makes two contents the same: their words, whatever the case, spacing and closing full stop."""
    folded = " ".join(unicodedata.normalize("NFKC", text).casefold().split()).rstrip(".!")
    return hashlib.sha256(folded.encode()).digest()[:16]


def _check_sources(transaction: Transaction, scope: Scope, sources: Collection[Source]) -> None:
    """Refuse a source that the scope does not have: nothing may cite what its reader cannot see."""
    view = records.View({entry.scope_id: scope for entry in scopes.view(transaction, scope)})
    known = records.kinds_of(transaction, view, [id_bytes(source.id) for source in sources])
    found = {record_id for ids in known.values() for record_id in ids}
    for source in sources:
        if id_bytes(source.id) not in found:
            raise InvalidInput(f"the source {source.id!r} is not in this scope; cite a record that is")


def _link(transaction: Transaction, record_id: bytes, sources: Iterable[Source]) -> None:
    for source in sources:
        transaction.insert_new(
            schema.derived_from,
            {
                "tenant": transaction.tenant,
                "child_kind": "item",
                "child_id": record_id,
                "parent_kind": source.kind,
                "parent_id": id_bytes(source.id),
                "start": source.start,
                "end": source.end,
                "role": source.role,
            },
        )


def _new(scope: Scope, record_id: bytes, notes: tuple[str, ...], job_ids: tuple[RecordId, ...]) -> Receipt:
    written = Written(position=0, id=id_text(record_id), is_new=True)
    return Receipt(scope=scope, written=(written,), notes=notes, job_ids=job_ids)


def _already(scope: Scope, record_id: bytes) -> Receipt:
    return Receipt(scope=scope, written=(Written(position=0, id=id_text(record_id), is_new=False),))

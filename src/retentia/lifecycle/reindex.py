"""Making the derived rows anew from records: passages by the tokenizer, vectors by an embedder."""

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import Row

from retentia.errors import AnalyzerMismatch
from retentia.index.passages import NO_THREAD, Indexable, passages_of
from retentia.index.tokenizer import ANALYZER
from retentia.model.ids import id_bytes
from retentia.model.passage import Passage
from retentia.model.record import DocumentRecord, MessageRecord, Record, ToolCallRecord
from retentia.store import generations, jobs, passages, records, scopes
from retentia.store.database import Database, Transaction
from retentia.store.records import RECORD_TABLES, View

_RECORDS_AT_ONCE = 500

Progress = Callable[[int], None]
"""Called with how many records (or passages) were done since the last call."""


def check_analyzer(database: Database) -> None:
    """Refuse a store whose passages another version of the tokenizer made; a new store takes this one."""
    with database.read("") as transaction:
        stored = generations.read_setting(transaction, generations.ANALYZER)
    if stored is None:
        _note_analyzer(database)
    elif stored != ANALYZER:
        raise AnalyzerMismatch(
            f"the store was indexed with tokenizer {stored!r}, this version has {ANALYZER!r}; run `retentia reindex`"
        )


def reindex_all(database: Database, *, progress: Progress = lambda _: None) -> int:
    """Make every passage of the store anew from its records; return how many records."""
    with database.read("") as transaction:
        tenants = jobs.tenants(transaction)
    done = sum(reindex(database, tenant, progress=progress) for tenant in tenants)
    _note_analyzer(database)
    return done


def reindex(database: Database, tenant: str, *, progress: Progress = lambda _: None) -> int:
    """Make every passage of a tenant anew from its record, in short transactions; return how many records.

    A passage whose span did not change keeps its vector. Interrupting loses nothing: run it again.
    """
    done = 0
    with database.read(tenant) as transaction:
        named = scopes.all_scopes(transaction)
    for scope_id, scope in named:
        view = View({scope_id: scope})
        for table in RECORD_TABLES:
            after: bytes | None = None
            while True:
                with database.write(tenant) as transaction:
                    scopes.lock(transaction, [scope_id])
                    found = records.page(transaction, view, table, after=after, limit=_RECORDS_AT_ONCE)
                    if not found:
                        break
                    _renew(transaction, scope_id, found)
                after = id_bytes(found[-1].id)
                done += len(found)
                progress(len(found))
        with database.write(tenant) as transaction:
            scopes.lock(transaction, [scope_id])
            passages.delete_orphans(transaction, scope_id, RECORD_TABLES)
    return done


def indexable(record: Record) -> Indexable:
    """Tell what the index needs to know of a record that was read back."""
    thread, seq, role, speaker = NO_THREAD, 0, "", ""
    match record:
        case MessageRecord():
            thread, seq, role, speaker = id_bytes(record.session_id), record.seq, record.role, record.speaker
        case ToolCallRecord():
            thread, seq, role = id_bytes(record.session_id), record.seq, "tool"
        case DocumentRecord():
            thread = id_bytes(record.id)
    return Indexable.of(
        record_id=id_bytes(record.id),
        kind=record.kind.value,
        text=record.text,
        moment=record.occurred,
        recorded_at=record.recorded_at,
        thread=thread,
        seq=seq,
        role=role,
        speaker=speaker,
    )


def _note_analyzer(database: Database) -> None:
    with database.write("") as transaction:
        generations.write_setting(transaction, generations.ANALYZER, ANALYZER)


def _renew(transaction: Transaction, scope_id: int, found: Sequence[Record]) -> None:
    ids = [id_bytes(record.id) for record in found]
    before = {(row.record_id, row.part): _embedded(row) for row in passages.load_passages(transaction, scope_id, ids)}
    made = [passage for record in found for passage in passages_of(indexable(record))]
    after = {(passage.record_id, passage.part): _embedded(passage) for passage in made}
    passages.delete_passages(transaction, scope_id, ids)
    passages.insert_passages(transaction, scope_id, made)
    changed = {key[0] for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
    passages.delete_vectors(transaction, scope_id, changed)
    alive = sorted(changed & {key[0] for key in after})
    if alive and generations.serving(transaction) is not None:
        jobs.enqueue(transaction, jobs.EMBED, scope_id, alive)
    scopes.record_change(transaction, scope_id, ids)


def _embedded(passage: Passage | Row[Any]) -> tuple[int, int, str, int]:
    """Tell what a passage's vector depends on, beside the text of its record."""
    return passage.start, passage.end, passage.speaker, passage.day

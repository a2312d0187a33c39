"""Making the derived rows anew from records: passages, places of personal data, uses of tools, and vectors."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row

from retentia.diagnose.analyzer import analyzer_mismatch
from retentia.errors import AnalyzerMismatch
from retentia.index.passages import passages_of
from retentia.index.tokenizer import ANALYZER
from retentia.model.ids import id_bytes
from retentia.model.passage import Passage
from retentia.model.progress import Progress, unheard
from retentia.model.record import ItemRecord, Record
from retentia.store import claims, generations, jobs, passages, personal, records, scopes, tenant_settings, tool_uses
from retentia.store.database import Database, Transaction
from retentia.store.records import RECORD_TABLES, View
from retentia.tools.noting import renote, rules_of
from retentia.write.claims import claims_of
from retentia.write.indexed import indexed
from retentia.write.kept import personal_spans

_RECORDS_AT_ONCE = 500


def check_analyzer(database: Database) -> None:
    """Refuse a store whose passages another version of the tokenizer made; a new store takes this one."""
    with database.read("") as transaction:
        mismatch = analyzer_mismatch(transaction)
        is_new = generations.read_setting(transaction, generations.ANALYZER) is None
    if mismatch:
        raise AnalyzerMismatch(f"{mismatch}; run `retentia reindex`")
    if is_new:
        _note_analyzer(database)


def reindex_all(database: Database, *, progress: Progress = unheard) -> int:
    """Make every passage of the store anew from its records; return how many records."""
    with database.read("") as transaction:
        tenants = jobs.tenants(transaction)
    done = sum(reindex(database, tenant, progress=progress) for tenant in tenants)
    _note_analyzer(database)
    return done


def reindex(database: Database, tenant: str, *, progress: Progress = unheard) -> int:
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
                    renew(transaction, scope_id, found)
                after = id_bytes(found[-1].id)
                done += len(found)
                progress(len(found))
        with database.write(tenant) as transaction:
            scopes.lock(transaction, [scope_id])
            passages.delete_orphans(transaction, scope_id, RECORD_TABLES)
            personal.delete_orphans(transaction, scope_id, RECORD_TABLES)
            tool_uses.delete_orphans(transaction, scope_id)
            claims.delete_orphans(transaction, scope_id)
    return done


def renew(transaction: Transaction, scope_id: int, found: Sequence[Record]) -> None:
    """Make what is derived from records of a locked scope anew; what did not change keeps its vector."""
    ids = [id_bytes(record.id) for record in found]
    before = {(row.record_id, row.part): _embedded(row) for row in passages.load_passages(transaction, scope_id, ids)}
    described = [indexed(record) for record in found if not isinstance(record, ItemRecord) or record.is_searchable]
    made = [passage for one in described for passage in passages_of(one)]
    after = {(passage.record_id, passage.part): _embedded(passage) for passage in made}
    passages.delete_passages(transaction, scope_id, ids)
    passages.insert_passages(transaction, scope_id, made)
    personal.delete_spans(transaction, scope_id, ids)
    personal.insert_spans(transaction, scope_id, personal_spans(map(indexed, found)))
    claims.delete_claims(transaction, scope_id, ids)
    claims.insert_claims(transaction, scope_id, claims_of(found))
    renote(transaction, scope_id, found, rules_of(tenant_settings.load(transaction)))
    changed = {key[0] for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
    passages.delete_vectors(transaction, scope_id, changed)
    alive = sorted(changed & {key[0] for key in after})
    if alive and generations.serving(transaction) is not None:
        jobs.enqueue_all(transaction, jobs.EMBED, scope_id, alive)
    scopes.record_change(transaction, scope_id, ids)


def _note_analyzer(database: Database) -> None:
    with database.write("") as transaction:
        generations.write_setting(transaction, generations.ANALYZER, ANALYZER)


def _embedded(passage: Passage | Row[Any]) -> tuple[int, int, str, int]:
    """Tell what a passage's vector depends on, beside the text of its record."""
    return passage.start, passage.end, passage.speaker, passage.day

"""The registry of derived kinds: how each is erased, rebuilt and looked for.

Rows of the kinds here carry their parent's id in their own key, so that no link can be missing; a summary carries the
session and the stretch of it. Records that were
derived from other records (an item from the messages it was learned from) name them in `derived_from`. Every table is
a record, a derived kind, custody, the bin, or bookkeeping without content; a test fails for one that is none of them.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from sqlalchemy import func, select

from retentia.store import claims, manifests, passages, personal, schema, summaries, tool_uses, uses
from retentia.store.database import Transaction, batches

BOOKKEEPING = frozenset(
    {"scope", "session", "change", "job", "due", "generation", "setting", "schema_migration", "derived_from"}
    | {"erasure", "tombstone", "reader", "notice"}
    | {"audit_entry", "audit_head", "access_grant", "manifest"}
    | {"tenant_setting", "hold", "model_usage", "content_key"}
)
"""Tables without content of a record: names, numbers, ids, times."""

IN_CUSTODY = frozenset({"custody"})
"""Tables with the content of erased records that a legal hold keeps; no read but `Memory.custody` looks there."""

IN_BIN = frozenset({"bin_record", "bin_session", "bin_derived_from"})
"""Tables with removed records until they are purged, the sessions of which nothing else is left, and the sources of
both; no read but `Keeping.removed` looks there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DerivedKind:
    """One kind of derived row. `erase` and `scan` take the ids of parents and count rows."""

    table: str
    rebuilt_by: str
    erase: Callable[[Transaction, int, Collection[bytes]], int]
    scan: Callable[[Transaction, int, Collection[bytes]], int]


def _scan_passages(transaction: Transaction, scope_id: int, record_ids: Collection[bytes]) -> int:
    return len(passages.load_passages(transaction, scope_id, record_ids))


def _scan_vectors(transaction: Transaction, scope_id: int, record_ids: Collection[bytes]) -> int:
    counted = (
        select(func.count())
        .select_from(schema.vector)
        .where(schema.vector.c.tenant == transaction.tenant, schema.vector.c.scope_id == scope_id)
    )
    return sum(transaction.number(counted.where(schema.vector.c.record_id.in_(some))) for some in batches(record_ids))


DERIVED: Mapping[str, DerivedKind] = {
    kind.table: kind
    for kind in (
        DerivedKind(
            table="passage",
            rebuilt_by="retentia.lifecycle.reindex",
            erase=passages.delete_passages,
            scan=_scan_passages,
        ),
        DerivedKind(
            table="vector",
            rebuilt_by="retentia.jobs.embed",
            erase=passages.delete_vectors,
            scan=_scan_vectors,
        ),
        DerivedKind(
            table="personal_data",
            rebuilt_by="retentia.lifecycle.reindex",
            erase=personal.delete_spans,
            scan=personal.count_spans,
        ),
        DerivedKind(
            table="summary",
            rebuilt_by="retentia.jobs.summarise",
            erase=summaries.delete_covering,
            scan=summaries.count_covering,
        ),
        DerivedKind(
            table="manifest_entry",
            rebuilt_by="retentia.store.manifests",
            erase=manifests.erase,
            scan=manifests.count,
        ),
        DerivedKind(
            table="claim",
            rebuilt_by="retentia.lifecycle.reindex",
            erase=claims.delete_claims,
            scan=claims.count_claims,
        ),
        DerivedKind(
            table="revision",
            rebuilt_by="retentia.learn.apply",
            erase=claims.delete_revisions,
            scan=claims.count_revisions,
        ),
        DerivedKind(
            table="tool_use",
            rebuilt_by="retentia.lifecycle.reindex",
            erase=tool_uses.delete_uses,
            scan=tool_uses.count_uses,
        ),
        DerivedKind(
            table="record_use",
            rebuilt_by="retentia.read.use_buffer",
            erase=uses.delete_uses,
            scan=uses.count_uses,
        ),
    )
}

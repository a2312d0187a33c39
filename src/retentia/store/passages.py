"""Passages and vectors: what the index is built from. Both are derived and can be rebuilt from records."""

from collections.abc import Collection, Iterable
from typing import Any

from sqlalchemy import ColumnElement, Select, Table, bindparam, delete, exists, func, or_, select
from sqlalchemy.sql.elements import KeyedColumnElement

from retentia.model.passage import PASSAGE_COLUMNS, Passage, VectorRow
from retentia.store.bulk import insert_many
from retentia.store.database import Params, Rows, Transaction, batches
from retentia.store.schema import passage, vector

_PASSAGES = select(*(passage.c[name] for name in PASSAGE_COLUMNS)).where(
    passage.c.tenant == bindparam("tenant"), passage.c.scope_id == bindparam("scope_id")
)
_VECTORS = select(vector.c.record_id, vector.c.part, vector.c.vector).where(
    vector.c.tenant == bindparam("tenant"),
    vector.c.scope_id == bindparam("scope_id"),
    vector.c.generation == bindparam("generation"),
)


def insert_passages(transaction: Transaction, scope_id: int, rows: Iterable[Passage]) -> None:
    """Write passages of new records."""
    keyed = [{"tenant": transaction.tenant, "scope_id": scope_id, **row._asdict()} for row in rows]
    insert_many(transaction, passage, keyed)


def insert_vectors(transaction: Transaction, scope_id: int, generation: int, rows: Iterable[VectorRow]) -> None:
    """Write vectors, replacing those the passages already had in this generation."""
    found = list(rows)
    delete_vectors(transaction, scope_id, {row.record_id for row in found}, generation=generation)
    keyed = [
        {"tenant": transaction.tenant, "scope_id": scope_id, "generation": generation, **row._asdict()} for row in found
    ]
    insert_many(transaction, vector, keyed)


def load_passages(transaction: Transaction, scope_id: int, record_ids: Collection[bytes] | None = None) -> Rows:
    """Return the passages of a scope, or of some of its records, with the columns of `Passage` in order."""
    return _load(transaction, _PASSAGES, passage.c.record_id, {"scope_id": scope_id}, record_ids)


def load_vectors(
    transaction: Transaction, scope_id: int, generation: int, record_ids: Collection[bytes] | None = None
) -> Rows:
    """Return (record_id, part, vector) of a scope, or of some of its records, in one generation."""
    key = {"scope_id": scope_id, "generation": generation}
    return _load(transaction, _VECTORS, vector.c.record_id, key, record_ids)


def delete_passages(transaction: Transaction, scope_id: int, record_ids: Collection[bytes]) -> int:
    """Remove the passages of records; return how many there were."""
    statement = delete(passage).where(passage.c.tenant == transaction.tenant, passage.c.scope_id == scope_id)
    return sum(transaction.run(statement.where(passage.c.record_id.in_(some))) for some in batches(record_ids))


def delete_vectors(
    transaction: Transaction, scope_id: int, record_ids: Collection[bytes], *, generation: int | None = None
) -> int:
    """Remove the vectors of records, of one generation or of all; return how many there were."""
    statement = delete(vector).where(vector.c.tenant == transaction.tenant, vector.c.scope_id == scope_id)
    if generation is not None:
        statement = statement.where(vector.c.generation == generation)
    return sum(transaction.run(statement.where(vector.c.record_id.in_(some))) for some in batches(record_ids))


def delete_generation(transaction: Transaction, scope_id: int, generation: int) -> int:
    """Remove every vector that one generation has in a scope; return how many there were."""
    return transaction.run(
        delete(vector).where(
            vector.c.tenant == transaction.tenant, vector.c.scope_id == scope_id, vector.c.generation == generation
        )
    )


def delete_orphans(transaction: Transaction, scope_id: int, record_tables: Iterable[Table]) -> int:
    """Remove passages whose record is gone and vectors whose passage is gone; return how many."""
    orphans = _without_record(transaction, scope_id, record_tables)
    gone = delete_passages(transaction, scope_id, orphans)
    return gone + transaction.run(
        delete(vector).where(vector.c.tenant == transaction.tenant, vector.c.scope_id == scope_id, ~_has_passage())
    )


def count_orphans(transaction: Transaction, scope_id: int, record_tables: Iterable[Table]) -> int:
    """Count records that are gone but have passages, and vectors whose passage is gone."""
    vectors = transaction.number(
        select(func.count())
        .select_from(vector)
        .where(vector.c.tenant == transaction.tenant, vector.c.scope_id == scope_id, ~_has_passage())
    )
    return vectors + len(_without_record(transaction, scope_id, record_tables))


def count_passages(transaction: Transaction, scope_id: int) -> int:
    """Count the passages of a scope."""
    return transaction.number(
        select(func.count())
        .select_from(passage)
        .where(passage.c.tenant == transaction.tenant, passage.c.scope_id == scope_id)
    )


def without_vector(
    transaction: Transaction, scope_id: int, generation: int, *, limit: int, after: bytes = b""
) -> list[bytes]:
    """Return records of a scope, those after an id, with a passage that has no vector in this generation yet."""
    statement = _pending(select(passage.c.record_id).distinct(), transaction, scope_id, generation).where(
        passage.c.record_id > after
    )
    return [bytes(row.record_id) for row in transaction.rows(statement.order_by(passage.c.record_id).limit(limit))]


def count_without_vector(transaction: Transaction, scope_id: int, generation: int) -> int:
    """Count the passages of a scope that have no vector in this generation yet."""
    counted = select(func.count()).select_from(passage)
    return transaction.number(_pending(counted, transaction, scope_id, generation))


def _pending(statement: Select[Any], transaction: Transaction, scope_id: int, generation: int) -> Select[Any]:
    return statement.where(
        passage.c.tenant == transaction.tenant, passage.c.scope_id == scope_id, ~_has_vector(generation)
    )


def _without_record(transaction: Transaction, scope_id: int, record_tables: Iterable[Table]) -> list[bytes]:
    exist = [
        exists().where(
            table.c.tenant == passage.c.tenant,
            table.c.scope_id == passage.c.scope_id,
            table.c.id == passage.c.record_id,
        )
        for table in record_tables
    ]
    statement = (
        select(passage.c.record_id)
        .distinct()
        .where(passage.c.tenant == transaction.tenant, passage.c.scope_id == scope_id, ~or_(*exist))
    )
    return [bytes(row.record_id) for row in transaction.rows(statement)]


def _has_vector(generation: int) -> ColumnElement[bool]:
    return exists().where(
        vector.c.tenant == passage.c.tenant,
        vector.c.scope_id == passage.c.scope_id,
        vector.c.generation == generation,
        vector.c.record_id == passage.c.record_id,
        vector.c.part == passage.c.part,
    )


def _has_passage() -> ColumnElement[bool]:
    return exists().where(
        passage.c.tenant == vector.c.tenant,
        passage.c.scope_id == vector.c.scope_id,
        passage.c.record_id == vector.c.record_id,
        passage.c.part == vector.c.part,
    )


def _load(
    transaction: Transaction,
    statement: Select[Any],
    record_id: KeyedColumnElement[bytes],
    key: Params,
    record_ids: Collection[bytes] | None,
) -> Rows:
    params = {"tenant": transaction.tenant, **key}
    if record_ids is None:
        return transaction.rows(statement, params)
    found = [transaction.rows(statement.where(record_id.in_(some)), params) for some in batches(record_ids)]
    return [row for rows in found for row in rows]

"""Passages and vectors: what the index is built from. Both are derived and can be rebuilt from records."""

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Select,
    Table,
    Tuple,
    bindparam,
    delete,
    exists,
    func,
    literal_column,
    or_,
    select,
    tuple_,
)
from sqlalchemy.sql.elements import KeyedColumnElement

from retentia.model.passage import PASSAGE_COLUMNS, Passage, VectorRow
from retentia.store.among import IDS, among, parcels
from retentia.store.bulk import insert_many
from retentia.store.database import Params, Rows, Transaction, Tuples, batches
from retentia.store.schema import passage, vector

SLICE = 8_192
"""How many passages are read at a time."""


def _key(table: Table) -> Tuple:
    return tuple_(table.c.record_id, table.c.part)


_PASSAGES = select(*(passage.c[name] for name in PASSAGE_COLUMNS)).where(
    passage.c.tenant == bindparam("tenant"), passage.c.scope_id == bindparam("scope_id")
)
_VECTORS = select(vector.c.record_id, vector.c.part, vector.c.vector).where(
    vector.c.tenant == bindparam("tenant"),
    vector.c.scope_id == bindparam("scope_id"),
    vector.c.generation == bindparam("generation"),
)

_NEXT_PASSAGES = (
    _PASSAGES.where(_key(passage) > tuple_(bindparam("record_id"), bindparam("part")))
    .order_by(passage.c.record_id, passage.c.part)
    .limit(bindparam("size"))
)
_THEIR_VECTORS = _VECTORS.where(
    _key(vector) > tuple_(bindparam("record_id"), bindparam("part")),
    _key(vector) <= tuple_(bindparam("last_id"), bindparam("last_part")),
).order_by(vector.c.record_id, vector.c.part)

_DELETE_PASSAGES = delete(passage).where(
    passage.c.tenant == bindparam("tenant"), passage.c.scope_id == bindparam("scope_id"), among(passage.c.record_id)
)
# A vector's key has the generation before the record: without it, every vector of the scope would be looked at.
_DELETE_VECTORS = delete(vector).where(
    vector.c.tenant == bindparam("tenant"),
    vector.c.scope_id == bindparam("scope_id"),
    vector.c.generation == bindparam("generation"),
    among(vector.c.record_id),
)
_NEXT_GENERATION = (
    select(vector.c.generation)
    .where(
        vector.c.tenant == bindparam("tenant"),
        vector.c.scope_id == bindparam("scope_id"),
        vector.c.generation > bindparam("after"),
    )
    .order_by(vector.c.generation)
    .limit(literal_column("1"))
)


def insert_passages(transaction: Transaction, scope_id: int, rows: Iterable[Passage]) -> None:
    """Write passages of new records; making them has left their words in memory."""
    transaction.join()
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


def load_passages(transaction: Transaction, scope_id: int, record_ids: Collection[bytes]) -> Rows:
    """Return the passages of some records of a scope, with the columns of `Passage` in order."""
    return _of_records(transaction, _PASSAGES, passage.c.record_id, {"scope_id": scope_id}, record_ids)


def load_vectors(transaction: Transaction, scope_id: int, generation: int, record_ids: Collection[bytes]) -> Rows:
    """Return (record_id, part, vector) of some records of a scope in one generation."""
    key = {"scope_id": scope_id, "generation": generation}
    return _of_records(transaction, _VECTORS, vector.c.record_id, key, record_ids)


def slices(
    transaction: Transaction, scope_id: int, generation: int, *, size: int = SLICE
) -> Iterator[tuple[Tuples, Tuples]]:
    """Return all passages of a scope with their vectors in one generation, so many at a time that memory stays small.

    Passages have the columns of `Passage` in order, vectors are (record_id, part, vector); both in order of their keys.
    """
    scope = {"tenant": transaction.tenant, "scope_id": scope_id}
    after: tuple[bytes, int] = (b"", 0)
    while True:
        rows = transaction.tuples(_NEXT_PASSAGES, {**scope, "record_id": after[0], "part": after[1], "size": size})
        if not rows:
            return
        last = (rows[-1][0], rows[-1][1])
        bounds = {"record_id": after[0], "part": after[1], "last_id": last[0], "last_part": last[1]}
        yield rows, transaction.tuples(_THEIR_VECTORS, {**scope, "generation": generation, **bounds})
        if len(rows) < size:
            return
        after = last


def delete_passages(transaction: Transaction, scope_id: int, record_ids: Collection[bytes]) -> int:
    """Remove the passages of records; return how many there were."""
    key = {"tenant": transaction.tenant, "scope_id": scope_id}
    return sum(transaction.run(_DELETE_PASSAGES, {**key, IDS: some}) for some in parcels(transaction, record_ids))


def delete_vectors(
    transaction: Transaction, scope_id: int, record_ids: Collection[bytes], *, generation: int | None = None
) -> int:
    """Remove the vectors of records, of one generation or of all; return how many there were."""
    in_scope = {"tenant": transaction.tenant, "scope_id": scope_id}
    numbers = _generations(transaction, scope_id) if generation is None else [generation]
    return sum(
        transaction.run(_DELETE_VECTORS, {**in_scope, "generation": number, IDS: some})
        for some in parcels(transaction, record_ids)
        for number in numbers
    )


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
    transaction: Transaction, scope_id: int, generation: int, *, limit: int | None = None, after: bytes = b""
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


def _generations(transaction: Transaction, scope_id: int) -> list[int]:
    """Return the generations that have a vector in a scope, in as many steps: a list of them would read every one."""
    found: list[int] = []
    key = {"tenant": transaction.tenant, "scope_id": scope_id}
    while (row := transaction.first(_NEXT_GENERATION, {**key, "after": found[-1] if found else -1})) is not None:
        found.append(row.generation)
    return found


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


def _of_records(
    transaction: Transaction,
    statement: Select[Any],
    record_id: KeyedColumnElement[bytes],
    key: Params,
    record_ids: Collection[bytes],
) -> Rows:
    params = {"tenant": transaction.tenant, **key}
    found = [transaction.rows(statement.where(record_id.in_(some)), params) for some in batches(record_ids)]
    return [row for rows in found for row in rows]

"""Where personal data stands: the spans that were found in the texts of records. Derived, and rebuilt from them."""

from collections.abc import Collection, Iterable
from typing import NamedTuple

from sqlalchemy import Table, bindparam, delete, exists, func, or_, select

from retentia.store.among import IDS, among, parcels
from retentia.store.bulk import insert_many
from retentia.store.database import Transaction, batches
from retentia.store.records import View
from retentia.store.schema import personal_data

_DELETE = delete(personal_data).where(
    personal_data.c.tenant == bindparam("tenant"),
    personal_data.c.scope_id == bindparam("scope_id"),
    among(personal_data.c.record_id),
)


class PersonalSpan(NamedTuple):
    """The characters [start, end) of a record's text that hold personal data of a kind."""

    record_id: bytes
    start: int
    end: int
    kind: str


def insert_spans(transaction: Transaction, scope_id: int, spans: Iterable[PersonalSpan]) -> None:
    """Write what was found in new records."""
    key = {"tenant": transaction.tenant, "scope_id": scope_id}
    insert_many(transaction, personal_data, [{**key, **span._asdict()} for span in spans])


def load_spans(transaction: Transaction, scope_id: int, record_ids: Collection[bytes]) -> list[PersonalSpan]:
    """Return what was found in some records of a scope, in order."""
    statement = (
        select(personal_data)
        .where(personal_data.c.tenant == transaction.tenant, personal_data.c.scope_id == scope_id)
        .order_by(personal_data.c.record_id, personal_data.c.start)
    )
    return [
        PersonalSpan(bytes(row.record_id), row.start, row.end, row.kind)
        for some in batches(record_ids)
        for row in transaction.rows(statement.where(personal_data.c.record_id.in_(some)))
    ]


def delete_spans(transaction: Transaction, scope_id: int, record_ids: Collection[bytes]) -> int:
    """Remove what was found in records; return how many spans there were."""
    key = {"tenant": transaction.tenant, "scope_id": scope_id}
    return sum(transaction.run(_DELETE, {**key, IDS: some}) for some in parcels(transaction, record_ids))


def delete_orphans(transaction: Transaction, scope_id: int, record_tables: Iterable[Table]) -> int:
    """Remove spans whose record is gone; return how many."""
    exist = [
        exists().where(
            table.c.tenant == personal_data.c.tenant,
            table.c.scope_id == personal_data.c.scope_id,
            table.c.id == personal_data.c.record_id,
        )
        for table in record_tables
    ]
    return transaction.run(
        delete(personal_data).where(
            personal_data.c.tenant == transaction.tenant, personal_data.c.scope_id == scope_id, ~or_(*exist)
        )
    )


def count_spans(transaction: Transaction, scope_id: int, record_ids: Collection[bytes]) -> int:
    """Count what is noted of some records."""
    return len(load_spans(transaction, scope_id, record_ids))


def counts(transaction: Transaction, view: View) -> dict[str, tuple[int, int]]:
    """Count (spans, records) by kind in a view; kinds that do not occur are left out."""
    statement = (
        select(
            personal_data.c.kind,
            func.count().label("spans"),
            func.count(personal_data.c.record_id.distinct()).label("records"),
        )
        .where(personal_data.c.tenant == transaction.tenant, personal_data.c.scope_id.in_(view.scope_ids))
        .group_by(personal_data.c.kind)
        .order_by(personal_data.c.kind)
    )
    return {row.kind: (row.spans, row.records) for row in transaction.rows(statement)}


def records_with(transaction: Transaction, view: View, kind: str) -> list[bytes]:
    """Return the ids of the records of a view whose text holds personal data of a kind."""
    statement = (
        select(personal_data.c.record_id)
        .distinct()
        .where(
            personal_data.c.tenant == transaction.tenant,
            personal_data.c.scope_id.in_(view.scope_ids),
            personal_data.c.kind == kind,
        )
        .order_by(personal_data.c.record_id)
    )
    return [bytes(row.record_id) for row in transaction.rows(statement)]

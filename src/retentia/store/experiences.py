"""Experiences by their time, and what they are ranked by. They are items of their kind: what holds of items holds."""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Select, bindparam, select

from retentia.model.record import Kind
from retentia.store.among import among, each_or_all
from retentia.store.database import Transaction
from retentia.store.schema import item

_HERE: Select[Any] = select(item.c.id, item.c.occurred_start, item.c.recorded_at, item.c.body).where(
    item.c.tenant == bindparam("t"),
    item.c.scope_id == bindparam("s"),
    item.c.kind == Kind.EXPERIENCE.value,
    item.c.retracted_at.is_(None),
)
_THESE = _HERE.where(among(item.c.id))


class ExperienceRow(NamedTuple):
    """An experience as it is stored: `at` in UTC microseconds, `body` as JSON."""

    record_id: bytes
    at: int
    body: str


def rows(transaction: Transaction, scope_id: int, record_ids: Collection[bytes] | None = None) -> list[ExperienceRow]:
    """Return the experiences of a scope, or those of them that are among some records."""
    key = {"t": transaction.tenant, "s": scope_id}
    return [
        ExperienceRow(bytes(row.id), row.recorded_at if row.occurred_start is None else row.occurred_start, row.body)
        for row in each_or_all(transaction, _HERE, _THESE, key, record_ids)
    ]


def latest(transaction: Transaction, scope_ids: Sequence[int], *, limit: int) -> list[bytes]:
    """Return the ids of the latest experiences of some scopes, the newest first."""
    statement = (
        select(item.c.id)
        .where(
            item.c.tenant == transaction.tenant,
            item.c.scope_id.in_(scope_ids),
            item.c.kind == Kind.EXPERIENCE.value,
            item.c.retracted_at.is_(None),
        )
        .order_by(item.c.occurred_start.desc(), item.c.id)
        .limit(limit)
    )
    return [bytes(row.id) for row in transaction.rows(statement)]

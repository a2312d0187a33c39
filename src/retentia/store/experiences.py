"""Experiences by their time. They are items of their kind, so that whatever holds of items holds of them."""

from collections.abc import Sequence

from sqlalchemy import select

from retentia.model.record import Kind
from retentia.store.database import Transaction
from retentia.store.schema import item


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

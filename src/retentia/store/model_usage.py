"""What models were asked, by tenant, day, model and purpose: numbers without content.

Rows only grow by what is added to them, so that processes that count at the same time lose nothing. The row without a
model is the sum of its day: adding to it first makes them wait for each other, so that no two of them pass a ceiling
together.
"""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from sqlalchemy import Executable, func, select

from retentia.model.spending import Spending
from retentia.store.database import Transaction, insert_unless
from retentia.store.schema import model_usage

_OF_THE_DAY = ""
_COUNTED = ("calls", "tokens_in", "tokens_out", "cost")


class DayUsage(NamedTuple):
    """What one model was asked for one purpose on one day (days since 1970, UTC)."""

    day: int
    model: str
    purpose: str
    calls: int
    tokens_in: int
    tokens_out: int
    cost: int


def add(transaction: Transaction, *, day: int, model: str, purpose: str, spent: Spending) -> Spending:
    """Add to what was spent; return what the tenant has spent on that day, this included."""
    counted = {name: getattr(spent, name) for name in _COUNTED}
    for key in ({"model": _OF_THE_DAY, "purpose": ""}, {"model": model, "purpose": purpose}):
        row = {"tenant": transaction.tenant, "day": day, **key, **counted}
        transaction.run(_adding(transaction.connection.dialect.name), row)
    return of_day(transaction, day)


def of_day(transaction: Transaction, day: int) -> Spending:
    """Return what the tenant has spent on a day."""
    row = transaction.first(
        select(*(model_usage.c[name] for name in _COUNTED)).where(
            model_usage.c.tenant == transaction.tenant,
            model_usage.c.day == day,
            model_usage.c.model == _OF_THE_DAY,
        )
    )
    return Spending() if row is None else Spending(**dict(zip(_COUNTED, row, strict=True)))


def listing(transaction: Transaction, *, since_day: int) -> Sequence[DayUsage]:
    """Return what the tenant's models were asked from a day on, the latest first."""
    rows = transaction.rows(
        select(*(model_usage.c[name] for name in DayUsage._fields))
        .where(
            model_usage.c.tenant == transaction.tenant,
            model_usage.c.day >= since_day,
            model_usage.c.model != _OF_THE_DAY,
        )
        .order_by(model_usage.c.day.desc(), func.lower(model_usage.c.model), model_usage.c.purpose)
    )
    return [DayUsage._make(row) for row in rows]


@cache
def _adding(dialect_name: str) -> Executable:
    insert = insert_unless(model_usage, dialect_name)
    more = {name: model_usage.c[name] + insert.excluded[name] for name in _COUNTED}
    return insert.on_conflict_do_update(index_elements=["tenant", "day", "model", "purpose"], set_=more)

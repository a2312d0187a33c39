"""How much a person has, and how it grew: records, and bytes of their texts in UTF-8."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, LargeBinary, Select, Table, and_, cast, func, select

from retentia.store.database import Transaction
from retentia.store.records import RECORD_TABLES
from retentia.store.schema import bin_record, scope
from retentia.store.sealed import text_bytes

_DAY = 86_400_000_000


class DayGrowth(NamedTuple):
    """What was written on one day (days since 1970, UTC) for one user."""

    user: str
    day: int
    records: int
    size: int
    in_bin: int = 0


def by_day(transaction: Transaction, *, user: str | None = None) -> list[DayGrowth]:
    """Return what the tenant's records of today were written on which day, by user; what lies in the bin apart."""
    found: list[DayGrowth] = []
    for table in RECORD_TABLES:
        day = (table.c.recorded_at // _DAY).label("day")
        statement = _of_users(table, transaction, [scope.c.user, day], user).group_by(scope.c.user, day)
        found += [DayGrowth(row.user, row.day, row.records, row.size) for row in transaction.rows(statement)]
    day = (bin_record.c.recorded_at // _DAY).label("day")
    statement = _in_bin(transaction, [scope.c.user, day], user).group_by(scope.c.user, day)
    found += [DayGrowth(row.user, row.day, 0, 0, row.records) for row in transaction.rows(statement)]
    return found


def usage(transaction: Transaction, user: str) -> tuple[int, int]:
    """Return how many records a user has in all scopes and their bin, and how many bytes their texts have."""
    rows = [transaction.rows(_of_users(table, transaction, [], user))[0] for table in RECORD_TABLES]
    rows += transaction.rows(_in_bin(transaction, [], user))
    return sum(row.records for row in rows), sum(row.size for row in rows)


def _in_bin(transaction: Transaction, columns: Sequence[Any], user: str | None) -> Select[Any]:
    return _joined(bin_record, transaction, columns, func.sum(bin_record.c.text_bytes), user)


def _of_users(table: Table, transaction: Transaction, columns: Sequence[Any], user: str | None) -> Select[Any]:
    return _joined(table, transaction, columns, func.sum(stored_bytes(table, transaction)), user)


def stored_bytes(table: Table, transaction: Transaction) -> ColumnElement[int]:
    """Return the expression for how many bytes the text of a record has in UTF-8."""
    if transaction.is_keyed:
        return text_bytes(table.c.text)
    if transaction.dialect.name == "sqlite":
        return func.length(cast(table.c.text, LargeBinary))
    return func.octet_length(table.c.text)


def _joined(
    table: Table, transaction: Transaction, columns: Sequence[Any], total: ColumnElement[Any], user: str | None
) -> Select[Any]:
    size = func.coalesce(total, 0).label("size")
    here = and_(scope.c.tenant == table.c.tenant, scope.c.scope_id == table.c.scope_id)
    statement: Select[Any] = (
        select(*columns, func.count().label("records"), size)
        .select_from(table)
        .join(scope, here)
        .where(table.c.tenant == transaction.tenant, scope.c.tenant == transaction.tenant)
    )
    return statement if user is None else statement.where(scope.c.user == user)

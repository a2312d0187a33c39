"""Use: how often each record was shown, and when last. Numbers and ids only; losing them loses no memory."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from sqlalchemy import bindparam, delete, func, select, update

from retentia.model.use import Use
from retentia.store.among import IDS, among, parcels
from retentia.store.bulk import insert_many
from retentia.store.database import Transaction
from retentia.store.schema import record_use


class Shown(NamedTuple):
    """How often a record was shown, and when last, in UTC microseconds."""

    times: int
    last_at: int


_HERE = (record_use.c.tenant == bindparam("t"), record_use.c.scope_id == bindparam("s"))
_SOME = (*_HERE, among(record_use.c.record_id))
_RAISE = (
    update(record_use)
    .where(*_HERE, record_use.c.record_id == bindparam("i"))
    .values(shown=record_use.c.shown + bindparam("n"), last_shown_at=bindparam("at"))
)
_OF = select(record_use.c.record_id, record_use.c.shown, record_use.c.last_shown_at).where(*_SOME)
_DELETE = delete(record_use).where(*_SOME)
_COUNT = select(func.count()).select_from(record_use).where(*_SOME)


def note(transaction: Transaction, scope_id: int, now_shown: Mapping[bytes, Shown]) -> None:
    """Add what was shown to records of a locked scope; they must be there."""
    known = shown(transaction, [scope_id], list(now_shown))
    key = {"tenant": transaction.tenant, "scope_id": scope_id}
    fresh = [
        {**key, "record_id": record_id, "shown": one.times, "last_shown_at": one.last_at}
        for record_id, one in now_shown.items()
        if record_id not in known
    ]
    of_scope = {"t": transaction.tenant, "s": scope_id}
    again = [{**of_scope, "i": one, "n": now_shown[one].times, "at": now_shown[one].last_at} for one in known]
    insert_many(transaction, record_use, fresh)
    if again:
        transaction.run(_RAISE, again)


def shown(transaction: Transaction, scope_ids: Collection[int], record_ids: Collection[bytes]) -> dict[bytes, Shown]:
    """Return how often records of some scopes were shown; one that never was is left out."""
    return {
        bytes(record_id): Shown(times, last_at)
        for scope_id in scope_ids
        for some in parcels(transaction, record_ids)
        for record_id, times, last_at in transaction.tuples(_OF, {"t": transaction.tenant, "s": scope_id, IDS: some})
    }


def most_shown(transaction: Transaction, scope_ids: Collection[int], *, limit: int) -> list[Use]:
    """Return the records of some scopes that were shown most often, the latest of equals first."""
    statement = (
        select(record_use.c.record_id, record_use.c.shown, record_use.c.last_shown_at)
        .where(record_use.c.tenant == transaction.tenant, record_use.c.scope_id.in_(scope_ids))
        .order_by(record_use.c.shown.desc(), record_use.c.last_shown_at.desc(), record_use.c.record_id)
        .limit(limit)
    )
    return [Use.of(bytes(row.record_id), row.shown, row.last_shown_at) for row in transaction.rows(statement)]


def delete_uses(transaction: Transaction, scope_id: int, record_ids: Collection[bytes]) -> int:
    """Forget how often records were shown; return how many rows there were."""
    key = {"t": transaction.tenant, "s": scope_id}
    return sum(transaction.run(_DELETE, {**key, IDS: some}) for some in parcels(transaction, record_ids))


def count_uses(transaction: Transaction, scope_id: int, record_ids: Collection[bytes]) -> int:
    """Count the rows that name one of these records."""
    key = {"t": transaction.tenant, "s": scope_id}
    return sum(transaction.number(_COUNT, {**key, IDS: some}) for some in parcels(transaction, record_ids))

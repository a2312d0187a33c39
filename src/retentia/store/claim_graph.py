"""Claims as a graph: who is named in them, and which lead out of a name or into it; only those believed now.

Names are given as keys (see `retentia.index.names`). What a claim says stands in its item, which is read with its
scope checked again.
"""

from collections.abc import Collection
from functools import lru_cache
from typing import Any

from sqlalchemy import ColumnElement, Select, bindparam, exists, func, select

from retentia.model.record import BELIEVED
from retentia.store.among import IDS, among, parcels
from retentia.store.database import Transaction
from retentia.store.records import View
from retentia.store.schema import claim, item

_BELIEVED = {f"believed_{place}": status.value for place, status in enumerate(BELIEVED)}
_HERE: tuple[ColumnElement[bool], ...] = (claim.c.tenant == bindparam("t"), claim.c.scope_id == bindparam("s"))
# Not a join: SQLite would begin with all items of the scope.
_IS_BELIEVED_NOW = exists().where(
    item.c.tenant == claim.c.tenant,
    item.c.scope_id == claim.c.scope_id,
    item.c.id == claim.c.record_id,
    item.c.status.in_([bindparam(name) for name in _BELIEVED]),
    item.c.valid_to.is_(None),
    item.c.retracted_at.is_(None),
)


def known_keys(transaction: Transaction, view: View, keys: Collection[bytes]) -> set[bytes]:
    """Return those of the keys that a believed claim of the view has as its subject or its value."""
    found: set[bytes] = set()
    for scope_id in view.scope_ids:
        for column, statement in _KNOWN:
            sought = [transaction.sought(column, scope_id, key) for key in keys]
            for some in parcels(transaction, sought):
                given = {"t": transaction.tenant, "s": scope_id, IDS: some, **_BELIEVED}
                found |= {bytes(key) for (key,) in transaction.tuples(statement, given)}
    return found


def edges_at(
    transaction: Transaction,
    view: View,
    keys: Collection[bytes],
    attributes: Collection[str],
    *,
    is_inverse: bool,
    limit: int,
) -> list[bytes]:
    """Return the items of believed claims with these attributes about subjects, or (`is_inverse`) with values.

    No more than `limit` of one attribute at one key and scope, those said of the latest time; in no order.
    """
    found: list[bytes] = []
    column = claim.c.value_key if is_inverse else claim.c.subject_key
    named = {f"attribute_{place}": attribute for place, attribute in enumerate(attributes)}
    statement = _newest(column, tuple(named))
    for scope_id in view.scope_ids:
        sought = [transaction.sought(column, scope_id, key) for key in keys]
        for some in parcels(transaction, sought):
            given = {"t": transaction.tenant, "s": scope_id, IDS: some, "most": limit, **_BELIEVED, **named}
            found += [bytes(record_id) for (record_id,) in transaction.tuples(statement, given)]
    return found


def _one_of_each(column: ColumnElement[bytes]) -> Select[Any]:
    """Select each key once: a name may stand in very many claims."""
    place = func.row_number().over(partition_by=column, order_by=claim.c.record_id).label("place")
    each = select(claim.c.record_id, place).where(*_HERE, among(column), _IS_BELIEVED_NOW).subquery()
    first = select(each.c.record_id).where(each.c.place == 1)
    return select(column).where(*_HERE, claim.c.record_id.in_(first))


@lru_cache(maxsize=256)
def _newest(column: ColumnElement[bytes], named: tuple[str, ...]) -> Select[Any]:
    newest_first = (claim.c.said_start.desc(), claim.c.record_id.desc())
    place = func.row_number().over(partition_by=(column, claim.c.attribute), order_by=newest_first).label("place")
    asked = (among(column), claim.c.attribute.in_([bindparam(name) for name in named]))
    each = select(claim.c.record_id, place).where(*_HERE, *asked, _IS_BELIEVED_NOW).subquery()
    return select(each.c.record_id).where(each.c.place <= bindparam("most"))


_KNOWN = tuple((column, _one_of_each(column)) for column in (claim.c.subject_key, claim.c.value_key))

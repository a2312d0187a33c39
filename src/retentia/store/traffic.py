"""Traffic in numbers: how long sessions are, who comes back, which tools are called, what is known. Reads no content.

`within` are the numbers of scopes, None for the whole tenant. What lies in the bin does not count.
"""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from sqlalchemy import BigInteger, ColumnElement, Select, Table, and_, case, cast, exists, func, or_, select, tuple_

from retentia.model.record import BELIEVED
from retentia.store.database import Transaction
from retentia.store.growth import stored_bytes
from retentia.store.schema import claim, document, item, manifest_entry, message, scope, session, tool_use

Within = Sequence[int] | None
Counts = list[tuple[int, int]]
"""Pairs of a number and how many have it."""
_BYTES_OF_A_TOKEN = 4
_STEP = 100
"""Tokens are told in steps of so many, so that few different numbers come back."""


class Calls(NamedTuple):
    """How many calls of tools there were, of how many tools, and how many were made again in their session."""

    made: int
    tools: int
    repeated: int


def messages_of_sessions(transaction: Transaction, within: Within) -> Counts:
    """Return how many sessions have how many messages."""
    return _of_sessions(transaction, within, func.count())


def turns_of_sessions(transaction: Transaction, within: Within) -> Counts:
    """Return how many sessions have how many turns."""
    return _of_sessions(transaction, within, func.sum(case((message.c.role == "user", 1), else_=0)))


def tokens_of_sessions(transaction: Transaction, within: Within) -> Counts:
    """Return how many sessions take how many tokens, estimated from the bytes of their messages."""
    step = _BYTES_OF_A_TOKEN * _STEP
    size = cast(func.sum(stored_bytes(message, transaction)), BigInteger)  # PostgreSQL adds up to a fraction
    found = _of_sessions(transaction, within, (size + step - 1) // step)
    return [(number * _STEP, many) for number, many in found]


def sessions_of_people(transaction: Transaction, within: Within) -> Counts:
    """Return how many people have how many sessions; a person is a user of the tenant."""
    here = and_(scope.c.tenant == session.c.tenant, scope.c.scope_id == session.c.scope_id)
    each = (
        select(func.count().label("number"))
        .select_from(session)
        .join(scope, here)
        .where(*_here(session, transaction, within), scope.c.tenant == transaction.tenant)
        .group_by(scope.c.user)
    )
    return _counted(transaction, each)


def calls(transaction: Transaction, within: Within) -> Calls:
    """Count calls of tools. One that is logged and told by a message counts once: the larger of the two is taken."""
    called = (*_here(tool_use, transaction, within), tool_use.c.call_key.is_not(None))
    by_call = (tool_use.c.scope_id, tool_use.c.session_id, tool_use.c.kind, tool_use.c.call_key)
    each = select(tool_use.c.kind, func.count().label("times")).where(*called).group_by(*by_call).subquery()
    rows = transaction.rows(
        select(func.sum(each.c.times).label("made"), func.sum(each.c.times - 1).label("again")).group_by(each.c.kind)
    )
    tools = transaction.rows(select(func.count(tool_use.c.name.distinct()).label("tools")).where(*called))
    made = max((int(row.made) for row in rows), default=0)
    return Calls(made, int(tools[0].tools), max((int(row.again) for row in rows), default=0))


def documents(transaction: Transaction, within: Within) -> int:
    """Count documents."""
    statement = select(func.count().label("number")).select_from(document).where(*_here(document, transaction, within))
    return int(transaction.rows(statement)[0].number)


def believed_items(transaction: Transaction, within: Within) -> dict[str, int]:
    """Count the items that are believed, by kind."""
    statement = (
        select(item.c.kind, func.count().label("number"))
        .where(*_here(item, transaction, within), *_IS_BELIEVED)
        .group_by(item.c.kind)
    )
    return {row.kind: row.number for row in transaction.rows(statement)}


def attributes(transaction: Transaction, within: Within) -> list[str]:
    """Return the names of the attributes that believed claims have."""
    statement = select(claim.c.attribute).distinct().where(*_claimed(claim, transaction, within))
    return sorted(row.attribute for row in transaction.rows(statement))


def steps(transaction: Transaction, within: Within, relations: Collection[str]) -> int:
    """Count the believed relations whose object has a relation itself, or is the object of one of another kind."""
    here = (*_claimed(claim, transaction, within), claim.c.attribute.in_(relations))
    subjects = select(claim.c.scope_id, claim.c.subject_key).where(*here)
    of_two_kinds = (
        select(claim.c.scope_id, claim.c.value_key)
        .where(*here)
        .group_by(claim.c.scope_id, claim.c.value_key)
        .having(func.count(claim.c.attribute.distinct()) > 1)
    )
    # Lists rather than existences, for which SQLite would read all claims of the scope each time.
    object_ = tuple_(claim.c.scope_id, claim.c.value_key)
    leads_on = or_(object_.in_(subjects), object_.in_(of_two_kinds))
    statement = select(func.count().label("number")).select_from(claim).where(*here, leads_on)
    return int(transaction.rows(statement)[0].number)


def looks_back(transaction: Transaction, within: Within) -> int:
    """Count the replies to which a message of another session was shown."""
    reply = message.alias("reply")
    statement = (
        select(func.count(manifest_entry.c.reply_id.distinct()).label("number"))
        .select_from(manifest_entry)
        .join(reply, _is(reply, manifest_entry.c.reply_id))
        .join(message, _is(message, manifest_entry.c.record_id))
        .where(
            *_here(manifest_entry, transaction, within),
            reply.c.tenant == transaction.tenant,
            message.c.tenant == transaction.tenant,
            reply.c.session_id != message.c.session_id,
        )
    )
    return int(transaction.rows(statement)[0].number)


_IS_BELIEVED: tuple[ColumnElement[bool], ...] = (
    item.c.status.in_([status.value for status in BELIEVED]),
    item.c.retracted_at.is_(None),
)


def _of_sessions(transaction: Transaction, within: Within, number: ColumnElement[Any]) -> Counts:
    here = _here(message, transaction, within)
    each = select(number.label("number")).where(*here).group_by(message.c.scope_id, message.c.session_id)
    return _counted(transaction, each)


def _counted(transaction: Transaction, each: Select[Any]) -> Counts:
    """Count how often each number comes."""
    found = each.subquery()
    statement = select(found.c.number, func.count().label("many")).group_by(found.c.number)
    return [(int(row.number), int(row.many)) for row in transaction.rows(statement)]


def _claimed(table: Any, transaction: Transaction, within: Within) -> tuple[ColumnElement[bool], ...]:
    is_believed = exists().where(
        item.c.tenant == table.c.tenant,
        item.c.scope_id == table.c.scope_id,
        item.c.id == table.c.record_id,
        item.c.valid_to.is_(None),
        *_IS_BELIEVED,
    )
    return (*_here(table, transaction, within), is_believed)


def _is(table: Any, record_id: ColumnElement[Any]) -> ColumnElement[bool]:
    same_scope = and_(table.c.tenant == manifest_entry.c.tenant, table.c.scope_id == manifest_entry.c.scope_id)
    return and_(same_scope, table.c.id == record_id)


def _here(table: Table, transaction: Transaction, within: Within) -> tuple[ColumnElement[bool], ...]:
    here = table.c.tenant == transaction.tenant
    return (here,) if within is None else (here, table.c.scope_id.in_(within))

"""Registered tools, which are items of their kind, and the requests that calls of tools have served."""

from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Select, bindparam, literal_column, select

from retentia.model.record import Kind
from retentia.store.among import IDS, among, each_or_all, parcels
from retentia.store.database import Transaction
from retentia.store.schema import item, message, tool_use

MOST_CALLS = 2_000
"""So many of the latest calls of a scope are learned from."""
_HERE: Select[Any] = select(item.c.id, item.c.text, item.c.body).where(
    item.c.tenant == bindparam("t"), item.c.scope_id == bindparam("s"), item.c.kind == Kind.TOOL.value
)
_THESE = _HERE.where(among(item.c.id))
_CALLS = (
    select(tool_use.c.session_id, tool_use.c.seq, tool_use.c.name, tool_use.c.link_key, tool_use.c.status)
    .where(
        tool_use.c.tenant == bindparam("t"),
        tool_use.c.scope_id == bindparam("s"),
        tool_use.c.name.is_not(None),
        tool_use.c.call_key.is_not(None),
        tool_use.c.status != "error",
    )
    .order_by(tool_use.c.called_at.desc())
    .limit(literal_column(str(MOST_CALLS)))
)
_FAILED = select(tool_use.c.link_key).where(
    tool_use.c.tenant == bindparam("t"),
    tool_use.c.scope_id == bindparam("s"),
    tool_use.c.call_key.is_(None),
    tool_use.c.link_key.is_not(None),
    tool_use.c.status == "error",
)
_ASKED = (
    select(message.c.id, message.c.session_id, message.c.seq)
    .where(
        message.c.tenant == bindparam("t"),
        message.c.scope_id == bindparam("s"),
        message.c.role == "user",
        among(message.c.session_id),
    )
    .order_by(message.c.session_id, message.c.seq)
)


class ToolRow(NamedTuple):
    """A registered tool, or an example of what tools were used for; `body` is JSON."""

    record_id: bytes
    text: str
    body: str


class Served(NamedTuple):
    """A message that asked for something, and a tool whose call served it."""

    message_id: bytes
    name: str


def rows(transaction: Transaction, scope_id: int, record_ids: Collection[bytes] | None = None) -> Iterator[ToolRow]:
    """Yield the tools and examples of a scope, or those of them that are among some records."""
    key = {"t": transaction.tenant, "s": scope_id}
    for row in each_or_all(transaction, _HERE, _THESE, key, record_ids):
        yield ToolRow(bytes(row.id), row.text, row.body)


def served(transaction: Transaction, scope_id: int) -> list[Served]:
    """Return which messages the latest calls of a scope have served, those that failed left out.

    A call serves the last message of the user before it in its session.
    """
    key = {"t": transaction.tenant, "s": scope_id}
    calls = transaction.tuples(_CALLS, key)
    failed = {bytes(link) for (link,) in transaction.tuples(_FAILED, key)} if calls else set()
    asked: dict[bytes, list[tuple[int, bytes]]] = {}
    for some in parcels(transaction, {bytes(session) for session, *_ in calls}):
        for record_id, session, seq in transaction.tuples(_ASKED, {**key, IDS: some}):
            asked.setdefault(bytes(session), []).append((seq, bytes(record_id)))
    found = (
        (_before(asked.get(bytes(session), ()), seq), name)
        for session, seq, name, link, _ in calls
        if link is None or bytes(link) not in failed
    )
    return [Served(request, name) for request, name in dict.fromkeys(found) if request is not None]


def _before(asked: Sequence[tuple[int, bytes]], seq: int) -> bytes | None:
    """Return the last of some messages, in order, that stands before a place."""
    at = bisect_left(asked, (seq, b""))
    return asked[at - 1][1] if at else None

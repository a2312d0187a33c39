"""Uses of tools: what a record tells of calls and their outcomes, found by keys. Derived, and rebuilt from records.

A logged call is one use. A message has one for each call it makes and one for each outcome it brings; a call and the
message that answers it are joined when they are read, so that an erased message leaves nothing behind.
"""

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import Select, Table, bindparam, delete, exists, or_, select

from retentia.store.among import IDS, among, parcels
from retentia.store.bulk import insert_many
from retentia.store.database import Transaction, batches
from retentia.store.records import View
from retentia.store.schema import message, tool_call, tool_use


class ToolUse(NamedTuple):
    """One use as it is stored; times in UTC microseconds.

    With a `call_key` it is a call, without one and with a `link_key` the outcome of another message's call; with
    neither it names one more `target_key` of the record's call. `status` is "ok" or "error", "" without an outcome.
    """

    record_id: bytes
    part: int
    kind: str
    session_id: bytes
    seq: int
    name: str | None
    call_key: bytes | None
    link_key: bytes | None
    target_key: bytes | None
    outcome_key: bytes | None
    status: str
    called_at: int


_SHOWN = [tool_use.c[name] for name in ToolUse._fields]
_DELETE = delete(tool_use).where(
    tool_use.c.tenant == bindparam("tenant"), tool_use.c.scope_id == bindparam("scope_id"), among(tool_use.c.record_id)
)


def insert_uses(transaction: Transaction, scope_id: int, uses: Iterable[ToolUse]) -> None:
    """Write what new records tell of tools."""
    key = {"tenant": transaction.tenant, "scope_id": scope_id}
    insert_many(transaction, tool_use, [{**key, **use._asdict()} for use in uses])


def delete_uses(transaction: Transaction, scope_id: int, record_ids: Collection[bytes]) -> int:
    """Remove what records told of tools; return how many uses there were."""
    key = {"tenant": transaction.tenant, "scope_id": scope_id}
    return sum(transaction.run(_DELETE, {**key, IDS: some}) for some in parcels(transaction, record_ids))


def delete_orphans(transaction: Transaction, scope_id: int) -> int:
    """Remove uses whose record is gone; return how many."""
    exist = [
        exists().where(
            table.c.tenant == tool_use.c.tenant,
            table.c.scope_id == tool_use.c.scope_id,
            table.c.id == tool_use.c.record_id,
        )
        for table in (tool_call, message)
    ]
    here = delete(tool_use).where(tool_use.c.tenant == transaction.tenant, tool_use.c.scope_id == scope_id)
    return transaction.run(here.where(~or_(*exist)))


def load_uses(transaction: Transaction, scope_id: int, record_ids: Collection[bytes]) -> list[ToolUse]:
    """Return what some records of a scope tell of tools, in order."""
    statement = (
        select(*_SHOWN)
        .where(tool_use.c.tenant == transaction.tenant, tool_use.c.scope_id == scope_id)
        .order_by(tool_use.c.record_id, tool_use.c.part)
    )
    return [
        _use(row)
        for some in batches(record_ids)
        for row in transaction.rows(statement.where(tool_use.c.record_id.in_(some)))
    ]


def calls(
    transaction: Transaction,
    view: View,
    call_key: bytes,
    *,
    kinds: Collection[str],
    limit: int,
    session_ids: Collection[bytes] | None = None,
) -> list[ToolUse]:
    """Return the last calls with a key that records of these kinds tell of, in some sessions or all, newest first."""
    statement = _newest("call_key", len(view.scopes), len(kinds))
    return _found(transaction, statement, view, kinds, session_ids, given=call_key, limit=limit)


def named(
    transaction: Transaction,
    view: View,
    name: str,
    *,
    kinds: Collection[str],
    limit: int,
    session_ids: Collection[bytes] | None = None,
) -> list[ToolUse]:
    """Return the last calls of a tool, the newest first."""
    statement = _newest("name", len(view.scopes), len(kinds))
    return _found(transaction, statement, view, kinds, session_ids, given=name, limit=limit)


def latest(
    transaction: Transaction,
    view: View,
    *,
    kinds: Collection[str],
    limit: int,
    session_ids: Collection[bytes] | None = None,
) -> list[ToolUse]:
    """Return the last calls of a view, or of some sessions, the newest first."""
    statement = (
        select(*_SHOWN)
        .where(
            tool_use.c.tenant == transaction.tenant,
            tool_use.c.scope_id.in_(view.scope_ids),
            tool_use.c.kind.in_(sorted(kinds)),
            tool_use.c.call_key.is_not(None),
        )
        .order_by(
            tool_use.c.called_at.desc(), tool_use.c.seq.desc(), tool_use.c.record_id.desc(), tool_use.c.part.desc()
        )
        .limit(limit)
    )
    if session_ids is not None:
        statement = statement.where(tool_use.c.session_id.in_(session_ids))
    return [_use(row) for row in transaction.rows(statement)]


def outcomes(transaction: Transaction, view: View, link_keys: Collection[bytes]) -> list[ToolUse]:
    """Return the outcomes that messages of a view bring for calls with these links."""
    statement = select(*_SHOWN).where(
        tool_use.c.tenant == transaction.tenant,
        tool_use.c.scope_id.in_(view.scope_ids),
        tool_use.c.call_key.is_(None),
    )
    return [
        _use(row)
        for some in batches(link_keys)
        for row in transaction.rows(statement.where(tool_use.c.link_key.in_(some)))
    ]


def of_records(transaction: Transaction, view: View, record_ids: Collection[bytes]) -> list[tuple[int, ToolUse]]:
    """Return what records of a view tell of calls and outcomes, each with the number of its scope."""
    statement = select(tool_use.c.scope_id, *_SHOWN).where(
        tool_use.c.tenant == transaction.tenant,
        tool_use.c.scope_id.in_(view.scope_ids),
        or_(tool_use.c.call_key.is_not(None), tool_use.c.link_key.is_not(None)),
    )
    return [
        (row[0], _use(row[1:]))
        for some in batches(record_ids)
        for row in transaction.rows(statement.where(tool_use.c.record_id.in_(some)))
    ]


def callers(transaction: Transaction, view: View, link_keys: Collection[bytes]) -> list[ToolUse]:
    """Return the calls in messages of a view that have these links."""
    statement = select(*_SHOWN).where(
        tool_use.c.tenant == transaction.tenant,
        tool_use.c.scope_id.in_(view.scope_ids),
        tool_use.c.kind == message.name,
        tool_use.c.call_key.is_not(None),
    )
    return [
        _use(row)
        for some in batches(link_keys)
        for row in transaction.rows(statement.where(tool_use.c.link_key.in_(some)))
    ]


def touching(
    transaction: Transaction, view: View, target_keys: Sequence[bytes], *, since: int, but: bytes
) -> list[str]:
    """Return the names of the tools that were called on one of some targets since a time, but by one record."""
    params = {
        "tenant": transaction.tenant,
        "since": since,
        "but": but,
        **_numbered("scope", view.scopes),
        **_numbered("target", target_keys),
    }
    rows = transaction.tuples(_touching(len(view.scopes), len(target_keys)), params)
    return sorted({str(name) for (name,) in rows})


def count_uses(transaction: Transaction, scope_id: int, record_ids: Collection[bytes]) -> int:
    """Count what is noted of some records."""
    return len(load_uses(transaction, scope_id, record_ids))


def untold(transaction: Transaction, scope_id: int, table: Table, *, after: bytes, limit: int) -> list[bytes]:
    """Return ids of records in their order, after one, that may tell of tools and for which nothing is noted."""
    noted = exists().where(
        tool_use.c.tenant == table.c.tenant,
        tool_use.c.scope_id == table.c.scope_id,
        tool_use.c.record_id == table.c.id,
    )
    statement = select(table.c.id).where(
        table.c.tenant == transaction.tenant, table.c.scope_id == scope_id, table.c.id > after, ~noted
    )
    if table is message:
        statement = statement.where(message.c.parts.is_not(None))
    return [bytes(row.id) for row in transaction.rows(statement.order_by(table.c.id).limit(limit))]


def _found(
    transaction: Transaction,
    statement: Select[Any],
    view: View,
    kinds: Collection[str],
    session_ids: Collection[bytes] | None,
    **more: object,
) -> list[ToolUse]:
    params = {
        "tenant": transaction.tenant,
        **_numbered("scope", view.scopes),
        **_numbered("kind", sorted(kinds)),
        **more,
    }
    if session_ids is None:
        return [_use(row) for row in transaction.tuples(statement, params)]
    narrowed = statement.where(tool_use.c.session_id.in_(session_ids))
    return [_use(row) for row in transaction.rows(narrowed, params)]


@lru_cache(maxsize=64)
def _newest(column: str, scopes: int, kinds: int) -> Select[Any]:
    """Return the statement for the last calls by a column; building it takes longer than running it, so it is kept."""
    return (
        select(*_SHOWN)
        .where(
            tool_use.c.tenant == bindparam("tenant"),
            tool_use.c.scope_id.in_([bindparam(name) for name in _numbered("scope", range(scopes))]),
            tool_use.c[column] == bindparam("given"),
            tool_use.c.call_key.is_not(None),
            tool_use.c.kind.in_([bindparam(name) for name in _numbered("kind", range(kinds))]),
        )
        .order_by(
            tool_use.c.called_at.desc(), tool_use.c.seq.desc(), tool_use.c.record_id.desc(), tool_use.c.part.desc()
        )
        .limit(bindparam("limit"))
    )


@lru_cache(maxsize=64)
def _touching(scopes: int, targets: int) -> Select[Any]:
    return select(tool_use.c.name).where(  # without DISTINCT, for which SQLite would walk the index of names
        tool_use.c.tenant == bindparam("tenant"),
        tool_use.c.scope_id.in_([bindparam(name) for name in _numbered("scope", range(scopes))]),
        tool_use.c.target_key.in_([bindparam(name) for name in _numbered("target", range(targets))]),
        tool_use.c.called_at >= bindparam("since"),
        tool_use.c.record_id != bindparam("but"),
        tool_use.c.name.is_not(None),
    )


def _numbered(name: str, values: Iterable[object]) -> dict[str, object]:
    return {f"{name}_{number}": value for number, value in enumerate(values)}


def _use(row: Sequence[Any]) -> ToolUse:
    return ToolUse(*row)

"""Reading everything a scope holds, in the order of an export, a page at a time.

The order is that of the file: each session followed by what was said in it, then documents, then items by kind. A page
is a short statement on an index; however large the scope, one page of each table is in memory.
"""

import heapq
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Column, ColumnElement, Table, bindparam, func, select, tuple_

from retentia.model.ids import id_text
from retentia.model.message import JSON
from retentia.model.portable import SESSION
from retentia.model.provenance import Source
from retentia.model.record import ITEM_KINDS, Kind
from retentia.model.scope import Scope
from retentia.store import records
from retentia.store.database import Transaction
from retentia.store.schema import derived_from, document, item, message, session, tool_call
from retentia.transfer.lines import line_of

_ROWS_AT_ONCE = 100
_DOCUMENTS_AT_ONCE = 1  # each may have 64 million characters

_Row = Mapping[str, Any]


def counts(transaction: Transaction, scope_id: int, scope: Scope) -> dict[str, int]:
    """Count the lines of each kind that `walk` yields; kinds without any are left out."""
    of_scope = session.c.tenant == transaction.tenant, session.c.scope_id == scope_id
    sessions = transaction.number(select(func.count()).select_from(session).where(*of_scope))
    found = {SESSION: sessions} | records.counts(transaction, records.View({scope_id: scope}))
    return {kind: found[kind] for kind in sorted(found) if found[kind]}


def walk(transaction: Transaction, scope_id: int) -> Iterator[dict[str, JSON]]:
    """Yield everything a scope holds as lines of an export."""
    yield from _sessions(transaction, scope_id)
    for page in _pages(transaction, document, scope_id, document.c.id, size=_DOCUMENTS_AT_ONCE):
        yield from (line_of(Kind.DOCUMENT.value, id_text(row["id"]), row) for row in page)
    for kind in sorted(kind.value for kind in ITEM_KINDS):
        for page in _pages(transaction, item, scope_id, item.c.id, where=(item.c.kind == kind,)):
            sources = _sources(transaction, [row["id"] for row in page])
            yield from (line_of(kind, id_text(row["id"]), row, sources=sources.get(row["id"], ())) for row in page)


def _sessions(transaction: Transaction, scope_id: int) -> Iterator[dict[str, JSON]]:
    """Merge the sessions, the messages and the tool calls, all read in the order of session and place in it."""
    streams = (
        _placed(transaction, session, scope_id, session.c.id),
        _placed(transaction, message, scope_id, message.c.session_id, message.c.seq),
        _placed(transaction, tool_call, scope_id, tool_call.c.session_id, tool_call.c.seq),
    )
    name = ""
    for _, _, kind, row in heapq.merge(*streams, key=lambda entry: entry[:3]):
        if kind == SESSION:
            name = row["name"]
        yield line_of(kind, id_text(row["id"]), row, session=name)


def _placed(
    transaction: Transaction, table: Table, scope_id: int, *order: Column[Any]
) -> Iterator[tuple[bytes, int, str, _Row]]:
    """Yield rows with the session and the place in it; the session itself comes before the first."""
    for page in _pages(transaction, table, scope_id, *order):
        yield from ((row[order[0].name], row.get("seq", 0), table.name, row) for row in page)


def _pages(
    transaction: Transaction,
    table: Table,
    scope_id: int,
    *order: Column[Any],
    where: tuple[ColumnElement[bool], ...] = (),
    size: int = _ROWS_AT_ONCE,
) -> Iterator[Sequence[_Row]]:
    first = select(table).where(table.c.tenant == transaction.tenant, table.c.scope_id == scope_id, *where)
    first = first.order_by(*order).limit(size)
    reached = [bindparam(f"after_{column.name}", type_=column.type) for column in order]
    following = first.where(tuple_(*order) > tuple_(*reached))
    names = table.c.keys()
    page = transaction.rows(first)
    while page:
        found = [dict(zip(names, row, strict=True)) for row in page]
        yield found
        if len(found) < size:
            return
        page = transaction.rows(following, {f"after_{column.name}": found[-1][column.name] for column in order})


def _sources(transaction: Transaction, ids: list[bytes]) -> dict[bytes, list[Source]]:
    statement = (
        select(derived_from)
        .where(
            derived_from.c.tenant == transaction.tenant,
            derived_from.c.child_kind == "item",
            derived_from.c.child_id.in_(ids),
        )
        .order_by(derived_from.c.parent_kind, derived_from.c.parent_id, derived_from.c.start)
    )
    found: dict[bytes, list[Source]] = {}
    for row in transaction.rows(statement):
        source = Source(kind=row.parent_kind, id=id_text(row.parent_id), start=row.start, end=row.end, role=row.role)
        found.setdefault(row.child_id, []).append(source)
    return found

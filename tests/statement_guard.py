"""Every statement on a table with personal data names the tenant: watched while the tests run.

A table counts as kept to its tenant when, within its own SELECT, UPDATE or DELETE, its `tenant` column is compared with
a bound value or with the `tenant` of another table that is kept. An INSERT gives the tenant as a value. A statement
written as text may not touch such a table, but for an INSERT of rows whose first value is the tenant.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import (
    Alias,
    BindParameter,
    Column,
    Connection,
    Delete,
    Engine,
    Executable,
    FromClause,
    Insert,
    Join,
    Select,
    TextClause,
    Update,
    event,
)
from sqlalchemy.sql import operators
from sqlalchemy.sql.elements import BinaryExpression, BooleanClauseList, ClauseElement

from retentia.store.database import Params, Tuples
from retentia.store.schema import TENANT_TABLES
from retentia.store.sqlite import SqliteDialect

_PERSONAL = "|".join(table.name for table in TENANT_TABLES)
_NAMES = re.compile(
    rf"\b(?:FROM|JOIN|INTO|UPDATE)\s+\"?({'|'.join(table.name for table in TENANT_TABLES)})\b", re.IGNORECASE
)
_ROWS_OF_TENANT = re.compile(r"INSERT INTO \w+ \(tenant, ")
_MAINTENANCE = re.compile(r"\s*(?:--[^\n]*\n\s*)*(CREATE|ALTER|DROP|VACUUM|PRAGMA)\b", re.IGNORECASE)


class TenantMissing(AssertionError):
    """A statement would read or write rows of every tenant."""


@contextmanager
def guarded() -> Iterator[set[str]]:
    """Raise TenantMissing where a statement without a tenant is executed; yield the statements seen so far."""
    seen: set[str] = set()

    def look(_conn: Any, _cursor: Any, sql: str, parameters: Any, context: Any, many: bool) -> None:
        if sql in seen:
            return
        statement = getattr(context.compiled, "statement", None)
        if statement is None or isinstance(statement, TextClause):
            check_text(sql, parameters if many else [parameters])
        else:
            check(statement, context.compiled_parameters)
        seen.add(sql)

    looked_at: set[Executable] = set()
    read_tuples = SqliteDialect.tuples

    def look_and_read(dialect: SqliteDialect, conn: Connection, statement: Executable, params: Params) -> Tuples:
        if statement not in looked_at:
            check(statement)  # type: ignore[arg-type]
            looked_at.add(statement)
            seen.add(str(statement))
        return read_tuples(dialect, conn, statement, params)

    event.listen(Engine, "before_cursor_execute", look)
    SqliteDialect.tuples = look_and_read  # type: ignore[method-assign]  # it goes past SQLAlchemy and its events
    try:
        yield seen
    finally:
        SqliteDialect.tuples = read_tuples  # type: ignore[method-assign]
        event.remove(Engine, "before_cursor_execute", look)


def check_text(sql: str, rows: Sequence[Any] = ()) -> None:
    """Raise TenantMissing when a statement written as text touches personal data, unless it inserts a tenant's rows."""
    if _ROWS_OF_TENANT.match(sql) and rows and all(isinstance(row, tuple) and row[0] for row in rows):
        return
    if (touched := _NAMES.search(sql)) and not _MAINTENANCE.match(sql):
        raise TenantMissing(f"text about {touched[1]!r} cannot be checked: {sql}")


def check(statement: ClauseElement, rows: Sequence[Mapping[str, object]] = ()) -> None:
    """Raise TenantMissing when a statement, or an INSERT of these rows, does not name the tenant."""
    if isinstance(statement, Insert):
        if statement.table in TENANT_TABLES and not (rows and all(row.get("tenant") for row in rows)):
            raise TenantMissing(f"an INSERT without a tenant: {statement}")
        return
    for query in _queries(statement):
        _check_query(query, frozenset())


def _check_query(query: ClauseElement, kept_outside: frozenset[FromClause]) -> None:
    parts = list(_own_parts(query))
    compared = [
        (part.left, part.right)
        for part in parts
        if isinstance(part, BinaryExpression) and part.operator is operators.eq and _is_tenant(part.left)
    ]
    kept = {left.table for left, right in compared if isinstance(right, BindParameter)} | kept_outside
    links = [(left.table, right.table) for left, right in compared if _is_tenant(right)]
    while more := {table for pair in links if kept.intersection(pair) for table in pair} - kept:
        kept |= more
    if missing := {table for table in _own_tables(query) if _is_personal(table)} - kept:
        raise TenantMissing(f"{', '.join(sorted(table.name for table in missing))}: {query}")
    for part in parts:
        for inner in _queries(part) if part is not query else ():
            _check_query(inner, frozenset(kept))


def _own_parts(query: ClauseElement) -> Iterator[ClauseElement]:
    """Walk a query, not into queries inside it, nor into what may hold without its tenant: the sides of an OR."""
    yield query
    for child in query.get_children():
        if isinstance(child, (Select, Update, Delete)) or _is_or(child):
            yield child
        else:
            yield from _own_parts(child)


def _own_tables(query: ClauseElement) -> set[FromClause]:
    froms = query.get_final_froms() if isinstance(query, Select) else [query.table]  # type: ignore[attr-defined]
    return {part for source in froms for part in _joined(source)}


def _joined(source: FromClause) -> Iterator[FromClause]:
    if isinstance(source, Join):
        yield from _joined(source.left)
        yield from _joined(source.right)
    else:
        yield source


def _is_personal(source: FromClause) -> bool:
    return (source.element if isinstance(source, Alias) else source) in TENANT_TABLES


def _is_or(part: ClauseElement) -> bool:
    return isinstance(part, BooleanClauseList) and part.operator is operators.or_


def _queries(part: ClauseElement) -> Iterator[ClauseElement]:
    """Find the outermost queries in a part of a statement, also in the sides of an OR."""
    if isinstance(part, (Select, Update, Delete)):
        yield part
        return
    for child in part.get_children():
        yield from _queries(child)


def _is_tenant(part: Any) -> bool:
    return isinstance(part, Column) and part.name == "tenant"

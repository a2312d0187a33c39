"""A transaction on a store whose content has keys: what it writes is sealed, what it reads is opened.

Nothing above knows of it. A SELECT of a sealed column also reads the scope and the key of its row, to which the value
is bound. Keys are looked up once in a transaction and end with it.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any, TypeAlias

from sqlalchemy import (
    Alias,
    Column,
    ColumnElement,
    Executable,
    Insert,
    Label,
    Row,
    Select,
    Table,
    UpdateBase,
    bindparam,
    delete,
    exists,
    or_,
    select,
)
from sqlalchemy.engine import IteratorResult
from sqlalchemy.engine.result import SimpleResultMetaData
from sqlalchemy.sql.elements import KeyedColumnElement

from retentia.errors import ContentKeyLost, StoreCorrupt
from retentia.model.ids import id_text
from retentia.store.database import Params, Rows, Transaction, Tuples
from retentia.store.schema import content_key, scope
from retentia.store.sealed import SEALED, Way, is_blank, row_key
from retentia.store.sealing import KEY_BYTES, DoesNotOpen, MasterKey, ScopeKey, place_of_key

_Values: TypeAlias = Sequence[Any]  # what a driver returns has no static type
_KEY_ID_BYTES = 16
_KEEP = (
    select(scope.c.scope_id)
    .where(scope.c.tenant == bindparam("tenant"), scope.c.scope_id == bindparam("scope_id"))
    .with_for_update(read=True, key_share=True)
)
"""Whoever destroys a key has locked its scope: it waits for those who write under the key."""
_FIND = select(content_key.c.key_id, content_key.c.wrapped).where(
    content_key.c.tenant == bindparam("tenant"), content_key.c.scope_id == bindparam("scope_id")
)
_DESTROY = delete(content_key).where(content_key.c.tenant == bindparam("t"), content_key.c.scope_id == bindparam("s"))


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a statement returns a sealed value, and where it returns what the value is bound to."""

    table: str
    column: str
    label: bytes
    way: Way
    at: int
    scope_at: int
    row_at: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Reading:
    """A statement that also reads what its sealed columns are bound to, behind its own `names`."""

    statement: Select[Any]
    names: tuple[str, ...]
    places: tuple[_Place, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyedTransaction(Transaction):
    """One short transaction of one tenant on a store whose content has keys."""

    master: MasterKey
    writes: bool
    held: dict[tuple[str, int], ScopeKey] = field(default_factory=dict)

    @property
    def is_keyed(self) -> bool:
        return True

    def rows(self, statement: Executable, params: Params | None = None) -> Rows:
        reading = _reading(statement)
        if reading is None:
            return Transaction.rows(self, statement, params)
        return _named(reading, self._opened(reading, Transaction.rows(self, reading.statement, params)))

    def tuples(self, statement: Executable, params: Params) -> Tuples:
        reading = _reading(statement)
        if reading is None:
            return Transaction.tuples(self, statement, params)
        return list(self._opened(reading, Transaction.tuples(self, reading.statement, params)))

    def first(self, statement: Executable, params: Params | None = None) -> Row[Any] | None:
        reading = _reading(statement)
        if reading is None:
            return Transaction.first(self, statement, params)
        row = Transaction.first(self, reading.statement, params)
        return None if row is None else _named(reading, self._opened(reading, [row]))[0]

    def partitions(self, statement: Select[Any], size: int) -> Iterator[list[dict[str, Any]]]:
        reading = _reading(statement)
        if reading is None:
            yield from Transaction.partitions(self, statement, size)
            return
        found = self.connection.execute(reading.statement, execution_options={"stream_results": True})
        for rows in found.partitions(size):
            yield [dict(zip(reading.names, values, strict=True)) for values in self._opened(reading, rows)]

    def run(self, statement: Executable, params: Params | Sequence[Params] | None = None) -> int:
        table = statement.table if isinstance(statement, Insert) else None
        if isinstance(table, Table) and table in SEALED:
            if not params:
                raise TypeError("rows with content are inserted with parameters, so that these can be sealed")
            if isinstance(params, Mapping):
                params = self.sealed(table, params)
            else:
                params = [self.sealed(table, row) for row in params]
        return Transaction.run(self, statement, params)

    def sought(self, column: KeyedColumnElement[Any], scope_id: int, value: Any) -> Any:
        key = self._key_if_used(scope_id)
        table = column.table
        if key is None or value is None or not isinstance(table, Table):
            return value  # nothing is there
        return _seal(key, SEALED[table][column.name], _label(table, column.name), value, ())

    def destroy_unused_keys(self, scope_ids: Iterable[int]) -> int:
        destroyed = 0
        for scope_id in sorted(set(scope_ids)):
            if not self._is_used(scope_id):
                self.held.pop((self.tenant, scope_id), None)
                destroyed += Transaction.run(self, _DESTROY, {"t": self.tenant, "s": scope_id})
        return destroyed

    def lost_keys(self, scope_ids: Iterable[int]) -> list[int]:
        return [scope_id for scope_id in scope_ids if self._key(scope_id) is None and self._is_used(scope_id)]

    def sealed(self, table: Table, row: Params) -> dict[str, Any]:
        """Return a row as it is stored; a key is made for a scope without one."""
        values: dict[str, Any] = dict(row)
        own = [row[name] for name in row_key(table)]
        key: ScopeKey | None = None
        for column, way in SEALED[table].items():
            value = values.get(column)
            if value is not None and not is_blank(value):
                key = key or self._key_if_used(values["scope_id"]) or self.new_key(values["scope_id"])
                values[column] = _seal(key, way, _label(table, column), value, own)
        return values

    def new_key(self, scope_id: int) -> ScopeKey:
        """Make the key of a scope, unless a transaction that runs at the same time is quicker."""
        key_id = os.urandom(_KEY_ID_BYTES)
        wrapped = self.master.wrap(os.urandom(KEY_BYTES), place_of_key(self.tenant, scope_id, key_id))
        row = {"tenant": self.tenant, "scope_id": scope_id, "key_id": key_id, "wrapped": wrapped}
        self.insert_new(content_key, row)
        found = self._key(scope_id)
        if found is None:  # whoever was quicker has destroyed it again
            raise ContentKeyLost
        return found

    def _key_if_used(self, scope_id: int) -> ScopeKey | None:
        """Return the key of a scope, None where nothing is; refuse to read, or add to, what nobody can open."""
        key = self._key(scope_id)
        if key is None and self._is_used(scope_id):
            raise ContentKeyLost
        return key

    def _is_used(self, scope_id: int) -> bool:
        row = Transaction.rows(self, _in_use(), {"tenant": self.tenant, "scope_id": scope_id})[0]
        return bool(row.is_used)

    def _key(self, scope_id: int) -> ScopeKey | None:
        known = self.held.get((self.tenant, scope_id))
        if known is not None:
            return known
        named = {"tenant": self.tenant, "scope_id": scope_id}
        if self.writes:
            Transaction.rows(self, _KEEP, named)  # a statement of its own: the next one sees what it waited for
        row = Transaction.first(self, _FIND, named)
        if row is None:
            return None
        try:
            raw = self.master.unwrap(row.wrapped, place_of_key(self.tenant, scope_id, row.key_id))
        except DoesNotOpen as error:
            raise StoreCorrupt(
                f"the content key of a scope of tenant {self.tenant!r} does not open: its row was changed or put in "
                "another's place; restore a backup"
            ) from error
        key = self.held[self.tenant, scope_id] = ScopeKey(raw, self.tenant, scope_id)
        return key

    def _opened(self, reading: _Reading, rows: Iterable[_Values]) -> Iterator[tuple[Any, ...]]:
        """Return rows with what was sealed in them, without what was read along."""
        width = len(reading.names)
        for row in rows:
            values = list(row)
            for place in reading.places:
                value = values[place.at]
                if value is not None and not is_blank(value):
                    values[place.at] = self._value(place, value, row)
            yield tuple(values[:width])

    def _value(self, place: _Place, value: str | bytes, row: _Values) -> str | bytes:
        own = [row[at] for at in place.row_at]
        key = self._key(row[place.scope_at])
        if key is None:
            raise ContentKeyLost
        try:
            return _open(key, place.way, place.label, value, own)
        except DoesNotOpen as error:
            named = next((id_text(part) for part in own if isinstance(part, bytes)), "")
            raise StoreCorrupt(
                f"{place.column!r} of the {place.table} {named!r} does not open with its key: it was changed, put in "
                "another's place or written without a key; restore a backup"
            ) from error


def _seal(key: ScopeKey, way: Way, label: bytes, value: Any, own: _Values) -> str | bytes:
    match way:
        case Way.CONTENT:
            return key.seal(value, label, own)
        case Way.NAME:
            return key.seal_name(value, label)
        case Way.MARK:
            return key.seal_mark(value)


def _open(key: ScopeKey, way: Way, label: bytes, value: Any, own: _Values) -> str | bytes:
    match way:
        case Way.CONTENT:
            return key.open(value, label, own)
        case Way.NAME:
            return key.open_name(value, label)
        case Way.MARK:
            return key.open_mark(value)


def _named(reading: _Reading, rows: Iterable[tuple[Any, ...]]) -> Rows:
    found: IteratorResult[Any] = IteratorResult(SimpleResultMetaData(reading.names), iter(rows))
    return found.all()


@cache
def _label(table: Table, column: str) -> bytes:
    return f"{table.name}.{column}".encode()


@cache
def _in_use() -> Select[Any]:
    """Tell whether anything is left that the key of a scope seals."""
    used = [
        exists().where(table.c.tenant == bindparam("tenant"), table.c.scope_id == bindparam("scope_id"))
        for table in SEALED
    ]
    return select(or_(*used).label("is_used"))


@lru_cache(maxsize=512)  # what is asked often is built once; the rest comes and goes
def _reading(statement: Executable) -> _Reading | None:
    """Return the statement that also reads what its sealed columns are bound to; None for one without any."""
    if isinstance(statement, UpdateBase):
        returned = [column["expr"] for column in statement.returning_column_descriptions]
        if any(_source(column) is not None for column in returned):
            raise TypeError("a sealed column is read with SELECT, not with RETURNING")
        return None
    if not isinstance(statement, Select):
        return None
    columns = list(statement.selected_columns)
    sources = [_source(column) for column in columns]
    if not any(sources):
        return None
    where: dict[Any, int] = {}
    for at, column in enumerate(columns):
        where.setdefault(column, at)
    more: list[ColumnElement[Any]] = []

    def position(column: ColumnElement[Any]) -> int:
        if column not in where:
            where[column] = len(columns) + len(more)
            more.append(column.label(f"_bound_{len(more)}"))
        return where[column]

    places = tuple(
        _Place(
            table=table.name,
            column=column.name,
            label=_label(table, column.name),
            way=SEALED[table][column.name],
            at=at,
            scope_at=position(column.table.c.scope_id),
            row_at=tuple(position(column.table.c[name]) for name in row_key(table)),
        )
        for at, source in enumerate(sources)
        if source is not None
        for table, column in [source]
    )
    return _Reading(statement.add_columns(*more), tuple(statement.selected_columns.keys()), places)


def _source(column: Any) -> tuple[Table, Column[Any]] | None:
    """Return the table, and the column of it or of its alias, that a column of a SELECT is; None for a plain one."""
    inner = column.element if isinstance(column, Label) else column
    if isinstance(inner, Column):
        source = inner.table.element if isinstance(inner.table, Alias) else inner.table
        if isinstance(source, Table):
            return (source, inner) if inner.name in SEALED.get(source, ()) else None
    bases = getattr(column, "base_columns", ())
    if any(isinstance(base, Column) and base.name in SEALED.get(base.table, ()) for base in bases):
        raise TypeError(f"{column} is sealed, and must be read from its table itself")
    return None

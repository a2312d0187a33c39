"""Comparing a column with thousands of ids at once, by one parameter.

A list of values in a statement costs more than the database takes to look them up: SQLAlchemy writes a placeholder for
each and looks at each value, all while no other thread of the process can run. One parameter that joins the ids is
taken apart by the database itself, where other threads go on.
"""

from collections.abc import Collection, Iterator, Set
from typing import Any, TypeAlias

from sqlalchemy import ColumnElement, Select, bindparam, literal_column
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import NullType

from retentia.store.database import Params, Transaction

IDS = "ids"
"""The parameter of a statement with `among`; `parcels` gives its values."""
_AT_ONCE = 4096
_ID_BYTES = 16

Parcel: TypeAlias = bytes | list[bytes]


class _Among(FunctionElement[bool]):
    name = "among"
    type = NullType()  # type: ignore[assignment]  # as a Boolean, SQLite would be asked whether it equals 1, and would use no index
    inherit_cache = True


def among(column: ColumnElement[bytes], *, width: int = _ID_BYTES) -> ColumnElement[bool]:
    """Say that a column of `width` bytes is one of the ids in the parameter `ids`."""
    return _Among(column, bindparam(IDS), literal_column(str(width)))


def parcels(transaction: Transaction, ids: Collection[bytes]) -> Iterator[Parcel]:
    """Cut ids into values for the parameter `ids`; in the order of a sequence, so that neighbours are read together."""
    ordered = sorted(ids) if isinstance(ids, Set) else list(ids)
    for at in range(0, len(ordered), _AT_ONCE):
        some = ordered[at : at + _AT_ONCE]
        yield b"".join(some) if transaction.dialect.name == "sqlite" else some


def each_or_all(
    transaction: Transaction, every: Select[Any], these: Select[Any], key: Params, ids: Collection[bytes] | None
) -> Iterator[Any]:
    """Yield the rows of a statement for some ids, `these`, or without ids of the one for all, `every`."""
    if ids is None:
        yield from transaction.rows(every, key)
        return
    for some in parcels(transaction, ids):
        yield from transaction.rows(these, {**key, IDS: some})


@compiles(_Among, "sqlite")
def _in_joined(element: _Among, compiler: SQLCompiler, **options: Any) -> str:
    given, joined, wide = element.clauses.clauses
    column, width = compiler.process(given, **options), compiler.process(wide, **options)
    # The parameter stands there twice, and each place must be written for itself.
    whole, cut = compiler.process(joined, **options), compiler.process(joined, **options)
    # Made of a column, of placeholders and of a number of ours: nothing that anyone said.
    steps = f"VALUES (1) UNION ALL SELECT at + {width} FROM part WHERE at + {width} <= length({whole})"  # noqa: S608
    return f"{column} IN (WITH RECURSIVE part(at) AS ({steps}) SELECT substr({cut}, at, {width}) FROM part)"  # noqa: S608


@compiles(_Among)
def _in_array(element: _Among, compiler: SQLCompiler, **options: Any) -> str:
    column, ids = (compiler.process(part, **options) for part in element.clauses.clauses[:2])
    return f"{column} = ANY({ids})"

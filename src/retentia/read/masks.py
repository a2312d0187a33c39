"""Filters as a mask over the passages of an index: they narrow inside the search, never after it."""

import json
from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from retentia.index.columns import Columns
from retentia.model.filters import Filter
from retentia.model.passage import IS_PAST
from retentia.model.record import RECALLED_KINDS, Kind
from retentia.read.query import Query
from retentia.store import beliefs, records
from retentia.store.database import Transaction
from retentia.store.records import RECORD_TABLES, View


def mask(
    columns: Columns, query: Query, transaction: Transaction, view: View, session_ids: set[bytes]
) -> NDArray[np.bool_]:
    """Mark the rows that the query's kinds, times, session and metadata filter allow."""
    allowed = np.ones(len(columns), dtype=bool)
    allowed &= columns.kind.is_any_of([kind.value for kind in query.kinds or RECALLED_KINDS])
    if query.since is not None:
        allowed &= columns.occurred_end.values > query.since
    if query.until is not None:
        allowed &= columns.occurred_start.values < query.until
    if query.as_of is not None:
        allowed &= columns.occurred_start.values <= query.as_of
        allowed &= ~columns.rows_of(beliefs.not_holding(transaction, view.scope_ids, query.as_of))
    if query.session is not None:
        allowed &= columns.thread.is_any_of(session_ids)
    if query.where is not None:
        allowed &= columns.rows_of(_matching(query.where, transaction, view)) if len(columns) else allowed
    return allowed


def everyday(columns: Columns, kinds: frozenset[Kind]) -> NDArray[np.bool_] | None:
    """Mark the rows of these kinds, which are all but a few; None where there is nothing else."""
    others = [kind for kind in columns.kind.labels if kind not in kinds]
    return ~columns.kind.is_any_of(others) if others else None


def without_past(columns: Columns, allowed: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
    """Take what no longer holds out of a mask; None allows all."""
    past: NDArray[np.bool_] = (columns.flags.values & IS_PAST) != 0
    return ~past if allowed is None else allowed & ~past


def without(
    columns: Columns, allowed: NDArray[np.bool_] | None, record_ids: Collection[bytes]
) -> NDArray[np.bool_] | None:
    """Take the rows of some records out of a mask; None allows all."""
    if not record_ids or not len(columns):
        return allowed
    rest = ~columns.rows_of(record_ids)
    return rest if allowed is None else allowed & rest


def _matching(where: Filter, transaction: Transaction, view: View) -> set[bytes]:
    found: set[bytes] = set()
    for table in RECORD_TABLES:
        for row in records.metadata_of(transaction, view, table):
            if where.matches(json.loads(row.metadata) if row.metadata else {}):
                found.add(row.id)
    return found

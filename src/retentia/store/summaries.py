"""Summaries of sessions: which stretches of a session are covered, and what is said of them.

The stretches of one level follow each other without overlap. They are derived from the messages in them: when one is
erased, every summary whose stretch holds it goes.
"""

import json
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Table, bindparam, delete, exists, func, insert, select

from retentia.model.ids import id_bytes, id_text
from retentia.model.summary import OVERVIEW_LEVEL, SEGMENT_LEVEL, SESSION_LEVEL, Summary
from retentia.model.turns import in_turns
from retentia.store import jobs
from retentia.store.among import IDS, among, parcels
from retentia.store.database import Transaction, batches
from retentia.store.schema import message, session, summary

_OF_SESSION = select(
    summary.c.level, summary.c.first_seq, summary.c.last_seq, summary.c.messages, summary.c.tokens
).where(
    summary.c.tenant == bindparam("tenant"),
    summary.c.scope_id == bindparam("scope_id"),
    summary.c.session_id == bindparam("session_id"),
)
_STRETCHES = _OF_SESSION.where(summary.c.level >= SEGMENT_LEVEL).order_by(summary.c.level.desc(), summary.c.first_seq)
_HIGHEST = (
    _OF_SESSION.where(summary.c.level >= SEGMENT_LEVEL)
    .order_by(summary.c.level.desc(), summary.c.first_seq.desc())
    .limit(2)
)
_OF_LEVEL = summary.alias("of_level")
_LAST_STARTED = (
    select(_OF_LEVEL.c.first_seq)
    .where(
        _OF_LEVEL.c.tenant == bindparam("tenant"),
        _OF_LEVEL.c.scope_id == bindparam("scope_id"),
        _OF_LEVEL.c.session_id == bindparam("session_id"),
        _OF_LEVEL.c.level == bindparam("level"),
        _OF_LEVEL.c.first_seq <= bindparam("reached"),
    )
    .order_by(_OF_LEVEL.c.first_seq.desc())
    .limit(1)
    .scalar_subquery()
)
# By their keys: rows are wide, and reading all of a long session to compare where they end takes milliseconds.
_ENDING_BEHIND = _OF_SESSION.where(
    summary.c.level == bindparam("level"),
    summary.c.first_seq >= func.coalesce(_LAST_STARTED, 0),
    summary.c.last_seq > bindparam("reached"),
).order_by(summary.c.first_seq)
_LAST_COVERED = (
    select(summary.c.last_seq)
    .where(
        summary.c.tenant == bindparam("tenant"),
        summary.c.scope_id == bindparam("scope_id"),
        summary.c.session_id == bindparam("session_id"),
        summary.c.level == SEGMENT_LEVEL,
    )
    .order_by(summary.c.first_seq.desc())
    .limit(1)
    .scalar_subquery()
)
_UNCOVERED = (
    select(message.c.seq)
    .where(
        message.c.tenant == bindparam("tenant"),
        message.c.scope_id == bindparam("scope_id"),
        message.c.session_id == bindparam("session_id"),
        message.c.seq > func.coalesce(_LAST_COVERED, 0),
    )
    .limit(bindparam("due_at"))
)
_PLACES = select(message.c.session_id, message.c.seq).where(
    message.c.tenant == bindparam("tenant"), message.c.scope_id == bindparam("scope_id"), among(message.c.id)
)
_COVERED = select(summary.c.level, summary.c.first_seq, summary.c.last_seq).where(
    summary.c.tenant == bindparam("tenant"),
    summary.c.scope_id == bindparam("scope_id"),
    summary.c.session_id == bindparam("session_id"),
)
_KEY = (
    summary.c.tenant == bindparam("tenant"),
    summary.c.scope_id == bindparam("scope_id"),
    summary.c.session_id == bindparam("session_id"),
    summary.c.level == bindparam("level"),
    summary.c.first_seq == bindparam("first_seq"),
)
_NAMES = tuple(summary.c.keys())
_ONE = select(summary).where(*_KEY)
_DELETE_ONE = delete(summary).where(*_KEY)
_DELETE_ORPHANS = delete(summary).where(
    summary.c.tenant == bindparam("tenant"),
    summary.c.scope_id == bindparam("scope_id"),
    among(summary.c.session_id),
    ~exists().where(
        session.c.tenant == summary.c.tenant,
        session.c.scope_id == summary.c.scope_id,
        session.c.id == summary.c.session_id,
    ),
)


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of a session that one summary covers, without what it says."""

    level: int
    first_seq: int
    last_seq: int
    messages: int
    tokens: int


def stretches(transaction: Transaction, scope_id: int, session_id: bytes) -> list[Stretch]:
    """Return what is covered in a session, the highest level first, each level in order."""
    key = {"tenant": transaction.tenant, "scope_id": scope_id, "session_id": session_id}
    return [Stretch(*row) for row in transaction.tuples(_STRETCHES, key)]


def standing(transaction: Transaction, scope_id: int, session_id: bytes) -> list[Stretch]:
    """Return what is covered without what lies below the overview, if there is one."""
    key = {"tenant": transaction.tenant, "scope_id": scope_id, "session_id": session_id}
    highest = [Stretch(*row) for row in transaction.tuples(_HIGHEST, key)]
    if not highest or highest[0].level != OVERVIEW_LEVEL:
        return stretches(transaction, scope_id, session_id)
    overview, *below = highest
    levels = range(below[0].level if below else 0, 0, -1)
    behind = (transaction.tuples(_ENDING_BEHIND, {**key, "level": at, "reached": overview.last_seq}) for at in levels)
    return [overview, *(Stretch(*row) for rows in behind for row in rows)]


def texts(transaction: Transaction, scope_id: int, session_id: bytes, wanted: Collection[Stretch]) -> list[Summary]:
    """Return the summaries of stretches, in the order of the session."""
    found: list[Summary] = []
    for one in sorted(wanted, key=lambda stretch: stretch.first_seq):
        key = {"tenant": transaction.tenant, "scope_id": scope_id, "session_id": session_id}
        rows = transaction.tuples(_ONE, {**key, "level": one.level, "first_seq": one.first_seq})
        found += map(_summary, rows)
    return found


def session_record(transaction: Transaction, scope_id: int, session_id: bytes) -> Summary | None:
    """Return the record of a session as its last checkpoint wrote it, or None."""
    statement = select(summary).where(*_of(transaction, scope_id, session_id), summary.c.level == SESSION_LEVEL)
    row = transaction.first(statement)
    return None if row is None else _summary(row)


def by_ids(transaction: Transaction, scope_id: int, ids: Collection[bytes]) -> dict[bytes, Summary]:
    """Return summaries of a scope by their ids; those that were made anew since are left out."""
    found: dict[bytes, Summary] = {}
    for some in batches(ids):
        statement = select(summary).where(*_within(summary, transaction, scope_id), summary.c.id.in_(some))
        found.update((bytes(row.id), _summary(row)) for row in transaction.rows(statement))
    return found


def latest_session_records(transaction: Transaction, scope_id: int, *, limit: int) -> list[tuple[bytes, Summary]]:
    """Return the records of the sessions with the latest messages, the latest first, each with its session."""
    statement = (
        select(summary)
        .where(*_within(summary, transaction, scope_id), summary.c.level == SESSION_LEVEL)
        .order_by(summary.c.ended_at.desc(), summary.c.id)
        .limit(limit)
    )
    return [(bytes(row.session_id), _summary(row)) for row in transaction.rows(statement)]


def add(transaction: Transaction, scope_id: int, session_id: bytes, made: Summary) -> None:
    """Write a summary; the scope must be locked, and nothing of its level may cover its stretch."""
    transaction.run(
        insert(summary),
        {
            "tenant": transaction.tenant,
            "scope_id": scope_id,
            "session_id": session_id,
            "level": made.level,
            "first_seq": made.first_seq,
            "last_seq": made.last_seq,
            "id": id_bytes(made.id),
            "text": made.text,
            "made_by": made.made_by,
            "messages": made.messages,
            "tokens": made.tokens,
            "started_at": made.started_at,
            "ended_at": made.ended_at,
            "created_at": made.created_at,
            "body": json.dumps(made.body, ensure_ascii=False) if made.body else None,
        },
    )


def put(transaction: Transaction, scope_id: int, session_id: bytes, made: Summary) -> None:
    """Write the one summary of its level, the record of a session or its overview, in the place of an earlier one."""
    transaction.run(delete(summary).where(*_of(transaction, scope_id, session_id), summary.c.level == made.level))
    add(transaction, scope_id, session_id, made)


def delete_covering(transaction: Transaction, scope_id: int, record_ids: Collection[bytes]) -> int:
    """Remove every summary whose stretch holds one of these messages; return how many."""
    removed = 0
    for session_id, places in _places(transaction, scope_id, record_ids).items():
        key = {"tenant": transaction.tenant, "scope_id": scope_id, "session_id": session_id}
        for level, first in _holding(transaction, scope_id, session_id, places):
            removed += transaction.run(_DELETE_ONE, {**key, "level": level, "first_seq": first})
    return removed


def count_covering(transaction: Transaction, scope_id: int, record_ids: Collection[bytes]) -> int:
    """Count the summaries whose stretch holds one of these messages."""
    places = _places(transaction, scope_id, record_ids)
    return sum(len(_holding(transaction, scope_id, session_id, some)) for session_id, some in places.items())


def delete_orphans(transaction: Transaction, scope_id: int, session_ids: Collection[bytes]) -> None:
    """Remove what is left of those of the sessions that are gone: summaries of nothing, which closed holes."""
    key = {"tenant": transaction.tenant, "scope_id": scope_id}
    for some in parcels(transaction, session_ids):
        transaction.run(_DELETE_ORPHANS, {**key, IDS: some})


def queue_due(transaction: Transaction, scope_id: int, ends: Mapping[bytes, int], due_at: int) -> None:
    """Queue the summary of sessions of which `due_at` messages or more have none; `ends` are their last places."""
    for session_id, end in ends.items():
        if end < due_at:
            continue
        key = {"tenant": transaction.tenant, "scope_id": scope_id, "session_id": session_id}
        if len(transaction.tuples(_UNCOVERED, {**key, "due_at": due_at})) == due_at:
            jobs.enqueue_once(transaction, jobs.SUMMARISE, scope_id, session_id)


def _places(transaction: Transaction, scope_id: int, record_ids: Collection[bytes]) -> dict[bytes, list[int]]:
    """Return where messages lie: their places by session, in order."""
    found: dict[bytes, list[int]] = {}
    key = {"tenant": transaction.tenant, "scope_id": scope_id}
    for some in parcels(transaction, record_ids):
        for session_id, place in in_turns(transaction.tuples(_PLACES, {**key, IDS: some})):
            found.setdefault(bytes(session_id), []).append(place)
    return {session_id: sorted(places) for session_id, places in found.items()}


def _holding(
    transaction: Transaction, scope_id: int, session_id: bytes, places: Sequence[int]
) -> list[tuple[int, int]]:
    """Return level and first place of the summaries of a session whose stretch holds one of the places, in order."""
    key = {"tenant": transaction.tenant, "scope_id": scope_id, "session_id": session_id}
    return [
        (level, first)
        for level, first, last in transaction.tuples(_COVERED, key)
        if bisect_left(places, first) < bisect_right(places, last)
    ]


def _within(table: Table, transaction: Transaction, scope_id: int) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return table.c.tenant == transaction.tenant, table.c.scope_id == scope_id


def _of(transaction: Transaction, scope_id: int, session_id: bytes) -> tuple[ColumnElement[bool], ...]:
    return (*_within(summary, transaction, scope_id), summary.c.session_id == session_id)


def _summary(values: Sequence[Any]) -> Summary:
    row = dict(zip(_NAMES, values, strict=True))
    return Summary(
        id=id_text(row["id"]),
        level=row["level"],
        first_seq=row["first_seq"],
        last_seq=row["last_seq"],
        text=row["text"],
        made_by=row["made_by"],
        messages=row["messages"],
        tokens=row["tokens"],
        started_at=row["started_at"],
        ended_at=row["ended_at"],
        created_at=row["created_at"],
        body=json.loads(row["body"]) if row["body"] else {},
    )

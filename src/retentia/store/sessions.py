"""Sessions: one stretch of conversation, whose records are numbered in the order they were written."""

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Table, bindparam, delete, exists, func, or_, select, update

from retentia.model.ids import RecordId, new_id_bytes
from retentia.store import jobs
from retentia.store.among import IDS, among, parcels
from retentia.store.bulk import insert_many
from retentia.store.database import Transaction, batches
from retentia.store.schema import bin_record, bin_session, job, message, session, tool_call

_COLUMNS = [column.name for column in session.c]  # which a session in the bin has, too
_FIND = select(session.c.id).where(
    session.c.tenant == bindparam("tenant"),
    session.c.scope_id == bindparam("scope_id"),
    session.c.name == bindparam("name"),
)
_KEPT = select(bin_session.c.id).where(
    bin_session.c.tenant == bindparam("tenant"),
    bin_session.c.scope_id == bindparam("scope_id"),
    bin_session.c.name == bindparam("name"),
)
_TAKE = (
    update(session)
    .where(session.c.tenant == bindparam("t"), session.c.scope_id == bindparam("s"), session.c.id == bindparam("i"))
    .values(next_seq=session.c.next_seq + bindparam("count"), last_at=bindparam("now"))
    .returning(session.c.next_seq)
)


def _has(table: Table) -> ColumnElement[bool]:
    return exists().where(
        table.c.tenant == session.c.tenant,
        table.c.scope_id == session.c.scope_id,
        table.c.session_id == session.c.id,
    )


_EMPTY = (
    session.c.tenant == bindparam("tenant"),
    session.c.scope_id == bindparam("scope_id"),
    among(session.c.id),
    ~or_(_has(message), _has(tool_call)),
)
_EMPTY_AND_KEPT = select(session).where(*_EMPTY, _has(bin_record))
_DELETE_EMPTY = delete(session).where(*_EMPTY)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSummary:
    """A line of a session listing; times in UTC microseconds."""

    id: bytes
    name: str
    scope_id: int
    started_at: int
    last_at: int
    ended_at: int | None
    messages: int


def find(transaction: Transaction, scope_id: int, name: str) -> bytes | None:
    """Return the id of a session, or None."""
    sought = transaction.sought(session.c.name, scope_id, name)
    rows = transaction.tuples(_FIND, {"tenant": transaction.tenant, "scope_id": scope_id, "name": sought})
    return bytes(rows[0][0]) if rows else None


def named(
    transaction: Transaction, scope_id: int, session_ids: Collection[bytes]
) -> dict[bytes, tuple[str, int | None]]:
    """Return the names of sessions, and when each ended: None while it goes on."""
    found: dict[bytes, tuple[str, int | None]] = {}
    for some in batches(session_ids):
        statement = select(session.c.id, session.c.name, session.c.last_at, session.c.ended_at).where(
            session.c.tenant == transaction.tenant, session.c.scope_id == scope_id, session.c.id.in_(some)
        )
        for row in transaction.rows(statement):
            has_ended = row.ended_at is not None and row.ended_at >= row.last_at
            found[bytes(row.id)] = (row.name, row.ended_at if has_ended else None)
    return found


def ensure(transaction: Transaction, scope_id: int, name: str) -> bytes:
    """Return the id of a session, beginning it when it is new."""
    known = find(transaction, scope_id, name)
    return begin(transaction, scope_id, name) if known is None else known


def begin(transaction: Transaction, scope_id: int, name: str) -> bytes:
    """Begin a session that was not there; return its id, or that of whoever was faster.

    One of which everything lies in the bin goes on, so that what is restored finds its place.
    """
    if (known := revive(transaction, scope_id, name)) is not None:
        return known
    session_id = new_id_bytes()
    fresh = {"id": session_id, "next_seq": 1, "started_at": transaction.now, "last_at": transaction.now}
    key = {"tenant": transaction.tenant, "scope_id": scope_id, "name": name}
    if transaction.insert_new(session, {**key, **fresh}):
        return session_id
    sought = transaction.sought(session.c.name, scope_id, name)
    return bytes(transaction.rows(_FIND, {**key, "name": sought})[0].id)


def take_numbers(transaction: Transaction, scope_id: int, session_id: bytes, count: int) -> int:
    """Reserve `count` places at the end of a session; return the first."""
    parameters = {"t": transaction.tenant, "s": scope_id, "i": session_id, "count": count, "now": transaction.now}
    return transaction.number(_TAKE, parameters) - count


def end(transaction: Transaction, scope_id: int, session_id: bytes) -> None:
    """Note that a session has ended; what is written to it later opens it again."""
    transaction.run(update(session).where(*_is(transaction, scope_id, session_id)).values(ended_at=transaction.now))


def learned_until(transaction: Transaction, scope_id: int, session_id: bytes) -> int | None:
    """Return the place up to which a model has learned from a session, 0 for none; None where there is no session."""
    row = transaction.first(select(session.c.learned_seq).where(*_is(transaction, scope_id, session_id)))
    return None if row is None else int(row.learned_seq)


def note_learned(transaction: Transaction, scope_id: int, session_id: bytes, *, after: int, until: int) -> bool:
    """Note that a model has learned from (after, until]; False where someone else has meanwhile, or it is gone."""
    here = (*_is(transaction, scope_id, session_id), session.c.learned_seq == after)
    return transaction.run(update(session).where(*here).values(learned_seq=until)) == 1


def queue_learning(transaction: Transaction, scope_id: int, session_id: bytes) -> RecordId | None:
    """Queue that a model learns from a session, unless that waits already; return the id of the job that waits.

    None where nothing is new. The scope must be locked.
    """
    unread = exists().where(
        message.c.tenant == session.c.tenant,
        message.c.scope_id == session.c.scope_id,
        message.c.session_id == session.c.id,
        message.c.seq > session.c.learned_seq,
    )
    if transaction.first(select(session.c.id).where(*_is(transaction, scope_id, session_id), unread)) is None:
        return None
    return jobs.enqueue_or_revive(transaction, jobs.UNDERSTAND, scope_id, session_id)


def idle(transaction: Transaction, *, since: int, limit: int) -> list[tuple[int, bytes]]:
    """Return sessions to which nothing was written since a time, whose end was not noted and that have no job to do it.

    They come as (scope, id), the longest idle first.
    """
    is_open = or_(session.c.ended_at.is_(None), session.c.ended_at < session.c.last_at)
    has_job = exists().where(
        job.c.tenant == session.c.tenant,
        job.c.scope_id == session.c.scope_id,
        job.c.kind == jobs.CLOSE,
        job.c.record_ids == session.c.id,
    )
    statement = (
        select(session.c.scope_id, session.c.id)
        .where(session.c.tenant == transaction.tenant, session.c.last_at < since, is_open, ~has_job)
        .order_by(session.c.last_at)
        .limit(limit)
    )
    return [(row.scope_id, bytes(row.id)) for row in transaction.rows(statement)]


def listing(transaction: Transaction, scope_ids: list[int], *, limit: int) -> list[SessionSummary]:
    """Return the sessions of a view, the most recent first."""
    counted = (
        select(message.c.scope_id, message.c.session_id, func.count().label("messages"))
        .where(message.c.tenant == transaction.tenant, message.c.scope_id.in_(scope_ids))
        .group_by(message.c.scope_id, message.c.session_id)
        .subquery()
    )
    statement = (
        select(session, func.coalesce(counted.c.messages, 0).label("messages"))
        .outerjoin(counted, (counted.c.scope_id == session.c.scope_id) & (counted.c.session_id == session.c.id))
        .where(session.c.tenant == transaction.tenant, session.c.scope_id.in_(scope_ids))
        .order_by(session.c.last_at.desc(), session.c.id)
        .limit(limit)
    )
    return [
        SessionSummary(
            id=row.id,
            name=row.name,
            scope_id=row.scope_id,
            started_at=row.started_at,
            last_at=row.last_at,
            ended_at=row.ended_at,
            messages=row.messages,
        )
        for row in transaction.rows(statement)
    ]


def revive(transaction: Transaction, scope_id: int, name: str) -> bytes | None:
    """Let a session go on of which everything lies in the bin; return its id, or None when there is none."""
    sought = transaction.sought(bin_session.c.name, scope_id, name)
    found = transaction.first(_KEPT, {"tenant": transaction.tenant, "scope_id": scope_id, "name": sought})
    if found is None:
        return None
    bring_back(transaction, scope_id, [bytes(found.id)])
    return bytes(found.id)


def bring_back(transaction: Transaction, scope_id: int, session_ids: Collection[bytes]) -> None:
    """Take sessions out of the bin; those that are not there are left alone."""
    here = (bin_session.c.tenant == transaction.tenant) & (bin_session.c.scope_id == scope_id)
    for some in batches(session_ids):
        rows = transaction.rows(select(bin_session).where(here, bin_session.c.id.in_(some)))
        insert_many(transaction, session, [{name: getattr(row, name) for name in _COLUMNS} for row in rows])
        transaction.run(delete(bin_session).where(here, bin_session.c.id.in_(some)))


def is_kept(transaction: Transaction, scope_id: int, session_id: bytes) -> bool:
    """Tell whether a session lies in the bin."""
    statement = select(bin_session.c.id).where(
        bin_session.c.tenant == transaction.tenant,
        bin_session.c.scope_id == scope_id,
        bin_session.c.id == session_id,
    )
    return bool(transaction.rows(statement))


def drop_kept(transaction: Transaction, scope_id: int) -> int:
    """Delete the sessions in the bin of which no record lies there any more; return how many."""
    here = (bin_session.c.tenant == transaction.tenant) & (bin_session.c.scope_id == scope_id)
    used = exists().where(
        bin_record.c.tenant == bin_session.c.tenant,
        bin_record.c.scope_id == bin_session.c.scope_id,
        bin_record.c.session_id == bin_session.c.id,
    )
    return transaction.run(delete(bin_session).where(here, ~used))


def delete_empty(transaction: Transaction, scope_id: int, session_ids: Collection[bytes]) -> int:
    """Remove those of the sessions in which nothing is left: a name may tell what was said. Return how many.

    Those of which something lies in the bin go there, too.
    """
    gone = 0
    for some in parcels(transaction, session_ids):
        key = {"tenant": transaction.tenant, "scope_id": scope_id, IDS: some}
        kept = transaction.rows(_EMPTY_AND_KEPT, key)
        insert_many(transaction, bin_session, [{name: getattr(row, name) for name in _COLUMNS} for row in kept])
        gone += transaction.run(_DELETE_EMPTY, key)
    return gone


def _is(transaction: Transaction, scope_id: int, session_id: bytes) -> tuple[ColumnElement[bool], ...]:
    return session.c.tenant == transaction.tenant, session.c.scope_id == scope_id, session.c.id == session_id

"""The queue: a row per job in the same database, enqueued in the transaction that made it necessary.

A job holds ids only. Whoever claims it gets a lease and a fence; a result is accepted only with the newest fence, so
a worker that was paused past its lease cannot write over the one that took over.

A cancelled job is no longer there for anyone but the sweeper, which must not queue again what a person gave up.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import ColumnElement, Row, and_, bindparam, delete, func, insert, select, text, update

from retentia.errors import JobLost, NotFound
from retentia.model.ids import RecordId, id_bytes, id_text, new_id_bytes
from retentia.store.database import Transaction, batches
from retentia.store.schema import due, job
from retentia.store.scopes import NEVER, split_ids

EMBED = "embed"
"""The kind of job that gives records their vectors."""
LEARN = "learn"
"""The kind of job that learns by rules from messages that came in bulk."""
UNDERSTAND = "understand"
"""The kind of job that lets a model learn from what is new in a session; its one id is the session's."""
SUMMARISE = "summarise"
"""The kind of job that summarises what is due in a session; its one id is the session's."""
CHECKPOINT = "checkpoint"
"""The kind of job that summarises all of a session and writes its record."""
CLOSE = "close"
"""The kind of job that does the same for a session that has ended."""
RECORDS_A_JOB = 256
LEASE = 60_000_000
"""How long a worker may take before its job is given to another, in microseconds."""
MAX_ATTEMPTS = 8
_BACKOFF = 2_000_000
_LONGEST_BACKOFF = 600_000_000

JobState = Literal["queued", "leased", "dead"]

_CANCELLED = "cancelled"
_THERE = job.c.state != _CANCELLED
_LIVE = job.c.state.in_(("queued", "leased"))
_CLAIMABLE = _LIVE & (job.c.next_at <= bindparam("now"))
_NEXT_AT = select(func.coalesce(func.min(job.c.next_at), NEVER)).where(job.c.tenant == bindparam("tenant"), _LIVE)

_ENQUEUE = insert(job)
_NOTE_DUE = text(
    "INSERT INTO due (tenant, next_at) VALUES (:tenant, :next_at) "
    "ON CONFLICT (tenant) DO UPDATE SET next_at = excluded.next_at WHERE due.next_at > excluded.next_at"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One piece of work: what kind, for which records of which scope. Times in UTC microseconds."""

    id: RecordId
    tenant: str
    kind: str
    scope_id: int
    record_ids: tuple[bytes, ...]
    state: JobState
    attempts: int
    fence: int
    next_at: int
    created_at: int
    error: str


def enqueue(transaction: Transaction, kind: str, scope_id: int, record_ids: Iterable[bytes]) -> RecordId:
    """Queue work in the transaction that makes it necessary; return the job's id."""
    job_id = new_id_bytes()
    transaction.run(
        _ENQUEUE,
        {
            "tenant": transaction.tenant,
            "id": job_id,
            "kind": kind,
            "scope_id": scope_id,
            "record_ids": b"".join(record_ids),
            "next_at": transaction.now,
            "created_at": transaction.now,
        },
    )
    _note_due(transaction, transaction.now)
    return id_text(job_id)


def enqueue_all(
    transaction: Transaction, kind: str, scope_id: int, record_ids: Iterable[bytes]
) -> tuple[RecordId, ...]:
    """Queue work on any number of records, at most `RECORDS_A_JOB` in one job; return the ids of the jobs."""
    ids = list(record_ids)
    return tuple(
        enqueue(transaction, kind, scope_id, ids[at : at + RECORDS_A_JOB]) for at in range(0, len(ids), RECORDS_A_JOB)
    )


def enqueue_once(transaction: Transaction, kind: str, scope_id: int, record_id: bytes) -> RecordId | None:
    """Queue work on one thing unless the same is waiting; return the id of the job, or None.

    The scope must be locked. A job that is being done does not count: what it has read may be older than this.
    """
    if waiting(transaction, kind, scope_id, record_id) is not None:
        return None
    return enqueue(transaction, kind, scope_id, [record_id])


def enqueue_or_revive(transaction: Transaction, kind: str, scope_id: int, record_id: bytes) -> RecordId:
    """Queue work on one thing unless the same is waiting; where it has failed for good, it gets all its attempts anew.

    Return the id of the job. The scope must be locked.
    """
    if dead := of_record(transaction, kind, scope_id, record_id, state="dead"):
        retry(transaction, dead[0].id)
        return dead[0].id
    known = waiting(transaction, kind, scope_id, record_id)
    return enqueue(transaction, kind, scope_id, [record_id]) if known is None else known


def of_record(
    transaction: Transaction, kind: str, scope_id: int, record_id: bytes, *, state: JobState | None = None
) -> list[Job]:
    """Return the unfinished jobs of a kind on one thing, the oldest first."""
    statement = select(job).where(
        job.c.tenant == transaction.tenant,
        job.c.kind == kind,
        job.c.scope_id == scope_id,
        job.c.record_ids == record_id,
        _THERE if state is None else job.c.state == state,
    )
    return [_job(row) for row in transaction.rows(statement.order_by(job.c.created_at, job.c.id))]


def of_kind(transaction: Transaction, kind: str) -> list[Job]:
    """Return the tenant's unfinished jobs of a kind, the oldest first."""
    statement = select(job).where(job.c.tenant == transaction.tenant, job.c.kind == kind, _THERE)
    return [_job(row) for row in transaction.rows(statement.order_by(job.c.created_at, job.c.id))]


def waiting(transaction: Transaction, kind: str, scope_id: int, record_id: bytes) -> RecordId | None:
    """Return the id of the job on one thing that waits to be begun, or None."""
    same = select(job.c.id).where(
        job.c.tenant == transaction.tenant,
        job.c.kind == kind,
        job.c.scope_id == scope_id,
        job.c.record_ids == record_id,
        job.c.state == "queued",
    )
    row = transaction.first(same)
    return None if row is None else id_text(row.id)


def tenants_due(transaction: Transaction) -> list[str]:
    """Return the tenants that may have work, those waiting longest first. A hint: it may be early, never late."""
    statement = select(due.c.tenant).where(due.c.next_at <= transaction.now).order_by(due.c.next_at)
    return [str(row.tenant) for row in transaction.rows(statement)]


def tenants(transaction: Transaction) -> list[str]:
    """Return every tenant that has ever written, in order of name."""
    return [str(row.tenant) for row in transaction.rows(select(due.c.tenant).order_by(due.c.tenant))]


def has_due(transaction: Transaction, kinds: tuple[str, ...]) -> bool:
    """Tell whether the transaction's tenant has a due job of these kinds, or none at all that is due: look closer."""
    statement = select(job.c.kind).where(job.c.tenant == transaction.tenant, _CLAIMABLE).distinct()
    due_kinds = {row.kind for row in transaction.rows(statement, {"now": transaction.now})}
    return not due_kinds or not due_kinds.isdisjoint(kinds)


def claim(transaction: Transaction, kinds: tuple[str, ...], *, limit: int = 1, lease: int = LEASE) -> list[Job]:
    """Lease the oldest due jobs of the transaction's tenant; an expired lease counts as due.

    A lease lasts `lease` microseconds.

    A job that was claimed too often without being finished becomes dead and is not returned.
    """
    chosen = (
        select(job.c.id)
        .where(job.c.tenant == transaction.tenant, job.c.kind.in_(kinds), _CLAIMABLE)
        .order_by(job.c.next_at, job.c.id)
        .limit(limit)
        .with_for_update(skip_locked=True)
    )
    found = [bytes(row.id) for row in transaction.rows(chosen, {"now": transaction.now})]
    if not found:
        repair_due(transaction)
        return []
    leased = sorted(_lease(transaction, found, lease), key=lambda taken: found.index(id_bytes(taken.id)))
    exhausted = [taken for taken in leased if taken.attempts > MAX_ATTEMPTS]
    if exhausted:
        _bury(transaction, exhausted)
    return [taken for taken in leased if taken.attempts <= MAX_ATTEMPTS]


def hold(transaction: Transaction, held: Job, *, lease: int = LEASE) -> None:
    """Lease a job for longer; raise JobLost when another worker has taken it over."""
    if transaction.run(update(job).where(_held(transaction, held)).values(next_at=transaction.now + lease)) == 0:
        raise JobLost


def finish(transaction: Transaction, done: Job) -> None:
    """Remove a finished job; raise JobLost when another worker has taken it over."""
    if transaction.run(delete(job).where(_held(transaction, done))) == 0:
        raise JobLost


def fail(transaction: Transaction, failed: Job, error: str) -> JobState:
    """Give a job back for a later attempt, or to the dead letters after the last; return what it became."""
    is_last = failed.attempts >= MAX_ATTEMPTS
    state: JobState = "dead" if is_last else "queued"
    next_at = transaction.now + min(_BACKOFF * 2 ** (failed.attempts - 1), _LONGEST_BACKOFF)
    changed = update(job).where(_held(transaction, failed)).values(state=state, next_at=next_at, error=error[:500])
    if transaction.run(changed) == 0:
        raise JobLost
    _note_due(transaction, next_at)
    return state


def postpone(transaction: Transaction, held: Job, until: int) -> None:
    """Give a job back until a time without counting the attempt; raise JobLost when another worker has it by now."""
    later = (
        update(job).where(_held(transaction, held)).values(state="queued", attempts=job.c.attempts - 1, next_at=until)
    )
    if transaction.run(later) == 0:
        raise JobLost
    _note_due(transaction, until)


def listing(transaction: Transaction, *, state: JobState | None = None) -> list[Job]:
    """Return the tenant's unfinished jobs, the oldest first."""
    statement = select(job).where(job.c.tenant == transaction.tenant, _THERE).order_by(job.c.created_at, job.c.id)
    if state is not None:
        statement = statement.where(job.c.state == state)
    return [_job(row) for row in transaction.rows(statement)]


def find(transaction: Transaction, job_id: RecordId) -> Job | None:
    """Return a job that is not finished, or None."""
    row = transaction.first(select(job).where(job.c.tenant == transaction.tenant, job.c.id == id_bytes(job_id), _THERE))
    return None if row is None else _job(row)


def retry(transaction: Transaction, job_id: RecordId) -> None:
    """Queue a dead or waiting job again, with all its attempts; raise NotFound."""
    changed = (
        update(job)
        .where(job.c.tenant == transaction.tenant, job.c.id == id_bytes(job_id), _THERE)
        .values(state="queued", attempts=0, next_at=transaction.now, fence=job.c.fence + 1)
    )
    if transaction.run(changed) == 0:
        raise NotFound(f"there is no job {job_id!r}")
    _note_due(transaction, transaction.now)


def cancel(transaction: Transaction, job_id: RecordId) -> None:
    """Give a job up for good, whatever its state; raise NotFound."""
    changed = (
        update(job)
        .where(job.c.tenant == transaction.tenant, job.c.id == id_bytes(job_id), _THERE)
        .values(state=_CANCELLED, fence=job.c.fence + 1)
    )
    if transaction.run(changed) == 0:
        raise NotFound(f"there is no job {job_id!r}")


def held_records(transaction: Transaction, kind: str, scope_id: int) -> set[bytes]:
    """Return the records of a scope that have a job: one that will be done, is dead, or was given up."""
    statement = select(job.c.record_ids).where(
        job.c.tenant == transaction.tenant, job.c.kind == kind, job.c.scope_id == scope_id
    )
    return {record_id for row in transaction.rows(statement) for record_id in split_ids(row.record_ids)}


def states(transaction: Transaction, job_ids: Iterable[RecordId]) -> set[JobState]:
    """Return the states of those of the jobs that are not finished."""
    found: set[JobState] = set()
    for some in batches(id_bytes(job_id) for job_id in job_ids):
        statement = select(job.c.state).where(job.c.tenant == transaction.tenant, job.c.id.in_(some), _THERE)
        found.update(row.state for row in transaction.rows(statement))
    return found


def count_unfinished(transaction: Transaction) -> int:
    """Count the tenant's jobs that are queued or leased."""
    return transaction.number(select(func.count()).select_from(job).where(job.c.tenant == transaction.tenant, _LIVE))


def is_due_late(transaction: Transaction) -> bool:
    """Tell whether the hint of when the tenant may have work is missing, or later than its next job."""
    noted = transaction.first(select(due.c.next_at).where(due.c.tenant == transaction.tenant))
    return noted is None or noted.next_at > transaction.number(_NEXT_AT, {"tenant": transaction.tenant})


def repair_due(transaction: Transaction) -> None:
    """Set the hint of when the tenant may have work to the next job that is really waiting.

    Whoever is queueing a job holds the hint until it is committed, so the job is either seen here or notes itself
    afterwards.
    """
    transaction.insert_new(due, {"tenant": transaction.tenant, "next_at": NEVER})
    here = due.c.tenant == transaction.tenant
    transaction.rows(select(due.c.next_at).where(here).with_for_update())
    next_at = transaction.number(_NEXT_AT, {"tenant": transaction.tenant})
    transaction.run(update(due).where(here).values(next_at=next_at))


def _lease(transaction: Transaction, job_ids: Sequence[bytes], lease: int) -> list[Job]:
    taken = (
        update(job)
        .where(job.c.tenant == transaction.tenant, job.c.id.in_(job_ids))
        .values(state="leased", attempts=job.c.attempts + 1, fence=job.c.fence + 1, next_at=transaction.now + lease)
        .returning(job)
    )
    return [_job(row) for row in transaction.rows(taken)]


def _bury(transaction: Transaction, exhausted: Sequence[Job]) -> None:
    ids = [id_bytes(taken.id) for taken in exhausted]
    transaction.run(
        update(job)
        .where(job.c.tenant == transaction.tenant, job.c.id.in_(ids))
        .values(state="dead", error="claimed too often without being finished")
    )


def _held(transaction: Transaction, leased: Job) -> ColumnElement[bool]:
    return and_(
        job.c.tenant == transaction.tenant,
        job.c.id == id_bytes(leased.id),
        job.c.fence == leased.fence,
        job.c.state == "leased",
    )


def _note_due(transaction: Transaction, next_at: int) -> None:
    """Keep the hint early enough: it names the earliest time at which a tenant may have work.

    PostgreSQL locks the row even when it stays as it is; `repair_due` relies on that.
    """
    transaction.run(_NOTE_DUE, {"tenant": transaction.tenant, "next_at": next_at})


def _job(row: Row[Any]) -> Job:
    return Job(
        id=id_text(row.id),
        tenant=row.tenant,
        kind=row.kind,
        scope_id=row.scope_id,
        record_ids=tuple(split_ids(row.record_ids)),
        state=row.state,
        attempts=row.attempts,
        fence=row.fence,
        next_at=row.next_at,
        created_at=row.created_at,
        error=row.error,
    )

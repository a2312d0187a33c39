"""Sessions that ended without saying so, by a crash, a dropped connection or silence, are closed by the sweep."""

from collections.abc import Callable

from retentia.store import jobs, scopes, sessions
from retentia.store.database import Database
from retentia.working.settings import WorkingSettings

_AT_ONCE = 50
_MINUTE = 60_000_000


def close_idle(
    database: Database, working: WorkingSettings, *, learns: bool = False, stop: Callable[[], bool] = lambda: False
) -> int:
    """Queue the closing of idle sessions, of every tenant until `stop` says so, a bounded number each; return how many.

    With `learns`, a model learns from them, too. A session whose closing waits, failed for good or was given up is left
    alone.
    """
    if working.idle_minutes is None or not working.summary.due_at:
        return 0
    idle = round(working.idle_minutes * _MINUTE)
    with database.read("") as transaction:
        tenants = jobs.tenants(transaction)
    return sum(_close_of(database, tenant, idle, learns=learns) for tenant in tenants if not stop())


def _close_of(database: Database, tenant: str, idle: int, *, learns: bool) -> int:
    with database.read(tenant) as transaction:
        found = sessions.idle(transaction, since=transaction.now - idle, limit=_AT_ONCE)
    if not found:
        return 0
    with database.write(tenant) as transaction:
        scopes.lock(transaction, [scope_id for scope_id, _ in found])
        for scope_id, one in sorted(found) if learns else ():
            sessions.queue_learning(transaction, scope_id, one)
        queued = [jobs.enqueue_once(transaction, jobs.CLOSE, scope_id, one) for scope_id, one in sorted(found)]
    return sum(job is not None for job in queued)

"""The sweep: what waits for a vector and lost its job is queued again.

A job row can vanish behind our back: a restored backup of one table, a hand in the database, a fault of ours. Without a
sweep its records would be found by their words only, for ever. Jobs that are dead, or were cancelled, are left to the
person who looks after the store.
"""

from collections.abc import Callable, Collection

from retentia.model.scope import Scope
from retentia.store import generations, jobs, passages, records, scopes
from retentia.store.database import Database
from retentia.store.records import View


def sweep_all(database: Database, fillable: Collection[int], *, stop: Callable[[], bool] = lambda: False) -> int:
    """Queue again what lost its job, of every tenant until `stop` says so; return how many records."""
    if not fillable:
        return 0
    with database.read("") as transaction:
        tenants = jobs.tenants(transaction)
    return sum(sweep(database, tenant, fillable) for tenant in tenants if not stop())


def sweep(database: Database, tenant: str, fillable: Collection[int]) -> int:
    """Queue again what one tenant lost, if its vectors are of a generation we can fill; return how many records.

    Looking takes no lock. Several processes may sweep at once: a record is queued by one of them.
    """
    with database.read(tenant) as transaction:
        serving = generations.serving(transaction)
        named = scopes.all_scopes(transaction)
        is_late = jobs.is_due_late(transaction)
    if is_late:
        with database.write(tenant) as transaction:
            jobs.repair_due(transaction)
    if serving is None or serving.id not in fillable:
        return 0
    return sum(_sweep_scope(database, scope_id, name, serving.id) for scope_id, name in named)


def _sweep_scope(database: Database, scope_id: int, name: Scope, generation: int) -> int:
    with database.read(name.tenant) as transaction:
        pending = passages.without_vector(transaction, scope_id, generation)
        if not pending:
            return 0
        lost = set(pending) - jobs.held_records(transaction, jobs.EMBED, scope_id)
        alive = records.kinds_of(transaction, View({scope_id: name}), lost)  # a passage may be all that is left
    found = sorted(record_id for ids in alive.values() for record_id in ids)
    batches = [found[at : at + jobs.RECORDS_A_JOB] for at in range(0, len(found), jobs.RECORDS_A_JOB)]
    return sum(_queue(database, name.tenant, scope_id, batch) for batch in batches)


def _queue(database: Database, tenant: str, scope_id: int, lost: list[bytes]) -> int:
    with database.write(tenant) as transaction:
        scopes.lock(transaction, [scope_id])  # another sweep at the same time is before us, or after
        still = sorted(set(lost) - jobs.held_records(transaction, jobs.EMBED, scope_id))
        if still:
            jobs.enqueue(transaction, jobs.EMBED, scope_id, still)
        return len(still)

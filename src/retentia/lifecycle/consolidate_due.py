"""Consolidating every scope of every tenant once in so many days, some scopes at a time, wherever a worker runs."""

import logging
from datetime import timedelta

from retentia.lifecycle.consolidate import Consolidator
from retentia.model.scope import Scope
from retentia.store import jobs, scopes, tenant_settings
from retentia.store.database import Database

SCOPES_A_RUN = 20
_log = logging.getLogger("retentia.consolidation")
_DAY = 86_400_000_000


def consolidate_due(database: Database, consolidator: Consolidator, *, every_days: int, undo_for: timedelta) -> int:
    """Consolidate scopes whose tenant is due, at most SCOPES_A_RUN of each; return how many scopes.

    A tenant is first due so many days after its first scope was made. How far a run has come is kept, so that one that
    was interrupted goes on; the scope it was at is done again, which is harmless.
    """
    with database.read("") as transaction:
        tenants = jobs.tenants(transaction)
    return sum(_of_tenant(database, consolidator, tenant, every_days * _DAY, undo_for) for tenant in tenants)


def _of_tenant(database: Database, consolidator: Consolidator, tenant: str, every: int, undo_for: timedelta) -> int:
    done = 0
    while done < SCOPES_A_RUN and (found := _next(database, tenant, every)) is not None:
        scope_id, scope = found
        if scope is not None:
            made = consolidator.run(scope, undo_for=undo_for)
            if not made.is_empty:
                _log.info("consolidated: %d merged, %d topics", len(made.merged), len(made.topics))
            done += 1
        _note(database, tenant, scope_id)
    return done


def _next(database: Database, tenant: str, every: int) -> tuple[int, Scope | None] | None:
    """Return the scope that is next, (0, None) at the end of a run, None where nothing is due."""
    with database.read(tenant) as transaction:
        settings = tenant_settings.load(transaction)
        since = settings.consolidated_at or scopes.first_made_at(transaction)
        if since is None or (not settings.next_scope and transaction.now - since < every):
            return None
        left = sorted(one for one in scopes.all_scopes(transaction) if one[0] >= settings.next_scope)
    return left[0] if left else (0, None)


def _note(database: Database, tenant: str, done: int) -> None:
    with database.write(tenant) as transaction:
        earlier = tenant_settings.load(transaction)
        if not done:
            tenant_settings.note_consolidated(transaction, at=transaction.now, next_scope=0)
        elif done >= earlier.next_scope:
            tenant_settings.note_consolidated(transaction, at=earlier.consolidated_at, next_scope=done + 1)

"""Keeping records as long as the schedule says: what has expired goes, what is due for review is listed.

Expiring is bounded work, safe to repeat and to run in several processes at once: records are first marked as going, so
that nobody is promised to keep them, then let go: into the bin, or erased by the one eraser. A record from which
another one is derived stays while that one lives, and is looked at again a month later: it would take that one along.
"""

import functools
import logging
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from retentia.errors import InvalidInput, NotFound
from retentia.lifecycle.erase import Erasure
from retentia.model.ids import RecordId, id_bytes, id_text
from retentia.model.record import Record
from retentia.model.retention import months_after
from retentia.model.scope import Scope
from retentia.security import audit
from retentia.security.audit import Action, Actor
from retentia.store import jobs, records, retention, scopes
from retentia.store.database import Database
from retentia.store.records import View
from retentia.store.retention import Due

_log = logging.getLogger("retentia.retention")
ACTOR = Actor("retention", "retention")
A_RUN = 500
"""How much one run does at most."""

LetGo = Callable[[Scope, Sequence[RecordId]], Erasure]
"""Removes records of a scope; they can be restored for a while, or not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expiry:
    """What one run did: rows removed by kind, and how many records stay because others are derived from them."""

    removed: Mapping[str, int]
    postponed: int = 0


def expire_all(database: Database, let_go: LetGo, *, limit: int = A_RUN) -> Expiry:
    """Let go of what has expired, of every tenant, at most so many records of each table and tenant."""
    with database.read("") as transaction:
        tenants = jobs.tenants(transaction)
    removed: Counter[str] = Counter()
    postponed = 0
    for tenant in tenants:
        done = expire(database, tenant, let_go, limit=limit)
        removed.update(done.removed)
        postponed += done.postponed
    return Expiry(removed=dict(removed), postponed=postponed)


def expire(database: Database, tenant: str, let_go: LetGo, *, limit: int = A_RUN) -> Expiry:
    """Let go of what has expired of one tenant, at most so many records of each table. The audit log names them."""
    with database.read(tenant) as transaction:
        found = retention.expired(transaction, limit=limit)
        named = dict(scopes.all_scopes(transaction)) if found else {}
    removed: Counter[str] = Counter()
    postponed = 0
    for scope_id, due in groupby(sorted(found, key=_place), key=lambda one: one.scope_id):
        going, held = _claim(database, tenant, scope_id, list(due))
        postponed += held
        if going and scope_id in named:
            with database.noting(functools.partial(audit.log_writes, ACTOR, Action.ERASE)):
                removed.update(let_go(named[scope_id], going).removed)
    if found:
        _log.info("expired: removed %s; %d records stay, others are derived from them", dict(removed), postponed)
    return Expiry(removed=dict(removed), postponed=postponed)


def keep(database: Database, scope: Scope, record_id: RecordId, *, until: int | None) -> None:
    """Keep a record of a scope until a time in UTC microseconds, or for ever with None.

    Raises NotFound, InvalidInput for a time that is over, and Conflict when it is being erased.
    """
    raw = id_bytes(record_id)
    with database.write(scope.tenant) as transaction:
        if until is not None and until <= transaction.now:
            raise InvalidInput("a record can be kept until a time to come; to let it go now, use `retentia erase ID`")
        seen = scopes.view(transaction, scope)
        scopes.lock(transaction, [entry.scope_id for entry in seen])
        for entry in seen:
            view = View({entry.scope_id: scope})
            for kind in records.kinds_of(transaction, view, [raw]):
                retention.keep(transaction, view, kind, raw, until=until)
                scopes.record_change(transaction, entry.scope_id, [raw])
                return
    raise NotFound(f"there is no record {record_id!r} in {scope}")


def due_for_review(database: Database, scope: Scope, *, limit: int) -> list[Record]:
    """Return the records of a scope that someone should look at, the longest due first."""
    with database.read(scope.tenant) as transaction:
        view = records.view_of(transaction, scope)
        due = retention.due_for_review(transaction, view, limit=limit)
        found = records.fetch(transaction, view, due)
    return sorted(found.values(), key=lambda record: (record.review_at or 0, record.id))


def _claim(database: Database, tenant: str, scope_id: int, due: Collection[Due]) -> tuple[list[RecordId], int]:
    """Mark what may go, and postpone what supports other records; return both, the latter counted."""
    going: list[bytes] = []
    with database.write(tenant) as transaction:
        scopes.lock(transaction, [scope_id])
        held = retention.supporting(transaction, [one.record_id for one in due])
        later = months_after(transaction.now, 1)
        for table in dict.fromkeys(one.table for one in due):
            here = {one.record_id for one in due if one.table is table}
            retention.postpone(transaction, table, scope_id, here & held, until=later)
            going += retention.claim(transaction, table, scope_id, here - held)
    return [id_text(record_id) for record_id in sorted(going)], len(held)


def _place(due: Due) -> tuple[int, str, bytes]:
    return due.scope_id, due.table.name, due.record_id

"""What is kept and for how long: the schedule, the quota, the written policy; the bin, legal holds and custody."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial

from retentia.errors import InvalidInput
from retentia.learn.consolidate import ConsolidationSettings
from retentia.lifecycle.bin import Bin
from retentia.lifecycle.consolidate import Consolidator
from retentia.lifecycle.consolidate_due import consolidate_due
from retentia.lifecycle.erase import Eraser, Erasure
from retentia.lifecycle.growth import Growth, by_month
from retentia.lifecycle.hold import all_holds, in_custody
from retentia.lifecycle.policy import LayerPolicy, policy, restorable_for
from retentia.lifecycle.retention import ACTOR, Expiry, expire_all
from retentia.model.consolidation import Consolidation
from retentia.model.hold import Hold, InCustody, Released
from retentia.model.ids import RecordId, id_bytes, id_text
from retentia.model.removal import Removal
from retentia.model.retention import Schedule
from retentia.model.scope import Scope
from retentia.security.access import check_opaque
from retentia.security.audit import Actor
from retentia.store import growth, tenant_settings
from retentia.store.database import Database
from retentia.store.tenant_settings import Quota

CONSOLIDATION = Actor("consolidation", "consolidation")
"""Whom the audit log names where a worker consolidates."""

_MONTH = timedelta(days=30)


class Keeping:
    """For those who administer a store; `Memory.keeping` has it. `actor` is whom the audit log names."""

    def __init__(
        self, database: Database, eraser: Eraser, *, actor: Actor, consolidation: ConsolidationSettings | None = None
    ) -> None:
        self._database = database
        self._eraser = eraser
        self._bin = Bin(database, eraser)
        self._actor = actor
        self._consolidation = consolidation or ConsolidationSettings()

    def schedule(self, tenant: str) -> Schedule:
        """Return the retention schedule that decides on what is written from now on."""
        with self._database.read(tenant) as transaction:
            return tenant_settings.load(transaction).schedule

    def set_schedule(self, schedule: Mapping[str, object] | None, *, tenant: str) -> Schedule:
        """Give a tenant its own retention schedule, as retention.toml has it; None returns to the shipped one.

        What was written before keeps its dates. Raises InvalidInput.
        """
        chosen = None if schedule is None else Schedule.parse(schedule)
        with self._database.write(tenant) as transaction:
            tenant_settings.set_schedule(transaction, chosen)
        return self.schedule(tenant)

    def quota(self, tenant: str) -> Quota:
        """Return how much each user of a tenant may have."""
        with self._database.read(tenant) as transaction:
            return tenant_settings.load(transaction).quota

    def set_quota(self, *, tenant: str, max_records: int | None = None, max_bytes: int | None = None) -> Quota:
        """Limit what each user may have in all scopes together; None is no limit. Writes beyond raise QuotaExceeded.

        What is there stays. With a quota each write counts what the user has, and what lies in the bin.
        """
        chosen = Quota(max_records=max_records, max_bytes=max_bytes)
        with self._database.write(tenant) as transaction:
            tenant_settings.set_quota(transaction, chosen)
        return chosen

    def growth(self, tenant: str, *, user: str | None = None) -> list[Growth]:
        """Return how many records and bytes of text each user has, by the month in which they were written."""
        with self._database.read(tenant) as transaction:
            return by_month(growth.by_day(transaction, user=user))

    def policy(self, tenant: str) -> list[LayerPolicy]:
        """Return the policy of each layer of memory, under the tenant's schedule."""
        return policy(self.schedule(tenant))

    def expire(self, *, undo_for: timedelta | None = None) -> Expiry:
        """Let go of what has expired, of every tenant, a bounded number of records; a worker does so by itself.

        It lies in the bin for `undo_for`, None for as long as the policy says; nothing erases it at once.
        """
        window = restorable_for() if undo_for is None else undo_for
        if not window:
            return expire_all(self._database, self._eraser.erase)
        put_away = partial(self._bin.remove, cause="retention", restorable_for=window, actor=ACTOR)
        return expire_all(self._database, put_away)

    def purge(self) -> int:
        """Erase for good what lies in the bin for too long, a bounded number of records; a worker does so by itself.

        Return how many records went.
        """
        return self._bin.purge()

    def upkeep(self) -> None:
        """Do what is due: let go of what has expired, purge the bin, and consolidate."""
        self.expire()
        self.purge()
        if self._consolidation.every_days is not None:
            consolidate_due(
                self._database,
                Consolidator(self._database, self._bin, actor=CONSOLIDATION, settings=self._consolidation),
                every_days=self._consolidation.every_days,
                undo_for=_undo(None),
            )

    def consolidate(
        self,
        *,
        scope: Scope,
        dry_run: bool = False,
        topics: bool | None = None,
        undo_for: timedelta | None = None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Consolidation:
        """Put together what says the same in exactly this scope, and raise confidence where more sources speak for it.

        With `topics` also gather what belongs together; None is as the settings say. `dry_run` only tells. What goes
        can be restored for `undo_for`, None for as long as the policy says. `stop` ends it between two steps.
        """
        chosen = self._consolidation if topics is None else replace(self._consolidation, topics=topics)
        consolidator = Consolidator(self._database, self._bin, actor=self._actor, settings=chosen)
        if dry_run:
            return consolidator.preview(scope)
        return consolidator.run(scope, undo_for=_undo(undo_for), stop=stop)

    def remove(self, ids: Sequence[RecordId], *, scope: Scope, undo_for: timedelta) -> Erasure:
        """Put records of exactly this scope out of sight, to be restored within a time; `Memory.forget` asks for it.

        Raises InvalidInput.
        """
        return self._bin.remove(scope, ids, cause="forget", restorable_for=undo_for, actor=self._actor)

    def removed(self, *, scope: Scope, content: bool = False) -> list[Removal]:
        """Return what was removed from exactly this scope and can still be restored, the latest first.

        What it says only with `content=True`; that is logged before it is given.
        """
        return self._bin.removed(scope, content=content, actor=self._actor)

    def restore(self, removal_id: str, *, scope: Scope) -> tuple[RecordId, ...]:
        """Bring back what one removal took: the same records in the same places, found at once; return their ids.

        What had expired is kept for another month. Raises NotFound when its time is over, InvalidInput, and Conflict
        when some of it is known only from what another removal took: restore that one first.
        """
        return self._bin.restore(scope, _id(removal_id), actor=self._actor)

    def hold(self, *, scope: Scope, reason: str) -> Hold:
        """Put a legal hold on exactly this scope; see `Memory.hold`."""
        return self._eraser.hold(scope, reason, actor=self._actor)

    def holds(self, *, tenant: str) -> list[Hold]:
        """Return the legal holds of a tenant, the oldest first."""
        return all_holds(self._database, tenant)

    def release(self, hold_id: str, *, tenant: str) -> Released:
        """End a legal hold; see `Memory.release`."""
        return self._eraser.release(tenant, _id(hold_id), actor=self._actor)

    def custody(self, *, tenant: str, content: bool = False, reason: str = "") -> list[InCustody]:
        """Return the erased records that legal holds keep; see `Memory.custody`."""
        why = reason or self._actor.reason
        if content and not why:
            raise InvalidInput("say why the content is looked at, such as the number of a case: reason=")
        if why:
            check_opaque("reason", why)
        return in_custody(self._database, tenant, content=content, actor=replace(self._actor, reason=why))


def _undo(undo_for: timedelta | None) -> timedelta:
    """Return for how long a consolidation can be undone: as given, as the policy says, or else a month."""
    return undo_for or restorable_for() or _MONTH


def _id(given: str) -> RecordId:
    try:
        return id_text(id_bytes(given))
    except ValueError as error:
        raise InvalidInput(f"{given!r} is not an id: expected 32 hexadecimal digits") from error

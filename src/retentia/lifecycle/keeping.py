"""What a tenant decides about keeping: the schedule, the quota, the written policy; and how much there is of it."""

from collections.abc import Mapping

from retentia.lifecycle.growth import Growth, by_month
from retentia.lifecycle.policy import LayerPolicy, policy
from retentia.lifecycle.retention import Erase, Expiry, expire_all
from retentia.model.retention import Schedule
from retentia.store import growth, tenant_settings
from retentia.store.database import Database
from retentia.store.tenant_settings import Quota


class Keeping:
    """For those who administer a store; `Memory.keeping` has it."""

    def __init__(self, database: Database, erase: Erase) -> None:
        self._database = database
        self._erase = erase

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

        What is there stays. With a quota each write counts what the user has.
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

    def expire(self) -> Expiry:
        """Erase what has expired, of every tenant, a bounded number of records; a worker does so by itself."""
        return expire_all(self._database, self._erase)

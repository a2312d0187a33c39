"""What tenants spend on models, and how much they may."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from retentia.model.price import PRICES, Price
from retentia.model.spending import Ceiling
from retentia.store import model_usage, tenant_settings
from retentia.store.database import Database
from retentia.store.model_usage import DayUsage

if TYPE_CHECKING:
    from retentia.metering.meter import Meter
    from retentia.providers.chat.base import ChatModel

_DAY = 86_400_000_000


@dataclass(frozen=True, slots=True)
class Spend:
    """For those who administer a store; `Memory.spending` has it.

    `day` is the ceiling for tenants that have none of their own.
    """

    database: Database
    day: Ceiling = field(default_factory=Ceiling)
    prices: Mapping[str, Price] = field(default_factory=lambda: PRICES)

    def with_prices(self, prices: Mapping[str, Price]) -> "Spend":
        """Return the same with calls priced by a table from now on; `retentia.model.price.read_prices` reads one."""
        return replace(self, prices=prices)

    def usage(self, tenant: str, *, days: int = 30) -> list[DayUsage]:
        """Return what a tenant's models were asked today and before, the latest first."""
        with self.database.read(tenant) as transaction:
            return list(model_usage.listing(transaction, since_day=transaction.now // _DAY - days + 1))

    def ceiling(self, tenant: str) -> Ceiling:
        """Return what a tenant may spend in a UTC day."""
        with self.database.read(tenant) as transaction:
            own = tenant_settings.load(transaction).ceiling
        return own if own.is_set else self.day

    def set_ceiling(self, ceiling: Ceiling, *, tenant: str) -> Ceiling:
        """Limit what a tenant may spend in a UTC day; calls beyond raise CostCeilingReached. An empty one lifts it."""
        with self.database.write(tenant) as transaction:
            tenant_settings.set_ceiling(transaction, ceiling)
        return self.ceiling(tenant)

    def meter(self, model: "ChatModel", *, tenant: str, purpose: str, job: Ceiling | None = None) -> "Meter":
        """Return the model with its calls counted; `job` limits what goes through this one meter."""
        from retentia.metering.meter import Meter

        return Meter(model, self.database, tenant=tenant, purpose=purpose, job=job, day=self.day, prices=self.prices)

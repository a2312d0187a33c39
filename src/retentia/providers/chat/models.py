"""Which chat models a memory may ask, what they cost, and what may be spent on them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from retentia.model.price import PRICES, Price
from retentia.model.spending import Ceiling
from retentia.providers.chat.base import ChatModelSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """The main model, and others for `summary` and `learn`.

    A summary is made by the main model where `summary` is None, and what makes summaries also learns where `learn` is
    None; "none" switches either off.
    `prices` are by model, in your currency. `job` limits what one job may spend and `day` what a tenant may spend in a
    UTC day where it has no ceiling of its own; see `Memory.spending`.
    """

    main: ChatModelSpec = None
    summary: ChatModelSpec = None
    learn: ChatModelSpec = None
    prices: Mapping[str, Price] = field(default_factory=lambda: PRICES)
    job: Ceiling = field(default_factory=Ceiling)
    day: Ceiling = field(default_factory=Ceiling)

    @classmethod
    def of(cls, given: "Models | ChatModelSpec") -> "Models":
        """Take one model for everything."""
        return given if isinstance(given, Models) else cls(main=given)

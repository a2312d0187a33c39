"""Price: what tokens cost, by a table that the user brings.

Prices change and differ by contract, so none ship with retentia: nothing is computed for a model without a price.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from retentia.errors import InvalidInput


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What a million tokens cost, in any one currency."""

    input_per_million: float
    output_per_million: float = 0.0

    def __post_init__(self) -> None:
        if min(self.input_per_million, self.output_per_million) < 0:
            raise InvalidInput("a price cannot be negative")

    def of(self, *, tokens_in: int, tokens_out: int = 0, calls: int = 1) -> float:
        """Return what `calls` calls of this size cost."""
        return calls * (tokens_in * self.input_per_million + tokens_out * self.output_per_million) / 1_000_000


PRICES: Mapping[str, Price] = {}
"""Prices by model name: empty on purpose."""


def cost(
    model: str, *, tokens_in: int, tokens_out: int = 0, calls: int = 1, prices: Mapping[str, Price] = PRICES
) -> float | None:
    """Return what calls to a model cost by a price table, or None when the table has no price for it."""
    price = prices.get(model)
    return None if price is None else price.of(tokens_in=tokens_in, tokens_out=tokens_out, calls=calls)

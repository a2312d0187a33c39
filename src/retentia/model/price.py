"""Price: what tokens cost, by a table that the user brings.

Prices change and differ by contract, so none ship with retentia: nothing is computed for a model without a price.
"""

import json
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path

from retentia.errors import InvalidInput


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What a million tokens cost, in any one currency; input that a provider has cached costs as any other if None."""

    input_per_million: float
    output_per_million: float = 0.0
    cached_input_per_million: float | None = None

    def __post_init__(self) -> None:
        for price in (self.input_per_million, self.output_per_million, self.for_cached):
            if isinstance(price, bool) or not isinstance(price, int | float) or not math.isfinite(price):
                raise InvalidInput(f"a price is a number for a million tokens, not {price!r}")
            if price < 0:
                raise InvalidInput("a price cannot be negative")

    @property
    def for_cached(self) -> float:
        """What a million tokens cost that a provider has cached."""
        return self.input_per_million if self.cached_input_per_million is None else self.cached_input_per_million

    def of(self, *, tokens_in: int, tokens_out: int = 0, cached: int = 0, calls: int = 1) -> float:
        """Return what `calls` calls of this size cost; `cached` tokens of `tokens_in` are read from a cache."""
        read = (tokens_in - cached) * self.input_per_million + cached * self.for_cached
        return calls * (read + tokens_out * self.output_per_million) / 1_000_000

    def micros(self, *, tokens_in: int, tokens_out: int = 0) -> int:
        """Return what one call of this size costs in millionths of the currency, rounded up."""
        return math.ceil(tokens_in * self.input_per_million + tokens_out * self.output_per_million)


PRICES: Mapping[str, Price] = {}
"""Prices by model name: empty on purpose."""


def cost(
    model: str, *, tokens_in: int, tokens_out: int = 0, calls: int = 1, prices: Mapping[str, Price] = PRICES
) -> float | None:
    """Return what calls to a model cost by a price table, or None when the table has no price for it."""
    price = prices.get(model)
    return None if price is None else price.of(tokens_in=tokens_in, tokens_out=tokens_out, calls=calls)


def parse_prices(data: object) -> dict[str, Price]:
    """Read a price table: {"my-model": {"input_per_million": 2.0, "output_per_million": 8.0}}; raise InvalidInput."""
    if not isinstance(data, Mapping):
        raise InvalidInput("a price table names models, each with input_per_million and output_per_million")
    known = {field.name for field in fields(Price)}
    prices = {}
    for model, row in data.items():
        if not isinstance(row, Mapping) or not row.keys() <= known or "input_per_million" not in row:
            raise InvalidInput(
                f"the price of {model!r} needs input_per_million, and may have output_per_million and "
                "cached_input_per_million"
            )
        prices[str(model)] = Price(**row)
    return prices


def read_prices(file: Path) -> dict[str, Price]:
    """Read a price table from a TOML or JSON file; raise InvalidInput."""
    try:
        text = file.read_text("utf-8")
        return parse_prices(json.loads(text) if file.suffix == ".json" else tomllib.loads(text))
    except OSError as error:
        raise InvalidInput(f"the prices in {str(file)!r} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise InvalidInput(f"{str(file)!r} is neither TOML nor JSON: {error}") from error


def price_of(identity: str, prices: Mapping[str, Price]) -> Price | None:
    """Return the price of a model by its identity, or by its name without provider and address; None without one."""
    name = identity.partition(":")[2]
    names = (identity, name, name.partition("@http")[0], identity.partition("@http")[0])
    return next((prices[known] for known in names if known in prices), None)

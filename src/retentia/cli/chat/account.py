"""What replies took, beside what the full history would have taken, in tokens and, with a price, in money."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from retentia.errors import InvalidInput
from retentia.model.price import Price, price_of, read_prices
from retentia.model.record import MessageRecord
from retentia.store.model_usage import DayUsage


@dataclass(frozen=True, slots=True, kw_only=True)
class Took:
    """What some replies took together. `full_history` is what their prompts with the whole session would have taken.

    It is estimated, and None where it is not known. `cost` and `full_cost` are None without a price.
    """

    what: str
    calls: int
    tokens_in: int
    tokens_out: int
    full_history: int | None = None
    cost: float | None = None
    full_cost: float | None = None

    @classmethod
    def priced(
        cls, what: str, calls: int, tokens_in: int, tokens_out: int, full_history: int | None, price: Price | None
    ) -> "Took":
        """Return it with its cost, where there is a price."""
        cost = full_cost = None
        if price is not None:
            cost = price.of(tokens_in=tokens_in, tokens_out=tokens_out)
            if full_history is not None:
                full_cost = price.of(tokens_in=full_history, tokens_out=tokens_out)
        return cls(
            what=what,
            calls=calls,
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            full_history=full_history,
            cost=cost,
            full_cost=full_cost,
        )


def took(what: str, replies: Iterable[MessageRecord], price: Price | None) -> Took:
    """Add up what was kept with replies; those without an account count as nothing."""
    known = [reply.metadata for reply in replies if "tokens_in" in reply.metadata]

    def added(name: str) -> int:
        return sum(value for one in known if isinstance(value := one.get(name), int))

    return Took.priced(what, len(known), added("tokens_in"), added("tokens_out"), added("full_history_tokens"), price)


def took_today(rows: Iterable[DayUsage], prices: Mapping[str, Price]) -> Took:
    """Add up what all models of a tenant took today; without a cost where one of them has no price."""
    listed = list(rows)
    costs = [
        price.of(tokens_in=row.tokens_in, tokens_out=row.tokens_out)
        for row in listed
        if (price := price_of(row.model, prices)) is not None
    ]
    return Took(
        what="today, all of the tenant",
        calls=sum(row.calls for row in listed),
        tokens_in=sum(row.tokens_in for row in listed),
        tokens_out=sum(row.tokens_out for row in listed),
        cost=sum(costs) if listed and len(costs) == len(listed) else None,
    )


def read_price(text: str, model: str) -> dict[str, Price]:
    """Read what tokens cost: "2,8" for a million in and out of this model, or the name of a price file."""
    if not text:
        return {}
    if Path(text).is_file():
        return read_prices(Path(text))
    try:
        paid_in, paid_out, *more = map(float, text.split(","))
        (cached,) = more or (None,)
    except ValueError as error:
        raise InvalidInput(
            f"--price takes IN,OUT or IN,OUT,CACHED for a million tokens, or a price file; not {text!r}"
        ) from error
    return {model: Price(input_per_million=paid_in, output_per_million=paid_out, cached_input_per_million=cached)}

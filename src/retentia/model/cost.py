"""Cost: what prompts cost by a price, alone and beside the whole history, with and without a provider's cache. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import date, timedelta
from typing import NamedTuple

from retentia.model.price import Price


@dataclass(frozen=True, slots=True, kw_only=True)
class CostReport:
    """What `calls` calls cost, in the currency of the price.

    `cost` pays for every token as new, `cached_cost` reads from the provider's cache what was sent before. The same
    twice with the whole session in each prompt, of which a cache has all but the request. Adding reports adds all up.
    """

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cacheable_tokens: int = 0
    full_history_tokens: int = 0
    cost: float = 0.0
    cached_cost: float = 0.0
    full_history_cost: float = 0.0
    cached_full_history_cost: float = 0.0

    def __add__(self, other: "CostReport") -> "CostReport":
        return CostReport(**{name: getattr(self, name) + getattr(other, name) for name in _PARTS})

    def times(self, calls: int) -> "CostReport":
        """Return what so many calls like these cost, such as those of a day."""
        return CostReport(**{name: getattr(self, name) * calls for name in _PARTS})


_PARTS = tuple(field.name for field in fields(CostReport))


def cost_of(
    price: Price, *, tokens_in: int, cached: int = 0, full_history: int = 0, request: int = 0, tokens_out: int = 0
) -> CostReport:
    """Return what one call costs; `request` are the tokens of the current request, which no cache has."""
    said = max(0, full_history - request)
    return CostReport(
        calls=1,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        cacheable_tokens=cached,
        full_history_tokens=full_history,
        cost=price.of(tokens_in=tokens_in, tokens_out=tokens_out),
        cached_cost=price.of(tokens_in=tokens_in, tokens_out=tokens_out, cached=cached),
        full_history_cost=price.of(tokens_in=full_history, tokens_out=tokens_out),
        cached_full_history_cost=price.of(tokens_in=full_history, tokens_out=tokens_out, cached=said),
    )


def cost_of_session(calls: Iterable[CostReport]) -> CostReport:
    """Add up what the calls of a session, a day or a month cost."""
    return sum(calls, CostReport())


class PromptTokens(NamedTuple):
    """How many prompts of one session led to replies on one day (days since 1970, UTC), and their tokens together."""

    session: str
    day: int
    calls: int
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptCosts:
    """What prompts cost by the name of the session and by the day, ISO 8601 in UTC; both add up to `total`."""

    total: CostReport
    by_session: Mapping[str, CostReport]
    by_day: Mapping[str, CostReport]


def prompt_costs(price: Price, counted: Iterable[PromptTokens]) -> PromptCosts:
    """Return what prompts cost that were counted by session and day."""
    total = CostReport()
    by_session: dict[str, CostReport] = {}
    by_day: dict[str, CostReport] = {}
    for one in counted:
        cost = price.of(tokens_in=one.tokens)
        report = CostReport(calls=one.calls, tokens_in=one.tokens, cost=cost, cached_cost=cost)
        day = (date(1970, 1, 1) + timedelta(days=one.day)).isoformat()
        by_session[one.session] = by_session.get(one.session, CostReport()) + report
        by_day[day] = by_day.get(day, CostReport()) + report
        total += report
    return PromptCosts(total=total, by_session=by_session, by_day=by_day)

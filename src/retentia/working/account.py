"""Account: say in words what a context shows, what it leaves out and why, and what it takes."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from retentia.model.cost import CostReport
from retentia.model.price import Price
from retentia.working.budget import DropReason

if TYPE_CHECKING:
    from retentia.working.context import Context

NAMES: Mapping[str, str] = {
    "role": "role and rules",
    "summary": "summary",
    "recalled": "recalled records",
    "profile": "profile and procedures",
    "pinned": "pinned messages",
    "recent": "recent messages",
    "current": "current request",
    "gap": "note about what is missing",
    "frame": "rules and delimiters",
}
REASONS: Mapping[DropReason, str] = {
    "over budget": "did not fit into the budget",
    "already shown": "is shown as a message already",
    "erased since": "was erased since",
    "made anew since": "was made anew or removed since",
    "changed since": "was changed since",
}
_MOST_NAMED = 5


def account(context: "Context", price: Price | None = None) -> str:
    """Return the account of a context, a line for each thing."""
    return "\n".join(_lines(context, price))


def cost_lines(report: CostReport) -> Iterator[str]:
    """Say what calls cost, and what they would cost with the whole session."""
    what = "a call costs" if report.calls == 1 else f"{report.calls:,} calls cost"
    yield f"{what} {report.cost:.6g}; {report.cached_cost:.6g} where the provider has cached what was sent before"
    if report.full_history_tokens:
        yield (
            f"with the whole session: {report.full_history_cost:.6g}; {report.cached_full_history_cost:.6g} where the "
            "provider has cached it"
        )


def _lines(context: "Context", price: Price | None) -> Iterator[str]:
    yield f"{context.total_tokens:,} of {context.budget:,} tokens ({context.counted})"
    shown = Counter(one.part for one in context.manifest)
    for part, tokens in context.tokens_by_part.items():
        if tokens:
            count = f", {shown[part]} shown" if shown[part] else ""  # type: ignore[index]  # "gap" and "frame" count 0
            yield f"  {NAMES.get(part, part)}: {tokens:,} tokens{count}"
    for part, reason in dict.fromkeys((one.part, one.reason) for one in context.dropped):
        ids = [one.id or "?" for one in context.dropped if (one.part, one.reason) == (part, reason)]
        yield f"  left out of {NAMES[part]}, because it {REASONS[reason]}: {_some(ids)}"
    if context.gap:
        yield f"  messages that are not shown, and named to the model: {context.gap.count} ({_some(context.gap.ids)})"
    yield f"the next call begins with the same {context.cacheable_tokens:,} tokens"
    if context.full_history_tokens:  # a replay does not know it
        yield f"the whole session would take {context.full_history_tokens:,} tokens"
    if price:
        yield from cost_lines(context.cost(price))


def _some(ids: tuple[str, ...] | list[str]) -> str:
    more = len(ids) - _MOST_NAMED
    return ", ".join(ids[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")

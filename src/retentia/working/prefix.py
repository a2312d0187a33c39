"""Prefix: what stands first in a prompt and stays the same from call to call, so that a provider can cache it.

What is asked and recalled now must not decide what the prefix shows. So role, rules, profile, pinned messages and
summaries get a fixed room, the window gets what they leave and is cut in steps, and the request and what is recalled
for it share the rest.
"""

from collections.abc import Collection, Mapping, Sequence
from itertools import takewhile

from retentia.working.budget import SHARES, Dropped, Fitted, FittedPart, Part, PartName, Share, fit
from retentia.working.render import NO_RESULT, Turn
from retentia.working.tokens import TokenCounter

STEP = 8
"""How many messages leave a window at once when it is too long: each time, all behind them must be read anew."""
_ROOMS = 16
_LATE: frozenset[PartName] = frozenset(("recalled",))
_FRONT: frozenset[PartName] = frozenset(("profile", "pinned", "summary"))


def fit_prefix_first(
    parts: Sequence[Part], room: int, counter: TokenCounter, shares: Sequence[Share] = SHARES, *, budget: int
) -> Fitted:
    """Choose what fits into `room` tokens of a `budget` as `fit` does, but the prefix as if nothing behind it changed.

    Only a request that takes more than the share of what is recalled shortens the prefix, by sixteenths of the budget.
    """
    claims = {share.part: share for share in shares if share.gives_way}
    flexible = [part for part in parts if part.name in claims and part.items]
    required = fit([part for part in parts if part.name not in claims], room, counter, shares)
    left = room - required.tokens
    role = sum(part.tokens for part in required.parts if part.name != "current")
    late = _share(claims, _LATE)
    lasting = min(int((budget - role) * (1 - late)), left - left % max(1, budget // _ROOMS))
    front_room = int(lasting * _share(claims, _FRONT) / (1 - late)) if late < 1 else 0
    front = fit([part for part in flexible if part.name in _FRONT], front_room, counter, shares)
    recent = [part for part in flexible if part.name == "recent"]
    window = _in_steps(fit(recent, max(0, lasting - front.tokens), counter, shares), recent, counter, shares)
    rest_room = left - front.tokens - window.tokens
    rest = fit([part for part in flexible if part.name in _LATE], rest_room, counter, shares)
    chosen: list[FittedPart] = [*required.parts, *front.parts, *window.parts, *rest.parts]
    kept = {(part.name, item.id) for part in chosen for item in part.items}
    dropped = [
        Dropped(item.id, part.name, "over budget")
        for part in flexible
        for item in part.items
        if (part.name, item.id) not in kept
    ]
    return Fitted(tuple(chosen), tuple(dropped), sum(part.tokens for part in chosen), room)


def settled(turns: Sequence[Turn]) -> int:
    """Count the turns that messages to come leave as they are: those before a call whose result may still come."""
    replies = [place for place, turn in enumerate(turns) if turn.role == "assistant"]
    if not replies or not turns[replies[-1]].tool_uses:
        return len(turns)
    answers = takewhile(lambda turn: turn.role == "tool", turns[replies[-1] + 1 :])
    return replies[-1] if any(turn.text == NO_RESULT for turn in answers) else len(turns)


def _in_steps(fitted: Fitted, recent: Sequence[Part], counter: TokenCounter, shares: Sequence[Share]) -> Fitted:
    """Cut a window that does not fit at every `STEP`th message, so that it then stays where it begins for a while."""
    items = [item for part in recent for item in part.items]  # the newest first
    kept = {item.id for item in fitted.kept("recent")}
    first = next((place for place, item in enumerate(reversed(items)) if item.id in kept), 0)
    start = -(-first // STEP) * STEP
    if not first or start >= len(items):
        return fitted
    inside = tuple(item for item in items[: len(items) - start] if item.id in kept)
    return fit([Part("recent", inside)], fitted.tokens, counter, shares)


def _share(claims: Mapping[PartName, Share], names: Collection[PartName]) -> float:
    whole = sum(claim.share for claim in claims.values()) or 1.0
    return sum(claims[name].share for name in names if name in claims) / whole

"""Budget: how many tokens each part of a context gets, and what is left out when they do not suffice.

Every part has a share of what the role and the current request leave. What a part does not use flows to the others, to
those first that are the last to give way. Models attend best to both ends of a context, so the role opens it and the
current request closes it.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from retentia.errors import BudgetTooSmall, InvalidInput
from retentia.working.tokens import TokenCounter

PartName = Literal["role", "summary", "recalled", "profile", "pinned", "recent", "current"]


DropReason = Literal["over budget", "already shown", "erased since", "made anew since", "changed since"]
"""Why something is not shown; what happened since tells only a context that is replayed."""


@dataclass(frozen=True, slots=True)
class Share:
    """What a part may claim: its share of the budget, and when it gives way (1 first; 0 never, whatever it takes)."""

    part: PartName
    share: float
    gives_way: int


SHARES: tuple[Share, ...] = (
    Share("role", 0.0, 0),
    Share("summary", 0.20, 4),
    Share("recalled", 0.25, 1),
    Share("profile", 0.10, 2),
    Share("pinned", 0.10, 5),
    Share("recent", 0.35, 3),
    Share("current", 0.0, 0),
)
"""The parts in the order of the context. A summary gives way late: without it, all it covers would be missing."""


def parse_shares(changes: Mapping[str, object]) -> tuple[Share, ...]:
    """Return the table of shares with some rows changed, such as {"recalled": 0.4}; raise InvalidInput.

    A row is a share, or {"share": 0.4, "gives_way": 2}. Shares are weights: they need not add up to 1.
    """
    table = {share.part: share for share in SHARES}
    for part, change in changes.items():
        row = change if isinstance(change, Mapping) else {"share": change}
        known = next((share for share in SHARES if share.part == part and share.gives_way), None)
        if known is None or not row or not row.keys() <= {"share", "gives_way"}:
            able = ", ".join(share.part for share in SHARES if share.gives_way)
            raise InvalidInput(
                f"shares are given to {able}: a number, or share and gives_way; not {part!r}: {change!r}"
            )
        share, gives_way = row.get("share", known.share), row.get("gives_way", known.gives_way)
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share < math.inf:
            raise InvalidInput(f"the share of {part!r} is a number from 0 on, not {share!r}")
        if isinstance(gives_way, bool) or not isinstance(gives_way, int) or gives_way < 1:
            raise InvalidInput(f"{part!r} gives way as number 1 or later, not {gives_way!r}")
        table[known.part] = Share(known.part, float(share), gives_way)
    return tuple(table.values())


@dataclass(frozen=True, slots=True)
class Item:
    """Something that is kept or dropped as a whole. Without `tokens`, its text is counted."""

    id: str
    text: str = ""
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """One part's items, the most important first; `frame` is the text around them, spent once if any is kept.

    In a contiguous part an item that does not fit ends it, so that it has no holes, unless that item alone would take
    more than half of the part's room.
    """

    name: PartName
    items: tuple[Item, ...]
    frame: str = ""
    contiguous: bool = False


@dataclass(frozen=True, slots=True)
class Dropped:
    """An item that is not shown, and why. The id is "" where it was erased since."""

    id: str
    part: PartName
    reason: DropReason


@dataclass(frozen=True, slots=True)
class FittedPart:
    """What is kept of a part, in the order given, and the tokens it takes with its frame."""

    name: PartName
    items: tuple[Item, ...]
    tokens: int


@dataclass(frozen=True, slots=True)
class Fitted:
    """The parts that fit into a budget, in the order of the shares, and what was dropped."""

    parts: tuple[FittedPart, ...]
    dropped: tuple[Dropped, ...]
    tokens: int
    budget: int

    def kept(self, name: PartName) -> tuple[Item, ...]:
        """Return the items kept of a part."""
        return next((part.items for part in self.parts if part.name == name), ())


def fit(parts: Sequence[Part], budget: int, counter: TokenCounter, shares: Sequence[Share] = SHARES) -> Fitted:
    """Choose what of each part is kept so that all of it together takes at most `budget` tokens.

    Each part first fills its share; what is left goes to the parts that give way last. Raises BudgetTooSmall when the
    parts that never give way do not fit.
    """
    claims = {share.part: share for share in shares}
    sized = [_Sized.of(part, counter) for part in parts if part.items]
    _check(sized, claims)
    required = [part for part in sized if not claims[part.name].gives_way]
    flexible = [part for part in sized if claims[part.name].gives_way]
    room = budget - sum(part.everything for part in required)
    if room < 0:
        needs = ", ".join(f"{part.name} {part.everything}" for part in required)
        raise BudgetTooSmall(f"the budget of {budget} tokens is {-room} short of what cannot be left out ({needs})")
    chosen = {part.name: tuple(range(len(part.sizes))) for part in required} | _share_out(flexible, room, claims)
    order = {share.part: place for place, share in enumerate(shares)}
    fitted = [part.keeping(chosen[part.name]) for part in sorted(sized, key=lambda part: order[part.name])]
    dropped = [
        Dropped(item.id, part.name, "over budget")
        for part in sized
        for place, item in enumerate(part.items)
        if place not in chosen[part.name]
    ]
    return Fitted(tuple(fitted), tuple(dropped), sum(part.tokens for part in fitted), budget)


def fill(sizes: Sequence[int], room: int, *, contiguous: bool = False) -> tuple[int, ...]:
    """Return the places of the items that fit into `room`, tried in order; `contiguous` as in Part."""
    kept: list[int] = []
    left = room
    for place, size in enumerate(sizes):
        if size <= left:
            kept.append(place)
            left -= size
        elif contiguous and size * 2 <= room:
            break
    return tuple(kept)


@dataclass(frozen=True, slots=True)
class _Sized:
    """A part with its sizes in tokens."""

    name: PartName
    items: tuple[Item, ...]
    sizes: tuple[int, ...]
    frame: int
    contiguous: bool

    @classmethod
    def of(cls, part: Part, counter: TokenCounter) -> "_Sized":
        sizes = tuple(counter.count(item.text) if item.tokens is None else item.tokens for item in part.items)
        frame = counter.count(part.frame) if part.frame else 0
        return cls(part.name, part.items, sizes, frame, part.contiguous)

    @property
    def everything(self) -> int:
        return self.tokens_of(range(len(self.sizes)))

    def tokens_of(self, places: Sequence[int]) -> int:
        return self.frame + sum(self.sizes[place] for place in places) if places else 0

    def filling(self, room: int) -> tuple[int, ...]:
        return fill(self.sizes, room - self.frame, contiguous=self.contiguous) if room >= self.frame else ()

    def keeping(self, places: Sequence[int]) -> FittedPart:
        return FittedPart(self.name, tuple(self.items[place] for place in places), self.tokens_of(places))


def _share_out(parts: Sequence[_Sized], room: int, claims: Mapping[PartName, Share]) -> dict[PartName, tuple[int, ...]]:
    whole = sum(claims[part.name].share for part in parts) or 1.0
    chosen = {part.name: part.filling(int(room * claims[part.name].share / whole)) for part in parts}
    left = room - sum(part.tokens_of(chosen[part.name]) for part in parts)
    for part in sorted(parts, key=lambda part: -claims[part.name].gives_way):
        mine = left + part.tokens_of(chosen[part.name])
        chosen[part.name] = part.filling(mine)
        left = mine - part.tokens_of(chosen[part.name])
    return chosen


def _check(parts: Sequence[_Sized], claims: Mapping[PartName, Share]) -> None:
    names = [part.name for part in parts]
    if len(set(names)) < len(names):
        raise InvalidInput(f"a part is given twice: {', '.join(sorted(names))}")
    if unknown := [name for name in names if name not in claims]:
        raise InvalidInput(f"the table of shares has no row for {unknown[0]!r}")
    if any(size < 0 for part in parts for size in part.sizes):
        raise InvalidInput("an item cannot take fewer than 0 tokens")
    if any(share.share < 0 for share in claims.values()):
        raise InvalidInput("a share cannot be negative")

"""Opening: what a new session begins with, when the caller asks: profile, the latest sessions, open items. Pure.

Nothing loads by itself. What is loaded is bounded by numbers and by tokens, and what a request is about comes first.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from retentia.errors import InvalidInput
from retentia.model.record import Importance, ItemRecord, Kind
from retentia.model.session_record import Said, SessionRecord
from retentia.working.procedures import fitting, stems_in
from retentia.working.tokens import TokenCounter
from retentia.working.told import in_short

_T = TypeVar("_T")
_RANK = {Importance.HIGH: 0, Importance.NORMAL: 1, Importance.LOW: 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class OpeningPolicy:
    """How much a session begins with: of the last `sessions_kept` at most `sessions_loaded`, in at most `tokens`."""

    sessions_kept: int = 7
    sessions_loaded: int = 3
    open_items: int = 10
    profile_items: int = 20
    tokens: int = 600

    def __post_init__(self) -> None:
        if min(self.sessions_kept, self.sessions_loaded, self.open_items, self.profile_items, self.tokens) < 0:
            raise InvalidInput("an opening policy counts sessions, items and tokens: none can be negative")


PERSONAL_ASSISTANT = OpeningPolicy(sessions_kept=7, sessions_loaded=3)
"""For an assistant that one person talks to day by day."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """What a session begins with, each part with what matters most first; sessions in the order they were held.

    `left_out` counts what did not fit into the tokens of the policy.
    """

    profile: tuple[ItemRecord, ...] = ()
    open_items: tuple[Said, ...] = ()
    sessions: tuple[SessionRecord, ...] = ()
    tokens: int = 0
    left_out: int = 0


def choose_opening(
    profile: Sequence[ItemRecord],
    sessions: Sequence[SessionRecord],
    policy: OpeningPolicy,
    counter: TokenCounter,
    *,
    request: str = "",
) -> Opening:
    """Choose from what is known of a person and from sessions, the latest first, what a new session begins with.

    Open items come before the profile and the profile before sessions. Of procedures those that fit the request come
    first of all, and those for other tasks are left out. Only what is believed and holds on is in it.
    """
    wanted = stems_in(request)
    kept = sessions[: policy.sessions_kept]
    loaded = sorted(kept, key=lambda one: -_shared(wanted, f"{one.topic}\n{one.summary}"))[: policy.sessions_loaded]
    believed = _believed(profile, request)
    believed.sort(key=lambda one: (_RANK[one.importance], -_shared(wanted, one.text), -one.recorded_at, one.id))
    fit = [one.record for one in fitting(believed, request) if one.match]
    believed = [*fit, *(one for one in believed if one not in fit)]
    items = list(dict.fromkeys(item for one in kept for item in one.open_items))
    purse = _Purse(policy.tokens, counter)
    opening = Opening(
        open_items=tuple(purse.take(items[: policy.open_items], lambda one: one.text)),
        profile=tuple(purse.take(believed[: policy.profile_items], in_short)),
        sessions=tuple(sorted(purse.take(loaded, lambda one: one.summary), key=lambda one: one.started_at)),
    )
    return replace(opening, tokens=policy.tokens - purse.left, left_out=purse.left_out)


def _believed(known: Sequence[ItemRecord], request: str) -> list[ItemRecord]:
    """Return what is believed and holds on; with a request no procedure that is for another task."""
    held = [one for one in known if one.is_searchable and one.valid_to is None]
    if not request.strip():
        return held
    fit = {one.id for one in fitting(held, request)}
    return [one for one in held if one.kind is not Kind.PROCEDURE or one.id in fit]


class _Purse:
    """Tokens that are spent on what fits."""

    def __init__(self, tokens: int, counter: TokenCounter) -> None:
        self.left = tokens
        self.left_out = 0
        self._counter = counter

    def take(self, wanted: Iterable[_T], text_of: Callable[[_T], str]) -> Iterator[_T]:
        for one in wanted:
            tokens = self._counter.count(text_of(one))
            if tokens > self.left:
                self.left_out += 1
                continue
            self.left -= tokens
            yield one


def _shared(wanted: frozenset[int], text: str) -> int:
    """Count the words that a text shares with the request, whatever their form."""
    return len(wanted & stems_in(text)) if wanted else 0

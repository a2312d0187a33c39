"""Which stretches of a session are summarised next, and which summaries stand for it. Pure.

A segment is made from original messages alone; retold summaries drift after five or six rounds (SPEC [W3]). Above them
stands a tree, and for a long session one overview that is made anew, never appended to: so a prompt needs the overview
and the few segments after it, however long the session is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from retentia.errors import InvalidInput
from retentia.model.summary import OVERVIEW_LEVEL, SEGMENT_LEVEL
from retentia.store.summaries import Stretch
from retentia.working.window import WindowMessage, units_of

PolicyKind = Literal["rolling", "turns", "phases", "off"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryPolicy:
    """When messages are summarised, and how long what is said of them may be.

    "rolling": once `threshold` messages have no summary, all but the last `keep_recent` get one. "turns": once twice
    `max_recent_messages` have none, the oldest `max_recent_messages`. "phases": up to where the session turned to
    something else. "off": never. A segment takes at most `words` words and covers at most `longest` messages and
    `segment_tokens` tokens. `fan_in` summaries of one level make one of the next.
    """

    kind: PolicyKind = "rolling"
    threshold: int = 30
    keep_recent: int = 15
    max_recent_messages: int = 6
    words: int = 200
    longest: int = 30
    segment_tokens: int = 6000
    fan_in: int = 6

    def __post_init__(self) -> None:
        if self.kind not in ("rolling", "turns", "phases", "off"):
            raise InvalidInput(f"unknown kind of summary policy {self.kind!r}; use rolling, turns, phases or off")
        if not 0 <= self.keep_recent < self.threshold:
            raise InvalidInput("keep_recent must be 0 or more, and less than threshold")
        if min(self.max_recent_messages, self.longest, self.segment_tokens) < 1 or self.words < 20 or self.fan_in < 2:
            raise InvalidInput(
                "max_recent_messages, longest and segment_tokens must be 1 or more, words 20 and fan_in 2 or more"
            )

    @property
    def due_at(self) -> int:
        """How many messages without a summary make the next segment due; 0 for never."""
        if self.kind == "off":
            return 0
        return 2 * self.max_recent_messages if self.kind == "turns" else self.threshold


@dataclass(frozen=True, slots=True)
class Hole:
    """Places [first, last] of a session that no segment covers; `last` is None at its end."""

    first: int
    last: int | None


def holes(stretches: Sequence[Stretch]) -> list[Hole]:
    """Return what none of them covers, in order; the last one is open and always there."""
    found: list[Hole] = []
    reached = 1
    for stretch in sorted(stretches, key=lambda one: one.first_seq):
        if stretch.first_seq > reached:
            found.append(Hole(reached, stretch.first_seq - 1))
        reached = max(reached, stretch.last_seq + 1)
    return [*found, Hole(reached, None)]


def standing(stretches: Sequence[Stretch]) -> list[Stretch]:
    """Return few summaries that say something of every covered place once, in order: the highest ones.

    What lies partly behind the end of the overview waits for the next overview; what is below it stands meanwhile.
    """
    found: list[Stretch] = []
    for stretch in sorted(stretches, key=lambda one: -one.level):
        if not any(above.first_seq <= stretch.last_seq and stretch.first_seq <= above.last_seq for above in found):
            found.append(stretch)
    return sorted(found, key=lambda one: one.first_seq)


def next_segment(
    messages: Sequence[WindowMessage],
    policy: SummaryPolicy,
    *,
    is_open: bool,
    closing: bool = False,
    boundaries: Sequence[int] = (),
) -> int:
    """Return how many of the messages of a hole the next segment takes, from its first; 0 for none yet.

    `closing` leaves nothing for later. `boundaries` are the counts of messages after which a phase ends. A tool call
    stays with its results: a segment ends before them or, if it is not due otherwise, behind them.
    """
    if policy.kind == "off" and not closing:
        return 0
    wanted = len(messages) if closing or not is_open else _due(len(messages), policy, boundaries)
    if not wanted:
        return 0
    most = min(wanted, policy.longest)
    spent = 0
    for count, message in enumerate(messages[:most]):
        spent += message.tokens
        if spent > policy.segment_tokens and count:
            most = count
            break
    cuts = _cuts(messages)
    before = [cut for cut in cuts if cut <= most]
    behind = [cut for cut in cuts if most < cut <= (wanted if closing or not is_open else len(messages) - 1)]
    return before[-1] if before else behind[0] if behind else 0


def next_rollup(stretches: Sequence[Stretch], policy: SummaryPolicy) -> Sequence[Stretch]:
    """Return the neighbours of one level that make the next summary of the level above; () when there are too few."""
    levels = sorted({one.level for one in stretches if one.level != OVERVIEW_LEVEL})
    for level in levels:
        above = [one for one in stretches if one.level == level + 1]
        free: list[Stretch] = []
        for one in sorted((one for one in stretches if one.level == level), key=lambda one: one.first_seq):
            if any(upper.first_seq <= one.first_seq <= upper.last_seq for upper in above):
                free = []
                continue
            free = [*free, one] if free and free[-1].last_seq + 1 == one.first_seq else [one]
            if len(free) == policy.fan_in:
                return free
    return ()


def next_overview(stretches: Sequence[Stretch], policy: SummaryPolicy) -> Sequence[Stretch]:
    """Return what a new overview is made from: all that stands below it; () while the one there is will do."""
    below = [one for one in stretches if one.level != OVERVIEW_LEVEL]
    segments = [one for one in below if one.level == SEGMENT_LEVEL]
    if len(segments) < policy.fan_in or holes(segments)[0].last is not None:
        return ()
    reached = max((one.last_seq for one in stretches if one.level == OVERVIEW_LEVEL), default=0)
    if sum(one.first_seq > reached for one in segments) < min(policy.fan_in, 2):
        return ()
    return standing(below)


def _due(count: int, policy: SummaryPolicy, boundaries: Sequence[int]) -> int:
    match policy.kind:
        case "rolling":
            return count - policy.keep_recent if count >= policy.threshold else 0
        case "turns":
            return policy.max_recent_messages if count >= policy.due_at else 0
        case _:
            ends = [end for end in boundaries if 0 < end <= count - policy.max_recent_messages]
            return ends[-1] if ends else 0


def _cuts(messages: Sequence[WindowMessage]) -> list[int]:
    """Return after how many messages the stretch may end without splitting what belongs together."""
    place = {message.id: number for number, message in enumerate(messages)}
    inside = {cut for unit in units_of(messages) for cut in range(place[unit[0].id] + 1, place[unit[-1].id] + 1)}
    return [cut for cut in range(1, len(messages) + 1) if cut not in inside]

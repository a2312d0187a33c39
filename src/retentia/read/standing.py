"""Standing: what speaks for an item whatever is asked, added to how well it matches. Messages have none. Pure.

What the person confirmed comes before what they said, what matters before what does not, and what was shown lately
before what was not for long: one step down, not a count, so that what is shown often does not win for that alone.
Events and notes fade with time, a little, unless the question names a time or a thing; what holds until it is changed
(facts, preferences, decisions, procedures) does not. All of it together is less than a clearly better match.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from retentia.index.ranking import RankedRecord
from retentia.model.ids import id_bytes
from retentia.model.record import Importance, ItemRecord, Kind, Record, Status

_DAY = 86_400_000_000
LONG_UNUSED = 90 * _DAY
"""What is older and was not shown for so long stands a little lower; in microseconds."""

_HALF_OF_FADING_DAYS = 180.0
_FADING = frozenset({Kind.EVENT, Kind.NOTE})
_IMPORTANCE = {Importance.LOW: -1.0, Importance.NORMAL: 0.0, Importance.HIGH: 1.0}
# A number of three digits or more (a year, an order), a long id, or something in quotes: the question means one thing.
_NAMES_ONE = re.compile(r"\d{3,}|\b[0-9a-f]{8,}\b|[\"“”„«»「」『』][^\"“”„«»「」『』]{2,}[\"“”«»」』]", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingWeights:
    """How much each part of an item's standing adds to its score (docs/decisions/0017).

    `confirmed` for what the person confirmed; `importance` for high, taken off for low; `unused` for what is older than
    three months and was not shown for as long; `faded` for events and notes, half of it after half a year. A signal of
    the search adds up to .25, and a score is seldom above 1.
    """

    confirmed: float = 0.03
    importance: float = 0.03
    unused: float = -0.01
    faded: float = -0.02

    @property
    def most(self) -> float:
        """By how much the standing of two items can differ."""
        return abs(self.confirmed) + 2 * abs(self.importance) + abs(self.unused) + abs(self.faded)


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What standing is judged by: `now`, when records were last `shown` (UTC microseconds), and if old ones fade."""

    now: int
    shown: Mapping[bytes, int]
    fades: bool = True


def names_one(question: str) -> bool:
    """Tell whether a question names a date, an id or a title, so that what it asks for may be old."""
    return _NAMES_ONE.search(question) is not None


def standing(record: Record, circumstances: Circumstances) -> dict[str, float]:
    """Return the signals of a record's standing, each 0 to 1 (importance from -1); those of 0 are left out."""
    if not isinstance(record, ItemRecord):
        return {}
    said = {
        "confirmed": float(record.status is Status.CONFIRMED),
        "importance": _IMPORTANCE[record.importance],
        "unused": float(circumstances.now - _last_needed(record, circumstances.shown) > LONG_UNUSED),
        "faded": _faded(record, circumstances.now) if circumstances.fades else 0.0,
    }
    return {name: value for name, value in said.items() if value}


def by_standing(
    ranked: Sequence[RankedRecord],
    found: Mapping[bytes, Record],
    circumstances: Circumstances,
    weights: StandingWeights,
) -> list[RankedRecord]:
    """Rank records anew with their standing, equal ones in the order they had."""
    return sorted(
        (_raised(entry, found.get(entry.record_id), circumstances, weights) for entry in ranked),
        key=lambda entry: -entry.score,
    )


def _raised(
    entry: RankedRecord, record: Record | None, circumstances: Circumstances, weights: StandingWeights
) -> RankedRecord:
    if record is None:
        return entry
    said = standing(record, circumstances)
    if not said:
        return entry
    more = sum(getattr(weights, name) * value for name, value in said.items())
    return replace(entry, score=entry.score + more, signals={**entry.signals, **said})


def _last_needed(record: ItemRecord, shown: Mapping[bytes, int]) -> int:
    return max(record.recorded_at, shown.get(id_bytes(record.id), 0))


def _faded(record: ItemRecord, now: int) -> float:
    """Return how far an event or a note has faded: 0 today, a half after half a year, never quite 1."""
    if record.kind not in _FADING:
        return 0.0
    since = record.recorded_at if record.occurred is None else record.occurred.start
    days = max(0, now - since) // _DAY
    return days / (days + _HALF_OF_FADING_DAYS)

"""Consolidating: what says the same becomes one record, what belongs together becomes a topic, evidence adds up. Pure.

Nothing is decided by age and nothing is summarised: a topic quotes its members word for word, and they stay. Merged is
only what is equal in all that counts, so that the one that is kept says everything the others said. What is planned
from a state and carried out leads to a state from which nothing more is planned.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from retentia.index.names import name_key
from retentia.model.claim import Claim, claim_of
from retentia.model.record import Importance, ItemRecord, Kind, Status
from retentia.model.time import Moment
from retentia.store.topics import MEMBER
from retentia.working.literals import find_literals

TOPIC = "topic"
"""The key of the body of a topic, which has its title."""

MOST_CONFIDENT = 0.98
_AT_ITS_TIME = frozenset({Kind.EVENT, Kind.COMMITMENT, Kind.DECISION})
_EDGES = ".!,;:\"'“”„«»()"
_BLANKS = re.compile(r"\s+")
_FIRMNESS = {Status.STATED: 0, Status.CONFIRMED: 1}
_WEIGHT = {Importance.LOW: 0, Importance.NORMAL: 1, Importance.HIGH: 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationSettings:
    """What is put together. Duplicates always; `topics` also gathers what belongs together.

    Of events, the latest `events_near` stay out of topics. With `every_days` a worker consolidates every scope so
    often, None never.
    """

    topics: bool = False
    events_near: int = 100
    every_days: int | None = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """Records that say what `kept` says, and go, once it has their sources and is kept as long as the last of them."""

    kept: ItemRecord
    gone: tuple[ItemRecord, ...]

    @property
    def expires_at(self) -> int | None:
        """When the last of them would go, in UTC microseconds; None for never."""
        ends = [one.expires_at for one in (self.kept, *self.gone)]
        return None if None in ends else max(end for end in ends if end is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Raise:
    """A record in which more sources give more confidence, 0 to 1; how firmly it stands stays as it is."""

    record: ItemRecord
    confidence: float


def merges(known: Iterable[ItemRecord]) -> list[Merge]:
    """Find what says the same as a record that can stand for it, in the order of the records that stay."""
    alike: dict[object, list[ItemRecord]] = {}
    for record in known:
        if not is_topic(record) and record.is_searchable and record.valid_to is None:
            alike.setdefault(_what_it_says(record), []).append(record)
    found = []
    for some in alike.values():
        kept, *others = sorted(some, key=_first_to_stay)
        gone = tuple(one for one in others if _says_all_of(kept, one))
        if gone:
            found.append(Merge(kept=kept, gone=gone))
    return sorted(found, key=lambda one: one.kept.id)


def raises(known: Iterable[ItemRecord]) -> list[Raise]:
    """Find records with more evidence than their confidence says: half the doubt goes with each source, up to a cap."""
    found = []
    for record in known:
        confidence = supported(len({source.id for source in record.sources if source.role != MEMBER}))
        if not is_topic(record) and confidence > record.confidence:
            found.append(Raise(record=record, confidence=confidence))
    return sorted(found, key=lambda one: one.record.id)


def supported(sources: int) -> float:
    """Return the least confidence in what so many records say."""
    return min(MOST_CONFIDENT, 1 - 0.5**sources) if sources else 0.0


def is_topic(record: ItemRecord) -> bool:
    """Tell whether a record is a topic."""
    return record.kind is Kind.KNOWLEDGE and isinstance(record.body.get(TOPIC), str) and "members" in record.body


def topic_text(title: str, members: Sequence[ItemRecord]) -> str:
    """Write a topic: its title, then each member word for word, with its day where it has one."""
    return "\n".join([f"{title}:", *(f"- {_dated(one)}" for one in members)])


def is_whole(text: str, members: Iterable[ItemRecord]) -> bool:
    """Tell whether a topic says all that its members say: their words, each literal, and the value of each claim."""
    return all(
        one.text in text
        and all(literal.text in text for literal in find_literals(one.text))
        and ((claim := claim_of(one.body)) is None or claim.value in text)
        for one in members
    )


def same_words(text: str) -> str:
    """Return the words of a text, whatever its case, spacing and punctuation; a question mark and numbers count."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    words = (word.strip(_EDGES) for word in _BLANKS.split(folded))
    return " ".join(word for word in words if word)


def _dated(record: ItemRecord) -> str:
    if record.occurred is None:
        return record.text
    day = str(record.occurred.local_day())
    parts = [part for part in (day[:-4], day[-4:-2], day[-2:]) if part != "00"]
    return f"{'-'.join(parts)}: {record.text}"


def _what_it_says(record: ItemRecord) -> object:
    claim = claim_of(record.body)
    said: object = same_words(record.text) if claim is None else _keys(claim)
    return record.kind, said, _when(record.occurred) if record.kind in _AT_ITS_TIME else None


def _keys(claim: Claim) -> tuple[object, ...]:
    return (
        name_key(claim.subject),
        claim.attribute,
        name_key(claim.value),
        name_key(claim.applies_to) if claim.applies_to else b"",
        claim.manner,
    )


def _when(moment: Moment | None) -> tuple[int, int] | None:
    return None if moment is None else (moment.start, moment.end)


def _first_to_stay(record: ItemRecord) -> tuple[int, int, int, int, str]:
    return (
        -_FIRMNESS.get(record.status, 0),
        -_WEIGHT[record.importance],
        record.valid_from or 0,
        record.recorded_at,
        record.id,
    )


def _says_all_of(kept: ItemRecord, other: ItemRecord) -> bool:
    """Tell whether nothing is lost with the other one: what it is marked as, since when, what was kept beside it."""
    return (
        _WEIGHT[kept.importance] >= _WEIGHT[other.importance]
        and (kept.valid_from or 0) <= (other.valid_from or 0)
        and kept.trust is other.trust
        and dict(kept.metadata) == dict(other.metadata)
        and _beside_claim(kept.body) == _beside_claim(other.body)
    )


def _beside_claim(body: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in body.items() if name not in {"subject", "value", "applies_to", "why"}}

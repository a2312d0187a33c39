"""Beliefs: what is held to be so, with its source and how it stands; as it is now, or as it was known once."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from retentia.model.claim import Claim, Revision
from retentia.model.record import ItemRecord, Status


@dataclass(frozen=True, slots=True, kw_only=True)
class Belief:
    """A claim and the item that holds it. `record.sources` name what it is known from, `record.text` quotes it.

    `changes` are its revisions, oldest first, where history was asked for.
    """

    claim: Claim
    record: ItemRecord
    changes: tuple[Revision, ...] = ()

    @property
    def id(self) -> str:
        """The id of its record."""
        return self.record.id

    @property
    def value(self) -> str:
        """The value, in the words it was said in."""
        return self.claim.value

    @property
    def is_current(self) -> bool:
        """Whether it is believed and holds on."""
        return self.record.is_searchable and self.record.valid_to is None

    @property
    def needs_confirmation(self) -> bool:
        """Whether a person should confirm it before something that matters is done because of it."""
        return self.record.status is not Status.CONFIRMED

    def holds_at(self, instant: int) -> bool:
        """Tell whether it held at an instant (UTC microseconds), as far as is known now."""
        starts, ends = self.record.valid_from, self.record.valid_to
        is_within = (starts is None or starts <= instant) and (ends is None or instant < ends)
        return self.record.is_searchable and is_within


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What is believed of a subject: its values by attribute, in the order they were learned."""

    subject: str
    beliefs: tuple[Belief, ...]

    def __iter__(self) -> Iterator[Belief]:
        return iter(self.beliefs)

    def __len__(self) -> int:
        return len(self.beliefs)

    def __getitem__(self, attribute: str) -> tuple[Belief, ...]:
        return tuple(one for one in self.beliefs if one.claim.attribute == attribute)

    def values(self) -> dict[str, list[str]]:
        """Return the values by attribute, as they were said."""
        found: dict[str, list[str]] = {}
        for one in self.beliefs:
            found.setdefault(one.claim.attribute, []).append(one.value)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """Something that would be learned and waits for the person: what, from which words, why it is not believed yet.

    `against` are the beliefs that it cannot stand beside.
    """

    belief: Belief
    why: str
    against: tuple[Belief, ...] = field(default=())

    @property
    def id(self) -> str:
        """The id to confirm, reject, correct or narrow."""
        return self.belief.id


def as_known(record: ItemRecord, changes: Sequence[Revision], known_at: int) -> ItemRecord | None:
    """Return an item as it was known at a time (UTC microseconds, recorded time); None where it was not known yet."""
    if record.recorded_at > known_at:
        return None
    undone: dict[str, Any] = {}
    for change in reversed(changes):
        if change.changed_at > known_at:
            undone |= change.before
    return replace(record, **_columns(undone)) if undone else record


def current(beliefs: Iterable[Belief]) -> tuple[Belief, ...]:
    """Return those that are believed and hold on."""
    return tuple(one for one in beliefs if one.is_current)


def _columns(undone: dict[str, Any]) -> dict[str, Any]:
    if "status" in undone:
        undone["status"] = Status(undone["status"])
    return undone

"""What is shown of an item in few words: its claim as a person would write it down, and the words it quotes. Pure."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from retentia.model.candidate import PERSON
from retentia.model.claim import claim_of
from retentia.model.ids import RecordId
from retentia.model.record import PROFILE_KINDS, ItemRecord, Record

_BETWEEN = 2
"""Stretches that are no further apart leave nothing out: a full stop and a blank."""


class Stretch(NamedTuple):
    """Characters [start, end) of a record's text."""

    id: RecordId
    start: int
    end: int


def says(record: ItemRecord) -> str:
    """Say what an item holds: "home: Lviv", "Jack, dislikes: football", or what was said of an event or a procedure."""
    claim = claim_of(record.body)
    if claim is None:
        return record.text
    if record.kind not in PROFILE_KINDS:
        return claim.value
    who = "" if claim.subject == PERSON else f"{claim.subject}, "
    return f"{who}{claim.attribute.replace('_', ' ')}: {claim.value}"


def in_short(record: ItemRecord) -> str:
    """Say what a prompt needs to know of an item: a fact in few words and where it applies, the rest word for word."""
    claim = claim_of(record.body)
    if claim is None or record.kind not in PROFILE_KINDS:
        return record.text
    return f"{says(record)} ({claim.applies_to})" if claim.applies_to else says(record)


def quotes_of(record: Record) -> tuple[Stretch, ...]:
    """Return the stretches each of which says what a record says; none for what was put together from several."""
    if not isinstance(record, ItemRecord):
        return (Stretch(record.id, 0, len(record.text)),)
    if claim_of(record.body) is None and len(record.sources) != 1:
        return ()
    return tuple(Stretch(one.id, one.start, one.end) for one in record.sources)


def is_told(quotes: Sequence[Stretch], told: Collection[Stretch]) -> bool:
    """Tell whether one of some stretches is covered, but for what parts sentences, by others that are told."""
    return any(_is_covered(one, told) for one in quotes)


def _is_covered(wanted: Stretch, told: Collection[Stretch]) -> bool:
    place = wanted.start
    for one in sorted(one for one in told if one.id == wanted.id):
        if one.start > place + _BETWEEN:
            break
        place = max(place, one.end)
    return place >= wanted.end - _BETWEEN and wanted.end > wanted.start

"""Reading what a model proposed: each item is held to the words of a user's own message, or refused. Pure.

A model cites messages that do not exist, miscounts, translates, and takes the assistant's words for the user's. What it
cites is only a hint of where to look: an item counts where its quote is found, and its value is taken from there, word
for word. See `retentia.learn.ground` for what else is checked.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from retentia.errors import InvalidMoment
from retentia.index.names import name_form, name_key
from retentia.languages.periods import Direction
from retentia.learn.cited import OwnWords, words_of
from retentia.learn.confidence import confidence_of
from retentia.learn.extract import DateReader
from retentia.learn.ground import Grounding, ground
from retentia.learn.stretch import Line
from retentia.model.attributes import Attributes
from retentia.model.candidate import PERSON, Candidate, Manner
from retentia.model.ids import RecordId
from retentia.model.message import JSON
from retentia.model.record import PROFILE_KINDS, Kind
from retentia.model.time import Moment
from retentia.working.original import Original

KINDS = (Kind.FACT, Kind.PREFERENCE, Kind.EVENT, Kind.COMMITMENT, Kind.DECISION, Kind.PROCEDURE)
NO_ITEM = "it is no item"
NOT_FOUND = "the quote stands in no own words of the user"
NOT_QUOTED = "the value does not stand in the quote"
NOBODY = "nobody of that name is in the quote"
NO_NAME = "the attribute is no name"
NOT_BORNE_OUT = "its message does not bear it out"
MISCITED = "it was said in another message than the model named"
KNOWN = "the rules read it already"
_FAMILY = "model"
_LONGEST_NAME = 40
_MOST_ITEMS = 100
_MARK = re.compile(r"\W*m?(\d{1,6})\W*", re.IGNORECASE)
_NAME = re.compile(r"[^\W\d_][\w '’-]*")
_DIGITS = re.compile(r"\d+")
_USER = frozenset({"", "user", "the user", "i", "me", "my", "ich", "nutzer", "benutzer", "я", "користувач"})


@dataclass(frozen=True, slots=True)
class Proposed:
    """An item that its message bears out; `doubt` says in words what does not quite fit, "" where all does."""

    candidate: Candidate
    message: Original
    doubt: str = ""

    @property
    def quote(self) -> str:
        """The words that say it."""
        return self.message.text[self.candidate.start : self.candidate.end]


@dataclass(frozen=True, slots=True)
class Read:
    """What an answer comes to: what may be learned, and why the rest may not, by reason with its count.

    `is_usable` is False where it holds items and none has the form of one: then it is no answer.
    """

    proposed: tuple[Proposed, ...]
    refused: Mapping[str, int]
    is_usable: bool = True


def read_items(
    items: Sequence[JSON],
    lines: Sequence[Line],
    *,
    by_rule: Iterable[Candidate],
    attributes: Attributes,
    dates: DateReader,
) -> Read:
    """Return what the items of an answer about some lines come to; what `by_rule` has of the same words is left out."""
    known, own = list(by_rule), _own_words(lines)
    proposed: dict[tuple[object, ...], Proposed] = {}
    refused: dict[str, int] = {}
    formed = 0
    for item in items[:_MOST_ITEMS]:
        found = _read(item, own, attributes, dates) if isinstance(item, Mapping) else NO_ITEM
        formed += found != NO_ITEM
        if isinstance(found, Proposed) and any(_is_same(found.candidate, one) for one in known):
            found = KNOWN
        if isinstance(found, Proposed):
            proposed.setdefault(_key(found.candidate), found)
        else:
            refused[found] = refused.get(found, 0) + 1
    return Read(tuple(proposed.values()), refused, is_usable=bool(formed) or not items)


def _read(
    item: Mapping[str, JSON], own: Mapping[str, OwnWords], attributes: Attributes, dates: DateReader
) -> Proposed | str:
    """Return an item as its message bears it out, or why it does not."""
    quote, value, kind = _text(item.get("quote")), _text(item.get("value")), _text(item.get("kind")).casefold()
    if not quote or not value or kind not in KINDS:
        return NO_ITEM
    placed = _placed(quote, item.get("message"), own)
    if placed is None:
        return NOT_FOUND
    words, (start, end), is_cited = placed
    message = words.message
    said = message.text[start:end]
    stated = words_of(value, said)
    subject = _subject(_text(item.get("subject")), message, said)
    attribute = _attribute(Kind(kind), _text(item.get("attribute")), attributes)
    if not stated or not subject or not attribute:
        return NOT_QUOTED if not stated else NOBODY if not subject else NO_NAME
    since, until = _bounds(item, said, message, dates)
    candidate = Candidate(
        kind=Kind(kind),
        subject=subject,
        attribute=attribute,
        value=stated,
        message_id=RecordId(message.id),
        start=start,
        end=end,
        manner=_manner(item.get("manner")),
        is_not=item.get("is_not") is True,
        since=since,
        until=until,
        applies_to=words_of(_text(item.get("applies_to")), said),
        body=_body(Kind(kind), item, (subject, stated), said, words),
    )
    near, offset = words.near(start, end)
    shifted = replace(candidate, start=start - offset, end=end - offset)
    verdict = ground(shifted, near, asked=words.asked, attributes=attributes)
    if verdict.grounding is Grounding.REJECTED:
        return NOT_BORNE_OUT  # its own reason may quote what was said
    manner = verdict.candidate.manner
    kept = replace(verdict.candidate, start=start, end=end, confidence=confidence_of(_FAMILY, manner))
    return Proposed(kept, message, verdict.reason or ("" if is_cited else MISCITED))


def _own_words(lines: Sequence[Line]) -> dict[str, OwnWords]:
    """Return the own words of the messages of users, by each of their marks."""
    by_id: dict[str, OwnWords] = {}
    found: dict[str, OwnWords] = {}
    for place, line in enumerate(lines):
        if line.role != "user":
            continue
        if line.message.id not in by_id:
            before = lines[place - 1] if place else None
            asked = before.message if before and before.role != "user" else None
            by_id[line.message.id] = OwnWords.of(line.message, asked)
        found[line.mark] = by_id[line.message.id]
    return found


def _placed(quote: str, mark: JSON, own: Mapping[str, OwnWords]) -> tuple[OwnWords, tuple[int, int], bool] | None:
    """Return where a quote stands: in the message that a mark names, or otherwise in the first of the others."""
    found = _MARK.fullmatch(str(mark)) if isinstance(mark, str | int) else None
    cited = own.get(f"m{int(found[1])}") if found else None
    order = {one.message.id: one for one in ([cited] if cited else []) + list(own.values())}
    for one in order.values():
        if place := one.find(quote):
            return one, place, one is cited
    return None


def _subject(told: str, message: Original, said: str) -> str:
    speaker = message.speaker or PERSON
    return speaker if told.casefold() in (*_USER, speaker.casefold()) else words_of(told, said)


def _attribute(kind: Kind, told: str, attributes: Attributes) -> str:
    """Return the name of an attribute; one that is not registered is one or two words, and "" is none at all."""
    if attributes.knows(told):
        return attributes.of(told).name
    if kind not in PROFILE_KINDS:
        return kind.value
    name = told.replace("_", " ").strip()
    is_name = _NAME.fullmatch(name) is not None and len(name) <= _LONGEST_NAME
    return attributes.of(name).name if is_name else ""


def _manner(told: JSON) -> Manner:
    name = _text(told).casefold()
    return Manner(name) if name in set(Manner) else Manner.INFERRED


def _bounds(
    item: Mapping[str, JSON], said: str, message: Original, dates: DateReader
) -> tuple[Moment | None, Moment | None]:
    """Return since when and until when it holds, as far as the quote says so; an end before its beginning is none."""
    since = _dated(_text(item.get("since")), said, message, dates, "past")
    until = _dated(_text(item.get("until")), said, message, dates, "future")
    begins = since or message.at
    return since, None if until and begins and until.end <= begins.start else until


def _dated(told: str, said: str, message: Original, dates: DateReader, toward: Direction) -> Moment | None:
    """Return the time that the quote names, where the model named it too: what nobody said is no time."""
    try:
        meant = Moment.parse(told, zone=message.at.zone if message.at else "UTC") if told else None
    except InvalidMoment:
        return None
    starts = (0, *(found.start() for found in _DIGITS.finditer(said))) if meant else ()
    named = (dates(said[start:], message, toward) for start in starts)
    return next((one for one in named if one and meant and one.overlaps(meant.start, meant.end)), None)


def _body(kind: Kind, item: Mapping[str, JSON], stated: tuple[str, str], said: str, words: OwnWords) -> dict[str, JSON]:
    subject, value = stated
    match kind:
        case Kind.COMMITMENT:
            return {"owner": subject, "due": words_of(_text(item.get("due")), said)}
        case Kind.DECISION:
            own = words.text
            return {"reasons": _all_of(item.get("reasons"), own), "rejected": _all_of(item.get("rejected"), own)}
        case Kind.PROCEDURE:
            return {"task": words_of(_text(item.get("applies_to")), said), "steps": [value]}
        case _:
            return {}


def _all_of(told: JSON, said: str) -> list[JSON]:
    given = told if isinstance(told, Sequence) and not isinstance(told, str) else [told]
    return [words for one in given[:_MOST_ITEMS] if (words := words_of(_text(one), said))]


def _text(told: JSON) -> str:
    return told.strip() if isinstance(told, str) else ""


def _is_same(candidate: Candidate, other: Candidate) -> bool:
    """Tell whether two readings are of the same words: whatever a model makes of them, the rules have read them."""
    if candidate.message_id != other.message_id or candidate.start >= other.end or other.start >= candidate.end:
        return False
    if (candidate.kind in PROFILE_KINDS) != (other.kind in PROFILE_KINDS):
        return False
    first, second = (set(name_form(one.value).split()) for one in (candidate, other))
    return first <= second or second <= first


def _key(candidate: Candidate) -> tuple[object, ...]:
    return (
        candidate.message_id,
        candidate.kind,
        name_key(candidate.subject),
        candidate.attribute,
        name_key(candidate.value),
        candidate.is_not,
    )

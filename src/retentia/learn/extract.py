"""Extraction by rules: from the messages of a session to candidates, in English, German and Ukrainian.

Only what a user says counts, in words of their own: no code, no quoted text, nothing that other roles say. A pattern
has to fit, every word around the verb has to be known, and nothing may speak against it: better to miss than to invent.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from retentia.languages.facts import fact_form, load_facts
from retentia.languages.periods import Direction
from retentia.learn.answers import answers_in
from retentia.learn.clause import is_quoted_line, own_words_until
from retentia.learn.confidence import confidence_of
from retentia.learn.dates import date_in
from retentia.learn.decisions import FAMILY, decisions_of
from retentia.learn.plain_dates import plain_date
from retentia.learn.quoted import is_quoted, quoted_stretches, touches_quote
from retentia.learn.reading import Reading, readings
from retentia.model.attributes import Attributes, shipped_attributes
from retentia.model.candidate import PERSON, Candidate, Manner
from retentia.model.ids import RecordId
from retentia.model.message import JSON
from retentia.model.record import PROFILE_KINDS, Importance, Kind
from retentia.model.time import Moment
from retentia.working.original import Original, sentences_of

DateReader = Callable[[str, Original, Direction], Moment | None]
"""Finds the first time that a clause of a message names, past or future as seen from it; None for none."""

_LONGEST_SENTENCE = 400
_NARROW = ("style", "favourite", "answer_language", "nickname")
_WIDE = ("likes", "hobby", "uses")


@dataclass(frozen=True, slots=True)
class Found:
    """A candidate with the characters of its value in the message, and the family of patterns that read it."""

    candidate: Candidate
    values: tuple[int, int]
    family: str


def extract(
    messages: Sequence[Original], *, attributes: Attributes | None = None, dates: DateReader | None = None
) -> list[Candidate]:
    """Return what users said of themselves and others, promised, decided and want done, in the order it was said.

    `dates` reads the times that clauses name; without it, they are read as seen from the message, or only dates with a
    year where it is not known when that was. Linear in the messages; one that has no word of any pattern costs
    microseconds.
    """
    return [one.candidate for one in find(messages, attributes=attributes, dates=dates)]


def find(
    messages: Sequence[Original], *, attributes: Attributes | None = None, dates: DateReader | None = None
) -> list[Found]:
    """Return the candidates of `extract` with where their values stand and how they were read."""
    known, dates = attributes or shipped_attributes(), dates or _dated
    found: list[Found] = []
    for place, message in enumerate(messages):
        if message.role == "user" and not message.tool:
            found += _of_message(messages, place, known, dates)
    planned = {(one.candidate.message_id, one.candidate.start) for one in found if _is_planned(one.candidate)}
    found += (
        Found(replace(one, confidence=confidence_of(FAMILY, one.manner)), (one.start, one.end), FAMILY)
        for one in decisions_of(messages)
        if (one.message_id, one.start) not in planned
    )
    order = {message.id: place for place, message in enumerate(messages)}
    return sorted(found, key=lambda one: (order[one.candidate.message_id], one.candidate.start, one.values))


def _is_planned(candidate: Candidate) -> bool:
    return candidate.manner is Manner.INTENDED


def _dated(text: str, message: Original, toward: Direction) -> Moment | None:
    if message.at is None:
        return plain_date(text)
    return plain_date(text, message.at.zone) or date_in(text, said=message.at, toward=toward)


def _of_message(messages: Sequence[Original], place: int, attributes: Attributes, dates: DateReader) -> list[Found]:
    message = messages[place]
    text = fact_form(message.text)
    answered = answers_in(messages, place)
    called = load_facts().called_for(text)
    if not called and not answered:
        return []
    languages = [load_facts().words[code] for code in {pattern.code for pattern in called}]
    own_until, quoted = own_words_until(text, languages), quoted_stretches(message.text)
    found: list[Found] = []
    spans = sentences_of(message.text) or ([(0, len(text))] if answered else [])  # "41" is an answer, no sentence
    for start, end in spans:
        if start >= own_until or is_quoted_line(text, start) or is_quoted(message.text, start, quoted):
            continue
        end = _clipped(text, start, min(end, own_until))
        said = text[start:end]
        read = [one for pattern in load_facts().called_for(said) for one in readings(pattern, said)]
        if not found:
            read += [one for pattern in answered for one in readings(pattern, said)]
        found += _distinct([made for one in read for made in _candidates(one, message, start, end, attributes, dates)])
    return [one for one in found if not touches_quote(message.text, *one.values, quoted)]


def _clipped(text: str, start: int, end: int) -> int:
    """Return where a sentence is cut, at a comma, so that no value is cut in two."""
    return end if end - start <= _LONGEST_SENTENCE else max(start, text.rfind(",", start, start + _LONGEST_SENTENCE))


def _candidates(
    reading: Reading, message: Original, start: int, end: int, attributes: Attributes, dates: DateReader
) -> Iterator[Found]:
    pattern, meant = reading.pattern, reading.meant
    kind = Kind(pattern.kind)
    attribute, is_not = pattern.attribute, meant.is_not or meant.is_over
    if kind in PROFILE_KINDS:
        attribute = attributes.of(attribute).name
        opposite = attributes.of(attribute).opposite
        if meant.is_not and attribute in ("likes", "dislikes"):
            if attribute == "dislikes" or meant.manner is not Manner.ASSERTED:
                return
            attribute, is_not = opposite, False
    has_one = kind in PROFILE_KINDS and not attributes.of(attribute).has_many
    for first, last in reading.values:
        value = message.text[start + first : start + last]
        candidate = Candidate(
            kind=kind,
            subject=reading.who or message.speaker or PERSON,
            attribute=attribute,
            value=value,
            message_id=RecordId(message.id),
            start=start,
            end=end,
            manner=meant.manner,
            is_not=is_not,
            is_correction=has_one and reading.is_correction,
            corrects=reading.old if has_one else reading.groups.get("old", "").strip(),
            since=_since(reading, kind, message, dates),
            applies_to=_applies_to(reading, kind),
            importance=Importance.HIGH if kind is Kind.NOTE else Importance.NORMAL,
            confidence=confidence_of(pattern.family, meant.manner),
            body=_body(reading, message, value),
        )
        yield Found(candidate, (start + first, start + last), pattern.family)


def _since(reading: Reading, kind: Kind, message: Original, dates: DateReader) -> Moment | None:
    if kind is Kind.EVENT:
        return dates(reading.clause, message, "past")
    if kind not in PROFILE_KINDS or reading.meant.manner is Manner.FORMER:
        return None
    if reading.meant.manner is Manner.INTENDED:
        return dates(reading.clause, message, "future")
    begins = load_facts().words[reading.pattern.code].find("since", reading.clause)
    return dates(begins[0], message, "past") if begins else None


def _applies_to(reading: Reading, kind: Kind) -> str:
    if kind is Kind.PROCEDURE:
        return reading.groups.get("task", "").strip()
    return reading.applies_to if kind in PROFILE_KINDS else ""


def _body(reading: Reading, message: Original, value: str) -> dict[str, JSON]:
    groups = reading.groups
    match Kind(reading.pattern.kind):
        case Kind.COMMITMENT:
            due = groups.get("due") or groups.get("later") or ""
            return {"owner": message.speaker or PERSON, "due": due.strip()}
        case Kind.PROCEDURE:
            return {"task": groups.get("task", "").strip(), "steps": [value]}
        case _:
            return {"of": groups["of"].strip()} if "of" in groups else {}


def _distinct(found: Sequence[Found]) -> list[Found]:
    """Return the candidates of one sentence without repeats, and without the wide reading of what was read narrowly."""
    kept: list[Found] = []
    for one in found:
        if not any(_is_covered(one, other) for other in found if other is not one) and not any(
            _is_repeat(one, other) for other in kept
        ):
            kept.append(one)
    is_important = any(one.candidate.kind is Kind.NOTE for one in kept)
    others = [one for one in kept if one.candidate.kind is not Kind.NOTE]
    if is_important and others:
        return [replace(one, candidate=replace(one.candidate, importance=Importance.HIGH)) for one in others]
    return kept


def _is_repeat(one: Found, other: Found) -> bool:
    first, second = one.candidate, other.candidate
    same = (first.kind, first.attribute, first.subject) == (second.kind, second.attribute, second.subject)
    return same and _overlap(one, other)


def _is_covered(one: Found, other: Found) -> bool:
    first, second = one.candidate, other.candidate
    is_narrower = second.attribute in _NARROW and (first.attribute in _WIDE or first.kind is Kind.PROCEDURE)
    is_promise = second.kind is Kind.PROCEDURE and first.kind in (Kind.COMMITMENT, Kind.NOTE)
    return (is_narrower or is_promise) and _overlap(one, other)


def _overlap(one: Found, other: Found) -> bool:
    return one.values[0] < other.values[1] and other.values[0] < one.values[1]

"""Contradictions: the agent says of one thing that it is this, and later that it is that. Pure, and cautious.

Compared are short statements of one value ("the fee for a second bag is 50 dollars") and of what is and is not. The
subject must be told in the same words. What the user or a tool said in between about it excuses the change, and so does
the agent's own word that something is new, corrected, or only supposed.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from retentia.diagnose.log import Called, Said, Step
from retentia.diagnose.own_words import plain, sentences
from retentia.diagnose.repeated_calls import may_change
from retentia.diagnose.support import numbers_of, terms_of
from retentia.diagnose.symptom import Symptom, SymptomKind, quote
from retentia.diagnose.wording import wording

_VALUE = re.compile(
    r"(?P<before>[$€£₴])?\s?(?P<number>\d[\d.,]*\d|\d)\s?(?P<unit>%|[$€£₴]|[^\W\d_]{1,12}\b)?[\s.!*_]*$"
)
_LONGEST = 200
_FEWEST_TERMS = 2
_FEWEST_TERMS_NEGATED = 4
_TEXT = 20_000


@dataclass(frozen=True, slots=True)
class _Statement:
    """What was said of a subject: a value with its unit, or, without, that it is so (or `negated`, that it is not)."""

    place: int
    said: Said
    quote: str
    subject: frozenset[int]
    value: str
    unit: str
    negated: bool


def contradictions(session: str, steps: Sequence[Step], *, only: Said | None = None) -> Iterator[Symptom]:
    """Yield each statement of the agent that contradicts an earlier one, with both quotes.

    `only` looks at one of the steps alone, and at what bears on it.
    """
    known: dict[tuple[frozenset[int], str], _Statement] = {}
    subjects = [one.subject for one in _statements(0, only)] if only is not None else []
    for place, step in enumerate(steps):
        if not isinstance(step, Said) or step.role != "assistant":
            continue
        if only is not None and step is not only and not _names_one(step.text, subjects):
            continue
        for statement in _statements(place, step):
            key = (statement.subject, statement.unit)
            earlier = known.get(key)
            known[key] = statement
            if earlier is None or earlier.place == place or not _differ(earlier, statement):
                continue
            if only in (None, step) and not _is_excused(steps[earlier.place + 1 : place], statement):
                yield Symptom(
                    kind=SymptomKind.CONTRADICTION,
                    session=session,
                    ids=(earlier.said.id, step.id),
                    quotes=(earlier.quote, statement.quote),
                    reason="the same subject, another value, and nothing in between that tells why"
                    if statement.unit
                    else "said to be so and not so, and nothing in between that tells why",
                )


def _statements(place: int, said: Said) -> Iterator[_Statement]:
    words = wording()
    for sentence in sentences(said.text):
        if sentence.end - sentence.start > _LONGEST or sentence.is_question:
            continue
        own = plain(sentence.own)
        verb = words.is_value.search(own)
        if verb is None or words.corrects.search(own):
            continue
        negated = words.negation.search(own) is not None
        if value := _VALUE.fullmatch(own[verb.end() :].strip()):
            subject = terms_of(own[: verb.start()])
            unit = (value["before"] or value["unit"] or "").casefold()
            if len(subject) >= _FEWEST_TERMS and unit and not negated:
                number = next(iter(numbers_of(value["number"])), value["number"])
                yield _Statement(place, said, quote(own), subject, number, unit, negated)
        elif not numbers_of(own):
            subject = terms_of(words.negation.sub(" ", own))
            if len(subject) >= _FEWEST_TERMS_NEGATED:
                yield _Statement(place, said, quote(own), subject, "", "", negated)


def _names_one(text: str, subjects: Sequence[frozenset[int]]) -> bool:
    """Whether a text names one of the subjects; far quicker than reading it sentence by sentence."""
    if not subjects:
        return False
    terms = terms_of(text)
    return any(subject <= terms for subject in subjects)


def _differ(earlier: _Statement, later: _Statement) -> bool:
    return earlier.value != later.value if later.unit else earlier.negated != later.negated


def _is_excused(between: Sequence[Step], later: _Statement) -> bool:
    """Whether something happened in between that may have changed the subject."""
    for step in between:
        if isinstance(step, Called):
            if may_change(step) or later.value in numbers_of(str(step.result)[:_TEXT]) or not later.unit:
                return True
        elif step.role != "assistant" and _bears_on(step.text[:_TEXT], later):
            return True
    return False


def _bears_on(text: str, later: _Statement) -> bool:
    """Whether a text is about the subject, or names the new value, or says that something changed."""
    about = terms_of(text)
    return (
        2 * len(about & later.subject) >= len(later.subject)
        or (bool(later.value) and later.value in numbers_of(text))
        or wording().again.search(text) is not None
    )

"""Repeated questions: the agent asks the user for something that the user has answered."""

import re
from collections.abc import Iterator, Sequence

from retentia.diagnose.log import Said, Step
from retentia.diagnose.own_words import plain, sentences
from retentia.diagnose.support import numbers_of, terms_of
from retentia.diagnose.symptom import Symptom, SymptomKind, quote
from retentia.diagnose.wording import wording

_LISTED = re.compile(r"\W{0,4}(?:[-*•]|\d+[.)]|\w+(?: \d+)?:)\W")  # an item of a list is offered to be read, not asked
_SAME = 0.99
_FEWEST_TERMS = 2
_SHORT_ANSWER = 12  # terms
_LONGEST_QUESTION = 300
_TEXT = 20_000


def repeated_questions(session: str, steps: Sequence[Step], *, only: Said | None = None) -> Iterator[Symptom]:
    """Yield each question for something that had been asked in the same words and answered by the user.

    Offers and requests to confirm are no such questions; nor is one about another or a new thing. `only` looks at one
    of the steps alone.
    """
    asked: list[tuple[int, Said, str, frozenset[int]]] = []
    looked_for = [terms_of(one) for one in questions_in(only.text)] if only is not None else []
    said = [step for step in steps if isinstance(step, Said) and step.role in ("user", "assistant")]
    for place, step in enumerate(said):
        if step.role != "assistant" or (only is not None and step is not only and not _may_ask(step.text, looked_for)):
            continue
        for question in questions_in(step.text):
            terms = terms_of(question)
            if len(terms) < _FEWEST_TERMS:
                continue
            earlier = next((one for one in reversed(asked) if one[1] is not step and _alike(one[3], terms)), None)
            if earlier is not None and (answer := _answer(said[earlier[0] + 1 : place], terms)) is not None:
                yield Symptom(
                    kind=SymptomKind.REPEATED_QUESTION,
                    session=session,
                    ids=(earlier[1].id, answer.id, step.id),
                    quotes=(quote(earlier[2]), quote(answer.text), quote(question)),
                    reason="asked again in the same words; the user had answered",
                )
            asked.append((place, step, question, terms))


def questions_in(text: str) -> Iterator[str]:
    """Yield the questions of a text for something that only the one who is asked knows."""
    words = wording()
    for sentence in sentences(text):
        if sentence.end - sentence.start > _LONGEST_QUESTION or _LISTED.match(sentence.own):
            continue
        own = plain(sentence.own)
        is_request = sentence.is_question or own[:6].casefold() == "please"
        if is_request and words.asks.search(own) and not words.offers.search(own):
            yield own


def _may_ask(text: str, looked_for: Sequence[frozenset[int]]) -> bool:
    """Whether a text holds all the words of a question; far quicker than reading it sentence by sentence."""
    if not looked_for:
        return False
    terms = terms_of(text)
    return any(_SAME * len(one) <= len(one & terms) for one in looked_for)


def _alike(one: frozenset[int], other: frozenset[int]) -> bool:
    return len(one & other) >= _SAME * len(one | other)


def _answer(between: Sequence[Said], asked: frozenset[int]) -> Said | None:
    """Return what the user answered right away; None where he did not, or where something new came up since.

    A long message that has no word of the question is taken for something else.
    """
    first = next((step for step in between if step.role == "user"), None)
    words = wording()
    if first is None or words.unanswered.search(first.text[:_TEXT]) or first.text.rstrip().endswith("?"):
        return None
    said = terms_of(first.text[:_TEXT])
    if len(said) < _FEWEST_TERMS and not numbers_of(first.text[:_TEXT]):
        return None
    if len(said) > _SHORT_ANSWER and not said & asked:
        return None
    later = [step for step in between if step.role == "user" and step is not first]
    if any(words.offers.search(step.text[:_TEXT]) or words.again.search(step.text[:_TEXT]) for step in later):
        return None
    return first

"""Quotes: where a quoted text stands in a message, whether it is the speaker's own, and has the value in it."""

import re
from collections.abc import Iterator

from retentia.index.terms import stems_of
from retentia.index.words import words_of
from retentia.languages.facts import fact_form
from retentia.languages.guess import script_of
from retentia.learn.clause import is_quoted_line, own_words_until
from retentia.learn.quoted import is_quoted, quoted_stretches, touches_quote
from retentia.model.candidate import Candidate
from retentia.working.original import Original, sentences_of

_LOOSE = re.compile(r"[\s\"'“”„«»‘’`]+")


def places_of(text: str, candidate: Candidate, quote: str) -> Iterator[tuple[int, int]]:
    """Yield where the quote stands: at the offsets, or else wherever only blanks, quotation marks and case differ."""
    start, end = candidate.start, candidate.end
    if 0 <= start < end <= len(text) and (not quote or _loosely(text[start:end]) == _loosely(quote)):
        yield start, end
        return
    words = [re.escape(word) for word in _LOOSE.split(quote) if word]
    if words:
        gap = r"[\s\"'“”„«»‘’`]+"
        yield from (found.span() for found in re.finditer(gap.join(words), text, re.IGNORECASE))


def _loosely(text: str) -> str:
    return _LOOSE.sub(" ", text).casefold().strip()


def misquoted(candidate: Candidate, message: Original) -> str:
    """Return in words what is wrong with the quote or the value of a candidate; "" where nothing is."""
    text = message.text
    own = [(start, end) for start, end in sentences_of(text) if not is_quoted_line(text, start)]
    until = own_words_until(fact_form(text))
    if candidate.start >= until or not any(start < candidate.end and candidate.start < end for start, end in own):
        return "the quote is no sentence of the speaker's own"
    quote = text[candidate.start : candidate.end]
    value = candidate.value.strip()
    if _is_anothers(candidate, text, value):
        return "it is between quotation marks: somebody else's words"
    if value and (value in quote or not words_in(value) - words_in(quote)):
        return ""
    if script_of(candidate.value) not in ("", script_of(quote)):
        return f"the value {candidate.value!r} is in another script than what was said"
    return f"the value {candidate.value!r} does not stand in the quote"


def _is_anothers(candidate: Candidate, text: str, value: str) -> bool:
    stretches = quoted_stretches(text)
    if is_quoted(text, candidate.start, stretches):
        return True
    place = text.find(value, candidate.start, candidate.end) if value else -1
    return place >= 0 and touches_quote(text, place, place + len(value), stretches)


def words_in(text: str) -> set[str]:
    """Return the stems of the words of a text."""
    return {stem for chunk in text.split() for word in words_of(chunk) for stem in stems_of(word.text)}

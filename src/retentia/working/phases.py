"""Phases: where a session turns to something else, so that a summary may end there instead of in the middle.

Conservative: a phase opens only with a user's message, and a change of vocabulary counts only when hardly a term goes
on (TextTiling, Hearst 1997). Tool calls and their results stay together.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from math import sqrt

from retentia.index.tokenizer import analyse
from retentia.languages.cues import Cue, cue_form, load_cues
from retentia.model.time import Moment
from retentia.working.original import Original, sentences_of

_CLOSING_WORDS = 14
_WINDOW = 5
_FEWEST_TERMS = 40
_MOST_SHARED = 0.08
_SHORTEST = 5
_MICROSECOND = timedelta(microseconds=1)


class Sign(StrEnum):
    """What tells that a phase opens: words that say so, words that closed the last one, a pause, other vocabulary."""

    NEXT_TOPIC = "next_topic"
    CLOSING = "closing"
    PAUSE = "pause"
    VOCABULARY = "vocabulary"


@dataclass(frozen=True, slots=True)
class Boundary:
    """A phase opens with the message at `place`."""

    place: int
    message_id: str
    sign: Sign


def phase_boundaries(messages: Sequence[Original], *, pause: timedelta = timedelta(hours=4)) -> tuple[Boundary, ...]:
    """Return where phases open in a session, in order; never at its first message."""
    terms = [_terms(message) for message in messages]
    found: list[Boundary] = []
    opened = 0
    for place in range(1, len(messages)):
        if messages[place].role != "user":
            continue
        sign = _sign(messages, place, pause)
        if sign is None and place - opened >= _SHORTEST and _other_words(terms, place):
            sign = Sign.VOCABULARY
        if sign is not None:
            found.append(Boundary(place, messages[place].id, sign))
            opened = place
    return tuple(found)


def _sign(messages: Sequence[Original], place: int, pause: timedelta) -> Sign | None:
    message = messages[place]
    spans = sentences_of(message.text[:1000])
    opening = message.text[slice(*spans[0])] if spans else ""
    if load_cues().said(Cue.NEXT_TOPIC, cue_form(opening)):
        return Sign.NEXT_TOPIC
    earlier = next((messages[at] for at in range(place - 1, -1, -1) if messages[at].role == "user"), None)
    if earlier is not None and _closes(earlier.text) and not _closes(message.text):
        return Sign.CLOSING
    return Sign.PAUSE if _apart(messages[place - 1].at, message.at) >= pause else None


def _closes(text: str) -> bool:
    return (
        len(text) < 200
        and len(text.split()) <= _CLOSING_WORDS
        and not text.rstrip().endswith("?")
        and load_cues().said(Cue.CLOSING, cue_form(text.strip()))
    )


def _apart(before: Moment | None, after: Moment | None) -> timedelta:
    """Return the time between two moments, as far as both are known: days without an hour may touch."""
    if before is None or after is None:
        return timedelta()
    return (after.start - before.end) * _MICROSECOND


def _terms(message: Original) -> Counter[int]:
    if message.role not in ("user", "assistant") or message.tool:
        return Counter()
    return Counter(memoryview(analyse(message.text).stems).cast("I"))


def _other_words(terms: Sequence[Counter[int]], place: int) -> bool:
    """Tell whether what follows a place shares hardly a term with what came before it."""
    if place < _WINDOW or place + _WINDOW > len(terms):
        return False
    before: Counter[int] = sum(terms[place - _WINDOW : place], Counter())
    after: Counter[int] = sum(terms[place : place + _WINDOW], Counter())
    if min(len(before), len(after)) < _FEWEST_TERMS:
        return False
    shared = sum(count * after[term] for term, count in before.items())
    lengths = sqrt(sum(count**2 for count in before.values()) * sum(count**2 for count in after.values()))
    return shared / lengths < _MOST_SHARED

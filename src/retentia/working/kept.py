"""What agents lose first and a store keeps as records: decisions, reasons, rejected options, open items, environment.

A sentence is kept when it has a cue of its kind and nothing speaks against it: a question decides nothing, and what a
model says about the user's machines is not the user's word.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from retentia.languages.cues import Cue, cue_form, load_cues
from retentia.working.literal import Literal, LiteralKind
from retentia.working.literal_words import literal_words
from retentia.working.literals import find_literals
from retentia.working.original import Original, sentences_of

_LONGEST_WORDS = 40
_LONGEST_CHARACTERS = 320
_FEWEST_WORDS = 3
_QUESTIONS = ("?", "？", "؟")
_NOT_SO = (Cue.GOAL, Cue.HYPOTHETICAL, Cue.REJECTED, Cue.DECISION)
_ASIDE = (Cue.SMALL_TALK, Cue.CLOSING)


class KeptKind(StrEnum):
    """What a kept sentence is."""

    DECISION = "decision"
    REASON = "reason"
    REJECTED = "rejected"
    OPEN_ITEM = "open_item"
    ENVIRONMENT = "environment"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A sentence worth a record of its own: the characters [start, end) of the message, word for word."""

    kind: KeptKind
    quote: str
    message_id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A sentence of a message with what it does; at most 40 words of it."""

    message: Original
    place: int
    start: int
    end: int
    cues: frozenset[Cue]
    literals: tuple[Literal, ...]

    @property
    def quote(self) -> str:
        return self.message.text[self.start : self.end]

    @property
    def is_question(self) -> bool:
        return self.quote.rstrip("\"'»”“’) ").endswith(_QUESTIONS)


def spoken_sentences(messages: Sequence[Original]) -> list[Sentence]:
    """Return what people and models said, without small talk, echoed memory, code, system prompts and tool results."""
    return [
        sentence
        for place, message in enumerate(messages)
        if message.role not in ("system", "tool") and not message.tool
        for sentence in _sentences(message, place)
        if sentence.cues.isdisjoint(_ASIDE) and not (message.role == "assistant" and Cue.ECHO in sentence.cues)
    ]


def kept_of(messages: Sequence[Original]) -> tuple[Kept, ...]:
    """Return what is worth a record of its own, in the order of the messages; one sentence may be several kinds."""
    return tuple(kept_in(spoken_sentences(messages), messages))


def kept_in(sentences: Sequence[Sentence], messages: Sequence[Original]) -> Iterator[Kept]:
    """Yield what is worth a record among the sentences of these messages."""
    before: Sentence | None = None
    last_answer = max((place for place, message in enumerate(messages) if message.role == "assistant"), default=-1)
    for sentence in sentences:
        follows = before is not None and before.message is sentence.message and _decides(before)
        for kind in _kinds(sentence, follows_decision=follows, is_answered=sentence.place <= last_answer):
            yield Kept(
                kind=kind,
                quote=sentence.quote,
                message_id=sentence.message.id,
                start=sentence.start,
                end=sentence.end,
            )
        before = sentence


def _sentences(message: Original, place: int) -> Iterator[Sentence]:
    cues = load_cues()
    for start, end in sentences_of(message.text):
        end = _clipped(message.text, start, end)
        form = cue_form(message.text[start:end])
        yield Sentence(
            message=message,
            place=place,
            start=start,
            end=end,
            cues=frozenset(cue for cue in Cue if cues.said(cue, form)),
            literals=find_literals(message.text[start:end]),
        )


def _clipped(text: str, start: int, end: int) -> int:
    """Return where a sentence is cut: after 40 words, between words, and after 320 characters at the latest."""
    end = min(end, start + _LONGEST_CHARACTERS)
    words = text[start:end].split(None, _LONGEST_WORDS)
    if len(words) > _LONGEST_WORDS:
        end -= len(words[-1])
    return start + len(text[start:end].rstrip())


def _kinds(sentence: Sentence, *, follows_decision: bool, is_answered: bool) -> Iterable[KeptKind]:
    cues = sentence.cues
    if len(sentence.quote.split()) < _FEWEST_WORDS and " " in sentence.quote:
        return []  # a heading, an exclamation
    if sentence.is_question:
        return [KeptKind.OPEN_ITEM] if sentence.message.role == "user" and not is_answered else []
    kinds = []
    if Cue.DECISION in cues and Cue.HYPOTHETICAL not in cues:
        kinds.append(KeptKind.DECISION)
    if Cue.REJECTED in cues and Cue.HYPOTHETICAL not in cues:
        kinds.append(KeptKind.REJECTED)
    if Cue.REASON in cues and (kinds or follows_decision):
        kinds.append(KeptKind.REASON)
    if Cue.OPEN_ITEM in cues or (Cue.HYPOTHETICAL in cues and Cue.DECISION in cues):
        kinds.append(KeptKind.OPEN_ITEM)
    if sentence.message.role == "user" and _tells_environment(sentence):
        kinds.append(KeptKind.ENVIRONMENT)
    return kinds


def _decides(sentence: Sentence) -> bool:
    return not sentence.is_question and not sentence.cues.isdisjoint((Cue.DECISION, Cue.REJECTED))


def _tells_environment(sentence: Sentence) -> bool:
    """Tell whether a sentence names software that runs somewhere: "we're on X", or X with its version beside Y."""
    named = len(set(_software().findall(sentence.quote)))
    has_version = any(literal.kind is LiteralKind.VERSION for literal in sentence.literals)
    if not sentence.cues.isdisjoint(_NOT_SO):
        return False
    return (Cue.ENVIRONMENT in sentence.cues and (named > 0 or has_version)) or (named > 1 and has_version)


@cache
def _software() -> re.Pattern[str]:
    names = sorted(map(re.escape, literal_words().software), key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(names)})(?!\w)")

"""A sentence of a message with what it does, told by cues."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from retentia.languages.cues import Cue, Said, cue_form, load_cues
from retentia.working.literal import Literal
from retentia.working.literals import find_literals
from retentia.working.original import Original, sentences_of

_LONGEST_WORDS = 40
_LONGEST_CHARACTERS = 320
_QUESTIONS = ("?", "？", "؟")
_ASIDE = (Cue.SMALL_TALK, Cue.CLOSING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A sentence of a message with what it does; at most 40 words of it. `place` is the message's, from 0."""

    message: Original
    place: int
    start: int
    end: int
    cues: Said = field(compare=False, repr=False)
    literals: tuple[Literal, ...]

    @property
    def quote(self) -> str:
        return self.message.text[self.start : self.end]

    @property
    def is_question(self) -> bool:
        return self.quote.rstrip("\"'»”“’) ").endswith(_QUESTIONS)

    @property
    def is_aside(self) -> bool:
        """Whether it is small talk, or an assistant's repeating of remembered things: nothing to quote."""
        is_echo = self.message.role == "assistant" and self.says(Cue.ECHO)
        return is_echo or self.says(*_ASIDE)

    def says(self, *cues: Cue) -> bool:
        """Tell whether it has any of the cues."""
        return self.cues.has(*cues)


def all_sentences(messages: Sequence[Original]) -> list[Sentence]:
    """Return what people and models said, without code, quoted memory, system prompts and tool results."""
    return [
        sentence
        for place, message in enumerate(messages)
        if message.role not in ("system", "tool") and not message.tool
        for sentence in _sentences(message, place)
    ]


def _sentences(message: Original, place: int) -> Iterator[Sentence]:
    for start, end in sentences_of(message.text):
        end = _clipped(message.text, start, end)
        yield Sentence(
            message=message,
            place=place,
            start=start,
            end=end,
            cues=load_cues().of(cue_form(message.text[start:end])),
            literals=find_literals(message.text[start:end]),
        )


def _clipped(text: str, start: int, end: int) -> int:
    """Return where a sentence is cut: after 40 words, between words, and after 320 characters at the latest."""
    end = min(end, start + _LONGEST_CHARACTERS)
    words = text[start:end].split(None, _LONGEST_WORDS)
    if len(words) > _LONGEST_WORDS:
        end -= len(words[-1])
    return start + len(text[start:end].rstrip())

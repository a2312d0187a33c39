"""Where what a model cites stands in the own words of a user's message, as it was said there. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Self

from retentia.languages.facts import fact_form
from retentia.learn.clause import own_words_until
from retentia.working.original import Original, spoken

LONGEST_QUOTE = 600
_AROUND = 1000
_LONG = 4000
_QUOTED_LINE = re.compile(r"\n\s*[>|]")
_END = re.compile(r"[.!?\n]\s+")
_LOOSE = re.compile(r"[\s\"'“”„«»‘’`]+")
_SPACED = r"[^\W_\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
"""A letter or digit of the scripts that put spaces between words."""
_IN_WORD = re.compile(_SPACED)


@dataclass(frozen=True, slots=True)
class OwnWords:
    """A message of a user, and the [start, end) of what is neither code, quoted memory nor pasted in it.

    `asked` is what was said right before, which it may answer; None where nothing was.
    """

    message: Original
    spans: tuple[tuple[int, int], ...]
    asked: Original | None = None

    @classmethod
    def of(cls, message: Original, asked: Original | None = None) -> Self:
        """Find the own words of a message; linear in it."""
        until = own_words_until(fact_form(message.text))
        clipped = ((start, min(end, until)) for start, end in spoken(message.text) if start < until)
        return cls(message, tuple(clipped), asked)

    @property
    def text(self) -> str:
        """The own words alone."""
        return "\n".join(self.message.text[start:end] for start, end in self.spans)

    def find(self, quote: str) -> tuple[int, int] | None:
        """Return where a quote stands first in one stretch of the own words, without a line that quotes others."""
        patterns = list(_patterns(quote))
        for start, end in self.spans:
            for pattern in patterns:
                found = pattern.search(self.message.text, start, end)
                if found and not _QUOTED_LINE.search(found[0]):
                    return found.span()
        return None

    def near(self, start: int, end: int) -> tuple[Original, int]:
        """Return the message, and of a long one only the sentences around a stretch; and where that begins."""
        text = self.message.text
        if len(text) <= _LONG:
            return self.message, 0
        first, last = next(span for span in self.spans if span[0] <= start and end <= span[1])
        if start - first > _AROUND:
            begins = _END.search(text, start - _AROUND, start)
            first = begins.end() if begins else start - _AROUND
        if last - end > _AROUND:
            ends = _END.search(text, end + _AROUND // 2, end + _AROUND)
            last = ends.end() if ends else end + _AROUND
        return replace(self.message, text=text[first:last]), first


def words_of(told: str, said: str) -> str:
    """Return what a model copied, as it was said; "" where nobody said it.

    It begins with a word, and its last word may go on: "peanut" is "peanuts" where that was said. Only blanks,
    quotation marks and case may differ.
    """
    found = next((match for pattern in _patterns(told) if (match := pattern.search(said))), None)
    if found is None:
        return ""
    start, end = found.span()
    while end < len(said) and _IN_WORD.match(said[end - 1]) and _IN_WORD.match(said[end]):
        end += 1
    return said[start:end]


def _patterns(text: str) -> Iterator[re.Pattern[str]]:
    """Yield what a text looks like: as whole words, and with a last word that goes on; nothing without any word."""
    words = [re.escape(word) for word in _LOOSE.split(text) if word]
    if len(text) > LONGEST_QUOTE or not any(character.isalnum() for character in text):
        return
    begins = rf"(?<!{_SPACED})" if _IN_WORD.match(text.lstrip()) else ""
    pattern = begins + _LOOSE.pattern.join(words)
    yield re.compile(rf"{pattern}(?!{_SPACED})", re.IGNORECASE)
    yield re.compile(pattern, re.IGNORECASE)

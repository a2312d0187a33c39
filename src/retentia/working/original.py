"""An original message, as a summary is made from it, and its sentences."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from retentia.languages.cues import load_cues
from retentia.model.time import Moment
from retentia.working.literal_quotes import blocks
from retentia.working.literal_words import literal_words

_END = re.compile(r"[.!?…؟]+[\"'»”“’)\]]*\s+|[。！？]+[」』”’）]*\s*|\n\s*")
_LINE_MARKS = re.compile(r"(?:[-*•·>#]+|\d{1,2}[.)])\s+")
# What we quoted to the model and what it may repeat: the lines of a memory block, and a block whole.
_QUOTED_BLOCK = re.compile(r"<(memory|untrusted|conversation) ([0-9a-f]{8})>.*?(?:</\1 \2>|\Z)", re.DOTALL)
_QUOTED_LINE = re.compile(r"^\| .*$", re.MULTILINE)
_HAS_WORD = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Original:
    """One message of a summarised range, word for word.

    `tool` names the tool whose result it is and `status` says how the call went ("ok", "error"); both are "" for other
    messages.
    """

    id: str
    role: str
    text: str
    speaker: str = ""
    tool: str = ""
    status: str = ""
    at: Moment | None = None


def sentences_of(text: str) -> list[tuple[int, int]]:
    """Return the [start, end) of each sentence with a word in it, in order; code and quoted memory are left out.

    Linear in the text. A full stop behind an abbreviation, a day (3. März) or before a small letter ends nothing.
    """
    spans: list[tuple[int, int]] = []
    for first, last in spoken(text):
        start = first
        for end in _Ends(text, first, last):
            trimmed = _trimmed(text, start, end)
            if trimmed is not None:
                spans.append(trimmed)
            start = end
    return spans


def spoken(text: str) -> Iterator[tuple[int, int]]:
    """Yield the [start, end) of what is neither code nor quoted memory, in order."""
    holes = [(start, end) for _, start, end in blocks(text)]
    if "<" in text:
        holes += (match.span() for match in _QUOTED_BLOCK.finditer(text))
    if "| " in text:
        holes += (match.span() for match in _QUOTED_LINE.finditer(text))
    place = 0
    for start, end in sorted(holes):
        if place < start:
            yield place, start
        place = max(place, end)
    if place < len(text):
        yield place, len(text)


class _Ends:
    """Where the sentences of a stretch of text end, its own end last."""

    def __init__(self, text: str, first: int, last: int) -> None:
        self._text, self._first, self._last = text, first, last

    def __iter__(self) -> Iterator[int]:
        for found in _END.finditer(self._text, self._first, self._last):
            if found[0][0] != "." or "\n" in found[0] or self._is_end(found.start(), found.end()):
                yield found.end()
        yield self._last

    def _is_end(self, stop: int, following: int) -> bool:
        after = self._text[following : following + 1]
        before = self._text[max(self._first, stop - 24) : stop].casefold().split()
        word = before[-1].lstrip("(„“\"'«") if before else ""
        if after.islower() or word in load_cues().abbreviations:
            return False
        return not (len(word) <= 2 and word.isdecimal() and self._is_ordinal(before[-2:-1], following))

    def _is_ordinal(self, before: list[str], following: int) -> bool:
        """Tell whether the number in front of a full stop is one: am 3. Tag, 3. März."""
        word = self._text[following : following + 12].split(None, 1)
        behind = literal_words().meaning(word[0].rstrip(".,;:!?")) if word else None
        return behind == "month" or not load_cues().before_ordinals.isdisjoint(before)


def _trimmed(text: str, start: int, end: int) -> tuple[int, int] | None:
    piece = text[start:end]
    start += len(piece) - len(piece.lstrip())
    if mark := _LINE_MARKS.match(text, start, end):
        start = mark.end()
    end = start + len(text[start:end].rstrip())
    return (start, end) if start < end and _HAS_WORD.search(text, start, end) else None

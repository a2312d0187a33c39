"""Own words: what of a text its author says himself, sentence by sentence. Code, quotes and drafts are not his word.

Linear in the text, whatever it holds.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_FENCE = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`[^`\n]{1,300}`")
_QUOTED_LINES = re.compile(r"^[ \t]*>[^\n]*$", re.MULTILINE)
_QUOTES = re.compile(
    r'"[^"\n]{1,600}"|“[^“”\n]{1,600}”|„[^„“”"\n]{1,600}[“”"]|«[^«»\n]{1,600}»|»[^«»\n]{1,600}«|(?<!\w)\'[^\'\n]{12,600}\'(?!\w)'
)
# A letter that the agent drafts for somebody: from its salutation to a rule, a heading or the end.
_DRAFT = re.compile(
    r"^[ \t*_]*(?:subject:|betreff:|тема:|dear |sehr geehrte|liebe[rs]? \w+,|шановн|hi \[|hello \[|hallo \[)"
    r"(?:(?!^[ \t]*(?:---|\*\*\*|#)).)*",
    re.MULTILINE | re.DOTALL | re.IGNORECASE,
)
_END = re.compile(r"(?:(?<!\b[^\W\d_])\.|(?<![!?…])[!?…]++)[\"'»”’)\]*_]*+(?=\s|$)|\n+")
_MARKUP = "*_#"
_HIDDEN = "\ufffc"
_APOSTROPHES = str.maketrans(dict.fromkeys("’ʼ`´", "'"))


@dataclass(frozen=True, slots=True)
class Sentence:
    """Characters [start, end) of a text; `own` is as long, with what is not the author's word blanked out."""

    start: int
    end: int
    own: str

    @property
    def is_question(self) -> bool:
        """Whether it ends with a question mark."""
        return self.own.rstrip(" \n\t\"'»”’)]*_").endswith("?")


def own_words(text: str) -> str:
    """Return a text of the same length in which what its author does not say himself is blanked out."""
    for pattern in (_FENCE, _INLINE, _QUOTED_LINES, _QUOTES, _DRAFT):
        text = pattern.sub(_blank, text)
    return text.translate(_APOSTROPHES)


def sentences(text: str) -> Iterator[Sentence]:
    """Yield the sentences of a text, those without a letter of the author's own left out."""
    own = own_words(text)
    start = 0
    for end in (*(match.end() for match in _END.finditer(own)), len(own)):
        stretch = own[start:end]
        if any(map(str.isalpha, stretch)):
            first = start + len(stretch) - len(stretch.lstrip())
            yield Sentence(first, end, own[first:end])
        start = end


def plain(stretch: str) -> str:
    """Return a stretch without Markdown's marks and doubled white space, as it is compared and shown."""
    return " ".join(stretch.translate(dict.fromkeys(map(ord, _MARKUP), " ")).split())


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", _HIDDEN, match[0])

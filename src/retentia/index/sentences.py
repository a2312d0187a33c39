"""Sentences: where a long text is cut so that each passage says one thing."""

import re
from collections.abc import Iterator

# A full stop needs white space after it (3.14, auth.py); marks of scripts without spaces, and line ends, do not.
_END = re.compile(r"[.!?…؟۔।][\"'»”’)\]]*\s+|[。！？｡]+[」』”’）]*\s*|\n\s*")


def split_passages(text: str, *, whole_up_to: int = 600, target: int = 300) -> list[tuple[int, int]]:
    """Return the (start, end) character spans of a text's passages; white space at their edges is left out.

    A text of up to `whole_up_to` characters is one passage. A longer one is cut at sentence and line ends and packed
    to at most `target` characters; a longer sentence is cut between words where it can be. Linear in the text.
    """
    if len(text) <= whole_up_to:
        return _visible(text, [(0, len(text))])
    packed: list[tuple[int, int]] = []
    for start, end in _pieces(text, target):
        if packed and end - packed[-1][0] <= target:
            packed[-1] = (packed[-1][0], end)
        else:
            packed.append((start, end))
    return _visible(text, packed)


def _pieces(text: str, target: int) -> Iterator[tuple[int, int]]:
    start = 0
    for end in (*(match.end() for match in _END.finditer(text)), len(text)):
        while end - start > target:
            cut = _cut(text, start, start + target)
            yield start, cut
            start = cut
        if end > start:
            yield start, end
        start = end


def _cut(text: str, start: int, limit: int) -> int:
    """Find the last space in the second half of the stretch; without one the cut goes through the word."""
    space = text.rfind(" ", (start + limit) // 2, limit)
    return limit if space < 0 else space + 1


def _visible(text: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    trimmed = []
    for start, end in spans:
        stretch = text[start:end]
        first = end - len(stretch.lstrip())
        last = start + len(stretch.rstrip())
        if first < last:
            trimmed.append((first, last))
    return trimmed

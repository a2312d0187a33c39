"""Stretches of a message between quotation marks or fences: whole sentences in them are somebody else's words."""

import re
from collections.abc import Sequence

_PAIRS = (("“", "”"), ("„", "“"), ("„", "”"), ("«", "»"), ("»", "«"), ('"', '"'))
_LONGEST = 4_000
_MARKED = (f"{left}[^{right}]{{1,{_LONGEST}}}{right}" for left, right in _PAIRS)
_QUOTED = re.compile("|".join((r"```.+?(?:```|\Z)", r'""".+?(?:"""|\Z)', *_MARKED)), re.DOTALL)
_NAME = 3
"""So many words between marks may be a name in the speaker's own sentence."""


def quoted_stretches(text: str) -> list[tuple[int, int]]:
    """Return [start, end) of what is quoted; a fence that is not closed goes on to the end. Linear in the text."""
    return [(found.start(), found.end()) for found in _QUOTED.finditer(text)]


def is_quoted(text: str, start: int, stretches: Sequence[tuple[int, int]]) -> bool:
    """Tell whether a sentence that begins at `start` is in a quote."""
    return any(first < start < end or (first == start and not _is_name(text[first:end])) for first, end in stretches)


def touches_quote(text: str, start: int, end: int, stretches: Sequence[tuple[int, int]]) -> bool:
    """Tell whether some of the characters [start, end) are quoted; a name between marks is not."""
    return any(start < last and first < end and not _is_name(text[first:last]) for first, last in stretches)


def _is_name(quote: str) -> bool:
    return len(quote.split()) <= _NAME

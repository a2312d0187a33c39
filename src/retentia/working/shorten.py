"""Shortening summaries to a number of tokens: to fewer lines or to their first sentences, the newest losing least."""

import re
from collections.abc import Sequence
from dataclasses import replace

from retentia.working.records import RecalledItem
from retentia.working.tokens import TokenCounter

CUT = " […]"
_END = re.compile(r"(?<=[.!?…;。！？])\s+|\n+")
_BLANK = re.compile(r"\s+")
_LONGEST_TOKEN = 64
"""Characters of the longest token that matters: what lies behind so many is not looked at."""
_AROUND = 24
_LEAST = 12
_TOKENS_A_WORD = 1.3
_FEWEST_WORDS = 16


def shortened(records: Sequence[RecalledItem], room: int, counter: TokenCounter) -> list[RecalledItem]:
    """Shorten the texts of records so that all together take about `room` tokens, each at least its first words.

    Each may take an equal part of what the later ones leave; the last ones come first. A text says less in fewer words
    where it knows how to, or else is cut.
    """
    result: list[RecalledItem] = []
    left = room
    for number, record in enumerate(reversed(records)):
        allowed = max(_LEAST, left // (len(records) - number) - _AROUND)
        text = _shorter(record, allowed, counter)
        left -= counter.count(text) + _AROUND
        result.append(replace(record, text=text))
    return result[::-1]


def _shorter(record: RecalledItem, most: int, counter: TokenCounter) -> str:
    if record.shorten is None or counter.count(record.text) <= most:
        return cut(record.text, most, counter)
    words = round(most / _TOKENS_A_WORD)
    while words >= _FEWEST_WORDS:
        text = record.shorten(words)
        if text and counter.count(text) <= most:
            return text
        words = words * 3 // 4
    return cut(record.shorten(_FEWEST_WORDS) or record.text, most, counter)


def cut(text: str, most: int, counter: TokenCounter) -> str:
    """Return the beginning of a text that takes at most `most` tokens, to the end of a sentence where one is near."""
    start = text[: _LONGEST_TOKEN * most]
    if len(start) == len(text) and counter.count(text) <= most:
        return text
    whole = _longest([found.start() for found in _END.finditer(start)], start, most, counter)
    words = _longest([found.start() for found in _BLANK.finditer(start)] or range(1, len(start)), start, most, counter)
    end = whole if whole * 2 >= words else words
    return start[:end].rstrip() + CUT if end else ""


def _longest(ends: Sequence[int], text: str, most: int, counter: TokenCounter) -> int:
    """Return the last of the ends at which a text takes at most `most` tokens, the mark included; 0 for none."""
    low, high = 0, len(ends)
    while low < high:
        middle = (low + high) // 2
        if counter.count(text[: ends[middle]] + CUT) <= most:
            low = middle + 1
        else:
            high = middle
    return ends[low - 1] if low else 0

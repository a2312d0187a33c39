"""Shortening summaries to a number of tokens: to fewer lines or to their first sentences, the newest losing least."""

import re
from collections.abc import Sequence
from dataclasses import replace

from retentia.working.records import RecalledItem
from retentia.working.tokens import TokenCounter

CUT = " […]"
_END = re.compile(r"(?<=[.!?…;。！？])\s+|\n+")
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
    if counter.count(text) <= most:
        return text
    ends = [found.start() for found in _END.finditer(text)]
    fitting = [end for end in ends if counter.count(text[:end] + CUT) <= most]
    if fitting and fitting[-1] * 2 >= ends[-1] * most // max(counter.count(text), 1):
        return text[: fitting[-1]] + CUT
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if counter.count(text[:middle] + CUT) <= most:
            low = middle
        else:
            high = middle - 1
    words = text[:low].rsplit(maxsplit=1)[0] if " " in text[:low].strip() else text[:low]
    return words + CUT if words else ""

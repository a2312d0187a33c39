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


def shortened(records: Sequence[RecalledItem], room: int, counter: TokenCounter) -> list[RecalledItem]:
    """Shorten the texts of records so that all together take about `room` tokens, each at least its first words.

    Each may take an equal part of what the later ones leave; the last ones come first. A text is replaced by its
    longest form that fits, or else cut.
    """
    result: list[RecalledItem] = []
    left = room
    for number, record in enumerate(reversed(records)):
        allowed = max(_LEAST, left // (len(records) - number) - _AROUND)
        forms = (form for form in (record.text, *record.shorter) if counter.count(form) <= allowed)
        text = next(forms, "") or cut((record.text, *record.shorter)[-1], allowed, counter)
        left -= counter.count(text) + _AROUND
        result.append(replace(record, text=text))
    return result[::-1]


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

"""Values: what of a match is the thing that was learned, without what only says how, where or when."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from retentia.languages.facts import FactWords

_LONGEST_WORDS = 8
_EDGES = " \t,;:-–—\"'“”„«»*_"
_ARTICLE = re.compile(
    r"(?:an?|the|my|our|ein|eine|einen|einem|einer|der|die|das|den|dem|mein|meine|meinen|unser|unsere|unseren)\s+(?=\S)"
)


@dataclass(slots=True, kw_only=True)
class Value:
    """The characters [start, end) of a sentence, and what the words around them do."""

    start: int
    end: int
    classes: set[str] = field(default_factory=set)
    applies_to: str = ""


def read_value(said: str, start: int, end: int, words: FactWords) -> Value:
    """Narrow a stretch to the value in it: up to where another clause begins, without adverbs, articles and places."""
    if stop := words.find("stop", said, start, end):
        end = stop.start()
    elif said[end - 1].isalnum() and said[end : end + 1].isalnum():  # longer than any value
        end = start
    value = Value(start=start, end=end)
    for _ in range(_LONGEST_WORDS):
        before = value.start, value.end
        _trim(said, value)
        _strip_front(said, value, words)
        _strip_back(said, value, words)
        if before == (value.start, value.end):
            break
    return value


def exact_value(said: str, start: int, end: int) -> Value:
    """Return a stretch that is the value, without an article and punctuation around it."""
    value = Value(start=start, end=end)
    _trim(said, value)
    _strip_article(said, value)
    return value


def pieces_of(said: str, value: Value, words: FactWords) -> Iterator[tuple[int, int]]:
    """Yield the parts of an enumeration; nothing where commas part them and no "and" shows that it is one."""
    joined = _joints(words)
    cuts = list(joined.finditer(said, value.start, value.end))
    if cuts and cuts[-1][0].strip() == ",":  # no enumeration: "clear, measurable goals", "tea, I think"
        return
    place = value.start
    for cut in cuts:
        yield from _piece(said, place, cut.start())
        place = cut.end()
    yield from _piece(said, place, value.end)


def _joints(words: FactWords) -> re.Pattern[str]:
    known = words.clause["joined"].removeprefix(r"(?<![\w'])").removesuffix(r"(?!\w)")
    return re.compile(rf"\s*,?\s(?:{known})\s|\s*,\s*", re.IGNORECASE)


def _piece(said: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    value = Value(start=start, end=end)
    _trim(said, value)
    _strip_article(said, value)
    if value.start < value.end and len(said[value.start : value.end].split()) <= _LONGEST_WORDS:
        yield value.start, value.end


def _trim(said: str, value: Value) -> None:
    while value.start < value.end and said[value.start] in _EDGES:
        value.start += 1
    while value.start < value.end and said[value.end - 1] in _EDGES:
        value.end -= 1


def _strip_front(said: str, value: Value, words: FactWords) -> None:
    if found := words.gap.match(said, value.start, value.end):
        value.classes.add(words.class_of(found[1]))
        value.start = found.end()
    elif (where := words.find("applies", said, value.start, value.end)) and where.start() == value.start:
        value.applies_to = value.applies_to or where[0]
        value.start = where.end()
    else:
        _strip_article(said, value)


def _strip_back(said: str, value: Value, words: FactWords) -> None:
    places = [place for place in words.finds("applies", said, value.start, value.end) if place.end() == value.end]
    if places and places[-1].start() > value.start:
        value.applies_to = value.applies_to or places[-1][0]
        value.end = places[-1].start()
    elif (found := words.gap_at_end.search(said[value.start : value.end])) and found.start(1) > 0:
        value.classes.add(words.class_of(found[1]))
        value.end = value.start + found.start(1)


def _strip_article(said: str, value: Value) -> None:
    if article := _ARTICLE.match(said, value.start, value.end):
        value.start = article.end()

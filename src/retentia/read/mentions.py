"""Mentions: whether a question says one of the names of a thing, also inflected or with a slip of the keyboard.

A slip is one letter too many, missing, wrong or swapped with its neighbour (Damerau 1964), in a word of five letters or
more whose first two are right: "typscript" says TypeScript, "mango" does not say Mongo.
"""

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from retentia.index.names import name_form

_Words: TypeAlias = Sequence[str]
_LEAST_MISSPELT = 5
_LEAST_PLURAL = 3
_KNOWN_LETTERS = 2
_BETWEEN = 2


class Question:
    """The words of a question, to look for names in."""

    __slots__ = ("_by_beginning", "_words")

    def __init__(self, text: str) -> None:
        self._words: _Words = name_form(text).split()
        self._by_beginning: dict[str, set[int]] = {}
        for place, word in enumerate(self._words):
            self._by_beginning.setdefault(word[:_KNOWN_LETTERS], set()).add(place)

    def mentions(self, names: Iterable[str]) -> bool:
        """Tell whether the question says one of the names: all its words, near each other, in any order."""
        return any(self._says(name_form(name).split()) for name in names)

    def _says(self, name: _Words) -> bool:
        places = [self._places(word) for word in name]
        if not places or not all(places):
            return False
        reach = len(name) + _BETWEEN
        return any(all(any(abs(at - place) < reach for at in found) for found in places) for place in places[0])

    def _places(self, word: str) -> list[int]:
        """Return where the question says a word."""
        alike = self._by_beginning.get(word[:_KNOWN_LETTERS], ())
        return [place for place in alike if _is_same(self._words[place], word)]


def _is_same(said: str, word: str) -> bool:
    if said == word:
        return True
    shorter, longer = sorted((said, word), key=len)
    if len(longer) - len(shorter) > 1:
        return False
    if longer == f"{shorter}s":
        return len(shorter) >= _LEAST_PLURAL
    return len(longer) >= _LEAST_MISSPELT and shorter.isalpha() and longer.isalpha() and _is_one_slip(shorter, longer)


def _is_one_slip(shorter: str, longer: str) -> bool:
    """Tell whether one letter was added, left out, replaced or swapped; the words differ by at most one in length."""
    start = next((place for place, pair in enumerate(zip(shorter, longer, strict=False)) if pair[0] != pair[1]), None)
    if start is None:
        return len(shorter) != len(longer)
    if len(shorter) < len(longer):
        return shorter[start:] == longer[start + 1 :]
    is_swap = shorter[start : start + 2] == longer[start : start + 2][::-1]
    return shorter[start + 1 :] == longer[start + 1 :] or (is_swap and shorter[start + 2 :] == longer[start + 2 :])

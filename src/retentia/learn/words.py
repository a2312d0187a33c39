"""Words of a text and phrases to find in them: folded, so that case, accents and punctuation make no difference."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from retentia.index.fold import fold

_WORD = re.compile(r"\w+")
_PATTERN = re.compile(r"\w+\*?")


@dataclass(frozen=True, slots=True)
class Word:
    """A folded word and where it stands: characters [start, end) of the text."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words to find one after the other. A word that ends in * stands for all that begin so.

    `beside` are the stop words of the phrase: they need not be there, and tell which side is meant when they are.
    Where a phrase has stop words only, they are its `words` and `is_loose`: others may stand between them.
    """

    words: tuple[str, ...]
    beside: frozenset[str]
    is_loose: bool = False


def read_words(text: str) -> list[Word]:
    """Return the words of a text with their places; "user_1" is one word, "Anna's" is two."""
    return [Word(fold(match.group()).strip(), match.start(), match.end()) for match in _WORD.finditer(text)]


def words_of(text: str) -> list[str]:
    """Return the folded words of a text."""
    return [word.text for word in read_words(text)]


def read_phrase(text: str, stop: Collection[str]) -> Phrase:
    """Read a phrase of the data, such as "depend* on"; `stop` are folded stop words."""
    found = _PATTERN.findall(text)
    words = [fold(word.rstrip("*")).strip() + ("*" if word.endswith("*") else "") for word in found]
    content = tuple(word for word in words if word not in stop)
    if not content:
        return Phrase(tuple(words), frozenset(), is_loose=True)
    return Phrase(content, frozenset(words) & frozenset(stop))


def fits(pattern: str, word: str) -> bool:
    """Tell whether a word of a phrase stands for a word of a text."""
    return word.startswith(pattern[:-1]) if pattern.endswith("*") else word == pattern


def places(phrase: Phrase, words: list[str]) -> Iterator[tuple[int, ...]]:
    """Yield the indices of `words` at which a phrase is found: one after the other, or in this order if it is loose."""
    if phrase.is_loose:
        at, found = 0, []
        for pattern in phrase.words:
            at = next((index for index in range(at, len(words)) if fits(pattern, words[index])), -1) + 1
            if not at:
                return
            found.append(at - 1)
        yield tuple(found)
        return
    length = len(phrase.words)
    for start in range(len(words) - length + 1):
        if all(fits(pattern, words[start + offset]) for offset, pattern in enumerate(phrase.words)):
            yield tuple(range(start, start + length))

"""Tokenizer: from text to the term ids and flags that search compares, the same on every machine.

An id is the CRC-32 of a stem's or gram's UTF-8 bytes: stable, quick, and with a hundred thousand different words in a
scope about one pair shares an id. What a word contributes is remembered, so ingest looks most words up.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from struct import pack
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from retentia.index.fold import fold, fold_umlauts
from retentia.index.sentences import split_passages
from retentia.index.terms import grams_of, stems_of
from retentia.index.words import words_of
from retentia.languages import load_languages
from retentia.model.passage import ENDS_WITH_QUESTION, HAS_TEMPORAL_EXPRESSION

__all__ = [
    "ANALYZER",
    "Analysis",
    "QueryTerms",
    "analyse",
    "analyse_query",
    "date_text",
    "forget_words",
    "speaker_key",
    "split_passages",
]

ANALYZER = "retentia-1"
"""Names what this analysis finds; part of the index identity. Change it whenever the same text yields other ids."""

_QUESTION_MARKS = frozenset("?？؟\u037e⁇⁈⁉‽⸮՞፧꘏")
_TEMPORAL_NUMBER = re.compile(
    r"(?<!\d)(?:19|20)\d\d(?:s|er|х)?(?!\w)"  # a year or a decade
    r"|(?<!\d)\d{1,2}(?::\d\d|[ap]m)(?!\w)"  # a time of day
    r"|(?<!\d)\d{1,2}[./]\d{1,2}[./]\d{2,4}(?!\w)|(?<!\d)\d{4}-\d\d(?:-\d\d)?(?!\w)",  # a date
    re.IGNORECASE,
)
_MONTHS = (
    *("", "January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_REMEMBERED_CHUNKS = 32_768  # about 9 MB
_REMEMBERED_CHUNK_CHARACTERS = 48
_REMEMBERED_NAMES = 4_096
_CHUNK_CHARACTERS = 400  # a longer run without white space is analysed in slices, to stay linear
_SAYS_NOTHING_AT_END = '.,!?;:")'


class Analysis(NamedTuple):
    """The terms and flags of one passage's own text, as they are stored in its row."""

    stems: bytes
    grams: bytes
    flags: int


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """What a query asks for: stems in order and grams with repeats (uint32), its words.

    And whether it asks when something was, or what was so before.
    """

    stems: NDArray[np.uint32]
    grams: NDArray[np.uint32]
    words: frozenset[str]
    asks_when: bool
    asks_past: bool


class _Chunk(NamedTuple):
    """What one stretch of text without white space contributes."""

    stems: bytes
    grams: bytes
    is_temporal: bool


def analyse(text: str) -> Analysis:
    """Turn one passage's own text into packed little-endian uint32 ids and flags. Takes any string, in linear time."""
    flags = ENDS_WITH_QUESTION if _ends_with_question(text) else 0
    chunks = [_CHUNKS[chunk] for chunk in _split(text)]
    if not chunks:
        return Analysis(b"", b"", flags)
    stems, grams, temporal = zip(*chunks, strict=True)
    if True in temporal:
        flags |= HAS_TEMPORAL_EXPRESSION
    return Analysis(b"".join(stems), b"".join(grams), flags)


def analyse_query(text: str) -> QueryTerms:
    """Turn a query into the ids that passages carry; stop words and question words are left out."""
    found = analyse(text)
    folded = unicodedata.normalize("NFKC", text).casefold()
    return QueryTerms(
        stems=np.frombuffer(found.stems, dtype="<u4"),
        grams=np.frombuffer(found.grams, dtype="<u4"),
        words=frozenset(name for chunk in _without_stop_words(text) for name in _names_in(chunk)),
        asks_when=_asks_when().search(folded) is not None,
        asks_past=_asks_past().search(folded) is not None,
    )


def speaker_key(name: str) -> frozenset[str]:
    """Return the words of a participant's name as they stand in `QueryTerms.words`, case endings removed.

    Only Cyrillic names lose their endings (Олену, Олена): Latin stems would take Mark for marking.
    """
    return frozenset(name for chunk in _split(name) for name in _names_in(chunk))


@lru_cache(_REMEMBERED_NAMES)
def _names_in(chunk: str) -> tuple[str, ...]:
    return tuple(
        fold_umlauts(word.text) if word.text.isascii() else stems_of(word.text)[0]
        for word in words_of(chunk)
        if not word.is_whole
    )


def date_text(day: int) -> str:
    """Write a yyyymmdd day the way it is mixed into search: "7 May 2023", "May 2023", "2023" or ""."""
    year, month, date = day // 10000, day // 100 % 100, day % 100
    parts = [str(date) if date else "", _MONTHS[month] if month else "", f"{year:04}" if year else ""]
    return " ".join(part for part in parts if part)


def forget_words() -> None:
    """Empty the memory of words, which belong to no one, so that no erased text outlives its rows in it."""
    _CHUNKS.clear()
    _names_in.cache_clear()


def _split(text: str) -> list[str]:
    chunks = text.split()
    if len(text) <= _CHUNK_CHARACTERS or all(len(chunk) <= _CHUNK_CHARACTERS for chunk in chunks):
        return chunks
    return [
        chunk[start : start + _CHUNK_CHARACTERS]
        for chunk in chunks
        for start in range(0, len(chunk), _CHUNK_CHARACTERS)
    ]


def _without_stop_words(text: str) -> list[str]:
    """Leave out the stop words of a question, but not a name that looks like one ("Where will Will live?")."""
    stop = _word_lists().stop
    chunks = enumerate(_split(text))
    return [chunk for place, chunk in chunks if (place and chunk[0].isupper()) or fold(chunk) not in stop]


def _ends_with_question(text: str) -> bool:
    """Say whether a question mark of any script stands behind the last word: also before "!", a quote or an emoji."""
    for character in reversed(text):
        if character in _QUESTION_MARKS:
            return True
        if character.isalnum():
            return False
    return False


def _analyse_chunk(chunk: str) -> _Chunk:
    words = _word_lists()
    found = list(words_of(chunk))
    kept = [word for word in found if word.is_whole or word.text not in words.stop]
    return _Chunk(
        stems=_ids([stem for word in kept for stem in words.months.get(word.text) or stems_of(word.text)]),
        grams=_ids([gram for word in kept if not word.is_whole for gram in grams_of(word.text)]),
        is_temporal=(
            any(word.text in words.temporal for word in found)
            or (chunk[:1].isupper() and any(word.text in words.temporal_if_capitalised for word in found))
            or _TEMPORAL_NUMBER.search(chunk) is not None
        ),
    )


def _ids(terms: list[str]) -> bytes:
    return pack(f"<{len(terms)}I", *[crc32(term.encode("utf-8", "surrogatepass")) for term in terms])


class _Chunks(dict[str, _Chunk]):
    """The chunks seen lately. Emptied when full: frequent words are back within a few messages."""

    def __missing__(self, chunk: str) -> _Chunk:
        bare = chunk.rstrip(_SAYS_NOTHING_AT_END)
        found = self[bare] if bare and bare != chunk else _analyse_chunk(chunk)
        if len(chunk) <= _REMEMBERED_CHUNK_CHARACTERS:
            if len(self) >= _REMEMBERED_CHUNKS:
                self.clear()
            self[chunk] = found
        return found


_CHUNKS = _Chunks()


class _WordLists(NamedTuple):
    """The languages' words, folded. A month in any language has the stem of its English name, which dates carry."""

    stop: frozenset[str]
    temporal: frozenset[str]
    temporal_if_capitalised: frozenset[str]
    months: dict[str, list[str]]


@cache
def _word_lists() -> _WordLists:
    languages = load_languages()
    months = {
        form: stems_of(_MONTHS[number].lower())
        for language in languages
        for number, forms in enumerate(language.months, start=1)
        for form in _folded(forms)
    }
    capitalised = _folded(word for language in languages for word in language.temporal_if_capitalised)
    temporal = _folded(word for language in languages for word in language.temporal_words)
    return _WordLists(
        stop=_folded(word for language in languages for word in language.stop_words | language.question_words),
        temporal=temporal | (months.keys() - capitalised),
        temporal_if_capitalised=capitalised,
        months=months,
    )


def _folded(words: Iterable[str]) -> frozenset[str]:
    return frozenset(found.text for word in words for found in words_of(word))


@cache
def _asks_when() -> re.Pattern[str]:
    return re.compile("|".join(pattern for language in load_languages() for pattern in language.asks_when))


@cache
def _asks_past() -> re.Pattern[str]:
    return re.compile("|".join(pattern for language in load_languages() for pattern in language.asks_past))

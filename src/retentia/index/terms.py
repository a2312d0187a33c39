"""Terms: the stems and the character grams that stand for one word in an index."""

import re
from bisect import bisect_right
from itertools import groupby

from retentia.index.fold import fold_umlauts
from retentia.index.stems import cyrillic_stem, latin_stem

# Where in Unicode each way of writing words starts. Ideographs and kana have no spaces, so overlapping characters stand
# for words; so do those of Thai, Lao, Burmese and Khmer; Hangul has spaces but glues particles to nouns.
_WRITING = (
    (0x0000, "spaced"),
    (0x0E00, "unspaced"),
    (0x0F00, "spaced"),
    (0x1000, "unspaced"),
    (0x10A0, "spaced"),
    (0x1100, "hangul"),
    (0x1200, "spaced"),
    (0x1780, "unspaced"),
    (0x1800, "spaced"),
    (0x2E80, "ideographs"),
    (0xA000, "spaced"),
    (0xAC00, "hangul"),
    (0xD800, "spaced"),
    (0xF900, "ideographs"),
    (0xFB00, "spaced"),
    (0x20000, "ideographs"),
    (0x40000, "spaced"),
)
_STARTS = [start for start, _ in _WRITING]
_CYRILLIC = re.compile("[\u0400-\u052f]+")
_LATIN = re.compile("[a-z]+")
_GRAM_CHARACTERS = 64  # a longer "word" is data; its stem still finds it whole


def stems_of(word: str) -> list[str]:
    """Return the stems of a folded word: one, or overlapping characters where a script does not part words."""
    if word.isascii():
        return [_stem(word)]
    return [stem for writing, run in _runs(word) for stem in _run_stems(writing, run)]


def grams_of(word: str) -> list[str]:
    """Return the 4-grams of `_word_`, repeats kept; shorter ones where a character says more than a letter."""
    if word.isascii():
        return _bounded_grams(word)
    return [gram for writing, run in _runs(word) for gram in _run_grams(writing, run)]


def _stem(word: str) -> str:
    if _LATIN.fullmatch(word):
        return latin_stem(fold_umlauts(word))
    return cyrillic_stem(word) if _CYRILLIC.fullmatch(word) else word


def _runs(word: str) -> list[tuple[str, str]]:
    return [(writing, "".join(run)) for writing, run in groupby(word, key=_writing)]


def _writing(character: str) -> str:
    return _WRITING[bisect_right(_STARTS, ord(character)) - 1][1]


def _run_stems(writing: str, text: str) -> list[str]:
    match writing:
        case "ideographs":
            return [text] if len(text) == 1 else [*text, *_windows(text, 2)]
        case "hangul":
            return [text] if len(text) < 3 else [text, *_windows(text, 2)]
        case "unspaced":
            return _windows(text, 3)
        case _:
            return [_stem(text)]


def _run_grams(writing: str, text: str) -> list[str]:
    text = text[:_GRAM_CHARACTERS]
    match writing:
        case "ideographs":
            return _windows(text, 2)
        case "hangul":
            return _windows(f"_{text}_", 2)
        case "unspaced":
            return _windows(text, 4)
        case _:
            return _bounded_grams(text)


def _bounded_grams(word: str) -> list[str]:
    return _windows(f"_{fold_umlauts(word[:_GRAM_CHARACTERS])}_", 4)


def _windows(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(max(1, len(text) - size + 1))]

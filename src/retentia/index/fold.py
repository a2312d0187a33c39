"""Fold: one spelling for what people write in several, in every script.

Compatibility forms and case go, and so do accents where they only decorate; ß becomes ss, ґ г, ё е; ö, oe and o are
one letter (ä and ü alike). A word that mixes Latin and Cyrillic is spelt in one of them where look-alikes allow it.
"""

import re
import unicodedata

SEPARATORS = "._@/:-+#&,'"
"""The ASCII characters that folding leaves between the words of one code, path, address or number."""

# Combining marks that only decorate or vocalise a letter; those of other scripts are vowels and stay.
_DECORATION = (
    (0x0300, 0x036F),
    (0x0483, 0x0489),
    (0x0591, 0x05C7),
    (0x0610, 0x061A),
    (0x064B, 0x065F),
    (0x0670, 0x0670),
    (0x06D6, 0x06ED),
    (0x1AB0, 0x1AFF),
    (0x1DC0, 0x1DFF),
    (0x20D0, 0x20FF),
    (0xFE00, 0xFE2F),
)
# Alphabets whose accents are dropped; elsewhere (й, ї, が) a composed letter is a letter of its own.
_ACCENTED = ((0x00C0, 0x024F), (0x0370, 0x03FF), (0x1E00, 0x1FFF))
_LETTERS = {
    **dict.fromkeys("’ʼʹ′‘‛ʻ`", "'"),
    **dict.fromkeys("‐‑‒−", "-"),
    "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i", "ŋ": "n",
    "ґ": "г", "ё": "е",
    "أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ى": "ي", "ة": "ه", "ـ": "",
    "\u200b": " ",
}  # fmt: skip

_TO_LATIN = str.maketrans("авеіїкмнорстух", "abeiikmhopctyx")
_TO_CYRILLIC = str.maketrans("abeikmhopctyx", "авеікмнорстух")
_LATIN = re.compile("[a-z]")
_CYRILLIC = re.compile("[\u0400-\u052f]")
_ONE_SCRIPT = re.compile("[^a-z]+|[^\u0400-\u052f]+")
# "neue", "Frauen" and "Quelle" keep their letters, and so do English endings: "issues", "goes", "queued".
_UMLAUT_AS_TWO = re.compile(r"(?<![aeq])([aou])e(?=[b-df-hj-np-tv-z])(?!(?:s|d|r)$)")


def fold(text: str) -> str:
    """Return the text with one spelling for each letter, words parted by spaces or `SEPARATORS`."""
    if text.isascii():
        return text.lower().translate(_FOLDED)
    return unicodedata.normalize("NFKC", text.replace("´", "'")).casefold().translate(_FOLDED)


def fold_umlauts(word: str) -> str:
    """Read ae, oe and ue as umlauts, which folding has already made a, o and u."""
    return _UMLAUT_AS_TWO.sub(r"\1", word) if "e" in word else word


def one_script(word: str) -> list[str]:
    """Return a folded word in one alphabet: look-alikes of the rarer one are replaced, or else the word is cut."""
    if word.isascii():
        return [word]
    latin, cyrillic = len(_LATIN.findall(word)), len(_CYRILLIC.findall(word))
    if not latin or not cyrillic:
        return [word]
    replaced = word.translate(_TO_LATIN if latin > cyrillic else _TO_CYRILLIC)
    mixed = _LATIN.search(replaced) and _CYRILLIC.search(replaced)
    return _ONE_SCRIPT.findall(word) if mixed else [replaced]


class _Folded(dict[int, str]):
    """What each code point is folded to, found on first use."""

    def __missing__(self, code: int) -> str:
        if _is_ideograph_or_hangul(code):  # letters as they are, and too many to remember
            return chr(code)
        folded = _fold_character(chr(code))
        if code < 0x20000:
            self[code] = folded
        return folded


def _is_ideograph_or_hangul(code: int) -> bool:
    return 0x3400 <= code <= 0x9FFF or 0xAC00 <= code <= 0xD7A3 or 0x20000 <= code < 0x40000


_FOLDED = _Folded()


def _fold_character(character: str) -> str:
    if character in _LETTERS:
        return _LETTERS[character]
    if character.isascii():
        return character if character.isalnum() or character in SEPARATORS else " "
    code, category = ord(character), unicodedata.category(character)
    if category == "Cf" or _within(code, _DECORATION):
        return ""
    if category == "So":
        return f" {character} "
    if category[0] not in "LNM":
        return " "
    return _without_accents(character) if _within(code, _ACCENTED) else character


def _without_accents(character: str) -> str:
    bare = "".join(part for part in unicodedata.normalize("NFKD", character) if not unicodedata.combining(part))
    return bare if bare.isalnum() else character


def _within(code: int, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(first <= code <= last for first, last in ranges)

"""English stems by the Porter 2 rules (M. F. Porter, "The English (Porter2) stemming algorithm", snowballstem.org).

With the additions of 2025 that keep "organ" apart from "organize" and "even" from "evening".
Written out here because stems are stored: a stemmer that changes with the installed version of a library would make
stored passages and new questions disagree without anyone noticing.
"""

import re

_WHOLE_WORDS = {
    "skis": "ski", "skies": "sky", "dying": "die", "lying": "lie", "tying": "tie",
    "idly": "idl", "gently": "gentl", "ugly": "ugli", "early": "earli", "only": "onli", "singly": "singl",
}  # fmt: skip
_UNCHANGED = frozenset({"sky", "news", "howe", "atlas", "cosmos", "bias", "andes"})
_UNCHANGED_WITHOUT_S = frozenset(
    {"evening", "inning", "outing", "canning", "herring", "earring", "proceed", "exceed", "succeed"}
)

# Y stands for a y that is a consonant. Region 1 starts after the first consonant that follows a vowel.
_CONSONANT_Y = re.compile("(?<=[aeiouy])y|^y")
_REGION = re.compile("[aeiouy][^aeiouy]")
_LONG_PREFIX = re.compile("arsen|commun|emerg|gener|inter|later|organ|past|univers")
_SHORT_SYLLABLE = re.compile("(?:[^aeiouy][aeiouy][^aeiouywxY]|^[aeiouy][^aeiouy])$")
_VOWEL = re.compile("[aeiouy]")

_PLURAL = re.compile("(?:sses|ied|ies|us|ss|s)$")
_PAST = re.compile("(?:eedly|eed|ingly|edly|ing|ed)$")
_LACKS_E = ("at", "bl", "iz")
_DOUBLED = re.compile("(?<!^[aeo])(?:bb|dd|ff|gg|mm|nn|pp|rr|tt)$")

_DERIVED = {
    "tional": "tion", "enci": "ence", "anci": "ance", "abli": "able", "entli": "ent", "izer": "ize",
    "ization": "ize", "ational": "ate", "ation": "ate", "ator": "ate", "alism": "al", "aliti": "al", "alli": "al",
    "fulness": "ful", "ousli": "ous", "ousness": "ous", "iveness": "ive", "iviti": "ive", "biliti": "ble",
    "bli": "ble", "ogi": "og", "ogist": "og", "fulli": "ful", "lessli": "less", "li": "",
}  # fmt: skip
_NEEDS_BEFORE = {"ogi": "l", "li": "cdeghkmnrt", "ion": "st"}
_QUALITY = {
    "tional": "tion", "ational": "ate", "alize": "al", "icate": "ic", "iciti": "ic", "ical": "ic", "ful": "",
    "ness": "", "ative": "",
}  # fmt: skip
_ENDINGS = (
    "ement", "ance", "ence", "able", "ible", "ment",
    "ant", "ent", "ism", "ate", "iti", "ous", "ive", "ize", "ion", "al", "er", "ic",
)  # fmt: skip


def english_stem(word: str) -> str:
    """Stem a lower-case word of the letters a to z; one of a letter or two is its own stem."""
    if len(word) < 3:
        return word
    if word in _WHOLE_WORDS or word in _UNCHANGED:
        return _WHOLE_WORDS.get(word, word)
    stem = _CONSONANT_Y.sub("Y", word) if "y" in word else word
    first, second = _regions(stem)
    stem = _without_plural(stem)
    if stem not in _UNCHANGED_WITHOUT_S:
        stem = _without_tense(stem, first)
        if len(stem) > 2 and stem[-1] in "yY" and stem[-2] not in "aeiouy":
            stem = stem[:-1] + "i"
        stem = _replaced(_DERIVED, stem, first, second)
        stem = _replaced(_QUALITY, stem, first, second)
        stem = _without_ending(stem, second)
        stem = _without_last_letter(stem, first, second)
    return stem.lower()


def _regions(word: str) -> tuple[int, int]:
    """Say where region 1 starts and, found the same way inside it, region 2."""
    prefix = _LONG_PREFIX.match(word)
    found = None if prefix else _REGION.search(word)
    first = prefix.end() if prefix else found.end() if found else len(word)
    again = _REGION.search(word, first)
    return first, again.end() if again else len(word)


def _without_plural(word: str) -> str:
    match = _PLURAL.search(word)
    if match is None or match.group() in ("us", "ss"):
        return word
    before = word[: match.start()]
    if match.group() == "sses":
        return before + "ss"
    if match.group() == "s":
        return before if _VOWEL.search(before, 0, len(before) - 1) else word
    return before + ("i" if len(before) > 1 else "ie")


def _without_tense(word: str, first: int) -> str:
    match = _PAST.search(word)
    if match is None:
        return word
    before = word[: match.start()]
    if match.group().startswith("eed"):
        return before + "ee" if match.start() >= first else word
    if not _VOWEL.search(before):
        return word
    if before.endswith(_LACKS_E):
        return before + "e"
    if _DOUBLED.search(before):
        return before[:-1]
    return before + "e" if first >= len(before) and _SHORT_SYLLABLE.search(before) else before


def _replaced(suffixes: dict[str, str], word: str, first: int, second: int) -> str:
    """Replace the longest of these suffixes that the word ends in, if it lies in region 1 ("ative": in region 2)."""
    suffix = _longest(suffixes, word)
    start = len(word) - len(suffix)
    if not suffix or start < (second if suffix == "ative" else first):
        return word
    if suffix in _NEEDS_BEFORE and word[start - 1 : start] not in _NEEDS_BEFORE[suffix]:
        return word
    return word[:start] + suffixes[suffix]


def _without_ending(word: str, second: int) -> str:
    suffix = next((ending for ending in _ENDINGS if word.endswith(ending)), "")
    start = len(word) - len(suffix)
    if not suffix or start < second or (suffix == "ion" and word[start - 1] not in _NEEDS_BEFORE[suffix]):
        return word
    return word[:start]


def _without_last_letter(word: str, first: int, second: int) -> str:
    start = len(word) - 1
    if word[-1] == "e" and (start >= second or (start >= first and not _SHORT_SYLLABLE.search(word[:-1]))):
        return word[:-1]
    return word[:-1] if word.endswith("ll") and start >= second else word


def _longest(suffixes: dict[str, str], word: str) -> str:
    return next((word[-length:] for length in range(min(7, len(word)), 1, -1) if word[-length:] in suffixes), "")

"""Guessing in which of our languages, and otherwise in which script, a text is written; or not guessing."""

import re
from collections import Counter

from retentia.languages.language import load_languages

_WORD = re.compile(r"[^\W\d_]+")
_SCRIPTS = (
    ("Latin", re.compile("[A-Za-z\u00c0-\u024f]")),
    ("Cyrillic", re.compile("[\u0400-\u052f]")),
    ("Greek", re.compile("[\u0370-\u03ff]")),
    ("Hebrew", re.compile("[\u0590-\u05ff]")),
    ("Arabic", re.compile("[\u0600-\u06ff]")),
    ("Indic", re.compile("[\u0900-\u0dff]")),
    ("Thai", re.compile("[\u0e00-\u0e7f]")),
    ("Hangul", re.compile("[\uac00-\ud7af]")),
    ("Kana", re.compile("[\u3040-\u30ff]")),
    ("Han", re.compile("[\u4e00-\u9fff]")),
)
_LONGEST = 20_000
_FEWEST_WORDS = 4
_FAR_AHEAD = 2


def script_of(text: str) -> str:
    """Return the script of most letters: "Latin", "Cyrillic", "Han" (also for Japanese) …; "" without letters."""
    found = {name: len(pattern.findall(text[:_LONGEST])) for name, pattern in _SCRIPTS}
    if found["Kana"]:  # Japanese mixes both
        found["Han"] += found.pop("Kana")
    best = max(found, key=lambda name: found[name])
    return best if found[best] else ""


def language_of(text: str) -> str:
    """Return "en", "de" or "uk" where the small words leave no doubt, and "" otherwise."""
    words = [word.casefold() for word in _WORD.findall(text[:_LONGEST])]
    found = Counter({one.code: sum(word in one.stop_words for word in words) for one in load_languages()})
    (best, most), (_, second) = found.most_common(2)
    return best if most >= _FEWEST_WORDS and most > _FAR_AHEAD * second else ""


def is_other_language(text: str, than: str) -> bool:
    """Tell whether a text is surely in another language than another text."""
    scripts = script_of(text), script_of(than)
    if all(scripts) and scripts[0] != scripts[1]:
        return True
    languages = language_of(text), language_of(than)
    return all(languages) and languages[0] != languages[1]

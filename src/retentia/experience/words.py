"""The words in which experiences are told, in three languages, from words.toml."""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from retentia.errors import InvalidInput
from retentia.languages.guess import language_of, script_of

ENGLISH = "en"


def words(language: str) -> Mapping[str, str]:
    """Return the words of "en", "de" or "uk" by their names; raise InvalidInput for another language."""
    return spoken(_all(), language)


def spoken(known: Mapping[str, Mapping[str, str]], language: str) -> Mapping[str, str]:
    """Return what is known in a language; raise InvalidInput."""
    if language not in known:
        raise InvalidInput(f"language must be one of {', '.join(known)}, not {language!r}")
    return known[language]


def language_for(text: str) -> str:
    """Return the language to answer a text in: its own where that is sure, by its script or English otherwise.

    A task is often too short for a sure guess, and a Cyrillic one is better answered in Ukrainian than in English.
    """
    return language_of(text) or ("uk" if script_of(text) == "Cyrillic" else ENGLISH)


@cache
def read_words(path: Path) -> Mapping[str, Mapping[str, str]]:
    """Read a table of words by language once."""
    data = tomllib.loads(path.read_text("utf-8"))
    return MappingProxyType({code: MappingProxyType(known) for code, known in data.items()})


def _all() -> Mapping[str, Mapping[str, str]]:
    return read_words(Path(__file__).with_name("words.toml"))

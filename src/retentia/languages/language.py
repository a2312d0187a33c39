"""One language's words, read from its TOML file in this folder."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_CODES = ("en", "de", "uk")


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """The words of one language that the text analysis treats specially, spelt as people write them.

    `months` holds twelve lists of forms, January first. `temporal_if_capitalised` are words that name a time only then
    (May, may). `asks_when` and `asks_past` are regular expressions over case-folded text.
    """

    code: str
    stop_words: frozenset[str]
    question_words: frozenset[str]
    temporal_words: frozenset[str]
    temporal_if_capitalised: frozenset[str]
    months: tuple[tuple[str, ...], ...]
    asks_when: tuple[str, ...]
    asks_past: tuple[str, ...]


@cache
def load_languages() -> tuple[Language, ...]:
    """Read every language once; later calls return the same values."""
    return tuple(_load(code) for code in _CODES)


def _load(code: str) -> Language:
    data = tomllib.loads(Path(__file__).with_name(f"{code}.toml").read_text("utf-8"))
    return Language(
        code=code,
        stop_words=frozenset(data["stop_words"].split()),
        question_words=frozenset(data["question_words"].split()),
        temporal_words=frozenset(data["temporal_words"].split()),
        temporal_if_capitalised=frozenset(data["temporal_if_capitalised"].split()),
        months=tuple(tuple(forms.split()) for forms in data["months"]),
        asks_when=tuple(data["asks_when"]),
        asks_past=tuple(data["asks_past"]),
    )

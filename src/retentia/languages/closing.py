"""The words by which people say that something is done or dropped, from closing.toml."""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_PLAIN = str.maketrans("’ʼ‘`´", "'''''")


@dataclass(frozen=True, slots=True, eq=False)
class ClosingWords:
    """The patterns of one language, over text from `closing_form`, and the words that name nothing particular."""

    done: re.Pattern[str]
    dropped: re.Pattern[str]
    against: re.Pattern[str]
    filler: frozenset[str]


@cache
def closing_words() -> tuple[ClosingWords, ...]:
    """Read English, German and Ukrainian once; later calls return the same values."""
    data = tomllib.loads(Path(__file__).with_name("closing.toml").read_text("utf-8"))
    return tuple(
        ClosingWords(
            _whole(words["done"]),
            _whole(words["dropped"]),
            _whole(words["against"]),
            frozenset(closing_form(words["filler"]).split()),
        )
        for words in data.values()
    )


def closing_form(text: str) -> str:
    """Return a text as the patterns expect it: in lower case, with plain apostrophes."""
    return text.lower().translate(_PLAIN)


def _whole(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{pattern.strip().replace(chr(10), '')})(?!\w)")

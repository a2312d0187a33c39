"""The words of literals.toml, ready to be looked up."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from retentia.languages import load_languages

LETTER = r"A-Za-z0-9_\u00c0-\u024f\u0370-\u052f"
"""What continues a word or a number, for a character class: scripts without spaces (价格5000元) end it."""

Meaning = Literal["currency", "magnitude", "percent", "unit", "month"]
"""What a word behind a number makes of it."""


@dataclass(frozen=True, slots=True)
class LiteralWords:
    """The words by which literals are known.

    `after` holds what may stand behind a number: signs as they are written, words case-folded. `endings` and `domains`
    are alternatives for a regular expression.
    """

    after: Mapping[str, Meaning]
    currency_signs: frozenset[str]
    currency_codes: frozenset[str]
    lines: frozenset[str]
    versions: frozenset[str]
    tickets: frozenset[str]
    software: frozenset[str]
    endings: str
    domains: str

    def meaning(self, word: str) -> Meaning | None:
        """Return what a word behind a number means; None for any other word."""
        return self.after.get(word) or (self.after.get(word.casefold()) if len(word) > 2 else None)


@cache
def literal_words() -> LiteralWords:
    """Read the table once; later calls return the same value."""
    data = tomllib.loads(Path(__file__).with_name("literals.toml").read_text("utf-8"))
    currency, before, path = data["currency"], data["before"], data["path"]
    signs = {*currency["signs"].split(), *currency["prefixed_signs"].split()}
    after: dict[str, Meaning] = {}
    capitalised = data["month"]["capitalised"].split()
    months = {form for language in load_languages() for forms in language.months for form in forms}
    months |= set(data["month"]["short"].split())
    after |= dict.fromkeys(months - {form.casefold() for form in capitalised}, "month")
    after |= dict.fromkeys(capitalised, "month")
    for name in ("unit", "percent", "magnitude"):
        words: Meaning = name
        after |= dict.fromkeys((*data[name]["signs"].split(), *data[name]["words"].split()), words)
    after |= dict.fromkeys((*signs, *currency["codes"].split(), *currency["words"].split()), "currency")
    return LiteralWords(
        after=after,
        currency_signs=frozenset(signs),
        currency_codes=frozenset(currency["codes"].split()),
        lines=frozenset(before["line"].split()),
        versions=frozenset(before["version"].split()),
        tickets=frozenset(before["ticket"].split()),
        software=frozenset(before["software"].split()),
        endings=_any(path["endings"].split()),
        domains=_any(path["domains"].split()),
    )


def _any(words: Iterable[str]) -> str:
    """Return alternatives, longer ones first: the first that matches counts."""
    return "|".join(map(re.escape, sorted(set(words), key=lambda word: (-len(word), word))))

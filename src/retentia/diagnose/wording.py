"""Wording: the words by which symptoms are told, compiled from wording.toml on first use."""

import re
import tomllib
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """One pattern each, for all languages together; see wording.toml for what they say."""

    again: re.Pattern[str]
    writes: re.Pattern[str]
    reads: re.Pattern[str]
    failed: re.Pattern[str]
    asks: re.Pattern[str]
    offers: re.Pattern[str]
    unanswered: re.Pattern[str]
    complaints: re.Pattern[str]
    negation: re.Pattern[str]
    corrects: re.Pattern[str]
    is_value: re.Pattern[str]


@cache
def wording() -> Wording:
    """Read the words once; later calls return the same value."""
    data = tomllib.loads(Path(__file__).with_name("wording.toml").read_text("utf-8"))
    return Wording(**{one.name: _compile(data[one.name]) for one in fields(Wording)})


def _compile(given: str | list[str]) -> re.Pattern[str]:
    return re.compile(given if isinstance(given, str) else "|".join(f"(?:{one})" for one in given), re.IGNORECASE)

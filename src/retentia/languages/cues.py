"""Cues: how people say that something is a goal, a decision, a reason; from the *.cues.toml files in this folder."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path

_CODES = ("en", "de", "uk")
_APOSTROPHES = str.maketrans("’ʼ‘`´", "'''''")


class Cue(StrEnum):
    """What a sentence does. `ECHO` repeats remembered things, `NEXT_TOPIC` opens a phase, `CLOSING` ends one."""

    GOAL = "goal"
    DECISION = "decision"
    REASON = "reason"
    REJECTED = "rejected"
    OPEN_ITEM = "open_item"
    ENVIRONMENT = "environment"
    CORRECTION = "correction"
    ERROR = "error"
    HYPOTHETICAL = "hypothetical"
    SMALL_TALK = "small_talk"
    ECHO = "echo"
    NEXT_TOPIC = "next_topic"
    CLOSING = "closing"


@dataclass(frozen=True, slots=True, eq=False)
class Cues:
    """The cues of all languages at once: a message's language is not known, and people mix them."""

    patterns: Mapping[Cue, re.Pattern[str]]
    abbreviations: frozenset[str]
    before_ordinals: frozenset[str]

    def said(self, cue: Cue, text: str) -> bool:
        """Tell whether a text has a cue; `text` comes from `cue_form`."""
        return self.patterns[cue].search(text) is not None


def cue_form(text: str) -> str:
    """Return a text as the patterns expect it: case-folded, with plain apostrophes."""
    return text.casefold().translate(_APOSTROPHES)


@cache
def load_cues() -> Cues:
    """Read every language once; later calls return the same value."""
    files = [tomllib.loads(Path(__file__).with_name(f"{code}.cues.toml").read_text("utf-8")) for code in _CODES]
    return Cues(
        {cue: _joined([pattern for data in files for pattern in data[cue]]) for cue in Cue},
        frozenset(word for data in files for word in data["abbreviations"].split()),
        frozenset(word for data in files for word in data["before_ordinals"].split()),
    )


def _joined(patterns: list[str]) -> re.Pattern[str]:
    folded = (pattern.replace("ß", "ss") for pattern in patterns)
    return re.compile(rf"(?<!\w)(?:{'|'.join(folded)})(?!\w)")

"""Cues: how people say that something is a goal, a decision, a reason; from the *.cues.toml files in this folder."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path

_CODES = ("en", "de", "uk")
_CYRILLIC_CODES = frozenset(("uk",))
_CYRILLIC = re.compile("[\u0400-\u052f]")
_LATIN = re.compile("[a-z]")
_APOSTROPHES = str.maketrans("’ʼ‘`´", "'''''")


class Cue(StrEnum):
    """What a sentence does, or what speaks against that it does what it seems to do.

    `PLAN` says what somebody does, and is a decision beside a `FRAME` ("from now on", "instead"); a `FRAGMENT`
    concludes without a verb ("then the blue one"). `CHOICE` sets one thing against another, `FACT` asks what is the
    case, `PROPOSAL` offers something, `ACCEPT` opens a reply that takes it and `BARE_ACCEPT` is all of such a reply;
    `RESTATED` repeats what was said before and `FIRM` calls it decided. `UNWANTED` rejects what was offered, and
    `MISTAKEN` corrects what has a figure. `OTHERS` is about other people, `REPORTED` gives what they say or did,
    `PAST` is of earlier days and `NOW` of the speaker's next minute. `ECHO` repeats remembered things, `NEXT_TOPIC`
    opens a phase, `CLOSING` ends one.
    """

    GOAL = "goal"
    DECISION = "decision"
    PLAN = "plan"
    FRAME = "frame"
    FRAGMENT = "fragment"
    PROPOSAL = "proposal"
    ACCEPT = "accept"
    BARE_ACCEPT = "bare_accept"
    CHOICE = "choice"
    FACT = "fact"
    RESTATED = "restated"
    FIRM = "firm"
    OTHERS = "others"
    REPORTED = "reported"
    PAST = "past"
    NOW = "now"
    REASON = "reason"
    REJECTED = "rejected"
    UNWANTED = "unwanted"
    OPEN_ITEM = "open_item"
    ENVIRONMENT = "environment"
    CORRECTION = "correction"
    MISTAKEN = "mistaken"
    ERROR = "error"
    HYPOTHETICAL = "hypothetical"
    SMALL_TALK = "small_talk"
    ECHO = "echo"
    NEXT_TOPIC = "next_topic"
    CLOSING = "closing"


@dataclass(frozen=True, slots=True, eq=False)
class Cues:
    """The cues of all languages at once: a message's language is not known, and people mix them.

    `latin` and `cyrillic` part them by script, so that a text is searched for what it can have only.
    """

    latin: Mapping[Cue, re.Pattern[str]]
    cyrillic: Mapping[Cue, re.Pattern[str]]
    abbreviations: frozenset[str]
    before_ordinals: frozenset[str]

    def said(self, cue: Cue, text: str) -> bool:
        """Tell whether a text has a cue; `text` comes from `cue_form`."""
        return self.of(text).has(cue)

    def of(self, text: str) -> "Said":
        """Return the cues of a text, which comes from `cue_form`."""
        scripts = ((_LATIN, self.latin), (_CYRILLIC, self.cyrillic))
        return Said(text, [patterns for letter, patterns in scripts if letter.search(text)])


class Said:
    """The cues of one text. Most are never asked for, so each is sought when it first is, and remembered."""

    __slots__ = ("_known", "_patterns", "_text")

    def __init__(self, text: str, patterns: Sequence[Mapping[Cue, re.Pattern[str]]]) -> None:
        self._text, self._patterns = text, patterns
        self._known: dict[Cue, bool] = {}

    def has(self, *cues: Cue) -> bool:
        """Tell whether the text has any of the cues."""
        return any(map(self._has, cues))

    def _has(self, cue: Cue) -> bool:
        known = self._known.get(cue)
        if known is None:
            known = any(patterns[cue].search(self._text) for patterns in self._patterns)
            self._known[cue] = known
        return known


def cue_form(text: str) -> str:
    """Return a text as the patterns expect it: case-folded, with plain apostrophes."""
    return text.casefold().translate(_APOSTROPHES)


@cache
def load_cues() -> Cues:
    """Read every language once; later calls return the same value."""
    files = {code: tomllib.loads(Path(__file__).with_name(f"{code}.cues.toml").read_text("utf-8")) for code in _CODES}
    latin = [data for code, data in files.items() if code not in _CYRILLIC_CODES]
    cyrillic = [data for code, data in files.items() if code in _CYRILLIC_CODES]
    return Cues(
        {cue: _joined([pattern for data in latin for pattern in data[cue]]) for cue in Cue},
        {cue: _joined([pattern for data in cyrillic for pattern in data[cue]]) for cue in Cue},
        frozenset(word for data in files.values() for word in data["abbreviations"].split()),
        frozenset(word for data in files.values() for word in data["before_ordinals"].split()),
    )


def _joined(patterns: list[str]) -> re.Pattern[str]:
    folded = (pattern.replace("ß", "ss") for pattern in patterns)
    return re.compile(rf"(?<!\w)(?:{'|'.join(folded)})(?!\w)")

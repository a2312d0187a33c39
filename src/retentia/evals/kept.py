"""How well a summary keeps what it has to: precision and recall by kind and language, on dialogues of our own.

A finding is right when a stretch of the same message is marked with its kind and overlaps it. The dialogues ship with
the package, in two halves: the rules were made with "development" in view, "held_out" was written before them and is
only scored. Both were written by those who wrote the rules: read it as a check, not as a forecast for other texts.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Literal

from retentia.evals.score import Score
from retentia.working.kept import KeptKind, kept_of
from retentia.working.original import Original

Half = Literal["development", "held_out"]
HALVES: tuple[Half, ...] = ("development", "held_out")
LANGUAGES = ("en", "de", "uk")
COLUMNS = ("", "precision", "recall", "marked", *LANGUAGES)
ALL = "all"
"""Stands for every kind, or every language, in a table of scores."""

_MARKED = re.compile(r"<(?P<kinds>[a-z_+]+)>(?P<text>.*?)</>")
_ROLES = {"U": "user", "A": "assistant"}


@dataclass(frozen=True, slots=True)
class Mark:
    """The characters [start, end) of a message that have to be kept as a kind."""

    kind: KeptKind
    message_id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialogue:
    """Some messages of one talk, and what of them has to be kept."""

    language: str
    about: str
    messages: tuple[Original, ...]
    marks: tuple[Mark, ...]


def load_dialogues(half: Half) -> list[Dialogue]:
    """Read one half of the shipped set."""
    raw = tomllib.loads((files("retentia.evals") / "data" / "kept" / f"{half}.toml").read_text("utf-8"))
    return [_parse(one["language"], one["about"], one["said"]) for one in raw["dialogue"]]


def score_kept(dialogues: Sequence[Dialogue]) -> dict[str, Mapping[str, Score]]:
    """Score the rules: by kind or over "all" kinds, and in each by language or over "all" languages."""
    counted: dict[tuple[str, str], Counter[str]] = {}
    for dialogue in dialogues:
        for kind, outcome in outcomes(dialogue):
            for name in (kind.value, ALL):
                for language in (dialogue.language, ALL):
                    counted.setdefault((name, language), Counter())[outcome] += 1
    return {
        name: {language: _score(counted.get((name, language), Counter())) for language in (*LANGUAGES, ALL)}
        for name in (*(kind.value for kind in KeptKind), ALL)
    }


def table_rows(scores: Mapping[str, Mapping[str, Score]]) -> list[tuple[str, ...]]:
    """Return the rows of a table with `COLUMNS`: a kind's shares in all languages, then "precision recall" in each."""
    return [
        (
            kind.replace("_", " "),
            f"{by_language[ALL].precision:.2f}",
            f"{by_language[ALL].recall:.2f}",
            str(by_language[ALL].right + by_language[ALL].missed),
            *(f"{by_language[code].precision:.2f} {by_language[code].recall:.2f}" for code in LANGUAGES),
        )
        for kind, by_language in scores.items()
    ]


def outcomes(dialogue: Dialogue) -> Iterator[tuple[KeptKind, str]]:
    """Yield "right" or "wrong" for everything found in a dialogue, and "missed" for what was not."""
    left = list(dialogue.marks)
    for kept in kept_of(dialogue.messages):
        hit = next(
            (
                mark
                for mark in left
                if (mark.kind, mark.message_id) == (kept.kind, kept.message_id)
                and mark.start < kept.end
                and kept.start < mark.end
            ),
            None,
        )
        if hit is not None:
            left.remove(hit)
        yield kept.kind, "wrong" if hit is None else "right"
    yield from ((mark.kind, "missed") for mark in left)


def _score(counted: Mapping[str, int]) -> Score:
    return Score(right=counted.get("right", 0), wrong=counted.get("wrong", 0), missed=counted.get("missed", 0))


def _parse(language: str, about: str, said: str) -> Dialogue:
    messages: list[Original] = []
    marks: list[Mark] = []
    for place, line in enumerate(said.strip().splitlines()):
        role, _, marked = line.partition(": ")
        message_id = f"m{place}"
        text, found = _unmarked(marked, message_id)
        messages.append(Original(id=message_id, role=_ROLES[role], text=text))
        marks += found
    return Dialogue(language=language, about=about, messages=tuple(messages), marks=tuple(marks))


def _unmarked(marked: str, message_id: str) -> tuple[str, list[Mark]]:
    text = ""
    marks: list[Mark] = []
    at = 0
    for match in _MARKED.finditer(marked):
        text += marked[at : match.start()]
        start = len(text)
        text += match["text"]
        marks += (Mark(KeptKind(kind), message_id, start, len(text)) for kind in match["kinds"].split("+"))
        at = match.end()
    return text + marked[at:], marks

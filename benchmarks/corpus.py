"""Texts and questions, the same in every run.

With the public benchmarks at hand: their sentences with a third of the longer words exchanged for others of the same
texts, so that word frequencies stay what they are in real chats. Without: sentences from templates whose words follow
Zipf's law.
"""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Literal

from benchmarks.templates import QUESTIONS, SENTENCES, vocabulary
from retentia.evals.dataset import Dataset
from retentia.evals.loaders.beam import load_beam
from retentia.evals.loaders.locomo import load_locomo

SESSION = 500
"""Messages in a session, and in a batch."""
_PEOPLE = ("Maria", "Jonas", "Olena", "Sam")
_FIRST_DAY = datetime(2023, 5, 1, 9, tzinfo=UTC)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_LONG_WORD = re.compile(r"[A-Za-z]{5,}")
_FEWEST, _MOST = 60, 240


@dataclass(frozen=True, slots=True)
class Said:
    """One message: who said what when. `at` is ISO 8601."""

    text: str
    speaker: str
    role: Literal["user", "assistant"]
    at: str
    session: str


@dataclass(frozen=True, slots=True)
class _Source:
    """Texts and questions to vary, and the words to do it with, the frequent ones as often as they occur.

    `exchanged` is the share of longer words that vary.
    """

    texts: Sequence[str]
    questions: Sequence[str]
    words: Sequence[str]
    exchanged: float

    def varied(self, texts: Sequence[str], *, seed: int) -> Iterator[str]:
        """Return endless variations of texts."""
        rng = random.Random(seed)
        while True:
            text = rng.choice(texts)
            yield _LONG_WORD.sub(lambda found: self._other(found.group(), rng), text)

    def _other(self, word: str, rng: random.Random) -> str:
        if rng.random() > self.exchanged:
            return word
        chosen = rng.choice(self.words)
        return chosen.capitalize() if word[0].isupper() else chosen


@cache
def messages(count: int, data: Path | None, *, seed: int = 1) -> Sequence[Said]:
    """Return messages of about 120 characters, each one passage, in sessions of 500."""
    source = _source(data)
    texts = source.varied(source.texts, seed=seed)
    return [_said(number, next(texts)) for number in range(count)]


def questions(count: int, data: Path | None) -> list[str]:
    """Return questions, all different."""
    source = _source(data)
    varied = source.varied(source.questions, seed=2)
    found: dict[str, None] = {}
    while len(found) < count:
        found[next(varied)] = None
    return list(found)


def of_length(texts: Sequence[str], characters: int) -> list[str]:
    """Cut or repeat texts so that each has this many characters."""
    return [(f"{text} " * (characters // (len(text) + 1) + 1))[:characters] for text in texts]


def _said(number: int, text: str) -> Said:
    return Said(
        text=text,
        speaker=_PEOPLE[number % len(_PEOPLE)],
        role="assistant" if number % 2 else "user",
        at=(_FIRST_DAY + timedelta(minutes=7 * number)).isoformat(),
        session=f"session {number // SESSION}",
    )


@cache
def _source(data: Path | None) -> _Source:
    sets = [] if data is None else _datasets(data)
    if not sets:
        return _Source(SENTENCES, QUESTIONS, vocabulary(), exchanged=0.8)
    entries = [entry.text for found in sets for group in found.groups for entry in group.entries]
    asked = [question.text for found in sets for group in found.groups for question in group.questions]
    texts = [piece for text in entries for piece in _pieces(text)]
    return _Source(texts, asked, [word.lower() for text in texts for word in _LONG_WORD.findall(text)], exchanged=1 / 3)


def _datasets(data: Path) -> list[Dataset]:
    locomo, beam = data / "locomo" / "locomo_dev.json", data / "beam" / "100K"
    return [*([load_locomo(locomo)] if locomo.exists() else []), *([load_beam(beam)] if beam.exists() else [])]


def _pieces(text: str) -> Iterator[str]:
    """Put neighbouring sentences together to pieces of 60 to 240 characters."""
    piece = ""
    for sentence in _SENTENCE_END.split(" ".join(text.split())):
        piece = f"{piece} {sentence}".strip()
        if len(piece) > _MOST:
            piece = ""
        elif len(piece) >= _FEWEST:
            yield piece
            piece = ""

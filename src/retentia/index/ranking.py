"""Ranking: what a search answers."""

from dataclasses import dataclass
from typing import NamedTuple


class RankedPassage(NamedTuple):
    """One stretch of a record's text (characters `start` to `end`) and its score."""

    part: int
    start: int
    end: int
    score: float


@dataclass(frozen=True, slots=True)
class RankedRecord:
    """A record found: its score is that of its best passage, `signals` say what that one is made of, unweighted.

    `passages` holds those of its passages that are among the best of the scope, best first. `cosine` is that of the
    best one, None when the query has no vector; one that has none itself has 0.
    """

    record_id: bytes
    kind: str
    score: float
    signals: dict[str, float]
    passages: tuple[RankedPassage, ...]
    cosine: float | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """How well the best of what may be returned fits the query; what a relevance cutoff decides by.

    `lexical` and `grams` are the highest BM25 as shares of the query's ideal, `cosine` the highest cosine (None when
    the query or every passage has no vector), `unseen` the share of the query's stems that the scope does not hold.
    """

    lexical: float
    grams: float
    cosine: float | None
    unseen: float


@dataclass(frozen=True, slots=True)
class Ranking:
    """Records, best first, the evidence that there is anything to find, and how many passages the mask held back."""

    records: tuple[RankedRecord, ...]
    evidence: Evidence
    filtered: int

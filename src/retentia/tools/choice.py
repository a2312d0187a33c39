"""Which tools a request needs: by the words of their schemas, by meaning, and by what worked for like requests. Pure.

Words and meaning as everywhere: BM25 over stems and character grams, in which the name counts five times, and the
cosine with name and description. What worked is a kernel regression over past requests (Nadaraya 1964; Watson 1964):
those near the new one vote for the tools that served them, held down by the weight of having no evidence.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from retentia.index.tokenizer import analyse, analyse_query

Floats = NDArray[np.float64]
_NAME_COUNTS = 5.0
_SATURATION, _LENGTH = 2.5, 0.75
_BY_WORDS, _BY_GRAMS, _BY_MEANING = 0.35, 0.35, 0.35
_LEAST_SPREAD = 0.1
_SHARPNESS, _NO_EVIDENCE = 14.0, 0.6
_VOTES, _NEAREST = 1.5, 0.3
_NAME_SHARE = np.float32(0.5)


@dataclass(frozen=True, slots=True)
class ToolEntry:
    """A tool as it is searched: the words of its name, all its text, and the vectors of both, where there are any."""

    words: str
    text: str
    name_vector: NDArray[np.float32] | None = None
    text_vector: NDArray[np.float32] | None = None


@dataclass(frozen=True, slots=True)
class PastUse:
    """A request that was served, as a vector, and the tools that served it, by their places."""

    vector: NDArray[np.float32]
    tools: frozenset[int]


@dataclass(frozen=True, slots=True)
class Scores:
    """What speaks for each tool, one row each: by words, by meaning, by past requests; `similar` counts those near."""

    words: Floats
    meaning: Floats
    past: Floats
    similar: NDArray[np.intp]

    @property
    def total(self) -> Floats:
        """The sum that ranks."""
        return self.words + self.meaning + self.past


@dataclass(slots=True)
class _Field:
    """BM25 over one kind of term."""

    postings: dict[int, tuple[NDArray[np.intp], Floats]] = field(default_factory=dict)
    rarity: dict[int, float] = field(default_factory=dict)
    norm: Floats = field(default_factory=lambda: np.empty(0))

    @classmethod
    def of(cls, counted: Sequence[Mapping[int, float]]) -> "_Field":
        length = np.array([sum(one.values()) for one in counted], dtype=np.float64)
        found: dict[int, list[tuple[int, float]]] = {}
        for place, one in enumerate(counted):
            for term, count in one.items():
                found.setdefault(term, []).append((place, count))
        mean = float(length.mean()) if len(length) else 1.0
        whole = len(counted)
        return cls(
            {
                term: (np.array([at for at, _ in some]), np.array([count for _, count in some]))
                for term, some in found.items()
            },
            {term: float(np.log(1 + (whole - len(some) + 0.5) / (len(some) + 0.5))) for term, some in found.items()},
            _SATURATION * (1 - _LENGTH + _LENGTH * length / (mean or 1.0)),
        )

    def score(self, terms: Sequence[int]) -> Floats:
        """Score every tool, from 0 to 2."""
        scores, possible = np.zeros(len(self.norm)), 0.0
        for term in dict.fromkeys(terms):
            if term in self.postings:
                at, counts = self.postings[term]
                scores[at] += self.rarity[term] * counts / (counts + self.norm[at])
                possible += self.rarity[term]
        return 2 * scores / possible if possible else scores


class ToolIndex:
    """Scores tools for a request; `learn` must run alone. The order of tools changes nothing but their places."""

    def __init__(self, tools: Sequence[ToolEntry], uses: Sequence[PastUse] = ()) -> None:
        self._count = len(tools)
        stems, grams = zip(*map(_terms, tools), strict=True) if tools else ((), ())
        self._stems, self._grams = _Field.of(stems), _Field.of(grams)
        dimension = next((len(one.text_vector) for one in tools if one.text_vector is not None), 0)
        self._vectors = np.zeros((len(tools), dimension), dtype=np.float32)
        for row, one in zip(self._vectors, tools, strict=True):
            if dimension and one.text_vector is not None:
                name = 0 if one.name_vector is None else _NAME_SHARE * one.name_vector
                mixed = one.text_vector + name
                row[:] = mixed / (float(np.linalg.norm(mixed)) or 1.0)
        self.learn(uses)

    def learn(self, uses: Sequence[PastUse]) -> None:
        """Take these past requests in the place of those that were known."""
        dimension = self._vectors.shape[1]
        known = [one for one in uses if one.tools and len(one.vector) == dimension]
        self._asked = np.array([one.vector for one in known], dtype=np.float32).reshape(len(known), dimension)
        self._served = np.zeros((len(known), self._count))
        for row, one in zip(self._served, known, strict=True):
            row[list(one.tools)] = 1

    def score(self, request: str, vector: NDArray[np.float32] | None) -> Scores:
        """Score every tool for a request and its unit vector; without a vector by words alone."""
        terms = analyse_query(request)
        words = _BY_WORDS * self._stems.score(terms.stems.tolist()) + _BY_GRAMS * self._grams.score(
            terms.grams.tolist()
        )
        if vector is None or not self._vectors.shape[1]:
            return Scores(words, np.zeros(self._count), np.zeros(self._count), np.zeros(self._count, dtype=np.intp))
        cosines = (self._vectors @ vector).astype(np.float64)
        lowest = cosines.min(initial=1.0)
        spread = max(float(cosines.max(initial=-1.0) - lowest), _LEAST_SPREAD)
        past, similar = self._by_past(vector)
        return Scores(words, _BY_MEANING * (cosines - lowest) / spread, past, similar)

    def _by_past(self, vector: NDArray[np.float32]) -> tuple[Floats, NDArray[np.intp]]:
        if not len(self._asked):
            return np.zeros(self._count), np.zeros(self._count, dtype=np.intp)
        likeness = (self._asked @ vector).astype(np.float64)
        kernel = np.exp(_SHARPNESS * (likeness - 1))
        votes = kernel @ self._served / (kernel.sum() + np.exp(_SHARPNESS * (_NO_EVIDENCE - 1)))
        nearest = np.where(self._served > 0, np.clip(likeness, 0, 1)[:, None], 0).max(axis=0)
        similar = ((likeness >= _NO_EVIDENCE)[:, None] & (self._served > 0)).sum(axis=0)
        return _VOTES * votes + _NEAREST * nearest**2, similar


def _terms(tool: ToolEntry) -> tuple[dict[int, float], dict[int, float]]:
    found: tuple[dict[int, float], dict[int, float]] = ({}, {})
    for weight, text in ((_NAME_COUNTS, tool.words), (1.0, tool.text)):
        told = analyse(text)
        for counted, packed in zip(found, (told.stems, told.grams), strict=True):
            for term in np.frombuffer(packed, dtype="<u4").tolist():
                counted[term] = counted.get(term, 0.0) + weight
    return found

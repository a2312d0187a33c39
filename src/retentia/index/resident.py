"""The resident index: everything a view's passages are searched by, held in memory and made of their rows."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from retentia.index.columns import Columns
from retentia.index.labels import LabelTerms
from retentia.index.lexical import Lexical
from retentia.index.lexicon import STEMS, Lexicon, Occurrences, label_terms
from retentia.index.neighbours import Layout, arrange
from retentia.index.ranking import Evidence, Ranking
from retentia.index.search import best_records
from retentia.index.signals import Signal, Signals, Weights, spread
from retentia.index.tokenizer import QueryTerms, analyse
from retentia.index.traits import Traits
from retentia.index.vectors import Vectors
from retentia.model.passage import Passage, VectorRow

EXACT_UP_TO = 4_000
"""Above so many passages, vectors and grams are compared closely only with the best candidates."""

CANDIDATES = 160
_LOWEST = 12
_SESSION_BEST = 3
_FEWEST_DEAD = 1024


@dataclass(frozen=True, slots=True)
class _Seen:
    """What one look at a view found: scores by position, -inf where nothing may be returned, and why."""

    signals: Signals
    scores: Signal
    evidence: Evidence
    cosines: Signal | None


class ResidentIndex:
    """Searches a view. Searches may run at the same time as each other; `add` and `remove` must run alone.

    What `add` and `remove` leave is equal to an index built from the rows that remain: the same records in the same
    order, scores within 1e-5. Rows keep their place until many are dead, so `columns` and a mask made from them are
    valid until the next change.
    """

    def __init__(self, dimension: int) -> None:
        """Start without passages; `dimension` is that of the vectors, 0 for a view without an embedder."""
        self.columns = Columns()
        self.vectors = Vectors(dimension)
        speakers = LabelTerms(self.columns.speaker, _terms_of, kinds=2)
        dates = LabelTerms(self.columns.date, _terms_of, kinds=2, is_rare_in_text=True)
        self.lexicon = Lexicon([speakers, dates])
        self.layout = arrange(self.columns)
        self.traits = Traits.of(self.columns, self.layout)
        self.lexical = Lexical(self.lexicon, self.layout, self.traits.is_assisted, self.traits.repeats)

    @classmethod
    def build(cls, passages: Sequence[Passage], vectors: Sequence[VectorRow], *, dimension: int) -> "ResidentIndex":
        """Index passage rows and their vector rows, in any order; plain tuples of the same columns do."""
        return cls.load([(passages, vectors)], dimension=dimension)

    @classmethod
    def load(
        cls, slices: Iterable[tuple[Sequence[Passage], Sequence[VectorRow]]], *, dimension: int
    ) -> "ResidentIndex":
        """Do what `build` does with rows that come a slice at a time; none is kept."""
        index = cls(dimension)
        for passages, vectors in slices:
            index._take_in(passages, vectors)
        index._settle(None)
        return index

    def __len__(self) -> int:
        return len(self.layout)

    @property
    def nbytes(self) -> int:
        """How much memory the index holds."""
        parts = (self.columns, self.vectors, self.lexicon, self.lexical, self.layout, self.traits)
        return sum(part.nbytes for part in parts)

    @property
    def without_vector(self) -> int:
        """How many passages have no vector yet: they are found by their words."""
        return len(self) - self.vectors.known_count

    def add(self, passages: Sequence[Passage], vectors: Sequence[VectorRow]) -> None:
        """Take in passages of records that are not held, and their vectors; vectors of no such passage are ignored."""
        self._take_in(passages, vectors)
        self._settle(self.layout)

    def _take_in(self, passages: Sequence[Passage], vectors: Sequence[VectorRow]) -> None:
        if not passages:
            return
        records, parts, *_, stems, grams = columns = tuple(zip(*passages, strict=True))
        self.columns.extend(columns)
        self.vectors.extend(_in_order(records, parts, vectors))
        self.lexicon.extend(stems, grams)

    def remove(self, record_ids: Collection[bytes]) -> None:
        """Let go of every passage of these records; ids that are not held are ignored."""
        if not record_ids:
            return
        is_live = self.columns.is_live.values
        is_live[self.columns.rows_of(record_ids)] = False
        if len(is_live) - np.count_nonzero(is_live) > max(_FEWEST_DEAD, len(is_live) // 2):
            self._compact()
        else:
            self._settle(self.layout)

    def records_saying(self, words: QueryTerms) -> set[bytes]:
        """Return the records one passage of which says all of these words, each in any of its forms."""
        found = self.lexicon.find(words, self.layout)
        stems = found.of(STEMS)
        _, positions, _ = found.at(stems)
        if not len(stems):
            return set()
        counted = np.bincount(positions, minlength=len(self.layout))
        return set(self.columns.ids(self.layout.rows[counted == len(stems)]))

    def search(
        self,
        query: QueryTerms,
        vector: NDArray[np.float32] | None,
        *,
        limit: int,
        allowed: NDArray[np.bool_] | None = None,
        weights: Weights | None = None,
    ) -> Ranking:
        """Rank the `limit` best records for a query and its unit vector; without a vector by words alone.

        `allowed` marks by row what may be returned (length of `columns`); statistics stay those of the whole view.
        Equal scores are ordered by record id. A view of more than EXACT_UP_TO passages is searched in two steps.
        """
        if not len(self):
            return Ranking((), Evidence(0.0, 0.0, None, 1.0), 0)
        permitted = None if allowed is None else allowed[self.layout.rows]
        look = self._look_twice if len(self) > EXACT_UP_TO else self._look_at_all
        found = self.lexicon.find(query, self.layout, self.traits.repeats)
        seen = look(query, found, vector if self.vectors.are_any_known else None, permitted, weights or Weights())
        held_back = 0 if permitted is None else len(permitted) - int(np.count_nonzero(permitted))
        records = best_records(seen.scores, seen.signals, self.columns, self.layout, limit=limit, cosines=seen.cosines)
        return Ranking(records, seen.evidence, held_back)

    def _look_at_all(
        self,
        query: QueryTerms,
        found: Occurrences,
        vector: Signal | None,
        permitted: NDArray[np.bool_] | None,
        weights: Weights,
    ) -> _Seen:
        """Score every position exactly."""
        lexical, grams = self.lexical.everywhere(found)
        cosines = None if vector is None else self.vectors.cosines(vector, self.layout)
        signals = self._signals(query, found, lexical, grams, cosines)
        scores = signals.total(weights)
        if permitted is not None:
            scores[~permitted] = -np.inf
        highest = None if cosines is None else _highest(cosines, permitted)
        evidence = Evidence(_highest(lexical, permitted), _highest(grams, permitted), highest, found.unseen)
        return _Seen(signals, scores, evidence, cosines)

    def _look_twice(
        self,
        query: QueryTerms,
        found: Occurrences,
        vector: Signal | None,
        permitted: NDArray[np.bool_] | None,
        weights: Weights,
    ) -> _Seen:
        """Guess grams and cosines to find the most promising positions that may be returned; score those exactly.

        The others are ranked after them.
        """
        lexical = self.lexical.stems(found)
        guessed = None if vector is None else self.vectors.guess(vector, self.layout)
        signals = self._signals(query, found, lexical, self.lexical.guess_grams(found), guessed)
        scores = signals.total(weights)
        if permitted is not None:
            scores[~permitted] = -np.inf
        at = np.argpartition(scores, -CANDIDATES)[-CANDIDATES:]
        grams = self.lexical.grams_at(found, at)
        signals.replace("grams", grams, at)
        highest = None
        if vector is not None and guessed is not None:
            # The lowest decide how cosines are stretched; what is only guessed stays between them and the best.
            lowest = np.argpartition(guessed, _LOWEST)[:_LOWEST]
            exact = self.vectors.cosines_at(vector, self.layout, np.concatenate([at, lowest]))
            highest = _highest(exact[: len(at)], None if permitted is None else permitted[at])
            np.clip(guessed, exact[len(at) :].min(), exact.max(), out=guessed)
            guessed[at] = exact[: len(at)]
            dense = spread(guessed, self.vectors.known, self.traits.repeats)
            signals.replace("dense", dense)
            signals.replace("session", self._of_session(lexical + dense))
        closely = signals.total(weights)[at]
        if permitted is not None:
            closely[~permitted[at]] = -np.inf
        np.minimum(scores, closely.min(initial=np.inf, where=closely > -np.inf), out=scores)
        scores[at] = closely
        evidence = Evidence(_highest(lexical, permitted), float(grams.max()), highest, found.unseen)
        return _Seen(signals, scores, evidence, guessed)

    def _signals(
        self, query: QueryTerms, found: Occurrences, lexical: Signal, grams: Signal, cosines: Signal | None
    ) -> Signals:
        """Return what speaks for each position."""
        dense = None if cosines is None else spread(cosines, self.vectors.known, self.traits.repeats)
        topical = lexical if dense is None else lexical + dense
        asked = {
            "lexical": lexical,
            "grams": grams,
            "dense": dense,
            "session": self._of_session(topical),
            "speaker": self.traits.addressed(query.words),
            "bigrams": self.lexical.pairs(found),
            "temporal": self.traits.tells_time if query.asks_when else None,
        }
        return Signals.of(asked, self.traits.standing, found.unseen)

    def _of_session(self, topical: Signal) -> Signal:
        return self.layout.mean_of_best(topical * np.float32(0.5), _SESSION_BEST)

    def _compact(self) -> None:
        kept = np.flatnonzero(self.columns.is_live.values)
        for part in (self.vectors, self.lexicon, self.columns):
            part.keep(kept)
        self._settle(None)

    def _settle(self, earlier: Layout | None) -> None:
        self.layout = arrange(self.columns)
        self.lexicon.settle()
        self.vectors.settle(self.layout, earlier, with_sketch=len(self.layout) > EXACT_UP_TO)
        self.traits = Traits.of(self.columns, self.layout)
        self.lexical = Lexical(self.lexicon, self.layout, self.traits.is_assisted)


def _in_order(records: Sequence[bytes], parts: Sequence[int], vectors: Sequence[VectorRow]) -> Sequence[bytes | None]:
    """Return the vector of each passage, None where there is none."""
    if not vectors:
        return [None] * len(records)
    of_records, of_parts, found = zip(*vectors, strict=True)
    if of_records == records and of_parts == parts:
        return found
    vector_of = {(record, part): vector for record, part, vector in vectors}
    return [vector_of.get(key) for key in zip(records, parts, strict=True)]


def _highest(values: Signal, permitted: NDArray[np.bool_] | None) -> float:
    return float(values.max() if permitted is None else values.max(initial=0.0, where=permitted))


def _terms_of(label: str) -> tuple[list[int], list[int]]:
    found = analyse(label)
    return label_terms(found.stems, found.grams)

"""The resident index: everything a view's passages are searched by, held in memory and made of their rows."""

from collections.abc import Collection, Sequence
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from retentia.index.columns import Columns
from retentia.index.labels import LabelTerms
from retentia.index.lexical import Lexical
from retentia.index.lexicon import GRAMS, STEMS, Lexicon, Occurrences, label_terms
from retentia.index.neighbours import Layout, arrange
from retentia.index.ranking import Evidence, Ranking
from retentia.index.search import best_records
from retentia.index.signals import Signal, Signals, Weights, spread
from retentia.index.tokenizer import QueryTerms, analyse
from retentia.index.traits import Traits
from retentia.index.vectors import Vectors
from retentia.model.passage import Passage, VectorRow

EXACT_UP_TO = 20_000
"""Above so many passages, vectors and grams are compared closely only with the best candidates."""

CANDIDATES = 2_000
_LOWEST = 50
_SESSION_BEST = 3
_FEWEST_DEAD = 1024
_RECORD_AND_PART = itemgetter(0, 1)


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
        self.lexical = Lexical(self.lexicon, self.layout)
        self.traits = Traits.of(self.columns, self.layout)

    @classmethod
    def build(cls, passages: Sequence[Passage], vectors: Sequence[VectorRow], *, dimension: int) -> "ResidentIndex":
        """Index passage rows and their vector rows, in any order; plain tuples of the same columns do."""
        index = cls(dimension)
        index.add(passages, vectors)
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
        if not passages:
            return
        self.columns.extend(passages)
        self.vectors.extend(_in_order(passages, vectors))
        *_, stems, grams = zip(*passages, strict=True)
        self.lexicon.extend(stems, grams)
        self._settle(self.layout)

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
        signals, evidence = self.signals(query, vector, permitted)
        scores = signals.total(weights or Weights())
        held_back = 0
        if permitted is not None:
            scores[~permitted] = -np.inf
            held_back = len(permitted) - int(np.count_nonzero(permitted))
        records = best_records(scores, signals, self.columns, self.layout, limit=limit)
        return Ranking(records, evidence, held_back)

    def signals(
        self, query: QueryTerms, vector: NDArray[np.float32] | None, permitted: NDArray[np.bool_] | None = None
    ) -> tuple[Signals, Evidence]:
        """Return what speaks for each position, and the evidence among those permitted."""
        found = self.lexicon.find(query, self.layout)
        if vector is not None and not self.vectors.known_count:
            vector = None
        look = self._look_twice if len(self) > EXACT_UP_TO else self._look_at_all
        lexical, grams, cosines = look(found, vector, permitted)
        dense = None if cosines is None else spread(cosines, self.vectors.known)
        topical = lexical if dense is None else lexical + dense
        addressed = self.traits.addressed(query.words)
        asked = {
            "lexical": lexical,
            "grams": grams,
            "dense": dense,
            "session": self.layout.mean_of_best(topical * np.float32(0.5), _SESSION_BEST),
            "speaker": addressed,
            "bigrams": self.lexical.pairs(found),
            "temporal": self.traits.tells_time if query.asks_when else None,
        }
        signals = Signals.of(asked, self.traits.standing)
        highest = None if cosines is None else _highest(cosines, permitted)
        evidence = Evidence(
            _highest(lexical, permitted), _highest(grams, permitted), highest, found.of(STEMS, GRAMS).unseen
        )
        return signals, evidence

    def _look_at_all(
        self, found: Occurrences, vector: Signal | None, permitted: NDArray[np.bool_] | None
    ) -> tuple[Signal, Signal, Signal | None]:
        """Return the scores over stems and grams and the cosines, all of them exact."""
        lexical, grams = self.lexical.everywhere(found)
        return lexical, grams, None if vector is None else self.vectors.cosines(vector, self.layout)

    def _look_twice(
        self, found: Occurrences, vector: Signal | None, permitted: NDArray[np.bool_] | None
    ) -> tuple[Signal, Signal, Signal | None]:
        """Return the same, grams and cosines exact for the most promising positions that may be returned."""
        lexical = self.lexical.stems(found)
        guess = lexical + self.lexical.guess_grams(found)
        guessed = None if vector is None else self.vectors.guess(vector, self.layout)
        if guessed is not None:
            guess += spread(guessed, self.vectors.known)
        if permitted is not None:
            guess[~permitted] = -np.inf
        at = np.sort(np.argpartition(guess, -CANDIDATES)[-CANDIDATES:])
        grams = self.lexical.grams_at(found, at)
        if guessed is None or vector is None:
            return lexical, grams, None
        # The lowest decide how cosines are stretched; what is only guessed stays between them and the best.
        lowest = np.sort(np.argpartition(guessed, _LOWEST)[:_LOWEST])
        low = self.vectors.cosines_at(vector, self.layout, lowest).min()
        exact = self.vectors.cosines_at(vector, self.layout, at)
        cosines = np.clip(guessed, low, exact.max())
        cosines[at] = exact
        return lexical, grams, cosines

    def _compact(self) -> None:
        kept = np.flatnonzero(self.columns.is_live.values)
        for part in (self.vectors, self.lexicon, self.columns):
            part.keep(kept)
        self._settle(None)

    def _settle(self, earlier: Layout | None) -> None:
        self.layout = arrange(self.columns)
        self.vectors.settle(self.layout, earlier, with_sketch=len(self.layout) > EXACT_UP_TO)
        self.lexical = Lexical(self.lexicon, self.layout)
        self.traits = Traits.of(self.columns, self.layout)


def _in_order(passages: Sequence[Passage], vectors: Sequence[VectorRow]) -> list[bytes | None]:
    """Return the vector of each passage, None where there is none."""
    keys = list(map(_RECORD_AND_PART, passages))
    if keys == list(map(_RECORD_AND_PART, vectors)):
        return [row[2] for row in vectors]
    vector_of = {(record, part): vector for record, part, vector in vectors}
    return [vector_of.get(key) for key in keys]


def _highest(values: Signal, permitted: NDArray[np.bool_] | None) -> float:
    return float(values.max() if permitted is None else values.max(initial=0.0, where=permitted))


def _terms_of(label: str) -> tuple[list[int], list[int]]:
    found = analyse(label)
    return label_terms(found.stems, found.grams)

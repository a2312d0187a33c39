"""The resident index: everything a view's passages are searched by, held in memory and made of their rows."""

from collections.abc import Callable, Collection, Sequence
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from retentia.index.bigrams import Bigrams
from retentia.index.columns import Columns
from retentia.index.labels import LabelTerms
from retentia.index.lexical import Field
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
        self.stems = Field(self._labels(_stems_of))
        self.grams = Field(self._labels(_grams_of))
        self.bigrams = Bigrams()
        self.layout = arrange(self.columns)
        self.traits = Traits.of(self.columns, self.layout)

    @classmethod
    def build(
        cls, passages: Sequence[Passage], vectors: Sequence[VectorRow], *, dimension: int
    ) -> "ResidentIndex":
        """Index passage rows and their vector rows, in any order; plain tuples of the same columns do."""
        index = cls(dimension)
        index.add(passages, vectors)
        return index

    def __len__(self) -> int:
        return len(self.layout)

    @property
    def nbytes(self) -> int:
        """How much memory the index holds."""
        parts = (self.columns, self.vectors, self.stems, self.grams, self.bigrams, self.layout, self.traits)
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
        self.stems.extend(stems)
        self.grams.extend(grams)
        self.bigrams.extend(stems)
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
        layout, traits = self.layout, self.traits
        stems, grams = self.stems.find(query.stems, layout), self.grams.find(query.grams, layout)
        lexical = self.stems.score(stems, layout)
        cosines: Signal | None = None
        known = self.vectors.known
        at: NDArray[np.intp] | None = None
        if vector is not None and self.vectors.known_count:
            cosines = (self.vectors.guess if len(self) > EXACT_UP_TO else self.vectors.cosines)(vector, layout)
        if len(self) > EXACT_UP_TO:
            guess = lexical + self.grams.overlap(grams, layout) + (0 if cosines is None else spread(cosines, known))
            at = _candidates(guess, permitted)
            if cosines is not None and vector is not None:
                cosines = _corrected(cosines, at, self.vectors.cosines_at(vector, layout, at))
        close = self.grams.score(grams, layout, at)
        dense = None if cosines is None else spread(cosines, known)
        topical = lexical if dense is None else lexical + dense
        signals = Signals(
            lexical=lexical,
            grams=close,
            dense=dense,
            session=layout.mean_of_best(topical * np.float32(0.5), _SESSION_BEST),
            speaker=traits.addressed(query.words),
            bigrams=self.bigrams.score(query.stems, layout),
            assistant=traits.by_assistant,
            question=traits.asks,
            instruction=traits.instructs,
            continuation=traits.continues,
            temporal=traits.tells_time if query.asks_when else None,
        )
        highest = None if cosines is None else _highest(cosines, permitted)
        return signals, Evidence(_highest(lexical, permitted), _highest(close, permitted), highest, stems.unseen)

    def _labels(self, terms_of: Callable[[str], list[int]]) -> list[LabelTerms]:
        return [LabelTerms(self.columns.speaker, terms_of), LabelTerms(self.columns.date, terms_of)]

    def _compact(self) -> None:
        kept = np.flatnonzero(self.columns.is_live.values)
        for part in (self.vectors, self.stems, self.grams, self.bigrams, self.columns):
            part.keep(kept)
        self._settle(None)

    def _settle(self, earlier: Layout | None) -> None:
        self.layout = arrange(self.columns)
        self.vectors.settle(self.layout, earlier, with_sketch=len(self.layout) > EXACT_UP_TO)
        self.stems.settle(self.layout)
        self.grams.settle(self.layout)
        self.traits = Traits.of(self.columns, self.layout)


def _in_order(passages: Sequence[Passage], vectors: Sequence[VectorRow]) -> list[bytes | None]:
    """Return the vector of each passage, None where there is none."""
    keys = list(map(_RECORD_AND_PART, passages))
    if keys == list(map(_RECORD_AND_PART, vectors)):
        return [row[2] for row in vectors]
    vector_of = {(record, part): vector for record, part, vector in vectors}
    return [vector_of.get(key) for key in keys]


def _candidates(guess: Signal, permitted: NDArray[np.bool_] | None) -> NDArray[np.intp]:
    """Return the most promising positions that may be returned, rising."""
    if permitted is not None:
        guess = np.where(permitted, guess, np.float32(-np.inf))
    return np.sort(np.argpartition(guess, -CANDIDATES)[-CANDIDATES:])


def _corrected(guessed: Signal, at: NDArray[np.intp], exact: Signal) -> Signal:
    """Put exact cosines in their places; what was only guessed stays below the best of them."""
    corrected: Signal = np.minimum(guessed, exact.max())
    corrected[at] = exact
    return corrected


def _highest(values: Signal, permitted: NDArray[np.bool_] | None) -> float:
    return float(values.max() if permitted is None else values.max(initial=0.0, where=permitted))


def _stems_of(text: str) -> list[int]:
    found: list[int] = np.frombuffer(analyse(text).stems, dtype="<u4").tolist()
    return found


def _grams_of(text: str) -> list[int]:
    found: list[int] = np.frombuffer(analyse(text).grams, dtype="<u4").tolist()
    return found

"""Lexicon: which term of which kind stands where. A kind is the stems, the character grams or the pairs of stems.

All kinds share one inverted index, so that a query is looked up once. The upper two bits of a term id tell the kind.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from retentia.index.columns import empty
from retentia.index.labels import LabelTerms
from retentia.index.neighbours import Layout
from retentia.index.postings import Postings
from retentia.index.tokenizer import QueryTerms

STEMS, GRAMS, PAIRS = 0, 1, 2
_KIND_SHIFT = np.uint32(30)
_SPARE_BITS = np.uint32(2)
_PAIR_MULTIPLIER = np.uint32(0x9E3779B1)

_FIRST_OF_KIND = np.arange(3, dtype=np.uint32) << _KIND_SHIFT

Ids = NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Occurrences:
    """Where the distinct terms of a query occur, and how often.

    Those of term t are `edges[t]` to `edges[t + 1]` of `positions` and `counts`; the terms of kind k are `cuts[k]` to
    `cuts[k + 1]`. `holders` counts the passages that hold a term of their own or are said by someone of that name; the
    date counts only for terms that occur nowhere else, because few texts repeat what it says.
    """

    terms: list[int]
    cuts: tuple[int, int, int, int]
    holders: NDArray[np.intp]
    edges: NDArray[np.intp]
    positions: NDArray[np.int32]
    counts: NDArray[np.float32]

    def of(self, first: int, last: int) -> "Occurrences":
        """Return the occurrences of the kinds from `first` to before `last`."""
        low, high = self.cuts[first], self.cuts[last]
        begin, end = int(self.edges[low]), int(self.edges[high])
        return replace(
            self,
            terms=self.terms[low:high],
            holders=self.holders[low:high],
            edges=self.edges[low : high + 1] - begin,
            positions=self.positions[begin:end],
            counts=self.counts[begin:end],
        )

    @property
    def which(self) -> NDArray[np.intp]:
        """The term of each occurrence, counted from 0."""
        return np.repeat(np.arange(len(self.terms)), np.diff(self.edges))

    @property
    def unseen(self) -> float:
        """The share of the terms that the scope does not hold."""
        return np.count_nonzero(self.holders == 0) / len(self.terms) if self.terms else 0.0


class Lexicon:
    """The own terms of every row, and those of dates and speakers."""

    def __init__(self, labels: Sequence[LabelTerms]) -> None:
        self.labels = labels
        self._own = Postings()
        self._lengths = (empty(np.int32), empty(np.int32))

    @property
    def nbytes(self) -> int:
        return self._own.nbytes + sum(lengths.nbytes for lengths in self._lengths)

    def extend(self, stems: Sequence[bytes], grams: Sequence[bytes]) -> None:
        """Append the own terms of new rows, each row's as little-endian uint32."""
        first = len(self._lengths[STEMS].values)
        numbers = np.arange(first, first + len(stems), dtype=np.uint32)
        terms, rows = [], []
        for kind, packed in ((STEMS, stems), (GRAMS, grams)):
            lengths = np.array([len(ids) >> 2 for ids in packed], dtype=np.int32)
            self._lengths[kind].extend(lengths)
            terms.append(np.frombuffer(b"".join(packed), dtype="<u4"))
            rows.append(np.repeat(numbers, lengths))
        within = rows[STEMS][1:] == rows[STEMS][:-1]
        terms.append(_pairs(terms[STEMS])[within])
        rows.append(rows[STEMS][1:][within])
        self._own.extend(np.concatenate([_of_kind(kind, ids) for kind, ids in enumerate(terms)]), np.concatenate(rows))

    def keep(self, rows: NDArray[np.intp]) -> None:
        """Drop every row but these."""
        self._own.keep(rows, len(self._lengths[STEMS].values))
        for lengths in self._lengths:
            lengths.keep(rows)
        for label in self.labels:
            label.forget()

    def own_lengths(self, layout: Layout) -> NDArray[np.float32]:
        """Return how many stems and grams each position has of its own, shape (2, n)."""
        return np.stack([lengths.values[layout.rows] for lengths in self._lengths]).astype(np.float32)

    def find(self, query: QueryTerms, layout: Layout) -> Occurrences:
        """Look up the distinct terms of a query."""
        kinds = (query.stems, query.grams, _pairs(query.stems))
        terms = np.unique(np.concatenate([_of_kind(kind, ids) for kind, ids in enumerate(kinds)]))
        cuts = np.searchsorted(terms, _FIRST_OF_KIND).tolist()
        edges, rows, counts = self._own.find(terms)
        positions = layout.positions[rows]
        if len(layout) < len(layout.positions):
            alive = positions >= 0
            edges = np.concatenate([[0], np.cumsum(alive)])[edges]
            positions, counts = positions[alive], counts[alive]
        asked = terms.tolist()
        holders = np.diff(edges)
        for label in self.labels:
            for place in label.known(asked):
                if label.is_rare_in_text and holders[place]:
                    continue
                holders[place] += label.holders(asked[place])
        return Occurrences(
            asked, (cuts[0], cuts[1], cuts[2], len(asked)), holders, edges, positions, counts.astype(np.float32)
        )


def label_terms(stems: bytes, grams: bytes) -> tuple[list[int], list[int]]:
    """Return the ids of a label's terms by kind."""
    by_kind = ((STEMS, stems), (GRAMS, grams))
    first, second = (_of_kind(kind, np.frombuffer(packed, dtype="<u4")).tolist() for kind, packed in by_kind)
    return first, second


def _of_kind(kind: int, ids: Ids) -> Ids:
    return (ids >> _SPARE_BITS) | (np.uint32(kind) << _KIND_SHIFT)


def _pairs(stems: Ids) -> Ids:
    """Return the id of each pair of neighbouring stems."""
    return stems[:-1] * _PAIR_MULTIPLIER + stems[1:]

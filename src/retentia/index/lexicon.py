"""Lexicon: which term of which kind stands where. A kind is the stems, the character grams or the pairs of stems.

All kinds share one inverted index, so that a query is looked up once. The upper two bits of a term id tell the kind.
"""

from collections.abc import Sequence
from dataclasses import dataclass

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

_FIRST_OF_KIND = np.array([GRAMS, PAIRS], dtype=np.uint32) << _KIND_SHIFT

Ids = NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Occurrences:
    """Where the distinct terms of a query occur: `which` of them (rising), at which of the positions, how often.

    `holders` counts the passages that hold a term of their own or are said by someone of that name; the date counts
    only for terms that occur nowhere else, because few texts repeat what it says.
    """

    terms: list[int]
    holders: NDArray[np.intp]
    which: NDArray[np.intp]
    positions: NDArray[np.int32]
    counts: NDArray[np.float32]

    @property
    def unseen(self) -> float:
        """The share of the terms that the scope does not hold."""
        return np.count_nonzero(self.holders == 0) / len(self.terms) if self.terms else 0.0


@dataclass(frozen=True, slots=True)
class Lookup:
    """The occurrences of all terms of a query; those of kind k are the terms from `cuts[k]` to `cuts[k + 1]`."""

    found: Occurrences
    cuts: tuple[int, int, int, int]

    def of(self, first: int, last: int) -> Occurrences:
        """Return the occurrences of the kinds from `first` to before `last`, their terms counted from 0."""
        found, low, high = self.found, self.cuts[first], self.cuts[last]
        begin, end = np.searchsorted(found.which, (low, high)).tolist()
        which = found.which[begin:end]
        return Occurrences(
            found.terms[low:high],
            found.holders[low:high],
            which - low if low else which,
            found.positions[begin:end],
            found.counts[begin:end],
        )


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
            lengths = np.fromiter(map(len, packed), dtype=np.int32, count=len(packed)) >> 2
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

    def find(self, query: QueryTerms, layout: Layout) -> Lookup:
        """Look up the distinct terms of a query."""
        kinds = (query.stems, query.grams, _pairs(query.stems))
        terms = np.unique(np.concatenate([_of_kind(kind, ids) for kind, ids in enumerate(kinds)]))
        which, rows, counts = self._own.find(terms)
        positions = layout.positions[rows]
        if len(layout) < len(layout.positions):
            alive = positions >= 0
            which, positions, counts = which[alive], positions[alive], counts[alive]
        asked = terms.tolist()
        holders = np.bincount(which, minlength=len(asked))
        for label in self.labels:
            for place in label.known(asked):
                if not (label.is_rare_in_text and holders[place]):
                    holders[place] += label.holders(asked[place])
        grams, pairs = np.searchsorted(terms, _FIRST_OF_KIND).tolist()
        found = Occurrences(asked, holders, which, positions, counts.astype(np.float32))
        return Lookup(found, (0, grams, pairs, len(asked)))


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

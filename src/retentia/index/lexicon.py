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

_FIRST_OF_KIND = np.arange(3, dtype=np.uint32) << _KIND_SHIFT

Ids = NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Occurrences:
    """Where the distinct terms of a query occur, and how often.

    Those of term t are `edges[t]` to `edges[t + 1]` of `positions` and `counts`; the terms of kind k are `cuts[k]` to
    `cuts[k + 1]`. `idf` is their inverse document frequency, 0 for what nobody holds: counted are the passages that
    hold a term of their own or are said by someone of that name; the date counts only for terms that occur nowhere
    else, because few texts repeat what it says. `labelled` tells for each kind of label which terms some label holds.
    """

    terms: list[int]
    cuts: tuple[int, int, int, int]
    idf: NDArray[np.float32]
    labelled: Sequence[Sequence[int]]
    edges: NDArray[np.intp]
    positions: NDArray[np.int32]
    counts: NDArray[np.float32]

    def of(self, kind: int) -> range:
        """Return which terms are of a kind."""
        return range(self.cuts[kind], self.cuts[kind + 1])

    def at(self, terms: range) -> tuple[NDArray[np.intp], NDArray[np.int32], NDArray[np.float32]]:
        """Return the term of each occurrence of some terms, counted from the first of them, its position and count."""
        edges = self.edges[terms.start : terms.stop + 1]
        here = slice(edges[0], edges[-1])
        which = np.arange(len(terms)).repeat(edges[1:] - edges[:-1])
        return which, self.positions[here], self.counts[here]

    @property
    def unseen(self) -> float:
        """The share of the stems that the scope does not hold."""
        stems = self.cuts[GRAMS]
        return (stems - np.count_nonzero(self.idf[:stems])) / stems if stems else 0.0


class Lexicon:
    """The own terms of every row, and those of dates and speakers."""

    def __init__(self, labels: Sequence[LabelTerms]) -> None:
        self.labels = labels
        self._own = Postings()
        self._new: list[tuple[Ids, Ids]] = []
        self._lengths = (empty(np.int32), empty(np.int32))

    @property
    def nbytes(self) -> int:
        return self._own.nbytes + sum(lengths.nbytes for lengths in self._lengths)

    def extend(self, stems: Sequence[bytes], grams: Sequence[bytes]) -> None:
        """Append the own terms of new rows, each row's as little-endian uint32; `settle` makes them findable."""
        first = len(self._lengths[STEMS].values)
        numbers = np.arange(first, first + len(stems), dtype=np.uint32)
        terms, rows = [], []
        for kind, packed in ((STEMS, stems), (GRAMS, grams)):
            lengths = np.array([len(ids) >> 2 for ids in packed], dtype=np.int32)
            self._lengths[kind].extend(lengths)
            terms.append(np.frombuffer(b"".join(packed), dtype="<u4"))
            rows.append(numbers.repeat(lengths))
        within = (rows[STEMS][1:] == rows[STEMS][:-1]).nonzero()[0]
        terms.append(_pairs(terms[STEMS]).take(within))
        rows.append(rows[STEMS].take(within))
        self._new.append((_joined(terms), np.concatenate(rows)))

    def settle(self) -> None:
        """Put what was appended into the inverted index."""
        if self._new:
            terms, rows = (np.concatenate(parts) for parts in zip(*self._new, strict=True))
            self._new.clear()
            self._own.extend(terms, rows)

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

    def find(self, query: QueryTerms, layout: Layout, repeats: NDArray[np.bool_] | None = None) -> Occurrences:
        """Look up the distinct terms of a query. `repeats` marks the positions whose words count with another's."""
        kinds = (query.stems, query.grams, _pairs(query.stems))
        terms = _distinct(_joined(kinds))
        cuts = terms.searchsorted(_FIRST_OF_KIND).tolist()
        edges, rows, counts = self._own.find(terms)
        positions = layout.positions.take(rows)
        if len(layout) < len(layout.positions):
            alive = positions >= 0
            edges = np.concatenate([[0], np.cumsum(alive)])[edges]
            positions, counts = positions[alive], counts[alive]
        asked = terms.tolist()
        holders = edges[1:] - edges[:-1]
        size = len(layout)
        if repeats is not None:
            before = np.concatenate([[0], np.cumsum(repeats[positions])])[edges]
            holders -= before[1:] - before[:-1]
            size -= int(np.count_nonzero(repeats))
        labelled = [label.known(asked) for label in self.labels]
        for label, places in zip(self.labels, labelled, strict=True):
            for place in places:
                if not (label.is_rare_in_text and holders[place]):
                    holders[place] += label.holders(asked[place])
        return Occurrences(
            terms=asked,
            cuts=(cuts[STEMS], cuts[GRAMS], cuts[PAIRS], len(asked)),
            idf=_inverse_document_frequency(holders, size),
            labelled=labelled,
            edges=edges,
            positions=positions,
            counts=counts.astype(np.float32),
        )


def _inverse_document_frequency(holders: NDArray[np.intp], size: int) -> NDArray[np.float32]:
    common = np.minimum(holders, size)
    idf = np.log1p((size - common + 0.5) / (common + 0.5)).astype(np.float32)
    idf *= common > 0
    return idf


def label_terms(stems: bytes, grams: bytes) -> tuple[list[int], list[int]]:
    """Return the ids of a label's terms by kind."""
    by_kind = ((STEMS, stems), (GRAMS, grams))
    first, second = (_of_kind(kind, np.frombuffer(packed, dtype="<u4")).tolist() for kind, packed in by_kind)
    return first, second


def _joined(by_kind: Sequence[Ids]) -> Ids:
    """Return the ids of every kind in one array."""
    ids: Ids = np.concatenate(by_kind, dtype=np.uint32, casting="same_kind")
    ids >>= _SPARE_BITS
    end = 0
    for kind, some in enumerate(by_kind):
        start, end = end, end + len(some)
        ids[start:end] |= np.uint32(kind) << _KIND_SHIFT
    return ids


def _of_kind(kind: int, ids: Ids) -> Ids:
    return (ids >> _SPARE_BITS) | (np.uint32(kind) << _KIND_SHIFT)


def _distinct(ids: Ids) -> Ids:
    """Return them sorted, each once; `np.unique` would load a module of its own in the first search."""
    ids.sort()
    is_new = np.ones(len(ids), dtype=bool)
    np.not_equal(ids[1:], ids[:-1], out=is_new[1:])
    return ids[is_new]


def _pairs(stems: Ids) -> Ids:
    """Return the id of each pair of neighbouring stems."""
    return stems[:-1] * _PAIR_MULTIPLIER + stems[1:]

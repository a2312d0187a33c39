"""Lexical search: BM25F over each passage's own terms, those of its neighbours, its date and its speaker.

A term's weighted frequency in a passage is 4 for an occurrence of its own, 2 in the passage before, 1 in the one before
that, 1 in the next, 4 in the date and 4 in the speaker's name (fields are weighted before saturation: Robertson,
Zaragoza and Taylor 2004). They are put together for the terms of a query, never for the whole vocabulary.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from retentia.index.columns import empty
from retentia.index.labels import LabelTerms
from retentia.index.neighbours import Layout, Share
from retentia.index.postings import Postings

SATURATION = 2.5
LENGTH_NORMALISATION = 0.75
TERM_SHARE = Share(own=4.0, previous=2.0, before_previous=1.0, next=1.0)
LABEL_SHARE = 4.0

Scores = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Occurrences:
    """Where the distinct terms of a query occur: `which` of them, at which of the positions, how often.

    `holders` counts the passages that hold a term of their own, or in their date or speaker.
    """

    terms: list[int]
    holders: NDArray[np.intp]
    which: NDArray[np.intp]
    positions: NDArray[np.int32]
    counts: Scores

    @property
    def unseen(self) -> float:
        """The share of terms that the scope does not hold."""
        return np.count_nonzero(self.holders == 0) / len(self.terms) if self.terms else 0.0


class Field:
    """All terms of one kind (stems or grams) of a scope. Searches may run side by side; changes exclude them."""

    def __init__(self, labels: Sequence[LabelTerms]) -> None:
        self._own = Postings()
        self._own_lengths = empty(np.int32)
        self._labels = labels
        self._pivots: Scores = np.empty(0, dtype=np.float32)

    @property
    def nbytes(self) -> int:
        return self._own.nbytes + self._own_lengths.nbytes + self._pivots.nbytes

    def extend(self, packed: Sequence[bytes]) -> None:
        """Append the own terms of new rows, each row's as little-endian uint32."""
        lengths = np.array([len(terms) >> 2 for terms in packed], dtype=np.int32)
        first = len(self._own_lengths.values)
        rows = np.repeat(np.arange(first, first + len(packed), dtype=np.uint32), lengths)
        self._own.extend(np.frombuffer(b"".join(packed), dtype="<u4"), rows)
        self._own_lengths.extend(lengths)

    def keep(self, rows: NDArray[np.intp]) -> None:
        """Drop every row but these."""
        self._own.keep(rows, len(self._own_lengths.values))
        self._own_lengths.keep(rows)
        for label in self._labels:
            label.forget()

    def settle(self, layout: Layout) -> None:
        """Take in the new order of rows: lengths and their average depend on all of them."""
        lengths = layout.mix(self._own_lengths.values[layout.rows].astype(np.float32), TERM_SHARE)
        for label in self._labels:
            lengths += np.float32(LABEL_SHARE) * label.settle(layout)
        average = float(lengths.mean()) if len(lengths) else 0.0
        slope = np.float32(SATURATION * LENGTH_NORMALISATION / (average or 1.0))
        self._pivots = np.float32(SATURATION * (1 - LENGTH_NORMALISATION)) + slope * lengths

    def find(self, terms: NDArray[np.uint32], layout: Layout) -> Occurrences:
        """Look up the distinct terms of a query."""
        distinct = np.unique(terms)
        which, rows, counts = self._own.find(distinct)
        positions = layout.positions[rows]
        if len(layout) < len(layout.positions):
            alive = positions >= 0
            which, positions, counts = which[alive], positions[alive], counts[alive]
        holders = np.bincount(which, minlength=len(distinct))
        asked = distinct.tolist()
        for label in self._labels:
            for number in label.known(asked):
                holders[number] += label.holders(asked[number])
        return Occurrences(asked, holders, which, positions, counts.astype(np.float32))

    def overlap(self, found: Occurrences, layout: Layout) -> Scores:
        """Estimate the scores of every position by own terms alone, to choose where `score` looks closely."""
        idf = _idf(found.holders, len(layout))
        summed = np.bincount(found.positions, weights=idf[found.which], minlength=len(layout))
        return (summed / (float(idf.sum()) or 1.0)).astype(np.float32)

    def score(self, found: Occurrences, layout: Layout, at: NDArray[np.intp] | None = None) -> Scores:
        """Return BM25 by position as a share of the query's ideal: about 1 where a passage says all of it.

        With `at` (rising positions) only these are scored, the others are 0. Rarity is that among passages with what
        flows into them, or with `at` among passages alone.
        """
        weighted = self._weighted(found, layout, at)[:, :-1]
        holders = found.holders if at is not None else _nonzero_by_row(weighted)
        idf = _idf(holders, len(layout))
        weighted /= weighted + (self._pivots if at is None else self._pivots[at])
        scores: Scores = idf @ weighted
        scores *= np.float32(2 / (float(idf.sum()) or 1.0))
        if at is None:
            return scores
        everywhere = np.zeros(len(layout), dtype=np.float32)
        everywhere[at] = scores
        return everywhere

    def _weighted(self, found: Occurrences, layout: Layout, at: NDArray[np.intp] | None) -> Scores:
        """Return the frequency of each term at each position, and a last column of what falls off threads."""
        which, positions, counts = found.which, found.positions, found.counts
        width = len(layout) if at is None else len(at)
        slots: NDArray[np.int32] | None = None
        if at is not None:
            slots = np.full(len(layout) + 1, width, dtype=np.int32)
            slots[at] = np.arange(width, dtype=np.int32)
            near = _reaching(at, layout)[positions]
            which, positions, counts = which[near], positions[near], counts[near]
        weighted = np.zeros((len(found.terms), width + 1), dtype=np.float32)
        cells, rows = weighted.reshape(-1), which * (width + 1)
        for reached, share in (
            (positions, TERM_SHARE.own),
            (layout.after[positions], TERM_SHARE.previous),
            (layout.two_after[positions], TERM_SHARE.before_previous),
            (layout.before[positions], TERM_SHARE.next),
        ):
            cells[rows + (reached if slots is None else slots[reached])] += counts * np.float32(share)
        for label in self._labels:
            for number in label.known(found.terms):
                weighted[number, :-1] += np.float32(LABEL_SHARE) * label.frequencies(found.terms[number], at)
        return weighted


def _idf(holders: NDArray[np.intp], size: int) -> Scores:
    """Return the inverse document frequency of terms, 0 for what nobody holds."""
    common = np.minimum(holders, size)
    idf = np.log1p((size - common + 0.5) / (common + 0.5)).astype(np.float32)
    idf[common == 0] = 0
    return idf


def _reaching(at: NDArray[np.intp], layout: Layout) -> NDArray[np.bool_]:
    """Mark the positions whose terms flow into those of `at`."""
    reaching = np.zeros(len(layout) + 1, dtype=bool)
    for positions in (at, layout.before[at], layout.two_before[at], layout.after[at]):
        reaching[positions] = True
    return reaching


def _nonzero_by_row(values: Scores) -> NDArray[np.intp]:
    # Row by row: counting along an axis adds up bytes, counting one row adds up words.
    return np.array([np.count_nonzero(row) for row in values > 0], dtype=np.intp)

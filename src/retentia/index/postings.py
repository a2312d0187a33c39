"""Postings: which rows hold a term, and how often; an inverted index made by sorting."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

_HALF_BITS = np.uint32(16)
_Rows: TypeAlias = tuple[NDArray[np.uint32], NDArray[np.int32], NDArray[np.uint8]]
"""Terms, the rows that hold them and how often, side by side."""


class Found(NamedTuple):
    """Occurrences of several terms: those of term k are `edges[k]` to `edges[k + 1]` of the rows and counts."""

    edges: NDArray[np.intp]
    rows: NDArray[np.int32]
    counts: NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class _Segment:
    """Terms in rising order, each with its stretch of `rows` (rising) and `counts`."""

    terms: NDArray[np.uint32]
    starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    counts: NDArray[np.uint8]

    @property
    def nbytes(self) -> int:
        return self.terms.nbytes + self.starts.nbytes + self.rows.nbytes + self.counts.nbytes


class Postings:
    """Grows by segments; a segment is merged with the one before it once it has reached half of its size."""

    def __init__(self) -> None:
        self._segments: list[_Segment] = []

    @property
    def nbytes(self) -> int:
        return sum(segment.nbytes for segment in self._segments)

    def extend(self, terms: NDArray[np.uint32], rows: NDArray[np.uint32]) -> None:
        """Add one occurrence of each term in the row beside it; rows are new ones, and rise for each term."""
        order = _by_term(terms)
        terms, rows = terms.take(order), rows.take(order)
        starts = _starts(terms, rows)
        counts = np.minimum(np.diff(starts, append=len(terms)), 255).astype(np.uint8)
        self._segments.append(_segment(terms.take(starts), rows.take(starts).view(np.int32), counts))
        while len(self._segments) > 1 and len(self._segments[-1].rows) * 2 > len(self._segments[-2].rows):
            newer, older = self._segments.pop(), self._segments.pop()
            self._segments.append(_merged(older, newer))

    def keep(self, rows: NDArray[np.intp], row_count: int) -> None:
        """Drop every row but these (of `row_count`), which are renumbered from 0 in rising order."""
        renumbered = np.full(row_count, -1, dtype=np.int64)
        renumbered[rows] = np.arange(len(rows))
        kept = []
        for segment in self._segments:
            moved = renumbered[segment.rows]
            alive = moved >= 0
            kept.append((_spelled_out(segment)[alive], moved[alive].astype(np.int32), segment.counts[alive]))
        self._segments = [_joined(kept)] if kept else []

    def find(self, terms: NDArray[np.uint32]) -> Found:
        """Return every occurrence of each of the terms, dead rows included."""
        found = [_find(segment, terms) for segment in self._segments if len(segment.terms)]
        if len(found) == 1:
            return found[0]
        if not found:
            return Found(np.zeros(len(terms) + 1, np.intp), np.empty(0, np.int32), np.empty(0, np.uint8))
        # int16 sorts by radix, several times as fast as wider integers.
        numbers = np.arange(len(terms), dtype=np.int16 if len(terms) < 1 << 15 else np.int64)
        which = np.concatenate([np.repeat(numbers, np.diff(part.edges)) for part in found])
        order = np.argsort(which, kind="stable")
        edges = np.sum([part.edges for part in found], axis=0)
        rows = np.concatenate([part.rows for part in found])
        counts = np.concatenate([part.counts for part in found])
        return Found(edges, rows[order], counts[order])


def _find(segment: _Segment, terms: NDArray[np.uint32]) -> Found:
    at = segment.terms.searchsorted(terms)
    np.minimum(at, len(segment.terms) - 1, out=at)
    begins = segment.starts.take(at)
    sizes = segment.starts.take(at + 1) - begins
    sizes *= segment.terms.take(at) == terms
    edges = np.zeros(len(terms) + 1, dtype=np.intp)
    sizes.cumsum(out=edges[1:])
    begins -= edges[:-1]
    places = np.arange(edges[-1]) + begins.repeat(sizes)
    return Found(edges, segment.rows.take(places), segment.counts.take(places))


def _segment(terms: NDArray[np.uint32], rows: NDArray[np.int32], counts: NDArray[np.uint8]) -> _Segment:
    """Return a segment of what is in the order of terms, and of rows for each term."""
    starts = _starts(terms)
    return _Segment(terms.take(starts), np.append(starts, len(terms)), rows, counts)


def _merged(older: _Segment, newer: _Segment) -> _Segment:
    return _joined([(_spelled_out(part), part.rows, part.counts) for part in (older, newer)])


def _joined(parts: Sequence[_Rows]) -> _Segment:
    """Put together what is in order each for itself, the lower rows first."""
    terms, rows, counts = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = _by_term(terms)
    return _segment(terms.take(order), rows.take(order), counts.take(order))


def _by_term(terms: NDArray[np.uint32]) -> NDArray[np.intp]:
    """Return the stable order of terms, by their lower and then by their upper half.

    Numbers of 16 bits are sorted by radix: this takes a third of the time of comparing whole ones.
    """
    order = terms.astype(np.uint16).argsort(kind="stable")
    upper = (terms >> _HALF_BITS).astype(np.uint16)
    return order.take(upper.take(order).argsort(kind="stable"))


def _spelled_out(segment: _Segment) -> NDArray[np.uint32]:
    """Return the term of each row of a segment."""
    return segment.terms.repeat(np.diff(segment.starts))


def _starts(*ordered: NDArray[np.unsignedinteger]) -> NDArray[np.int64]:
    """Return where each run begins in which all of the arrays stay as they are."""
    if len(ordered[0]) == 0:
        return np.empty(0, dtype=np.int64)
    is_new = np.ones(len(ordered[0]), dtype=bool)
    is_new[1:] = np.logical_or.reduce([values[1:] != values[:-1] for values in ordered])
    return is_new.nonzero()[0]

"""Postings: which rows hold a term, and how often; an inverted index made by sorting."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_ROW_BITS = np.uint64(32)


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
        """Add one occurrence of each term in the row beside it; rows are new ones."""
        keys = terms.astype(np.uint64)
        keys <<= _ROW_BITS
        keys |= rows
        keys.sort()
        starts = _starts(keys)
        counts = np.minimum(np.diff(starts, append=len(keys)), 255).astype(np.uint8)
        self._segments.append(_segment(keys[starts], counts))
        while len(self._segments) > 1 and len(self._segments[-1].rows) * 2 > len(self._segments[-2].rows):
            newer, older = self._segments.pop(), self._segments.pop()
            self._segments.append(_merged(older, newer))

    def keep(self, rows: NDArray[np.intp], row_count: int) -> None:
        """Drop every row but these (of `row_count`), which are renumbered from 0 in rising order."""
        renumbered = np.full(row_count, -1, dtype=np.int64)
        renumbered[rows] = np.arange(len(rows))
        keys, counts = [], []
        for segment in self._segments:
            moved = renumbered[segment.rows]
            alive = moved >= 0
            keys.append(((_keys(segment) >> _ROW_BITS << _ROW_BITS)[alive]) | moved[alive].astype(np.uint64))
            counts.append(segment.counts[alive])
        self._segments = [_sorted_segment(np.concatenate(keys), np.concatenate(counts))] if keys else []

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


def _segment(keys: NDArray[np.uint64], counts: NDArray[np.uint8]) -> _Segment:
    rows = keys.astype(np.uint32).view(np.int32)
    terms = keys >> _ROW_BITS
    starts = _starts(terms)
    return _Segment(terms[starts].astype(np.uint32), np.append(starts, len(keys)), rows, counts)


def _sorted_segment(keys: NDArray[np.uint64], counts: NDArray[np.uint8]) -> _Segment:
    order = np.argsort(keys)
    return _segment(keys[order], counts[order])


def _merged(older: _Segment, newer: _Segment) -> _Segment:
    keys = np.concatenate([_keys(older), _keys(newer)])
    return _sorted_segment(keys, np.concatenate([older.counts, newer.counts]))


def _keys(segment: _Segment) -> NDArray[np.uint64]:
    terms = np.repeat(segment.terms, np.diff(segment.starts)).astype(np.uint64)
    return (terms << _ROW_BITS) | segment.rows.astype(np.uint64)


def _starts(ordered: NDArray[np.unsignedinteger]) -> NDArray[np.int64]:
    """Return where each run of equal values starts."""
    if len(ordered) == 0:
        return np.empty(0, dtype=np.int64)
    return np.concatenate([[0], np.flatnonzero(ordered[1:] != ordered[:-1]) + 1])

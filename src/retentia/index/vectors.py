"""Vectors: the raw embeddings of a scope as float32 blocks, and the cosine of a query with each passage in context."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from retentia.index.columns import Growing, empty
from retentia.index.neighbours import Layout, Share
from retentia.index.sketch import Sketch

VECTOR_SHARE = Share(own=1.0, previous=0.5, before_previous=0.25, next=0.5)
_BLOCK_ROWS = 4096
_CHUNK_ROWS = 128
_CHUNK_NUMBERS = 1 << 16
_HALF_SIGN_AND_REST = np.int32(-0x70000001)  # bits 31 and 27…0: sign extension leaves its copies in 30…28
_HALF_EXPONENT_SHIFT = np.float32(2.0**112)

Floats = NDArray[np.float32]


class Vectors:
    """One unit vector a row, zeros where none is known yet. A row stays where it was put; nothing mixed is kept.

    `known` marks the positions that have one, None when all do.
    """

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._blocks: list[Growing[np.float32]] = []
        self._sketch = Sketch(dimension)
        self.is_known = empty(np.float32)
        self._lengths = empty(np.float32)
        self._scales: Floats = np.empty(0, dtype=np.float32)
        self.known: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.is_known.values)

    @property
    def nbytes(self) -> int:
        matrix = sum(block.nbytes for block in self._blocks)
        return matrix + self._sketch.nbytes + self.is_known.nbytes + self._lengths.nbytes + self._scales.nbytes

    @property
    def are_any_known(self) -> bool:
        """Whether any position has a vector."""
        return len(self._scales) > 0 and (self.known is None or bool(self.known.any()))

    @property
    def known_count(self) -> int:
        """How many positions have a vector."""
        return int(np.count_nonzero(self._scales))

    def extend(self, blobs: Sequence[bytes | None]) -> None:
        """Append a row for each little-endian float16 vector; None is a passage that has none yet."""
        nothing = bytes(2 * self._dimension)
        matrix = to_single(b"".join([blob or nothing for blob in blobs])).reshape(len(blobs), self._dimension)
        self.is_known.extend(np.array([blob is not None for blob in blobs], dtype=np.float32))
        self._lengths.extend(np.ones(len(blobs), dtype=np.float32))
        # Blocks, because growing one big matrix would copy all of it.
        if self._blocks and len(self._blocks[-1].values) < _BLOCK_ROWS:
            self._blocks[-1].extend(matrix)
        else:
            self._blocks.append(Growing(matrix))

    def keep(self, rows: NDArray[np.intp]) -> None:
        """Drop every row but these."""
        kept = self._take(rows)
        self._blocks = [Growing(kept if kept.base is None else kept.copy())]
        self._sketch = Sketch(self._dimension)
        self.is_known.keep(rows)
        self._lengths.keep(rows)

    def settle(self, layout: Layout, earlier: Layout | None, *, with_sketch: bool) -> None:
        """Take in the new order: measure the mixed vectors whose neighbours changed, sketch new rows if asked to."""
        changed = layout.changed_since(earlier) if earlier is not None else np.arange(len(layout))
        for stretch in _stretches(changed):
            self._measure(stretch, layout)
        self._scales = self.is_known.values[layout.rows] / self._lengths.values[layout.rows]
        self.known = None if self._scales.all() else self._scales > 0
        while with_sketch and self._dimension and len(self._sketch) < len(self):
            rows = np.arange(len(self._sketch), min(len(self._sketch) + _BLOCK_ROWS, len(self)))
            self._sketch.extend(self._take(rows))

    def cosines(self, query: Floats, layout: Layout) -> Floats:
        """Return the cosine of a unit query with each position's mixed vector, 0 where it has none of its own."""
        return layout.mix(self._dots(query)[layout.rows], VECTOR_SHARE) * self._scales

    def guess(self, query: Floats, layout: Layout) -> Floats:
        """Estimate `cosines` from the sketch."""
        raw = self._sketch.guess(query) * self.is_known.values
        return layout.mix(raw[layout.rows], VECTOR_SHARE) * self._scales

    def cosines_at(self, query: Floats, layout: Layout, at: NDArray[np.intp]) -> Floats:
        """Return `cosines` at some positions, reading only their vectors and their neighbours'."""
        around = (at, layout.before[at], layout.two_before[at], layout.after[at])
        needed = np.zeros(len(layout) + 1, dtype=bool)
        for positions in around:
            needed[positions] = True
        needed[-1] = False
        places = np.flatnonzero(needed)
        raw = np.zeros(len(layout) + 1, dtype=np.float32)
        raw[places] = self._dots_of(layout.rows[places], query)
        own, before, two_before, after = (raw[positions] for positions in around)
        mixed: Floats = own * np.float32(VECTOR_SHARE.own) + before * np.float32(VECTOR_SHARE.previous)
        mixed += two_before * np.float32(VECTOR_SHARE.before_previous) + after * np.float32(VECTOR_SHARE.next)
        return np.multiply(mixed, self._scales[at], dtype=np.float32)

    def _measure(self, stretch: range, layout: Layout) -> None:
        """Set the lengths of the mixed vectors of neighbouring positions."""
        low, high = max(stretch.start - 2, 0), min(stretch.stop + 1, len(layout))
        mixed = layout.window(low, high).mix(self._take(layout.rows[low:high]), VECTOR_SHARE)
        inside = slice(stretch.start - low, stretch.stop - low)
        lengths = np.sqrt(np.einsum("ij,ij->i", mixed, mixed)[inside])
        self._lengths.values[layout.rows[stretch.start : stretch.stop]] = np.where(lengths > 0, lengths, 1)

    def _dots(self, query: Floats) -> Floats:
        found = np.empty(len(self), dtype=np.float32)
        start = 0
        for block in self._blocks:
            stop = start + len(block.values)
            np.dot(block.values, query, out=found[start:stop])
            start = stop
        return found

    def _dots_of(self, rows: NDArray[np.integer], query: Floats) -> Floats:
        order = rows.argsort()
        rising, start = rows[order], 0
        found = np.empty(len(rows), dtype=np.float32)
        for block in self._blocks:
            stop = start + len(block.values)
            first, last = rising.searchsorted((start, stop)).tolist()
            for at in range(first, last, _CHUNK_ROWS):
                chunk = slice(at, min(at + _CHUNK_ROWS, last))
                found[order[chunk]] = block.values.take(rising[chunk] - start, axis=0) @ query
            start = stop
        return found

    def _take(self, rows: NDArray[np.integer]) -> Floats:
        """Return the vectors of rows, to read only: rows of one block that follow each other are not copied."""
        first, stop = (int(rows[0]), int(rows[-1]) + 1) if len(rows) else (0, 0)
        start = 0
        for block in self._blocks:
            if start <= first and stop <= start + len(block.values) and _follow(rows):
                return block.values[first - start : stop - start]
            start += len(block.values)
        taken = np.empty((len(rows), self._dimension), dtype=np.float32)
        start = 0
        for block in self._blocks:
            stop = start + len(block.values)
            here = (rows >= start) & (rows < stop)
            taken[here] = block.values[rows[here] - start]
            start = stop
        return taken


def to_single(halves: bytes) -> Floats:
    """Widen little-endian float16 to float32, exactly for finite values; several times as fast as `astype`."""
    narrow = np.frombuffer(halves, dtype="<i2")
    single = np.empty(len(narrow), dtype=np.float32)
    bits = single.view(np.int32)
    for start in range(0, len(narrow), _CHUNK_NUMBERS):
        chunk = slice(start, start + _CHUNK_NUMBERS)
        bits[chunk] = narrow[chunk]
        bits[chunk] <<= 13
        bits[chunk] &= _HALF_SIGN_AND_REST
        single[chunk] *= _HALF_EXPONENT_SHIFT
    return single


def _follow(rows: NDArray[np.integer]) -> bool:
    return bool((rows[1:] - rows[:-1] == 1).all())


def _stretches(positions: NDArray[np.intp]) -> Iterator[range]:
    """Cut rising positions into runs of neighbours, none longer than a chunk."""
    if len(positions) == 0:
        return
    breaks = np.flatnonzero(np.diff(positions) > 1) + 1
    for run in np.split(positions, breaks):
        first, stop = int(run[0]), int(run[-1]) + 1
        for start in range(first, stop, _CHUNK_ROWS):
            yield range(start, min(start + _CHUNK_ROWS, stop))

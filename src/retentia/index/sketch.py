"""Sketch: one sign bit for each dimension of a vector, to guess every cosine of a big scope before looking closely.

The share of differing signs estimates the angle (Charikar 2002). A row takes a 32nd of what its vector takes, so a
hundred thousand are read in the time that memory needs for a few thousand vectors.
"""

import numpy as np
from numpy.typing import NDArray

from retentia.index.columns import Growing

_WORD_BITS = 64


class Sketch:
    """The signs of every row, one array for each 64 dimensions."""

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._words: list[Growing[np.uint64]] = []
        self._cosines = np.cos(np.pi * np.arange(dimension + 1) / max(dimension, 1)).astype(np.float32)

    def __len__(self) -> int:
        return len(self._words[0].values) if self._words else 0

    @property
    def nbytes(self) -> int:
        return sum(word.nbytes for word in self._words)

    def extend(self, vectors: NDArray[np.float32]) -> None:
        """Append rows, shape (n, dimension)."""
        signs = self._signs(vectors)
        if not self._words:
            self._words = [Growing(np.ascontiguousarray(column)) for column in signs.T]
            return
        for word, column in zip(self._words, signs.T, strict=True):
            word.extend(column)

    def keep(self, rows: NDArray[np.intp]) -> None:
        """Drop every row but these."""
        for word in self._words:
            word.keep(rows)

    def guess(self, query: NDArray[np.float32]) -> NDArray[np.float32]:
        """Estimate the cosine of the query with every row."""
        differing = np.zeros(len(self), dtype=np.int16)
        apart = np.empty(len(self), dtype=np.uint64)
        count = np.empty(len(self), dtype=np.uint8)
        for word, bits in zip(self._words, self._signs(query[None, :])[0], strict=True):
            np.bitwise_xor(word.values, bits, out=apart)
            differing += np.bitwise_count(apart, out=count)
        return self._cosines.take(differing)

    def _signs(self, vectors: NDArray[np.float32]) -> NDArray[np.uint64]:
        padded = np.zeros((len(vectors), -(-self._dimension // _WORD_BITS) * _WORD_BITS), dtype=bool)
        padded[:, : self._dimension] = vectors > 0
        return np.packbits(padded, axis=1).view(np.uint64)

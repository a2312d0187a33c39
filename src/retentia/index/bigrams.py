"""Bigrams: pairs of neighbouring stems, which tell a phrase from the same words apart."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from retentia.index.neighbours import Layout
from retentia.index.postings import Postings

_MULTIPLIER = np.uint32(0x9E3779B1)
_MOST = np.float32(2.0)


class Bigrams:
    """The stem bigrams of each passage's own text."""

    def __init__(self) -> None:
        self._own = Postings()
        self._row_count = 0

    @property
    def nbytes(self) -> int:
        return self._own.nbytes

    def extend(self, packed: Sequence[bytes]) -> None:
        """Append the own stems of new rows, each row's as little-endian uint32."""
        stems = np.frombuffer(b"".join(packed), dtype="<u4")
        numbers = np.arange(self._row_count, self._row_count + len(packed), dtype=np.uint32)
        rows = np.repeat(numbers, [len(terms) >> 2 for terms in packed])
        within = rows[1:] == rows[:-1]
        self._own.extend(pair_ids(stems)[within], rows[1:][within])
        self._row_count += len(packed)

    def keep(self, rows: NDArray[np.intp]) -> None:
        """Drop every row but these."""
        self._own.keep(rows, self._row_count)
        self._row_count = len(rows)

    def score(self, stems: NDArray[np.uint32], layout: Layout) -> NDArray[np.float32]:
        """Return the summed rarity (idf / ln n) of the query's bigrams that each position shares, at most 2."""
        scores = np.zeros(len(layout), dtype=np.float32)
        pairs = np.unique(pair_ids(stems))
        if len(pairs) == 0 or len(layout) < 2:
            return scores
        which, rows, _ = self._own.find(pairs)
        positions = layout.positions[rows]
        alive = positions >= 0
        which, positions = which[alive], positions[alive]
        holders = np.bincount(which, minlength=len(pairs))
        rarity = np.log1p((len(layout) - holders + 0.5) / (holders + 0.5)) / np.log(len(layout))
        np.add.at(scores, positions, rarity[which].astype(np.float32))
        return np.minimum(scores, _MOST)


def pair_ids(stems: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Return the id of each pair of neighbouring stems."""
    return stems[:-1] * _MULTIPLIER + stems[1:]
